"""The separating axes of two polyhedra: exact depth, and exact gap wherever faces or crossing edges face each other.

The faces of the Minkowski difference B − A are those of A, the negatives of those of B, and one for every two edges
whose arcs on the Gauss map cross. The gap along an axis n is min n·x_B − max n·x_A. Its largest value over these axes
is minus the penetration depth. For separate bodies it is the distance, if the nearest features are a corner and a face
or two crossing edges. (Gottschalk, Lin, Manocha, OBBTree, SIGGRAPH 1996, for boxes; Gregorius, The Separating Axis Test
between Convex Polyhedra, GDC 2013, for the test of arcs.)
"""

from __future__ import annotations

from math import inf, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.placed_polyhedron import dot, lowest
from stickslip.math.spatial import cross

NEARLY_PARALLEL = 1e-7
"""Sine below which two edges count as parallel and give no axis; a face normal serves as well."""


@kernel
def face_axis(bodies, p, q, vertex1, normal1, vertex2, margin):
    """(gap, face) of the face of polyhedron p that is farthest from polyhedron q; stops once the margin is exceeded."""
    best, which = -inf, 0
    n = bodies.vertex_start[q + 1] - bodies.vertex_start[q]
    first, corner = bodies.face_start[p], bodies.vertex_start[p]
    for f in range(bodies.face_start[p + 1] - first):
        x, y, z = normal1[f, 0], normal1[f, 1], normal1[f, 2]
        low, _ = lowest(vertex2, n, x, y, z)
        gap = low - dot(vertex1, bodies.loop[bodies.loop_start[first + f]] - corner, x, y, z)
        if gap > best:
            best, which = gap, f
            if gap >= margin:
                break
    return best, which


@kernel
def edge_vector(edges, e, first, vertex):
    i, j = edges.edge[e, 0] - first, edges.edge[e, 1] - first
    return vertex[j, 0] - vertex[i, 0], vertex[j, 1] - vertex[i, 1], vertex[j, 2] - vertex[i, 2]


@kernel
def edge_axis(bodies, edges, p, q, vertex1, normal1, vertex2, normal2, margin):
    """(gap, edge of p, edge of q, axis) of the two edges farthest apart; stops once the margin is exceeded.

    The direction of an edge is that of n₁ × n₂, the normals of its faces. Two arcs cross if the plane of each edge
    separates the other's normals and both arcs are on one hemisphere.
    """
    best, be, bf, bx, by, bz = -inf, 0, 0, 0.0, 0.0, 0.0
    v1, v2, f1, f2 = bodies.vertex_start[p], bodies.vertex_start[q], bodies.face_start[p], bodies.face_start[q]
    for e in range(bodies.edge_start[p], bodies.edge_start[p + 1]):
        ex, ey, ez = edge_vector(edges, e, v1, vertex1)
        a, b = edges.edge_face[e, 0] - f1, edges.edge_face[e, 1] - f1
        for f in range(bodies.edge_start[q], bodies.edge_start[q + 1]):
            m1 = dot(normal2, edges.edge_face[f, 0] - f2, ex, ey, ez)
            m2 = dot(normal2, edges.edge_face[f, 1] - f2, ex, ey, ez)
            if m1 * m2 >= 0.0:
                continue
            gx, gy, gz = edge_vector(edges, f, v2, vertex2)
            n1, n2 = dot(normal1, a, gx, gy, gz), dot(normal1, b, gx, gy, gz)
            if n1 * n2 >= 0.0 or m1 * n2 >= 0.0:
                continue
            x, y, z = cross(ex, ey, ez, gx, gy, gz)
            length2 = x * x + y * y + z * z
            e2, g2 = ex * ex + ey * ey + ez * ez, gx * gx + gy * gy + gz * gz
            if length2 <= NEARLY_PARALLEL * NEARLY_PARALLEL * e2 * g2:
                continue
            length = sqrt(length2)
            if dot(normal1, a, x, y, z) + dot(normal1, b, x, y, z) < 0.0:
                length = -length
            x, y, z = x / length, y / length, z / length
            gap = dot(vertex2, edges.edge[f, 0] - v2, x, y, z) - dot(vertex1, edges.edge[e, 0] - v1, x, y, z)
            if gap > best:
                best, be, bf, bx, by, bz = gap, e, f, x, y, z
                if gap >= margin:
                    return best, be, bf, bx, by, bz
    return best, be, bf, bx, by, bz
