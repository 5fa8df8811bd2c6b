"""Box against capsule: balls of the capsule against the polyhedron (``segment_polyhedron``)."""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.convex.placed_polyhedron import place
from stickslip.collision.convex.segment_polyhedron import segment_polyhedron


@kernel
def box_capsule(geometry, placed, work, pairs, margin, found):
    P = placed.pos
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        place(geometry, placed, a, P[b, 0], P[b, 1], P[b, 2], work.vertex2, work.normal2)
        segment_polyhedron(geometry, placed, work, b, a, False, margin, found)
