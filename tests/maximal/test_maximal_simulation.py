"""Maximal coordinates in a Simulation: contacts, recordings, snapshots."""

import numpy as np
import pytest
from mechanisms import pendulum

import stickslip as ss
from stickslip.errors import UnconvergedError, UnconvergedWarning
from stickslip.maximal import Joint
from stickslip.scenes.grasps import arm_grasp

METHOD = "stewart-trinkle/lemke"


def jointed_boxes():
    """Four boxes on hinges, tilted, above a floor."""
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    box = None
    for k in range(4):
        if box is None:
            box = scene.add_body("box0", pos=(0, 0, 0.6), quat=(np.cos(0.2), 0, np.sin(0.2), 0))
        else:
            box = box.add_body(f"box{k}", pos=(0.3, 0, 0))
            box.add_joint("hinge", axis=(0, 1, 0), pos=(-0.15, 0, 0))
        box.add_box((0.28, 0.1, 0.06), mass=0.5)
    return scene.compile()


def test_boxes_fall_as_in_joint_coordinates():
    model = jointed_boxes()
    ends = {}
    for coordinates in ("joint", "maximal"):
        sim = ss.Simulation(model, METHOD, dt=0.01, coordinates=coordinates)
        log = sim.run(1.5, record_dt=0.01)
        assert log.penetration().max() < 1e-6  # corrections of joints leave the contacts that push alone
        ends[coordinates] = log
    assert ends["maximal"].joint_error.shape == (151, 3, 2)
    assert ends["maximal"].joint_error.max() <= 1e-5
    assert ends["maximal"].names.constraints == model.joint_names[1:]
    assert ends["joint"].joint_error.shape == (151, 0, 2)
    falling = ends["joint"].time < 0.15
    np.testing.assert_allclose(ends["maximal"].q[falling], ends["joint"].q[falling], atol=1e-3)
    np.testing.assert_allclose(ends["maximal"].pose[-1, 1:, 2], 0.03, atol=1e-4)  # both lie flat
    np.testing.assert_allclose(ends["joint"].pose[-1, 1:, 2], 0.03, atol=1e-4)


def test_a_restored_snapshot_continues_exactly():
    sim = ss.Simulation(jointed_boxes(), METHOD, dt=0.01, coordinates="maximal")
    sim.step(20)
    snapshot = sim.snapshot()
    sim.step(20)
    q, v = sim.state.q.copy(), sim.state.v.copy()
    sim.restore(snapshot)
    sim.step(20)
    np.testing.assert_array_equal(sim.state.q, q)
    np.testing.assert_array_equal(sim.state.v, v)


def test_recording_frames_changes_nothing_and_reset_begins_anew():
    sim = ss.Simulation(pendulum("ball"), METHOD, dt=0.01, coordinates="maximal")
    start = [np.cos(0.3), 0.0, np.sin(0.3), 0.0]
    sim.set_state(start)
    log = sim.run(0.5, record_dt=0.01)
    sim.reset()
    sim.set_state(start)
    sim.step(50)
    np.testing.assert_array_equal(sim.state.q, log.q[-1])
    energy = log.energy.sum(axis=1)
    np.testing.assert_allclose(energy, energy[0], atol=0.05)


def test_a_limit_stops_a_hinge():
    scene = ss.Scene()
    arm = scene.add_body("arm", joint="hinge", axis=(0, 1, 0), range=(-0.5, 0.5))
    arm.add_box((0.4, 0.05, 0.05), mass=1.0, pos=(0.2, 0, 0))
    ends = []
    for coordinates in ("joint", "maximal"):
        sim = ss.Simulation(scene, METHOD, dt=0.01, coordinates=coordinates)
        sim.step(100)
        ends.append(sim.state.q[0])
    np.testing.assert_allclose(ends, 0.5, atol=1e-6)


def test_the_arm_grasps_as_in_joint_coordinates():
    """PD control at 10 ms that only 0.1 kg m² of armature in each joint keeps stable, and motors; the same motion."""
    logs = {}
    for coordinates in ("joint", "maximal"):
        setup = arm_grasp()
        sim = ss.Simulation(setup.scene, METHOD, dt=0.01, coordinates=coordinates)
        logs[coordinates] = sim.run(1.0, controller=setup.controller, control_dt=setup.control_dt, record_dt=0.01)
        assert sim.stepper.unconverged == 0
    joint, maximal = logs["joint"].q, logs["maximal"].q
    assert len(maximal) == 101
    assert np.abs(joint[-1] - joint[0]).max() > 0.5
    np.testing.assert_allclose(maximal, joint, rtol=0, atol=1e-3)
    assert logs["maximal"].joint_error.max() <= 1e-5


def test_joints_that_are_left_open_count_as_unconverged():
    sim = ss.Simulation(pendulum("hinge"), METHOD, dt=0.01, coordinates="maximal")
    sim.set_state([0.5])
    sim.step(2)
    assert sim.stepper.unconverged == 0
    sim.stepper.coordinates.stabilisation.tolerance = 1e-30
    with pytest.warns(UnconvergedWarning, match="2 of 2 steps"):
        sim.step(2)
    sim = ss.Simulation(pendulum("hinge"), METHOD, dt=0.01, coordinates="maximal", unconverged="raise")
    sim.set_state([0.5])
    sim.stepper.coordinates.stabilisation.tolerance = 1e-30
    with pytest.raises(UnconvergedError, match="joint errors"):
        sim.step()


def test_extra_joints_need_maximal_coordinates():
    weld = [Joint("fixed", "world", "rod")]
    with pytest.raises(ss.InputError, match="maximal"):
        ss.Simulation(pendulum("hinge"), METHOD, extra_joints=weld)
    sim = ss.Simulation(pendulum("hinge"), METHOD, dt=0.01, coordinates="maximal", extra_joints=weld)
    sim.set_state([0.0])
    sim.step(20)
    np.testing.assert_allclose(sim.state.q, 0.0, atol=1e-6)
