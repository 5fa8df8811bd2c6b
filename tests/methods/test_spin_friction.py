"""Torsional and rolling friction: a ball that spins on its spot, and one that rolls, stop at the analytic time."""

import warnings

import numpy as np
import pytest

import stickslip as ss
from stickslip.methods.registry import METHODS

RADIUS, MASS, G = 0.1, 1.0, 9.81
HONOURED = [
    name
    for name, kind in METHODS.items()
    if {"torsion", "rolling"} <= kind.capabilities.honours and not kind.solves_problems
]
"""Those of time stepping are in cross_method/test_rows_of_joints.py."""


def ball(depth=MASS * G / 1e5, **friction) -> ss.Scene:
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_plane(friction=0.5)
    scene.add_sphere(RADIUS, pos=(0, 0, RADIUS - depth), mass=MASS, **friction)
    return scene


def simulation(scene: ss.Scene, method: str, v) -> ss.Simulation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = ss.Simulation(scene, method)
    sim.set_state(v=v)
    return sim


@pytest.mark.parametrize("method", HONOURED)
def test_spinning_and_rolling_balls_stop_at_the_analytic_time(method):
    """τ = μ_t·m·g stops the spin ω at t = ω·I/τ, I = 2/5·m·r²; rolling slows down by a = μ_r·g/(1.4·r)."""
    torsion, rolling, spin, speed = 0.01, 0.002, 2.0, 0.05
    depth = {"depth": 0.0} if method == "variational" else {}
    scene = ball(torsion=torsion, rolling=rolling, **depth)
    sim = simulation(scene, method, [0, 0, 0, 0, 0, spin])
    inertia, precise = 0.4 * MASS * RADIUS**2, {"mujoco": 1e-2, "variational": 1e-4}.get(method, 1e-9)
    stops = spin * inertia / (torsion * MASS * G)
    sim.step(round(0.5 * stops / sim.dt))
    assert (spin - sim.state.v[5]) / sim.time == pytest.approx(torsion * MASS * G / inertia, rel=precise)
    sim.step(round(1.5 * stops / sim.dt))
    assert np.abs(sim.state.v).max() < 1e-3 * spin
    assert np.abs(sim.contacts.arrays.torque[0]).max() <= 1.1 * torsion * MASS * G

    if method == "mujoco":  # its rolling is soft, with one elliptic cone for all directions
        return
    sim.set_state(scene.compile().state().q, [speed, 0, 0, 0, speed / RADIUS, 0])
    stops, start = speed / (rolling * G / (1.4 * RADIUS)), sim.time
    sim.step(round(0.5 * stops / sim.dt))
    slower = (speed - sim.state.v[0]) / (sim.time - start)
    assert slower == pytest.approx(rolling * G / (1.4 * RADIUS), rel=5.0 * precise)
    assert sim.state.v[4] * RADIUS == pytest.approx(sim.state.v[0], rel=5.0 * precise)


def test_bodies_that_both_move_exchange_torque():
    """A ball on a plate that turns about the vertical: their spins become equal, the angular momentum is kept."""
    scene = ss.Scene()
    plate = scene.add_body("plate", joint="hinge", axis=(0, 0, 1))
    plate.add_cylinder(0.3, 0.02, mass=0.5, friction=0.5)
    scene.add_sphere(0.05, pos=(0, 0, 0.06), mass=1.0, torsion=0.01)
    for method in ("semi-implicit-euler", "implicit-euler", "variational", "variational/pyramid"):
        sim = simulation(scene, method, [0, 0, 0, 0, 0, 0, 10.0])
        share, own = 0.5 * 0.5 * 0.3**2, 0.4 * 0.05**2
        sim.step(round(0.3 / sim.dt))
        spin = own * 10.0 / (own + share)
        within = 3e-3 if method.startswith("variational") else 1e-4  # forces to the interior point's tolerance
        assert sim.state.v[0] == pytest.approx(spin, rel=within)
        assert sim.state.v[6] == pytest.approx(spin, rel=within)


def test_a_snapshot_keeps_the_twist():
    sim = simulation(ball(torsion=0.01), "semi-implicit-euler", [0, 0, 0, 0, 0, 0.5])
    sim.step(30)
    kept = sim.snapshot()
    sim.step(50)
    once = sim.state.v.copy()
    sim.restore(kept)
    sim.step(50)
    np.testing.assert_array_equal(sim.state.v, once)


def test_gradients_of_variational_steps_refuse_it_by_name():
    sim = simulation(ball(depth=0.0, torsion=0.01), "variational", [0, 0, 0, 0, 0, 0.5])
    sim.step(1)
    with pytest.raises(ss.StickslipError, match="torsional and rolling friction"):
        sim.stepper.gradient()
