"""Capsule against polyhedron (box or convex mesh).

A capsule is a segment with a radius. If the segment is outside the polyhedron, contacts are those of balls on the
segment (``point_polyhedron``, exact): the nearest ball, and, if the segment is nearly parallel to a face or an edge,
the balls at both ends of the part they share. If the segment pierces the polyhedron, there is one contact, with the
exact depth by separating axes (the polyhedron's faces, and its edges crossed with the segment).
"""

from __future__ import annotations

from math import inf, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.clip import stretch_over
from stickslip.collision.convex.geometry import CAPSULE, CORNER, WITHIN, emit_apart, feature, keep_near
from stickslip.collision.convex.placed_polyhedron import dot, facing, place
from stickslip.collision.convex.point_polyhedron import face_level, over_face, point_polyhedron
from stickslip.collision.convex.segments import nearest_on_segments
from stickslip.math.spatial import cross

ALONG = 0.1
"""Sine of the angle between segment and face, or segment and edge, below which both ends are contacts."""
FLAT = 1e-9
"""Sine of that angle below which they count as parallel, so that no ball is nearer than those at the ends."""
MERGED = 1e-6
"""Distance, as a fraction of the size, below which two contacts are merged."""
PIERCED = 1e-10
"""Distance, as a fraction of the size, below which a segment counts as piercing."""


@kernel
def nearest_of_segment(bodies, edges, p, vertex, normal, ux, uy, uz, h):
    """(distance, t) of the point t·u of the segment, |t| ≤ h, that is nearest to the polyhedron; 0 if it pierces."""
    low, high = -h, h
    for f in range(bodies.face_start[p + 1] - bodies.face_start[p]):
        rate, level = dot(normal, f, ux, uy, uz), face_level(bodies, p, f, vertex, normal)
        if rate > 0.0:
            high = min(high, level / rate)
        elif rate < 0.0:
            low = max(low, level / rate)
        elif level < 0.0:
            low = inf
    if low <= high:
        return 0.0, 0.5 * (low + high)
    best, bt = inf, 0.0
    for i in range(2):
        t = h if i == 1 else -h
        x, y, z = t * ux, t * uy, t * uz
        for f in range(bodies.face_start[p + 1] - bodies.face_start[p]):
            d = dot(normal, f, x, y, z) - face_level(bodies, p, f, vertex, normal)
            if 0.0 < d < best and over_face(bodies, p, f, vertex, normal, x, y, z):
                best, bt = d, t
    corner = bodies.vertex_start[p]
    for e in range(bodies.edge_start[p], bodies.edge_start[p + 1]):
        i, j = edges.edge[e, 0] - corner, edges.edge[e, 1] - corner
        ex, ey, ez = vertex[j, 0] - vertex[i, 0], vertex[j, 1] - vertex[i, 1], vertex[j, 2] - vertex[i, 2]
        g = 0.5 * sqrt(ex * ex + ey * ey + ez * ez)
        ex, ey, ez = 0.5 * ex / g, 0.5 * ey / g, 0.5 * ez / g
        mx, my, mz = vertex[i, 0] + g * ex, vertex[i, 1] + g * ey, vertex[i, 2] + g * ez
        s, t = nearest_on_segments(mx, my, mz, ux, uy, uz, h, ex, ey, ez, g)
        x, y, z = mx + t * ex - s * ux, my + t * ey - s * uy, mz + t * ez - s * uz
        d = sqrt(x * x + y * y + z * z)
        if d < best:
            best, bt = d, s
    return best, bt


@kernel
def pierced(bodies, edges, p, vertex, normal, ux, uy, uz, h):
    """(gap ≤ 0, outward axis) of the separating axis of the polyhedron and a segment that pierces it."""
    best, nx, ny, nz = -inf, 0.0, 0.0, 1.0
    for f in range(bodies.face_start[p + 1] - bodies.face_start[p]):
        gap = -h * abs(dot(normal, f, ux, uy, uz)) - face_level(bodies, p, f, vertex, normal)
        if gap > best:
            best, nx, ny, nz = gap, normal[f, 0], normal[f, 1], normal[f, 2]
    first, corner = bodies.face_start[p], bodies.vertex_start[p]
    for e in range(bodies.edge_start[p], bodies.edge_start[p + 1]):
        f, g = edges.edge_face[e, 0] - first, edges.edge_face[e, 1] - first
        if dot(normal, f, ux, uy, uz) * dot(normal, g, ux, uy, uz) >= 0.0:
            continue
        i, j = edges.edge[e, 0] - corner, edges.edge[e, 1] - corner
        ex, ey, ez = vertex[j, 0] - vertex[i, 0], vertex[j, 1] - vertex[i, 1], vertex[j, 2] - vertex[i, 2]
        x, y, z = cross(ex, ey, ez, ux, uy, uz)
        length = sqrt(x * x + y * y + z * z)
        if length <= FLAT * sqrt(ex * ex + ey * ey + ez * ez):
            continue
        if dot(normal, f, x, y, z) + dot(normal, g, x, y, z) < 0.0:
            length = -length
        x, y, z = x / length, y / length, z / length
        gap = -dot(vertex, i, x, y, z)
        if gap > best:
            best, nx, ny, nz = gap, x, y, z
    return best, nx, ny, nz


@kernel
def stretch_along_edge(bodies, edges, p, vertex, qx, qy, qz, ux, uy, uz, h):
    """The part of the segment beside a nearly parallel edge through (qx, qy, qz); empty if there is none."""
    corner, best, low, high = bodies.vertex_start[p], ALONG, 1.0, -1.0
    for e in range(bodies.edge_start[p], bodies.edge_start[p + 1]):
        i, j = edges.edge[e, 0] - corner, edges.edge[e, 1] - corner
        ex, ey, ez = vertex[j, 0] - vertex[i, 0], vertex[j, 1] - vertex[i, 1], vertex[j, 2] - vertex[i, 2]
        length = sqrt(ex * ex + ey * ey + ez * ez)
        cx, cy, cz = cross(ex, ey, ez, ux, uy, uz)
        sine = sqrt(cx * cx + cy * cy + cz * cz) / length
        if sine >= best:
            continue
        cx, cy, cz = cross(ex, ey, ez, qx - vertex[i, 0], qy - vertex[i, 1], qz - vertex[i, 2])
        if sqrt(cx * cx + cy * cy + cz * cz) > 1e-9 * length * length:
            continue
        t1, t2 = dot(vertex, i, ux, uy, uz), dot(vertex, j, ux, uy, uz)
        best, low, high = sine, max(-h, min(t1, t2)), min(h, max(t1, t2))
    return low, high


@kernel
def emit_ball(geometry, placed, work, capsule, solid, turned, start, name, t, margin, found):
    """Emit the contact of the ball at t of the capsule's segment; ``turned``: the capsule is the first shape."""
    R, r = placed.rot, geometry.shapes.size[capsule, 0]
    x, y, z = t * R[capsule, 0, 2], t * R[capsule, 1, 2], t * R[capsule, 2, 2]
    p = geometry.shapes.polyhedron[solid]
    distance, nx, ny, nz, qx, qy, qz = point_polyhedron(
        geometry.bodies, geometry.edges, p, work.vertex2, work.normal2, x, y, z
    )
    emit_capsule(
        geometry, placed, capsule, solid, turned, start, name, distance - r, nx, ny, nz, qx, qy, qz, margin, found
    )


@kernel
def emit_capsule(geometry, placed, capsule, solid, turned, start, name, gap, nx, ny, nz, qx, qy, qz, margin, found):
    """Emit a contact at the point q of the polyhedron (relative to the capsule's middle) with the outward normal n."""
    if not gap < margin:
        return
    P, near = placed.pos, MERGED * (geometry.shapes.radius[capsule] + geometry.shapes.radius[solid])
    x, y, z = P[capsule, 0] + qx, P[capsule, 1] + qy, P[capsule, 2] + qz
    if turned:
        emit_apart(found, start, near, capsule, solid, name, x, y, z, -nx, -ny, -nz, gap)
    else:
        x, y, z = x + gap * nx, y + gap * ny, z + gap * nz
        emit_apart(found, start, near, solid, capsule, name, x, y, z, nx, ny, nz, gap)


@kernel(inline=False)
def segment_polyhedron(geometry, placed, work, capsule, solid, turned, margin, found):
    """Emit all contacts of a capsule with a polyhedron. ``place`` must have written the polyhedron to work.vertex2,
    relative to the capsule's middle."""
    bodies, edges, p = geometry.bodies, geometry.edges, geometry.shapes.polyhedron[solid]
    R, r, h = placed.rot, geometry.shapes.size[capsule, 0], geometry.shapes.size[capsule, 1]
    vertex, normal = work.vertex2, work.normal2
    ux, uy, uz = R[capsule, 0, 2], R[capsule, 1, 2], R[capsule, 2, 2]
    size, start = geometry.shapes.radius[capsule] + geometry.shapes.radius[solid], found.total[0]
    distance, t = nearest_of_segment(bodies, edges, p, vertex, normal, ux, uy, uz, h)
    if not distance - r < margin:
        return
    if distance <= PIERCED * size:
        gap, nx, ny, nz = pierced(bodies, edges, p, vertex, normal, ux, uy, uz, h)
        rate = nx * ux + ny * uy + nz * uz
        if abs(rate) > FLAT:
            t = -h if rate > 0.0 else h
        qx, qy, qz = t * ux - gap * nx, t * uy - gap * ny, t * uz - gap * nz
        name = feature(WITHIN, 0, 0, 0)
        emit_capsule(
            geometry, placed, capsule, solid, turned, start, name, gap - r, nx, ny, nz, qx, qy, qz, margin, found
        )
        return
    _, nx, ny, nz, qx, qy, qz = point_polyhedron(bodies, edges, p, vertex, normal, t * ux, t * uy, t * uz)
    cosine, f = facing(normal, bodies.face_start[p + 1] - bodies.face_start[p], nx, ny, nz)
    tilt = abs(dot(normal, f, ux, uy, uz))
    if cosine > 1.0 - ALONG * ALONG and tilt < ALONG:
        nx, ny, nz = -normal[f, 0], -normal[f, 1], -normal[f, 2]
        low, high = stretch_over(bodies, p, f, vertex, nx, ny, nz, 0.0, 0.0, 0.0, ux, uy, uz, h, 0.0)
    else:
        low, high = stretch_along_edge(bodies, edges, p, vertex, qx, qy, qz, ux, uy, uz, h)
        tilt = 1.0
    two = high - low > MERGED * size
    if not (two and tilt <= FLAT):
        emit_ball(geometry, placed, work, capsule, solid, turned, start, feature(WITHIN, 0, 0, 0), t, inf, found)
    if two:
        emit_ball(geometry, placed, work, capsule, solid, turned, start, feature(CORNER, 0, 0, 0), low, inf, found)
        emit_ball(geometry, placed, work, capsule, solid, turned, start, feature(CORNER, 0, 1, 0), high, inf, found)
    keep_near(found, start, margin, 0.0)


@kernel
def capsule_solid(geometry, placed, work, pairs, margin, found):
    """Contacts of capsules with boxes, which come first in their pairs, or with convex meshes, which come second."""
    P = placed.pos
    for k in range(pairs.shape[0]):
        capsule, solid, turned = pairs[k, 0], pairs[k, 1], geometry.shapes.kind[pairs[k, 0]] == CAPSULE
        if not turned:
            capsule, solid = solid, capsule
        place(geometry, placed, solid, P[capsule, 0], P[capsule, 1], P[capsule, 2], work.vertex2, work.normal2)
        segment_polyhedron(geometry, placed, work, capsule, solid, turned, margin, found)
