"""Meshes as files have them: turned inside out, with holes, doubled, tiny, huge, far away; and bodies in one place."""

import itertools

import numpy as np
import pytest
from convex_pairs import Pair

import stickslip as ss
from stickslip.collision.convex.geometry import build_geometry
from stickslip.errors import StartWarning, StickslipWarning

CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
TRIANGLES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
     (1, 5, 7), (1, 7, 3)]
)  # fmt: skip
"""A unit cube, counter-clockwise seen from outside."""
NOISE = 1e-9 * np.random.default_rng(0).normal(size=(40, 3))
GRID = np.array(list(itertools.product(np.linspace(-0.5, 0.5, 9), repeat=3)))
CUBES = {
    "as it is": (CORNERS, TRIANGLES),
    "without faces": (CORNERS, None),
    "inside out": (CORNERS, TRIANGLES[:, ::-1]),
    "half inside out": (CORNERS, np.concatenate([TRIANGLES[:6], TRIANGLES[6:, ::-1]])),
    "open": (CORNERS, TRIANGLES[:-3]),
    "doubled faces": (CORNERS, np.concatenate([TRIANGLES, TRIANGLES])),
    "faces without area": (CORNERS, np.concatenate([TRIANGLES, [(0, 0, 1), (1, 1, 1)]])),
    "three faces at an edge": (CORNERS, np.concatenate([TRIANGLES, [(0, 1, 7), (0, 1, 5)]])),
    "five of each vertex": (np.repeat(CORNERS, 5, axis=0), None),
    "five near each vertex": (np.repeat(CORNERS, 5, axis=0) + NOISE, None),
    "a grid of points": (GRID, None),
    "far from its origin": (CORNERS + 1e3, None),
}


def two_on_a_floor(vertices, faces=None, size=1.0):
    """Two bodies of the same mesh above a floor; contacts nearer than 1 % of the size count."""
    scene = ss.Scene()
    scene.add_plane()
    for _ in range(2):
        scene.add_mesh(size * vertices, faces=faces, convex="hull", mass=1.0)
    return Pair(scene, 0.01 * size)


def check(contacts):
    """Finite numbers, right-handed frames, ids that differ."""
    assert all(np.isfinite(array).all() for array in contacts[1:])
    frames = np.einsum("nij,nkj->nik", contacts.axes, contacts.axes)
    np.testing.assert_allclose(frames, np.tile(np.eye(3), (len(contacts.gap), 1, 1)), atol=1e-9)
    assert len(set(contacts.pair)) == len(contacts.pair)


def stacked(pair, size, gap):
    """The contacts of one cube on the floor and the other on it, both with this gap over the size."""
    low = min((shape.pos + shape.vertices @ shape.rot.T)[:, 2].min() for shape in pair.model.shapes[1:])
    first = np.r_[0, 0, gap * size - low, 1, 0, 0, 0]
    second = np.r_[0.1 * size, 0, (1 + 2 * gap) * size - low, 1, 0, 0, 0]
    contacts = pair.find(np.r_[first, second])
    check(contacts)
    return contacts


@pytest.mark.parametrize("name", CUBES)
@pytest.mark.parametrize("gap", [0.005, -0.005])
def test_however_a_cube_is_given_it_stacks_as_a_cube(name, gap):
    pair = two_on_a_floor(*CUBES[name])
    contacts = stacked(pair, 1.0, gap)
    assert len(contacts.gap) == 8  # four corners on the floor, four corners of the common area
    np.testing.assert_allclose(contacts.gap, gap, atol=1e-3 if "far" in name else 1e-6)
    np.testing.assert_allclose(contacts.axes[:, 0], np.tile((0, 0, 1), (8, 1)), atol=1e-3 if "far" in name else 1e-6)


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1e3, 1e6])
def test_a_cube_of_any_size_stacks(size):
    """Models beyond 1e6 m are refused."""
    contacts = stacked(two_on_a_floor(CORNERS, size=size), size, -0.005)
    assert len(contacts.gap) == 8
    np.testing.assert_allclose(contacts.gap / size, -0.005, atol=1e-6)


AROUND = np.linspace(0, 2 * np.pi, 400, endpoint=False)
THIN = {
    "a sheet": (CORNERS * (1, 1, 1e-5), 8),
    "a needle": (np.array([(0, 0, 0), (1e-4, 0, 0), (0, 1e-4, 0), (0, 0, 1.0)]), 4),
    "a blade": (CORNERS * (1, 1e-5, 1e-2), 8),
    "a coin of 800 corners": (np.array([(np.cos(a), np.sin(a), z) for a in AROUND for z in (0, 0.05)]), 800),
}


@pytest.mark.parametrize("name", THIN)
def test_thin_bodies_have_finite_contacts_however_they_lie(name):
    vertices, corners = THIN[name]
    pair = two_on_a_floor(vertices)
    assert [len(shape.vertices) for shape in pair.model.shapes[1:]] == [corners, corners]
    rng, met = np.random.default_rng(4), 0
    for turn in range(12):
        poses = []
        for _ in range(2):
            quat = np.array([1.0, 0, 0, 0]) if turn < 4 else rng.normal(size=4)
            poses.append(np.r_[0.1 * rng.normal(size=3) * (turn % 4 > 0), quat / np.linalg.norm(quat)])
        contacts = pair.find(np.concatenate(poses))
        check(contacts)
        met += len(contacts.gap) > 0
        assert contacts.gap.min(initial=0.0) >= -3.0
    assert met == 12


def test_a_face_of_which_only_an_edge_is_left():
    """Its third corner lies within an edge of its neighbours, to round-off."""
    points = [[-4077, -8229, -5340], [29846, 34183, 25737], [-3765, -8442, -5325], [-4038, -8251, -5325]]
    points += [[-8977, -4626, -4850], [-8988, -4635, -4897]]
    geometry, _ = build_geometry(two_on_a_floor(1e-5 * np.array(points)).model)
    assert np.diff(geometry.bodies.loop_start).min() == 3
    np.testing.assert_allclose(np.linalg.norm(geometry.bodies.normal, axis=1), 1.0)


@pytest.mark.parametrize("number", [4, 30, 300])
def test_a_mesh_in_itself(number):
    """Two bodies of the same mesh in the same place, or nearly: some contact pushes them apart."""
    rng = np.random.default_rng(number)
    points = rng.normal(size=(number, 3))
    pair = two_on_a_floor(0.1 * points / np.linalg.norm(points, axis=1)[:, None])
    for shift in (0.0, 1e-300, 1e-16, 1e-12, 1e-6):
        quat = rng.normal(size=4)
        pose = np.r_[0, 0, 3.0, quat / np.linalg.norm(quat)]
        contacts = pair.find(np.r_[pose, pose + np.r_[shift, np.zeros(6)]])
        check(contacts)
        assert contacts.gap.min(initial=0.0) < -0.01


def in_one_place(add, number):
    scene = ss.Scene()
    scene.add_plane()
    for _ in range(number):
        add(scene)
    return scene


@pytest.mark.parametrize("method", ["coulomb/pgs"])
@pytest.mark.parametrize(
    ("add", "number"),
    [
        (lambda scene: scene.add_sphere(0.1, pos=(0, 0, 0.5), mass=1.0), 50),
        (lambda scene: scene.add_box((0.1, 0.1, 0.1), pos=(0, 0, 0.5), mass=1.0), 5),
        (lambda scene: scene.add_mesh(0.2 * CORNERS[:7], pos=(0, 0, 0.5), mass=1.0), 5),
    ],
    ids=["50 spheres", "boxes", "meshes"],
)
@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
def test_bodies_in_one_place_come_apart_at_a_bounded_speed(method, add, number):
    """A warning names the overlap; the bodies come apart. Springs, of soft and relaxed methods, push as stiff as they
    are, and are not held to a speed."""
    sim = ss.Simulation(in_one_place(add, number), method=method, dt=2e-4)
    with pytest.warns(StartWarning):
        sim.run(0.01)
    assert np.abs(sim.state.v.reshape(number, 6)[:, :3]).max() < 50.0
    assert np.isfinite(sim.state.q).all()
    assert np.isfinite(sim.state.v).all()
    places = sim.state.q.reshape(number, 7)[:, :3]
    assert np.ptp(places, axis=0).max() > 1e-3


def test_a_mesh_with_faces_inside_warns_by_name():
    vertices, faces = CUBES["three faces at an edge"]
    with pytest.warns(StickslipWarning, match="not convex"):
        ss.Scene().add_mesh(vertices, faces=faces, mass=1.0)
