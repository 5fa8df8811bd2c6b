"""Polyhedra in world axes, relative to a nearby origin, so that no digits are lost far from the world's origin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.convex.epa import MOST_CORNERS, Polytope, make_polytope
from stickslip.collision.convex.gjk import Minkowski, make_minkowski
from stickslip.collision.convex.polyhedron import Polyhedra
from stickslip.math.spatial import rotate


class Work(NamedTuple):
    """Scratch: two polyhedra in world axes relative to a common origin, and polygons while they are clipped."""

    vertex1: np.ndarray
    """(most vertices, 3) vertices of the first polyhedron [m]."""
    normal1: np.ndarray
    """(most faces, 3) outward normals of the first polyhedron."""
    vertex2: np.ndarray
    normal2: np.ndarray
    polygon: np.ndarray
    """(2, most corners, 3) polygon before and after a clip [m]."""
    label: np.ndarray
    """(2, most corners, 4) name (kind, i, j) of each corner, and the edge that starts there."""
    starts: np.ndarray
    """(6, 4) directions from which the axis of two cylinders is searched, and the gap along each [m]."""
    minkowski: Minkowski
    polytope: Polytope
    flood: np.ndarray
    """(2, most vertices + 1) corners reached so far; the number of searches, then that of the one that reached each."""


def make_work(bodies: Polyhedra) -> Work:
    vertices = int(np.diff(bodies.vertex_start).max(initial=1))
    faces = int(np.diff(bodies.face_start).max(initial=1))
    corners = 2 * int(np.diff(bodies.loop_start).max(initial=4)) + 8
    return Work(
        vertex1=np.zeros((vertices, 3)),
        normal1=np.zeros((faces, 3)),
        vertex2=np.zeros((vertices, 3)),
        normal2=np.zeros((faces, 3)),
        polygon=np.zeros((2, corners, 3)),
        label=np.zeros((2, corners, 4), dtype=np.int64),
        starts=np.zeros((6, 4)),
        minkowski=make_minkowski(MOST_CORNERS),
        polytope=make_polytope(),
        flood=np.zeros((2, vertices + 1), dtype=np.int64),
    )


@kernel
def place(geometry, placed, s, ox, oy, oz, vertex, normal):
    """Write the vertices and normals of the polyhedron of shape s, relative to the origin o [world]."""
    bodies, p, link = geometry.bodies, geometry.shapes.polyhedron[s], geometry.shapes.link[s]
    R = placed.link_rot
    dx, dy, dz = placed.link_pos[link, 0] - ox, placed.link_pos[link, 1] - oy, placed.link_pos[link, 2] - oz
    first = bodies.vertex_start[p]
    for v in range(first, bodies.vertex_start[p + 1]):
        x, y, z = rotate(R, link, bodies.vertex[v, 0], bodies.vertex[v, 1], bodies.vertex[v, 2])
        vertex[v - first, 0], vertex[v - first, 1], vertex[v - first, 2] = x + dx, y + dy, z + dz
    first = bodies.face_start[p]
    for f in range(first, bodies.face_start[p + 1]):
        x, y, z = rotate(R, link, bodies.normal[f, 0], bodies.normal[f, 1], bodies.normal[f, 2])
        normal[f - first, 0], normal[f - first, 1], normal[f - first, 2] = x, y, z


@kernel
def place_face(geometry, placed, s, f, ox, oy, oz, vertex, normal):
    """Write the rows of face f (local index) of the polyhedron of shape s, and of its corners, like ``place``."""
    bodies, p, link = geometry.bodies, geometry.shapes.polyhedron[s], geometry.shapes.link[s]
    R = placed.link_rot
    dx, dy, dz = placed.link_pos[link, 0] - ox, placed.link_pos[link, 1] - oy, placed.link_pos[link, 2] - oz
    first, face = bodies.vertex_start[p], bodies.face_start[p] + f
    for i in range(bodies.loop_start[face], bodies.loop_start[face + 1]):
        v = bodies.loop[i]
        x, y, z = rotate(R, link, bodies.vertex[v, 0], bodies.vertex[v, 1], bodies.vertex[v, 2])
        vertex[v - first, 0], vertex[v - first, 1], vertex[v - first, 2] = x + dx, y + dy, z + dz
    x, y, z = rotate(R, link, bodies.normal[face, 0], bodies.normal[face, 1], bodies.normal[face, 2])
    normal[f, 0], normal[f, 1], normal[f, 2] = x, y, z


@kernel
def dot(A, i, x, y, z):
    """Row i of A times a vector."""
    return A[i, 0] * x + A[i, 1] * y + A[i, 2] * z


@kernel
def lowest(vertex, n, x, y, z):
    """The smallest vertex·(x, y, z) over the first n rows, and its row."""
    best, which = dot(vertex, 0, x, y, z), 0
    for v in range(1, n):
        d = dot(vertex, v, x, y, z)
        if d < best:
            best, which = d, v
    return best, which


@kernel
def facing(normal, n, x, y, z):
    """The face whose outward normal is closest to (x, y, z), and the cosine of the angle between them."""
    best, which = -2.0, 0
    for f in range(n):
        d = dot(normal, f, x, y, z)
        if d > best:
            best, which = d, f
    return best, which
