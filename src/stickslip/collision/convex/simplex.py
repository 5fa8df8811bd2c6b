"""The point nearest to the origin of a segment, triangle or tetrahedron, robust for nearly flat ones.

A simplex is some rows of P (n, 3+). The results are weights of these rows, ≥ 0 with the sum 1. Of a face's candidates
(its inner point, its edges) the one with the least distance is taken, so that no wrong decision follows from round-off
in the sign of a determinant.
"""

from __future__ import annotations

from math import inf

from stickslip._jit import kernel
from stickslip.math.spatial import cross

FLAT = 1e-20
"""Squared sine of the smallest angle of a triangle that has an inner point; thinner ones are three segments."""


THIN = 1e-16
"""Squared ratio of a tetrahedron's volume to the product of three edges below which all of its faces are tried."""


@kernel
def nearest_on_edge(P, i, j):
    """(squared distance, weight of row j) of the segment from row i to row j."""
    ex, ey, ez = P[j, 0] - P[i, 0], P[j, 1] - P[i, 1], P[j, 2] - P[i, 2]
    length2 = ex * ex + ey * ey + ez * ez
    t = 0.0
    if length2 > 0.0:
        t = min(max(-(P[i, 0] * ex + P[i, 1] * ey + P[i, 2] * ez) / length2, 0.0), 1.0)
    x, y, z = P[i, 0] + t * ex, P[i, 1] + t * ey, P[i, 2] + t * ez
    return x * x + y * y + z * z, t


@kernel(inline=False)
def nearest_on_triangle(P, i, j, k):
    """(squared distance, weights of rows i, j, k) of a triangle."""
    ax, ay, az = P[i, 0], P[i, 1], P[i, 2]
    bx, by, bz = P[j, 0], P[j, 1], P[j, 2]
    cx, cy, cz = P[k, 0], P[k, 1], P[k, 2]
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    nx, ny, nz = cross(ux, uy, uz, vx, vy, vz)
    nn = nx * nx + ny * ny + nz * nz
    thin = FLAT * (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz)
    wi, wj, wk = -1.0, -1.0, -1.0
    if nn > thin:
        x, y, z = cross(bx, by, bz, cx, cy, cz)
        wi = (x * nx + y * ny + z * nz) / nn
        x, y, z = cross(cx, cy, cz, ax, ay, az)
        wj = (x * nx + y * ny + z * nz) / nn
        wk = 1.0 - wi - wj
        if wi >= 0.0 and wj >= 0.0 and wk >= 0.0:
            level = ax * nx + ay * ny + az * nz
            return level * level / nn, wi, wj, wk
    best, s, t, r = inf, 0.0, 0.0, 0.0
    if wk < 0.0:
        d, w = nearest_on_edge(P, i, j)
        if d < best:
            best, s, t, r = d, 1.0 - w, w, 0.0
    if wi < 0.0:
        d, w = nearest_on_edge(P, j, k)
        if d < best:
            best, s, t, r = d, 0.0, 1.0 - w, w
    if wj < 0.0:
        d, w = nearest_on_edge(P, k, i)
        if d < best:
            best, s, t, r = d, w, 0.0, 1.0 - w
    return best, s, t, r


@kernel
def beyond(P, i, j, k, m):
    """Whether the origin and row m are on different sides of the plane of rows i, j, k, or in it."""
    ux, uy, uz = P[j, 0] - P[i, 0], P[j, 1] - P[i, 1], P[j, 2] - P[i, 2]
    vx, vy, vz = P[k, 0] - P[i, 0], P[k, 1] - P[i, 1], P[k, 2] - P[i, 2]
    nx, ny, nz = cross(ux, uy, uz, vx, vy, vz)
    level = nx * P[i, 0] + ny * P[i, 1] + nz * P[i, 2]
    other = nx * P[m, 0] + ny * P[m, 1] + nz * P[m, 2] - level
    return not (-level * other > 0.0)


@kernel
def is_thin(P):
    """Whether the four rows are so nearly in a plane that the sides of its faces are a matter of round-off."""
    ux, uy, uz = P[1, 0] - P[0, 0], P[1, 1] - P[0, 1], P[1, 2] - P[0, 2]
    vx, vy, vz = P[2, 0] - P[0, 0], P[2, 1] - P[0, 1], P[2, 2] - P[0, 2]
    wx, wy, wz = P[3, 0] - P[0, 0], P[3, 1] - P[0, 1], P[3, 2] - P[0, 2]
    x, y, z = cross(ux, uy, uz, vx, vy, vz)
    volume = x * wx + y * wy + z * wz
    edges2 = (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz) * (wx * wx + wy * wy + wz * wz)
    return volume * volume <= THIN * edges2


@kernel(inline=False)
def nearest_on_simplex(P, n, weight):
    """Write the weights (4,) of the n rows of P; returns whether the origin is inside of a tetrahedron."""
    for i in range(4):
        weight[i] = 0.0
    if n == 1:
        weight[0] = 1.0
        return False
    if n == 2:
        _, t = nearest_on_edge(P, 0, 1)
        weight[0], weight[1] = 1.0 - t, t
        return False
    if n == 3:
        _, weight[0], weight[1], weight[2] = nearest_on_triangle(P, 0, 1, 2)
        return False
    best, thin = inf, is_thin(P)
    for skipped in range(4):
        i, j, k = (1 if skipped == 0 else 0), (2 if skipped <= 1 else 1), (3 if skipped <= 2 else 2)
        if thin or beyond(P, i, j, k, skipped):
            d, wi, wj, wk = nearest_on_triangle(P, i, j, k)
            if d < best:
                best = d
                weight[0] = weight[1] = weight[2] = weight[3] = 0.0
                weight[i], weight[j], weight[k] = wi, wj, wk
    return best == inf
