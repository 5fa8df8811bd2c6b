"""Shapes as triangles: unit meshes that instances scale, and where instances lie when their links move.

Vertices are doubled where faces meet at an edge, so that shading by vertex normals keeps edges sharp.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

AROUND = 32
"""Segments of a full turn."""
POINT_RADIUS = 0.006
"""[m] of the ball that stands for a contact point."""
TINY = 1e-9


class Mesh(NamedTuple):
    vertices: np.ndarray
    """(n, 3) [m]."""
    faces: np.ndarray
    """(m, 3) corners, counter-clockwise from outside."""


class Drawing(NamedTuple):
    """How one shape is drawn: a mesh, shared by all shapes of the same ``key``, and a scale."""

    key: tuple
    mesh: Mesh
    scale: tuple[float, float, float]


def drawing(shape: Mapping[str, Any], vertices: np.ndarray | None) -> Drawing | None:
    """Of a shape as ``Header.shapes`` has it; None for a plane, and for a mesh without vertices."""
    kind, (a, b, c) = shape["kind"], (float(size) for size in shape["size"])
    if kind == "box":
        return Drawing(("box",), _unit("box"), (a, b, c))
    if kind == "sphere":
        return Drawing(("sphere",), _unit("sphere"), (a, a, a))
    if kind == "point":
        return Drawing(("sphere",), _unit("sphere"), (POINT_RADIUS,) * 3)
    if kind == "cylinder":
        return Drawing(("cylinder",), _unit("cylinder"), (a, a, b))
    if kind == "capsule":
        return Drawing(("capsule", a, b), capsule(a, b), (1.0, 1.0, 1.0))
    if kind == "mesh" and vertices is not None and len(vertices) > 3:
        return Drawing(("mesh", vertices.tobytes()), hull(np.asarray(vertices, dtype=float)), (1.0, 1.0, 1.0))
    return None


def _unit(kind: str) -> Mesh:
    return {"box": box, "sphere": sphere, "cylinder": cylinder}[kind]()


def box() -> Mesh:
    """Half edges 1."""
    vertices: list[np.ndarray] = []
    faces: list[tuple[int, int, int]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            first = len(vertices)
            for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corner = np.zeros(3)
                corner[axis], corner[(axis + 1) % 3], corner[(axis + 2) % 3] = sign, u * sign, v
                vertices.append(corner)
            faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return Mesh(np.array(vertices), np.array(faces))


def revolved(radius: np.ndarray, height: np.ndarray) -> Mesh:
    """A profile, from the lowest point to the highest, turned about z."""
    angle = np.linspace(0.0, 2 * np.pi, AROUND, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rows = len(radius)
    vertices = np.empty((rows, AROUND, 3))
    vertices[:, :, :2] = radius[:, None, None] * ring
    vertices[:, :, 2] = height[:, None]
    faces = []
    for row in range(rows - 1):
        if abs(height[row + 1] - height[row]) < TINY and abs(radius[row + 1] - radius[row]) < TINY:
            continue  # a doubled ring: the edge is sharp there
        for k in range(AROUND):
            low, next_low = row * AROUND + k, row * AROUND + (k + 1) % AROUND
            if radius[row] > TINY:
                faces.append((low, next_low, next_low + AROUND))
            if radius[row + 1] > TINY:
                faces.append((low, next_low + AROUND, low + AROUND))
    return Mesh(vertices.reshape(-1, 3), np.array(faces))


def sphere() -> Mesh:
    """Radius 1."""
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, AROUND // 2 + 1)
    return revolved(np.cos(angle).clip(0.0), np.sin(angle))


def cylinder() -> Mesh:
    """Radius and half length 1, along z."""
    return revolved(np.array([0.0, 1.0, 1.0, 1.0, 1.0, 0.0]), np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]))


def cone() -> Mesh:
    """Tip at the origin, opening along z to radius 1 at height 1; its mantle only."""
    return revolved(np.array([0.0, 1.0]), np.array([0.0, 1.0]))


def capsule(radius: float, half: float) -> Mesh:
    """Along z; ``half`` [m] is half the length of the cylindrical part."""
    angle = np.linspace(-0.5 * np.pi, 0.0, AROUND // 4 + 1)
    r, z = radius * np.cos(angle).clip(0.0), radius * np.sin(angle) - half
    return revolved(np.concatenate([r, r[::-1]]), np.concatenate([z, -z[::-1]]))


def hull(vertices: np.ndarray) -> Mesh:
    """The convex hull of (n, 3) vertices, with flat faces; of vertices in a plane, their box."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found = ConvexHull(vertices)
    except QhullError:
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        flat = box()
        return Mesh(0.5 * (low + high) + 0.5 * (high - low) * flat.vertices, flat.faces)
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
    """(n, 3) vectors turned by (n, 4) quaternions."""
    twice = 2.0 * np.cross(quat[..., 1:], vector)
    return vector + quat[..., :1] * twice + np.cross(quat[..., 1:], twice)


def from_z(direction: np.ndarray) -> np.ndarray:
    """(n, 4) the smallest turns that take z to the (n, 3) unit vectors."""
    quat = np.stack([1.0 + direction[:, 2], -direction[:, 1], direction[:, 0], np.zeros(len(direction))], axis=1)
    quat[direction[:, 2] < -1.0 + 1e-9] = (0.0, 1.0, 0.0, 0.0)
    return quat / np.linalg.norm(quat, axis=1, keepdims=True)


def from_matrix(rotation: np.ndarray) -> np.ndarray:
    """(4,) of a (3, 3) rotation: of the four ways to write it, the one with the largest divisor."""
    r = np.asarray(rotation, dtype=float)
    diagonal = np.array([np.trace(r), *np.diag(r)])
    k = int(np.argmax(diagonal))
    if k == 0:
        quat = np.array([1.0 + diagonal[0], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    else:
        i = k - 1
        j, l = (i + 1) % 3, (i + 2) % 3
        quat = np.empty(4)
        quat[0] = r[l, j] - r[j, l]
        quat[1 + i] = 1.0 + r[i, i] - r[j, j] - r[l, l]
        quat[1 + j], quat[1 + l] = r[i, j] + r[j, i], r[i, l] + r[l, i]
    return quat / np.linalg.norm(quat)
