"""Rays: the nearest shape that a half line meets, with distance and normal.

    x(t) = p + t·d,  t ≥ 0,  |d| = 1

Each kernel works in the shape's frame and returns (t, nx, ny, nz), t < 0 if the ray misses; n is the outward unit
normal of the surface. A ray that begins inside a shape meets its surface from within. Planes are met from their free
side alone. All this is as in MuJoCo's ``mj_ray``, except that meshes are met as their convex hulls, as in collision,
and terrain at its surface only, from above or from below, not at its sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from stickslip._jit import kernel
from stickslip.errors import expected, unknown
from stickslip.math.spatial import rotate, rotate_transposed
from stickslip.model.model import Model
from stickslip.model.shape import Shape
from stickslip.model.terrain import grid_heights

PLANE, ELLIPSOID, CAPSULE, CYLINDER, BOX, HULL, TERRAIN = range(7)
KINDS = {
    "plane": PLANE, "sphere": ELLIPSOID, "ellipsoid": ELLIPSOID, "capsule": CAPSULE, "cylinder": CYLINDER, "box": BOX,
    "mesh": HULL, "terrain": TERRAIN,
}  # fmt: skip


@dataclass(frozen=True)
class Hit:
    """Where a ray meets a shape."""

    distance: float
    """[m] along the ray."""
    point: np.ndarray
    """(3,) [m, world]."""
    normal: np.ndarray
    """(3,) outward unit normal of the surface [world]."""
    body: str
    """Name of the body that carries the shape."""
    shape: str
    """Name of the shape."""


@kernel
def ray_plane(sx, sy, px, py, pz, dx, dy, dz):
    """z = 0 with free space above; within ±sx, ±sy where these are positive."""
    if dz >= 0.0:
        return -1.0, 0.0, 0.0, 1.0
    t = -pz / dz
    if t < 0.0 or (sx > 0.0 and abs(px + t * dx) > sx) or (sy > 0.0 and abs(py + t * dy) > sy):
        return -1.0, 0.0, 0.0, 1.0
    return t, 0.0, 0.0, 1.0


@kernel
def first_root(a, b, c):
    """Smaller and larger root of a·t² + 2·b·t + c = 0, a > 0; both −1 if there is none."""
    square = b * b - a * c
    if square < 0.0 or a <= 0.0:
        return -1.0, -1.0
    root = sqrt(square)
    return (-b - root) / a, (-b + root) / a


@kernel
def ray_ellipsoid(a, b, c, px, py, pz, dx, dy, dz):
    """|(x/a, y/b, z/c)| = 1."""
    px, py, pz, dx, dy, dz = px / a, py / b, pz / c, dx / a, dy / b, dz / c
    near, far = first_root(
        dx * dx + dy * dy + dz * dz, px * dx + py * dy + pz * dz, px * px + py * py + pz * pz - 1.0
    )  # fmt: skip
    t = near if near >= 0.0 else far
    x, y, z = (px + t * dx) / a, (py + t * dy) / b, (pz + t * dz) / c
    size = sqrt(x * x + y * y + z * z)
    if t < 0.0 or size == 0.0:
        return -1.0, 0.0, 0.0, 1.0
    return t, x / size, y / size, z / size


@kernel
def ray_cylinder(r, h, closed, px, py, pz, dx, dy, dz):
    """x² + y² = r², |z| ≤ h; with ``closed`` also the discs z = ±h."""
    best, nx, ny, nz = inf, 0.0, 0.0, 0.0
    near, far = first_root(dx * dx + dy * dy, px * dx + py * dy, px * px + py * py - r * r)
    for k in range(2):
        t = near if k == 0 else far
        if 0.0 <= t < best and abs(pz + t * dz) <= h:
            best, nx, ny, nz = t, (px + t * dx) / r, (py + t * dy) / r, 0.0
    if closed and dz != 0.0:
        for k in range(2):
            side = 2.0 * k - 1.0
            t = (side * h - pz) / dz
            x, y = px + t * dx, py + t * dy
            if 0.0 <= t < best and x * x + y * y <= r * r:
                best, nx, ny, nz = t, 0.0, 0.0, side
    return (best if best < inf else -1.0), nx, ny, nz


@kernel
def ray_capsule(r, h, px, py, pz, dx, dy, dz):
    """Points at the distance r from the segment |z| ≤ h."""
    best, nx, ny, nz = ray_cylinder(r, h, False, px, py, pz, dx, dy, dz)
    best = best if best >= 0.0 else inf
    for k in range(2):
        side = 2.0 * k - 1.0
        z0 = pz - side * h
        near, far = first_root(1.0, px * dx + py * dy + z0 * dz, px * px + py * py + z0 * z0 - r * r)
        for m in range(2):
            t = near if m == 0 else far
            if 0.0 <= t < best and side * (z0 + t * dz) >= 0.0:
                best, nx, ny, nz = t, (px + t * dx) / r, (py + t * dy) / r, (z0 + t * dz) / r
    return (best if best < inf else -1.0), nx, ny, nz


@kernel
def ray_polytope(planes, first, last, px, py, pz, dx, dy, dz):
    """n·x + c ≤ 0 for the rows (n, c) of ``planes`` from ``first`` to ``last`` − 1."""
    enter, leave, i, o = -inf, inf, -1, -1
    for k in range(first, last):
        along = planes[k, 0] * dx + planes[k, 1] * dy + planes[k, 2] * dz
        gap = planes[k, 0] * px + planes[k, 1] * py + planes[k, 2] * pz + planes[k, 3]
        if along < 0.0:
            t = -gap / along
            if t > enter:
                enter, i = t, k
        elif along > 0.0:
            t = -gap / along
            if t < leave:
                leave, o = t, k
        elif gap > 0.0:
            return -1.0, 0.0, 0.0, 1.0
    if enter > leave or leave < 0.0:
        return -1.0, 0.0, 0.0, 1.0
    k = i if enter >= 0.0 else o
    return (enter if enter >= 0.0 else leave), planes[k, 0], planes[k, 1], planes[k, 2]


@kernel
def ray_box(a, b, c, px, py, pz, dx, dy, dz):
    """|x| ≤ a, |y| ≤ b, |z| ≤ c."""
    enter, leave, i, o = -inf, inf, 0, 0
    for k in range(3):
        p, d, s = (px, dx, a) if k == 0 else ((py, dy, b) if k == 1 else (pz, dz, c))
        if d == 0.0:
            if abs(p) > s:
                return -1.0, 0.0, 0.0, 1.0
            continue
        near, far = (-s - p) / d, (s - p) / d
        sign = -1.0
        if near > far:
            near, far, sign = far, near, 1.0
        if near > enter:
            enter, i = near, int(sign) * (k + 1)
        if far < leave:
            leave, o = far, -int(sign) * (k + 1)
    if enter > leave or leave < 0.0:
        return -1.0, 0.0, 0.0, 1.0
    face = i if enter >= 0.0 else o
    side = 1.0 if face > 0 else -1.0
    axis = abs(face)
    return (
        (enter if enter >= 0.0 else leave),
        side if axis == 1 else 0.0,
        side if axis == 2 else 0.0,
        side if axis == 3 else 0.0,
    )


@kernel
def stretch_within(p, d, high, low_t, high_t):
    """The part of low_t ≤ t ≤ high_t in which 0 ≤ p + t·d ≤ high."""
    if d == 0.0:
        return (low_t, high_t) if 0.0 <= p <= high else (1.0, 0.0)
    a, b = -p / d, (high - p) / d
    return max(low_t, min(a, b)), min(high_t, max(a, b))


@kernel(inline=False)
def ray_terrain(points, first, last, px, py, pz, dx, dy, dz):
    """The triangles of a height field (``model.terrain``), cell by cell along the ray; ``points`` has x, y, z and the
    number of columns in the rows from ``first`` to ``last`` − 1."""
    columns = int(points[first, 3])
    rows = (last - first) // columns
    ex, ey = points[first + 1, 0] - points[first, 0], points[first + columns, 1] - points[first, 1]
    u, v, du, dv = (px - points[first, 0]) / ex, (py - points[first, 1]) / ey, dx / ex, dy / ey
    t, end = stretch_within(u, du, columns - 1.0, 0.0, inf)
    t, end = stretch_within(v, dv, rows - 1.0, t, end)
    if t > end:
        return -1.0, 0.0, 0.0, 1.0
    c, r = min(max(int(u + t * du), 0), columns - 2), min(max(int(v + t * dv), 0), rows - 2)
    for _ in range(2 * (rows + columns)):
        i = first + r * columns + c
        j = i + columns
        best, nx, ny, nz = inf, 0.0, 0.0, 1.0
        for k in range(2):
            if k == 0:
                gx, gy = (points[i + 1, 2] - points[i, 2]) / ex, (points[j + 1, 2] - points[i + 1, 2]) / ey
            else:
                gx, gy = (points[j + 1, 2] - points[j, 2]) / ex, (points[j, 2] - points[i, 2]) / ey
            along = dz - gx * dx - gy * dy
            if along == 0.0:
                continue
            level = pz - points[i, 2] - gx * (px - points[i, 0]) - gy * (py - points[i, 1])
            meets = -level / along
            a, b = u + meets * du - c, v + meets * dv - r
            inside = min(a, b) >= -1e-12 and max(a, b) <= 1.0 + 1e-12 and (a - b if k == 0 else b - a) >= -1e-12
            if inside and 0.0 <= meets < best:
                size = sqrt(1.0 + gx * gx + gy * gy)
                best, nx, ny, nz = meets, -gx / size, -gy / size, 1.0 / size
        if best < inf:
            return best, nx, ny, nz
        leave_u = ((c + 1 if du > 0.0 else c) - u) / du if du != 0.0 else inf
        leave_v = ((r + 1 if dv > 0.0 else r) - v) / dv if dv != 0.0 else inf
        if leave_u == inf and leave_v == inf:
            break
        if leave_u <= leave_v:
            c += 1 if du > 0.0 else -1
        else:
            r += 1 if dv > 0.0 else -1
        if c < 0 or r < 0 or c > columns - 2 or r > rows - 2:
            break
    return -1.0, 0.0, 0.0, 1.0


@kernel
def ray_shape(kind, size, planes, first, last, px, py, pz, dx, dy, dz):
    """(t, normal) of a shape in its frame."""
    if kind == PLANE:
        return ray_plane(size[0], size[1], px, py, pz, dx, dy, dz)
    if kind == ELLIPSOID:
        return ray_ellipsoid(size[0], size[1], size[2], px, py, pz, dx, dy, dz)
    if kind == CAPSULE:
        return ray_capsule(size[0], size[1], px, py, pz, dx, dy, dz)
    if kind == CYLINDER:
        return ray_cylinder(size[0], size[1], True, px, py, pz, dx, dy, dz)
    if kind == BOX:
        return ray_box(size[0], size[1], size[2], px, py, pz, dx, dy, dz)
    if kind == TERRAIN:
        return ray_terrain(planes, first, last, px, py, pz, dx, dy, dz)
    return ray_polytope(planes, first, last, px, py, pz, dx, dy, dz)


@kernel(inline=False)
def nearest(kind, link, pos, rot, size, planes, start, skip, link_pos, link_rot, origin, direction, normal):
    """(shape, distance) of the nearest shape that is not skipped, or (−1, −1); normal (3,) [world] is written."""
    best, found = inf, -1
    for s in range(kind.shape[0]):
        if skip[s]:
            continue
        b = link[s]
        x, y, z = origin[0] - link_pos[b, 0], origin[1] - link_pos[b, 1], origin[2] - link_pos[b, 2]
        x, y, z = rotate_transposed(link_rot, b, x, y, z)
        x, y, z = rotate_transposed(rot, s, x - pos[s, 0], y - pos[s, 1], z - pos[s, 2])
        u, v, w = rotate_transposed(link_rot, b, direction[0], direction[1], direction[2])
        u, v, w = rotate_transposed(rot, s, u, v, w)
        t, nx, ny, nz = ray_shape(kind[s], size[s], planes, start[s], start[s + 1], x, y, z, u, v, w)
        if 0.0 <= t < best:
            best, found = t, s
            nx, ny, nz = rotate(rot, s, nx, ny, nz)
            normal[0], normal[1], normal[2] = rotate(link_rot, b, nx, ny, nz)
    return found, (best if found >= 0 else -1.0)


def ray_size(kind: str, size: np.ndarray) -> np.ndarray:
    """(3,) the sizes that ``ray_shape`` reads: a sphere is an ellipsoid of three equal radii."""
    return np.full(3, size[0]) if kind == "sphere" else np.asarray(size, dtype=float)


class RayCaster:
    """The shapes of a model that rays meet: all but contact points and those that are invisible (alpha 0)."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.shapes = [s for s in model.shapes if s.kind in KINDS and s.rgba[3] != 0.0]
        planes = [_planes(s) for s in self.shapes]
        self._skip = np.array([s.kind == "mesh" and not len(p) for s, p in zip(self.shapes, planes, strict=True)])
        self._moving = [k for k, s in enumerate(self.shapes) if s.link == 0] if model.mocap_names else []
        """Shapes that may have been moved since the last ray."""
        self._body = np.array([s.body for s in self.shapes], dtype=np.int64)
        self._arrays = (
            np.array([KINDS[s.kind] for s in self.shapes], dtype=np.int64),
            np.array([s.link for s in self.shapes], dtype=np.int64),
            np.array([s.pos for s in self.shapes], dtype=float).reshape(-1, 3),
            np.array([s.rot for s in self.shapes], dtype=float).reshape(-1, 3, 3),
            np.array([ray_size(s.kind, s.size) for s in self.shapes], dtype=float).reshape(-1, 3),
            np.ascontiguousarray(np.vstack([np.zeros((0, 4)), *planes])),
            np.concatenate([[0], np.cumsum([len(p) for p in planes])]).astype(np.int64),
        )

    def body_ids(self, names: Iterable[str] | str) -> list[int]:
        """MuJoCo's numbers of bodies by name."""
        known = {self.model.mj.body(b).name: b for b in range(self.model.mj.nbody)}
        if not isinstance(names, Iterable):
            raise expected("exclude", "names of bodies", names)
        names = (names,) if isinstance(names, str) else tuple(names)
        for name in names:
            if name not in known:
                raise unknown("body in exclude", name, known)
        return [known[name] for name in names]

    def cast(
        self, pos: np.ndarray, rot: np.ndarray, origin, direction, exclude: Iterable[int] = (), *, checked: bool = True
    ) -> Hit | None:
        """The nearest hit with links at pos (nl, 3) and rot (nl, 3, 3); ``exclude`` are MuJoCo's bodies."""
        if checked:
            p, d = _three("origin", origin), _three("direction", direction)
            if not np.any(d):
                raise expected("direction", "a vector that is not zero", direction)
        else:
            p, d = np.asarray(origin, dtype=float), np.asarray(direction, dtype=float)
        d, normal = d / np.linalg.norm(d), np.zeros(3)
        skip = self._skip | np.isin(self._body, list(exclude))
        for k in self._moving:
            self._arrays[2][k], self._arrays[3][k] = self.shapes[k].pos, self.shapes[k].rot
        s, t = nearest(*self._arrays, skip, pos, rot, p, d, normal)
        if s < 0:
            return None
        shape = self.shapes[s]
        return Hit(float(t), p + t * d, normal, self.model.mj.body(shape.body).name, shape.name)


def _three(name: str, value) -> np.ndarray:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3,) or not np.all(np.isfinite(array)):
        raise expected(name, "three finite numbers", value)
    return array


def _planes(shape: Shape) -> np.ndarray:
    """(n, 4) outward normals and offsets of a hull's faces, empty if it is flat; or what ``ray_terrain`` reads."""
    if shape.vertices is None:
        return np.zeros((0, 4))
    if shape.kind == "terrain":
        columns = grid_heights(shape.vertices).shape[1]
        return np.column_stack([shape.vertices, np.full(len(shape.vertices), float(columns))])
    try:
        return np.unique(ConvexHull(shape.vertices).equations, axis=0)
    except QhullError:
        return np.zeros((0, 4))
