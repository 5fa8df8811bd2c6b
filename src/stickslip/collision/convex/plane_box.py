"""Plane against box: the corners of the face that looks at the plane, and any other corner below it.

The face is that of the axis most along the plane's normal. A corner above that face is no contact while it is above the
plane, however near (a flat box on the floor has four contacts, not eight).
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import CORNER, emit, feature
from stickslip.collision.convex.plane_sphere import height


@kernel
def plane_box(geometry, placed, work, pairs, margin, found):
    R, P, size = placed.rot, placed.pos, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
        axis, along = 0, 0.0
        for j in range(3):
            d = nx * R[b, 0, j] + ny * R[b, 1, j] + nz * R[b, 2, j]
            if abs(d) > abs(along) + 1e-9:
                axis, along = j, d
        down = 0 if along > 0.0 else 1
        for corner in range(8):
            lower = ((corner >> (2 - axis)) & 1) == down
            x = size[b, 0] if corner & 4 else -size[b, 0]
            y = size[b, 1] if corner & 2 else -size[b, 1]
            z = size[b, 2] if corner & 1 else -size[b, 2]
            px = P[b, 0] + R[b, 0, 0] * x + R[b, 0, 1] * y + R[b, 0, 2] * z
            py = P[b, 1] + R[b, 1, 0] * x + R[b, 1, 1] * y + R[b, 1, 2] * z
            pz = P[b, 2] + R[b, 2, 0] * x + R[b, 2, 1] * y + R[b, 2, 2] * z
            gap = height(placed, a, px, py, pz)
            if gap < margin and (lower or gap <= 0.0):
                emit(found, a, b, feature(CORNER, 1, corner, 0), px, py, pz, nx, ny, nz, gap)
