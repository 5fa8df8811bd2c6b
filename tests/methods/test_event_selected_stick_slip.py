"""Stick and slip as guards: a puck on a plane against closed forms, and the order of the error across them."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import stickslip as ss

G, MU, K, B = 9.81, 0.5, 1e4, 50.0
SHARP = {"rtol": 1e-11, "atol": 1e-13}


def puck(damping: float = B, friction: float = MU, across: bool = False) -> ss.Scene:
    """1 kg at rest on its contact point, which slides along x, and along y if ``across``."""
    scene = ss.Scene()
    scene.add_plane(friction=friction, stiffness=K, damping=damping)
    body = scene.add_body("puck", joint="slide", axis=(1, 0, 0))
    if across:
        body.add_joint("slide", axis=(0, 1, 0), name="across")
    body.add_joint("slide", axis=(0, 0, 1), name="height")
    body.add_sphere(0.1, mass=1.0, collide=False)
    body.add_contact_point("tip")
    scene.set_home("height", -G / K)
    return scene


def swing(t, x, v, force, damping):
    """(x, v) at t of 1 kg on spring K and damper, from x and v, under a force."""
    rest, w = force / K, np.sqrt(K - damping**2 / 4)
    a = x - rest
    b = (v + damping / 2 * a) / w
    c, s, e = np.cos(w * t), np.sin(w * t), np.exp(-damping / 2 * t)
    return rest + e * (a * c + b * s), e * ((w * b - damping / 2 * a) * c - (w * a + damping / 2 * b) * s)


def loading(x, v, force, damping, bound=MU * G):
    """When the spring of a puck that sticks, or its damper, reaches the cone first [s]."""

    def excess(t):
        place, speed = swing(t, x, v, force, damping)
        return K * place + damping * speed - bound

    return 0.0 if excess(0.0) >= 0.0 else brentq(excess, 0.0, 0.5 * np.pi / np.sqrt(K), xtol=1e-15)


def stopping(t, v, damping):
    """Place of a puck that moves with v on a relaxed spring: it sticks until the spring is loaded, unless the damper
    alone reaches the cone; it slips, stops, and swings on its spring."""
    begin = loading(0.0, v, 0.0, damping)
    start, v = swing(begin, 0.0, v, 0.0, damping)
    return start + slipping(t - begin, v, damping)


def slipping(t, v, damping):
    """Place of a puck that slips with v, stops, and swings on its spring."""
    stop = v / (MU * G)
    if t < stop:
        return v * t - MU * G * t**2 / 2
    return v * stop / 2 + swing(t - stop, MU * G / K, 0.0, 0.0, damping)[0] - MU * G / K


@pytest.mark.parametrize("damping", [B, 0.0])
@pytest.mark.parametrize("dt", [0.05, 0.5])
def test_a_puck_slips_stops_and_sticks(damping, dt):
    sim = ss.Simulation(puck(damping), "event-selected", dt=dt)
    sim.set_state(v=[1.0, 0.0])
    for n in range(round(0.5 / dt)):
        sim.step(1)
        assert sim.state.q[0] == pytest.approx(stopping((n + 1) * dt, 1.0, damping), abs=1e-8)
    slips = 1 if damping > 0.0 else 2
    assert (sim.stepper.slips, sim.stepper.crossings, sim.stepper.chattering) == (slips, 0, 0)


def pushed(t, force):
    """Place of a puck that a force pulls out of rest, when it begins to slip, and its speed."""
    begin = loading(0.0, 0.0, force, B)
    x, v = swing(begin, 0.0, 0.0, force, B)
    return x + v * (t - begin) + (force - MU * G) * (t - begin) ** 2 / 2, begin, v + (force - MU * G) * (t - begin)


def push_and_let_go(options, force=8.0, time=0.1):
    """The puck sticks, slips, is let go after ``time``, stops and sticks; (place at 0.3 s, stepper)."""
    sim = ss.Simulation(puck(), "event-selected", dt=time, **options)
    sim.inputs.applied[0] = force
    sim.step(1)
    sim.inputs.applied[0] = 0.0
    sim.step(2)
    return sim.state.q[0], sim.stepper


def pushed_and_let_go(force=8.0, time=0.1):
    x, begin, v = pushed(time, force)
    assert 0.0 < begin < time
    return x + slipping(2 * time, v, B)


def test_a_push_begins_a_slip_which_ends():
    place, stepper = push_and_let_go(SHARP)
    assert place == pytest.approx(pushed_and_let_go(), abs=1e-11)
    assert (stepper.slips, stepper.crossings) == (2, 0)
    place, _ = push_and_let_go({})
    assert place == pytest.approx(pushed_and_let_go(), abs=1e-7)


def test_the_order_of_the_steps_across_stick_slip_stick():
    """With steps of a given length, the error has the order of Dormand and Prince's method, since no step lies across a
    beginning or an end of slip."""
    steps = np.array([8e-3, 4e-3, 2e-3])
    exact = pushed_and_let_go()
    errors = [abs(push_and_let_go({"max_step": h, "rtol": 10.0, "atol": 10.0})[0] - exact) for h in steps]
    orders = -np.diff(np.log2(errors))
    assert np.all(orders > 4.5), (errors, orders)


def test_the_direction_of_a_slip_turns_with_its_velocity():
    """A force across: friction opposes the slip, which turns; no step is taken for shorter because it turns."""
    side, end = 3.0, 0.15

    def coulomb(t, x):
        speed = np.hypot(x[2], x[3])
        return [x[2], x[3], -MU * G * x[2] / speed, side - MU * G * x[3] / speed]

    exact = solve_ivp(coulomb, (0.0, end), [0.0, 0.0, 1.0, 0.0], rtol=1e-12, atol=1e-14, method="DOP853").y[:, -1]
    for options, tolerance in ((SHARP, 1e-9), ({}, 1e-6)):
        sim = ss.Simulation(puck(across=True), "event-selected", dt=end, **options)
        sim.set_state(v=[1.0, 0.0, 0.0])
        sim.inputs.applied[1] = side
        sim.step(1)
        np.testing.assert_allclose([*sim.state.q[:2], *sim.state.v[:2]], exact, rtol=0, atol=tolerance)


def test_an_incline_that_is_too_steep_and_one_that_is_not():
    for angle, slides in ((0.2, False), (0.6, True)):
        down = G * np.array([np.sin(angle), 0.0, -np.cos(angle)])
        scene = puck()
        scene.gravity = tuple(down)
        scene.set_home("height", -G * np.cos(angle) / K)
        sim = ss.Simulation(scene, "event-selected", dt=0.5)
        sim.step(1)
        assert (sim.stepper.slips == 1) == slides
        if slides:
            begin = loading(0.0, 0.0, down[0], B, -MU * down[2])
            speed = swing(begin, 0.0, 0.0, down[0], B)[1] + (down[0] + MU * down[2]) * (0.5 - begin)
            assert sim.state.v[0] == pytest.approx(speed, abs=1e-7)
        else:
            assert sim.state.q[0] == pytest.approx(down[0] / K, abs=1e-6)


def test_a_slip_goes_on_from_a_snapshot_to_the_bit():
    sim = ss.Simulation(puck(across=True), "event-selected", dt=0.02)
    sim.set_state(v=[1.0, -0.4, 0.0])
    sim.inputs.applied[1] = 3.0
    sim.step(3)
    saved, ends = sim.snapshot(), []
    for _ in range(2):
        sim.restore(saved)
        sim.step(15)
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    np.testing.assert_array_equal(*ends)


def test_contacts_without_friction_neither_stick_nor_slip():
    sim = ss.Simulation(puck(friction=0.0), "event-selected", dt=0.1)
    sim.set_state(v=[1.0, 0.0])
    sim.step(3)
    assert sim.state.v[0] == pytest.approx(1.0, abs=1e-12)
    assert sim.stepper.slips == 0
