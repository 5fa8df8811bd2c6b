"""Plane against capsule: the two balls at its ends; a lying capsule has two contacts."""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import WITHIN, emit, feature
from stickslip.collision.convex.plane_sphere import height


@kernel
def plane_capsule(geometry, placed, work, pairs, margin, found):
    R, P = placed.rot, placed.pos
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
        r, h = geometry.shapes.size[b, 0], geometry.shapes.size[b, 1]
        for end in range(2):
            s = h if end == 1 else -h
            x, y, z = P[b, 0] + s * R[b, 0, 2], P[b, 1] + s * R[b, 1, 2], P[b, 2] + s * R[b, 2, 2]
            gap = height(placed, a, x, y, z) - r
            if gap < margin:
                emit(found, a, b, feature(WITHIN, 1, end, 0), x - r * nx, y - r * ny, z - r * nz, nx, ny, nz, gap)
