"""Capsule against capsule: contacts of balls on their axes.

There is one contact, between the nearest balls. Capsules that are parallel up to a sine of ``NEARLY`` have contacts at
both ends of the part where they lie side by side. If the axes meet, the normal is perpendicular to both.
"""

from __future__ import annotations

from math import inf, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import CORNER, WITHIN, feature, keep_near
from stickslip.collision.convex.segments import across, clip, nearest_on_segments
from stickslip.collision.convex.spheres import ball_ball
from stickslip.math.spatial import cross

NEARLY = 1e-2
"""Sine of the angle between axes below which there are two contacts."""


@kernel
def balls(geometry, placed, a, b, name, s, t, margin, cx, cy, cz, found):
    """Emit the contact of the ball at s on capsule a with the ball at t on capsule b."""
    P, R, size = placed.pos, placed.rot, geometry.shapes.size
    ball_ball(
        found, a, b, name,
        P[a, 0] + s * R[a, 0, 2], P[a, 1] + s * R[a, 1, 2], P[a, 2] + s * R[a, 2, 2], size[a, 0],
        P[b, 0] + t * R[b, 0, 2], P[b, 1] + t * R[b, 1, 2], P[b, 2] + t * R[b, 2, 2], size[b, 0], margin, cx, cy, cz,
    )  # fmt: skip


@kernel
def capsule_capsule(geometry, placed, work, pairs, margin, found):
    P, R, size = placed.pos, placed.rot, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        ux, uy, uz, vx, vy, vz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2], R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        dx, dy, dz = P[b, 0] - P[a, 0], P[b, 1] - P[a, 1], P[b, 2] - P[a, 2]
        h, g = size[a, 1], size[b, 1]
        cx, cy, cz = cross(ux, uy, uz, vx, vy, vz)
        sine = sqrt(cx * cx + cy * cy + cz * cz)
        s0, t0 = nearest_on_segments(dx, dy, dz, ux, uy, uz, h, vx, vy, vz, g)
        ex, ey, ez = (cx / sine, cy / sine, cz / sine) if sine > 1e-6 else across(ux, uy, uz)
        du, dv, c = dx * ux + dy * uy + dz * uz, dx * vx + dy * vy + dz * vz, ux * vx + uy * vy + uz * vz
        low, high = max(-h, du - abs(c) * g), min(h, du + abs(c) * g)
        if sine >= NEARLY or high - low <= 1e-9 * (h + g):
            balls(geometry, placed, a, b, feature(WITHIN, 0, 0, 0), s0, t0, margin, ex, ey, ez, found)
            continue
        start = found.total[0]
        low, high = min(low, s0), max(high, s0)  # not quite parallel: the nearest point may lie a little beyond
        near = 1e-6 * (high - low)
        if sine > 1e-6 and s0 - low > near and high - s0 > near:
            balls(geometry, placed, a, b, feature(WITHIN, 0, 0, 0), s0, t0, inf, ex, ey, ez, found)
        balls(geometry, placed, a, b, feature(CORNER, 0, 0, 0), low, clip(c * low - dv, g), inf, ex, ey, ez, found)
        balls(geometry, placed, a, b, feature(CORNER, 0, 1, 0), high, clip(c * high - dv, g), inf, ex, ey, ez, found)
        keep_near(found, start, margin, 0.0)
