"""The distance of a polyhedron A from a polyhedron, cylinder, segment or point B, by the algorithm of Gilbert, Johnson
and Keerthi.

    distance = min |v| over v in B − A,    n = v/|v|,    v = Σ wᵢ·(bᵢ − aᵢ), a simplex of at most four corners

Every step adds the corner of B − A that is farthest along −v, and keeps the smallest simplex that holds the nearest
point. It ends when no corner is nearer along v, which is exact for polyhedra. All coordinates are in A's link frame.
Reference: Gilbert, Johnson, Keerthi, IEEE J. Robotics and Automation 4(2), 1988.
Differs from the paper in: the nearest point of a simplex is the best of all its faces (``simplex``).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.convex.climb import farthest
from stickslip.collision.convex.simplex import nearest_on_simplex
from stickslip.math.spatial import cross

APART, NEAR, OVERLAP = 0, 1, 2
"""Farther apart than the margin; apart, with a simplex that holds the nearest points; touching or overlapping."""
MOST_STEPS = 64
PRECISE = 1e-12
"""Relative error of the distance at which smooth shapes end."""
TOUCHING = 1e-8
"""Distance, as a fraction of the size, below which bodies count as touching: the direction of v is then unreliable."""


class Minkowski(NamedTuple):
    """Scratch: corners of B − A, in A's link frame."""

    corner: np.ndarray
    """(m, 9) b − a, a and b [m]."""
    name: np.ndarray
    """(m, 2) the corners of A and B, shared indices; of a cylinder, −1."""
    weight: np.ndarray
    """(4,) weights of the first four corners."""
    pose: np.ndarray
    """(4, 3) B in A: its axes as columns of the first three rows, its origin in the last."""
    core: np.ndarray
    """(13,) radius and half length [m] of B if it is a cylinder, a segment (radius 0) or a point (both 0); its half
    axes if it is an ellipsoid, else 0; the rest is scratch of ``ellipsoids``."""


def make_minkowski(corners: int) -> Minkowski:
    name = np.zeros((corners, 2), dtype=np.int64)
    return Minkowski(np.zeros((corners, 9)), name, np.zeros(4), np.zeros((4, 3)), np.zeros(13))


@kernel
def support(geometry, space, p, q, k, x, y, z, near_a, near_b):
    """Write the corner of B − A farthest along (x, y, z) to row k; q < 0: B is the core."""
    C, N, T, V = space.corner, space.name, space.pose, geometry.bodies.vertex
    i = farthest(geometry.bodies, geometry.climb, p, -x, -y, -z, near_a)
    u = T[0, 0] * x + T[1, 0] * y + T[2, 0] * z
    v = T[0, 1] * x + T[1, 1] * y + T[2, 1] * z
    w = T[0, 2] * x + T[1, 2] * y + T[2, 2] * z
    j = -1
    if q >= 0:
        j = farthest(geometry.bodies, geometry.climb, q, u, v, w, near_b)
        u, v, w = V[j, 0], V[j, 1], V[j, 2]
    elif space.core[2] > 0.0:
        u, v, w = space.core[2] * u, space.core[3] * v, space.core[4] * w
        size = sqrt(u * u + v * v + w * w)
        scale = 1.0 / size if size > 0.0 else 0.0
        u, v, w = scale * space.core[2] * u, scale * space.core[3] * v, scale * space.core[4] * w
    else:
        rho = sqrt(u * u + v * v)
        scale = space.core[0] / rho if rho > 0.0 else 0.0
        if space.core[0] == 0.0:
            j = 0 if w < 0.0 else 1
        u, v, w = scale * u, scale * v, (-space.core[1] if w < 0.0 else space.core[1])
    N[k, 0], N[k, 1] = i, j
    for c in range(3):
        C[k, 3 + c] = V[i, c]
        C[k, 6 + c] = T[c, 0] * u + T[c, 1] * v + T[c, 2] * w + T[3, c]
        C[k, c] = C[k, 6 + c] - C[k, 3 + c]


@kernel
def keep_nearest(space, n):
    """Drop the corners of weight zero; returns how many of n are left, and v."""
    C, N, w = space.corner, space.name, space.weight
    m = 0
    for i in range(n):
        if w[i] > 0.0:
            if m < i:
                w[m] = w[i]
                N[m, 0], N[m, 1] = N[i, 0], N[i, 1]
                for c in range(9):
                    C[m, c] = C[i, c]
            m += 1
    x, y, z = 0.0, 0.0, 0.0
    if m == 3:  # v is along the triangle's normal, which is exact where the weighted sum loses digits
        nx, ny, nz = cross(
            C[1, 0] - C[0, 0], C[1, 1] - C[0, 1], C[1, 2] - C[0, 2],
            C[2, 0] - C[0, 0], C[2, 1] - C[0, 1], C[2, 2] - C[0, 2],
        )  # fmt: skip
        level = (nx * C[0, 0] + ny * C[0, 1] + nz * C[0, 2]) / (nx * nx + ny * ny + nz * nz)
        return m, level * nx, level * ny, level * nz
    for i in range(m):
        x, y, z = x + w[i] * C[i, 0], y + w[i] * C[i, 1], z + w[i] * C[i, 2]
    return m, x, y, z


@kernel(inline=False)
def nearest_points(geometry, space, p, q, size, margin):
    """(APART, NEAR or OVERLAP, number of corners, v); the corners and their weights are in ``space``."""
    C, N, T = space.corner, space.name, space.pose
    m = geometry.bodies.center
    x, y, z = T[3, 0] - m[p, 0], T[3, 1] - m[p, 1], T[3, 2] - m[p, 2]
    if q >= 0:
        for j in range(3):
            x, y, z = x + T[0, j] * m[q, j], y + T[1, j] * m[q, j], z + T[2, j] * m[q, j]
    if x * x + y * y + z * z == 0.0:
        z = 1.0
    support(geometry, space, p, q, 0, -x, -y, -z, -1, -1)
    space.weight[0] = 1.0
    n, x, y, z = 1, C[0, 0], C[0, 1], C[0, 2]
    last = x * x + y * y + z * z
    for _ in range(MOST_STEPS):
        if last <= (TOUCHING * size) ** 2:
            return OVERLAP, n, x, y, z
        support(geometry, space, p, q, n, -x, -y, -z, N[n - 1, 0], N[n - 1, 1])
        lower = x * C[n, 0] + y * C[n, 1] + z * C[n, 2]
        if lower > 0.0 and lower * lower >= margin * margin * last:
            return APART, n, x, y, z
        if last - lower <= PRECISE * last:
            return NEAR, n, x, y, z
        for i in range(n):
            if N[i, 0] == N[n, 0] and N[i, 1] == N[n, 1] and N[n, 1] >= 0:
                return NEAR, n, x, y, z
        inside = nearest_on_simplex(C, n + 1, space.weight)
        if inside:
            return OVERLAP, n + 1, x, y, z
        n, x, y, z = keep_nearest(space, n + 1)
        now = x * x + y * y + z * z
        if now > last * (1.0 + 1e-14):  # round-off: there is no nearer point
            return NEAR, n, x, y, z
        last = now
    return NEAR, n, x, y, z
