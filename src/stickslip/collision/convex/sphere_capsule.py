"""Sphere against capsule: the ball of the capsule that is nearest to the sphere; across the axis where centres meet."""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import WITHIN, feature
from stickslip.collision.convex.segments import along_segment
from stickslip.collision.convex.sphere_sphere import ball_ball


@kernel
def sphere_capsule(geometry, placed, work, pairs, margin, found):
    P, R, size = placed.pos, placed.rot, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        ux, uy, uz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        x, y, z = P[a, 0], P[a, 1], P[a, 2]
        t = along_segment(x, y, z, P[b, 0], P[b, 1], P[b, 2], ux, uy, uz, size[b, 1])
        ball_ball(
            found, a, b, feature(WITHIN, 0, 0, 0), x, y, z, size[a, 0],
            P[b, 0] + t * ux, P[b, 1] + t * uy, P[b, 2] + t * uz, size[b, 0],
            margin, R[b, 0, 0], R[b, 1, 0], R[b, 2, 0],
        )  # fmt: skip
