"""The separating axes of a cylinder and a polyhedron: exact depth, and exact gap for the contacts listed here.

The faces of the Minkowski difference belong to a cap, a face, the side against an edge or a corner (closed forms), or a
rim against an edge (``rim``). The axis n points from the cylinder to the polyhedron; coordinates are relative to the
cylinder's centre. A rim against a corner, or against an edge parallel to it where it is nearest, has no such face.
"""

from __future__ import annotations

from math import acos, cos, inf, sin, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.placed_polyhedron import dot, lowest
from stickslip.collision.convex.rim import best_on_arc, support
from stickslip.math.spatial import cross

CAP, FACE, SIDE_EDGE, SIDE_CORNER, RIM_EDGE = range(5)
GRAZING = 1e-2
"""Sine of the angle between a rim and an edge below which they count as parallel."""


@kernel
def side_edge(edges, e, first, face, vertex, normal, ax, ay, az):
    """(whether edge e supports an axis perpendicular to a, that axis), for the cylinder's side against the edge."""
    f, g = edges.edge_face[e, 0] - face, edges.edge_face[e, 1] - face
    if dot(normal, f, ax, ay, az) * dot(normal, g, ax, ay, az) >= 0.0:
        return False, 0.0, 0.0, 0.0
    i, j = edges.edge[e, 0] - first, edges.edge[e, 1] - first
    ex, ey, ez = vertex[j, 0] - vertex[i, 0], vertex[j, 1] - vertex[i, 1], vertex[j, 2] - vertex[i, 2]
    x, y, z = cross(ex, ey, ez, ax, ay, az)
    length = sqrt(x * x + y * y + z * z)
    if length <= 1e-9 * sqrt(ex * ex + ey * ey + ez * ez):
        return False, 0.0, 0.0, 0.0
    if dot(normal, f, x, y, z) + dot(normal, g, x, y, z) > 0.0:
        length = -length
    return True, x / length, y / length, z / length


@kernel
def rim_edge(edges, e, first, face, vertex, normal, ax, ay, az, r, h):
    """(gap, axis) of the best axis inside the arc of edge e; −1e300 where there is none."""
    f, g = edges.edge_face[e, 0] - face, edges.edge_face[e, 1] - face
    px, py, pz = -normal[f, 0], -normal[f, 1], -normal[f, 2]
    cosine = -dot(normal, g, px, py, pz)
    wx, wy, wz = -normal[g, 0] - cosine * px, -normal[g, 1] - cosine * py, -normal[g, 2] - cosine * pz
    length = sqrt(wx * wx + wy * wy + wz * wz)
    if length < 1e-9:
        return -1e300, 0.0, 0.0, 0.0
    wx, wy, wz = wx / length, wy / length, wz / length
    i = edges.edge[e, 0] - first
    A, B = dot(vertex, i, px, py, pz), dot(vertex, i, wx, wy, wz)
    C, D = ax * px + ay * py + az * pz, ax * wx + ay * wy + az * wz
    gap, phi = best_on_arc(r, h, A, B, C, D, acos(min(max(cosine, -1.0), 1.0)))
    c, s = cos(phi), sin(phi)
    return gap, c * px + s * wx, c * py + s * wy, c * pz + s * wz


@kernel
def grazes(edges, e, first, vertex, ax, ay, az, nx, ny, nz):
    """Whether the rim is parallel to edge e where the normal is n; its tangent there is along a × n."""
    i, j = edges.edge[e, 0] - first, edges.edge[e, 1] - first
    ex, ey, ez = vertex[j, 0] - vertex[i, 0], vertex[j, 1] - vertex[i, 1], vertex[j, 2] - vertex[i, 2]
    tx, ty, tz = cross(ax, ay, az, nx, ny, nz)
    cx, cy, cz = cross(tx, ty, tz, ex, ey, ez)
    sine2 = cx * cx + cy * cy + cz * cz
    return sine2 <= GRAZING * GRAZING * (tx * tx + ty * ty + tz * tz) * (ex * ex + ey * ey + ez * ez)


@kernel
def corner_supports(edges, v, first, vertex, nx, ny, nz):
    """Whether corner v (shared index) is the lowest along n."""
    level = dot(vertex, v - first, nx, ny, nz)
    for i in range(edges.vertex_edge_start[v], edges.vertex_edge_start[v + 1]):
        e = edges.vertex_edge[i]
        w = edges.edge[e, 0] + edges.edge[e, 1] - v
        if dot(vertex, w - first, nx, ny, nz) < level:
            return False
    return True


@kernel(inline=False)
def cylinder_axis(bodies, edges, p, vertex, normal, ax, ay, az, r, h, tie, margin):
    """(gap, kind of feature, index, axis). Caps and faces win ties of ``tie`` [m]; gap ≥ margin means no contact."""
    best, what, which, nx, ny, nz = -inf, CAP, 0, ax, ay, az
    first, face = bodies.vertex_start[p], bodies.face_start[p]
    n = bodies.vertex_start[p + 1] - first
    for i in range(2):
        s = 1.0 if i == 0 else -1.0
        low, _ = lowest(vertex, n, s * ax, s * ay, s * az)
        if low - h > best:
            best, which, nx, ny, nz = low - h, i, s * ax, s * ay, s * az
    for f in range(bodies.face_start[p + 1] - face):
        x, y, z = -normal[f, 0], -normal[f, 1], -normal[f, 2]
        v = bodies.loop[bodies.loop_start[face + f]] - first
        gap = dot(vertex, v, x, y, z) - support(r, h, ax * x + ay * y + az * z)
        if gap > best + tie:
            best, what, which, nx, ny, nz = gap, FACE, f, x, y, z
    if best >= margin:
        return best, what, which, nx, ny, nz
    tie += best
    for e in range(bodies.edge_start[p], bodies.edge_start[p + 1]):
        there, x, y, z = side_edge(edges, e, first, face, vertex, normal, ax, ay, az)
        if there:
            gap = dot(vertex, edges.edge[e, 0] - first, x, y, z) - r
            if gap > best and gap > tie:
                best, what, which, nx, ny, nz = gap, SIDE_EDGE, e, x, y, z
    for v in range(first, first + n):
        along = dot(vertex, v - first, ax, ay, az)
        i = v - first
        x, y, z = vertex[i, 0] - along * ax, vertex[i, 1] - along * ay, vertex[i, 2] - along * az
        rho = sqrt(x * x + y * y + z * z)
        if rho - r > best and rho - r > tie and rho > 1e-12 * r:
            x, y, z = x / rho, y / rho, z / rho
            if corner_supports(edges, v, first, vertex, x, y, z):
                best, what, which, nx, ny, nz = rho - r, SIDE_CORNER, v, x, y, z
    for e in range(bodies.edge_start[p], bodies.edge_start[p + 1]):
        if best >= margin:
            break
        gap, x, y, z = rim_edge(edges, e, first, face, vertex, normal, ax, ay, az, r, h)
        if gap > best and gap > tie:
            best, what, which, nx, ny, nz = gap, RIM_EDGE, e, x, y, z
    return best, what, which, nx, ny, nz
