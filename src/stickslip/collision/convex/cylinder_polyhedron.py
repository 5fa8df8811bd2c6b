"""Cylinder against polyhedron (box or convex mesh).

1. ``cylinder_axis`` finds the axis n of largest gap, from the cylinder to the polyhedron. If that gap exceeds the
   margin, there is no contact.
2. A cap against a face: the contacts are extreme points of the overlap of disc and polygon, seen along n (``disc``).
3. The side against a face: the line of the side nearest to the face is clipped by the face's sides and has two
   contacts.
4. The side against an edge nearly parallel to it: both ends of the part they share are contacts. The side against a
   corner or a crossing edge, and a rim against an edge: there is one contact, if it lies within both.

As for two polyhedra, an axis within ``SAME`` rad of a cap's or a face's normal is replaced by that normal, and separate
bodies that do not overlap along any of these axes have no contact.
"""

from __future__ import annotations

from math import inf, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.clip import stretch_over
from stickslip.collision.convex.cylinder_axis import CAP, FACE, RIM_EDGE, SIDE_CORNER, SIDE_EDGE, cylinder_axis, grazes
from stickslip.collision.convex.disc import Out, emit_on, face_plane, overlap_of_disc
from stickslip.collision.convex.geometry import CORNER, WITHIN, feature, keep_near
from stickslip.collision.convex.placed_polyhedron import dot, facing, place
from stickslip.collision.convex.polyhedron_polyhedron import SAME, TIE, incident

FOLLOWS = 0.1
"""Sine of the angle between an edge and the axis below which both ends of the part they share are contacts."""


@kernel
def rim_direction(ax, ay, az, nx, ny, nz):
    """The unit vector perpendicular to a that is nearest to n (zero if n is along a), and n·a."""
    along = ax * nx + ay * ny + az * nz
    x, y, z = nx - along * ax, ny - along * ay, nz - along * az
    length = sqrt(x * x + y * y + z * z)
    if length < 1e-12:
        return 0.0, 0.0, 0.0, along
    return x / length, y / length, z / length, along


@kernel
def along_side(geometry, placed, work, out: Out, e, v, ax, ay, az, r, h, nx, ny, nz, gap, margin, found):
    """Emit the contacts of the side with edge e or, if e < 0, with corner v and the edge there most parallel to it."""
    bodies, edges, vertex = geometry.bodies, geometry.edges, work.vertex2
    p = geometry.shapes.polyhedron[out.solid]
    first = bodies.vertex_start[p]
    least = FOLLOWS if e < 0 else 2.0
    if e < 0:
        for k in range(edges.vertex_edge_start[v], edges.vertex_edge_start[v + 1]):
            sine = edge_sine(edges, edges.vertex_edge[k], first, vertex, ax, ay, az)
            if sine < least:
                least, e = sine, edges.vertex_edge[k]
        if e < 0:
            x, y, z = vertex[v - first, 0], vertex[v - first, 1], vertex[v - first, 2]
            if abs(x * ax + y * ay + z * az) <= h:
                emit_on(
                    geometry, placed, out, feature(CORNER, 1, v - first, 0), x, y, z, nx, ny, nz, gap, margin, found
                )
            return
    else:
        least = edge_sine(edges, e, first, vertex, ax, ay, az)
    i, j = edges.edge[e, 0] - first, edges.edge[e, 1] - first
    ex, ey, ez = vertex[j, 0] - vertex[i, 0], vertex[j, 1] - vertex[i, 1], vertex[j, 2] - vertex[i, 2]
    x0, y0, z0 = vertex[i, 0], vertex[i, 1], vertex[i, 2]
    rate, level = ex * ax + ey * ay + ez * az, x0 * ax + y0 * ay + z0 * az
    number = e - bodies.edge_start[p]
    if least >= FOLLOWS or v < 0:  # the point where the edge crosses the axis, seen along n
        bx, by, bz = ay * nz - az * ny, az * nx - ax * nz, ax * ny - ay * nx
        across = ex * bx + ey * by + ez * bz
        s = -(x0 * bx + y0 * by + z0 * bz) / across if across != 0.0 else 0.5
        if 0.0 <= s <= 1.0 and abs(level + s * rate) <= h:
            x, y, z = x0 + s * ex, y0 + s * ey, z0 + s * ez
            emit_on(geometry, placed, out, feature(WITHIN, 0, number, 0), x, y, z, nx, ny, nz, gap, margin, found)
    if least >= FOLLOWS:
        return
    s1, s2 = (-h - level) / rate, (h - level) / rate
    low, high = max(0.0, min(s1, s2)), min(1.0, max(s1, s2))
    if low > high:
        return
    for k in range(2):
        s = high if k else low
        x, y, z = x0 + s * ex, y0 + s * ey, z0 + s * ez
        mx, my, mz, _ = rim_direction(ax, ay, az, x, y, z)
        rho = mx * x + my * y + mz * z
        if mx * nx + my * ny + mz * nz > 0.5:
            emit_on(geometry, placed, out, feature(CORNER, 0, number, k), x, y, z, mx, my, mz, rho - r, margin, found)


@kernel
def edge_sine(edges, e, first, vertex, ax, ay, az):
    i, j = edges.edge[e, 0] - first, edges.edge[e, 1] - first
    ex, ey, ez = vertex[j, 0] - vertex[i, 0], vertex[j, 1] - vertex[i, 1], vertex[j, 2] - vertex[i, 2]
    cx, cy, cz = ey * az - ez * ay, ez * ax - ex * az, ex * ay - ey * ax
    return sqrt((cx * cx + cy * cy + cz * cz) / (ex * ex + ey * ey + ez * ez))


@kernel
def rim_and_edge(geometry, placed, work, out: Out, e, ax, ay, az, r, h, nx, ny, nz, gap, margin, found):
    bodies, edges, vertex = geometry.bodies, geometry.edges, work.vertex2
    p = geometry.shapes.polyhedron[out.solid]
    first = bodies.vertex_start[p]
    if gap > 0.0 and grazes(edges, e, first, vertex, ax, ay, az, nx, ny, nz):
        return
    mx, my, mz, along = rim_direction(ax, ay, az, nx, ny, nz)
    t = h if along > 0.0 else -h
    x, y, z = t * ax + r * mx, t * ay + r * my, t * az + r * mz
    i, j = edges.edge[e, 0] - first, edges.edge[e, 1] - first
    ex, ey, ez = vertex[j, 0] - vertex[i, 0], vertex[j, 1] - vertex[i, 1], vertex[j, 2] - vertex[i, 2]
    s = (x - vertex[i, 0]) * ex + (y - vertex[i, 1]) * ey + (z - vertex[i, 2]) * ez
    s /= ex * ex + ey * ey + ez * ez
    if not 0.0 <= s <= 1.0:
        return
    name = feature(WITHIN, 1, e - bodies.edge_start[p], 1 if along > 0.0 else 0)
    x, y, z = vertex[i, 0] + s * ex, vertex[i, 1] + s * ey, vertex[i, 2] + s * ez
    emit_on(geometry, placed, out, name, x, y, z, nx, ny, nz, gap, margin, found)


@kernel
def flat_contacts(geometry, placed, work, out: Out, f, nx, ny, nz, gap, px, py, pz, margin, found):
    """Emit the contacts with face f if n, from the cylinder to the polyhedron, is the normal of a cap or of the face.

    If bodies overlap so deeply that none of these overlap along n, there is one contact at the point p of the
    polyhedron, relative to the cylinder's centre.
    """
    bodies, vertex, normal, c, R = geometry.bodies, work.vertex2, work.normal2, out.cylinder, placed.rot
    r, h, ax, ay, az = geometry.shapes.size[c, 0], geometry.shapes.size[c, 1], R[c, 0, 2], R[c, 1, 2], R[c, 2, 2]
    p, start = geometry.shapes.polyhedron[out.solid], found.total[0]
    mx, my, mz, along = rim_direction(ax, ay, az, nx, ny, nz)
    if abs(along) > 0.7:
        overlap_of_disc(geometry, placed, work, out, f, ax, ay, az, r, h, nx, ny, nz, inf, found)
    else:
        level, rate = face_plane(bodies, p, f, vertex, normal, nx, ny, nz)
        low, high = stretch_over(bodies, p, f, vertex, nx, ny, nz, r * mx, r * my, r * mz, ax, ay, az, h, out.size)
        for k in range(2):
            t = high if k else low
            x, y, z = r * mx + t * ax, r * my + t * ay, r * mz + t * az
            d = (level - dot(normal, f, x, y, z)) / rate
            if low <= high:
                name = feature(CORNER, 1, f, k)
                emit_on(geometry, placed, out, name, x + d * nx, y + d * ny, z + d * nz, nx, ny, nz, d, inf, found)
    keep_near(found, start, margin, 0.0)
    if found.total[0] == start and gap < -TIE * out.size:
        emit_on(geometry, placed, out, feature(WITHIN, 0, f, 1), px, py, pz, nx, ny, nz, gap, margin, found)


@kernel(inline=False)
def cylinder_polyhedron(geometry, placed, work, cylinder, solid, turned, margin, found):
    """Emit all contacts of a cylinder with a polyhedron. ``place`` must have written the polyhedron to work.vertex2,
    relative to the cylinder's centre. ``turned`` says that the cylinder is the first shape."""
    bodies, edges, p = geometry.bodies, geometry.edges, geometry.shapes.polyhedron[solid]
    R, r, h = placed.rot, geometry.shapes.size[cylinder, 0], geometry.shapes.size[cylinder, 1]
    ax, ay, az = R[cylinder, 0, 2], R[cylinder, 1, 2], R[cylinder, 2, 2]
    size = geometry.shapes.radius[cylinder] + geometry.shapes.radius[solid]
    gap, what, which, nx, ny, nz = cylinder_axis(
        bodies, edges, p, work.vertex2, work.normal2, ax, ay, az, r, h, TIE * size, margin
    )
    if not gap < margin:
        return
    out = Out(cylinder, solid, turned, found.total[0], size)
    near = sqrt(1.0 - SAME * SAME)
    if what > FACE:
        along = nx * ax + ny * ay + nz * az
        cosine, f = facing(work.normal2, bodies.face_start[p + 1] - bodies.face_start[p], -nx, -ny, -nz)
        if abs(along) > near:
            s = 1.0 if along > 0.0 else -1.0
            what, which, nx, ny, nz = CAP, 0, s * ax, s * ay, s * az
        elif cosine > near:
            what, which, nx, ny, nz = FACE, f, -work.normal2[f, 0], -work.normal2[f, 1], -work.normal2[f, 2]
    if what == CAP:
        f, v = incident(bodies, edges, p, work.vertex2, work.normal2, nx, ny, nz)
        x, y, z = work.vertex2[v, 0], work.vertex2[v, 1], work.vertex2[v, 2]
        flat_contacts(geometry, placed, work, out, f, nx, ny, nz, gap, x, y, z, margin, found)
        return
    if what == FACE:
        mx, my, mz, along = rim_direction(ax, ay, az, nx, ny, nz)
        t = h if along > 0.0 else -h
        x, y, z = t * ax + r * mx + gap * nx, t * ay + r * my + gap * ny, t * az + r * mz + gap * nz
        flat_contacts(geometry, placed, work, out, which, nx, ny, nz, gap, x, y, z, margin, found)
        return
    if what == SIDE_EDGE:
        along_side(geometry, placed, work, out, which, -1, ax, ay, az, r, h, nx, ny, nz, gap, inf, found)
    elif what == SIDE_CORNER:
        along_side(geometry, placed, work, out, -1, which, ax, ay, az, r, h, nx, ny, nz, gap, inf, found)
    elif what == RIM_EDGE:
        rim_and_edge(geometry, placed, work, out, which, ax, ay, az, r, h, nx, ny, nz, gap, inf, found)
    keep_near(found, out.start, margin, 0.0)


@kernel
def box_cylinder(geometry, placed, work, pairs, margin, found):
    """Contacts of boxes with cylinders."""
    P = placed.pos
    for k in range(pairs.shape[0]):
        box, c = pairs[k, 0], pairs[k, 1]
        place(geometry, placed, box, P[c, 0], P[c, 1], P[c, 2], work.vertex2, work.normal2)
        cylinder_polyhedron(geometry, placed, work, c, box, False, margin, found)
