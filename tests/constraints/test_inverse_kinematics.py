"""Inverse kinematics: closed forms, poses that are known to be within reach, limits, loops, couplings, and the nearest
point where a target is out of reach."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError

UPPER, LOWER = 0.5, 0.4


def arm(elbow=(0.0, 2.5), **options):
    """Two links in the plane y = 0 that hang from the origin."""
    scene = ss.Scene()
    upper = scene.add_body("upper", joint="hinge", axis=(0, 1, 0))
    upper.add_capsule(0.02, 0.3, pos=(0, 0, -0.2), mass=1.0, collide=False)
    lower = upper.add_body("lower", joint="hinge", axis=(0, 1, 0), pos=(0, 0, -UPPER), range=elbow, **options)
    lower.add_capsule(0.02, 0.3, pos=(0, 0, -0.2), mass=1.0, collide=False).add_frame("tip", pos=(0, 0, -LOWER))
    return scene


def solved(model, targets, **options):
    found = ss.inverse_kinematics(model, targets, **options)
    assert found.converged, found.message
    assert found.message == ""
    return found


def test_a_planar_arm_is_the_closed_form():
    """cos q₂ = (x² + z² − l₁² − l₂²)/(2·l₁·l₂); the range of the elbow chooses one of the two solutions."""
    for elbow, sign in (((0.0, 2.5), 1.0), ((-2.5, 0.0), -1.0)):
        model = arm(elbow).compile()
        for x, z in ((0.3, -0.5), (-0.2, 0.4), (0.5, 0.1)):
            found = solved(model, {"tip": (x, 0, z)})
            bend = sign * np.arccos((x**2 + z**2 - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER))
            assert found.q[1] == pytest.approx(bend, abs=1e-8)
            assert found.error["tip"] < 1e-9


def test_out_of_reach_gives_the_nearest_point_and_a_sentence():
    """Beyond the stretched arm; nearer than the folded one; and beyond the elbow's limit."""
    model = arm().compile()
    for target, distance in (((0.9, 0, -1.2), 1.5 - UPPER - LOWER), ((0.0, 0.3, -0.9), 0.3)):
        found = ss.inverse_kinematics(model, {"tip": target})
        assert not found
        assert found.error["tip"] == pytest.approx(distance, abs=1e-9)
        assert "'tip' is" in found.message
        assert len(found.message) < 300
    folded = ss.inverse_kinematics(model, {"tip": (0.0, 0, 0.01)})
    least = np.sqrt(UPPER**2 + LOWER**2 + 2 * UPPER * LOWER * np.cos(2.5))
    assert folded.q[1] == pytest.approx(2.5, abs=1e-12)
    assert folded.error["tip"] == pytest.approx(least - 0.01, abs=1e-9)
    assert repr(folded).startswith("<Inverse kinematics: 'tip' is")


FRAMES = {
    "solo12": ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
    "a1": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
    "romeo": ("l_wrist", "r_wrist"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_random_poses_of_bundled_robots_are_reached(name):
    """Feet by their places with the base held, wrists by places and axes; then all with the base free."""
    scene = ss.Scene()
    scene.add_robot(name)
    model, rng = scene.compile(), np.random.default_rng(3)
    dynamics, q = ss.Dynamics(model), model.state().q
    low, high = model.joint_forces.range[1:].T
    for _ in range(2):
        q[7:] = np.clip(rng.uniform(low, high), q[7:] - 1.0, q[7:] + 1.0)
        targets = {frame: dynamics.frame_pose(q, frame)[0] for frame in FRAMES[name]}
        found = solved(dynamics, targets, joints=model.joint_names[1:])
        assert max(found.error.values()) < 1e-8
        assert np.all((found.q[7:] >= low - 1e-12) & (found.q[7:] <= high + 1e-12))
        assert np.array_equal(found.q[:7], model.state().q[:7])
        assert np.array_equal(solved(dynamics, targets, joints=model.joint_names[1:]).q, found.q)  # the same bits
    solved(dynamics, {frame: np.add(place, (0.3, 0.1, 0.2)) for frame, place in targets.items()})


def test_orientations_and_poses():
    """A free body goes to any pose; a wrist of Romeo to a pose that is within reach."""
    scene = ss.Scene()
    scene.add_box((0.1, 0.2, 0.3), mass=1.0, name="box")
    quat = np.array([0.5, -0.1, 0.7, 0.5]) / np.linalg.norm([0.5, -0.1, 0.7, 0.5])
    found = solved(scene.compile(), {"box": (1, 2, 3, *quat)})
    assert np.allclose(found.q[:3], (1, 2, 3), rtol=0, atol=1e-12)
    assert abs(found.q[3:] @ quat) == pytest.approx(1.0, abs=1e-12)
    assert np.allclose(solved(scene.compile(), {"box": quat}).q[:3], 0.0)
    robot = ss.Scene()
    robot.add_robot("romeo")
    sim = ss.Simulation(robot, "mujoco")
    view = sim.robot("romeo")
    q = view.q.copy()
    q[7:] += 0.1 * np.random.default_rng(0).normal(size=len(q) - 7)
    home, view.q = view.q.copy(), np.clip(q, *_whole_range(sim.model))
    goal = sim.body("l_wrist").pose
    view.q = home
    found = view.inverse_kinematics({"l_wrist": goal}, joints=view.joints[1:])
    assert found, found.message
    assert np.array_equal(view.q, home)  # looking does not move
    view.q = found.q
    assert np.allclose(sim.body("l_wrist").pose, goal, rtol=0, atol=1e-8)


def _whole_range(model):
    low, high = model.joint_forces.range[1:].T
    return np.concatenate([np.full(7, -np.inf), low]), np.concatenate([np.full(7, np.inf), high])


def test_a_ball_joint_stays_within_its_cone():
    scene = ss.Scene.from_xml(
        '<mujoco><worldbody><body name="rod"><joint type="ball" range="0 0.5"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -1" size="0.02"/><site name="tip" pos="0 0 -1"/></body></worldbody>'
        '<compiler angle="radian"/></mujoco>'
    )
    model = scene.compile()
    assert solved(model, {"tip": (np.sin(0.4), 0, -np.cos(0.4))})
    found = ss.inverse_kinematics(model, {"tip": (0.0, 1.0, 0.0)})
    place = ss.Dynamics(model).frame_pose(found.q, "tip")[0]
    assert np.allclose(place, (0.0, np.sin(0.5), -np.cos(0.5)), rtol=0, atol=1e-7)


def test_closed_loops_and_couplings_hold():
    """A four-bar linkage goes where its crank takes the coupler, and stays closed where it cannot follow."""
    model = ss.SCENES["four-bar"].build().scene.compile()
    dynamics, q = ss.Dynamics(model), model.state().q
    _, coupler, rocker = model.link_names[1:]
    q[0] += 0.3  # only the crank: the loop is open there
    place = dynamics.frame_pose(q, coupler)[0]
    found = solved(dynamics, {coupler: place})
    assert found.held < 1e-9
    assert abs(found.q[2] - model.state().q[2]) > 0.01
    missed = ss.inverse_kinematics(dynamics, {coupler: 2.0 * place}, restarts=2)
    assert not missed
    assert missed.held < 1e-8
    with pytest.raises(InputError, match="body that one of the joints moves"):
        ss.inverse_kinematics(dynamics, {rocker: place}, joints=[])
    coupled = arm(elbow=(-2.5, 2.5))
    coupled.couple("lower", "upper", ratio=0.5)
    found = solved(coupled.compile(), {"tip": _coupled_tip(0.7)})
    assert found.q[1] == pytest.approx(0.5 * found.q[0], abs=1e-9)


def _coupled_tip(angle):
    return -UPPER * np.sin(angle) - LOWER * np.sin(1.5 * angle), 0, -UPPER * np.cos(angle) - LOWER * np.cos(1.5 * angle)


def test_wrong_arguments_are_named():
    model = arm().compile()
    for targets, options, words in (
        ({"tap": (0, 0, 0)}, {}, "tip"),
        ({"tip": (0, 0)}, {}, "a position"),
        ({"tip": (0, 0, np.nan)}, {}, "a position"),
        ({}, {}, "at least one"),
        ({"tip": (0, 0, 0)}, {"joints": ["elbow"]}, "lower"),
        ({"tip": (0, 0, 0)}, {"tolerance": 0}, "tolerance"),
        ({"tip": (0, 0, 0, 0, 0, 0, 0)}, {}, "quaternion"),
    ):
        with pytest.raises(InputError, match=words):
            ss.inverse_kinematics(model, targets, **options)
