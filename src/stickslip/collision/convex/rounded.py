"""Spheres, capsules and cylinders against polyhedra: nearest points by GJK and EPA, then the manifold.

A sphere is a point with a radius, a capsule a segment with a radius; a cylinder is its own core. The axis n points from
the polyhedron to the core, in the polyhedron's link frame; the gap is that of the cores less the radius.

* A capsule nearly parallel to the face or edge that it touches has contacts at both ends of the part they share.
* A cylinder whose cap or side lies on a face has the contacts of ``flat_contacts``.
* Everything else has one contact, at the nearest points.
"""

from __future__ import annotations

from math import inf, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.climb import farthest
from stickslip.collision.convex.clip import stretch_over
from stickslip.collision.convex.cylinder_polyhedron import flat_contacts
from stickslip.collision.convex.disc import Out
from stickslip.collision.convex.geometry import (
    CAPSULE,
    CORNER,
    CYLINDER,
    ELLIPSOID,
    WITHIN,
    emit_apart,
    feature,
    keep_near,
)
from stickslip.collision.convex.hulls import closest, face_along, relative_pose
from stickslip.collision.convex.placed_polyhedron import dot, place_face
from stickslip.collision.convex.polyhedron_polyhedron import SAME
from stickslip.collision.convex.segments import along_segment
from stickslip.math.spatial import cross, rotate

ALONG = 0.1
"""Sine of the angle between segment and face, or segment and edge, below which both ends are contacts."""
FLAT = 1e-9
"""Sine of that angle below which they count as parallel, so that no ball is nearer than those at the ends."""
MERGED = 1e-6
"""Distance, as a fraction of the size, below which two contacts are merged."""


@kernel
def emit_core(placed, core, solid, turned, start, near, name, x, y, z, nx, ny, nz, gap, margin, found):
    """Emit a contact at a point of the polyhedron relative to the core's middle [world axes]; n points to the core."""
    if not gap < margin:
        return
    P = placed.pos
    x, y, z = x + P[core, 0], y + P[core, 1], z + P[core, 2]
    if turned:
        emit_apart(found, start, near, core, solid, name, x, y, z, -nx, -ny, -nz, gap)
    else:
        x, y, z = x + gap * nx, y + gap * ny, z + gap * nz
        emit_apart(found, start, near, solid, core, name, x, y, z, nx, ny, nz, gap)


@kernel
def parallel_edge(geometry, p, x, y, z, ux, uy, uz):
    """(edge, sine): of the edges at the farthest corner of polyhedron p along (x, y, z), the one most parallel to u, if
    it is ridge enough that (x, y, z) lies between the normals of its faces; −1 if none is. All [link frame]."""
    v, edges, N = farthest(geometry.bodies, geometry.climb, p, x, y, z, -1), geometry.edges, geometry.bodies.normal
    best, which = ALONG, -1
    for k in range(edges.vertex_edge_start[v], edges.vertex_edge_start[v + 1]):
        e = edges.vertex_edge[k]
        ex, ey, ez = edges.edge_axis[e, 0], edges.edge_axis[e, 1], edges.edge_axis[e, 2]
        cx, cy, cz = cross(ex, ey, ez, ux, uy, uz)
        sine = sqrt(cx * cx + cy * cy + cz * cz)
        if sine >= best or abs(ex * x + ey * y + ez * z) >= ALONG:
            continue
        f, g = edges.edge_face[e, 0], edges.edge_face[e, 1]
        fx, fy, fz = cross(N[f, 0], N[f, 1], N[f, 2], x, y, z)
        gx, gy, gz = cross(x, y, z, N[g, 0], N[g, 1], N[g, 2])
        if fx * ex + fy * ey + fz * ez >= 0.0 and gx * ex + gy * ey + gz * ez >= 0.0:
            best, which = sine, e
    return which, best


@kernel
def ends_on_face(geometry, placed, work, core, solid, turned, f, start, size, margin, found):
    """Emit the balls at both ends of the part of a capsule that is over face f; returns whether they are apart."""
    p, r, h = geometry.shapes.polyhedron[solid], geometry.shapes.size[core, 0], geometry.shapes.size[core, 1]
    R, P, vertex, normal = placed.rot, placed.pos, work.vertex2, work.normal2
    place_face(geometry, placed, solid, f, P[core, 0], P[core, 1], P[core, 2], vertex, normal)
    ux, uy, uz = R[core, 0, 2], R[core, 1, 2], R[core, 2, 2]
    nx, ny, nz = normal[f, 0], normal[f, 1], normal[f, 2]
    bodies = geometry.bodies
    level = dot(vertex, bodies.loop[bodies.loop_start[bodies.face_start[p] + f]] - bodies.vertex_start[p], nx, ny, nz)
    low, high = stretch_over(bodies, p, f, vertex, -nx, -ny, -nz, 0.0, 0.0, 0.0, ux, uy, uz, h, 0.0)
    if not high - low > MERGED * size:
        return False
    for k in range(2):
        t = high if k else low
        d = t * (nx * ux + ny * uy + nz * uz) - level
        x, y, z = t * ux - d * nx, t * uy - d * ny, t * uz - d * nz
        name = feature(CORNER, 0, k, 0)
        emit_core(placed, core, solid, turned, start, MERGED * size, name, x, y, z, nx, ny, nz, d - r, margin, found)
    return True


@kernel
def ends_on_edge(geometry, placed, core, solid, turned, e, start, size, margin, found):
    """Emit the balls at both ends of the part of a capsule that is beside edge e; returns whether they are apart."""
    R, P, link, V = placed.rot, placed.pos, geometry.shapes.link[solid], geometry.bodies.vertex
    r, h, edges = geometry.shapes.size[core, 0], geometry.shapes.size[core, 1], geometry.edges
    ux, uy, uz = R[core, 0, 2], R[core, 1, 2], R[core, 2, 2]
    i = edges.edge[e, 0]
    x, y, z = rotate(placed.link_rot, link, V[i, 0], V[i, 1], V[i, 2])
    x, y, z = (
        x + placed.link_pos[link, 0] - P[core, 0],
        y + placed.link_pos[link, 1] - P[core, 1],
        z + placed.link_pos[link, 2] - P[core, 2],
    )
    ex, ey, ez = rotate(placed.link_rot, link, edges.edge_axis[e, 0], edges.edge_axis[e, 1], edges.edge_axis[e, 2])
    half = 0.5 * edges.edge_length[e]
    x, y, z = x + half * ex, y + half * ey, z + half * ez  # the edge's middle
    along, middle = half * abs(ex * ux + ey * uy + ez * uz), x * ux + y * uy + z * uz
    low, high = max(-h, middle - along), min(h, middle + along)
    if not high - low > MERGED * size:
        return False
    for k in range(2):
        t = high if k else low
        s = along_segment(t * ux, t * uy, t * uz, x, y, z, ex, ey, ez, half)
        qx, qy, qz = x + s * ex, y + s * ey, z + s * ez
        nx, ny, nz = t * ux - qx, t * uy - qy, t * uz - qz
        d = sqrt(nx * nx + ny * ny + nz * nz)
        if d > 0.0:
            nx, ny, nz, name = nx / d, ny / d, nz / d, feature(CORNER, 0, k, 1)
            emit_core(
                placed, core, solid, turned, start, MERGED * size, name, qx, qy, qz, nx, ny, nz, d - r, margin, found
            )
    return True


@kernel
def capsule_ends(geometry, placed, work, core, solid, turned, gap, x, y, z, start, size, margin, found):
    """Emit the contacts at the ends of the part that a capsule shares with a face or an edge, n = (x, y, z) [link
    frame]; returns whether no ball between them can be nearer."""
    p, T = geometry.shapes.polyhedron[solid], work.minkowski.pose
    ux, uy, uz, N = T[0, 2], T[1, 2], T[2, 2], geometry.bodies.normal
    if gap <= 0.0:  # the segment pierces the polyhedron
        return False
    f, cosine = face_along(geometry, p, x, y, z)
    face = geometry.bodies.face_start[p] + f
    tilt = abs(N[face, 0] * ux + N[face, 1] * uy + N[face, 2] * uz)
    if cosine > 1.0 - 0.5 * ALONG * ALONG and tilt < ALONG:
        two = ends_on_face(geometry, placed, work, core, solid, turned, f, start, size, margin, found)
        return two and tilt <= FLAT
    e, _ = parallel_edge(geometry, p, x, y, z, ux, uy, uz)
    if e >= 0:
        ends_on_edge(geometry, placed, core, solid, turned, e, start, size, margin, found)
    return False


@kernel
def cylinder_faces(geometry, placed, work, core, solid, turned, gap, x, y, z, px, py, pz, start, size, margin, found):
    """Emit the contacts of a cap or of the side with a face, if n = (x, y, z) [link frame] is the normal of one."""
    p, T, link = geometry.shapes.polyhedron[solid], work.minkowski.pose, geometry.shapes.link[solid]
    near, P = sqrt(1.0 - SAME * SAME), placed.pos
    along = x * T[0, 2] + y * T[1, 2] + z * T[2, 2]
    if abs(along) > near:
        s = 1.0 if along > 0.0 else -1.0
        x, y, z = s * T[0, 2], s * T[1, 2], s * T[2, 2]
        f, _ = face_along(geometry, p, x, y, z)
    else:
        f, cosine = face_along(geometry, p, x, y, z)
        if cosine < near:
            return
        face = geometry.bodies.face_start[p] + f
        x, y, z = geometry.bodies.normal[face, 0], geometry.bodies.normal[face, 1], geometry.bodies.normal[face, 2]
    place_face(geometry, placed, solid, f, P[core, 0], P[core, 1], P[core, 2], work.vertex2, work.normal2)
    nx, ny, nz = rotate(placed.link_rot, link, -x, -y, -z)
    out = Out(core, solid, turned, start, size)
    flat_contacts(geometry, placed, work, out, f, nx, ny, nz, gap, px, py, pz, margin, found)


@kernel
def face_below(geometry, space, p, size, gap, x, y, z, ax, ay, az):
    """(gap, normal, point of the polyhedron) of an ellipsoid: those of a face whose normal is near (x, y, z), if the
    separation along it is not smaller; else as they were. GJK knows the gap well, and the normal to its root only."""
    f, cosine = face_along(geometry, p, x, y, z)
    if cosine < 1.0 - 1e-5:
        return gap, x, y, z, ax, ay, az
    T, core, face = space.pose, space.core, geometry.bodies.face_start[p] + f
    fx, fy, fz = geometry.bodies.normal[face, 0], geometry.bodies.normal[face, 1], geometry.bodies.normal[face, 2]
    h, qx, qy, qz = 0.0, 0.0, 0.0, 0.0
    for j in range(3):
        u = core[2 + j] * core[2 + j] * (T[0, j] * fx + T[1, j] * fy + T[2, j] * fz)
        qx, qy, qz = qx + T[0, j] * u, qy + T[1, j] * u, qz + T[2, j] * u
    h = sqrt(qx * fx + qy * fy + qz * fz)
    qx, qy, qz = T[3, 0] - qx / h, T[3, 1] - qy / h, T[3, 2] - qz / h
    v = geometry.bodies.loop[geometry.bodies.loop_start[face]]
    V = geometry.bodies.vertex
    along = fx * (qx - V[v, 0]) + fy * (qy - V[v, 1]) + fz * (qz - V[v, 2])
    if along < gap - 1e-9 * size:
        return gap, x, y, z, ax, ay, az
    return along, fx, fy, fz, qx - along * fx, qy - along * fy, qz - along * fz


@kernel(inline=False)
def core_polyhedron(geometry, placed, work, core, solid, turned, margin, found):
    """Emit all contacts of a sphere, capsule or cylinder with a polyhedron; ``turned``: the core is the first shape."""
    shapes, space, P = geometry.shapes, work.minkowski, placed.pos
    p, link, kind, start = shapes.polyhedron[solid], shapes.link[solid], shapes.kind[core], found.total[0]
    radius = 0.0 if kind == CYLINDER or kind == ELLIPSOID else shapes.size[core, 0]
    for i in range(3):
        space.core[2 + i] = shapes.size[core, i] if kind == ELLIPSOID else 0.0
    space.core[0] = shapes.size[core, 0] if kind == CYLINDER else 0.0
    space.core[1] = shapes.size[core, 1] if kind == CYLINDER or kind == CAPSULE else 0.0
    relative_pose(placed, link, placed.rot, placed.pos, core, space.pose)
    size = shapes.radius[core] + geometry.bodies.radius[p]
    close, gap, x, y, z, ax, ay, az, _, _, _ = closest(geometry, work, p, -1, size, margin + radius)
    if not close:
        return
    if kind == ELLIPSOID:
        gap, x, y, z, ax, ay, az = face_below(geometry, space, p, size, gap, x, y, z, ax, ay, az)
    nx, ny, nz = rotate(placed.link_rot, link, x, y, z)
    px, py, pz = rotate(placed.link_rot, link, ax, ay, az)
    px, py, pz = (
        px + placed.link_pos[link, 0] - P[core, 0],
        py + placed.link_pos[link, 1] - P[core, 1],
        pz + placed.link_pos[link, 2] - P[core, 2],
    )
    if kind == CYLINDER:
        cylinder_faces(
            geometry, placed, work, core, solid, turned, gap, x, y, z, px, py, pz, start, size, margin, found
        )
        if found.total[0] > start:
            return
    elif kind == CAPSULE and capsule_ends(
        geometry, placed, work, core, solid, turned, gap, x, y, z, start, size, inf, found
    ):
        keep_near(found, start, margin, 0.0)
        return
    name = feature(WITHIN, 0, 0, 0)
    emit_core(placed, core, solid, turned, start, MERGED * size, name, px, py, pz, nx, ny, nz, gap - radius, inf, found)
    keep_near(found, start, margin, 0.0)


@kernel
def core_solid(geometry, placed, work, pairs, margin, found):
    """Contacts of spheres, capsules and cylinders with meshes, or with boxes, which may come first in their pairs."""
    for k in range(pairs.shape[0]):
        core, solid, turned = pairs[k, 0], pairs[k, 1], geometry.shapes.polyhedron[pairs[k, 0]] < 0
        if not turned:
            core, solid = solid, core
        core_polyhedron(geometry, placed, work, core, solid, turned, margin, found)
