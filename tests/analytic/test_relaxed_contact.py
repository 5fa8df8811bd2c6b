"""Relaxed contacts against closed forms: depth, damping, creep, the lift of a sliding block, force at a distance."""

import numpy as np
import pytest

import stickslip as ss

G, K, B, MASS = 9.81, 2e4, 100.0, 2.0
SOLVER = "relaxed/newton"


def block(mu=0.5, tilt=0.0, dt=1e-2, method=SOLVER, **options):
    """A box on four contacts, each with K and B; ``tilt`` turns gravity towards x."""
    scene = ss.Scene(gravity=(G * np.sin(tilt), 0.0, -G * np.cos(tilt)))
    scene.add_plane(friction=mu, stiffness=K, damping=B)
    scene.add_box((0.4, 0.4, 0.2), pos=(0, 0, 0.1), mass=MASS, friction=mu)
    return ss.Simulation(scene, method=method, dt=dt, solver_options={"tolerance": 1e-11}, **options)


def ball(height=0.1, dt=1e-3, stiffness=K, damping=B):
    scene = ss.Scene()
    scene.add_plane(friction=0.5, stiffness=stiffness, damping=damping)
    scene.add_sphere(0.1, pos=(0, 0, height), mass=MASS, friction=0.5)
    return ss.Simulation(scene, method=SOLVER, dt=dt)


@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_at_rest_it_sinks_by_its_load_over_the_stiffness(dt):
    sim = block(dt=dt)
    sim.step(int(1.0 / dt))
    assert 0.1 - sim.state.q[2] == pytest.approx(MASS * G / 4 / K, rel=1e-6)


def test_it_oscillates_as_a_spring_and_damper_do():
    """From its resting depth with a small speed: the damped oscillator, to first order in dt."""
    omega, decay = np.sqrt(K / MASS), B / (2 * MASS)
    damped = np.sqrt(omega**2 - decay**2)
    v0, errors = 0.03, []
    for dt in (2e-4, 1e-4):
        sim = ball(0.1 - MASS * G / K, dt)
        sim.set_state(v=[0, 0, v0, 0, 0, 0])
        worst = 0.0
        for k in range(1, round(0.1 / dt) + 1):
            sim.step(1)
            z = v0 / damped * np.exp(-decay * k * dt) * np.sin(damped * k * dt)
            worst = max(worst, abs(sim.state.q[2] - (0.1 - MASS * G / K) - z))
        errors.append(worst / (v0 / damped))
    assert errors[1] < 0.01
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("ratio", [1.0, 10.0])
@pytest.mark.parametrize(("dt", "method"), [(1e-2, "relaxed/pgs"), (1e-2, SOLVER), (1e-3, SOLVER)])
def test_creep_under_static_load(ratio, dt, method):
    """Below the friction angle it does not hold still: four dampers of ratio·(dt·K + B)."""
    sim = block(tilt=0.3, dt=dt, method=method, friction_ratio=ratio)
    sim.step(int(1.0 / dt))
    assert sim.state.v[0] == pytest.approx(MASS * G * np.sin(0.3) / (4 * ratio * (dt * K + B)), rel=1e-5)


@pytest.mark.parametrize("ratio", [1.0, 10.0])
def test_a_sliding_block_hovers(ratio):
    """At tan(tilt) = μ it slides on at one speed, at the height (dt + B/K)·μ·v − (1 + μ²/ratio)·N/K."""
    mu, dt = 0.5, 1e-2
    sim = block(mu, np.arctan(mu), dt, friction_ratio=ratio)
    sim.set_state(v=[2.0, 0, 0, 0, 0, 0])
    sim.step(400)
    speed, load = sim.state.v[0], MASS * G * np.cos(np.arctan(mu)) / 4
    assert 0.5 < speed < 2.0
    height = (dt + B / K) * mu * speed - (1 + mu**2 / ratio) * load / K
    assert height > 1e-3
    assert sim.state.q[2] - 0.1 == pytest.approx(height, rel=1e-4)


def test_mujoco_s_numbers_with_every_solver():
    """Depth at rest by solref alone: R·p + dt·(b·u + k·d·ψ) = 0 at u = 0, with N = m·g/4 and exact W_nn."""
    for method in ("relaxed/pgs", SOLVER):
        sim = block(method=method, solref=(0.05, 1.0), solimp=(0.9, 0.9, 0.001, 0.5, 2.0))
        sim.step(200)
        k = 1.0 / (0.9 * 0.05) ** 2
        own = 1.0 / MASS + 2 * 0.2**2 / (MASS * (0.4**2 + 0.2**2) / 12)  # of a corner, 0.2 m from both axes
        depth = 0.1 / 0.9 * own * MASS * G / 4 / (k * 0.9)
        assert 0.1 - sim.state.q[2] == pytest.approx(depth, rel=1e-4)


def test_a_block_that_begins_to_slide_hops():
    """One step from sliding flat on the floor: P·(1/m + R/4)·(1 + μ²) = μ·v + g·dt of the sum P of normal impulses."""
    mu, dt, v = 0.5, 1e-2, 3.0
    scene = ss.Scene()
    scene.add_plane(friction=mu, stiffness=K, damping=B)
    scene.add_box((0.4, 0.4, 1e-4), pos=(0, 0, 5e-5), mass=MASS, friction=mu)  # flat: friction does not turn it
    sim = ss.Simulation(scene, method=SOLVER, dt=dt)
    sim.set_state(v=[v, 0, 0, 0, 0, 0])
    sim.step(1)
    R = 1.0 / (dt * (dt * K + B))
    P = (mu * v + G * dt) / ((1.0 / MASS + R / 4) * (1 + mu**2))
    assert sim.state.v[2] == pytest.approx(P / MASS - G * dt, rel=1e-3)
    assert sim.state.v[0] == pytest.approx(v - mu * P / MASS, rel=1e-3)


def test_force_at_a_distance():
    """A falling ball is slowed where it would arrive within dt + B/K, before it touches; not where it would later."""
    dt, speed = 1e-3, 2.0
    reach = (speed + G * dt) * (dt + B / K)
    for gap, pushed in ((0.99 * reach, True), (1.01 * reach, False)):
        sim = ball(0.1 + gap, dt)
        sim.stepper.detector.margin, sim.stepper.search.automatic = 1.0, False
        sim.set_state(v=[0, 0, -speed, 0, 0, 0])
        sim.step(1)
        assert (sim.state.v[2] > -speed - G * dt + 1e-9) == pushed
        assert sim.state.q[2] > 0.1  # still apart


def test_stiff_contacts_hold_still():
    """K → ∞: neither depth nor creep."""
    still = []
    for stiffness in (1e6, 1e9):
        scene = ss.Scene(gravity=(2.0, 0.0, -G))
        scene.add_plane(friction=0.5, stiffness=stiffness, damping=0.0)
        scene.add_box((0.4, 0.4, 0.2), pos=(0, 0, 0.1), mass=MASS, friction=0.5)
        sim = ss.Simulation(scene, method=SOLVER, dt=1e-2, solver_options={"tolerance": 1e-12})
        sim.step(50)
        still.append((0.1 - sim.state.q[2], sim.state.v[0]))
        assert still[-1] == pytest.approx((MASS * G / 4 / stiffness, MASS * 2.0 / (4 * 1e-2 * stiffness)), rel=1e-3)
    assert max(still[1]) < 1.001e-7
