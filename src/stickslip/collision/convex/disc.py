"""Contacts in the overlap of a cylinder's cap and a polygon, seen along a normal.

The extreme points of the overlap are points of the rim over the polygon, corners of the polygon over the disc, and
points where an edge crosses the rim. Of the infinitely many rim points, the lowest one and four that are fixed to the
cylinder, 90° apart, are used. Each is a contact with its own gap along the normal.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from stickslip._jit import kernel
from stickslip.collision.convex.clip import SHRINK, stretch_over
from stickslip.collision.convex.geometry import CLIPPED, CORNER, CROSSING, emit_apart, feature
from stickslip.collision.convex.placed_polyhedron import dot

MERGED = 1e-6
"""Distance, as a fraction of the size, below which two contacts are merged."""


class Out(NamedTuple):
    """The pair of shapes whose contacts are being written."""

    cylinder: int
    solid: int
    turned: bool
    """Whether the cylinder is the first shape."""
    start: int
    """Number of raw contacts before this pair."""
    size: float
    """Size of both shapes together [m]."""


@kernel
def emit_on(geometry, placed, out, name, x, y, z, nx, ny, nz, gap, margin, found):
    """Emit a contact at a point of the polyhedron, relative to the cylinder's centre; n points to the polyhedron."""
    if not gap < margin:
        return
    P, c = placed.pos, out.cylinder
    x, y, z = x + P[c, 0], y + P[c, 1], z + P[c, 2]
    if out.turned:
        emit_apart(found, out.start, MERGED * out.size, c, out.solid, name, x, y, z, nx, ny, nz, gap)
    else:
        x, y, z = x - gap * nx, y - gap * ny, z - gap * nz
        emit_apart(found, out.start, MERGED * out.size, out.solid, c, name, x, y, z, -nx, -ny, -nz, gap)


@kernel
def face_plane(bodies, p, f, vertex, normal, nx, ny, nz):
    """(level, m·n) of face f (local index), m·x = level: a point x reaches it after (level − m·x)/(m·n) along n."""
    v = bodies.loop[bodies.loop_start[bodies.face_start[p] + f]] - bodies.vertex_start[p]
    return dot(vertex, v, normal[f, 0], normal[f, 1], normal[f, 2]), dot(normal, f, nx, ny, nz)


@kernel
def rim_points(geometry, placed, work, out, f, ax, ay, az, r, t, nx, ny, nz, margin, found):
    """Emit the four fixed points of the rim at t·a, and its lowest point, if they are over face f."""
    bodies, vertex, normal, R, c = geometry.bodies, work.vertex2, work.normal2, placed.rot, out.cylinder
    p = geometry.shapes.polyhedron[out.solid]
    level, rate = face_plane(bodies, p, f, vertex, normal, nx, ny, nz)
    mx, my, mz = normal[f, 0], normal[f, 1], normal[f, 2]
    along = mx * ax + my * ay + mz * az
    mx, my, mz = mx - along * ax, my - along * ay, mz - along * az  # downhill on the face, in the cap's plane
    tilt = sqrt(mx * mx + my * my + mz * mz)
    for i in range(5 if tilt > 1e-9 else 4):
        if i == 4:
            x, y, z = -r * mx / tilt, -r * my / tilt, -r * mz / tilt
        else:
            column, s = i & 1, r if i < 2 else -r
            x, y, z = s * R[c, 0, column], s * R[c, 1, column], s * R[c, 2, column]
        x, y, z = x + t * ax, y + t * ay, z + t * az
        low, high = stretch_over(bodies, p, f, vertex, nx, ny, nz, x, y, z, 0.0, 0.0, 0.0, 1.0, out.size)
        d = (level - dot(normal, f, x, y, z)) / rate
        if low <= high:
            name = feature(CORNER, 0, i, 1 if t > 0.0 else 0)
            emit_on(geometry, placed, out, name, x + d * nx, y + d * ny, z + d * nz, nx, ny, nz, d, margin, found)


@kernel
def overlap_of_disc(geometry, placed, work, out, f, ax, ay, az, r, h, nx, ny, nz, margin, found):
    """Emit the contacts of the cap towards n with face f (local index), seen along n."""
    bodies, vertex, normal = geometry.bodies, work.vertex2, work.normal2
    p = geometry.shapes.polyhedron[out.solid]
    along = ax * nx + ay * ny + az * nz
    t = h if along > 0.0 else -h
    if dot(normal, f, nx, ny, nz) < -0.7:
        rim_points(geometry, placed, work, out, f, ax, ay, az, r, t, nx, ny, nz, margin, found)
    corner, first = bodies.vertex_start[p], bodies.loop_start[bodies.face_start[p]]
    begin, end = bodies.loop_start[bodies.face_start[p] + f], bodies.loop_start[bodies.face_start[p] + f + 1]
    inner = r - SHRINK * out.size
    for i in range(begin, end):
        v = bodies.loop[i] - corner
        w = bodies.loop[i + 1 if i + 1 < end else begin] - corner
        d0 = (dot(vertex, v, ax, ay, az) - t) / along  # gaps of the edge's two corners
        d1 = (dot(vertex, w, ax, ay, az) - t) / along
        x0, y0, z0 = vertex[v, 0] - d0 * nx - t * ax, vertex[v, 1] - d0 * ny - t * ay, vertex[v, 2] - d0 * nz - t * az
        x1, y1, z1 = vertex[w, 0] - d1 * nx - t * ax, vertex[w, 1] - d1 * ny - t * ay, vertex[w, 2] - d1 * nz - t * az
        x1, y1, z1 = x1 - x0, y1 - y0, z1 - z0
        c = x0 * x0 + y0 * y0 + z0 * z0 - inner * inner
        if c <= 0.0:
            name = feature(CORNER, 1, v, 0)
            emit_on(
                geometry, placed, out, name, vertex[v, 0], vertex[v, 1], vertex[v, 2], nx, ny, nz, d0, margin, found
            )
        a, b = x1 * x1 + y1 * y1 + z1 * z1, x0 * x1 + y0 * y1 + z0 * z1
        root = b * b - a * c
        if root <= 0.0 or a == 0.0:
            continue
        for k in range(2):
            s = (-b + sqrt(root)) / a if k else (-b - sqrt(root)) / a
            if 0.0 < s < 1.0:
                x = vertex[v, 0] + s * (vertex[w, 0] - vertex[v, 0])
                y = vertex[v, 1] + s * (vertex[w, 1] - vertex[v, 1])
                z = vertex[v, 2] + s * (vertex[w, 2] - vertex[v, 2])
                name = feature(CROSSING if k else CLIPPED, 1, i - first, 0)
                emit_on(geometry, placed, out, name, x, y, z, nx, ny, nz, d0 + s * (d1 - d0), margin, found)
