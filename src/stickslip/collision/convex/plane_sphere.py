"""Plane against sphere: one contact, n the plane's normal, gap = n·(c − p) − r."""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import WITHIN, emit, feature


@kernel
def height(placed, plane, x, y, z):
    """Signed distance of a world point from a plane [m]."""
    P, R = placed.pos, placed.rot
    x, y, z = x - P[plane, 0], y - P[plane, 1], z - P[plane, 2]
    return R[plane, 0, 2] * x + R[plane, 1, 2] * y + R[plane, 2, 2] * z


@kernel
def plane_sphere(geometry, placed, work, pairs, margin, found):
    R = placed.rot
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        x, y, z = placed.pos[b, 0], placed.pos[b, 1], placed.pos[b, 2]
        r = geometry.shapes.size[b, 0]
        gap = height(placed, a, x, y, z) - r
        if gap < margin:
            nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
            emit(found, a, b, feature(WITHIN, 0, 0, 0), x - r * nx, y - r * ny, z - r * nz, nx, ny, nz, gap)
