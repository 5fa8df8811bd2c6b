"""Candidate pairs: the pairs of shapes of a model that can touch, found once when a simulation is set up.

Two shapes are a candidate if their masks allow it (MuJoCo's contype/conaffinity), they are on different links, neither
link is the other's parent (unless that is the world), and they are not excluded by name.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from stickslip.collision.contacts import PROPERTIES
from stickslip.model.model import Model
from stickslip.model.shape import Shape, combine

BALLS = ("point", "sphere")
SPHERES_AT_ONCE = 12
"""Number of equal spheres that can touch a sphere at once (the kissing number)."""
BOXES_AT_ONCE = 3
"""Number of fixed boxes that a sphere or point can touch at once: a floor and two walls."""


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
    """(n, 5) friction, stiffness, damping, restitution, preload of the pair."""
    share: np.ndarray
    """(n,) the part of the shape's points that can touch a plane at once: 4 of a box's 8 corners, a face of a mesh."""


class BoxPairs(NamedTuple):
    """Spheres (radius 0: points) against boxes; the box is body 1, unless the sphere belongs to the world."""

    box_link: np.ndarray
    """(n,)."""
    sphere_link: np.ndarray
    """(n,)."""
    origin: np.ndarray
    """(n, 3) the box's centre, in its link [m]."""
    axes: np.ndarray
    """(n, 3, 3) rows: the box's axes, in its link."""
    half: np.ndarray
    """(n, 3) half edges [m]."""
    center: np.ndarray
    """(n, 3) of the sphere, in its link [m]."""
    radius: np.ndarray
    """(n,) [m]."""
    material: np.ndarray
    """(n, 5) friction, stiffness, damping, restitution, preload of the pair."""
    share: np.ndarray
    """(n,) the part of the sphere's candidates that can touch it at once: 3 of the many boxes of a staircase."""


class SpherePairs(NamedTuple):
    """Spheres against spheres (one of them may be a point); link1 < link2."""

    link1: np.ndarray
    """(n,)."""
    link2: np.ndarray
    """(n,)."""
    center1: np.ndarray
    """(n, 3) in link 1 [m]."""
    center2: np.ndarray
    """(n, 3) in link 2 [m]."""
    radius1: np.ndarray
    """(n,) [m]."""
    radius2: np.ndarray
    """(n,) [m]."""
    material: np.ndarray
    """(n, 5) friction, stiffness, damping, restitution, preload of the pair."""
    share: np.ndarray
    """(n,) the part of the sphere's candidates that can touch it at once: 12 if all are of one size."""


class Pairs(NamedTuple):
    """All possible contacts; pair ids run through the planes, then the boxes, then the spheres."""

    planes: PlanePairs
    boxes: BoxPairs
    spheres: SpherePairs


def total(pairs: Pairs) -> int:
    """Number of possible contacts."""
    return sum(len(kind.material) for kind in pairs)


def materials(pairs: Pairs) -> np.ndarray:
    """(total, 5) friction, stiffness, damping, restitution, preload by pair id."""
    return np.concatenate([kind.material for kind in pairs])


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
    """Spheres (centre in the link, radius) whose lowest points are the shape's lowest points over any plane. They are
    exact for points, spheres, capsules (two ends), boxes (eight corners) and convex meshes (their vertices)."""
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
        faces.setdefault(tuple(plane), set()).update(corners)  # triangles of one flat face have the same equation
    return max(len(corners) for corners in faces.values())


def plane_rows(plane: Shape, other: Shape, material: tuple) -> list[tuple]:
    spheres = spheres_of(other)
    if not spheres:
        return []
    frame = plane.rot[:, [2, 0, 1]].T
    share = touching_at_once(other, len(spheres)) / len(spheres)
    return [(plane.link, other.link, plane.pos, frame, center, radius, material, share) for center, radius in spheres]


def box_rows(found: list[tuple[Shape, Shape, tuple]]) -> list[tuple]:
    fixed = Counter(id(ball) for box, ball, _ in found if box.link == 0)
    rows = []
    for box, ball, material in found:
        share = 1.0 if box.link else min(1.0, BOXES_AT_ONCE / fixed[id(ball)])
        rows.append((box.link, ball.link, box.pos, box.rot.T, box.size, ball.pos, ball.size[0], material, share))
    return rows


def sphere_rows(found: list[tuple[Shape, Shape, tuple]]) -> list[tuple]:
    candidates = Counter(id(shape) for *both, _ in found for shape in both)
    rows = []
    for one, other, material in found:
        a, b = sorted((one, other), key=lambda shape: shape.link)
        busy = min(candidates[id(shape)] for shape in (a, b) if shape.link)
        rows.append((a.link, b.link, a.pos, b.pos, a.size[0], b.size[0], material, min(1.0, SPHERES_AT_ONCE / busy)))
    return rows


def find_pairs(model: Model) -> tuple[Pairs, Counter[str]]:
    """All possible contacts; and the number of pairs of each kind that is not supported."""
    planes: list[tuple] = []
    boxes: list[tuple[Shape, Shape, tuple]] = []
    spheres: list[tuple[Shape, Shape, tuple]] = []
    left_out: Counter[str] = Counter()
    for one, other in touching(model):
        m = combine(one.material, other.material)
        material = m.row
        a, b = (other, one) if other.kind in ("plane", "box") and one.kind != "plane" else (one, other)
        if a.kind == "plane" and (rows := plane_rows(a, b, material)):
            planes += rows
        elif a.kind == "box" and b.kind in BALLS:
            boxes.append((a, b, material))
        elif a.kind in BALLS and b.kind in BALLS:
            spheres.append((a, b, material))
        else:
            left_out["–".join(sorted((a.kind, b.kind)))] += 1
    return as_pairs(planes, box_rows(boxes), sphere_rows(spheres)), left_out


def no_pairs() -> Pairs:
    """The pairs of a model in which nothing can touch."""
    return as_pairs([], [], [])


def as_pairs(planes: list[tuple], boxes: list[tuple], spheres: list[tuple]) -> Pairs:
    """Pairs from rows in the order of the fields."""
    return Pairs(
        PlanePairs(*columns(planes, (3,), (3, 3), (3,), (), (PROPERTIES,), ())),
        BoxPairs(*columns(boxes, (3,), (3, 3), (3,), (3,), (), (PROPERTIES,), ())),
        SpherePairs(*columns(spheres, (3,), (3,), (), (), (PROPERTIES,), ())),
    )


def columns(rows: list[tuple], *shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Rows as arrays: two links, then numbers of the given shapes."""
    parts: list[Any] = list(zip(*rows, strict=True)) if rows else [()] * (2 + len(shapes))
    links = [np.array(part, dtype=np.int64) for part in parts[:2]]
    return links + [
        np.array(part, dtype=float).reshape(-1, *shape) for part, shape in zip(parts[2:], shapes, strict=True)
    ]
