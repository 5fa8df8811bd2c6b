"""Sphere against convex mesh: the point of the mesh nearest to the centre; inside, the face of least depth."""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import WITHIN, emit, feature
from stickslip.collision.convex.placed_polyhedron import place
from stickslip.collision.convex.point_polyhedron import point_polyhedron


@kernel
def sphere_mesh(geometry, placed, work, pairs, margin, found):
    P = placed.pos
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        p = geometry.shapes.polyhedron[b]
        place(geometry, placed, b, P[a, 0], P[a, 1], P[a, 2], work.vertex2, work.normal2)
        distance, nx, ny, nz, qx, qy, qz = point_polyhedron(
            geometry.bodies, geometry.edges, p, work.vertex2, work.normal2, 0.0, 0.0, 0.0
        )
        gap = distance - geometry.shapes.size[a, 0]
        if gap < margin:
            name = feature(WITHIN, 0, 0, 0)
            emit(found, a, b, name, P[a, 0] + qx, P[a, 1] + qy, P[a, 2] + qz, -nx, -ny, -nz, gap)
