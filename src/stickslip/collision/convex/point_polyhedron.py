"""The exact nearest point of a polyhedron to a point: on a face or an edge; for an inner point, on the nearest face."""

from __future__ import annotations

from math import inf, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.placed_polyhedron import dot
from stickslip.math.spatial import cross


@kernel
def over_face(bodies, p, f, vertex, normal, x, y, z):
    """Whether the foot of the perpendicular on the plane of face f (local number) lies in the face."""
    corner = bodies.vertex_start[p]
    begin, end = bodies.loop_start[bodies.face_start[p] + f], bodies.loop_start[bodies.face_start[p] + f + 1]
    for i in range(begin, end):
        a = bodies.loop[i] - corner
        b = bodies.loop[i + 1 if i + 1 < end else begin] - corner
        ex, ey, ez = vertex[b, 0] - vertex[a, 0], vertex[b, 1] - vertex[a, 1], vertex[b, 2] - vertex[a, 2]
        sx, sy, sz = cross(ex, ey, ez, normal[f, 0], normal[f, 1], normal[f, 2])
        if (x - vertex[a, 0]) * sx + (y - vertex[a, 1]) * sy + (z - vertex[a, 2]) * sz > 0.0:
            return False
    return True


@kernel
def face_level(bodies, p, f, vertex, normal):
    """n·x on face f (local number)."""
    v = bodies.loop[bodies.loop_start[bodies.face_start[p] + f]] - bodies.vertex_start[p]
    return dot(vertex, v, normal[f, 0], normal[f, 1], normal[f, 2])


@kernel(inline=False)
def point_polyhedron(bodies, edges, p, vertex, normal, x, y, z):
    """(signed distance, outward normal, nearest point) of the polyhedron from a point, all about the work's origin."""
    depth, face = -inf, 0
    for f in range(bodies.face_start[p + 1] - bodies.face_start[p]):
        d = dot(normal, f, x, y, z) - face_level(bodies, p, f, vertex, normal)
        if d > depth:
            depth, face = d, f
        if d > 0.0 and over_face(bodies, p, f, vertex, normal, x, y, z):
            depth, face = d, f
            break
    nx, ny, nz = normal[face, 0], normal[face, 1], normal[face, 2]
    if depth <= 0.0 or over_face(bodies, p, face, vertex, normal, x, y, z):
        return depth, nx, ny, nz, x - depth * nx, y - depth * ny, z - depth * nz
    best, qx, qy, qz, corner = inf, 0.0, 0.0, 0.0, bodies.vertex_start[p]
    for e in range(bodies.edge_start[p], bodies.edge_start[p + 1]):
        a, b = edges.edge[e, 0] - corner, edges.edge[e, 1] - corner
        ex, ey, ez = vertex[b, 0] - vertex[a, 0], vertex[b, 1] - vertex[a, 1], vertex[b, 2] - vertex[a, 2]
        t = (x - vertex[a, 0]) * ex + (y - vertex[a, 1]) * ey + (z - vertex[a, 2]) * ez
        t = min(max(t / (ex * ex + ey * ey + ez * ez), 0.0), 1.0)
        cx, cy, cz = vertex[a, 0] + t * ex, vertex[a, 1] + t * ey, vertex[a, 2] + t * ez
        d = (x - cx) * (x - cx) + (y - cy) * (y - cy) + (z - cz) * (z - cz)
        if d < best:
            best, qx, qy, qz = d, cx, cy, cz
    distance = sqrt(best)
    if distance <= 1e-150:  # on an edge: any normal between those of its faces will do
        return 0.0, nx, ny, nz, qx, qy, qz
    return distance, (x - qx) / distance, (y - qy) / distance, (z - qz) / distance, qx, qy, qz
