"""Shapes as triangle meshes that instances scale, and the poses of instances when their links move.

Vertices are duplicated at sharp edges, so that shading by vertex normals keeps the edges sharp.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

from stickslip.model.terrain import grid_heights, grid_triangles
from stickslip.record.appearance import Surface
from stickslip.record.picture.triangles import shaded, smooth

AROUND = 32
"""Segments of a full turn."""
POINT_RADIUS = 0.006
"""[m] radius of the ball that represents a contact point."""


class Mesh(NamedTuple):
    vertices: np.ndarray
    """(n, 3) [m]."""
    faces: np.ndarray
    """(m, 3) vertex indices, counter-clockwise seen from outside."""


class Drawing(NamedTuple):
    """How one shape is drawn: a mesh, shared by all shapes of the same ``key``, and a scale."""

    key: tuple
    mesh: Mesh
    scale: tuple[float, float, float]


def drawing(shape: Mapping[str, Any], vertices: np.ndarray | None) -> Drawing | None:
    """The drawing of a shape of ``Header.shapes``; None for a plane, and for a mesh without vertices."""
    kind, (a, b, c) = shape["kind"], (float(size) for size in shape["size"])
    if kind == "box":
        return Drawing(("box",), unit_box(), (a, b, c))
    if kind == "sphere":
        return Drawing(("sphere",), sphere(), (a, a, a))
    if kind == "ellipsoid":
        return Drawing(("sphere",), sphere(), (a, b, c))
    if kind == "point":
        return Drawing(("sphere",), sphere(), (POINT_RADIUS,) * 3)
    if kind == "cylinder":
        return Drawing(("cylinder",), cylinder(), (a, a, b))
    if kind == "capsule":
        return Drawing(("capsule", b / a), capsule(b / a), (a, a, a))
    if kind == "mesh" and vertices is not None and len(vertices) > 3:
        return Drawing(("mesh", vertices.tobytes()), hull(np.asarray(vertices, dtype=float)), (1.0, 1.0, 1.0))
    if kind == "terrain" and vertices is not None:
        points = np.asarray(vertices, dtype=float)
        return Drawing(
            ("terrain", vertices.tobytes()), Mesh(points, grid_triangles(*grid_heights(points).shape)), (1.0, 1.0, 1.0)
        )
    return None


def surface_drawing(number: int, surface: Surface) -> Drawing:
    """The drawing of a mesh as it looks."""
    return Drawing(("surface", number), Mesh(*smooth(surface)[:2]), (1.0, 1.0, 1.0))


def _revolved(radius: Any, height: Any) -> Mesh:
    """The surface of revolution about z of a profile from its lowest to its highest point."""
    from trimesh.creation import revolve

    return Mesh(*shaded(revolve(np.stack([radius, height], axis=1), sections=AROUND))[:2])


@cache
def unit_box() -> Mesh:
    """A box with half edges of 1."""
    from trimesh.creation import box

    return Mesh(*shaded(box((2.0, 2.0, 2.0)))[:2])


@cache
def sphere() -> Mesh:
    """A sphere of radius 1."""
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, AROUND // 2 + 1)
    return _revolved(np.cos(angle).clip(0.0), np.sin(angle))


@cache
def cylinder() -> Mesh:
    """A cylinder along z with radius and half length 1."""
    return _revolved([0.0, 1.0, 1.0, 0.0], [-1.0, -1.0, 1.0, 1.0])


@cache
def cone() -> Mesh:
    """The lateral surface of a cone that opens from the origin along z to radius 1 at height 1. Its tip is a tiny ring,
    since a single vertex has no normal there."""
    return _revolved([1e-3, 1.0], [1e-3, 1.0])


@cache
def capsule(half: float) -> Mesh:
    """A capsule along z of radius 1; ``half`` is half the length of the cylindrical part."""
    angle = np.linspace(-0.5 * np.pi, 0.0, AROUND // 4 + 1)
    r, z = np.cos(angle).clip(0.0), np.sin(angle) - half
    return _revolved(np.concatenate([r, r[::-1]]), np.concatenate([z, -z[::-1]]))


def hull(vertices: np.ndarray) -> Mesh:
    """The convex hull of (n, 3) vertices, with flat faces; for vertices in a plane, their bounding box."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found = ConvexHull(vertices)
    except QhullError:
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        return Mesh(0.5 * (low + high) + 0.5 * (high - low) * unit_box().vertices, unit_box().faces)
    corners = vertices[found.simplices]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inwards = np.einsum("ij,ij->i", normal, found.equations[:, :3]) < 0.0
    corners[inwards] = corners[inwards][:, ::-1]
    return Mesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


# -- quaternions (w, x, y, z), many at once ----------------------------------------------------------------------------


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n, 4) quaternion products."""
    w = a[..., :1] * b[..., :1] - np.sum(a[..., 1:] * b[..., 1:], axis=-1, keepdims=True)
    vector = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([w, vector], axis=-1)


def turned(quat: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """(n, 3) vectors rotated by (n, 4) quaternions."""
    twice = 2.0 * np.cross(quat[..., 1:], vector)
    return vector + quat[..., :1] * twice + np.cross(quat[..., 1:], twice)


def from_z(direction: np.ndarray) -> np.ndarray:
    """(n, 4) smallest rotations that take z to the (n, 3) unit vectors."""
    quat = np.stack([1.0 + direction[:, 2], -direction[:, 1], direction[:, 0], np.zeros(len(direction))], axis=1)
    quat[direction[:, 2] < -1.0 + 1e-9] = (0.0, 1.0, 0.0, 0.0)
    return quat / np.linalg.norm(quat, axis=1, keepdims=True)


def from_matrix(rotation: np.ndarray) -> np.ndarray:
    """(4,) quaternion of a (3, 3) rotation."""
    quat = np.empty(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(rotation, dtype=float).ravel())
    return quat
