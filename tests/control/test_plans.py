"""Planned motions of Solo12: MuJoCo's kinematics and inverse dynamics agree with them, and motors and friction allow
them."""

from copy import copy
from itertools import pairwise

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.control.references import jump, squat, trot, walk
from stickslip.control.references.feet import SOLO12_FEET
from stickslip.control.references.jump import plan_jump
from stickslip.control.references.plan import standing_start
from stickslip.control.references.profiles import bump, cruise, ease, piecewise, quintic
from stickslip.control.references.trot import plan_trot
from stickslip.control.references.whole_body import Course, Legged

FRICTION = 0.6
PLANS = {"trot": lambda model: plan_trot(model, duration=1.6, friction=FRICTION), "jump": plan_jump}


def solo12_on_the_floor():
    scene = ss.Scene()
    scene.add_plane(friction=1.0)
    scene.add_robot("solo12")
    return scene.compile()


@pytest.fixture(scope="module")
def model():
    return solo12_on_the_floor()


@pytest.fixture(scope="module", params=PLANS)
def plan(request, model):
    return PLANS[request.param](model)


def test_time_laws_are_integrals_of_their_derivatives():
    t = np.linspace(0.0, 1.0, 20001)
    laws = (
        ease(t - 0.1, 0.5), bump(t - 0.2, 0.7), cruise(t, 0.1, 0.9, 0.3), quintic(t, 1.0, (1, 2, 3), (4, 5, 6)),
        piecewise(t, np.array([0.0, 0.3, 0.6, 1.0]), np.array([0.0, 2.0, 3.0, -9.0])),
    )  # fmt: skip
    for law in laws:
        for value, rate in ((law.value, law.rate), (law.rate, law.second)):
            integral = np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(t))])
            np.testing.assert_allclose(value - value[0], integral, atol=1e-6)
    assert (laws[0].value[-1], laws[1].value[0], laws[1].value.max()) == (1.0, 0.0, pytest.approx(1.0))
    assert laws[2].value[-1] == pytest.approx(0.5)  # unit speed for 0.2 s, and half of it on average for 2 · 0.3 s
    np.testing.assert_allclose([part[-1] for part in laws[3]], [4, 5, 6])


def test_feet_and_centre_of_mass_are_where_mujoco_sees_them(plan):
    mj = plan.robot.model.mj
    data = mujoco.MjData(mj)
    for k in range(0, len(plan.time), 7):
        data.qpos[:], data.qvel[:] = plan.motion.q[k], plan.motion.v[k]
        mujoco.mj_forward(mj, data)
        mujoco.mj_subtreeVel(mj, data)
        np.testing.assert_allclose(data.subtree_com[0], plan.com.position[k], atol=1e-8)
        np.testing.assert_allclose(data.subtree_linvel[0], plan.com.velocity[k], atol=1e-8)
        for i, foot in enumerate(SOLO12_FEET):
            np.testing.assert_allclose(data.site(foot).xpos, plan.feet.position[k, i], atol=1e-8)


def test_velocities_and_accelerations_are_derivatives(model):
    """Central differences of the configurations, on the manifold, of a body that sways over feet that paddle."""
    robot, h = Legged(model, SOLO12_FEET), 1e-4
    start, com, feet = standing_start(robot)
    t = 0.3 + h * np.arange(-1, 2)
    phase = np.arange(15).reshape(5, 3)
    places = np.concatenate([[com], feet]) + 0.02 * np.sin(7 * t[:, None, None] + phase)
    rates = 0.14 * np.cos(7 * t[:, None, None] + phase)
    whole = Course(places, rates, -49 * (places - np.concatenate([[com], feet])))
    centre, paddling = (Course(*(part[:, i] for part in whole)) for i in (0, slice(1, None)))
    q, v, a = robot.motion(t, centre, paddling, start)
    np.testing.assert_allclose(robot.dyn.difference(q[0], q[2]) / (2 * h), v[1], atol=1e-4)
    np.testing.assert_allclose((v[2] - v[0]) / (2 * h), a[1], atol=1e-3)


def test_planned_courses_are_integrals_of_their_derivatives(plan):
    """By the trapezoidal rule, whose error is that of the sampling (10 ms)."""
    h = plan.time[1]
    for course in (plan.com, plan.feet):
        position, velocity, acceleration = course
        np.testing.assert_allclose(np.diff(position, axis=0), h * (velocity[1:] + velocity[:-1]) / 2, atol=5e-4)
        np.testing.assert_allclose(np.diff(velocity, axis=0), h * (acceleration[1:] + acceleration[:-1]) / 2, atol=0.03)


def test_mujoco_needs_no_force_on_the_base(plan):
    """mj_inverse less the contact forces: nothing remains on the base, the planned torques on the joints."""
    mj = copy(plan.robot.model.mj)
    data, jacobian = mujoco.MjData(mj), np.zeros((3, mj.nv))
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    for k in range(len(plan.time)):
        data.qpos[:], data.qvel[:], data.qacc[:] = plan.motion.q[k], plan.motion.v[k], plan.motion.a[k]
        mujoco.mj_inverse(mj, data)
        tau = data.qfrc_inverse.copy()
        for i, foot in enumerate(SOLO12_FEET):
            mujoco.mj_jacSite(mj, data, jacobian, None, mj.site(foot).id)
            tau -= jacobian.T @ plan.efforts.force[k, i]
        np.testing.assert_allclose(tau[:6], 0.0, atol=2e-3)
        np.testing.assert_allclose(tau[6:], plan.efforts.u[k], atol=1e-8)


def test_forces_stay_in_their_cones_and_torques_in_their_limits(plan):
    force, standing = plan.efforts.force, plan.stance
    assert np.all(force[~standing] == 0.0)
    assert np.all(force[..., 2] >= 0.0)
    sideways = np.linalg.norm(force[..., :2], axis=-1)
    mu = 1.0 if plan.com.position[:, 2].max() > 0.3 else FRICTION
    assert np.all(sideways <= mu * force[..., 2] + 1e-9)
    assert np.abs(plan.efforts.u).max() < 2.7
    np.testing.assert_allclose(plan.feet.velocity[standing], 0.0, atol=1e-9)
    np.testing.assert_allclose(plan.feet.position[standing][:, 2], 0.0, atol=1e-8)


def test_trot_moves_diagonals_in_turn(model):
    plan = PLANS["trot"](model)
    flying = [tuple(np.flatnonzero(~row)) for row in plan.stance]
    assert set(flying) == {(), (0, 3), (1, 2)}
    turns = [now for before, now in pairwise(flying) if now and now != before]
    assert len(turns) == 6
    assert all(now != after for now, after in pairwise(turns))
    assert plan.feet.position[..., 2].max() == pytest.approx(0.05, abs=1e-3)
    forward = plan.motion.q[-1, 0] - plan.motion.q[0, 0]
    assert forward == pytest.approx(0.3 * 0.6, rel=1e-3)  # full speed for 0.2 s, ramps of 0.4 s at half of it


def test_jump_falls_freely_while_no_foot_stands(model):
    plan = plan_jump(model)
    air = np.flatnonzero(~plan.stance.any(axis=1))
    assert len(air) * 0.01 > 0.3
    np.testing.assert_allclose(plan.com.acceleration[air], np.tile([0, 0, -9.81], (len(air), 1)), atol=1e-9)
    assert plan.motion.q[:, 2].max() == pytest.approx(0.43, abs=0.01)
    assert plan.feet.position[air, :, 2].max() > 0.2


def test_plans_are_the_same_every_time(model):
    one, two = (trot(solo12_on_the_floor(), duration=1.0)[0].reference for _ in range(2))
    for name in ("time", "q", "v", "u", "gains"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (trot, {"duration": 0.5}, "duration: expected 1 s or more: three steps"),
        (trot, {"speed": np.nan}, "speed: expected a finite number"),
        (trot, {"speed": 3.0, "duration": 1.2}, "the legs do not reach at t = "),
        (trot, {"clearance": 0.0}, "clearance: expected a positive number"),
        (trot, {"friction": 0.02, "duration": 1.2}, "no contact forces with friction 0.02 make this motion"),
        (trot, {"feet": SOLO12_FEET[:3]}, "feet: expected four frames"),
        (trot, {"feet": ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FEET")}, "unknown frame 'HR_FEET': did you mean"),
        (trot, {"control_dt": 0.0}, "control_dt: expected a positive number of seconds"),
        (jump, {"height": 0.2}, "height: expected more than 0.26 m"),
        (jump, {"height": 0.81}, r"needs 7\.\d+ N m of actuator '.._KFE' .* which gives 2.7"),
        (jump, {"crouch": -1.0}, "crouch: expected a positive number"),
        (jump, {"feet": SOLO12_FEET[:2]}, r"model: expected one robot, .* 2 legs .*\(12 velocities\), got '18"),
    ],
)
def test_what_cannot_be_planned_is_refused(model, make, options, message):
    with pytest.raises(ss.InputError, match=message):
        make(model, **options)


@pytest.mark.parametrize("make", [trot, jump])
def test_robots_of_another_build_are_refused(make):
    scene = ss.Scene()
    scene.add_robot("romeo")
    wanted = "a floating base on 4 legs of three joints .*, got '37 velocities'; .* such as Solo12.* InverseDynamics"
    with pytest.raises(ss.InputError, match=wanted):
        make(scene.compile())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (trot, "feet: by default Solo12's; feet=… names those .* unknown frame 'FL_FOOT'"),
        (squat, "feet: by default Solo12's; squat.model, feet=…. names those .* unknown frame 'FL_FOOT'"),
        (walk, "feet: by default Romeo's; WalkPlan.model, steps, feet. names those .* unknown frame 'l_ankle'"),
    ],
)
def test_robots_with_other_feet_say_how_to_name_them(make, message):
    scene = ss.Scene()
    scene.add_robot("a1")
    with pytest.raises(ss.InputError, match=message):
        make(scene.compile())
    with pytest.raises(ss.InputError, match="model: expected a Model"):
        make(scene)


def test_robots_that_cannot_stand_are_refused(model):
    scene = ss.Scene()
    scene.add_robot("solo12")
    scene.set_home("FL_KFE", -1.0)
    with pytest.raises(ss.InputError, match="home configuration: expected feet at the same height"):
        jump(scene.compile())
    weightless = ss.Scene(gravity=(0, 0, 0))
    weightless.add_robot("solo12")
    with pytest.raises(ss.InputError, match="gravity: expected downward"):
        jump(weightless.compile())
