"""Points at which contacts could act on links, for an estimate of how stiff a system can become.

Every shape of a moving link is loaded at a few of its extreme points, by the stiffest partners that it may touch at
once: ``FIXED_AT_ONCE`` fixed shapes, and all fixed balls and points if it is not one itself; ``BALLS_AT_ONCE`` moving
shapes if it is a ball among balls, else ``SOLIDS_AT_ONCE``. A pair of moving links counts at twice its stiffness for
each of them: bodies that are still apart have no common point, and K·|v₂ − v₁|² ≤ 2K·|v₁|² + 2K·|v₂|². Cost:
proportional to the number of shapes, times the number of different kinds of surfaces.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

from stickslip.collision.convex.geometry import POINTS, largest_faces
from stickslip.collision.convex.polyhedron import build_polyhedra
from stickslip.methods.materials import solid_shapes
from stickslip.methods.soft.restitution import damping_ratio
from stickslip.model.model import Model
from stickslip.model.shape import ALL_ROUND, SAID, Material, PairMaterial, Shape, combine

FIXED_AT_ONCE = 3
"""Number of fixed shapes that a shape can touch at once: a floor and two walls."""
BALLS_AT_ONCE = 12
"""Number of equal balls that can touch a ball at once (the kissing number)."""
SOLIDS_AT_ONCE = 2
"""Number of other moving shapes that a shape is taken to touch at once, as in a stack."""
BALLS = ("point", "sphere")
DIRECTIONS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))


class Loads(NamedTuple):
    """Contacts of links with the world that bound what all contacts together can do."""

    link: np.ndarray
    """(n,)."""
    point: np.ndarray
    """(n, 3) [m, world]."""
    stiffness: np.ndarray
    """(n,) [N/m]."""
    damping: np.ndarray
    """(n,) [N s/m]."""
    bounce: np.ndarray
    """(n,) 2·ζ·√K [√(N/m)] of pairs whose restitution chooses their damping: times √m it is B."""


class Surface(NamedTuple):
    """What shapes that are alike for contacts have in common."""

    material: Material
    group: int
    mask: int
    moving: bool
    ball: bool


def surface_of(shape: Shape) -> Surface:
    return Surface(shape.material, shape.group, shape.mask, shape.link != 0, shape.kind in BALLS)


def extreme_points(shape: Shape, down: np.ndarray) -> np.ndarray:
    """(k, 3) points of a shape, in its link, at which contacts act; of a ball the one towards ``down`` [link axes]."""
    radius, half = shape.size[0], shape.size[1]
    match shape.kind:
        case "capsule":
            local = np.array([[0.0, 0.0, half], [0.0, 0.0, -half]])
            return shape.pos + local @ shape.rot.T + radius * down
        case "cylinder":
            rim = ((1, 0), (0, 1), (-1, 0), (0, -1))
            local = np.array([(radius * x, radius * y, s * half) for s in (1, -1) for x, y in rim])
        case "ellipsoid":
            along = shape.size * (shape.rot.T @ down)
            local = (shape.size * along / np.linalg.norm(along))[None]
        case "box":
            local = DIRECTIONS * shape.size
        case "mesh" if shape.vertices is not None:
            local = shape.vertices[np.unique(np.argmax(shape.vertices @ DIRECTIONS.T, axis=0))]
        case _:
            return (shape.pos + radius * down)[None]
    return shape.pos + local @ shape.rot.T


def contacts_at_once(shape: Shape, stiffness_per: str) -> float:
    """How many times a pair's stiffness acts on a shape that lies flat."""
    if shape.kind in (*BALLS, "ellipsoid") or stiffness_per == "pair":
        return 1.0
    if shape.kind in ("box", "mesh"):
        bodies, _, which = build_polyhedra((shape,))
        corners, area = largest_faces(bodies, which)
        most = int(corners[0]) if shape.kind == "box" else min(POINTS, int(corners[0]))
        return float(area[0]) if stiffness_per == "area" and area[0] > 0.0 else float(most)
    if shape.kind == "cylinder":
        return float(np.pi * shape.size[0] ** 2) if stiffness_per == "area" else 5.0
    return 1.0 if stiffness_per == "area" else 2.0


def loads(model: Model, kin, stiffness_per: str) -> Loads:
    """The loads of all shapes where they are now; ``stiffness_per`` as in the options of the methods."""
    solid = solid_shapes(model)
    paired = explicit_loads(model)
    kinds = Counter(surface_of(shape) for shape in solid)
    on_link = Counter((surface_of(shape), shape.link) for shape in solid)
    gravity = np.asarray(model.inertia.gravity, dtype=float)
    size = float(np.linalg.norm(gravity))
    down = gravity / size if size > 0.0 else np.array([0.0, 0.0, -1.0])
    links, points, stiffness, damping, bounce = [], [], [], [], []
    for shape in solid:
        if shape.link == 0:
            continue
        parent = model.tree.parent if model.filter_parents else np.zeros(model.nlink)
        K, B, Z = (x + y for x, y in zip(_at_once(shape, kinds, on_link, parent), paired[id(shape)], strict=True))
        if K == 0.0 and B == 0.0:
            continue
        R = kin.rot[shape.link]
        local = extreme_points(shape, R.T @ down)
        share = contacts_at_once(shape, stiffness_per) / len(local)
        links += [shape.link] * len(local)
        points += list(kin.pos[shape.link] + local @ R.T)
        stiffness += [share * K] * len(local)
        damping += [share * B] * len(local)
        bounce += [share * Z] * len(local)
    numbers = (np.array(stiffness), np.array(damping), np.array(bounce))
    return Loads(np.array(links, dtype=np.int64), np.array(points).reshape(-1, 3), *numbers)


def gains(pair: PairMaterial) -> tuple[float, float, float]:
    """(K, B, 2·ζ·√K) of a pair, the larger ones of the normal and the tangents."""
    K = max(pair.stiffness, pair.tangent_stiffness)
    if pair.bounce == SAID:
        return K, max(pair.damping, pair.tangent_damping), 0.0
    zeta = damping_ratio(pair.restitution)
    return K, 0.0 if pair.bounce == ALL_ROUND else pair.tangent_damping, 2.0 * zeta * np.sqrt(pair.stiffness)


def explicit_loads(model: Model) -> dict[int, tuple[float, float, float]]:
    """``gains`` of explicit pairs whose shapes' masks would not let them touch, by the id of a shape."""
    loads: dict[int, tuple[float, float, float]] = defaultdict(lambda: (0.0, 0.0, 0.0))
    for pair in model.pairs:
        a, b = model.shapes[pair.one], model.shapes[pair.two]
        if a.group & b.mask or b.group & a.mask:
            continue
        factor = 2.0 if a.link and b.link else 1.0
        for shape in (a, b):
            K, B, Z = (x + factor * y for x, y in zip(loads[id(shape)], gains(pair.material), strict=True))
            loads[id(shape)] = K, B, Z
    return loads


def _at_once(shape: Shape, kinds: Counter, on_link: Counter, parent: np.ndarray) -> tuple[float, float, float]:
    """``gains`` of all partners that a shape may touch at once."""
    own, found = surface_of(shape), []
    for other, count in kinds.items():
        if not (own.group & other.mask or other.group & own.mask):
            continue
        count -= on_link[other, shape.link]
        if parent[shape.link] != 0:
            count -= on_link[other, int(parent[shape.link])]
        if count > 0:
            found.append((*gains(combine(shape.material, other.material)), other.moving, other.ball, count))
    K, B, Z = 0.0, 0.0, 0.0
    balls = own.ball and all(other.ball for other in kinds if other.moving)
    for moving, room in ((False, FIXED_AT_ONCE), (True, BALLS_AT_ONCE if balls else SOLIDS_AT_ONCE)):
        for stiffness, damping, bounce, _, ball, count in sorted(
            (row for row in found if row[3] == moving), reverse=True
        ):
            many = ball and not own.ball and not moving
            used = count if many else min(room, count)
            room -= 0 if many else used
            factor = used * (2.0 if moving else 1.0)
            K, B, Z = K + factor * stiffness, B + factor * damping, Z + factor * bounce
    return K, B, Z
