"""Spheres, contact points and capsules on height fields.

A ball of centre x and radius r touches wherever the distance of x from the surface has a local minimum: over a triangle
whose plane has its foot of x within it, over a convex edge, over a peak. So over flat ground there is one contact, that
of a plane, wherever the cells end. If the centre is below the surface there is one contact: with the nearest triangle.

A capsule has the contacts of the balls at its two ends, and those of its axis, between its ends, with peaks and convex
edges. Contacts are named by flat region, edge or peak, so that a ball that rolls over flat ground keeps its contact.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import FEATURE_BITS, WITHIN, emit_apart
from stickslip.collision.convex.height_field import (
    BENT,
    cells_under,
    corner,
    edge_end,
    edge_has,
    has_edge,
    locate,
    peak_has,
    triangle,
    within,
)
from stickslip.collision.convex.segments import PARALLEL
from stickslip.math.spatial import cross, rotate, rotate_transposed

MERGED = 1e-7
"""Distance, as a fraction of the size, below which contacts are merged."""
ROUND = 1e-9
"""Distance beside a triangle, as a fraction of the size, at which a foot still counts as within it; also the sine by
which a direction may be outside the normals of an edge or peak."""
ON_PATCH, ON_EDGE, ON_PEAK, ON_CELL = range(4)
"""What a ball touches, as part of the contact's name."""


@kernel
def numbered(kind, side, number):
    """A feature with one number in place of two."""
    return ((2 * kind + side) << (2 * FEATURE_BITS)) + (number & ((1 << (2 * FEATURE_BITS)) - 1))


@kernel
def ball_name(what, number, end):
    """The feature of a ball, 0 or 1 of a capsule or 2 between its ends, on terrain."""
    return numbered(WITHIN, 0, 16 * number + 4 * what + end)


@kernel
def taken(found, start, name):
    """Whether a contact from ``start`` on has this feature."""
    same = 0
    for c in range(start, min(found.total[0], found.gap.shape[0])):
        same += 1 if found.feature[c] == name else 0
    return same > 0


@kernel(inline=False)
def put(placed, a, b, start, near, name, x, y, z, nx, ny, nz, gap, found):
    """Emit a contact of shape a at the point (x, y, z) of terrain b, whose normal there is n, both in b's axes."""
    P, R = placed.pos, placed.rot
    x, y, z = rotate(R, b, x, y, z)
    nx, ny, nz = rotate(R, b, nx, ny, nz)
    emit_apart(found, start, near, a, b, name, x + P[b, 0], y + P[b, 1], z + P[b, 2], -nx, -ny, -nz, gap)


@kernel
def in_terrain(placed, s, b):
    """The origin of shape s in the axes of terrain b."""
    P = placed.pos
    return rotate_transposed(placed.rot, b, P[s, 0] - P[b, 0], P[s, 1] - P[b, 1], P[s, 2] - P[b, 2])


@kernel
def below_surface(fields, f, x, y, z):
    """(whether a point is below the surface, row, column and triangle above it)."""
    over, r, c, k = locate(fields, f, x, y)
    if not over:
        return False, 0, 0, 0
    nx, ny, nz, px, py, pz = triangle(fields, f, r, c, k)
    return nx * (x - px) + ny * (y - py) + nz * (z - pz) < 0.0, r, c, k


@kernel
def emit_face(fields, placed, f, a, b, r, c, k, start, near, end, x, y, z, nx, ny, nz, gap, found):
    """Emit the contact of a ball with a triangle at the point (x, y, z)."""
    number = fields.start[f] + r * fields.columns[f] + c
    name = ball_name(ON_PATCH, fields.patch[number, k], end)
    if taken(found, start, name):
        name = ball_name(ON_CELL, 2 * number + k, end)
    put(placed, a, b, start, near, name, x, y, z, nx, ny, nz, gap, found)


@kernel(inline=False)
def sunken_ball(fields, placed, f, a, b, x, y, z, radius, r, c, k, start, end, found):
    """Emit the contact of a ball whose centre is below triangle k of cell (r, c): with the nearest triangle above."""
    if z < -fields.frame[f, 4]:
        return
    nx, ny, nz, px, py, pz = triangle(fields, f, r, c, k)
    best = nx * (x - px) + ny * (y - py) + nz * (z - pz)
    r0, r1, c0, c1 = cells_under(fields, f, x + best, x - best, y + best, y - best)
    for i in range(r0, r1 + 1):
        for j in range(c0, c1 + 1):
            for m in range(2):
                ux, uy, uz, px, py, pz = triangle(fields, f, i, j, m)
                h = ux * (x - px) + uy * (y - py) + uz * (z - pz)
                if best < h <= 0.0 and within(fields, f, i, j, m, x - h * ux, y - h * uy, 0.0):
                    best, r, c, k, nx, ny, nz = h, i, j, m, ux, uy, uz
    x, y, z = x - best * nx, y - best * ny, z - best * nz
    emit_face(fields, placed, f, a, b, r, c, k, start, 0.0, end, x, y, z, nx, ny, nz, best - radius, found)


@kernel
def over_edge(fields, f, r, c, e, x, y, z):
    """(whether the foot of a point lies within edge e of vertex (r, c), the foot)."""
    i, j = edge_end(e)
    px, py, pz = corner(fields, f, r, c)
    qx, qy, qz = corner(fields, f, r + i, c + j)
    ux, uy, uz = qx - px, qy - py, qz - pz
    t = ((x - px) * ux + (y - py) * uy + (z - pz) * uz) / (ux * ux + uy * uy + uz * uz)
    return 0.0 < t < 1.0, px + t * ux, py + t * uy, pz + t * uz


@kernel(inline=False)
def ball_on_terrain(fields, placed, f, a, b, x, y, z, radius, start, end, margin, found):
    """Emit the contacts of shape a's ball at (x, y, z) [terrain's axes] with terrain b; ``end`` is part of the name."""
    low, r, c, k = below_surface(fields, f, x, y, z)
    if low:
        sunken_ball(fields, placed, f, a, b, x, y, z, radius, r, c, k, start, end, found)
        return
    reach = radius + margin
    r0, r1, c0, c1 = cells_under(fields, f, x - reach, x + reach, y - reach, y + reach)
    size = reach + fields.frame[f, 2] + fields.frame[f, 3]
    near, slack = MERGED * size, ROUND * size
    for r in range(r0, r1 + 1):
        for c in range(c0, c1 + 1):
            for k in range(2):
                nx, ny, nz, px, py, pz = triangle(fields, f, r, c, k)
                h = nx * (x - px) + ny * (y - py) + nz * (z - pz)
                if not -slack <= h < reach:
                    continue
                qx, qy, qz = x - h * nx, y - h * ny, z - h * nz
                if within(fields, f, r, c, k, qx, qy, slack + 2.0 * BENT * max(h, 0.0)):
                    emit_face(
                        fields, placed, f, a, b, r, c, k, start, near, end, qx, qy, qz, nx, ny, nz, h - radius, found
                    )
    if r1 < r0 or c1 < c0:
        return
    for r in range(r0, r1 + 2):
        for c in range(c0, c1 + 2):
            number = fields.start[f] + r * fields.columns[f] + c
            for what in range(4):
                if what < 3:
                    if not has_edge(fields, f, r, c, what):
                        continue
                    over, qx, qy, qz = over_edge(fields, f, r, c, what, x, y, z)
                else:
                    over = fields.peak[number] != 0
                    qx, qy, qz = corner(fields, f, r, c)
                dx, dy, dz = x - qx, y - qy, z - qz
                d = sqrt(dx * dx + dy * dy + dz * dz)
                if not over or d >= reach or d <= slack:
                    continue
                dx, dy, dz = dx / d, dy / d, dz / d
                if what < 3:
                    own = edge_has(fields, f, r, c, what, qx, qy, qz, dx, dy, dz, ROUND)
                    name = ball_name(ON_EDGE, 3 * number + what, end)
                else:
                    own = peak_has(fields, f, r, c, dx, dy, dz, ROUND)
                    name = ball_name(ON_PEAK, number, end)
                if own:
                    put(placed, a, b, start, near, name, qx, qy, qz, dx, dy, dz, d - radius, found)


@kernel
def sphere_terrain(geometry, placed, work, pairs, margin, found):
    """Contacts of spheres and contact points with height fields."""
    fields = geometry.fields
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        x, y, z = in_terrain(placed, a, b)
        radius = geometry.shapes.size[a, 0]
        ball_on_terrain(fields, placed, fields.which[b], a, b, x, y, z, radius, found.total[0], 0, margin, found)


@kernel
def axis_and_edge(fields, f, r, c, e, x, y, z, ux, uy, uz, h):
    """(whether they cross within both, point of the edge, vector from there to the axis) of edge e and a segment."""
    i, j = edge_end(e)
    px, py, pz = corner(fields, f, r, c)
    qx, qy, qz = corner(fields, f, r + i, c + j)
    vx, vy, vz = qx - px, qy - py, qz - pz
    length = sqrt(vx * vx + vy * vy + vz * vz)
    vx, vy, vz = vx / length, vy / length, vz / length
    wx, wy, wz = cross(ux, uy, uz, vx, vy, vz)
    sine2 = wx * wx + wy * wy + wz * wz
    if sine2 <= PARALLEL:
        return False, px, py, pz, 0.0, 0.0, 1.0
    dx, dy, dz = px - x, py - y, pz - z
    cosine = ux * vx + uy * vy + uz * vz
    du, dv = dx * ux + dy * uy + dz * uz, dx * vx + dy * vy + dz * vz
    s, t = (du - cosine * dv) / sine2, (cosine * du - dv) / sine2
    px, py, pz = px + t * vx, py + t * vy, pz + t * vz
    inside = abs(s) < h and 0.0 < t < length
    return inside, px, py, pz, x + s * ux - px, y + s * uy - py, z + s * uz - pz


@kernel(inline=False)
def axis_on_terrain(fields, placed, f, a, b, x, y, z, ux, uy, uz, radius, h, start, margin, found):
    """Emit the contacts of a capsule's axis, between its ends, with peaks and convex edges."""
    reach = radius + margin
    ex, ey = reach + h * abs(ux), reach + h * abs(uy)
    r0, r1, c0, c1 = cells_under(fields, f, x - ex, x + ex, y - ey, y + ey)
    if r1 < r0 or c1 < c0:
        return
    size = reach + h
    for r in range(r0, r1 + 2):
        for c in range(c0, c1 + 2):
            number = fields.start[f] + r * fields.columns[f] + c
            for what in range(4):
                if what < 3:
                    if not has_edge(fields, f, r, c, what):
                        continue
                    over, qx, qy, qz, dx, dy, dz = axis_and_edge(fields, f, r, c, what, x, y, z, ux, uy, uz, h)
                else:
                    qx, qy, qz = corner(fields, f, r, c)
                    s = (qx - x) * ux + (qy - y) * uy + (qz - z) * uz
                    over = fields.peak[number] != 0 and abs(s) < h
                    dx, dy, dz = x + s * ux - qx, y + s * uy - qy, z + s * uz - qz
                d = sqrt(dx * dx + dy * dy + dz * dz)
                if not over or d >= reach or d <= ROUND * size:
                    continue
                if dz < 0.0:  # the ground pierces the axis
                    d = -d
                dx, dy, dz = dx / d, dy / d, dz / d
                if what < 3:
                    own = edge_has(fields, f, r, c, what, qx, qy, qz, dx, dy, dz, ROUND)
                    name = ball_name(ON_EDGE, 3 * number + what, 2)
                else:
                    own = peak_has(fields, f, r, c, dx, dy, dz, ROUND)
                    name = ball_name(ON_PEAK, number, 2)
                if own:
                    put(placed, a, b, start, MERGED * size, name, qx, qy, qz, dx, dy, dz, d - radius, found)


@kernel
def capsule_terrain(geometry, placed, work, pairs, margin, found):
    """Contacts of capsules with height fields."""
    fields, R = geometry.fields, placed.rot
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        x, y, z = in_terrain(placed, a, b)
        ux, uy, uz = rotate_transposed(R, b, R[a, 0, 2], R[a, 1, 2], R[a, 2, 2])
        radius, h, start, f = geometry.shapes.size[a, 0], geometry.shapes.size[a, 1], found.total[0], fields.which[b]
        for end in range(2):
            s = h if end == 1 else -h
            ball_on_terrain(
                fields, placed, f, a, b, x + s * ux, y + s * uy, z + s * uz, radius, start, end, margin, found
            )
        axis_on_terrain(fields, placed, f, a, b, x, y, z, ux, uy, uz, radius, h, start, margin, found)
