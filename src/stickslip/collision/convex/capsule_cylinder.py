"""Capsule against cylinder.

If the capsule's segment is outside the cylinder, contacts are those of balls on the segment (closed form): the nearest
ball, found by bisection because the distance is convex along the segment, and the balls at both ends of the part that
is nearly parallel to a cap or to the side. If the segment pierces the cylinder, the contact is that of the best
separating axis: the cap, the side across both axes, the side at an end of the segment, or a rim against the segment.
"""

from __future__ import annotations

from math import cos, inf, pi, sin, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import CORNER, WITHIN, emit_apart, feature, keep_near
from stickslip.collision.convex.rim import best_on_arc
from stickslip.collision.convex.segments import across
from stickslip.collision.convex.spheres import point_cylinder
from stickslip.math.spatial import cross, rotate, rotate_transposed

ALONG = 0.1
"""Sine of the angle between segment and cap, or segment and side, below which both ends are contacts."""
FLAT = 1e-9
MERGED = 1e-6
"""Distance, as a fraction of the size, below which two contacts are merged."""
PIERCED = 1e-10
"""Distance, as a fraction of the size, below which a segment counts as piercing."""


@kernel
def nearest_of_segment(mx, my, mz, ux, uy, uz, g, r, h):
    """(distance, t) of the point m + t·u, |t| ≤ g, that is nearest to the cylinder, in its axes; ≤ 0 if it pierces."""
    low, high = -g, g
    for _ in range(64):
        t = 0.5 * (low + high)
        d, nx, ny, nz, _, _, _ = point_cylinder(mx + t * ux, my + t * uy, mz + t * uz, r, h)
        if d <= 0.0:
            return d, t
        if nx * ux + ny * uy + nz * uz > 0.0:
            high = t
        else:
            low = t
        if high - low <= 1e-17 * g:
            break
    best, bt = inf, 0.0
    for i in range(3):
        t = -g if i == 0 else (g if i == 1 else 0.5 * (low + high))
        d, _, _, _, _, _, _ = point_cylinder(mx + t * ux, my + t * uy, mz + t * uz, r, h)
        if d < best:
            best, bt = d, t
    return best, bt


@kernel
def better(best, nx, ny, nz, gap, x, y, z):
    if gap > best:
        return gap, x, y, z
    return best, nx, ny, nz


@kernel
def pierced(mx, my, mz, ux, uy, uz, g, r, h):
    """(gap ≤ 0, axis out of the cylinder) of the deepest separating axis, in the cylinder's axes."""
    best, nx, ny, nz = -inf, 0.0, 0.0, 1.0
    for i in range(2):
        s = 1.0 if i == 0 else -1.0
        best, nx, ny, nz = better(best, nx, ny, nz, s * mz - g * abs(uz) - h, 0.0, 0.0, s)
        x, y = mx + s * g * ux, my + s * g * uy
        rho = sqrt(x * x + y * y)
        if rho > FLAT * r:
            gap = (mx * x + my * y) / rho - g * abs(ux * x + uy * y) / rho - r
            best, nx, ny, nz = better(best, nx, ny, nz, gap, x / rho, y / rho, 0.0)
    level = sqrt(ux * ux + uy * uy)
    if level > FLAT:
        x, y = -uy / level, ux / level
        if mx * x + my * y < 0.0:
            x, y = -x, -y
        best, nx, ny, nz = better(best, nx, ny, nz, mx * x + my * y - r, x, y, 0.0)
    elif mx * mx + my * my <= (FLAT * r) ** 2:  # on the axis all directions are equal
        best, nx, ny, nz = better(best, nx, ny, nz, -r, 1.0, 0.0, 0.0)
    px, py, pz = across(ux, uy, uz)
    qx, qy, qz = cross(ux, uy, uz, px, py, pz)
    A, B = px * mx + py * my + pz * mz, qx * mx + qy * my + qz * mz
    gap, phi = best_on_arc(r, h, A, B, pz, qz, 2.0 * pi)
    c, s = cos(phi), sin(phi)
    return better(best, nx, ny, nz, gap, c * px + s * qx, c * py + s * qy, c * pz + s * qz)


@kernel
def stretch(mx, my, mz, ux, uy, uz, g, r, h, nz):
    """The part low ≤ t ≤ high of the segment over the cap (|nz| near 1) or along the side (|nz| near 0)."""
    level2 = ux * ux + uy * uy
    if abs(nz) > 1.0 - ALONG * ALONG and abs(uz) < ALONG:
        b, c = (mx * ux + my * uy) / level2, (mx * mx + my * my - r * r) / level2
        root = b * b - c
        if root > 0.0:
            return max(-g, -b - sqrt(root)), min(g, -b + sqrt(root))
    elif abs(nz) < ALONG and level2 < ALONG * ALONG:
        t1, t2 = (-h - mz) / uz, (h - mz) / uz
        return max(-g, min(t1, t2)), min(g, max(t1, t2))
    return 1.0, -1.0


@kernel
def emit_ball(geometry, placed, a, b, start, name, t, mx, my, mz, ux, uy, uz, margin, found):
    """Emit the contact of the ball at t of capsule a with cylinder b."""
    size = geometry.shapes.size
    d, ox, oy, oz, qx, qy, qz = point_cylinder(mx + t * ux, my + t * uy, mz + t * uz, size[b, 0], size[b, 1])
    emit_on_cylinder(geometry, placed, a, b, start, name, d - size[a, 0], ox, oy, oz, qx, qy, qz, margin, found)


@kernel
def emit_on_cylinder(geometry, placed, a, b, start, name, gap, ox, oy, oz, qx, qy, qz, margin, found):
    """Emit a contact at the point q of cylinder b with the outward normal o, both in its axes."""
    if gap < margin:
        P, R, near = placed.pos, placed.rot, MERGED * (geometry.shapes.radius[a] + geometry.shapes.radius[b])
        qx, qy, qz = rotate(R, b, qx, qy, qz)
        ox, oy, oz = rotate(R, b, ox, oy, oz)
        emit_apart(found, start, near, a, b, name, P[b, 0] + qx, P[b, 1] + qy, P[b, 2] + qz, -ox, -oy, -oz, gap)


@kernel
def capsule_cylinder(geometry, placed, work, pairs, margin, found):
    P, R, S = placed.pos, placed.rot, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        size, start = geometry.shapes.radius[a] + geometry.shapes.radius[b], found.total[0]
        r, h, g = S[b, 0], S[b, 1], S[a, 1]
        mx, my, mz = rotate_transposed(R, b, P[a, 0] - P[b, 0], P[a, 1] - P[b, 1], P[a, 2] - P[b, 2])
        ux, uy, uz = rotate_transposed(R, b, R[a, 0, 2], R[a, 1, 2], R[a, 2, 2])
        d, t = nearest_of_segment(mx, my, mz, ux, uy, uz, g, r, h)
        if not d - S[a, 0] < margin:
            continue
        name = feature(WITHIN, 0, 0, 0)
        if d <= PIERCED * size:
            gap, nx, ny, nz = pierced(mx, my, mz, ux, uy, uz, g, r, h)
            rate = nx * ux + ny * uy + nz * uz
            if abs(rate) > FLAT:
                t = -g if rate > 0.0 else g
            x, y, z = mx + t * ux - gap * nx, my + t * uy - gap * ny, mz + t * uz - gap * nz
            emit_on_cylinder(geometry, placed, a, b, start, name, gap - S[a, 0], nx, ny, nz, x, y, z, margin, found)
            continue
        _, nx, ny, nz, _, _, _ = point_cylinder(mx + t * ux, my + t * uy, mz + t * uz, r, h)
        low, high = stretch(mx, my, mz, ux, uy, uz, g, r, h, nz)
        two = high - low > MERGED * size
        parallel = (abs(nz) > 0.5 and abs(uz) <= FLAT) or (abs(nz) < 0.5 and ux * ux + uy * uy <= FLAT * FLAT)
        if not (two and parallel):
            emit_ball(geometry, placed, a, b, start, name, t, mx, my, mz, ux, uy, uz, inf, found)
        if two:
            for i in range(2):
                t, name = high if i else low, feature(CORNER, 0, i, 0)
                emit_ball(geometry, placed, a, b, start, name, t, mx, my, mz, ux, uy, uz, inf, found)
        keep_near(found, start, margin, 0.0)
