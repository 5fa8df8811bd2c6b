"""Convex meshes against boxes and meshes of any size: axis by GJK and EPA, then the manifold.

1. ``nearest_points`` gives the distance and the axis n of separate bodies; if they touch or overlap, ``deepest_face``
   gives the axis of least depth.
2. If n is within ``SAME`` rad of the normal of a face (the reference face), the most opposed face of the other body is
   clipped by the reference face's sides, as for two boxes. Every remaining corner whose gap along the normal is below
   the margin is a contact; of these the few that ``spread`` chooses are kept.
3. Otherwise, or if the least of these gaps is not the one found in 1, corners or edges touch, and there is one contact,
   at the nearest points.

Only the corners of the two faces are moved to the world, so that the cost does not grow with the size of the meshes.
"""

from __future__ import annotations

from math import inf, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.climb import farthest
from stickslip.collision.convex.epa import deepest_face
from stickslip.collision.convex.geometry import WITHIN, emit, feature
from stickslip.collision.convex.gjk import APART, OVERLAP, nearest_points
from stickslip.collision.convex.placed_polyhedron import place_face
from stickslip.collision.convex.polyhedron_polyhedron import emit_face
from stickslip.collision.convex.simplex import nearest_on_triangle
from stickslip.collision.convex.spread import spread
from stickslip.math.spatial import rotate, rotate_transposed

SAME = 1e-4
"""Angle [rad] below which the axis counts as the normal of a face. It is less than for boxes, because meshes may have
many faces at small angles."""
EXACT = 1e-5
"""Relative difference of gaps up to which a manifold is that of the nearest points; of the size, its square."""
MOST_APART = 5e-10
"""Largest such difference of separate bodies, relative to the size: their gaps are exact to 1e-9."""
SLIVER = 1e-8
"""Square of the sine of a triangle's angle below which its plane is not used."""
BESIDE = 3.0
"""Largest weight of a corner whose foot counts as on the same facet."""
FLUSH = 1e-8
"""Fraction of the size: at gaps and depths up to ten times that, GJK and EPA see flush faces only to this accuracy."""


@kernel
def relative_pose(placed, i, rot, pos, j, pose):
    """Write the pose of row j of ``rot`` and ``pos`` (links or shapes, in the world) in the frame of link i."""
    R, P = placed.link_rot, placed.link_pos
    for c in range(3):
        for k in range(3):
            pose[c, k] = R[i, 0, c] * rot[j, 0, k] + R[i, 1, c] * rot[j, 1, k] + R[i, 2, c] * rot[j, 2, k]
    x, y, z = pos[j, 0] - P[i, 0], pos[j, 1] - P[i, 1], pos[j, 2] - P[i, 2]
    pose[3, 0], pose[3, 1], pose[3, 2] = rotate_transposed(R, i, x, y, z)


@kernel
def blend(C, i, j, k, r, s, t, c):
    """r, s and t times columns c … c + 2 of rows i, j and k."""
    return (
        r * C[i, c] + s * C[j, c] + t * C[k, c],
        r * C[i, c + 1] + s * C[j, c + 1] + t * C[k, c + 1],
        r * C[i, c + 2] + s * C[j, c + 2] + t * C[k, c + 2],
    )


@kernel(inline=False)
def closest(geometry, work, p, q, size, margin):
    """(whether the gap is below the margin, gap, unit axis from A to B, point on A, point on B), in A's link frame.

    ``work.minkowski.pose`` holds the pose of B in A; q < 0: B is ``work.minkowski.core``.
    """
    space = work.minkowski
    C, w = space.corner, space.weight
    state, n, x, y, z = nearest_points(geometry, space, p, q, size, margin)
    if state == APART:
        return False, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    ax, ay, az, bx, by, bz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if state == OVERLAP:
        found, x, y, z, i, j, k = deepest_face(geometry, space, work.polytope, p, q, n, size)
        if not found:
            return False, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        gap = -(x * C[i, 0] + y * C[i, 1] + z * C[i, 2])
        r, s, t = weights_of_foot(C, i, j, k)
        ax, ay, az = blend(C, i, j, k, r, s, t, 3)
        bx, by, bz = blend(C, i, j, k, r, s, t, 6)
        return gap < margin, gap, -x, -y, -z, ax, ay, az, bx, by, bz
    for i in range(n):
        ax, ay, az = ax + w[i] * C[i, 3], ay + w[i] * C[i, 4], az + w[i] * C[i, 5]
        bx, by, bz = bx + w[i] * C[i, 6], by + w[i] * C[i, 7], bz + w[i] * C[i, 8]
    gap = sqrt(x * x + y * y + z * z)
    return gap < margin, gap, x / gap, y / gap, z / gap, ax, ay, az, bx, by, bz


@kernel
def weights_of_foot(C, i, j, k):
    """(r, s, t) with which corners i, j and k give the foot of the origin on their plane.

    A facet of B − A that is a parallelogram (an edge of each body) or a larger face is found as one of its triangles,
    and the foot may lie beside that triangle. The points of both bodies are affine on the facet, so that weights
    outside 0 … 1 give the right ones. Where the foot is far outside, the nearest point on the triangle is taken.
    """
    ex, ey, ez = C[j, 0] - C[i, 0], C[j, 1] - C[i, 1], C[j, 2] - C[i, 2]
    fx, fy, fz = C[k, 0] - C[i, 0], C[k, 1] - C[i, 1], C[k, 2] - C[i, 2]
    ee, ff, ef = ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz, ex * fx + ey * fy + ez * fz
    de = -(ex * C[i, 0] + ey * C[i, 1] + ez * C[i, 2])
    df = -(fx * C[i, 0] + fy * C[i, 1] + fz * C[i, 2])
    determinant = ee * ff - ef * ef
    if determinant > SLIVER * ee * ff:
        s, t = (ff * de - ef * df) / determinant, (ee * df - ef * de) / determinant
        if max(abs(s), abs(t), abs(1.0 - s - t)) <= BESIDE:
            return 1.0 - s - t, s, t
    _, r, s, t = nearest_on_triangle(C, i, j, k)
    return r, s, t


@kernel
def face_along(geometry, p, x, y, z):
    """(face, cosine): of the faces (local index) at the farthest corner of polyhedron p along a direction [link frame],
    the one whose normal is nearest to it."""
    v = farthest(geometry.bodies, geometry.climb, p, x, y, z, -1)
    edges, N = geometry.edges, geometry.bodies.normal
    best, which = -2.0, 0
    for k in range(edges.vertex_face_start[v], edges.vertex_face_start[v + 1]):
        f = edges.vertex_face[k]
        d = N[f, 0] * x + N[f, 1] * y + N[f, 2] * z
        if d > best:
            best, which = d, f
    return which - geometry.bodies.face_start[p], best


@kernel
def into(T, x, y, z):
    """A vector of A's frame in B's."""
    return (
        T[0, 0] * x + T[1, 0] * y + T[2, 0] * z,
        T[0, 1] * x + T[1, 1] * y + T[2, 1] * z,
        T[0, 2] * x + T[1, 2] * y + T[2, 2] * z,
    )


@kernel
def out_of(T, x, y, z):
    """A vector of B's frame in A's."""
    return (
        T[0, 0] * x + T[0, 1] * y + T[0, 2] * z,
        T[1, 0] * x + T[1, 1] * y + T[1, 2] * z,
        T[2, 0] * x + T[2, 1] * y + T[2, 2] * z,
    )


@kernel
def clip_faces(geometry, placed, work, a, b, x, y, z, size, margin, found):
    """Emit the contacts of two faces, if the axis (x, y, z) [A's link frame] is the normal of one of them."""
    p, q, T = geometry.shapes.polyhedron[a], geometry.shapes.polyhedron[b], work.minkowski.pose
    N, near = geometry.bodies.normal, sqrt(1.0 - SAME * SAME)
    f, cosine = face_along(geometry, p, x, y, z)
    reference = 0
    if cosine >= near:
        face = geometry.bodies.face_start[p] + f
        u, v, w = into(T, -N[face, 0], -N[face, 1], -N[face, 2])
        g, _ = face_along(geometry, q, u, v, w)
    else:
        u, v, w = into(T, -x, -y, -z)
        g, cosine = face_along(geometry, q, u, v, w)
        if cosine < near:
            return
        reference = 1
        face = geometry.bodies.face_start[q] + g
        u, v, w = out_of(T, -N[face, 0], -N[face, 1], -N[face, 2])
        f, _ = face_along(geometry, p, u, v, w)
    ox, oy, oz = placed.pos[a, 0], placed.pos[a, 1], placed.pos[a, 2]
    place_face(geometry, placed, a, f, ox, oy, oz, work.vertex1, work.normal1)
    place_face(geometry, placed, b, g, ox, oy, oz, work.vertex2, work.normal2)
    if reference == 0:
        emit_face(geometry, placed, work, a, b, 0, f, g, size, margin, found)
    else:
        emit_face(geometry, placed, work, a, b, 1, g, f, size, margin, found)


@kernel
def agrees(found, start, gap, size):
    """Whether the least gap of the contacts from ``start`` on is the distance or depth of the bodies: a face whose
    normal is only near to the axis may not be the one that touches.

    Contacts of flush faces may be nearer than ``gap``: each is a point of one body over a face of the other, so
    that its gap bounds the distance from above, and GJK may end a little above the distance of flush faces.
    """
    least = inf
    for c in range(start, min(found.total[0], found.gap.shape[0])):
        least = min(least, found.gap[c])
    allowed = EXACT * (abs(gap) + size * EXACT)
    if gap > 0.0:
        allowed = min(allowed, MOST_APART * size)
    low, high = gap - allowed, gap + allowed
    if abs(gap) <= 10.0 * FLUSH * size:
        low = min(gap, 0.0) - FLUSH * size
        high = gap + (FLUSH * size if gap <= 0.0 else allowed)
    return low <= least <= high or found.total[0] > found.gap.shape[0]


@kernel(inline=False)
def hull_hull(geometry, placed, work, pairs, margin, found):
    """Contacts of pairs (n, 2) of polyhedra."""
    R, P, T = placed.link_rot, placed.link_pos, work.minkowski.pose
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        p, q, i = geometry.shapes.polyhedron[a], geometry.shapes.polyhedron[b], geometry.shapes.link[a]
        size = geometry.bodies.radius[p] + geometry.bodies.radius[q]
        relative_pose(placed, i, R, P, geometry.shapes.link[b], T)
        near, gap, x, y, z, _, _, _, bx, by, bz = closest(geometry, work, p, q, size, margin)
        if not near:
            continue
        start = found.total[0]
        clip_faces(geometry, placed, work, a, b, x, y, z, size, margin, found)
        if agrees(found, start, gap, size):
            spread(found, start, geometry.points[0], size, margin)
            continue
        found.total[0] = start
        x, y, z = rotate(R, i, x, y, z)
        bx, by, bz = rotate(R, i, bx, by, bz)
        name = feature(WITHIN, 0, 0, 0)
        emit(found, a, b, name, bx + P[i, 0], by + P[i, 1], bz + P[i, 2], x, y, z, gap)
