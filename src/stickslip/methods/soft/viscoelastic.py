"""Shared parts of all methods with spring-damper contacts: the friction anchors, and the stages up to the forces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from stickslip._jit import kernel, prepare
from stickslip.collision.contacts import BOUNCE, PROPERTIES, RESTITUTION, ContactList, Contacts
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.convex.find import Search, find_contacts
from stickslip.collision.convex.finish import SHARES
from stickslip.collision.loop_points import LoopPoints, append_loops
from stickslip.collision.reach import Reach
from stickslip.constraints.joint_rows import JointRows, add_joint_rows
from stickslip.constraints.loop_closure import LoopClosure
from stickslip.dynamics.drives import Drives
from stickslip.dynamics.fluid_forces import Fluid
from stickslip.dynamics.joint_forces import joint_space_forces
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities, spatial_inertias
from stickslip.dynamics.outside_forces import outside_forces
from stickslip.errors import number, one_of
from stickslip.methods.base import CONTACTS_FULL, OK, Capabilities, Inputs, Method, Stage
from stickslip.methods.handle import CompiledCall, HeldCall
from stickslip.methods.materials import SPRINGS, combined_materials
from stickslip.methods.moving import MovingParts
from stickslip.methods.options import Options, option
from stickslip.methods.recovery import make_recovery, pushed_out, put_back, recovery_option
from stickslip.methods.soft.anchors import REST, Anchors, grown_anchors, make_anchors
from stickslip.methods.soft.limit_recovery import (
    Limits,
    begin_limits,
    limits_memory,
    make_limits,
    narrow_limits,
    put_ranges,
)
from stickslip.methods.soft.loop_springs import loop_points
from stickslip.methods.soft.overlap_recovery import bearable_depths, tree_weights
from stickslip.methods.soft.restitution import choose_damping
from stickslip.methods.soft.spin_friction import angular_bounds
from stickslip.methods.soft.spring_damper import contact_energy, spring_damper
from stickslip.model.arrays import Inertia, JointForces, Support, Tree
from stickslip.model.model import Model, State
from stickslip.model.shape import SAID


class SoftWorld(NamedTuple):
    """What a step kernel with spring-damper contacts needs: the constant arrays, and the contact search."""

    tree: Tree
    support: Support
    inertia: Inertia
    passive: JointForces
    actuators: Drives
    fluid: Fluid
    search: Search
    cell: np.ndarray
    """(1,) edge of a cell of the broad phase [m]."""
    loops: LoopPoints
    """Points of closed loops."""
    limits: Limits
    """The ranges of joints; that of ``passive`` may be wider for a while, after a start outside."""
    radius: np.ndarray
    """(nlink,) upper bounds of the distances of the points of links from their origins [m]."""
    rows: JointRows
    """Dry friction and couplings of joints."""
    bounces: np.ndarray
    """(1,) 1 if the restitution of some pair chooses its damping."""


@kernel
def poses_and_velocities(world, work, q, v):
    forward_kinematics(world.tree, q, work.kin)
    forward_velocities(world.tree, v, work.kin)


@kernel
def update_kinematics(world, work, q, v):
    poses_and_velocities(world, work, q, v)
    spatial_inertias(world.inertia, work.kin)


def look(world: Any, work: Any, q: np.ndarray, v: np.ndarray) -> None:
    """``update_kinematics`` from Python. A kernel that takes the whole world from Python would compile for seconds, to
    unpack its arrays."""
    forward_kinematics(world.tree, q, work.kin)
    forward_velocities(world.tree, v, work.kin)
    spatial_inertias(world.inertia, work.kin)


@kernel
def detect(world, work, contacts):
    """Find the contacts that touch, since a spring-damper acts only in penetration, and the loops behind them."""
    if not find_contacts(world.search, work.kin, 0.0, world.cell[0], contacts):
        return CONTACTS_FULL
    if world.bounces[0] != 0:
        choose_damping(world.tree, world.support, world.inertia, world.fluid, world.rows, work.kin, contacts)
    return OK if append_loops(world.loops, work.kin, contacts) else CONTACTS_FULL


@kernel
def detect_later(world, work, contacts, since):
    """As ``detect``, ``since`` [s] after mocap bodies were placed: they have gone on with their velocities."""
    ahead = world.search.geometry.shapes.ahead[0]
    if since == 0.0 or ahead == 0.0:
        return detect(world, work, contacts)
    if not find_contacts(world.search, work.kin, ahead, world.cell[0], contacts):
        return CONTACTS_FULL
    if world.bounces[0] != 0:
        choose_damping(world.tree, world.support, world.inertia, world.fluid, world.rows, work.kin, contacts)
    if not append_loops(world.loops, work.kin, contacts):
        return CONTACTS_FULL
    for c in range(contacts.found[0]):
        contacts.gap[c] += since * contacts.surface[c, 0]
    for c in range(contacts.found[0], contacts.found[0] + contacts.found[1]):
        for i in range(3):
            contacts.stretch[c, i] += since * contacts.surface[c, i]
    return OK


@kernel
def loops_alone(world, work, contacts):
    """As ``detect`` where nothing touches."""
    contacts.found[0] = 0
    return OK if append_loops(world.loops, work.kin, contacts) else CONTACTS_FULL


@kernel
def gather_forces(world, work, inputs, q, v):
    """``work.tau`` and ``work.f_ext``: actuators, joint springs, limits, damping, applied forces, gravity compensation,
    the medium, dry friction and couplings of the last step; no contacts."""
    joint_space_forces(world.tree, world.passive, world.actuators, q, v, inputs.control, inputs.applied, work.tau)
    add_joint_rows(world.rows, work.kin, work.tau)
    outside_forces(world.inertia, world.fluid, work.kin, inputs.wrench, work.f_ext)


@kernel
def begin_joints(world, q):
    """At the first step from q: look which joints start outside their range."""
    begin_limits(world.tree, world.passive, world.limits, q)


@kernel
def end_joints(world, dt):
    """After a step of dt [s]: narrow the ranges of joints that started outside."""
    narrow_limits(world.passive, world.limits, dt)


def soft_capabilities(summary: str, *others: str, **declared: Any) -> Capabilities:
    """The capabilities of a method with spring-damper contacts, whose loops are springs and dampers, too; ``others``
    are variants of its own."""
    honours = frozenset({"friction", "stiffness", "damping", "preload", "torsion", "rolling", "adhesion"})
    honours |= {"restitution", "tangent_stiffness", "tangent_damping"}
    variants = ("spring-damper", *others, "none")
    return Capabilities(summary, variants, honours, loops=True, stiff_loops=False, **declared)


@dataclass(kw_only=True)
class SoftOptions(Options):
    """Options of methods with spring-damper contacts."""

    recovery_time: float = recovery_option()
    rest: str = option("surface", "where normal springs rest: 'surface', or 'detected', the point of first penetration")
    loop_stiffness: float | None = option(
        None, "stiffness of each closed loop [N/m] (default: the mass that it holds opens it by 0.1 mm)"
    )
    loop_damping: float | None = option(
        None, "damping of each closed loop [N s/m] (default: critical for its fastest motion, or less)"
    )
    stiffness_per: str = option(
        "pair", "what K, B and preload belong to: a 'pair' of shapes, a contact 'point', or a m² of contact 'area'"
    )

    def __post_init__(self) -> None:
        one_of("rest", self.rest, REST)
        one_of("stiffness_per", self.stiffness_per, SHARES)
        if self.loop_stiffness is not None:
            wanted = "a stiffness > 0 [N/m]"
            self.loop_stiffness = number("loop_stiffness", self.loop_stiffness, wanted, above=0.0)
        if self.loop_damping is not None:
            wanted = "a damping ≥ 0 [N s/m]"
            self.loop_damping = number("loop_damping", self.loop_damping, wanted, least=0.0)


class Viscoelastic(Method):
    """A method with spring-damper contacts, whose anchors are its memory, and with loops as springs and dampers."""

    reads = SPRINGS
    advance_held: ClassVar[Any]
    """The compiled loop ``advance`` of the method as a kernel of (held, n); see ``HeldCall``."""
    Options = SoftOptions
    options: SoftOptions
    world: SoftWorld  # type: ignore[assignment]

    def __init__(self, model: Model, dt: float, variant: str, **options: Any) -> None:
        super().__init__(model, dt, variant, **options)
        seen = replace(model, shapes=()) if variant == "none" else model
        self.detector = ConvexDetector(seen, 0.0, stiffness_per=self.options.stiffness_per)
        self._radius = Reach(model).radius
        self.recovery = make_recovery(self.options.recovery_time, self._radius, model.inertia.mass)
        self.limits = make_limits(model, self.recovery)
        self._passive = model.joint_forces._replace(range=model.joint_forces.range.copy())
        self._drives, self._fluid = self.world.actuators, self.world.fluid
        self._materials = combined_materials(model) if variant != "none" else np.zeros((0, PROPERTIES))
        self._loops = loop_points(model, self.options.loop_stiffness, self.options.loop_damping)
        self._closure = LoopClosure(model) if model.loops else None
        self.world = self._world()
        w = self.world
        if w.bounces[0] != 0:
            parts = (w.tree, w.support, w.inertia, w.fluid, w.rows)
            prepare(choose_damping, *parts, self.work.kin, self.contacts.arrays)
        room = len(self.contacts.arrays.pair) + len(self._loops.link1)
        self.contacts = ContactList(self.work.kin, capacity=room)
        self.anchors = self._make_anchors(room)
        self._call = HeldCall(self.advance_held)

    def _make_anchors(self, contacts: int) -> Anchors:
        bounded = np.isfinite(self.recovery.speed) and self.options.rest == "surface"
        speed = self.recovery.speed if bounded else 0.0
        angular = angular_bounds(self.model, self.dt)
        return make_anchors(contacts, self.options.rest, speed, tree_weights(self.model), angular)

    def _world(self) -> SoftWorld:
        m, d = self.model, self.detector
        constants = (m.tree, m.support, m.inertia, self._passive, self._drives, self._fluid)
        cell = np.array([d.cell], dtype=float)
        bounces = np.array([np.any(self._materials[:, BOUNCE] != SAID)], dtype=np.int64)
        return SoftWorld(*constants, d.search, cell, self._loops, self.limits, self._radius, self.joint_rows, bounces)

    @abstractmethod
    def _arguments(self, state: State, inputs: Inputs) -> tuple[Any, ...]:
        """The arguments of ``advance_held``."""

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        return self._call(self._arguments(state, inputs), n)

    def compiled_call(self, state: State, inputs: Inputs) -> CompiledCall:
        held = self._call.hold(self._arguments(state, inputs))
        own = {**self.memory(), **self._carried(), "range": self._passive.range}
        return CompiledCall(self._call.function, held, own, True, self._buffer.force)

    def _carried(self) -> dict[str, np.ndarray]:
        """What a step leaves for the next one besides the memory, of which a restored memory makes it anew."""
        return {}

    def why_stages(self) -> str:
        return ""

    def fit_room(self, contacts: int) -> None:
        room = contacts + len(self._loops.link1)
        self.contacts = ContactList(self.work.kin, capacity=room)
        self.anchors = self._make_anchors(room)

    @property
    def at_overlap(self) -> str:
        if self.options.rest != "surface":
            return "its contact springs rest there (option 'rest')"
        return pushed_out(self.recovery)

    @property
    def at_limits(self) -> str:
        return put_back(self.recovery)

    def bearable_depths(self) -> np.ndarray:
        depths = np.zeros(len(self.contacts))
        bearable_depths(self._buffer, self.anchors, depths)
        return depths

    @property
    def _buffer(self) -> Contacts:
        """The buffer of contacts; the memory has as many places, whoever has made the buffer larger."""
        arrays = self.contacts.arrays
        if len(arrays.pair) > len(self.anchors.pair):
            self.make_room(len(arrays.pair))
        return arrays

    @property
    def honours(self) -> frozenset[str]:
        """Restitution acts unless a pair that asks for it says a damping, or has no spring."""
        rows = self._materials
        unmet = np.any((rows[:, RESTITUTION] > 0.0) & (rows[:, BOUNCE] == SAID))
        return self.capabilities.honours - ({"restitution"} if unmet else set())

    def reading(self) -> Mapping[str, str]:
        reads = dict(self.reads)
        if "restitution" in self.honours:
            reads["restitution"] = "where no surface says a damping, the damper that gives e in a free impact"
        elif np.any(self._materials[:, BOUNCE] != SAID):
            reads["restitution"] = "bounce follows from stiffness and damping where a surface says a damping"
        words = {
            "point": "a {} per contact point and direction, as it is",
            "area": "a {} per m² and direction, as it is",
        }
        if self.options.stiffness_per == "pair":
            return reads
        said = words[self.options.stiffness_per]
        return {**reads, "stiffness": said.format("spring"), "damping": said.format("damper")}

    def stages(self) -> dict[str, Stage]:
        return {
            "kinematics": self._kinematics,
            "collision": self._collision,
            "formulate": self._formulate,
        }

    def _kinematics(self, sim) -> None:
        begin_limits(self.world.tree, self.world.passive, self.world.limits, sim.state.q)
        look(self.world, self.work, sim.state.q, sim.state.v)

    def _collision(self, sim) -> None:
        while not find_contacts(self.world.search, self.work.kin, 0.0, self.detector.cell, self._buffer):
            self.grow()
        if self.world.bounces[0] != 0:
            w = self.world
            choose_damping(w.tree, w.support, w.inertia, w.fluid, w.rows, self.work.kin, self._buffer)
        self._append_loops()

    def _append_loops(self) -> None:
        """Put the loops behind the contacts, which may come from a Python collision function."""
        while not append_loops(self.world.loops, self.work.kin, self._buffer):
            self.grow()

    def _formulate(self, sim) -> None:
        self._append_loops()
        spring_damper(self.work.kin, self._buffer, self.anchors, self.dt, self.dt)

    def make_room(self, contacts: int) -> None:
        if contacts > len(self.anchors.pair):
            self.anchors = grown_anchors(self.anchors, contacts)

    def grow(self) -> None:
        self.detector.make_room(self.contacts)
        self.world = self._world()
        self.make_room(len(self._buffer.pair))

    def moving_parts(self) -> MovingParts:
        loops = () if self._closure is None else (self._closure.bilateral.loops,)
        return MovingParts((self.detector,), loops, self._loops)

    def contact_energy(self) -> float:
        return contact_energy(self._buffer)

    def joint_error(self) -> np.ndarray:
        if self._closure is None:
            return super().joint_error()
        self._closure.measure(self.work.kin)
        return np.column_stack(self._closure.errors())

    def memory(self) -> dict[str, np.ndarray]:
        a = self.anchors
        anchors = {"anchored": a.pair, "anchor": a.anchor, "point": a.point, "rest": a.rest, "begun": a.begun}
        anchors["twist"], anchors["ratio"] = a.twist, a.ratio
        return {**anchors, **limits_memory(self.limits), "joint_forces": self.joint_rows.force}

    def remember(self, memory: Mapping[str, np.ndarray]) -> None:
        self.make_room(len(memory["anchored"]))
        self._write(memory)
        put_ranges(self._passive, self.limits)
