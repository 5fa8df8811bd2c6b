"""PegDetector: groups of subcontacts between polyhedra (see ``subcontacts``), single contacts between other shapes.

The ids of single contacts are those of ``ConvexDetector``. From ``FIRST_ID`` on, each pair of polyhedra has an id for
every vertex and face of the two, and five ids for every two edges.
"""

from __future__ import annotations

import itertools

import numpy as np

from stickslip.collision.allowed import touching
from stickslip.collision.contacts import PROPERTIES, ContactList
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.convex.finish import TOUCH
from stickslip.collision.convex.moving_surfaces import move_surfaces
from stickslip.collision.convex.polyhedron import Neighbours, Polyhedra, build_polyhedra
from stickslip.collision.detector import Detector
from stickslip.collision.polyhedral.placed_pairs import Group, Placed, PolyhedronPairs
from stickslip.collision.polyhedral.subcontacts import find_subcontacts
from stickslip.dynamics.data import Kinematics
from stickslip.errors import number
from stickslip.model.model import Model

POLYHEDRA = ("box", "mesh")
FIRST_ID = 1 << 62
"""First id of polyhedra, beyond those of ``ConvexDetector``."""


def polyhedron_pairs(model: Model, bodies: Polyhedra, which: np.ndarray) -> PolyhedronPairs:
    """All pairs of boxes and meshes that may touch, the lower link first."""
    number_of = {id(shape): int(which[s]) for s, shape in enumerate(model.shapes)}
    place = {id(shape): k for k, shape in enumerate(shape for shape in model.shapes if shape.solid)}
    one, two, first, materials, shapes = [], [], [], [], []
    vertices, faces, edges = (np.diff(start) for start in (bodies.vertex_start, bodies.face_start, bodies.edge_start))
    ids = FIRST_ID
    for pair in touching(model):
        if not all(shape.kind in POLYHEDRA for shape in pair):
            continue
        a, b = sorted(pair, key=lambda shape: shape.link)
        i, j = number_of[id(a)], number_of[id(b)]
        one.append(i)
        two.append(j)
        first.append(ids)
        materials.append(model.pair_material(a, b))
        shapes.append((place[id(a)], place[id(b)]))
        ids += int(vertices[i] * faces[j] + vertices[j] * faces[i] + 5 * edges[i] * edges[j])
    return PolyhedronPairs(
        one=np.array(one, dtype=np.int64),
        two=np.array(two, dtype=np.int64),
        first=np.array(first, dtype=np.int64),
        material=np.array([m.row for m in materials], dtype=float).reshape(-1, PROPERTIES),
        shape1=np.array([a for a, _ in shapes], dtype=np.int64),
        shape2=np.array([b for _, b in shapes], dtype=np.int64),
        reach=np.array([max(m.gap, TOUCH) for m in materials], dtype=float),
        margin=np.array([m.margin for m in materials], dtype=float),
        widest=np.array([max((m.margin for m in materials), default=0.0)]).clip(0.0),
    )


def make_placed(bodies: Polyhedra, neighbours: Neighbours) -> Placed:
    shapes = [(len(bodies.vertex), 3), (len(bodies.normal), 3), (len(bodies.normal),), (len(neighbours.edge), 3)]
    return Placed(*(np.zeros(shape) for shape in [*shapes, *2 * [(len(bodies.link), 3)]]))


def make_group(bodies: Polyhedra, neighbours: Neighbours) -> Group:
    most = int(np.diff(bodies.face_start).max(initial=0)) + 5
    counts = ((2,), (most,), (most, 3), (len(neighbours.edge),), (len(neighbours.edge),))
    size, kind, feature, near1, near2 = (np.zeros(shape, dtype=np.int64) for shape in counts)
    return Group(size, np.zeros(most), kind, feature, near1, near2)


class PegDetector(Detector):
    """Polyhedral exact geometry: boxes and convex meshes in groups of subcontacts; see docs/subcontacts.md.

    ``margin`` [m] must exceed the distance that bodies travel relative to each other in a step. ``find`` returns the
    subcontacts without their groups: those with a gap ≥ −1 µm, and in any case the largest of each group. A method that
    enforces all of them does not let a body into a hole that it has not yet entered.
    """

    def __init__(self, model: Model, margin: float = 0.1) -> None:
        self.margin = number("margin", margin, "a number > 0 [m]", above=0.0)
        self.bodies, self.neighbours, which = build_polyhedra(model.shapes)
        self.pairs = polyhedron_pairs(model, self.bodies, which)
        self.placed = make_placed(self.bodies, self.neighbours)
        self.group = make_group(self.bodies, self.neighbours)
        self.start = np.zeros(65, dtype=np.int64)
        self.others = ConvexDetector(model, margin)
        for one, two in itertools.combinations_with_replacement(POLYHEDRA, 2):
            self.others.leave_out(one, two)

    def find(self, kin: Kinematics, contacts: ContactList) -> None:
        self._fill(kin, contacts, False)

    def find_groups(self, kin: Kinematics, contacts: ContactList) -> np.ndarray:
        groups = self._fill(kin, contacts, True)
        singles = np.arange(self.start[0], dtype=np.int64)
        return np.concatenate([singles, self.start[: groups + 1]])

    def _fill(self, kin: Kinematics, contacts: ContactList, complete: bool) -> int:
        """Find all contacts, single ones first; returns the number of groups that follow, ``complete`` or not."""
        self.others.margin = self.margin  # the method may change the margin from step to step
        while True:
            self.others.find_standing(kin, contacts)
            groups = find_subcontacts(
                self.bodies,
                self.neighbours,
                self.pairs,
                kin,
                self.margin,
                complete,
                self.placed,
                self.group,
                self.start,
                contacts.arrays,
            )
            if len(contacts) <= len(contacts.arrays.pair) and groups < len(self.start):
                search = self.others.search
                if search.geometry.shapes.moved[0]:
                    placed = (search.geometry.shapes, search.rules, search.placed)
                    move_surfaces(*placed, kin, search.material, contacts.arrays)
                return int(groups)
            self.make_room(contacts)

    def arrays(self) -> tuple[Polyhedra, Neighbours, PolyhedronPairs, Placed, Group, np.ndarray]:
        """What a compiled step needs besides the search of ``others``."""
        return self.bodies, self.neighbours, self.pairs, self.placed, self.group, self.start

    def make_room(self, contacts: ContactList) -> None:
        """Let the buffers grow that were too small for the last search."""
        self.others.make_room(contacts)
        if len(contacts) > len(contacts.arrays.pair):
            contacts.grow()
        if len(self.start) <= len(contacts.arrays.pair):
            self.start = np.zeros(len(contacts.arrays.pair) + 1, dtype=np.int64)
