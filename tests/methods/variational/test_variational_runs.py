"""Whole runs of the variational method: repeated, interrupted and continued, watched; joints of all kinds; robots."""

import sys

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.cli import main
from stickslip.maximal.joints import build_joints
from stickslip.methods.variational.discrete_rotation import world_momentum
from stickslip.model.model import compile_model
from stickslip.scenes import SCENES
from stickslip.scenes.linkages import four_bar

DT = 0.01


def tumbling_cube(cone="pyramid"):
    scene = ss.Scene()
    scene.add_plane(friction=0.3)
    scene.add_box((0.5, 0.5, 0.5), mass=1.0, pos=(0, 0, 0.6), quat=(0.9, 0.2, 0.3, 0.1))
    return begun(ss.Simulation(scene, f"variational/{cone}", dt=DT), [1.0, 0.5, 0, 3, 4, 1])


def folding_chain():
    """Balls on a string, upright, that fall in a heap: they touch each other and let go again."""
    scene = ss.Scene()
    scene.add_plane(friction=0.2)
    body = scene.add_body("ball0", joint="free", pos=(0, 0, 0.11))
    body.add_sphere(0.1, mass=1.0)
    for k in range(1, 6):
        body = body.add_body(f"ball{k}", joint="ball", pos=(0, 0, 0.15))
        body.add_sphere(0.1, mass=1.0, pos=(0, 0, 0.15))
    sim = ss.Simulation(scene, "variational/pyramid", dt=DT)
    return begun(sim, 1.0 * np.random.default_rng(3).normal(size=sim.model.nv))


def linkage():
    return ss.Simulation(four_bar().scene, "variational", dt=DT)


def many_cubes():
    """More contacts than there is room for at first; they come while it runs."""
    scene = ss.Scene()
    scene.add_plane(friction=0.3)
    for k in range(20):
        scene.add_box((0.2, 0.2, 0.2), mass=1.0, pos=(0.5 * (k % 5), 0.5 * (k // 5), 0.12 + 0.03 * (k % 7)))
    return ss.Simulation(scene, "variational", dt=DT)


def begun(sim, v):
    sim.set_state(v=v)
    return sim


def touching(sim):
    sim.observe()
    c, n = sim.contacts.arrays, len(sim.contacts)
    return {(a, b) for a, b, force in zip(c.link1[:n], c.link2[:n], c.force[:n, 0], strict=True) if a and force > 1.0}


RUNS = {
    "cube": (tumbling_cube, 30, 50),
    "circular": (lambda: tumbling_cube("circular"), 30, 50),
    "folding": (folding_chain, 60, 60),
    "linkage": (linkage, 40, 40),
    "many": (many_cubes, 6, 20),
}


@pytest.mark.parametrize("case", RUNS)
def test_a_run_is_the_same_again_and_from_a_snapshot(case):
    build, before, after = RUNS[case]
    first, again, fresh = build(), build(), build()
    first.step(before)
    snapshot = first.snapshot()
    first.step(after)
    again.step(before + after)
    np.testing.assert_array_equal(first.state.q, again.state.q)
    np.testing.assert_array_equal(first.state.v, again.state.v)
    for sim in (fresh, again):  # ``again`` has gone on, with more room for contacts and other graphs
        sim.restore(snapshot)
        assert sim.steps == before
        sim.step(after)
        np.testing.assert_array_equal(sim.state.q, first.state.q)
        np.testing.assert_array_equal(sim.state.v, first.state.v)
    assert first.stepper.unconverged == 0


@pytest.mark.parametrize("case", ["circular", "folding", "linkage"])
def test_watching_changes_nothing(case):
    build, before, after = RUNS[case]
    watched, alone = build(), build()
    alone.step(before + after)
    for _ in range(before + after):
        watched.step()
        watched.observe()
    np.testing.assert_array_equal(watched.state.q, alone.state.q)
    np.testing.assert_array_equal(watched.state.v, alone.state.v)


def test_the_folding_chain_touches_itself_and_lets_go():
    sim, seen = folding_chain(), set()
    for _ in range(120):
        sim.step()
        seen.add(frozenset(touching(sim)))
    assert len(seen) > 3
    assert sim.stepper.unconverged == 0


def test_a_torque_free_body_keeps_its_momentum_and_flips():
    setup = SCENES["tumble"].build()
    sim = ss.Simulation(setup.scene, "variational/none", dt=DT, tolerance=1e-12)
    sim.set_state(v=setup.velocity)
    momenta, lowest, stepper = np.empty((2000, 6)), np.inf, sim.stepper
    for k in range(2000):
        sim.step()
        world_momentum(stepper.mechanism.bodies, stepper.motion.pose, stepper.motion.nu, DT, np.zeros(3), momenta[k])
        assert abs(np.linalg.norm(sim.state.q[3:7]) - 1.0) < 1e-12
        lowest = min(lowest, sim.state.v[4])
    assert np.abs(momenta - momenta[0]).max() < 1e-10
    assert lowest < -1.9


# -- joints of two and three coordinates -----------------------------------------------------------------------

JOINTS = {
    "cylindrical": '<joint type="slide" axis="1 0 0.3"/><joint type="hinge" axis="1 0 0.3"/>',
    "planar": '<joint type="slide" axis="1 0 0.3"/><joint type="slide" axis="0 1 0"/><joint axis="-0.3 0 1"/>',
    "universal": '<joint type="hinge" axis="0 1 0"/><joint type="hinge" axis="1 0 0"/>',
}


@pytest.mark.parametrize("kind", JOINTS)
def test_joints_of_more_coordinates_move_as_in_joint_coordinates(kind):
    """A body on such a joint, hung on a hinge: both methods tend to one motion."""
    geom = '<geom type="box" size="0.05 0.1 0.25" pos="0.13 0.02 -0.3" mass="1" contype="0" conaffinity="0"/>'
    xml = (
        '<mujoco><compiler angle="radian"/><worldbody><body><joint type="hinge" axis="0 1 0"/>'
        f'{geom}<body pos="0.1 0 -0.6">{JOINTS[kind]}{geom}</body></body></worldbody></mujoco>'
    )
    model = compile_model(mujoco.MjModel.from_xml_string(xml))
    assert len(build_joints(model)[0].joint) == 5 + {"cylindrical": 4, "planar": 3, "universal": 4}[kind]
    ends = {}
    for method, options in (("variational", {"tolerance": 1e-10}), ("coulomb", {"coordinates": "joint"})):
        for dt in (1e-3, 5e-4):
            sim = ss.Simulation(model, method, dt=dt, **options)
            sim.set_state(v=np.linspace(0.5, -1.0, model.nv))
            sim.step(round(0.25 / dt))
            ends[method, dt] = np.concatenate([sim.state.q, sim.state.v])
    ours, theirs = (2 * ends[name, 5e-4] - ends[name, 1e-3] for name in ("variational", "coulomb"))
    assert np.abs(ours[: model.nq]).max() > 0.1
    np.testing.assert_allclose(ours, theirs, atol=3e-4, rtol=3e-4)


# -- robots and the command line -------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", ["hopper-turn", "a1-drop"])
def test_robots_converge_and_stay_above_the_floor(scene):
    setup = SCENES[scene].build()
    sim = ss.Simulation(setup.scene, "variational", dt=1e-3, unconverged="raise", user=setup.user)
    control, lowest = setup.controller, np.inf
    bind = getattr(control, "bind", None)
    if bind is not None:
        bind(sim.model)
    for _ in range(200):
        sim.set_control(control(sim.time, sim.state.q.copy(), sim.state.v.copy()))
        sim.step()
        sim.observe()
        lowest = min(lowest, sim.contacts.arrays.gap[: len(sim.contacts)].min(initial=np.inf))
    assert sim.stepper.unconverged == 0
    assert -1e-8 <= lowest < 1e-3


def test_run_on_the_command_line(monkeypatch, capsys, tmp_path):
    record = tmp_path / "chain.h5"
    command = ["stickslip", "run", "chain", "--method", "variational", "--time", "0.5", "--record", str(record)]
    monkeypatch.setattr(sys, "argv", command)
    monkeypatch.setenv("COLUMNS", "150")
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert (ended.value.code or 0, err) == (0, "")
    assert "variational" in out
    log = ss.load(record)
    assert log.outcome == "complete"
    assert log.time[-1] == pytest.approx(0.5)
