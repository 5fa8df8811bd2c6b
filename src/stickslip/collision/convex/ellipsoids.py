"""Ellipsoids against all other shapes: one contact, at the nearest or deepest points.

Planes have a closed form, and spheres one equation for one number (``point_ellipsoid``). Boxes, capsules, cylinders and
ellipsoids go by the direction of largest separation (``ellipsoid_axis``), meshes by GJK and EPA (``rounded``),
corrected by the normal of a face that touches.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.ellipsoid_axis import BALL, DISC, HALF, OWN, widest_separation
from stickslip.collision.convex.geometry import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    SPHERE,
    WITHIN,
    emit,
    feature,
)
from stickslip.collision.convex.planes import height
from stickslip.math.spatial import rotate, rotate_transposed

MOST_STEPS = 60
"""Largest number of Newton's steps to the nearest point of an ellipsoid."""


@kernel
def support_height(size, s, x, y, z):
    """(h, D²·u/h) of ellipsoid s for a direction u in its axes."""
    a, b, c = size[s, 0] * size[s, 0], size[s, 1] * size[s, 1], size[s, 2] * size[s, 2]
    h = sqrt(a * x * x + b * y * y + c * z * z)
    return h, a * x / h, b * y / h, c * z / h


@kernel
def mean_radius(size, s, x, y, z):
    """Mean of the two radii of curvature of ellipsoid s where its normal is the unit vector (x, y, z), in its axes."""
    h, px, py, pz = support_height(size, s, x, y, z)
    total = size[s, 0] * size[s, 0] + size[s, 1] * size[s, 1] + size[s, 2] * size[s, 2]
    return 0.5 * (total - px * px - py * py - pz * pz) / h


@kernel
def plane_ellipsoid(geometry, placed, work, pairs, margin, found):
    """One contact at p = c − D²·u/h in the ellipsoid's axes, u = Rᵀ·n: the point farthest along −n."""
    R, P = placed.rot, placed.pos
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
        x, y, z = rotate_transposed(R, b, nx, ny, nz)
        h, x, y, z = support_height(geometry.shapes.size, b, x, y, z)
        gap = height(placed, a, P[b, 0], P[b, 1], P[b, 2]) - h
        if gap < margin:
            x, y, z = rotate(R, b, x, y, z)
            emit(found, a, b, feature(WITHIN, 0, 0, 0), P[b, 0] - x, P[b, 1] - y, P[b, 2] - z, nx, ny, nz, gap)


@kernel(inline=False)
def point_ellipsoid(a, b, c, x, y, z):
    """(signed distance, outward unit normal at the nearest point) of a point from the ellipsoid of half axes a, b, c.

    The nearest point is y_i = a_i²·x_i/(a_i² + t) with the largest root t of Σ (a_i·x_i/(a_i² + t))² = 1, a convex
    function that falls with t: Newton's steps from the left approach it from there. If the root would be below
    −min a_i², the point lies on a plane of symmetry so deep inside that there are two nearest points; one is chosen.
    The distance is t·|y_i/a_i²|. Reference: Eberly, Distance from a point to an ellipse, an ellipsoid, or a
    hyperellipsoid, 2013.
    """
    aa, bb, cc = a * a, b * b, c * c
    u, v, w = a * x, b * y, c * z
    least = min(aa, bb, cc)
    t = max(abs(u) - aa, abs(v) - bb, abs(w) - cc)
    if t > -least:
        for _ in range(MOST_STEPS):
            i, j, k = u / (aa + t), v / (bb + t), w / (cc + t)
            f = i * i + j * j + k * k - 1.0
            slope = 2.0 * (i * i / (aa + t) + j * j / (bb + t) + k * k / (cc + t))
            step = f / slope
            t += step
            if step <= 1e-16 * (abs(t) + least):
                break
        i, j, k = x / (aa + t), y / (bb + t), z / (cc + t)
    else:  # x_i = 0 along the shortest axis, and perhaps the root is −a_i²
        t = -least
        i = x / (aa + t) if aa > least else 0.0
        j = y / (bb + t) if bb > least else 0.0
        k = z / (cc + t) if cc > least else 0.0
        rest = 1.0 - aa * i * i - bb * j * j - cc * k * k
        if rest < 0.0:  # the root is above −a_i²: Newton's steps without that axis
            t = max(abs(u) - aa if aa > least else -least, abs(v) - bb if bb > least else -least)
            t = max(t, abs(w) - cc if cc > least else -least) + 1e-12 * least
            for _ in range(MOST_STEPS):
                i = u / (aa + t) if aa > least else 0.0
                j = v / (bb + t) if bb > least else 0.0
                k = w / (cc + t) if cc > least else 0.0
                step = (i * i + j * j + k * k - 1.0) / (
                    2.0 * (i * i / (aa + t) + j * j / (bb + t) + k * k / (cc + t)) + 1e-300
                )
                t += step
                if step <= 1e-16 * (abs(t) + least):
                    break
            i, j, k = x / (aa + t), y / (bb + t), z / (cc + t)
        elif aa <= least:
            i = sqrt(rest / aa)
        elif bb <= least:
            j = sqrt(rest / bb)
        else:
            k = sqrt(rest / cc)
    size = sqrt(i * i + j * j + k * k)
    return t * size, i / size, j / size, k / size


@kernel
def sphere_ellipsoid(geometry, placed, a, b, margin, found):
    """Emit the contact of sphere a with ellipsoid b."""
    R, P, size = placed.rot, placed.pos, geometry.shapes.size
    x, y, z = rotate_transposed(R, b, P[a, 0] - P[b, 0], P[a, 1] - P[b, 1], P[a, 2] - P[b, 2])
    distance, nx, ny, nz = point_ellipsoid(size[b, 0], size[b, 1], size[b, 2], x, y, z)
    gap = distance - size[a, 0]
    if gap < margin:
        x, y, z = rotate(R, b, x - distance * nx, y - distance * ny, z - distance * nz)
        nx, ny, nz = rotate(R, b, -nx, -ny, -nz)
        emit(found, a, b, feature(WITHIN, 0, 0, 0), P[b, 0] + x, P[b, 1] + y, P[b, 2] + z, nx, ny, nz, gap)


@kernel
def describe(shapes, a, b, core):
    """Write what A is made of, and the half axes of ellipsoid b."""
    size, kind = shapes.size, shapes.kind[a]
    for i in range(3):
        core[2 + i] = size[b, i]
        core[HALF + i] = size[a, i] if kind == BOX else 0.0
        core[OWN + i] = size[a, i] if kind == ELLIPSOID else 0.0
    core[DISC] = size[a, 0] if kind == CYLINDER else 0.0
    core[BALL] = size[a, 0] if kind == CAPSULE else 0.0
    if kind == CAPSULE or kind == CYLINDER:
        core[HALF + 2] = size[a, 1]


@kernel
def solid_ellipsoid(geometry, placed, work, pairs, margin, found):
    """Contacts of spheres, boxes, capsules, cylinders and ellipsoids with ellipsoids, which come second."""
    R, P, T, core = placed.rot, placed.pos, work.minkowski.pose, work.minkowski.core
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        if geometry.shapes.kind[a] == SPHERE:
            sphere_ellipsoid(geometry, placed, a, b, margin, found)
            continue
        describe(geometry.shapes, a, b, core)
        T[3, 0], T[3, 1], T[3, 2] = rotate_transposed(R, a, P[b, 0] - P[a, 0], P[b, 1] - P[a, 1], P[b, 2] - P[a, 2])
        for j in range(3):
            T[0, j], T[1, j], T[2, j] = rotate_transposed(R, a, R[b, 0, j], R[b, 1, j], R[b, 2, j])
        gap, nx, ny, nz = widest_separation(T, core, work.starts, margin)
        if not gap < margin:
            continue
        nx, ny, nz = rotate(R, a, nx, ny, nz)
        x, y, z = rotate_transposed(R, b, nx, ny, nz)
        _, x, y, z = support_height(geometry.shapes.size, b, x, y, z)
        x, y, z = rotate(R, b, x, y, z)
        emit(found, a, b, feature(WITHIN, 0, 0, 0), P[b, 0] - x, P[b, 1] - y, P[b, 2] - z, nx, ny, nz, gap)
