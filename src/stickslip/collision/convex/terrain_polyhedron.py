"""Boxes and convex meshes on height fields.

Contacts are of three kinds. Each has the normal of one feature, or of the two edges that cross:

* a corner of the polyhedron with the triangle below it: the gap is its height over the triangle's plane. Corners of a
  box at the upper end of a steep edge count only below the surface, as on a plane;
* a peak with the face above it: the gap is the distance of the peak from the face's plane;
* an edge of the polyhedron with a convex edge of the terrain that it crosses in the view along their common normal.

A normal must belong to both features, up to ``SAME`` rad, so that bodies which lie flat on edges and peaks keep their
contacts. Of many corners with one normal, and of many contacts in all, those that ``spread`` chooses are kept.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import BOX, CORNER, WITHIN
from stickslip.collision.convex.height_field import (
    cells_under,
    corner,
    edge_end,
    edge_has,
    has_edge,
    locate,
    peak_has,
    triangle,
)
from stickslip.collision.convex.spread import spread, swap_found
from stickslip.collision.convex.terrain_balls import MERGED, numbered, put
from stickslip.math.spatial import cross, rotate_transposed

SAME = 1e-3
"""Angle [rad] by which a normal may be outside the normals of a feature."""
STEEP = 0.71
"""Sine of the descent of an edge from which its upper end is no contact while it is above the surface."""
MOST = 12
"""Largest number of contacts of a pair with different normals; all are kept if all contacts are asked for."""


@kernel
def link_in_terrain(placed, link, b, T):
    """Write the pose of a link in the axes of terrain b: its axes as columns of the first three rows, its origin."""
    R, Q, P = placed.rot, placed.link_rot, placed.link_pos
    for k in range(3):
        T[0, k], T[1, k], T[2, k] = rotate_transposed(R, b, Q[link, 0, k], Q[link, 1, k], Q[link, 2, k])
    O = placed.pos
    T[3, 0], T[3, 1], T[3, 2] = rotate_transposed(
        R, b, P[link, 0] - O[b, 0], P[link, 1] - O[b, 1], P[link, 2] - O[b, 2]
    )


@kernel
def turned(T, A, i):
    """Row i of A, a direction of the link, in the terrain's axes."""
    return (
        T[0, 0] * A[i, 0] + T[0, 1] * A[i, 1] + T[0, 2] * A[i, 2],
        T[1, 0] * A[i, 0] + T[1, 1] * A[i, 1] + T[1, 2] * A[i, 2],
        T[2, 0] * A[i, 0] + T[2, 1] * A[i, 1] + T[2, 2] * A[i, 2],
    )


@kernel
def moved(T, A, i):
    """Row i of A, a point of the link, in the terrain's axes."""
    x, y, z = turned(T, A, i)
    return x + T[3, 0], y + T[3, 1], z + T[3, 2]


@kernel
def upper_end(edges, T, v, nx, ny, nz):
    """Whether an edge descends steeply from corner v, seen along n."""
    for k in range(edges.vertex_edge_start[v], edges.vertex_edge_start[v + 1]):
        e = edges.vertex_edge[k]
        x, y, z = turned(T, edges.edge_axis, e)
        s = 1.0 if edges.edge[e, 0] == v else -1.0
        if s * (nx * x + ny * y + nz * z) < -STEEP:
            return True
    return False


@kernel(inline=False)
def corners_on_terrain(geometry, placed, f, a, b, T, start, near, margin, found):
    bodies, fields, p = geometry.bodies, geometry.fields, geometry.shapes.polyhedron[a]
    box = geometry.shapes.kind[a] == BOX
    for v in range(bodies.vertex_start[p], bodies.vertex_start[p + 1]):
        x, y, z = moved(T, bodies.vertex, v)
        over, r, c, k = locate(fields, f, x, y)
        if not over:
            continue
        nx, ny, nz, px, py, pz = triangle(fields, f, r, c, k)
        gap = nx * (x - px) + ny * (y - py) + nz * (z - pz)
        if gap < margin and (gap <= 0.0 or not box or not upper_end(geometry.edges, T, v, nx, ny, nz)):
            name = numbered(CORNER, 1, v - bodies.vertex_start[p])
            put(placed, a, b, start, near, name, x - gap * nx, y - gap * ny, z - gap * nz, nx, ny, nz, gap, found)


@kernel(inline=False)
def over_face(bodies, T, face, mx, my, mz, x, y, z, slack):
    """Whether a point lies over a face, seen along its normal m."""
    begin, end = bodies.loop_start[face], bodies.loop_start[face + 1]
    px, py, pz = moved(T, bodies.vertex, bodies.loop[end - 1])
    for i in range(begin, end):
        qx, qy, qz = moved(T, bodies.vertex, bodies.loop[i])
        sx, sy, sz = cross(qx - px, qy - py, qz - pz, mx, my, mz)
        if (x - px) * sx + (y - py) * sy + (z - pz) * sz > slack * sqrt(sx * sx + sy * sy + sz * sz):
            return False
        px, py, pz = qx, qy, qz
    return True


@kernel(inline=False)
def peaks_under_faces(geometry, placed, f, a, b, T, start, size, margin, found):
    bodies, fields, p = geometry.bodies, geometry.fields, geometry.shapes.polyhedron[a]
    for face in range(bodies.face_start[p], bodies.face_start[p + 1]):
        mx, my, mz = turned(T, bodies.normal, face)
        if mz >= 0.0:
            continue
        x0, x1, y0, y1, level = 1e300, -1e300, 1e300, -1e300, 0.0
        for i in range(bodies.loop_start[face], bodies.loop_start[face + 1]):
            x, y, z = moved(T, bodies.vertex, bodies.loop[i])
            x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
            level = mx * x + my * y + mz * z
        wide = max(margin, 0.0) * sqrt(mx * mx + my * my)
        r0, r1, c0, c1 = cells_under(fields, f, x0 - wide, x1 + wide, y0 - wide, y1 + wide)
        if r1 < r0 or c1 < c0:
            continue
        for r in range(r0, r1 + 2):
            for c in range(c0, c1 + 2):
                number = fields.start[f] + r * fields.columns[f] + c
                if fields.peak[number] == 0:
                    continue
                x, y, z = corner(fields, f, r, c)
                gap = mx * x + my * y + mz * z - level
                if not -size < gap < margin or not peak_has(fields, f, r, c, -mx, -my, -mz, SAME):
                    continue
                if over_face(bodies, T, face, mx, my, mz, x, y, z, MERGED * size):
                    name = numbered(CORNER, 0, number)
                    put(placed, a, b, start, MERGED * size, name, x, y, z, -mx, -my, -mz, gap, found)


@kernel
def edge_opens(geometry, T, e, ux, uy, uz, nx, ny, nz):
    """Whether −n is an outward normal of edge e with the unit vector u, up to ``SAME`` rad."""
    N, faces = geometry.bodies.normal, geometry.edges.edge_face
    mx, my, mz = turned(T, N, faces[e, 0])
    wx, wy, wz = cross(mx, my, mz, ux, uy, uz)  # into the left face
    if nx * wx + ny * wy + nz * wz < -SAME:
        return False
    mx, my, mz = turned(T, N, faces[e, 1])
    wx, wy, wz = cross(ux, uy, uz, mx, my, mz)
    return nx * wx + ny * wy + nz * wz >= -SAME


@kernel(inline=False)
def cross_edges(geometry, placed, f, a, b, T, e, r, c, way, start, size, margin, found):
    """Emit the contact of the polyhedron's edge e with edge ``way`` of the terrain's vertex (r, c), if there is one."""
    fields, edges, bodies = geometry.fields, geometry.edges, geometry.bodies
    x, y, z = moved(T, bodies.vertex, edges.edge[e, 0])
    ux, uy, uz = turned(T, edges.edge_axis, e)
    length = edges.edge_length[e]
    i, j = edge_end(way)
    px, py, pz = corner(fields, f, r, c)
    vx, vy, vz = corner(fields, f, r + i, c + j)
    vx, vy, vz = vx - px, vy - py, vz - pz
    own = sqrt(vx * vx + vy * vy + vz * vz)
    vx, vy, vz = vx / own, vy / own, vz / own
    nx, ny, nz = cross(ux, uy, uz, vx, vy, vz)
    sine = sqrt(nx * nx + ny * ny + nz * nz)
    if sine < SAME:
        return
    if nz < 0.0:
        sine = -sine
    nx, ny, nz = nx / sine, ny / sine, nz / sine
    dx, dy, dz = x - px, y - py, z - pz
    gap = nx * dx + ny * dy + nz * dz
    if not -size < gap < margin:
        return
    wx, wy, wz = cross(nx, ny, nz, ux, uy, uz)
    t = (dx * wx + dy * wy + dz * wz) / (vx * wx + vy * wy + vz * wz)
    wx, wy, wz = cross(nx, ny, nz, vx, vy, vz)
    s = -(dx * wx + dy * wy + dz * wz) / (ux * wx + uy * wy + uz * wz)
    if not (0.0 <= t <= own and 0.0 <= s <= length):
        return
    qx, qy, qz = px + t * vx, py + t * vy, pz + t * vz
    if not edge_has(fields, f, r, c, way, qx, qy, qz, nx, ny, nz, SAME):
        return
    if edge_opens(geometry, T, e, ux, uy, uz, nx, ny, nz):
        number = 3 * (fields.start[f] + r * fields.columns[f] + c) + way
        name = numbered(WITHIN, 0, 7919 * (e - bodies.edge_start[geometry.shapes.polyhedron[a]]) + number)
        put(placed, a, b, start, MERGED * size, name, qx, qy, qz, nx, ny, nz, gap, found)


@kernel(inline=False)
def edges_on_terrain(geometry, placed, f, a, b, T, start, size, margin, found):
    bodies, fields, edges, p = geometry.bodies, geometry.fields, geometry.edges, geometry.shapes.polyhedron[a]
    wide = max(margin, 0.0)
    for e in range(bodies.edge_start[p], bodies.edge_start[p + 1]):
        _, _, m1 = turned(T, bodies.normal, edges.edge_face[e, 0])
        _, _, m2 = turned(T, bodies.normal, edges.edge_face[e, 1])
        if m1 >= 0.0 and m2 >= 0.0:
            continue
        x0, y0, z0 = moved(T, bodies.vertex, edges.edge[e, 0])
        x1, y1, z1 = moved(T, bodies.vertex, edges.edge[e, 1])
        r0, r1, c0, c1 = cells_under(
            fields, f, min(x0, x1) - wide, max(x0, x1) + wide, min(y0, y1) - wide, max(y0, y1) + wide
        )
        if r1 < r0 or c1 < c0:
            continue
        low = min(z0, z1) - wide
        for r in range(r0, r1 + 2):
            for c in range(c0, c1 + 2):
                for way in range(3):
                    if not has_edge(fields, f, r, c, way):
                        continue
                    i, j = edge_end(way)
                    _, _, h = corner(fields, f, r, c)
                    _, _, g = corner(fields, f, r + i, c + j)
                    if max(h, g) > low:
                        cross_edges(geometry, placed, f, a, b, T, e, r, c, way, start, size, margin, found)


@kernel(inline=False)
def thin_out(found, start, last, points, size, margin):
    """Keep ``points`` of the contacts start … last − 1 of each normal, and ``MOST`` contacts from ``start`` on."""
    if points <= 0 or found.total[0] > found.gap.shape[0]:
        return
    N, first = found.normal, start
    while first < last:
        end = first + 1
        for c in range(first + 1, last):
            if N[c, 0] * N[first, 0] + N[c, 1] * N[first, 1] + N[c, 2] * N[first, 2] > 1.0 - 0.5 * SAME * SAME:
                swap_found(found, end, c)
                end += 1
        total = found.total[0]
        if end - first > points:
            found.total[0] = end
            spread(found, first, points, size, margin)
            kept, gone = found.total[0], end - found.total[0]
            for c in range(end, total):  # close the gap, in order
                swap_found(found, c - gone, c)
            found.total[0], last, end = total - gone, last - gone, kept
        first = end
    spread(found, start, max(MOST, points), size, margin)


@kernel
def polyhedron_terrain(geometry, placed, work, pairs, margin, found):
    """Contacts of boxes and meshes with height fields."""
    shapes, T = geometry.shapes, work.minkowski.pose
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        f, start, size = geometry.fields.which[b], found.total[0], 2.0 * geometry.bodies.radius[shapes.polyhedron[a]]
        link_in_terrain(placed, shapes.link[a], b, T)
        _, _, z = moved(T, geometry.bodies.center, shapes.polyhedron[a])
        if z < -geometry.fields.frame[f, 4]:
            continue
        corners_on_terrain(geometry, placed, f, a, b, T, start, MERGED * size, margin, found)
        last = found.total[0]
        peaks_under_faces(geometry, placed, f, a, b, T, start, size, margin, found)
        edges_on_terrain(geometry, placed, f, a, b, T, start, size, margin, found)
        points = geometry.points[0]
        thin_out(found, start, last, points if shapes.kind[a] != BOX else 2 * points, size, margin)
