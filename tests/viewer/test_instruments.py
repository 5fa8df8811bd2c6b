"""Tendons, sensors and thrusters are drawn where they are, live and in recordings."""

import mujoco
import numpy as np
import pytest
from browsing import arm_scene, box_scene, opened, picture, until, visiting

import stickslip as ss


def rods(node):
    """(n, 2, 3) the ends of the rods that are shown."""
    used = node.batched_scales[:, 2] > 1e-6
    w, x, y, z = node.batched_wxyzs[used].T
    axis = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
    half = node.batched_scales[used, 2:] * axis
    return np.stack([node.batched_positions[used] - half, node.batched_positions[used] + half], axis=1)


def mujocos(sim):
    data = mujoco.MjData(sim.model.mj)
    data.qpos[:] = sim.state.q
    mujoco.mj_forward(sim.model.mj, data)
    return data


def test_they_follow_the_bodies_live_and_in_a_recording(tmp_path):
    path = tmp_path / "arm.h5"
    sim = ss.Simulation(arm_scene(), "coulomb", 1e-3)
    sim.run(0.2, record=path, record_dt=0.05)
    for what, options in ((arm_scene(), {"method": "coulomb", "dt": 1e-3}), (str(path), {})):
        with opened(what, **options) as viewer:
            run = viewer.runs[0]
            if viewer.live is None:
                viewer.post(viewer.scrub, 0.2)
                assert until(lambda: viewer.cursor == pytest.approx(0.2))
                shown = sim
            else:
                viewer.post(viewer.step)
                assert until(lambda: viewer.live.sim.steps == 1)
                shown = viewer.live.sim
            data = mujocos(shown)
            distance = shown.sensor("range")
            assert until(lambda run=run, distance=distance: np.allclose(run.values[3:], distance))

            ends = rods(run.tendons._rods._node)
            assert ends[0, 0] == pytest.approx(data.site("back").xpos, abs=1e-5)
            assert ends[-1, 1] == pytest.approx(data.site("hand").xpos, abs=1e-5)
            assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum() == pytest.approx(data.ten_length[0], rel=1e-3)

            axes = rods(run.instruments._axes._node)
            site = data.site("imu")
            assert axes[0, 0] == pytest.approx(site.xpos, abs=1e-5)
            z = (axes[2, 1] - axes[2, 0]) / np.linalg.norm(axes[2, 1] - axes[2, 0])
            assert z == pytest.approx(site.xmat.reshape(3, 3)[:, 2], abs=1e-5)
            (ray,) = rods(run.instruments._lines._node)
            assert np.linalg.norm(ray[1] - ray[0]) == pytest.approx(data.sensor("range").data[0], rel=1e-4)

            (arrow,) = run.instruments._arrows.points
            force = (arrow[1] - arrow[0]) / run.instruments.metres_per_newton
            assert force == pytest.approx(6.0 * data.site("hand").xmat.reshape(3, 3)[:, 2], abs=1e-3)
            assert until(lambda: "imu_gyro" in viewer.panel.sensor_table.content)
            assert not viewer.trouble


def test_where_there_are_none_their_boxes_are_off():
    with opened(box_scene(), method="coulomb", dt=1e-3) as viewer:
        for box in (viewer.panel.tendons, viewer.panel.sensors, viewer.panel.thrusters):
            assert box.disabled
            assert not box.value


def test_they_can_be_hidden_in_the_panel(chromium):
    with opened(arm_scene(), method="coulomb", dt=1e-3) as viewer, visiting(chromium, viewer) as page:
        page.get_by_role("tab", name="Sensors").click()
        page.get_by_text("imu_gyro").wait_for()
        page.get_by_role("tab", name="Show").click()
        for name in ("Tendons", "Sensors"):
            before = picture(page)
            page.get_by_role("checkbox", name=name).click()
            assert until(lambda before=before: picture(page) != before), name
        assert not viewer.runs[0].tendons._rods._node.visible
        assert not page.problems
        assert not viewer.trouble
