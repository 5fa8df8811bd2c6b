"""Springs and dampers between all kinds of convex shapes: depth at rest, friction, memory, energy."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stickslip as ss
from stickslip.methods.registry import METHODS
from stickslip.methods.soft.viscoelastic import Viscoelastic

G, K, B = 9.81, 2e4, 300.0
SOFT = [name for name, stepper in METHODS.items() if issubclass(stepper, Viscoelastic)]
CUBE = 0.1 * np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
ALONG_X = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
LOWER = {
    "plane": lambda scene, **o: scene.add_plane(**o),
    "box": lambda scene, **o: scene.add_box((0.4, 0.4, 0.2), pos=(0, 0, -0.1), joint="fixed", **o),
    "mesh": lambda scene, **o: scene.add_mesh(CUBE * [2, 2, 1], pos=(0, 0, -0.1), joint="fixed", **o),
}
UPPER = {  # what it is, how high its centre lies, how many contacts it has on a flat surface
    "sphere": (lambda scene, **o: scene.add_sphere(0.1, **o), 0.1, 1),
    "box": (lambda scene, **o: scene.add_box((0.2, 0.2, 0.2), **o), 0.1, 4),
    "mesh": (lambda scene, **o: scene.add_mesh(CUBE, **o), 0.1, 4),
    "lying capsule": (lambda scene, **o: scene.add_capsule(0.05, 0.1, quat=ALONG_X, **o), 0.05, 2),
    "standing cylinder": (lambda scene, **o: scene.add_cylinder(0.08, 0.2, **o), 0.1, 4),
    "lying cylinder": (lambda scene, **o: scene.add_cylinder(0.08, 0.2, quat=ALONG_X, **o), 0.08, 2),
}
SURFACE = {"stiffness": 2 * K, "damping": 2 * B}


def scene_of(lower, upper, friction=0.5, gravity=(0, 0, -G), **place):
    """A body of 1 kg that touches a fixed one; the pair has K and B."""
    scene = ss.Scene(gravity=gravity)
    LOWER[lower](scene, friction=friction, **SURFACE)
    build, height, _ = UPPER[upper]
    build(scene, pos=(0.01, 0.02, height), mass=1.0, friction=friction, name="body", **SURFACE, **place)
    return scene


@pytest.mark.parametrize("method", SOFT)
def test_bodies_rest_at_the_depth_of_their_weight(method):
    """The contacts of a manifold share K, however many they are."""
    for lower, upper in itertools.product(LOWER, UPPER):
        sim = ss.Simulation(scene_of(lower, upper), method, dt=5e-4)
        sim.step(800)
        sim.observe()
        n = len(sim.contacts)
        assert n == UPPER[upper][2], (lower, upper)
        assert UPPER[upper][1] - sim.state.q[2] == pytest.approx(G / K, rel=1e-3), (lower, upper)
        assert sim.contacts.arrays.force[:n, 0].sum() == pytest.approx(G, rel=1e-3)
        assert np.abs(sim.state.v).max() < 1e-3, (lower, upper)


@pytest.mark.parametrize("method", SOFT)
@pytest.mark.parametrize("upper", ["box", "mesh", "standing cylinder"])
def test_blocks_stick_below_the_friction_angle_and_slide_above(upper, method):
    """Also where the block's face overlaps that of the base only in part, so that its contacts are no corners of it."""
    slope, mu = 0.3, 0.5
    for friction, offset in itertools.product((mu, 0.2), (0.0, 0.13)):
        gravity = (G * np.sin(slope), 0, -G * np.cos(slope))
        scene = ss.Scene(gravity=gravity)
        LOWER["box"](scene, friction=friction, **SURFACE)
        build, height, _ = UPPER[upper]
        build(scene, pos=(-offset, 0, height - G * np.cos(slope) / K), mass=1.0, friction=friction, **SURFACE)
        sim = ss.Simulation(scene, method, dt=5e-4)
        start = sim.state.q[0]
        sim.step(500)
        moved, before = sim.state.q[0] - start, sim.state.v[0]
        if friction == mu:
            assert 0.0 < moved < 20.0 * G / K, (upper, friction, offset)  # it leans on its springs
            assert np.abs(sim.state.v).max() < 0.05
        else:
            sim.step(200)
            acceleration = G * (np.sin(slope) - friction * np.cos(slope))
            assert sim.state.v[0] - before == pytest.approx(0.1 * acceleration, rel=0.02), (upper, friction, offset)


@pytest.mark.parametrize("method", SOFT)
def test_a_stack_of_boxes_and_meshes_stands_and_continues_exactly(method):
    scene = ss.Scene()
    scene.add_plane(friction=0.6, **SURFACE)
    for k in range(3):
        add, size = (scene.add_mesh, CUBE) if k == 1 else (scene.add_box, (0.2, 0.2, 0.2))
        add(size, pos=(0.002 * k, 0, 0.1 + 0.2 * k), mass=1.0, friction=0.6, **SURFACE)
    sim = ss.Simulation(scene, method, dt=2e-4)
    sim.step(2500)
    depths = np.array([0.1 + 0.2 * k for k in range(3)]) - sim.state.q[2::7]
    np.testing.assert_allclose(depths, np.array([3, 5, 6]) * G / K, rtol=0.02)
    snapshot = sim.snapshot()
    ends = []
    for other in (sim, ss.Simulation(scene, method, dt=2e-4)):
        other.restore(snapshot)
        other.inputs.applied[12] = 3.0  # the topmost is pushed
        other.step(50)
        ends.append(np.r_[other.state.q, other.state.v])
    np.testing.assert_array_equal(ends[0], ends[1])


def test_what_stiffness_is_counted_by():
    depths = {}
    for per in ("pair", "point", "area"):
        sim = ss.Simulation(scene_of("box", "box"), "expo", dt=1e-3, stiffness_per=per)
        sim.step(600)
        depths[per] = 0.1 - sim.state.q[2]
    assert depths["pair"] == pytest.approx(G / K, rel=1e-3)
    assert depths["point"] == pytest.approx(G / (4 * K), rel=1e-3)
    assert depths["area"] == pytest.approx(G / (0.04 * K), rel=0.05)  # per m²: soft, and so not yet quite at rest
    with pytest.raises(ss.InputError, match="stiffness_per"):
        ss.Simulation(scene_of("box", "box"), "expo", stiffness_per="volume")


@pytest.mark.parametrize("method", ["rk4", "event-selected"])
@pytest.mark.parametrize("upper", ["box", "lying capsule"])
def test_an_undamped_bounce_keeps_the_energy(upper, method):
    scene = ss.Scene()
    LOWER["box"](scene, stiffness=2 * K, damping=0.0, friction=0.0)
    UPPER[upper][0](scene, pos=(0, 0, 0.12), mass=1.0, stiffness=2 * K, damping=0.0, friction=0.0)
    sim = ss.Simulation(scene, method, dt=1e-4)
    energies = []
    for _ in range(30):
        sim.step(100)
        energies.append(sum(sim.energy()[:3]) + sim.observe())
    np.testing.assert_allclose(energies, energies[0], rtol=1e-5)


def test_a_ball_rests_in_a_bowl_of_meshes():
    """Three plates lean outwards by 45°: m·g = 3·K·depth·cos 45°."""
    scene, tilt = ss.Scene(), np.pi / 4
    for k in range(3):
        turn = Rotation.from_euler("z", 2 * np.pi * k / 3) * Rotation.from_euler("y", -tilt)
        x, y, z, w = turn.as_quat()
        centre = turn.apply([0.3 * np.sqrt(2), 0.0, -0.05])  # the upper face goes through the origin
        place = {"pos": centre, "quat": (w, x, y, z), "joint": "fixed"}
        scene.add_mesh(CUBE * [4, 4, 0.5], friction=0.0, **place, **SURFACE)
    scene.add_sphere(0.1, pos=(0, 0, 0.1 * np.sqrt(2)), mass=1.0, friction=0.0, **SURFACE)
    sim = ss.Simulation(scene, "expo", dt=1e-3)
    sim.step(1500)
    sim.observe()
    assert len(sim.contacts) == 3
    depth = G / (3 * K * np.cos(tilt))
    np.testing.assert_allclose(sim.contacts.arrays.gap[:3], -depth, rtol=1e-3)
    assert sim.state.q[2] == pytest.approx((0.1 - depth) * np.sqrt(2), rel=1e-5)
