"""Velocity-dependent forces: averaged over the step for single bodies, in its middle for trees in free motion."""

import numpy as np
import pytest

import stickslip as ss

RIGID = ("stewart-trinkle", "anitescu-potra", "peg", "coulomb", "relaxed")


def chain(links):
    """Links on ball joints that swing."""
    scene = ss.Scene()
    parent = None
    for k in range(links):
        make = scene.add_body if parent is None else parent.add_body
        parent = make(f"link{k}", joint="ball", pos=(0, 0, 3) if k == 0 else (0.1, 0, 0))
        parent.add_capsule(0.01, 0.08, mass=0.1, pos=(0.05, 0, 0), quat=(1, 0, 1, 0), collide=False)
    return scene


def tumbled(method, dt=1e-2, seconds=10.0, **options):
    sim = ss.Simulation(ss.SCENES["tumble"].build(), method, dt, **options)
    sim.step(round(seconds / dt))
    return sim


def angle(q, other):
    """[degrees] between two orientations."""
    return np.degrees(2 * np.arccos(min(1.0, abs(float(q @ other)))))


@pytest.mark.parametrize("coordinates", ["joint", "maximal"])
@pytest.mark.parametrize("method", RIGID)
def test_a_single_body_tumbles_as_it_should(method, coordinates):
    """What is left does not grow: orientations lead velocities by half a step."""
    truth = tumbled("rk4", 1e-3).state.q[3:]
    midpoint = tumbled(method, coordinates=coordinates)
    assert angle(midpoint.state.q[3:], truth) < 0.5
    explicit = tumbled(method, coordinates=coordinates, bias="explicit")
    assert angle(explicit.state.q[3:], truth) > 5.0


def gain(sim, seconds=0.8):
    """Largest energy over that at the start, as a part of the kinetic energy."""
    start, most, fastest = sum(sim.energy()), 0.0, 0.0
    while sim.time < seconds:
        sim.step()
        energy = sim.energy()
        most, fastest = max(most, sum(energy) - start), max(fastest, energy[0])
    return most / fastest


@pytest.mark.filterwarnings("ignore::stickslip.errors.EnergyGainWarning")
def test_a_chain_in_free_motion_gains_little():
    midpoint, explicit = (
        gain(ss.Simulation(chain(6), "coulomb", 5e-3, bias=bias)) for bias in ("midpoint", "explicit")
    )
    assert midpoint < 0.2 * explicit


@pytest.mark.filterwarnings("ignore::stickslip.errors.EnergyGainWarning")
def test_stages_look_ahead_as_the_compiled_loop_does():
    compiled = ss.Simulation(chain(3), "coulomb", 1e-2)
    staged = ss.Simulation(chain(3), "coulomb", 1e-2, user=lambda sim: None)
    explicit = ss.Simulation(chain(3), "coulomb", 1e-2, bias="explicit")
    for sim in (compiled, staged, explicit):
        sim.step(40)
    np.testing.assert_allclose(staged.state.q, compiled.state.q, atol=1e-10)
    assert np.abs(explicit.state.q - compiled.state.q).max() > 1e-4


def test_a_robot_that_stands_keeps_forces_at_the_beginning_of_the_step():
    """Look-ahead without its contact forces would be worse than none."""
    ends = []
    for bias in ("midpoint", "explicit"):
        sim = ss.Simulation("solo12-stand", "coulomb", 1e-3, bias=bias)
        sim.step(1)
        start = sim.snapshot()
        assert len(sim.contacts) >= 4
        sim.step(20)
        ends.append(sim.state.q.copy())
        sim.restore(start)
        sim.step(20)
        np.testing.assert_array_equal(sim.state.q, ends[-1])
    np.testing.assert_array_equal(*ends)
