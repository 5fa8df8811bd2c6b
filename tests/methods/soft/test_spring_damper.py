"""The spring-damper law by itself."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError


@pytest.mark.parametrize("material", [{"stiffness": -1.0}, {"damping": -1.0}, {"friction": -0.1}])
def test_impossible_materials(material):
    scene = ss.Scene()
    name = next(iter(material))
    with pytest.raises(InputError, match=name):
        scene.add_plane(**material)


def test_power_of_friction():
    """In every state of slip, what friction and its spring take from the motion is at least what the spring stores."""
    rng = np.random.default_rng(7)
    scene = ss.Scene()
    scene.add_plane(friction=0.5, stiffness=1e5, damping=300.0)
    body = scene.add_body("mass")
    body.set_inertia(1.0, inertia=(1, 1, 1))
    body.add_contact_point("tip")
    sim = ss.Simulation(scene, method="euler", dt=1e-5)
    slipped = 0
    for _ in range(3000):
        depth = 10.0 ** rng.uniform(-5, -3)
        fn = 1e5 * depth
        stretch = rng.uniform(0, 0.5 * fn / 1e5) * unit(rng)
        velocity = 10.0 ** rng.uniform(-4, 1) * unit(rng)
        sim.set_state(q=[0, 0, -depth, 1, 0, 0, 0], v=[*velocity, 0, 0, 0, 0])
        sim.observe()
        anchors = sim.stepper.anchors
        anchors.pair[0], anchors.anchor[0] = sim.contacts.arrays.pair[0] + 1, [*-stretch, -depth]
        for name in sim.stepper.observing:
            sim.stepper.stages()[name](sim)
        _, f1, f2 = sim.contacts.arrays.force[0]
        _, s1, s2 = sim.contacts.arrays.stretch[0]
        if np.hypot(f1, f2) < (1 - 1e-12) * 0.5 * fn:
            continue
        slipped += 1
        assert np.hypot(s1, s2) <= np.linalg.norm(stretch) * (1 + 1e-12) + 1e-18  # slip never winds up the spring
        taken = -(np.array([f1, f2]) @ velocity)
        stored = 1e5 * stretch @ velocity  # if the anchor stayed
        held = np.hypot(s1, s2) < np.linalg.norm(stretch) * (1 - 1e-12)  # it did not: the spring gives up energy
        assert held or taken >= stored - 1e-9 * (abs(taken) + abs(stored))
    assert slipped > 1000


def unit(rng) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi)
    return np.array([np.cos(angle), np.sin(angle)])


def test_anchors_are_part_of_the_state():
    """A stuck block on a slope: without its anchor it would start to slide anew."""
    angle = np.deg2rad(15.0)
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene = ss.Scene()
    scene.add_plane(normal=normal, friction=0.5, stiffness=1e4)
    scene.add_box((0.2, 0.2, 0.05), pos=0.025 * normal, quat=(np.cos(angle / 2), 0, np.sin(angle / 2), 0), mass=1.0)
    sim = ss.Simulation(scene, method="expo", dt=2e-3)
    sim.step(500)
    snapshot = sim.snapshot()
    assert {"anchored", "anchor", "point", "rest"} <= set(snapshot.memory)
    sim.step(100)
    held = sim.state.q.copy()
    sim.restore(snapshot)
    for array in sim.stepper.memory().values():
        array[:] = 0
    sim.step(100)
    assert np.linalg.norm(held[:3] - snapshot.state.q[:3]) < 1e-9
    assert np.linalg.norm(sim.state.q[:3] - snapshot.state.q[:3]) > 1e-5
