"""Planes against spheres, boxes, capsules, cylinders and convex meshes."""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.climb import farthest
from stickslip.collision.convex.geometry import CORNER, WITHIN, emit, emit_apart, feature
from stickslip.collision.convex.spread import spread
from stickslip.math.spatial import rotate, rotate_transposed

UPRIGHT = 1e-9
"""Sine of the tilt below which a cylinder has no lowest point."""
MERGED = 1e-6
"""Distance, as a fraction of the radius, below which two rim points are merged."""


@kernel
def height(placed, plane, x, y, z):
    """Signed distance of a world point from a plane [m]."""
    P, R = placed.pos, placed.rot
    x, y, z = x - P[plane, 0], y - P[plane, 1], z - P[plane, 2]
    return R[plane, 0, 2] * x + R[plane, 1, 2] * y + R[plane, 2, 2] * z


@kernel
def link_corner(bodies, placed, link, v):
    """Corner v (shared index) in the world."""
    x, y, z = rotate(placed.link_rot, link, bodies.vertex[v, 0], bodies.vertex[v, 1], bodies.vertex[v, 2])
    return x + placed.link_pos[link, 0], y + placed.link_pos[link, 1], z + placed.link_pos[link, 2]


@kernel
def plane_sphere(geometry, placed, work, pairs, margin, found):
    """One contact: n is the plane's normal, gap = n·(c − p) − r."""
    R = placed.rot
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        x, y, z = placed.pos[b, 0], placed.pos[b, 1], placed.pos[b, 2]
        r = geometry.shapes.size[b, 0]
        gap = height(placed, a, x, y, z) - r
        if gap < margin:
            nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
            emit(found, a, b, feature(WITHIN, 0, 0, 0), x - r * nx, y - r * ny, z - r * nz, nx, ny, nz, gap)


@kernel
def plane_box(geometry, placed, work, pairs, margin, found):
    """Contacts at the corners of the face that faces the plane, and at any other corner below the plane.

    The face is that of the box axis closest to the plane's normal. A corner above that face is no contact while it is
    above the plane, however near, so that a flat box on the floor has four contacts, not eight.
    """
    R, P, size = placed.rot, placed.pos, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
        axis, along = 0, 0.0
        for j in range(3):
            d = nx * R[b, 0, j] + ny * R[b, 1, j] + nz * R[b, 2, j]
            if abs(d) > abs(along) + 1e-9:
                axis, along = j, d
        down = 0 if along > 0.0 else 1
        for corner in range(8):
            lower = ((corner >> (2 - axis)) & 1) == down
            x = size[b, 0] if corner & 4 else -size[b, 0]
            y = size[b, 1] if corner & 2 else -size[b, 1]
            z = size[b, 2] if corner & 1 else -size[b, 2]
            px = P[b, 0] + R[b, 0, 0] * x + R[b, 0, 1] * y + R[b, 0, 2] * z
            py = P[b, 1] + R[b, 1, 0] * x + R[b, 1, 1] * y + R[b, 1, 2] * z
            pz = P[b, 2] + R[b, 2, 0] * x + R[b, 2, 1] * y + R[b, 2, 2] * z
            gap = height(placed, a, px, py, pz)
            if gap < margin and (lower or gap <= 0.0):
                emit(found, a, b, feature(CORNER, 1, corner, 0), px, py, pz, nx, ny, nz, gap)


@kernel
def plane_capsule(geometry, placed, work, pairs, margin, found):
    """Contacts of the two balls at the capsule's ends; a lying capsule has two contacts."""
    R, P = placed.rot, placed.pos
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
        r, h = geometry.shapes.size[b, 0], geometry.shapes.size[b, 1]
        for end in range(2):
            s = h if end == 1 else -h
            x, y, z = P[b, 0] + s * R[b, 0, 2], P[b, 1] + s * R[b, 1, 2], P[b, 2] + s * R[b, 2, 2]
            gap = height(placed, a, x, y, z) - r
            if gap < margin:
                emit(found, a, b, feature(WITHIN, 1, end, 0), x - r * nx, y - r * ny, z - r * nz, nx, ny, nz, gap)


@kernel
def plane_cylinder(geometry, placed, work, pairs, margin, found):
    """Contacts at rim points nearer than the margin.

    With a the axis and n the plane's normal, the lowest rim point of each cap is c ± h·a − r·m with m ∝ n − (n·a)·a.
    The contacts are the lowest points of both caps (two for a lying cylinder) and, on the cap that faces the plane,
    four rim points fixed to the cylinder, 90° apart (a standing cylinder). Points of the two kinds that coincide are
    merged. An upright cylinder has no m and only the four. Points of the upper cap are contacts only if the side faces
    the plane at least as much as the cap does, or if they are below the plane.
    """
    R, P = placed.rot, placed.pos
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
        ax, ay, az = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        r, h = geometry.shapes.size[b, 0], geometry.shapes.size[b, 1]
        along = nx * ax + ny * ay + nz * az
        mx, my, mz = nx - along * ax, ny - along * ay, nz - along * az
        tilt = sqrt(mx * mx + my * my + mz * mz)
        lower = -1.0 if along >= 0.0 else 1.0
        start = found.total[0]
        for i in range(4):
            c, s = (r, 0.0) if i == 0 else ((0.0, r) if i == 1 else ((-r, 0.0) if i == 2 else (0.0, -r)))
            x = P[b, 0] + lower * h * ax + c * R[b, 0, 0] + s * R[b, 0, 1]
            y = P[b, 1] + lower * h * ay + c * R[b, 1, 0] + s * R[b, 1, 1]
            z = P[b, 2] + lower * h * az + c * R[b, 2, 0] + s * R[b, 2, 1]
            gap = height(placed, a, x, y, z)
            if gap < margin and abs(along) >= tilt:
                emit(found, a, b, feature(CORNER, 1, i, 1 if lower > 0.0 else 0), x, y, z, nx, ny, nz, gap)
        if tilt <= UPRIGHT:
            continue
        for end in range(2):
            s = h if end == 1 else -h
            x = P[b, 0] + s * ax - r * mx / tilt
            y = P[b, 1] + s * ay - r * my / tilt
            z = P[b, 2] + s * az - r * mz / tilt
            gap = height(placed, a, x, y, z)
            if gap < margin and (s * lower > 0.0 or abs(along) <= tilt or gap <= 0.0):
                name = feature(WITHIN, 1, end, 0)
                emit_apart(found, start, MERGED * r, a, b, name, x, y, z, nx, ny, nz, gap)


@kernel
def plane_mesh(geometry, placed, work, pairs, margin, found):
    """Contacts at corners nearer than the margin: those that ``spread`` chooses.

    The corners below a level are connected by edges, so that they are all found from the lowest one.
    """
    R, climb, reached, stamp = placed.rot, geometry.climb, work.flood[0], work.flood[1]
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
        p, link = geometry.shapes.polyhedron[b], geometry.shapes.link[b]
        first, start = geometry.bodies.vertex_start[p], found.total[0]
        x, y, z = rotate_transposed(placed.link_rot, link, -nx, -ny, -nz)
        reached[0] = farthest(geometry.bodies, climb, p, x, y, z, -1)
        stamp[0] += 1  # the number of this search
        stamp[1 + reached[0] - first] = stamp[0]
        done, total = 0, 1
        while done < total:
            v = reached[done]
            done += 1
            x, y, z = link_corner(geometry.bodies, placed, link, v)
            gap = height(placed, a, x, y, z)
            if not gap < margin:
                continue
            emit(found, a, b, feature(CORNER, 1, v - first, 0), x, y, z, nx, ny, nz, gap)
            for i in range(climb.next_start[v], climb.next_start[v + 1]):
                w = climb.next[i]
                if stamp[1 + w - first] != stamp[0]:
                    stamp[1 + w - first] = stamp[0]
                    reached[total] = w
                    total += 1
        spread(found, start, geometry.points[0], geometry.bodies.radius[p], margin)
