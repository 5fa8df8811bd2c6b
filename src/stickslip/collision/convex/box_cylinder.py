"""Box against cylinder: discs, lines and rims against faces and edges (``cylinder_polyhedron``)."""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.convex.cylinder_polyhedron import cylinder_polyhedron
from stickslip.collision.convex.placed_polyhedron import place


@kernel
def box_cylinder(geometry, placed, work, pairs, margin, found):
    P = placed.pos
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        place(geometry, placed, a, P[b, 0], P[b, 1], P[b, 2], work.vertex2, work.normal2)
        cylinder_polyhedron(geometry, placed, work, b, a, False, margin, found)
