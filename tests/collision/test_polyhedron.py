"""Boxes and meshes as polyhedra: closed forms of solids, Euler's formula, orientation."""

import itertools

import numpy as np
import pytest

import stickslip as ss
from stickslip.collision.convex.polyhedron import build_polyhedra

GRID = np.array(list(itertools.product((0.0, 0.5, 1.0), repeat=3)))
ANGLES = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
DISC = np.stack([np.cos(ANGLES), np.sin(ANGLES), 0 * ANGLES], axis=1)
PRISM = np.concatenate([DISC, DISC + np.array((0, 0, 1))])
TETRAHEDRON = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], dtype=float)
BALL = np.random.default_rng(1).normal(size=(60, 3))
BALL /= np.linalg.norm(BALL, axis=1)[:, None]
SOLIDS = {"grid": (GRID, 8, 6), "prism": (PRISM, 48, 26), "tetrahedron": (TETRAHEDRON, 4, 4), "ball": (BALL, 60, 116)}


def built(add) -> tuple:
    scene = ss.Scene()
    add(scene)
    return build_polyhedra(scene.compile().shapes)


@pytest.mark.parametrize("solid", SOLIDS)
def test_counts_of_known_solids(solid):
    points, vertices, faces = SOLIDS[solid]
    bodies, neighbours, which = built(lambda scene: scene.add_mesh(points, mass=1.0))
    assert list(which) == [0]
    assert len(bodies.vertex) == vertices
    assert len(bodies.normal) == faces
    assert vertices - len(neighbours.edge) + faces == 2
    assert len(bodies.loop) == 2 * len(neighbours.edge) == len(neighbours.vertex_edge)


@pytest.mark.parametrize("solid", [*SOLIDS, "box"])
def test_orientation_of_faces_and_edges(solid):
    place = {"pos": (1, 2, 3), "quat": np.array([0.5, 0.5, -0.5, 0.5])}
    if solid == "box":
        b, n, _ = built(lambda scene: scene.world.add_box((1, 2, 3), **place))
    else:
        b, n, _ = built(lambda scene: scene.world.add_mesh(SOLIDS[solid][0], **place))
    height = b.vertex @ b.normal.T - b.offset
    assert height.max() < 1e-14
    for f in range(len(b.normal)):
        loop = b.loop[b.loop_start[f] : b.loop_start[f + 1]]
        assert np.abs(height[loop, f]).max() < 3e-7
        others = np.setdiff1d(np.arange(len(b.vertex)), loop)
        assert height[others, f].max() < -1e-4
        corners = b.vertex[loop]
        turn = np.cross(np.roll(corners, -1, 0) - corners, np.roll(corners, -2, 0) - np.roll(corners, -1, 0))
        assert np.all(turn @ b.normal[f] > 0.0)  # convex, counter-clockwise
    left, right = b.normal[n.edge_face[:, 0]], b.normal[n.edge_face[:, 1]]
    assert np.all(np.einsum("ij,ij->i", np.cross(left, right), n.edge_axis) > 0.0)
    ends = b.vertex[n.edge[:, 1]] - b.vertex[n.edge[:, 0]]
    np.testing.assert_allclose(n.edge_axis * n.edge_length[:, None], ends, atol=1e-15)
    for v in range(len(b.vertex)):
        around = n.vertex_face[n.vertex_face_start[v] : n.vertex_face_start[v + 1]]
        assert set(around) == {f for f in range(len(b.normal)) if v in b.loop[b.loop_start[f] : b.loop_start[f + 1]]}
        edges = n.vertex_edge[n.vertex_edge_start[v] : n.vertex_edge_start[v + 1]]
        assert set(edges) == set(np.flatnonzero((n.edge == v).any(axis=1)))


def test_normals_of_a_box_are_exact():
    b, _, _ = built(lambda scene: scene.add_box((0.99999,) * 3, mass=1.0))
    assert np.array_equal(np.unique(np.abs(b.normal)), [0.0, 1.0])
    assert np.all(b.offset == 0.99999 / 2)


def test_several_shapes_share_the_arrays():
    def add(scene):
        scene.add_sphere(0.1)
        scene.add_box((1, 1, 1))
        scene.add_box((1, 1, 1), collide=False, mass=1.0)
        scene.add_mesh(TETRAHEDRON, pos=(0, 0, 2))

    b, n, which = built(add)
    assert list(which) == [-1, 0, -1, 1]
    assert list(b.link) == [2, 4]
    assert list(b.vertex_start) == [0, 8, 12]
    assert list(b.face_start) == [0, 6, 10]
    assert list(b.edge_start) == [0, 12, 18]
    assert np.all(n.edge[12:] >= 8)
    assert np.all(n.edge_face[12:] >= 6)
    assert b.loop[b.loop_start[6]] >= 8
    np.testing.assert_allclose(b.radius, np.sqrt([0.75, 3.0]), rtol=1e-6)
