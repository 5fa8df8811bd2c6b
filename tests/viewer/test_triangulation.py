"""Drawn shapes have the size of the real ones, and lie where their links are."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stickslip.model.terrain import grid_points
from stickslip.viewer import triangulation
from stickslip.viewer.moment import between


def volume(mesh, scale=(1.0, 1.0, 1.0)):
    """By the divergence theorem; positive only if faces are counter-clockwise from outside."""
    a, b, c = (mesh.vertices * scale)[mesh.faces].transpose(1, 0, 2)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


ROUND = np.sin(2 * np.pi / triangulation.AROUND) * triangulation.AROUND / (2 * np.pi)
"""Area of the polygon over that of its circle."""


@pytest.mark.parametrize(
    ("kind", "size", "wanted", "close"),
    [
        ("box", (0.1, 0.2, 0.3), 8 * 0.1 * 0.2 * 0.3, 1e-12),
        ("sphere", (0.5, 0.0, 0.0), 4 / 3 * np.pi * 0.5**3 * ROUND, 0.01),
        ("ellipsoid", (0.5, 0.2, 0.1), 4 / 3 * np.pi * 0.5 * 0.2 * 0.1 * ROUND, 0.01),
        ("cylinder", (0.2, 0.7, 0.0), np.pi * 0.2**2 * 1.4 * ROUND, 1e-9),
        ("capsule", (0.2, 0.7, 0.0), (np.pi * 0.2**2 * 1.4 + 4 / 3 * np.pi * 0.2**3) * ROUND, 0.005),
        ("point", (0.0, 0.0, 0.0), 4 / 3 * np.pi * triangulation.POINT_RADIUS**3 * ROUND, 0.01),
    ],
)
def test_volume(kind, size, wanted, close):
    found = triangulation.drawing({"kind": kind, "size": size}, None)
    assert volume(found.mesh, found.scale) == pytest.approx(wanted, rel=close)


def test_an_ellipsoid_has_its_radii_along_its_axes():
    found = triangulation.drawing({"kind": "ellipsoid", "size": (0.5, 0.2, 0.1)}, None)
    points = found.mesh.vertices * found.scale
    assert points.max(axis=0) == pytest.approx((0.5, 0.2, 0.1))
    assert np.linalg.norm(points / (0.5, 0.2, 0.1), axis=1) == pytest.approx(np.ones(len(points)))


def test_a_mesh_is_its_hull():
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)], dtype=np.float32)
    inside = np.full((1, 3), 0.5, np.float32)
    found = triangulation.drawing({"kind": "mesh", "size": (0, 0, 0)}, np.concatenate([corners, inside]))
    assert volume(found.mesh, found.scale) == pytest.approx(6.0)
    flat = triangulation.drawing({"kind": "mesh", "size": (0, 0, 0)}, corners[corners[:, 2] == 0])
    assert np.allclose(flat.mesh.vertices.max(axis=0), (1, 2, 0))


def test_planes_and_meshes_without_vertices_are_not_drawn():
    assert triangulation.drawing({"kind": "plane", "size": (0, 0, 0)}, None) is None
    assert triangulation.drawing({"kind": "mesh", "size": (0, 0, 0)}, None) is None


def test_quaternions_are_scipys():
    turns = Rotation.random(50, rng=1)
    others = Rotation.random(50, rng=2)
    wxyz, other = turns.as_quat(scalar_first=True), others.as_quat(scalar_first=True)
    vectors = np.random.default_rng(3).normal(size=(50, 3))
    assert np.allclose(triangulation.turned(wxyz, vectors), turns.apply(vectors))
    assert np.allclose(triangulation.product(wxyz, other), (turns * others).as_quat(scalar_first=True)) or np.allclose(
        np.abs(np.sum(triangulation.product(wxyz, other) * (turns * others).as_quat(scalar_first=True), axis=1)), 1.0
    )
    half_turns = np.stack([np.diag(signs) for signs in ((1, -1, -1), (-1, 1, -1), (-1, -1, 1), (1, 1, 1))])
    for matrix in (*turns.as_matrix(), *half_turns):
        quat = triangulation.from_matrix(matrix)
        assert np.allclose(Rotation.from_quat(quat, scalar_first=True).as_matrix(), matrix)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    unit[0] = (0, 0, -1)
    z = np.tile([0.0, 0.0, 1.0], (50, 1))
    assert np.allclose(triangulation.turned(triangulation.from_z(unit), z), unit)


def test_poses_between_two_frames():
    first = np.array([[0.0, 0, 0, 1, 0, 0, 0]])
    angle = 0.2
    second = np.array([[1.0, 0, 0, -np.cos(angle / 2), 0, 0, -np.sin(angle / 2)]])  # −q: the same turn
    pose = between(first, second, 0.5)[0]
    assert pose[0] == pytest.approx(0.5)
    assert np.allclose(np.abs(pose[3:]), (np.cos(angle / 4), 0, 0, np.sin(angle / 4)), atol=1e-9)


def test_terrain_is_one_mesh_of_its_triangles():
    points = grid_points(np.random.default_rng(2).uniform(size=(4, 5)), np.array([1.0, 0.5]))
    mesh = triangulation.drawing({"kind": "terrain", "size": [1.0, 0.5, 0.1]}, points).mesh
    np.testing.assert_array_equal(mesh.vertices, points)
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    up = np.cross(b - a, c - a)
    assert np.all(up[:, 2] > 0.0)
    assert 0.5 * up[:, 2].sum() == pytest.approx(2.0)
