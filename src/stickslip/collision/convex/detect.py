"""All contacts of a state between convex shapes: broad phase, then one function per pair of kinds.

    poses of shapes → candidates, sorted by kinds → FUNCTIONS[kind, kind] on the candidates of each → contacts

Each function is compiled when a scene first needs it. If a buffer is full, it is grown and the search repeated.
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import PROPERTIES, ContactList
from stickslip.collision.convex.broad_phase import cell_size, find_candidates, list_pairs, make_candidates, make_grid
from stickslip.collision.convex.capsule_capsule import capsule_capsule
from stickslip.collision.convex.capsule_cylinder import capsule_cylinder
from stickslip.collision.convex.cylinder_cylinder import cylinder_cylinder
from stickslip.collision.convex.cylinder_polyhedron import cylinder_solid
from stickslip.collision.convex.finish import finish
from stickslip.collision.convex.geometry import NAMES, Found, build_geometry, make_found, make_placed, place_shapes
from stickslip.collision.convex.placed_polyhedron import make_work
from stickslip.collision.convex.planes import plane_box, plane_capsule, plane_cylinder, plane_mesh, plane_sphere
from stickslip.collision.convex.polyhedron_polyhedron import polyhedron_polyhedron
from stickslip.collision.convex.segment_polyhedron import capsule_solid
from stickslip.collision.convex.spheres import sphere_box, sphere_capsule, sphere_cylinder, sphere_mesh, sphere_sphere
from stickslip.collision.detector import Detector
from stickslip.dynamics.data import Kinematics
from stickslip.errors import number
from stickslip.model.model import Model

FUNCTIONS = {
    ("plane", "sphere"): plane_sphere,
    ("plane", "box"): plane_box,
    ("plane", "capsule"): plane_capsule,
    ("plane", "cylinder"): plane_cylinder,
    ("plane", "mesh"): plane_mesh,
    ("sphere", "sphere"): sphere_sphere,
    ("sphere", "box"): sphere_box,
    ("sphere", "capsule"): sphere_capsule,
    ("sphere", "cylinder"): sphere_cylinder,
    ("sphere", "mesh"): sphere_mesh,
    ("box", "box"): polyhedron_polyhedron,
    ("box", "capsule"): capsule_solid,
    ("box", "cylinder"): cylinder_solid,
    ("box", "mesh"): polyhedron_polyhedron,
    ("capsule", "capsule"): capsule_capsule,
    ("capsule", "cylinder"): capsule_cylinder,
    ("capsule", "mesh"): capsule_solid,
    ("cylinder", "cylinder"): cylinder_cylinder,
    ("cylinder", "mesh"): cylinder_solid,
    ("mesh", "mesh"): polyhedron_polyhedron,
}
"""(kind, kind), lower one first as in ``geometry.NAMES`` → f(geometry, placed, work, pairs (n, 2), margin, found)."""


@kernel
def begin(shapes, rules, kin, placed, margin, cell, grid, candidates):
    place_shapes(shapes, kin, placed)
    find_candidates(shapes, rules, placed, margin, cell, grid, candidates)


class ConvexDetector(Detector):
    """Planes, spheres, boxes, capsules, cylinders and convex meshes against each other, with full manifolds.

    It finds contacts with gaps below ``margin`` [m], penetrating or not; see docs/collision.md.
    """

    def __init__(self, model: Model, margin: float) -> None:
        self.margin = number("margin", margin, "a finite number ≥ 0 [m]", least=0.0)
        self.geometry, self.rules = build_geometry(model)
        shapes = self.geometry.shapes
        self.rules = self.rules._replace(few=list_pairs(shapes, self.rules))
        ns = len(shapes.kind)
        self.cell = cell_size(shapes, self.margin)
        self.placed = make_placed(ns, model.nlink)
        self.grid = make_grid(ns)
        self.candidates = make_candidates(4 * ns + 16)
        self.found = make_found(4 * ns + 16)
        self.work = make_work(self.geometry.bodies)
        self.material = np.zeros((1, PROPERTIES))
        self.table = [
            (6 * NAMES.index(one) + NAMES.index(other), function) for (one, other), function in FUNCTIONS.items()
        ]

    def find(self, kin: Kinematics, contacts: ContactList) -> None:
        found = self.find_raw(kin)
        contacts.clear()
        if found.total[0] > len(contacts.arrays.pair):
            contacts.arrays.found[0] = found.total[0]
            contacts.grow()
            contacts.clear()
        finish(self.geometry.shapes, self.placed, kin, found, contacts.arrays, self.material)

    def find_raw(self, kin: Kinematics) -> Found:
        """The raw contacts between shapes, before ``finish``."""
        shapes = self.geometry.shapes
        while True:
            begin(shapes, self.rules, kin, self.placed, self.margin, self.cell, self.grid, self.candidates)
            if self.candidates.total[0] <= len(self.candidates.pair):
                break
            self.candidates = make_candidates(2 * int(self.candidates.total[0]))
        while True:
            self.found.total[0] = 0
            start, pairs = self.candidates.start, self.candidates.sorted
            for code, function in self.table:
                if start[code] < start[code + 1]:
                    stretch = pairs[start[code] : start[code + 1]]
                    function(self.geometry, self.placed, self.work, stretch, self.margin, self.found)
            if self.found.total[0] <= len(self.found.gap):
                return self.found
            self.found = make_found(2 * int(self.found.total[0]))
