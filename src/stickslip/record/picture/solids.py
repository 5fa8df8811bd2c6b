"""Intersection of rays o + t·d with a solid in its own frame: first t and outward normal, exact for every kind.

A convex polyhedron {x: n_f·x ≤ b_f} and a cylinder are intersections of slabs, each of which a ray enters and leaves.
The ray hits the solid at the last entry if that comes before the first exit. Spheres and capsules are quadratics.

Sizes: o and d broadcast to (m, 3); t (m,), ∞ where the ray misses; normals (m, 3).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stickslip.model.terrain import grid_heights

Rays = tuple[np.ndarray, np.ndarray]
Hits = tuple[np.ndarray, np.ndarray]
TINY = np.float32(1e-12)
BLOCK = 4_000_000
"""Number of rays × faces that are computed at once, which bounds the memory."""


def sphere(o: np.ndarray, d: np.ndarray, radius: float) -> Hits:
    t = _quadratic(o, d, radius)[0]
    return t, (o + np.where(np.isfinite(t), t, 0.0)[:, None] * d) / np.float32(radius)


def ellipsoid(o: np.ndarray, d: np.ndarray, radii: np.ndarray) -> Hits:
    """A unit sphere in stretched axes; t does not change, and normals are along x/r²."""
    t = _quadratic(o / radii, d / radii, 1.0)[0]
    normal = (o + np.where(np.isfinite(t), t, 0.0)[:, None] * d) / radii**2
    return t, normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), np.float32(TINY))


def cylinder(o: np.ndarray, d: np.ndarray, radius: float, half: float) -> Hits:
    """A cylinder along z."""
    flat = np.array([1.0, 1.0, 0.0], dtype=np.float32)
    side_in, side_out = _quadratic(o * flat, d * flat, radius)
    dz = np.where(np.abs(d[:, 2]) < TINY, TINY, d[:, 2])
    below, above = (-half - o[:, 2]) / dz, (half - o[:, 2]) / dz
    cap_in, cap_out = np.minimum(below, above), np.maximum(below, above)
    enter = np.maximum(side_in, cap_in)
    hit = (enter <= np.minimum(side_out, cap_out)) & (enter > 0.0)
    t = np.where(hit, enter, np.inf).astype(np.float32)
    point = o + np.where(hit, enter, 0.0)[:, None] * d
    cap = cap_in > side_in
    normal = np.where(cap[:, None], 0.0, point / np.float32(radius))
    normal[:, 2] = np.where(cap, -np.sign(dz), 0.0)
    return t, normal


def capsule(o: np.ndarray, d: np.ndarray, radius: float, half: float) -> Hits:
    """A capsule along z."""
    flat = np.array([1.0, 1.0, 0.0], dtype=np.float32)
    end = np.array([0.0, 0.0, half], dtype=np.float32)
    side = _quadratic(o * flat, d * flat, radius)[0]
    side = np.where(np.abs(o[:, 2] + np.where(np.isfinite(side), side, 0.0) * d[:, 2]) <= half, side, np.inf)
    t = np.minimum(side, np.minimum(_quadratic(o - end, d, radius)[0], _quadratic(o + end, d, radius)[0]))
    point = o + np.where(np.isfinite(t), t, 0.0)[:, None] * d
    point[:, 2] -= np.clip(point[:, 2], -half, half)
    return t, point / np.float32(radius)


def convex(o: np.ndarray, d: np.ndarray, normals: np.ndarray, offsets: np.ndarray) -> Hits:
    """A convex polyhedron with outward unit ``normals`` (f, 3) and ``offsets`` (f,) of its faces."""
    m, f = len(d), len(normals)
    t, face = np.full(m, np.inf, dtype=np.float32), np.zeros(m, dtype=np.int64)
    rows = max(1, BLOCK // f)
    for first in range(0, m, rows):
        part = slice(first, first + rows)
        rate = d[part] @ normals.T
        inside = offsets - (o if len(o) == 1 else o[part]) @ normals.T
        rate = np.where(np.abs(rate) < TINY, -TINY, rate)
        at = inside / rate
        entering = np.where(rate < 0.0, at, -np.inf)
        last = np.argmax(entering, axis=1)
        enter = entering[np.arange(len(at)), last]
        leave = np.min(np.where(rate > 0.0, at, np.inf), axis=1)
        t[part], face[part] = np.where((enter <= leave) & (enter > 0.0), enter, np.inf), last
    return t, normals[face]


def plane(o: np.ndarray, d: np.ndarray) -> Hits:
    """The half space z ≤ 0, seen from above."""
    down = d[:, 2] < -TINY
    t = np.where(down & (o[:, 2] > 0.0), -o[:, 2] / np.where(down, d[:, 2], 1.0), np.inf)
    return t.astype(np.float32), np.broadcast_to(np.array([0, 0, 1], dtype=np.float32), (len(d), 3))


def _quadratic(o: np.ndarray, d: np.ndarray, radius: float) -> Rays:
    """(in, out) of |o + t·d| = radius; ∞ where a ray misses it or starts inside."""
    a = np.einsum("ij,ij->i", d, d) + TINY
    b, c = np.einsum("ij,ij->i", np.broadcast_to(o, d.shape), d), np.einsum("ij,ij->i", o, o) - np.float32(radius**2)
    under = b * b - a * c
    root = np.sqrt(np.maximum(under, 0.0))
    enter = (-b - root) / a
    hit = (under >= 0.0) & (enter > 0.0)
    return np.where(hit, enter, np.inf), np.where(hit, (-b + root) / a, -np.inf)


Meet = Callable[[np.ndarray, np.ndarray], Hits]


def terrain(o: np.ndarray, d: np.ndarray, points: np.ndarray) -> Hits:
    """The surface of a height field (``model.terrain``): all rays go from cell to cell until each meets a triangle."""
    o, d = np.broadcast_arrays(o.astype(float), d.astype(float))
    heights = grid_heights(points).astype(float)
    rows, columns = heights.shape
    first = points[0, :2].astype(float)
    step = np.array([points[1, 0], points[columns, 1]], dtype=float) - first
    t, end = np.zeros(len(o)), np.full(len(o), np.inf)
    low, high = (*first, heights.min()), (*points[-1, :2].astype(float), heights.max())
    for k in range(3):
        rate = np.where(np.abs(d[:, k]) < TINY, TINY, d[:, k])
        a, b = (low[k] - o[:, k]) / rate, (high[k] - o[:, k]) / rate
        t, end = np.maximum(t, np.minimum(a, b)), np.minimum(end, np.maximum(a, b))
    found, normal = np.full(len(o), np.inf), np.zeros((len(o), 3))
    normal[:, 2] = 1.0
    on = np.flatnonzero(t <= end + 1e-9)
    u, rate = (o[:, :2] - first) / step, d[:, :2] / step
    rate = np.where(np.abs(rate) < TINY, TINY, rate)
    cell = np.clip((u + np.where(np.isfinite(t), t, 0.0)[:, None] * rate).astype(int), 0, (columns - 2, rows - 2))
    while len(on):
        c, r = cell[on].T
        for k in range(2):
            gx = (heights[r + k, c + 1] - heights[r + k, c]) / step[0]
            gy = (heights[r + 1, c + 1 - k] - heights[r, c + 1 - k]) / step[1]
            along = d[on, 2] - gx * d[on, 0] - gy * d[on, 1]
            at = o[on] - np.stack([first[0] + c * step[0], first[1] + r * step[1], heights[r, c]], axis=1)
            meets = -(at[:, 2] - gx * at[:, 0] - gy * at[:, 1]) / np.where(along == 0.0, TINY, along)
            place = u[on] + meets[:, None] * rate[on] - cell[on]
            beside = (place[:, 0] - place[:, 1]) * (1 - 2 * k)
            hit = (place.min(axis=1) >= -1e-6) & (place.max(axis=1) <= 1.0 + 1e-6) & (beside >= -1e-6) & (meets > 0.0)
            hit &= meets < found[on]
            found[on[hit]] = meets[hit]
            slope = np.stack([-gx, -gy, np.ones(len(gx))], axis=1)[hit]
            normal[on[hit]] = slope / np.linalg.norm(slope, axis=1, keepdims=True)
        leave = (cell[on] + (rate[on] > 0.0) - u[on]) / rate[on]
        axis = np.argmin(leave, axis=1)
        ahead = leave.min(axis=1) <= end[on]
        cell[on, axis] += np.where(rate[on, axis] > 0.0, 1, -1)
        inside = np.all((cell[on] >= 0) & (cell[on] <= (columns - 2, rows - 2)), axis=1)
        on = on[inside & ahead & ~np.isfinite(found[on])]
    return found.astype(np.float32), normal.astype(np.float32)
