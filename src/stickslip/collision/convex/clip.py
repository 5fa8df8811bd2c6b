"""The overlap of two faces, seen along a normal: one face is clipped by the side planes of the other.

Side planes contain the edges of the reference face and the normal (Sutherland, Hodgman, CACM 17(1), 1974). They are
moved inwards by ``SHRINK`` of the size, so that faces that meet only at their rims do not overlap, a peg that just fits
a hole passes its rim, and the corners of flush faces keep one name instead of changing between two by round-off.

Each corner of the result has a name that persists while the same features touch: (CORNER, corner of the incident
polyhedron, 0), (CROSSING, edge of the incident loop, edge of the reference loop) or (CLIPPED, two edges of the
reference loop).
"""

from __future__ import annotations

from math import inf, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import CLIPPED, CORNER, CROSSING
from stickslip.math.spatial import cross

SHRINK = 1e-10


@kernel
def load_face(bodies, p, f, vertex, work):
    """Load face f (local index) of polyhedron p as the polygon to be clipped; returns its number of corners."""
    face, first, corner = bodies.face_start[p] + f, bodies.loop_start[bodies.face_start[p]], bodies.vertex_start[p]
    begin = bodies.loop_start[face]
    n = bodies.loop_start[face + 1] - begin
    for i in range(n):
        v = bodies.loop[begin + i] - corner
        for j in range(3):
            work.polygon[0, i, j] = vertex[v, j]
        work.label[0, i, 0], work.label[0, i, 1], work.label[0, i, 2] = CORNER, v, 0
        work.label[0, i, 3] = begin + i - first
    return n


@kernel
def cut(work, source, n, px, py, pz, sx, sy, sz, edge):
    """Keep the part of the polygon inside the plane through p with outward normal s; returns its number of corners.

    ``edge`` ≥ 0 is the index of the plane. Edges of the polygon are labelled by their index ≥ 0 if they are original,
    and by −1 − plane if they lie in a clipping plane.
    """
    G, L, target, m = work.polygon, work.label, 1 - source, 0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        di = (G[source, i, 0] - px) * sx + (G[source, i, 1] - py) * sy + (G[source, i, 2] - pz) * sz
        dj = (G[source, j, 0] - px) * sx + (G[source, j, 1] - py) * sy + (G[source, j, 2] - pz) * sz
        if di <= 0.0:
            for k in range(3):
                G[target, m, k] = G[source, i, k]
            for k in range(4):
                L[target, m, k] = L[source, i, k]
            m += 1
        if (di <= 0.0) != (dj <= 0.0):
            t = di / (di - dj)
            for k in range(3):
                G[target, m, k] = G[source, i, k] + t * (G[source, j, k] - G[source, i, k])
            old = L[source, i, 3]
            if old >= 0:
                L[target, m, 0], L[target, m, 1], L[target, m, 2] = CROSSING, old, edge
            else:
                L[target, m, 0] = CLIPPED
                L[target, m, 1], L[target, m, 2] = min(-1 - old, edge), max(-1 - old, edge)
            L[target, m, 3] = -1 - edge if di <= 0.0 else old
            m += 1
    return m


@kernel
def clip_to_face(bodies, p, f, vertex, nx, ny, nz, size, work, n):
    """Clip the loaded polygon of n corners by the sides of face f of polyhedron p along ±(nx, ny, nz). Returns (index
    of the buffer that holds the result, its number of corners)."""
    face, first, corner = bodies.face_start[p] + f, bodies.loop_start[bodies.face_start[p]], bodies.vertex_start[p]
    begin, end = bodies.loop_start[face], bodies.loop_start[face + 1]
    source = 0
    for i in range(begin, end):
        a = bodies.loop[i] - corner
        b = bodies.loop[i + 1 if i + 1 < end else begin] - corner
        ex, ey, ez = vertex[b, 0] - vertex[a, 0], vertex[b, 1] - vertex[a, 1], vertex[b, 2] - vertex[a, 2]
        sx, sy, sz = cross(ex, ey, ez, nx, ny, nz)
        length = sqrt(sx * sx + sy * sy + sz * sz)
        sx, sy, sz = sx / length, sy / length, sz / length
        inset = SHRINK * size
        px, py, pz = vertex[a, 0] - inset * sx, vertex[a, 1] - inset * sy, vertex[a, 2] - inset * sz
        n = cut(work, source, n, px, py, pz, sx, sy, sz, i - first)
        source = 1 - source
        if n == 0:
            break
    return source, n


@kernel
def stretch_over(bodies, p, f, vertex, nx, ny, nz, px, py, pz, ux, uy, uz, h, size):
    """The part low ≤ t ≤ high of the segment p + t·u, |t| ≤ h, that is over face f, seen along n."""
    corner, low, high = bodies.vertex_start[p], -h, h
    begin, end = bodies.loop_start[bodies.face_start[p] + f], bodies.loop_start[bodies.face_start[p] + f + 1]
    for i in range(begin, end):
        a = bodies.loop[i] - corner
        b = bodies.loop[i + 1 if i + 1 < end else begin] - corner
        ex, ey, ez = vertex[b, 0] - vertex[a, 0], vertex[b, 1] - vertex[a, 1], vertex[b, 2] - vertex[a, 2]
        sx, sy, sz = cross(ex, ey, ez, -nx, -ny, -nz)  # outwards in the face's plane, since n points into the face
        inset = SHRINK * size * sqrt(sx * sx + sy * sy + sz * sz)
        rate = ux * sx + uy * sy + uz * sz
        level = (vertex[a, 0] - px) * sx + (vertex[a, 1] - py) * sy + (vertex[a, 2] - pz) * sz - inset
        if rate > 0.0:
            high = min(high, level / rate)
        elif rate < 0.0:
            low = max(low, level / rate)
        elif level < 0.0:
            low = inf
    return low, high
