"""Surfaces and bodies that are moved from outside, and adhesion, in every method, against closed forms."""

import warnings

import numpy as np
import pytest

import stickslip as ss

G, DT, STIFF = 9.81, 1e-3, {"stiffness": 1e5, "damping": 300.0}
DEPTH = G / 1e5  # of a kilogram on these springs
METHODS = list(ss.METHODS)


def simulation(scene, method, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.NotHonouredWarning)  # of restitution
        return ss.Simulation(scene, method, dt=DT, **options)


def deep(method):
    """How deep a method's contact is in equilibrium, roughly [m]."""
    return 0.0 if "stiffness" not in ss.METHODS[method].capabilities.honours else DEPTH


def accuracy(method):
    """Of contact forces; the interior point ends at 1e-6 m, which is 1e-3 m/s, or 1 N of a kilogram, in a step."""
    return 0.15 if method == "variational" else 0.05


def push_of(sim):
    sim.observe()
    return float(sim.contacts.arrays.force[: len(sim.contacts), 0].sum())


@pytest.mark.parametrize("method", METHODS)
def test_a_box_on_a_belt_is_accelerated_by_friction_and_then_rides(method):
    speed, mu = 0.1, 0.5
    scene = ss.Scene()
    scene.add_box((4, 4, 0.2), pos=(0, 0, -0.1), joint="fixed", friction=mu, surface_velocity=(speed, 0, 0), **STIFF)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.1 - deep(method)), mass=1.0, friction=mu)
    sim = simulation(scene, method)
    sim.step(10)
    expected = speed if method == "bilateral" else mu * G * sim.time  # bilateral contacts stick at once
    assert sim.state.v[0] == pytest.approx(expected, rel=0.05)
    sim.step(70)
    assert sim.state.v[0] == pytest.approx(speed, rel=0.02)
    sim.observe()
    c, n = sim.contacts.arrays, len(sim.contacts)
    assert n == 4
    assert np.abs(c.velocity[:n, 1:]).max() < 0.03 * speed
    assert abs(sim.state.v[1:]).max() < 0.02


@pytest.mark.parametrize("method", [m for m in METHODS if m != "mujoco"])  # MuJoCo's mocap bodies have no velocity
def test_a_box_moves_with_a_rising_platform(method):
    velocity = np.array([0.1, 0.0, 0.2])
    scene = ss.Scene()
    scene.add_box((1, 1, 0.2), pos=(0, 0, -0.1), mocap=True, name="lift", friction=0.5, **STIFF)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.1 - deep(method)), mass=1.0)
    sim = simulation(scene, method)
    sim.set_mocap("lift", velocity=velocity)
    sim.step(80)
    assert np.abs(sim.state.v[:3] - velocity).max() < 5e-3
    slack = 3e-4 if method == "event-selected" else 1e-4  # it sees the platform where the step begins
    assert abs(sim.state.q[2] - 0.1 + deep(method) - 0.2 * sim.time) < slack
    assert sim.outside.poses[0, :3] == pytest.approx([0.1 * sim.time, 0, -0.1 + 0.2 * sim.time], abs=1e-12)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "mujoco"])
def test_a_paddle_hits_a_ball(method):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box((0.1, 1, 1), pos=(-0.2, 0, 0), mocap=True, name="paddle", friction=0.0, restitution=0.5, **STIFF)
    scene.add_sphere(0.1, mass=1.0, friction=0.0)
    sim = simulation(scene, method)
    sim.prescribe("paddle", lambda t: (-0.2 + 2.0 * t, 0, 0))
    sim.step(40)
    gap = sim.state.q[0] - 0.1 - (-0.15 + 2.0 * sim.time)
    if "restitution" in sim.stepper.honours:
        assert sim.state.v[0] == pytest.approx(3.0, abs=1e-9)
        assert gap > 0.0
    else:
        assert sim.state.v[0] > 1.99
        assert gap > -2.1e-3


@pytest.mark.parametrize("method", METHODS)
def test_a_weld_to_a_mocap_body_takes_a_link_along(method):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("hand", mocap=True, pos=(0, 0, 1))
    scene.add_body("arm", pos=(0, 0, 1)).add_box((0.1, 0.1, 0.1), mass=1.0, collide=False)
    scene.weld("hand", "arm")
    sim = simulation(scene, method)
    sim.prescribe("hand", lambda t: ((0.1 * np.sin(10 * t), 0, 1), (np.cos(t), 0, 0, np.sin(t))))
    sim.step(40)
    stiff = ss.METHODS[method].capabilities.stiff_loops
    near = 1e-9 if stiff else 0.05 if method == "mujoco" else 6e-4
    assert np.abs(sim.state.q[:3] - [0.1 * np.sin(0.4), 0, 1]).max() < near
    assert abs(sim.state.q[6] - np.sin(0.04)) < near
    if method != "mujoco":
        assert sim.state.v[0] == pytest.approx(np.cos(0.4), abs=0.02)
        assert sim.state.v[5] == pytest.approx(2.0, abs=0.06)
    if stiff:
        sim.observe()
        assert sim.stepper.joint_error()[:, 0].max() < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_a_block_hangs_by_adhesion_or_falls(method):
    for pull, hangs in ((15.0, True), (5.0, False)):
        scene, own = ss.Scene(), {"release": True} if method == "bilateral" else {}
        scene.add_box((1, 1, 0.2), pos=(0, 0, 0.1), joint="fixed", adhesion=pull / 4, gap=1e-4, **STIFF)
        scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, -0.1 + 1e-9), mass=1.0)
        sim = simulation(scene, method, **own)
        sim.step(40)
        if hangs:
            assert abs(sim.state.v[2]) < 1e-2
            assert abs(sim.state.q[2] + 0.1) < 3e-4
            assert push_of(sim) == pytest.approx(-G, rel=accuracy(method))  # pull and push
        else:
            assert sim.state.v[2] == pytest.approx(-G * sim.time, abs=0.08)
            assert sim.state.q[2] < -0.105


@pytest.mark.parametrize("method", METHODS)
def test_an_actuator_pulls_a_body_to_what_it_touches(method):
    scene, own = ss.Scene(), {"release": True} if method == "bilateral" else {}
    scene.add_box((1, 1, 0.2), pos=(0, 0, 0.1), joint="fixed", **STIFF)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, -0.1 + 1e-9), mass=1.0, name="block")
    scene.add_adhesion("magnet", "block", max_force=20.0)
    sim = simulation(scene, method, **own)
    sim.set_control([0.75])
    sim.step(30)
    assert abs(sim.state.v[2]) < 1e-2
    assert push_of(sim) == pytest.approx(-G, rel=accuracy(method))
    before = sim.state.v[2]
    sim.set_control([0.0])
    sim.step(30)
    assert sim.state.v[2] - before == pytest.approx(-0.03 * G, abs=0.02)


def test_stages_do_what_compiled_steps_do():
    scene = ss.Scene()
    floor = scene.add_box((4, 4, 0.2), pos=(0, 0, -0.1), mocap=True, name="lift", friction=0.5, adhesion=1.0)
    floor.add_frame("grip", pos=(0, 0, 1.1))
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.1), mass=1.0, torsion=0.01, surface_velocity=(0.1, 0, 0, 0, 0, 2))
    scene.add_body("arm", pos=(0.5, 0, 1)).add_box((0.1, 0.1, 0.1), mass=1.0, collide=False)
    scene.weld("lift", "arm")
    for method in ("coulomb", "relaxed"):
        ends = []
        for compiled in (True, False):
            sim = ss.Simulation(scene, method, dt=DT)
            sim.stepper.compiled = compiled
            sim.set_mocap("lift", velocity=(0.1, 0.2, 0.3), angular_velocity=(0, 0, 0.5))
            sim.step(10)
            ends.append(np.concatenate([sim.state.q, sim.state.v]))
        assert np.abs(ends[0] - ends[1]).max() < 1e-7
        assert abs(ends[0][-6:-3] - [0.1, 0.2, 0.3]).max() < 0.3  # the arm turns about the lift's origin


@pytest.mark.parametrize("method", list(ss.METHODS))
def test_a_quaternion_that_is_none_is_refused_between_steps(method):
    """Some methods divided by its length, others took the unit rotation for it, without a word."""
    sim = ss.Simulation("tumble", method)
    sim.step(3)
    for quaternion in ((0.0, 0.0, 0.0, 0.0), (1e200, 0.0, 0.0, 0.0), (2.0, 0.0, 0.0, 0.0)):
        sim.state.q[3:7] = quaternion
        with pytest.raises(ss.InputError, match="quaternion of joint 'body' in q: expected unit length"):
            sim.step()
    sim.state.q[3:7] = np.array([0.6, 0.8, 0.0, 0.0])
    sim.step()
