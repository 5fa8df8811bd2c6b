"""Distances between shapes, by the contact search with a margin that grows until it finds something.

A search within a margin finds all contacts whose gap is below it, so that the least gap is the distance. Some separate
shapes, however, are nearer than any of their contacts, which are made for forces. Other shapes take their place:

* a box is a mesh with eight corners, whose nearest points GJK finds;
* one of two cylinders is a prism within it, from whose nearest points those of the cylinders are found by SLSQP;
* terrain is a prism under each of its triangles, of which the nearest are tried in the order of a lower bound.

Shapes that overlap have the depth of their deepest contact, with a minus sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf

import numpy as np
from scipy.optimize import minimize

from stickslip.collision.convex.broad_phase import FEW
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.convex.find import prepare_search
from stickslip.collision.convex.geometry import KINDS, bounding_radius
from stickslip.dynamics.data import Kinematics
from stickslip.errors import InputError, expected, unknown
from stickslip.model.model import Model
from stickslip.model.shape import Material, Shape
from stickslip.model.terrain import grid_heights, grid_triangles

FIRST, GROWTH = 1e-3, 8.0
"""First margin as a fraction of the sizes, and the factor by which it grows."""
CORNERS = 48
"""Corners of a prism in the place of a cylinder."""


@dataclass(frozen=True)
class Distance:
    """How far two bodies or shapes are from each other."""

    distance: float
    """[m] between the nearest points; of shapes that overlap, minus the depth of the deepest contact."""
    points: np.ndarray
    """(2, 3) the nearest point of the first and of the second [m, world]."""
    normal: np.ndarray
    """(3,) unit vector from the first to the second, along which the distance is measured [world]."""
    bodies: tuple[str, str]
    """Names of the two bodies."""
    geoms: tuple[str, str]
    """Names of the two shapes that are nearest."""

    def __float__(self) -> float:
        return self.distance


@dataclass(frozen=True)
class Near:
    """The nearest points of shape i of some and shape j of others."""

    gap: float
    point: np.ndarray
    """(3,) on the second shape."""
    normal: np.ndarray
    """(3,) from the first to the second."""
    i: int = 0
    j: int = 0


class Distances:
    """Finds distances between the shapes of a model; one per simulation, because it keeps searches for reuse."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._searches: dict[tuple, ConvexDetector] = {}

    def shapes(self, name: str) -> list[int]:
        """The numbers of the shapes of a body, or that of the shape of this name."""
        mj, shapes = self.model.mj, self.model.shapes
        bodies = {mj.body(b).name: b for b in range(mj.nbody)}
        if name in bodies:
            found = [s for s, shape in enumerate(shapes) if shape.body == bodies[name] and shape.kind != "point"]
            if not found:
                raise expected(f"body {name!r}", "a body with shapes", "one without")
            return found
        names = [shape.name for shape in shapes]
        if name not in names:
            raise unknown("body or shape", name, {*names, *bodies} - {""})
        return [names.index(name)]

    def between(self, kin: Kinematics, first: str, second: str) -> Distance:
        """The distance between two bodies or shapes by name."""
        one, two = self.shapes(first), self.shapes(second)
        if set(one) & set(two):
            raise expected("distance", "two different bodies or shapes", (first, second))
        found = self.nearest(kin, one, two)
        if found is None:
            kinds = " and ".join(self.model.shapes[s[0]].kind for s in (one, two))
            raise InputError(f"distance of {first!r} and {second!r}: it is not known of {kinds}")
        return found

    def nearest(
        self, kin: Kinematics, first: Iterable[int], second: Iterable[int], most: float = inf
    ) -> Distance | None:
        """The least distance between shapes by number; None if it is not below ``most`` [m], or not known."""
        best: tuple[Near, int, int] | None = None
        few, rest = self._pairs(first, second)
        for one, two in few:
            near = self._search(
                kin, [self._plain(s) for s in one], [self._plain(s) for s in two], most, (*one, -1, *two)
            )
            if near is not None and near.gap < most:
                best, most = (near, one[near.i], two[near.j]), near.gap
        for a, b in rest:
            near = self._special(kin, a, b, most)
            if near is not None and near.gap < most:
                best, most = (near, a, b), near.gap
        if best is None:
            return None
        near, a, b = best
        shapes, mj = self.model.shapes, self.model.mj
        bodies = tuple(mj.body(shapes[s].body).name or "world" for s in (a, b))
        points = np.array([near.point - near.gap * near.normal, near.point])
        return Distance(near.gap, points, near.normal, (bodies[0], bodies[1]), (shapes[a].name, shapes[b].name))

    def _pairs(self, first: Iterable[int], second: Iterable[int]) -> tuple[list, list[tuple[int, int]]]:
        """Blocks of few shapes whose contacts are as near as they are, and the other pairs."""
        first, second = list(first), list(second)
        kinds = {s: self.model.shapes[s].kind for s in (*first, *second)}
        rest = [(a, b) for a, b in product(first, second) if _special_kinds(kinds[a], kinds[b])]
        plain = [s for s in first if kinds[s] not in ("terrain", "cylinder")]
        round_ones = [s for s in first if kinds[s] == "cylinder"]
        others = [s for s in second if kinds[s] != "terrain"]
        straight = [s for s in others if kinds[s] != "cylinder"]
        half = FEW // 2
        blocks = []
        for one, two in ((plain, others), (round_ones, straight)):
            parts = [[some[k : k + half] for k in range(0, len(some), half)] for some in (one, two)]
            blocks += list(product(*parts))
        return blocks, rest

    def _plain(self, s: int) -> Shape:
        """A shape whose contacts are as near as it is: boxes are meshes."""
        shape = self.model.shapes[s]
        if shape.kind != "box":
            return shape
        corners = np.array(list(product((-1.0, 1.0), repeat=3))) * shape.size
        return replace(shape, kind="mesh", vertices=corners)

    def _special(self, kin: Kinematics, a: int, b: int, most: float) -> Near | None:
        """Two cylinders, or terrain and another shape."""
        one, two = self.model.shapes[a], self.model.shapes[b]
        if one.kind == "terrain" and two.kind == "terrain":
            return None
        if one.kind == "terrain":
            near = self._special(kin, b, a, most)
            return None if near is None else Near(near.gap, near.point - near.gap * near.normal, -near.normal)
        near = None if one.kind == "plane" else self._search(kin, [one], [two], most, (a, b))
        if near is not None and near.gap <= 0.0:
            return near
        return self._to_terrain(kin, a, b, most) if two.kind == "terrain" else self._cylinders(kin, one, two, most)

    def _cylinders(self, kin: Kinematics, one: Shape, two: Shape, most: float) -> Near | None:
        near = self._search(kin, [one], [_prism(two)], inf)
        return None if near is None or near.gap >= 2.0 * most else _polished(kin, one, two, near)

    def _to_terrain(self, kin: Kinematics, a: int, b: int, most: float) -> Near | None:
        shape, ground = self._plain(a), self.model.shapes[b]
        points = ground.vertices
        assert points is not None
        triangles = grid_triangles(*grid_heights(points).shape)
        corners = points[triangles]
        if shape.kind == "plane":
            prisms = np.concatenate([corners, corners * (1.0, 1.0, 0.0) - (0.0, 0.0, ground.size[2])], axis=1)
            bound = _in_shape(kin, shape, _world(kin, ground, prisms))[..., 2].min(axis=1)
        else:
            centre = _in_shape(kin, ground, _world(kin, shape, np.zeros(3)))
            low, high = corners.min(axis=1), corners.max(axis=1)
            low[:, 2] = -ground.size[2]
            bound = np.linalg.norm(np.maximum(0.0, np.maximum(low - centre, centre - high)), axis=1)
            bound -= bounding_radius(shape)
        best: Near | None = None
        order = np.argsort(bound, kind="stable")
        for start in range(0, len(order), FEW - 1):
            block = order[start : start + FEW - 1]
            if bound[block[0]] >= most:
                break
            near = self._search(kin, [shape], [_under(ground, corners[t]) for t in block], most)
            if near is not None and near.gap < most:
                best, most = replace(near, i=0, j=0), near.gap
        return best

    def _search(
        self, kin: Kinematics, first: Sequence[Shape], second: Sequence[Shape], most: float, key: tuple | None = None
    ) -> Near | None:
        """The least gap below ``most`` between some shapes and others; ``key`` names a search that may be kept."""
        if key is not None and self.model.mocap_names:  # whose shapes are moved in the world
            key = (*key, b"".join(s.pos.tobytes() + s.rot.tobytes() for s in (*first, *second) if s.link == 0))
        detector = self._searches.get(key) if key is not None else None
        if detector is None:
            detector = _make_search(self.model, first, second)
            if key is not None:
                if len(self._searches) > 1000:
                    self._searches.clear()
                self._searches[key] = detector
        if not len(detector.search.rules.few):
            return None
        sizes = [r for s in (*first, *second) if np.isfinite(r := bounding_radius(s))]
        places = np.array([_world(kin, s, np.zeros(3)) for s in (*first, *second)])
        reach = 4.0 * float(np.linalg.norm(np.ptp(places, axis=0))) + 4.0 * max(sizes) + 1.0
        if any(s.kind == "plane" for s in (*first, *second)):
            reach += 2.0 * float(np.abs(places).max())
        detector.margin = FIRST * max(sizes)
        while True:
            detector.margin = min(detector.margin, most) if most > 0.0 else 0.0
            found = detector.find_raw(kin)
            n = int(found.total[0])
            if n:
                return _least(found, n, len(first))
            if detector.margin >= min(reach, most):
                return None
            detector.margin *= GROWTH


def _special_kinds(one: str, two: str) -> bool:
    return "terrain" in (one, two) or (one == "cylinder" and two == "cylinder")


def _make_search(model: Model, first: Sequence[Shape], second: Sequence[Shape]) -> ConvexDetector:
    """A search between the first and the second shapes alone, whatever their masks and bodies."""
    bare = Material()
    some = [replace(s, group=1, mask=0, paired=False, material=bare) for s in first]
    others = [replace(s, group=0, mask=1, paired=False, material=bare) for s in second]
    detector = ConvexDetector(replace(model, shapes=(*some, *others), pairs=(), filter_parents=False), 0.0)
    kinds = [KINDS[s.kind] for s in (*some, *others)]
    impossible = {(KINDS["plane"], KINDS["plane"]), (KINDS["plane"], KINDS["terrain"])}
    pairs = []
    for a, b in product(range(len(some)), range(len(some), len(kinds))):
        i, j, low, high = (kinds[a], kinds[b], a, b) if kinds[a] <= kinds[b] else (kinds[b], kinds[a], b, a)
        if (i, j) not in impossible:
            pairs.append((i, j, low, high))
    few = np.array([pair[2:] for pair in sorted(pairs)], dtype=np.int64).reshape(-1, 2)
    detector.search = detector.search._replace(rules=detector.search.rules._replace(few=few))
    prepare_search(detector.search)
    return detector


def _least(found, n: int, split: int) -> Near:
    c = int(np.argmin(found.gap[:n]))
    gap, point, normal = float(found.gap[c]), found.point[c].copy(), found.normal[c].copy()
    a, b = int(found.first[c]), int(found.second[c])
    if a >= split:  # found the other way round
        a, b, point, normal = b, a, point - gap * normal, -normal
    return Near(gap, point, normal, a, b - split)


def _prism(shape: Shape) -> Shape:
    """A mesh with its corners on the rims of a cylinder."""
    angles = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    rim = shape.size[0] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ends = [np.column_stack([rim, np.full(len(rim), side * shape.size[1])]) for side in (-1.0, 1.0)]
    return replace(shape, kind="mesh", vertices=np.vstack(ends))


def _polished(kin: Kinematics, one: Shape, two: Shape, near: Near) -> Near:
    """The nearest points of two separate cylinders, from points of them that are near those."""
    R1, R2 = (kin.rot[shape.link] @ shape.rot for shape in (one, two))
    between = _world(kin, two, np.zeros(3)) - _world(kin, one, np.zeros(3))
    size = float(max(one.size[0], one.size[1], two.size[0], two.size[1]))

    def way(x: np.ndarray) -> np.ndarray:
        return between + size * (R2 @ x[3:] - R1 @ x[:3])

    def square(x: np.ndarray) -> tuple[float, np.ndarray]:
        d = way(x) / size
        return float(d @ d), np.concatenate([-2.0 * R1.T @ d, 2.0 * R2.T @ d])

    def room(x: np.ndarray) -> np.ndarray:
        return np.array([(one.size[0] / size) ** 2 - x[:2] @ x[:2], (two.size[0] / size) ** 2 - x[3:5] @ x[3:5]])

    def room_slope(x: np.ndarray) -> np.ndarray:
        return np.array([[-2.0 * x[0], -2.0 * x[1], 0, 0, 0, 0], [0, 0, 0, -2.0 * x[3], -2.0 * x[4], 0]])

    start = [_in_shape(kin, one, near.point - near.gap * near.normal), _in_shape(kin, two, near.point)]
    heights = [(-np.inf, np.inf)] * 2 + [(-one.size[1] / size, one.size[1] / size)]
    heights += [(-np.inf, np.inf)] * 2 + [(-two.size[1] / size, two.size[1] / size)]
    limits = {"type": "ineq", "fun": room, "jac": room_slope}
    x = minimize(
        square, np.concatenate(start) / size, jac=True, bounds=heights, constraints=limits, method="SLSQP",
        options={"ftol": 1e-18, "maxiter": 200},
    ).x  # fmt: skip
    for part, shape in ((x[:3], one), (x[3:], two)):  # within the cylinders to the last bit
        part[:2] *= min(1.0, shape.size[0] / size / max(1e-300, float(np.linalg.norm(part[:2]))))
        part[2] = np.clip(part[2], -shape.size[1] / size, shape.size[1] / size)
    gap = float(np.linalg.norm(way(x)))
    if not gap < near.gap:
        return near
    return Near(gap, _world(kin, two, size * x[3:]), way(x) / gap)


def _under(ground: Shape, triangle: np.ndarray) -> Shape:
    """A mesh: the ground under a triangle (3, 3)."""
    foot = triangle.copy()
    foot[:, 2] = -ground.size[2]
    return replace(ground, kind="mesh", vertices=np.vstack([triangle, foot]))


def _world(kin: Kinematics, shape: Shape, points: np.ndarray) -> np.ndarray:
    """Points (…, 3) of a shape's frame in the world."""
    return kin.pos[shape.link] + (shape.pos + points @ shape.rot.T) @ kin.rot[shape.link].T


def _in_shape(kin: Kinematics, shape: Shape, points: np.ndarray) -> np.ndarray:
    """Points (…, 3) of the world in a shape's frame."""
    return ((points - kin.pos[shape.link]) @ kin.rot[shape.link] - shape.pos) @ shape.rot
