"""Nearest points of points and segments. A segment is given by its middle, its unit axis and its half length."""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.math.spatial import cross

PARALLEL = 1e-12
"""Squared sine below which two directions count as parallel when lines are intersected."""


@kernel
def clip(t, h):
    return min(max(t, -h), h)


@kernel
def along_segment(x, y, z, mx, my, mz, ux, uy, uz, h):
    """t, from −h to h, of the point m + t·u of a segment that is nearest to (x, y, z)."""
    return clip((x - mx) * ux + (y - my) * uy + (z - mz) * uz, h)


@kernel
def across(ux, uy, uz):
    """A unit vector perpendicular to a unit vector."""
    if abs(ux) <= abs(uy) and abs(ux) <= abs(uz):
        x, y, z = cross(ux, uy, uz, 1.0, 0.0, 0.0)
    elif abs(uy) <= abs(uz):
        x, y, z = cross(ux, uy, uz, 0.0, 1.0, 0.0)
    else:
        x, y, z = cross(ux, uy, uz, 0.0, 0.0, 1.0)
    length = sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@kernel
def nearest_on_segments(dx, dy, dz, ux, uy, uz, h, vx, vy, vz, g):
    """(s, t) of the nearest points of segment s·u, |s| ≤ h, and segment d + t·v, |t| ≤ g.

    They are the unconstrained minimum, or the best of the four ends against the other segment. This is exact, and no
    branch depends on round-off (Ericson, Real-Time Collision Detection, Sec. 5.1.9, solves the same problem in one
    pass). For parallel segments the result is the middle of the part where they overlap.
    """
    c = ux * vx + uy * vy + uz * vz
    du, dv = dx * ux + dy * uy + dz * uz, dx * vx + dy * vy + dz * vz
    wx, wy, wz = cross(ux, uy, uz, vx, vy, vz)
    sine2 = wx * wx + wy * wy + wz * wz
    if sine2 > PARALLEL:
        s, t = (du - c * dv) / sine2, (c * du - dv) / sine2
        if abs(s) <= h and abs(t) <= g:
            return s, t
    else:  # d + t·v is over s = du + c·t
        low, high = max(-h, du - g), min(h, du + g)
        if low <= high:
            s = 0.5 * (low + high)
            return s, clip(c * s - dv, g)
    best, bs, bt = -1.0, 0.0, 0.0
    for i in range(4):
        if i < 2:
            s = h if i == 1 else -h
            t = clip(c * s - dv, g)
        else:
            t = g if i == 3 else -g
            s = clip(c * t + du, h)
        x, y, z = dx + t * vx - s * ux, dy + t * vy - s * uy, dz + t * vz - s * uz
        distance2 = x * x + y * y + z * z
        if best < 0.0 or distance2 < best:
            best, bs, bt = distance2, s, t
    return bs, bt
