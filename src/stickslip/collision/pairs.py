"""Candidate pairs: which shapes of a model can touch, found once, when a simulation is set up.

Two shapes are a candidate if their masks say so (MuJoCo's contype/conaffinity), they are on different links, neither
link is the other's parent (unless that is the world), and they are not excluded by name.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from stickslip.model.model import Model
from stickslip.model.shape import Shape, combine


class PlanePairs(NamedTuple):
    """Spheres (radius 0: points) against planes; one entry is one possible contact."""

    link1: np.ndarray
    """(n,) the plane's link."""
    link2: np.ndarray
    """(n,) the sphere's link."""
    origin: np.ndarray
    """(n, 3) a point of the plane, in link 1."""
    axes: np.ndarray
    """(n, 3, 3) rows normal, tangent 1, tangent 2 of the plane, in link 1."""
    center: np.ndarray
    """(n, 3) of the sphere, in link 2 [m]."""
    radius: np.ndarray
    """(n,) [m]."""
    material: np.ndarray
    """(n, 4) friction, stiffness, damping, restitution of the pair."""
    share: np.ndarray
    """(n,) the part of the shape's points that can touch a plane at once: 4 of a box's 8 corners, a face of a mesh."""


def touching(model: Model) -> Iterator[tuple[Shape, Shape]]:
    """All pairs of shapes that are allowed to touch."""
    excluded = {int(signature) for signature in model.mj.exclude_signature}
    parent = model.tree.parent
    for a, b in itertools.combinations(model.shapes, 2):
        if not (a.group & b.mask or b.group & a.mask) or a.link == b.link:
            continue
        if (a.link and parent[b.link] == a.link) or (b.link and parent[a.link] == b.link):
            continue
        low, high = sorted((a.body, b.body))
        if (low << 16) + high in excluded:
            continue
        yield a, b


def spheres_of(shape: Shape) -> list[tuple[np.ndarray, float]]:
    """The spheres (centre in the link, radius) whose lowest points are the shape's lowest points over any plane.

    Exact for points, spheres, capsules (two ends), boxes (eight corners) and convex meshes (their vertices).
    """
    match shape.kind:
        case "point":
            local, radius = np.zeros((1, 3)), 0.0
        case "sphere":
            local, radius = np.zeros((1, 3)), shape.size[0]
        case "capsule":
            local, radius = np.array([[0, 0, shape.size[1]], [0, 0, -shape.size[1]]]), shape.size[0]
        case "box":
            local, radius = np.array(list(itertools.product((-1, 1), repeat=3))) * shape.size, 0.0
        case "mesh" if shape.vertices is not None:
            local, radius = shape.vertices, 0.0
        case _:
            return []
    return [(shape.pos + shape.rot @ x, float(radius)) for x in local]


def touching_at_once(shape: Shape, points: int) -> int:
    """How many of a shape's points can lie on a plane together."""
    if shape.kind == "box":
        return 4
    if shape.vertices is None or points <= 4:
        return points
    try:
        hull = ConvexHull(shape.vertices)
    except QhullError:
        return points
    size = np.abs(shape.vertices).max()
    faces: dict[tuple, set] = {}
    for plane, corners in zip(np.round(hull.equations / [1, 1, 1, size], 6), hull.simplices, strict=True):
        faces.setdefault(tuple(plane), set()).update(corners)  # triangles of one flat face have one equation
    return max(len(corners) for corners in faces.values())


def find_plane_pairs(model: Model) -> tuple[PlanePairs, Counter[str]]:
    """Every possible contact with a plane; and how many pairs of each other kind are left out."""
    rows: list[tuple] = []
    left_out: Counter[str] = Counter()
    for a, b in touching(model):
        plane, other = (a, b) if a.kind == "plane" else (b, a)
        spheres = spheres_of(other) if plane.kind == "plane" else []
        if not spheres:
            left_out["–".join(sorted((a.kind, b.kind)))] += 1
            continue
        m = combine(plane.material, other.material)
        frame = plane.rot[:, [2, 0, 1]].T
        material = (m.friction, m.stiffness, m.damping, m.restitution)
        share = touching_at_once(other, len(spheres)) / len(spheres)
        for center, radius in spheres:
            rows.append((plane.link, other.link, plane.pos, frame, center, radius, material, share))
    columns: list = list(zip(*rows, strict=True)) if rows else [()] * 8
    shapes = ((), (), (3,), (3, 3), (3,), (), (4,), ())
    types = (np.int64, np.int64, float, float, float, float, float, float)
    arrays = [
        np.array(column, dtype=dtype).reshape(-1, *shape)
        for column, shape, dtype in zip(columns, shapes, types, strict=True)
    ]
    return PlanePairs(*arrays), left_out
