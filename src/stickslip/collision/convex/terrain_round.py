"""Cylinders and ellipsoids on height fields.

With s(n) the lowest point of the shape along n:

* a triangle of normal n touches at s(n), if that is over the triangle. A cylinder has the rim points that it has on a
  plane: the lowest one of each rim, and four of the cap towards the ground;
* a convex edge touches along the normal between those of its two triangles at which s(n)·n is largest over the edge.
  This is a root of n′·(s(n) − p), found by bisection. Where s jumps, as from rim to rim of a lying cylinder, the point
  between both is taken. A cap that lies on an edge has contacts at both ends of the part they share;
* a peak touches at its nearest point of the shape.

An ellipsoid whose centre is below the surface has one contact, with the triangle above it.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.ellipsoids import point_ellipsoid
from stickslip.collision.convex.geometry import CORNER, ELLIPSOID, WITHIN
from stickslip.collision.convex.height_field import (
    BENT,
    cells_under,
    corner,
    edge_end,
    edge_has,
    has_edge,
    locate,
    opposite,
    peak_has,
    triangle,
    within,
)
from stickslip.collision.convex.planes import UPRIGHT
from stickslip.collision.convex.spheres import point_cylinder
from stickslip.collision.convex.terrain_balls import (
    MERGED,
    ON_EDGE,
    ON_PEAK,
    ROUND,
    ball_name,
    below_surface,
    emit_face,
    in_terrain,
    numbered,
    put,
    taken,
)
from stickslip.collision.convex.terrain_polyhedron import SAME, thin_out
from stickslip.math.spatial import cross, rotate_transposed

BISECTIONS = 48


@kernel
def shape_in_terrain(placed, s, b, T):
    """Write the pose of shape s in the axes of terrain b: its axes as columns of the first three rows, its origin."""
    R = placed.rot
    for k in range(3):
        T[0, k], T[1, k], T[2, k] = rotate_transposed(R, b, R[s, 0, k], R[s, 1, k], R[s, 2, k])
    T[3, 0], T[3, 1], T[3, 2] = in_terrain(placed, s, b)


@kernel(inline=False)
def lowest_point(kind, size, s, T, nx, ny, nz):
    """The point of a cylinder or ellipsoid that is lowest along n [terrain's axes]."""
    u = T[0, 0] * nx + T[1, 0] * ny + T[2, 0] * nz
    v = T[0, 1] * nx + T[1, 1] * ny + T[2, 1] * nz
    w = T[0, 2] * nx + T[1, 2] * ny + T[2, 2] * nz
    if kind == ELLIPSOID:
        a, b, c = size[s, 0] * size[s, 0] * u, size[s, 1] * size[s, 1] * v, size[s, 2] * size[s, 2] * w
        h = -1.0 / sqrt(a * u + b * v + c * w)
        u, v, w = a * h, b * h, c * h
    else:
        rho = sqrt(u * u + v * v)
        scale = -size[s, 0] / rho if rho > 0.0 else 0.0
        u, v, w = scale * u, scale * v, (-size[s, 1] if w > 0.0 else size[s, 1])
    return (
        T[3, 0] + T[0, 0] * u + T[0, 1] * v + T[0, 2] * w,
        T[3, 1] + T[1, 0] * u + T[1, 1] * v + T[1, 2] * w,
        T[3, 2] + T[2, 0] * u + T[2, 1] * v + T[2, 2] * w,
    )


@kernel
def side_normal(fields, f, r, c, way, side, ux, uy, uz):
    """The normal of the triangle beside an edge with the unit vector u; at the border the normal of the border."""
    i, j = opposite(way, side)
    if r + i < 0 or c + j < 0 or r + i >= fields.rows[f] or c + j >= fields.columns[f]:
        length = sqrt(ux * ux + uy * uy)
        s = 1.0 / length if side == 0 else -1.0 / length
        return -uy * s, ux * s, 0.0
    m, n = edge_end(way)
    x0, y0, z0 = corner(fields, f, r, c)
    x1, y1, z1 = corner(fields, f, r + m, c + n)
    x2, y2, z2 = corner(fields, f, r + i, c + j)
    x, y, z = cross(x1 - x0, y1 - y0, z1 - z0, x2 - x0, y2 - y0, z2 - z0)
    length = sqrt(x * x + y * y + z * z)
    if z < 0.0:
        length = -length
    return x / length, y / length, z / length


@kernel
def lean(kind, size, s, T, t, ax, ay, az, bx, by, bz, px, py, pz):
    """(slope, normal, lowest point) at the normal between a (t = 0) and b (t = 1): how the gap grows with t."""
    nx, ny, nz = ax + t * (bx - ax), ay + t * (by - ay), az + t * (bz - az)
    length = sqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = nx / length, ny / length, nz / length
    x, y, z = lowest_point(kind, size, s, T, nx, ny, nz)
    dx, dy, dz = bx - ax, by - ay, bz - az
    along = nx * dx + ny * dy + nz * dz
    dx, dy, dz = dx - along * nx, dy - along * ny, dz - along * nz
    return dx * (x - px) + dy * (y - py) + dz * (z - pz), nx, ny, nz, x, y, z


@kernel(inline=False)
def round_on_edge(geometry, placed, f, a, b, T, r, c, way, start, near, margin, found):
    """Emit the contact of a cylinder or ellipsoid with a convex edge."""
    fields, size, kind = geometry.fields, geometry.shapes.size, geometry.shapes.kind[a]
    i, j = edge_end(way)
    px, py, pz = corner(fields, f, r, c)
    ux, uy, uz = corner(fields, f, r + i, c + j)
    ux, uy, uz = ux - px, uy - py, uz - pz
    length = sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / length, uy / length, uz / length
    dx, dy, dz = T[3, 0] - px, T[3, 1] - py, T[3, 2] - pz
    t = min(max(dx * ux + dy * uy + dz * uz, 0.0), length)
    dx, dy, dz = dx - t * ux, dy - t * uy, dz - t * uz
    reach = geometry.shapes.radius[a] + margin
    if dx * dx + dy * dy + dz * dz > reach * reach:
        return
    if kind != ELLIPSOID and cap_on_edge(
        geometry, placed, f, a, b, T, r, c, way, px, py, pz, ux, uy, uz, length, start, near, margin, found
    ):
        return
    ax, ay, az = side_normal(fields, f, r, c, way, 0, ux, uy, uz)
    bx, by, bz = side_normal(fields, f, r, c, way, 1, ux, uy, uz)
    low, high = 0.0, 1.0
    g0, nx, ny, nz, x0, y0, z0 = lean(kind, size, a, T, low, ax, ay, az, bx, by, bz, px, py, pz)
    g1, _, _, _, x1, y1, z1 = lean(kind, size, a, T, high, ax, ay, az, bx, by, bz, px, py, pz)
    if not (g0 > 0.0 and g1 < 0.0):
        return
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        g, mx, my, mz, x, y, z = lean(kind, size, a, T, middle, ax, ay, az, bx, by, bz, px, py, pz)
        if g > 0.0:
            low, g0, x0, y0, z0, nx, ny, nz = middle, g, x, y, z, mx, my, mz
        else:
            high, g1, x1, y1, z1 = middle, g, x, y, z
    s = g0 / (g0 - g1)
    x, y, z = x0 + s * (x1 - x0) - px, y0 + s * (y1 - y0) - py, z0 + s * (z1 - z0) - pz
    gap, t = nx * x + ny * y + nz * z, ux * x + uy * y + uz * z
    if gap < margin and 0.0 <= t <= length:
        name = ball_name(ON_EDGE, 3 * (fields.start[f] + r * fields.columns[f] + c) + way, 0)
        put(placed, a, b, start, near, name, px + t * ux, py + t * uy, pz + t * uz, nx, ny, nz, gap, found)


@kernel(inline=False)
def cap_on_edge(geometry, placed, f, a, b, T, r, c, way, px, py, pz, ux, uy, uz, length, start, near, margin, found):
    """Emit the contacts of a cylinder's lower cap with a convex edge along it; returns whether it lies along it."""
    fields, radius, h = geometry.fields, geometry.shapes.size[a, 0], geometry.shapes.size[a, 1]
    nx, ny, nz = T[0, 2], T[1, 2], T[2, 2]
    if nz < 0.0:
        nx, ny, nz = -nx, -ny, -nz
    along = nx * ux + ny * uy + nz * uz
    if abs(along) > SAME or not edge_has(fields, f, r, c, way, px, py, pz, nx, ny, nz, SAME):
        return False
    x, y, z = T[3, 0] - h * nx - px, T[3, 1] - h * ny - py, T[3, 2] - h * nz - pz  # the cap's centre
    middle, gap = x * ux + y * uy + z * uz, nx * x + ny * y + nz * z
    x, y, z = x - middle * ux - gap * nx, y - middle * uy - gap * ny, z - middle * uz - gap * nz
    square = radius * radius - x * x - y * y - z * z
    if square < 0.0:
        return True
    half = sqrt(square)
    low, high = max(0.0, middle - half), min(length, middle + half)
    number = fields.start[f] + r * fields.columns[f] + c
    for k in range(2):
        t = high if k else low
        d = gap - along * (t - middle)
        if low <= high and d < margin:
            name = ball_name(ON_EDGE, 3 * number + way, 1 + k)
            put(placed, a, b, start, near, name, px + t * ux, py + t * uy, pz + t * uz, nx, ny, nz, d, found)
    return True


@kernel(inline=False)
def round_on_peak(geometry, placed, f, a, b, T, r, c, start, near, margin, found):
    """Emit the contact of a cylinder or ellipsoid with a peak: at the nearest point of its surface."""
    size, fields = geometry.shapes.size, geometry.fields
    x, y, z = corner(fields, f, r, c)
    dx, dy, dz = x - T[3, 0], y - T[3, 1], z - T[3, 2]
    u = T[0, 0] * dx + T[1, 0] * dy + T[2, 0] * dz
    v = T[0, 1] * dx + T[1, 1] * dy + T[2, 1] * dz
    w = T[0, 2] * dx + T[1, 2] * dy + T[2, 2] * dz
    reach = geometry.shapes.radius[a] + margin
    if u * u + v * v + w * w > reach * reach:
        return
    if geometry.shapes.kind[a] == ELLIPSOID:
        gap, u, v, w = point_ellipsoid(size[a, 0], size[a, 1], size[a, 2], u, v, w)
    else:
        gap, u, v, w, _, _, _ = point_cylinder(u, v, w, size[a, 0], size[a, 1])
    if not gap < margin:
        return
    nx = -(T[0, 0] * u + T[0, 1] * v + T[0, 2] * w)
    ny = -(T[1, 0] * u + T[1, 1] * v + T[1, 2] * w)
    nz = -(T[2, 0] * u + T[2, 1] * v + T[2, 2] * w)
    if peak_has(fields, f, r, c, nx, ny, nz, SAME if geometry.shapes.kind[a] != ELLIPSOID else ROUND):
        name = ball_name(ON_PEAK, fields.start[f] + r * fields.columns[f] + c, 0)
        put(placed, a, b, start, near, name, x, y, z, nx, ny, nz, gap, found)


@kernel(inline=False)
def rim_points(geometry, placed, f, a, b, T, start, near, margin, found):
    """Emit four points of the cylinder's cap towards the ground, fixed to it."""
    fields, radius, h = geometry.fields, geometry.shapes.size[a, 0], geometry.shapes.size[a, 1]
    for i in range(8):
        u = radius if i % 4 == 0 else (-radius if i % 4 == 2 else 0.0)
        v = radius if i % 4 == 1 else (-radius if i % 4 == 3 else 0.0)
        w = h if i >= 4 else -h
        x = T[3, 0] + T[0, 0] * u + T[0, 1] * v + T[0, 2] * w
        y = T[3, 1] + T[1, 0] * u + T[1, 1] * v + T[1, 2] * w
        z = T[3, 2] + T[2, 0] * u + T[2, 1] * v + T[2, 2] * w
        over, r, c, k = locate(fields, f, x, y)
        if not over:
            continue
        nx, ny, nz, px, py, pz = triangle(fields, f, r, c, k)
        along = nx * T[0, 2] + ny * T[1, 2] + nz * T[2, 2]
        gap = nx * (x - px) + ny * (y - py) + nz * (z - pz)
        if (along >= 0.0) == (i < 4) and 2.0 * along * along >= 1.0 and gap < margin:
            name = numbered(CORNER, 1, i)
            put(placed, a, b, start, near, name, x - gap * nx, y - gap * ny, z - gap * nz, nx, ny, nz, gap, found)


@kernel(inline=False)
def cylinder_on_triangle(geometry, placed, f, a, b, T, r, c, k, start, near, margin, found):
    """Emit the lowest point of each rim along the normal of the triangle that is below it."""
    fields, radius, h = geometry.fields, geometry.shapes.size[a, 0], geometry.shapes.size[a, 1]
    nx, ny, nz, px, py, pz = triangle(fields, f, r, c, k)
    ax, ay, az = T[0, 2], T[1, 2], T[2, 2]
    along = nx * ax + ny * ay + nz * az
    mx, my, mz = nx - along * ax, ny - along * ay, nz - along * az
    tilt = sqrt(mx * mx + my * my + mz * mz)
    if tilt <= UPRIGHT:
        return
    for end in range(2):
        s = h if end == 1 else -h
        x = T[3, 0] + s * ax - radius * mx / tilt
        y = T[3, 1] + s * ay - radius * my / tilt
        z = T[3, 2] + s * az - radius * mz / tilt
        over, i, j, m = locate(fields, f, x, y)
        if not over or i != r or j != c or m != k:
            continue
        gap = nx * (x - px) + ny * (y - py) + nz * (z - pz)
        if gap < margin and ((s < 0.0) == (along >= 0.0) or abs(along) <= tilt or gap <= 0.0):
            name = numbered(WITHIN, 1, end)
            if taken(found, start, name):  # the lowest point along another normal
                name = numbered(WITHIN, 1, 4 * (fields.start[f] + r * fields.columns[f] + c) + 2 * k + end + 2)
            put(placed, a, b, start, near, name, x - gap * nx, y - gap * ny, z - gap * nz, nx, ny, nz, gap, found)


@kernel(inline=False)
def ellipsoid_on_triangle(geometry, placed, f, a, b, T, r, c, k, slack, start, near, margin, found):
    """Emit the contact of an ellipsoid with a triangle; ``slack`` [m]: how far beside it the foot may be."""
    fields = geometry.fields
    nx, ny, nz, px, py, pz = triangle(fields, f, r, c, k)
    x, y, z = lowest_point(ELLIPSOID, geometry.shapes.size, a, T, nx, ny, nz)
    gap = nx * (x - px) + ny * (y - py) + nz * (z - pz)
    x, y, z = x - gap * nx, y - gap * ny, z - gap * nz
    if gap < margin and within(fields, f, r, c, k, x, y, slack):
        emit_face(fields, placed, f, a, b, r, c, k, start, near, 0, x, y, z, nx, ny, nz, gap, found)


@kernel
def round_terrain(geometry, placed, work, pairs, margin, found):
    """Contacts of cylinders and ellipsoids with height fields."""
    fields, shapes, T = geometry.fields, geometry.shapes, work.minkowski.pose
    for m in range(pairs.shape[0]):
        a, b = pairs[m, 0], pairs[m, 1]
        f, start, kind, reach = fields.which[b], found.total[0], shapes.kind[a], shapes.radius[a] + margin
        shape_in_terrain(placed, a, b, T)
        size = reach + fields.frame[f, 2] + fields.frame[f, 3]
        near, slack = MERGED * size, (ROUND + 2.0 * BENT) * size
        if T[3, 2] < -fields.frame[f, 4]:
            continue
        low, r, c, k = below_surface(fields, f, T[3, 0], T[3, 1], T[3, 2])
        if low and kind == ELLIPSOID:
            ellipsoid_on_triangle(geometry, placed, f, a, b, T, r, c, k, 1e300, start, near, margin, found)
            continue
        if kind != ELLIPSOID:
            rim_points(geometry, placed, f, a, b, T, start, near, margin, found)
        r0, r1, c0, c1 = cells_under(fields, f, T[3, 0] - reach, T[3, 0] + reach, T[3, 1] - reach, T[3, 1] + reach)
        for r in range(r0, r1 + 1):
            for c in range(c0, c1 + 1):
                for k in range(2):
                    if kind == ELLIPSOID:
                        ellipsoid_on_triangle(geometry, placed, f, a, b, T, r, c, k, slack, start, near, margin, found)
                    else:
                        cylinder_on_triangle(geometry, placed, f, a, b, T, r, c, k, start, near, margin, found)
        last = found.total[0]
        if r1 >= r0 and c1 >= c0:
            for r in range(r0, r1 + 2):
                for c in range(c0, c1 + 2):
                    for way in range(3):
                        if has_edge(fields, f, r, c, way):
                            round_on_edge(geometry, placed, f, a, b, T, r, c, way, start, near, margin, found)
                    if fields.peak[fields.start[f] + r * fields.columns[f] + c] != 0:
                        round_on_peak(geometry, placed, f, a, b, T, r, c, start, near, margin, found)
        thin_out(found, start, last, 2 * geometry.points[0], size, margin)
