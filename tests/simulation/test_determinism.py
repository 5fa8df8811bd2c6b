"""The same scene, method and seed give the same bits: run after run, from a snapshot in mid-run, and in copies of a
simulation, for every method that can be asked for."""

import copy
import pickle

import numpy as np
import pytest

import stickslip as ss
from stickslip.methods.registry import METHODS
from stickslip.solvers import SOLVERS

pytestmark = pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")

STEPS = 12


def available(method):
    """PATH is another program, which may be missing, and answers in its own time."""
    return method.partition("/")[2] != "path"


AVAILABLE = [method for method in ss.method_names() if available(method)]


def scene():
    """A ball that slides, and a rod on a hinge that swings into the floor."""
    made = ss.Scene()
    made.add_plane(friction=0.5)
    made.add_sphere(0.1, name="ball", pos=(0, 0, 0.1), mass=1.0)
    arm = made.add_body("arm", joint="hinge", axis=(0, 1, 0), pos=(1, 0, 0.3), damping=0.1)
    arm.add_capsule(0.05, 0.2, pos=(0.15, 0, -0.19), quat=(0.92388, 0, 0.38268, 0), mass=0.5)
    return made


def push(sim):
    """Random forces, from the simulation's own source."""
    sim.inputs.applied[:] = 0.1 * sim.rng.normal(size=sim.model.nv)


def simulation(method, seed=3):
    sim = ss.Simulation(scene(), method, dt=2e-4, user=push, seed=seed)
    sim.set_state(v=np.array([0.5, 0.1, 0.0, 0.0, 0.0, 0.0, 0.2]))
    return sim


def bits(sim):
    return sim.state.q.tobytes() + sim.state.v.tobytes() + b"".join(a.tobytes() for a in sim.stepper.memory().values())


def test_every_registered_method_is_tried():
    tried = {method.partition("/")[0] for method in AVAILABLE}
    assert tried == set(METHODS)
    variants = {method.partition("/")[2] for method in AVAILABLE}
    assert set(SOLVERS) - variants == {"path"}


@pytest.mark.parametrize("method", AVAILABLE)
def test_the_same_bits_again_from_a_snapshot_and_in_copies(method):
    sim, again = simulation(method), simulation(method)
    sim.step(STEPS)
    again.step(STEPS)
    assert bits(again) == bits(sim)
    snapshot, stored, copied = sim.snapshot(), pickle.dumps(sim), copy.deepcopy(sim)
    sim.step(STEPS)
    uninterrupted = bits(sim)
    again.step(STEPS)
    assert bits(again) == uninterrupted
    for other in (pickle.loads(stored), copied):
        other.step(STEPS)
        assert bits(other) == uninterrupted
        assert other.steps == sim.steps
        assert other.options == sim.options
    sim.restore(snapshot)  # back in the same simulation
    sim.step(STEPS)
    assert bits(sim) == uninterrupted
    fresh = simulation(method, seed=4)  # and on in a new one, whose own seed no longer counts
    fresh.restore(snapshot)
    fresh.step(STEPS)
    assert bits(fresh) == uninterrupted


def test_another_seed_gives_another_run():
    """Else the test above would say nothing about the seed."""
    first, second = simulation("expo", seed=3), simulation("expo", seed=4)
    first.step(STEPS)
    second.step(STEPS)
    assert bits(first) != bits(second)
