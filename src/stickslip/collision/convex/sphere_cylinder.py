"""Sphere against cylinder: one contact.

With (ρ, z) the centre's distance from the axis and its height along it: outside, the nearest point of the cylinder is
(min(ρ, R), clip(z, −h, h)); inside, the nearest surface is the side if R − ρ < h − |z|, else a cap. On the axis the
side's normal is the cylinder's x axis.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import WITHIN, emit, feature
from stickslip.math.spatial import rotate, rotate_transposed


@kernel
def point_cylinder(x, y, z, r, h):
    """(distance, outward normal, nearest point) of a cylinder from a point, all in its axes; inside, distance < 0."""
    rho = sqrt(x * x + y * y)
    ex, ey = (x / rho, y / rho) if rho > 1e-150 else (1.0, 0.0)
    out, up = rho - r, abs(z) - h
    sz = 1.0 if z >= 0.0 else -1.0
    if out <= 0.0 and up <= 0.0:
        if out > up:
            return out, ex, ey, 0.0, r * ex, r * ey, z
        return up, 0.0, 0.0, sz, x, y, sz * h
    out, up = max(out, 0.0), max(up, 0.0)
    distance = sqrt(out * out + up * up)
    near = min(rho, r)
    return distance, ex * out / distance, ey * out / distance, sz * up / distance, near * ex, near * ey, z - sz * up


@kernel
def sphere_cylinder(geometry, placed, work, pairs, margin, found):
    P, R, size = placed.pos, placed.rot, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        x, y, z = rotate_transposed(R, b, P[a, 0] - P[b, 0], P[a, 1] - P[b, 1], P[a, 2] - P[b, 2])
        distance, ox, oy, oz, qx, qy, qz = point_cylinder(x, y, z, size[b, 0], size[b, 1])
        gap = distance - size[a, 0]
        if gap < margin:
            qx, qy, qz = rotate(R, b, qx, qy, qz)
            ox, oy, oz = rotate(R, b, ox, oy, oz)
            name = feature(WITHIN, 0, 0, 0)
            emit(found, a, b, name, P[b, 0] + qx, P[b, 1] + qy, P[b, 2] + qz, -ox, -oy, -oz, gap)
