"""Box against box: faces cut by faces, or crossing edges, as for all polyhedra (``polyhedron_polyhedron``)."""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.convex.polyhedron_polyhedron import polyhedron_polyhedron


@kernel
def box_box(geometry, placed, work, pairs, margin, found):
    polyhedron_polyhedron(geometry, placed, work, pairs, margin, found)
