"""Solo12 trots and jumps in simulation: it gets where it should, upright, also when disturbed."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.control.references import jump, squat, trot


def floor_and_solo12(height=0.0):
    scene = ss.Scene()
    scene.add_plane(friction=1.0, stiffness=1e5, damping=300.0, pos=(0, 0, height))
    scene.add_robot("solo12")
    return scene.compile()


def tilt(q):
    """[rad] angle between the base's vertical and the world's, of configurations (n, nq)."""
    return np.arccos(np.clip(1.0 - 2.0 * (q[:, 4] ** 2 + q[:, 5] ** 2), -1.0, 1.0))


@pytest.fixture(scope="module")
def trotting():
    return trot(floor_and_solo12(), duration=1.4)


@pytest.fixture(scope="module")
def jumping():
    return jump(floor_and_solo12())


def follow(motion, time, control_dt, *, velocity=None, height=0.0):
    controller, start = motion
    sim = ss.Simulation(floor_and_solo12(height), dt=1e-4)
    sim.set_state(start.q, velocity)
    return sim, sim.run(time, controller=controller, control_dt=control_dt, progress=False)


def test_trot_walks_forward_upright(trotting):
    sim, log = follow(trotting, 1.4, 2e-3)
    reference = trotting[0].reference
    assert reference.q[-1, 0] > 0.1
    np.testing.assert_allclose(log.q[:, :3], reference.q[:, :3], atol=2e-3)
    assert tilt(log.q).max() < 0.02
    assert len(sim.contacts) == 4


@pytest.mark.parametrize("seed", range(2))
def test_trot_recovers_from_a_push(trotting, seed):
    push = np.random.default_rng(seed).normal(size=6) * [0.15, 0.15, 0.15, 0.5, 0.5, 0.5]
    _, log = follow(trotting, 1.6, 2e-3, velocity=[*push, *np.zeros(12)])
    np.testing.assert_allclose(log.q[-1, :3], trotting[0].reference.q[-1, :3], atol=5e-3)
    assert tilt(log.q).max() < 0.05
    assert tilt(log.q)[-1] < 0.005


def test_trot_on_a_floor_one_centimetre_lower(trotting):
    """Feet land late, at every step."""
    _, log = follow(trotting, 1.4, 2e-3, height=-0.01)
    assert log.q[-1, 0] == pytest.approx(trotting[0].reference.q[-1, 0], abs=0.01)
    assert tilt(log.q).max() < 0.05


def test_jump_flies_and_lands_on_its_feet(jumping):
    sim, log = follow(jumping, 2.5, 1e-2)
    flying = log.time[log.contact_force() == 0.0]
    flying = flying[flying > 0.5]
    assert np.ptp(flying) > 0.3
    z, t = log.q[:, 2], log.time
    assert z.max() == pytest.approx(0.43, abs=0.01)
    middle = (t > flying[0] + 0.05) & (t < flying[-1] - 0.05)
    assert np.polyfit(t[middle], com_height(sim, log.q[middle]), 2)[0] == pytest.approx(-9.81 / 2, rel=0.02)
    assert tilt(log.q).max() < 0.01
    np.testing.assert_allclose(log.q[-1], sim.model.state().q, atol=5e-3)
    assert np.abs(log.v[-1]).max() < 0.05
    assert len(sim.contacts) == 4


def com_height(sim, configurations):
    return [sim.dynamics.center_of_mass(q)[2] for q in configurations]


def test_jump_survives_a_push_and_a_lower_floor(jumping):
    push = [0.2, -0.1, 0.0, 0.3, 0.5, -0.4, *np.zeros(12)]
    for options in ({"velocity": push}, {"height": -0.01}):
        _, log = follow(jumping, 2.5, 1e-2, **options)
        assert log.q[:, 2].max() > 0.4
        assert tilt(log.q).max() < 0.1
        assert log.q[-1, 2] == pytest.approx(0.223, abs=0.01)


@pytest.mark.parametrize(("name", "dt"), [("solo12-trot", 2e-3), ("solo12-jump", 1e-2), ("romeo-walk", 5e-3)])
def test_expo_follows_at_the_largest_steps_of_table_2(name, dt):
    setup = ss.SCENES[name].build()
    sim = ss.Simulation(setup.scene, method="expo", dt=dt)
    log = sim.run(ss.SCENES[name].time, controller=setup.controller, control_dt=setup.control_dt, progress=False)
    assert tilt(log.q).max() < 0.02
    assert np.abs(log.v[-1]).max() < 1e-3
    assert log.penetration().max() < 2e-3
    if name != "romeo-walk":
        reference = setup.controller.reference
        np.testing.assert_allclose(log.q[-1, :3], reference.q[-1, :3], atol=1.5e-2)
        assert log.q[:, 2].max() == pytest.approx(reference.q[:, 2].max(), abs=0.01)


def test_expo_squats_with_one_step_per_control_from_feet_that_only_touch():
    scene = ss.Scene()
    scene.add_plane(friction=1.0)
    scene.add_robot("solo12")
    sim = ss.Simulation(scene, method="expo", dt=4e-2)
    log = sim.run(8.0, controller=squat(scene.compile()), control_dt=4e-2, progress=False)
    weight = 9.81 * sim.model.inertia.mass.sum()
    assert tilt(log.q).max() < 0.01
    assert log.contact_force()[25:].mean() == pytest.approx(weight, rel=0.01)


@pytest.mark.parametrize(("name", "control_dt"), [("solo12-trot", 2e-3), ("solo12-jump", 1e-2)])
def test_scenes_ask_their_controller_at_the_papers_rate(name, control_dt):
    setup = ss.SCENES[name].build()
    assert setup.control_dt == control_dt
    sim = ss.Simulation(setup.scene)
    calls = []

    class Counted:
        def bind(self, model):
            setup.controller.bind(model)

        def __call__(self, t, q, v):
            calls.append(t)
            return setup.controller(t, q, v)

    sim.run(0.1, controller=Counted(), control_dt=setup.control_dt)
    np.testing.assert_allclose(np.diff(calls), control_dt, rtol=1e-9)
