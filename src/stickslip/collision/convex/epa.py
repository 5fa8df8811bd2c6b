"""The depth of two overlapping convex shapes: the face of B − A nearest to the origin, by the expanding polytope.

A polytope of corners of B − A grows from a tetrahedron. Its face with the least signed distance from the origin is
replaced by faces to the corner of B − A farthest along its normal, until there is none farther. The distance of a face
is negative if the origin is outside of it. So the first tetrahedron need not hold the origin, and shapes that just
touch, or are apart by round-off, end at the face that separates them.
Reference: van den Bergen, Proximity queries and penetration depth computation on 3D game objects, GDC 2001.
Differs from it in: signed distances, and a first tetrahedron that is large wherever the nearest points are.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.convex.gjk import Minkowski, support
from stickslip.math.spatial import cross

MOST_CORNERS = 160
MOST_FACES = 3 * MOST_CORNERS
PRECISE = 1e-10
"""Distance, as a fraction of the size, by which a new corner must be farther."""
THIN = 1e-12
"""Height of a new face, as a fraction of the size, below which it is dropped, and the search ends."""


class Polytope(NamedTuple):
    """Scratch: the faces of the polytope; its corners are those of ``Minkowski``."""

    face: np.ndarray
    """(MOST_FACES, 3) corners, counter-clockwise seen from outside."""
    plane: np.ndarray
    """(MOST_FACES, 4) outward unit normal, and its product with the face's points [m]."""
    rim: np.ndarray
    """(MOST_FACES, 2) edges between the faces that stay and those that go."""


def make_polytope() -> Polytope:
    face, rim = np.zeros((MOST_FACES, 3), dtype=np.int64), np.zeros((MOST_FACES, 2), dtype=np.int64)
    return Polytope(face, np.zeros((MOST_FACES, 4)), rim)


@kernel
def add_face(C, polytope, faces, i, j, k, size):
    """Write face ``faces`` with these corners; returns False if it is too thin to have a normal."""
    ux, uy, uz = C[j, 0] - C[i, 0], C[j, 1] - C[i, 1], C[j, 2] - C[i, 2]
    vx, vy, vz = C[k, 0] - C[i, 0], C[k, 1] - C[i, 1], C[k, 2] - C[i, 2]
    nx, ny, nz = cross(ux, uy, uz, vx, vy, vz)
    length = sqrt(nx * nx + ny * ny + nz * nz)
    longest = max(ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz)
    if not length > THIN * size * sqrt(longest):
        return False
    nx, ny, nz = nx / length, ny / length, nz / length
    F, H = polytope.face, polytope.plane
    F[faces, 0], F[faces, 1], F[faces, 2] = i, j, k
    H[faces, 0], H[faces, 1], H[faces, 2] = nx, ny, nz
    H[faces, 3] = nx * C[i, 0] + ny * C[i, 1] + nz * C[i, 2]
    return True


@kernel
def volume(C, i, j, k, m):
    """Six times the volume of the tetrahedron; positive if i, j, k run clockwise seen from m."""
    ux, uy, uz = C[j, 0] - C[i, 0], C[j, 1] - C[i, 1], C[j, 2] - C[i, 2]
    vx, vy, vz = C[k, 0] - C[i, 0], C[k, 1] - C[i, 1], C[k, 2] - C[i, 2]
    nx, ny, nz = cross(ux, uy, uz, vx, vy, vz)
    return nx * (C[m, 0] - C[i, 0]) + ny * (C[m, 1] - C[i, 1]) + nz * (C[m, 2] - C[i, 2])


@kernel
def swap(space, i, j):
    C, N = space.corner, space.name
    for c in range(9):
        C[i, c], C[j, c] = C[j, c], C[i, c]
    N[i, 0], N[j, 0] = N[j, 0], N[i, 0]
    N[i, 1], N[j, 1] = N[j, 1], N[i, 1]


@kernel(inline=False)
def first_tetrahedron(geometry, space, p, q):
    """Write four corners that span a large tetrahedron; returns six times its volume."""
    C = space.corner
    best, axis = -1.0, 0
    for i in range(3):  # the longest extent along an axis of A
        x, y, z = (1.0 if i == 0 else 0.0), (1.0 if i == 1 else 0.0), (1.0 if i == 2 else 0.0)
        support(geometry, space, p, q, 4, x, y, z, -1, -1)
        support(geometry, space, p, q, 5, -x, -y, -z, -1, -1)
        if C[4, i] - C[5, i] > best:
            best, axis = C[4, i] - C[5, i], i
            swap(space, 0, 4)
            swap(space, 1, 5)
    ex, ey, ez = C[1, 0] - C[0, 0], C[1, 1] - C[0, 1], C[1, 2] - C[0, 2]
    ux, uy, uz = cross(ex, ey, ez, 1.0 if axis == 2 else 0.0, 1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0)
    best = -1.0
    for i in range(4):  # the corner farthest from that line, of four directions around it
        x, y, z = ux, uy, uz
        if i >= 2:
            x, y, z = cross(ex, ey, ez, ux, uy, uz)
        if i & 1:
            x, y, z = -x, -y, -z
        support(geometry, space, p, q, 4, x, y, z, -1, -1)
        ax, ay, az = cross(ex, ey, ez, C[4, 0] - C[0, 0], C[4, 1] - C[0, 1], C[4, 2] - C[0, 2])
        area = ax * ax + ay * ay + az * az
        if area > best:
            best = area
            swap(space, 2, 4)
    x, y, z = cross(ex, ey, ez, C[2, 0] - C[0, 0], C[2, 1] - C[0, 1], C[2, 2] - C[0, 2])
    support(geometry, space, p, q, 3, x, y, z, -1, -1)
    support(geometry, space, p, q, 4, -x, -y, -z, -1, -1)
    if abs(volume(C, 0, 1, 2, 4)) > abs(volume(C, 0, 1, 2, 3)):
        swap(space, 3, 4)
    return volume(C, 0, 1, 2, 3)


@kernel
def cut_visible(space, polytope, faces, top, size):
    """Drop the faces that corner ``top`` sees; returns (faces left, edges of the rim)."""
    C, F, H, rim = space.corner, polytope.face, polytope.plane, polytope.rim
    x, y, z = C[top, 0], C[top, 1], C[top, 2]
    left, edges = 0, 0
    for f in range(faces):
        if H[f, 0] * x + H[f, 1] * y + H[f, 2] * z - H[f, 3] <= THIN * size:
            if left < f:
                for c in range(3):
                    F[left, c] = F[f, c]
                for c in range(4):
                    H[left, c] = H[f, c]
            left += 1
            continue
        for c in range(3):
            i, j = F[f, c], F[f, c + 1 if c < 2 else 0]
            shared = -1
            for e in range(edges):
                if rim[e, 0] == j and rim[e, 1] == i:
                    shared = e
                    break
            if shared >= 0:  # an edge between two faces that go
                edges -= 1
                rim[shared, 0], rim[shared, 1] = rim[edges, 0], rim[edges, 1]
            else:
                rim[edges, 0], rim[edges, 1] = i, j
                edges += 1
    return left, edges


@kernel
def nearest_face(polytope, faces):
    best, which = inf, 0
    for f in range(faces):
        if polytope.plane[f, 3] < best:
            best, which = polytope.plane[f, 3], f
    return which


@kernel(inline=False)
def deepest_face(geometry, space: Minkowski, polytope: Polytope, p, q, corners, size):
    """(found, outward unit normal of B − A, three corners) of its face nearest to the origin; ``corners`` = 4 if the
    first four corners of ``space`` are a tetrahedron around the origin."""
    C, N, F, H = space.corner, space.name, polytope.face, polytope.plane
    v = volume(C, 0, 1, 2, 3) if corners == 4 else 0.0
    if abs(v) < 1e-3 * size * size * size:
        v = first_tetrahedron(geometry, space, p, q)
    if v > 0.0:
        swap(space, 0, 1)
    good = add_face(C, polytope, 0, 0, 1, 2, size) and add_face(C, polytope, 1, 0, 3, 1, size)
    if not (good and add_face(C, polytope, 2, 1, 3, 2, size) and add_face(C, polytope, 3, 2, 3, 0, size)):
        return False, 0.0, 0.0, 1.0, 0, 0, 0
    faces = 4
    for top in range(4, MOST_CORNERS):
        f = nearest_face(polytope, faces)
        x, y, z, i, j, k = H[f, 0], H[f, 1], H[f, 2], F[f, 0], F[f, 1], F[f, 2]
        support(geometry, space, p, q, top, x, y, z, N[i, 0], N[i, 1])
        if x * C[top, 0] + y * C[top, 1] + z * C[top, 2] - H[f, 3] <= PRECISE * size:
            return True, x, y, z, i, j, k
        left, edges = cut_visible(space, polytope, faces, top, size)
        if edges < 3 or left + edges > MOST_FACES:
            return True, x, y, z, i, j, k
        faces = left
        for e in range(edges):
            if not add_face(C, polytope, faces, polytope.rim[e, 0], polytope.rim[e, 1], top, size):
                return True, x, y, z, i, j, k
            faces += 1
    f = nearest_face(polytope, faces)
    return True, H[f, 0], H[f, 1], H[f, 2], F[f, 0], F[f, 1], F[f, 2]
