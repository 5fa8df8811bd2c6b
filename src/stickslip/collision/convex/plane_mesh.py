"""Plane against convex mesh: every corner nearer than the margin."""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import CORNER, emit, feature
from stickslip.collision.convex.plane_sphere import height
from stickslip.math.spatial import rotate


@kernel
def plane_mesh(geometry, placed, work, pairs, margin, found):
    R, bodies = placed.rot, geometry.bodies
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
        p, link = geometry.shapes.polyhedron[b], geometry.shapes.link[b]
        for v in range(bodies.vertex_start[p], bodies.vertex_start[p + 1]):
            x, y, z = rotate(placed.link_rot, link, bodies.vertex[v, 0], bodies.vertex[v, 1], bodies.vertex[v, 2])
            x, y, z = x + placed.link_pos[link, 0], y + placed.link_pos[link, 1], z + placed.link_pos[link, 2]
            gap = height(placed, a, x, y, z)
            if gap < margin:
                name = feature(CORNER, 1, v - bodies.vertex_start[p], 0)
                emit(found, a, b, name, x, y, z, nx, ny, nz, gap)
