"""Shapes of every kind, brought to a known gap: the ground truth of ``bench collision``.

A convex shape touches a supporting plane at a boundary point p with an outward normal n there, n·x ≤ n·p for all its
points x. If shape A has (p, n) and shape B has (p + g·n, −n), then the planes show that the gap is at least g, and for
g ≥ 0 the two points show that it is at most g: the gap is g, by support functions alone. For g < 0 it is at least g;
``overlap`` has the truth of polyhedra.

Points and normals are those of a feature: a face, an edge or a corner of a polyhedron; a cap, the side or a rim.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from stickslip.model.shape import Shape

FEATURES = ("face", "edge", "corner")
FACING = {("edge", "edge")} | {pair for name in FEATURES for pair in (("face", name), (name, "face"))}
"""Pairs of features whose normal is that of a face or of two crossing edges."""

ROUND_OFF = 1e-13
"""Fraction of the size. A support point that lies less than this beyond a face of the hull is on the face."""
ROUNDS = 1000


def ellipsoid(n: int, rng: np.random.Generator) -> np.ndarray:
    """n random points on an ellipsoid about 0.2 m long, in single precision as MuJoCo stores meshes."""
    points = rng.normal(size=(n, 3))
    points *= np.array([0.1, 0.08, 0.06]) / np.linalg.norm(points, axis=1)[:, None]
    return points.astype(np.float32).astype(float)


def block(n: int, rng: np.random.Generator) -> np.ndarray:
    """About n points of a box with large flat faces, rounded edges and further points within the faces."""
    half, radius = np.array([0.1, 0.08, 0.06]), 0.01
    directions = np.abs(rng.normal(size=(max(1, n // 8 - 3), 3)))
    directions = np.concatenate([np.eye(3), directions / np.linalg.norm(directions, axis=1)[:, None]])
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    rounded = (signs[:, None, :] * (half - radius + radius * directions)).reshape(-1, 3)
    flat = rng.uniform(-0.8, 0.8, size=(24, 3)) * half
    side = np.arange(24) % 3
    flat[np.arange(24), side] = np.where(np.arange(24) % 2, 1.0, -1.0) * half[side]
    return np.concatenate([rounded, flat]).astype(np.float32).astype(float)


@dataclass
class Solid:
    """A shape with the hull of its vertices, in the frame of its link."""

    shape: Shape
    points: np.ndarray | None = None
    hull: ConvexHull | None = None

    def __post_init__(self) -> None:
        shape, corners = self.shape, self.shape.vertices
        if shape.kind == "box":
            corners = np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * shape.size
        if corners is not None:
            self.points = shape.pos + corners @ shape.rot.T
            self.hull = ConvexHull(self.points)
            a, b, c = (self.points[self.hull.simplices[:, i]] for i in range(3))
            area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
            self.share = area / area.sum()

    def feature(self, name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(point, outward unit normal) at a random place on a face, an edge or a corner [link frame]."""
        if self.hull is None:
            point, normal = self._smooth(name, rng)
            return self.shape.pos + self.shape.rot @ point, self.shape.rot @ normal
        assert self.points is not None
        facets, normals = self.hull.simplices, self.hull.equations[:, :3]
        first = int(rng.choice(len(facets), p=self.share))
        if name == "face":
            return rng.dirichlet(np.ones(3)) @ self.points[facets[first]], normals[first]
        if name == "edge":
            side = int(rng.integers(3))
            ends = self.points[np.delete(facets[first], side)]
            along, weight = rng.uniform(size=2)
            normal = weight * normals[first] + (1.0 - weight) * normals[self.hull.neighbors[first, side]]
            return along * ends[0] + (1.0 - along) * ends[1], normal / np.linalg.norm(normal)
        corner = facets[first, rng.integers(3)]
        around = normals[(facets == corner).any(axis=1)]
        normal = rng.dirichlet(np.ones(len(around))) @ around
        return self.points[corner], normal / np.linalg.norm(normal)

    def _smooth(self, name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Point and normal of a plane, sphere, capsule or cylinder [shape frame]; a rim is an edge, a ball a corner."""
        radius, length = float(self.shape.size[0]), float(self.shape.size[1])
        up, turn = np.array([0.0, 0.0, 1.0]), rng.uniform(0.0, 2.0 * np.pi)
        out = np.array([np.cos(turn), np.sin(turn), 0.0])
        end = rng.choice([-1.0, 1.0])
        any_way = rng.normal(size=3)
        any_way /= np.linalg.norm(any_way)
        match self.shape.kind:
            case "plane":
                return np.array([*rng.uniform(-0.3, 0.3, size=2), 0.0]), up
            case "sphere":
                return radius * any_way, any_way
            case "capsule" if name == "corner":
                return np.sign(any_way[2]) * length * up + radius * any_way, any_way
            case "cylinder" if name == "face":
                return end * length * up + radius * rng.uniform() * out, end * up
            case "cylinder" if name == "corner":
                tilt = rng.uniform(0.05, 0.5 * np.pi - 0.05)
                return end * length * up + radius * out, np.cos(tilt) * out + end * np.sin(tilt) * up
            case _:
                return radius * out + rng.uniform(-1.0, 1.0) * length * up, out

    def reach(self, directions: np.ndarray) -> np.ndarray:
        """(n,) support function along unit vectors (n, 3) [m, link frame]."""
        if self.points is not None:
            return np.asarray((directions @ self.points.T).max(axis=1))
        local = directions @ self.shape.rot
        across, along = np.linalg.norm(local[:, :2], axis=1), np.abs(local[:, 2])
        radius, length = self.shape.size[:2]
        extent = {
            "sphere": np.full(len(local), radius),
            "capsule": radius + along * length,
            "cylinder": across * radius + along * length,
        }[self.shape.kind]
        return np.asarray(directions @ self.shape.pos + extent)


def turn_to(source: np.ndarray, aim: np.ndarray, spin: float) -> np.ndarray:
    """A rotation that turns one unit vector to another and then spins about it."""
    axis, cosine = np.cross(source, aim), float(source @ aim)
    if cosine < -1.0 + 1e-12:
        helper = np.eye(3)[np.argmin(np.abs(source))]
        axis = np.cross(source, helper)
        turned = Rotation.from_rotvec(np.pi * axis / np.linalg.norm(axis))
    else:
        turned = Rotation.from_quat([*axis, 1.0 + cosine])
    return np.asarray((Rotation.from_rotvec(spin * aim) * turned).as_matrix())


@dataclass(frozen=True)
class Placement:
    """Poses of two links whose shapes have a known gap; ``normal`` points from the first to the second."""

    first: tuple[np.ndarray, np.ndarray]
    """Position (3,) [m] and rotation (3, 3)."""
    second: tuple[np.ndarray, np.ndarray]
    normal: np.ndarray
    gap: float
    features: tuple[str, str]

    def apart(self, way: float) -> Placement:
        """The second link moved away along the normal by ``way`` [m]."""
        moved = (self.second[0] + way * self.normal, self.second[1])
        return Placement(self.first, moved, self.normal, self.gap + way, self.features)

    def slid(self, way: float, angle: float) -> Placement:
        """The second link moved across the normal by ``way`` [m], and turned about it by ``angle`` [rad]."""
        across = np.cross(self.normal, np.eye(3)[np.argmin(np.abs(self.normal))])
        turn = Rotation.from_rotvec(angle * self.normal).as_matrix()
        pos = self.second[0] + way * across / np.linalg.norm(across)
        return Placement(self.first, (pos, turn @ self.second[1]), self.normal, np.nan, self.features)


def touching(
    one: Solid, other: Solid, features: tuple[str, str], gap: float, at: np.ndarray, rng: np.random.Generator
) -> Placement:
    """Place two shapes with the gap between the named features; the first link, or the plane's body, is at ``at``."""
    (p, n), (q, m) = one.feature(features[0], rng), other.feature(features[1], rng)
    turn = np.eye(3) if one.shape.kind == "plane" else Rotation.random(rng=rng).as_matrix()
    normal = turn @ n
    other_turn = turn_to(m, -normal, rng.uniform(0.0, 2.0 * np.pi))
    point = at + turn @ p + gap * normal
    return Placement((at, turn), (point - other_turn @ q, other_turn), normal, gap, features)


def overlap(one: Solid, other: Solid, placement: Placement) -> tuple[float, np.ndarray]:
    """(depth, normal) of two overlapping polyhedra: the least support of their Minkowski difference.

    The hull of some support points lies inside the difference. Its face nearest to the origin is on the surface if the
    support along its normal is no farther; otherwise that support point joins the others. Qhull makes the hulls. The
    depth is negative if the shapes do not overlap; it is then an upper bound of minus their distance.
    """
    assert one.points is not None
    assert other.points is not None
    middle = placement.first[0]
    a = one.points @ placement.first[1].T
    b = other.points @ placement.second[1].T + (placement.second[0] - middle)

    def support(directions: np.ndarray) -> np.ndarray:
        return np.asarray(a[(directions @ a.T).argmax(axis=1)] - b[(directions @ b.T).argmin(axis=1)])

    rng = np.random.default_rng(0)
    points = support(np.concatenate([np.eye(3), -np.eye(3), placement.normal[None], rng.normal(size=(60, 3))]))
    size = float(np.ptp(points, axis=0).max())
    for _ in range(ROUNDS):
        planes = ConvexHull(points).equations
        nearest = planes[np.argsort(-planes[:, 3])[:30]]
        new = support(nearest[:, :3])
        beyond = np.einsum("ij,ij->i", new, nearest[:, :3]) + nearest[:, 3]
        if beyond[0] <= ROUND_OFF * size:
            return float(-nearest[0, 3]), nearest[0, :3]
        points = np.concatenate([points, new[beyond > ROUND_OFF * size]])
    raise RuntimeError(f"the depth of two overlapping polyhedra was not found in {ROUNDS} rounds")
