"""ConvexDetector: the contacts of a state between convex shapes, and the buffers of the search."""

from __future__ import annotations

import numpy as np

from stickslip.collision.contacts import ContactList, entries
from stickslip.collision.convex.broad_phase import cell_size, list_pairs, make_candidates, make_grid
from stickslip.collision.convex.find import Search, find_contacts, find_raw, find_standing, prepare_search
from stickslip.collision.convex.finish import SHARES
from stickslip.collision.convex.geometry import (
    KIND,
    NAMES,
    PAIR,
    POINTS,
    Found,
    build_geometry,
    make_found,
    make_placed,
)
from stickslip.collision.convex.placed_polyhedron import make_work
from stickslip.collision.detector import Detector
from stickslip.dynamics.data import Kinematics
from stickslip.errors import number, one_of, whole
from stickslip.model.model import Model


class ConvexDetector(Detector):
    """Planes, spheres, boxes, capsules, cylinders and convex meshes against each other, with full manifolds.

    It finds contacts with gaps below ``margin`` [m], penetrating or not; see docs/collision.md. ``points`` is the
    largest number of contacts of a mesh with a plane, a box or a mesh; 0 keeps all. ``stiffness_per`` says what K, B
    and preload of a material are counted by: "point", "pair" or "area" (``finish``).
    """

    def __init__(self, model: Model, margin: float, points: int = POINTS, stiffness_per: str = "point") -> None:
        self.margin = number("margin", margin, "a finite number ≥ 0 [m]", least=0.0)
        geometry, rules = build_geometry(model)
        geometry.points[0] = whole("points", points, least=0)
        one_of("stiffness_per", stiffness_per, SHARES)
        shapes = geometry.shapes
        ns = len(shapes.kind)
        self.cell = cell_size(shapes, self.margin)
        self.search = Search(
            geometry=geometry,
            rules=rules._replace(few=list_pairs(shapes, rules)),
            placed=make_placed(ns, model.nlink),
            grid=make_grid(ns),
            candidates=make_candidates(4 * ns + 16),
            found=make_found(4 * ns + 16),
            work=make_work(geometry.bodies),
            shares=np.array([SHARES.index(stiffness_per)], dtype=np.int64),
            material=np.zeros((1, PAIR)),
        )
        prepare_search(self.search)

    def leave_out(self, one: str, other: str) -> None:
        """Find no contacts between two kinds of shapes, such as "box" and "mesh"."""
        i, j = sorted((NAMES.index(one), NAMES.index(other)))
        self.search.rules.left_out[KIND * i + j] = 1

    def find(self, kin: Kinematics, contacts: ContactList) -> None:
        while not find_contacts(self.search, kin, self.margin, self.cell, contacts.arrays):
            self.make_room(contacts)

    def find_standing(self, kin: Kinematics, contacts: ContactList) -> None:
        """``find`` as if no surface moved and no actuator pulled."""
        while not find_standing(self.search, kin, self.margin, self.cell, contacts.arrays):
            self.make_room(contacts)

    def find_raw(self, kin: Kinematics) -> Found:
        """The raw contacts between shapes, before ``finish``; margins of pairs are not yet subtracted."""
        while not find_raw(self.search, kin, self.margin + self.search.rules.margin[0], self.cell):
            self.make_room()
        return self.search.found

    def make_room(self, contacts: ContactList | None = None) -> None:
        """Let the buffers grow that were too small for the last search."""
        candidates, found = self.search.candidates, self.search.found
        if candidates.total[0] > len(candidates.pair):
            self.search = self.search._replace(candidates=make_candidates(2 * int(candidates.total[0])))
        if found.total[0] > len(found.gap):
            self.search = self.search._replace(found=make_found(2 * int(found.total[0])))
        if contacts is not None and entries(contacts.arrays) > len(contacts.arrays.pair):
            contacts.grow()
