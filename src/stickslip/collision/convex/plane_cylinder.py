"""Plane against cylinder: rim points.

With a the axis and n the plane's normal, each cap has its lowest rim point, c ± h·a − r·m with m ∝ n − (n·a)·a. The
contacts are, where nearer than the margin, the lowest points of both caps (a lying cylinder: a line of two) and, on the
cap that looks at the plane, four rim points fixed to the cylinder, 90° apart (a standing cylinder). Points of the two
kinds that coincide are merged. Upright, where there is no m, only the four are left. The points of the upper cap are
contacts only where the side looks at the plane at least as much as the cap does, or where they are below the plane.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import CORNER, WITHIN, emit, emit_apart, feature
from stickslip.collision.convex.plane_sphere import height

UPRIGHT = 1e-9
"""Sine of the tilt below which a cylinder has no lowest point."""
MERGED = 1e-6
"""Of the radius: rim points nearer than this are one."""


@kernel
def plane_cylinder(geometry, placed, work, pairs, margin, found):
    R, P = placed.rot, placed.pos
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
        ax, ay, az = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        r, h = geometry.shapes.size[b, 0], geometry.shapes.size[b, 1]
        along = nx * ax + ny * ay + nz * az
        mx, my, mz = nx - along * ax, ny - along * ay, nz - along * az
        tilt = sqrt(mx * mx + my * my + mz * mz)
        lower = -1.0 if along >= 0.0 else 1.0
        start = found.total[0]
        for i in range(4):
            c, s = (r, 0.0) if i == 0 else ((0.0, r) if i == 1 else ((-r, 0.0) if i == 2 else (0.0, -r)))
            x = P[b, 0] + lower * h * ax + c * R[b, 0, 0] + s * R[b, 0, 1]
            y = P[b, 1] + lower * h * ay + c * R[b, 1, 0] + s * R[b, 1, 1]
            z = P[b, 2] + lower * h * az + c * R[b, 2, 0] + s * R[b, 2, 1]
            gap = height(placed, a, x, y, z)
            if gap < margin and abs(along) >= tilt:
                emit(found, a, b, feature(CORNER, 1, i, 1 if lower > 0.0 else 0), x, y, z, nx, ny, nz, gap)
        if tilt <= UPRIGHT:
            continue
        for end in range(2):
            s = h if end == 1 else -h
            x = P[b, 0] + s * ax - r * mx / tilt
            y = P[b, 1] + s * ay - r * my / tilt
            z = P[b, 2] + s * az - r * mz / tilt
            gap = height(placed, a, x, y, z)
            if gap < margin and (s * lower > 0.0 or abs(along) <= tilt or gap <= 0.0):
                name = feature(WITHIN, 1, end, 0)
                emit_apart(found, start, MERGED * r, a, b, name, x, y, z, nx, ny, nz, gap)
