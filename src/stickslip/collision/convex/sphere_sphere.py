"""Sphere against sphere: n = (c₂ − c₁)/|c₂ − c₁|, gap = |c₂ − c₁| − r₁ − r₂; z where the centres coincide."""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import WITHIN, emit, feature


@kernel
def ball_ball(found, a, b, name, x1, y1, z1, r1, x2, y2, z2, r2, margin, ux, uy, uz):
    """A contact between two balls; (ux, uy, uz) is the normal where their centres coincide."""
    nx, ny, nz = x2 - x1, y2 - y1, z2 - z1
    distance = sqrt(nx * nx + ny * ny + nz * nz)
    gap = distance - r1 - r2
    if not gap < margin:
        return
    if distance > 1e-150:  # below, squares have lost their digits
        nx, ny, nz = nx / distance, ny / distance, nz / distance
    else:
        nx, ny, nz = ux, uy, uz
    emit(found, a, b, name, x2 - r2 * nx, y2 - r2 * ny, z2 - r2 * nz, nx, ny, nz, gap)


@kernel
def sphere_sphere(geometry, placed, work, pairs, margin, found):
    P, size = placed.pos, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        ball_ball(
            found, a, b, feature(WITHIN, 0, 0, 0), P[a, 0], P[a, 1], P[a, 2], size[a, 0],
            P[b, 0], P[b, 1], P[b, 2], size[b, 0], margin, 0.0, 0.0, 1.0,
        )  # fmt: skip
