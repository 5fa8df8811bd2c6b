"""Two polyhedra: the manifold of box against box, box against mesh and mesh against mesh.

1. ``separating_axis`` finds the axis of largest gap. If that gap exceeds the margin, there is no contact.
2. If the axis is the normal of a face (the reference face), the most opposed face of the other body is clipped by the
   reference face's sides (``clip``). Every remaining corner whose gap along the normal is below the margin is a
   contact. The first body's face is preferred if both normals agree to ``SAME`` rad.
3. If the axis belongs to two edges, the contact is at their nearest points, if these lie within both edges. If the axis
   is within ``SAME`` rad of the normal of a face, that face is used as in 2, so that boxes that lie on each other with
   a slight tilt keep all their contacts. The gap at the crossing is then wrong by a factor of 1 + SAME²/2.

Separate bodies whose nearest features are a corner and a corner, or a corner and an edge, do not overlap along any of
these axes and have no contact until they do. So a peg passes the rim of a hole that is only slightly larger.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.clip import clip_to_face, load_face
from stickslip.collision.convex.geometry import CORNER, WITHIN, emit, emit_apart, feature, keep_near
from stickslip.collision.convex.placed_polyhedron import dot, facing, lowest, place
from stickslip.collision.convex.separating_axis import edge_axis, edge_vector, face_axis
from stickslip.math.spatial import cross

SAME = 1e-3
"""Angle [rad] below which two normals count as equal."""
TIE = 1e-9
"""Difference of gaps, as a fraction of the size, below which a face is preferred to edges."""
MERGED = 1e-7
"""Distance, as a fraction of the size, below which two contacts are merged."""


@kernel
def incident(bodies, edges, p, vertex, normal, x, y, z):
    """(face, corner): the corner of polyhedron p lowest along (x, y, z), and the face there whose normal is lowest."""
    first, corner = bodies.face_start[p], bodies.vertex_start[p]
    _, v = lowest(vertex, bodies.vertex_start[p + 1] - corner, x, y, z)
    best, which = 2.0, 0
    for i in range(edges.vertex_face_start[corner + v], edges.vertex_face_start[corner + v + 1]):
        f = edges.vertex_face[i] - first
        d = dot(normal, f, x, y, z)
        if d < best:
            best, which = d, f
    return which, v


@kernel
def polygon_area(G, source, n, nx, ny, nz):
    """Area of the polygon in buffer ``source``, seen along n [m²]."""
    area = 0.0
    for i in range(2, n):
        x, y, z = cross(
            G[source, i - 1, 0] - G[source, 0, 0], G[source, i - 1, 1] - G[source, 0, 1],
            G[source, i - 1, 2] - G[source, 0, 2], G[source, i, 0] - G[source, 0, 0],
            G[source, i, 1] - G[source, 0, 1], G[source, i, 2] - G[source, 0, 2],
        )  # fmt: skip
        area += 0.5 * (x * nx + y * ny + z * nz)
    return abs(area)


@kernel
def emit_face(geometry, placed, work, a, b, reference, f, g, size, margin, found):
    """Emit the contacts of reference face f of body 1 (or 2, if ``reference`` is 1) with face g of the other body."""
    bodies, p, q = geometry.bodies, geometry.shapes.polyhedron[a], geometry.shapes.polyhedron[b]
    start = found.total[0]
    if reference == 0:
        nx, ny, nz = work.normal1[f, 0], work.normal1[f, 1], work.normal1[f, 2]
        n = load_face(bodies, q, g, work.vertex2, work)
        source, n = clip_to_face(bodies, p, f, work.vertex1, nx, ny, nz, size, work, n)
        level = dot(
            work.vertex1, bodies.loop[bodies.loop_start[bodies.face_start[p] + f]] - bodies.vertex_start[p], nx, ny, nz
        )
    else:
        nx, ny, nz = work.normal2[f, 0], work.normal2[f, 1], work.normal2[f, 2]
        n = load_face(bodies, p, g, work.vertex1, work)
        source, n = clip_to_face(bodies, q, f, work.vertex2, nx, ny, nz, size, work, n)
        level = dot(
            work.vertex2, bodies.loop[bodies.loop_start[bodies.face_start[q] + f]] - bodies.vertex_start[q], nx, ny, nz
        )
    ox, oy, oz = placed.pos[a, 0], placed.pos[a, 1], placed.pos[a, 2]
    for i in range(n):
        x, y, z = work.polygon[source, i, 0], work.polygon[source, i, 1], work.polygon[source, i, 2]
        gap = nx * x + ny * y + nz * z - level
        kind, s, t = work.label[source, i, 0], work.label[source, i, 1], work.label[source, i, 2]
        name = feature(kind, reference, s, t)
        if reference == 0:
            emit_apart(found, start, MERGED * size, a, b, name, x + ox, y + oy, z + oz, nx, ny, nz, gap)
        else:
            x, y, z = x - gap * nx, y - gap * ny, z - gap * nz
            emit_apart(found, start, MERGED * size, a, b, name, x + ox, y + oy, z + oz, -nx, -ny, -nz, gap)
    keep_near(found, start, margin, polygon_area(work.polygon, source, n, nx, ny, nz))


@kernel
def emit_edges(geometry, placed, work, a, b, e, f, nx, ny, nz, gap, found):
    """Emit the contact of edges e of body 1 and f of body 2, if they cross within both."""
    bodies, edges, p, q = geometry.bodies, geometry.edges, geometry.shapes.polyhedron[a], geometry.shapes.polyhedron[b]
    v1, v2 = bodies.vertex_start[p], bodies.vertex_start[q]
    ex, ey, ez = edge_vector(edges, e, v1, work.vertex1)
    gx, gy, gz = edge_vector(edges, f, v2, work.vertex2)
    i, j = edges.edge[e, 0] - v1, edges.edge[f, 0] - v2
    dx = work.vertex1[i, 0] - work.vertex2[j, 0]
    dy = work.vertex1[i, 1] - work.vertex2[j, 1]
    dz = work.vertex1[i, 2] - work.vertex2[j, 2]
    wx, wy, wz = cross(ex, ey, ez, nx, ny, nz)
    t = (dx * wx + dy * wy + dz * wz) / (gx * wx + gy * wy + gz * wz)
    wx, wy, wz = cross(gx, gy, gz, nx, ny, nz)
    s = -(dx * wx + dy * wy + dz * wz) / (ex * wx + ey * wy + ez * wz)
    if not (0.0 <= s <= 1.0 and 0.0 <= t <= 1.0):
        return
    x = work.vertex2[j, 0] + t * gx + placed.pos[a, 0]
    y = work.vertex2[j, 1] + t * gy + placed.pos[a, 1]
    z = work.vertex2[j, 2] + t * gz + placed.pos[a, 2]
    name = feature(WITHIN, 0, e - bodies.edge_start[p], f - bodies.edge_start[q])
    emit(found, a, b, name, x, y, z, nx, ny, nz, gap)


@kernel(inline=False)
def polyhedron_polyhedron(geometry, placed, work, pairs, margin, found):
    bodies, edges = geometry.bodies, geometry.edges
    near = sqrt(1.0 - SAME * SAME)
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        p, q = geometry.shapes.polyhedron[a], geometry.shapes.polyhedron[b]
        size = geometry.shapes.radius[a] + geometry.shapes.radius[b]
        ox, oy, oz = placed.pos[a, 0], placed.pos[a, 1], placed.pos[a, 2]
        place(geometry, placed, a, ox, oy, oz, work.vertex1, work.normal1)
        place(geometry, placed, b, ox, oy, oz, work.vertex2, work.normal2)
        gap1, f1 = face_axis(bodies, p, q, work.vertex1, work.normal1, work.vertex2, margin)
        if gap1 >= margin:
            continue
        gap2, f2 = face_axis(bodies, q, p, work.vertex2, work.normal2, work.vertex1, margin)
        if gap2 >= margin:
            continue
        gap, e, f, x, y, z = edge_axis(
            bodies, edges, p, q, work.vertex1, work.normal1, work.vertex2, work.normal2, margin
        )
        if gap >= margin:
            continue
        nf1 = bodies.face_start[p + 1] - bodies.face_start[p]
        nf2 = bodies.face_start[q + 1] - bodies.face_start[q]
        reference = 0
        if gap > max(gap1, gap2) + TIE * size:
            cosine1, g1 = facing(work.normal1, nf1, x, y, z)
            cosine2, g2 = facing(work.normal2, nf2, -x, -y, -z)
            if cosine1 < near and cosine2 < near:
                emit_edges(geometry, placed, work, a, b, e, f, x, y, z, gap, found)
                continue
            if cosine1 >= near:
                f1 = g1
            else:
                reference, f2 = 1, g2
        elif gap2 > gap1 + TIE * size:
            cosine, g1 = facing(work.normal1, nf1, -work.normal2[f2, 0], -work.normal2[f2, 1], -work.normal2[f2, 2])
            if cosine >= near:
                f1 = g1
            else:
                reference = 1
        start = found.total[0]
        if reference == 0:
            x, y, z = work.normal1[f1, 0], work.normal1[f1, 1], work.normal1[f1, 2]
            g, v = incident(bodies, edges, q, work.vertex2, work.normal2, x, y, z)
            emit_face(geometry, placed, work, a, b, 0, f1, g, size, margin, found)
            gap = gap1
        else:
            x, y, z = -work.normal2[f2, 0], -work.normal2[f2, 1], -work.normal2[f2, 2]
            g, v = incident(bodies, edges, p, work.vertex1, work.normal1, -x, -y, -z)
            emit_face(geometry, placed, work, a, b, 1, f2, g, size, margin, found)
            gap = gap2
        if found.total[0] == start and max(gap1, gap2) < -TIE * size:  # deep penetration: another face overlaps
            name, t = feature(CORNER, reference, v, 0), gap if reference else 0.0
            V = work.vertex1 if reference else work.vertex2
            emit(found, a, b, name, V[v, 0] + t * x + ox, V[v, 1] + t * y + oy, V[v, 2] + t * z + oz, x, y, z, gap)
