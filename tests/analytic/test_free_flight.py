"""Free flight conserves energy and momentum, up to an error that shrinks in proportion to dt (the method's order)."""

import numpy as np
import pytest

import stickslip as ss


def tumbling_body():
    """J = diag(1, 2, 3), spinning about its middle axis."""
    setup = ss.SCENES["tumble"].build()
    return setup.scene.compile(), setup.velocity


def floating_solo12():
    """Solo12 drifting and tumbling, legs swinging freely, far from its joint limits."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_robot("solo12")
    velocity = np.zeros(18)
    velocity[:6] = 0.1, 0.2, 0.3, 0.3, 0.5, 0.2
    velocity[6:] = 0.1 * np.random.default_rng(1).normal(size=12)
    return scene.compile(), velocity


def drift(model, velocity, dt, seconds=10.0, samples=20):
    """Largest relative change of energy, linear and angular momentum over the run."""
    sim = ss.Simulation(model, "semi-implicit-euler/none", dt=dt)
    sim.set_state(v=velocity)
    energy = sum(sim.energy())
    momentum = sim.dynamics.momentum(sim.state.q, sim.state.v)
    worst = np.zeros(3)
    for _ in range(samples):
        sim.step(round(seconds / dt / samples))
        change = sim.dynamics.momentum(sim.state.q, sim.state.v) - momentum
        linear = np.linalg.norm(change[:3]) / max(np.linalg.norm(momentum[:3]), 1e-12)
        angular = np.linalg.norm(change[3:]) / np.linalg.norm(momentum[3:])
        worst = np.maximum(worst, [abs(sum(sim.energy()) / energy - 1), linear, angular])
    assert np.abs(sim.state.q[7:]).max(initial=0.0) < 10.0, "a joint limit was hit: nothing is conserved there"
    return worst


@pytest.mark.parametrize(("system", "bound"), [(tumbling_body, 3e-3), (floating_solo12, 1e-3)])
def test_drift_is_small_and_of_first_order(system, bound):
    model, velocity = system()
    coarse, fine = drift(model, velocity, 1e-3), drift(model, velocity, 2.5e-4)
    assert fine.max() < coarse.max() < bound
    moving = coarse > 1e-9
    order = np.log(coarse[moving] / fine[moving]) / np.log(4.0)
    np.testing.assert_allclose(order, 1.0, atol=0.15)


def test_tumbling_body_flips():
    """The middle axis is unstable (Dzhanibekov): ω_y changes its sign."""
    model, velocity = tumbling_body()
    sim = ss.Simulation(model, dt=1e-3)
    sim.set_state(v=velocity)
    lowest = min((sim.step(100), sim.state.v[4])[1] for _ in range(200))
    assert lowest < -1.9


def test_free_fall_is_exact_at_the_grid_points():
    """Semi-implicit Euler: z_n = z_0 − g·dt²·n(n+1)/2, to round-off."""
    scene = ss.Scene()
    scene.add_sphere(0.1, pos=(0, 0, 100.0), mass=1.0)
    sim = ss.Simulation(scene, dt=1e-3)
    sim.step(1000)
    assert sim.state.q[2] == pytest.approx(100.0 - 9.81e-6 * 1000 * 1001 / 2, rel=1e-12)
    assert sim.time == pytest.approx(1.0, rel=1e-15)
