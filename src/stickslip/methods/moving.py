"""What moves with mocap bodies in the arrays of a method: shapes in contact searches, and frames of loops.

The geometry of a step is that at its beginning, with the velocity of the body as part of the contacts'
(``Contacts.surface``); for ``geometry_ahead`` it is that at its end. Loops are closed at the end of a step where
``loops_ahead`` says so. Velocities are those that lead from one pose to the next within the step: the term ∂ψ/∂t of
Williams et al., "RPI-MATLAB-Simulator", for constraints ψ(q, t).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.convex.geometry import Shapes
from stickslip.collision.convex.polyhedron import Neighbours, Polyhedra
from stickslip.collision.loop_points import LoopPoints
from stickslip.collision.polyhedral.peg_detector import PegDetector
from stickslip.constraints.bilateral_rows import Loops
from stickslip.maximal.joints import Joints
from stickslip.model.compile import rotation
from stickslip.model.mocap import Carried, carriers, held_loops, make_carried, writable
from stickslip.model.model import Model


class MovingParts(NamedTuple):
    """The arrays of a method that mocap bodies move."""

    detectors: tuple[object, ...] = ()
    """Contact searches; those of the package are moved, others see to themselves."""
    loops: tuple[Loops, ...] = ()
    """Rows of all closed loops, in the model's order."""
    points: LoopPoints | None = None
    """Springs of closed loops."""
    joints: Joints | None = None
    """Joints in maximal coordinates, of which those from ``first_loop`` on are the closed loops."""
    first_loop: int = 0


class Moving:
    """The parts of a method by mocap body."""

    def __init__(self, model: Model, parts: MovingParts) -> None:
        self.model, self.parts = model, parts
        on = carriers(model)
        self.geometry, self.loops = make_carried(model), make_carried(model)
        self._searches: list[tuple[Shapes, np.ndarray]] = []
        """(shapes, (ns,) the mocap body of each, or −1) of every search."""
        self._held = held_loops(model)
        solid = [shape for shape in model.shapes if shape.solid]
        for detector in parts.detectors:
            if isinstance(detector, PegDetector):
                which = [on[shape.body] for shape in model.shapes if shape.kind in ("box", "mesh") and shape.solid]
                carry_polyhedra(detector.bodies, detector.neighbours, which, self.geometry)
                detector = detector.others
            if not isinstance(detector, ConvexDetector):
                continue
            shapes = detector.search.geometry.shapes
            seen = solid if len(shapes.kind) else []  # a method without contacts has no shapes
            holder = np.array([on[shape.body] for shape in seen], dtype=np.int64)
            self._searches.append((shapes, holder))
            for s in np.flatnonzero(holder >= 0):
                self.geometry[holder[s]].points(shapes.pos, s)
                self.geometry[holder[s]].frames(shapes.rot, s)
            which = [int(holder[s]) for s in range(len(seen)) if shapes.polyhedron[s] >= 0]
            geometry = detector.search.geometry
            carry_polyhedra(geometry.bodies, geometry.edges, which, self.geometry)
        self._carry_loops()

    def _carry_loops(self) -> None:
        closed = self.model.closed_loops
        corners = np.cumsum([0, *(1 if loop.kind == "connect" else 3 for loop in closed)])
        for k, m in self._held:
            carried = self.loops[m]
            carried.points(closed[k].pos1, slice(None))
            carried.frames(closed[k].rot1, slice(None))
            for loops in self.parts.loops:
                carried.points(loops.pos1, k)
                carried.frames(loops.rot1, k)
            if self.parts.points is not None:
                carried.points(self.parts.points.pos1, slice(corners[k], corners[k + 1]))
            if self.parts.joints is not None:
                carried.points(self.parts.joints.pos1, self.parts.first_loop + k)
                carried.frames(self.parts.joints.rot1, self.parts.first_loop + k)
        self._corners = corners

    def place_geometry(self, poses: np.ndarray) -> None:
        """Put shapes where they are if the mocap bodies are at ``poses`` (nm, 7)."""
        place(self.geometry, poses)

    def place_loops(self, poses: np.ndarray) -> None:
        """Put the frames of loops where they are if the mocap bodies are at ``poses`` (nm, 7)."""
        if self._held:
            place(self.loops, poses)

    def set_motion(self, twists: np.ndarray, dt: float) -> None:
        """Take the velocities of the mocap bodies: at the world's origin [m/s], and angular [rad/s], (nm, 6)."""
        for shapes, holder in self._searches:
            ahead = LEAST if twists.any() else 0.0
            for s in np.flatnonzero(holder >= 0):
                twist = twists[holder[s]]
                shapes.motion[s] = twist
                speed = float(np.linalg.norm(twist[:3] + np.cross(twist[3:], shapes.pos[s])))
                turning = float(np.linalg.norm(twist[3:]))
                ahead = max(ahead, speed + (turning * float(shapes.radius[s]) if turning else 0.0))
            shapes.ahead[0] = min(dt * ahead, FARTHEST)
            flag_moved(shapes)
        for k, m in self._held:
            loop, twist = self.model.closed_loops[k], twists[m]
            writable(loop.motion)[:] = [*(twist[:3] + np.cross(twist[3:], loop.pos1)), *twist[3:]]
            for loops in self.parts.loops:
                loops.motion[k] = loop.motion
            if self.parts.points is not None:
                self.parts.points.motion[self._corners[k] : self._corners[k + 1]] = twist

    def set_pulls(self, forces: np.ndarray) -> None:
        """Take the forces with which actuators pull the bodies of the scene file to what they touch, (nbody,) [N]."""
        for shapes, _ in self._searches:
            shapes.pull[:] = forces[shapes.body]
            flag_moved(shapes)


LEAST = 1e-9
"""Distance by which they look farther in any case while something moves [m]."""
FARTHEST = 1.0
"""Largest distance by which searches look farther because of mocap bodies [m]: turning planes have no largest speed."""


def flag_moved(shapes: Shapes) -> None:
    """Write whether surfaces of the search move, or actuators pull."""
    shapes.moved[0] = bool(shapes.belt.any() or shapes.motion.any() or shapes.pull.any())


def place(carried: list[Carried], poses: np.ndarray) -> None:
    for one, pose in zip(carried, poses, strict=True):
        one.place(pose[:3], rotation(pose[3:]))


def carry_polyhedra(bodies: Polyhedra, edges: Neighbours, which: list[int], carried: list[Carried]) -> None:
    """Let mocap bodies carry polyhedra, which are stored in the axes of their link; ``which`` is −1 for the others."""
    for p, m in enumerate(which):
        if m < 0:
            continue
        starts = (bodies.vertex_start, bodies.face_start, bodies.edge_start)
        v, f, e = (slice(start[p], start[p + 1]) for start in starts)
        carried[m].points(bodies.center, p)
        carried[m].points(bodies.vertex, v)
        carried[m].offsets(bodies.offset, f, bodies.normal[f])
        carried[m].directions(bodies.normal, f)
        carried[m].directions(edges.edge_axis, e)
