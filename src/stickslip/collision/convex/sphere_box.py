"""Sphere against box: one contact.

With x the centre in box axes, h the half edges and q = clip(x, −h, h): outside, n is along q − x and gap = |q − x| − r;
inside, n is minus the outward axis of the face of least depth and gap = −depth − r. The contact point is q, on the box;
inside, it is the point of that face.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import WITHIN, emit, feature
from stickslip.collision.soft_pairs.box import nearest_face
from stickslip.math.spatial import rotate, rotate_transposed


@kernel
def sphere_box(geometry, placed, work, pairs, margin, found):
    P, R, size = placed.pos, placed.rot, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        x, y, z = rotate_transposed(R, b, P[a, 0] - P[b, 0], P[a, 1] - P[b, 1], P[a, 2] - P[b, 2])
        hx, hy, hz = size[b, 0], size[b, 1], size[b, 2]
        qx, qy, qz = min(max(x, -hx), hx), min(max(y, -hy), hy), min(max(z, -hz), hz)
        dx, dy, dz = x - qx, y - qy, z - qz
        distance = sqrt(dx * dx + dy * dy + dz * dz)
        if distance > 1e-150:  # below, squares have lost their digits
            ox, oy, oz = dx / distance, dy / distance, dz / distance
        else:
            ox, oy, oz, distance = nearest_face(x, y, z, hx, hy, hz)
            qx, qy, qz = x - distance * ox, y - distance * oy, z - distance * oz
        gap = distance - size[a, 0]
        if gap < margin:
            qx, qy, qz = rotate(R, b, qx, qy, qz)
            ox, oy, oz = rotate(R, b, ox, oy, oz)
            name = feature(WITHIN, 0, 0, 0)
            emit(found, a, b, name, P[b, 0] + qx, P[b, 1] + qy, P[b, 2] + qz, -ox, -oy, -oz, gap)
