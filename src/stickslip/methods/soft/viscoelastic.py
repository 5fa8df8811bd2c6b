"""Shared parts of all methods with spring-damper contacts: the friction anchors, and the stages up to the forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ContactList, Contacts
from stickslip.collision.loop_points import append_loops
from stickslip.collision.soft_pairs.detect import find_contacts
from stickslip.collision.soft_pairs.pairs import Pairs, total
from stickslip.constraints.loop_closure import LoopClosure
from stickslip.dynamics.jacobian import set_wrenches
from stickslip.dynamics.joint_forces import joint_space_forces
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities, spatial_inertias
from stickslip.errors import number, one_of
from stickslip.methods.base import CONTACTS_FULL, OK, Capabilities, Method, Stage
from stickslip.methods.materials import SPRINGS
from stickslip.methods.options import Options, option
from stickslip.methods.soft.loop_springs import loop_points
from stickslip.methods.soft.spring_damper import REST, contact_energy, grown_anchors, make_anchors, spring_damper
from stickslip.model.model import Model

MARGIN = 0.0  # a spring-damper acts only in penetration


@kernel
def poses_and_velocities(world, work, q, v):
    forward_kinematics(world.tree, q, work.kin)
    forward_velocities(world.tree, v, work.kin)


@kernel
def update_kinematics(world, work, q, v):
    poses_and_velocities(world, work, q, v)
    spatial_inertias(world.inertia, work.kin)


@kernel
def detect(world, work, contacts):
    """Contacts, and the points of closed loops behind them."""
    find_contacts(world.pairs, work.kin, MARGIN, contacts)
    return OK if append_loops(world.loops, work.kin, contacts) else CONTACTS_FULL


@kernel
def gather_forces(world, work, inputs, q, v):
    """``work.tau`` and ``work.f_ext``: actuators, joint springs, limits and damping, applied forces; no contacts."""
    joint_space_forces(world.tree, world.passive, world.actuators, q, v, inputs.control, inputs.applied, work.tau)
    set_wrenches(work.kin, inputs.wrench, work.f_ext)


def soft_capabilities(summary: str, **declared: Any) -> Capabilities:
    """The capabilities of a method with spring-damper contacts, whose loops are springs and dampers, too."""
    honours = frozenset({"friction", "stiffness", "damping", "preload"})
    return Capabilities(summary, ("spring-damper", "none"), honours, loops=True, stiff_loops=False, **declared)


@dataclass(kw_only=True)
class SoftOptions(Options):
    """Options of methods with spring-damper contacts."""

    rest: str = option("surface", "where normal springs rest: 'surface', or 'detected', the point of first penetration")
    loop_stiffness: float | None = option(
        None, "stiffness of each closed loop [N/m] (default: the mass that it holds opens it by 0.1 mm)"
    )
    loop_damping: float | None = option(
        None, "damping of each closed loop [N s/m] (default: critical for its fastest motion, or less)"
    )

    def __post_init__(self) -> None:
        one_of("rest", self.rest, REST)
        if self.loop_stiffness is not None:
            wanted = "a stiffness > 0 [N/m]"
            self.loop_stiffness = number("loop_stiffness", self.loop_stiffness, wanted, above=0.0)
        if self.loop_damping is not None:
            wanted = "a damping ≥ 0 [N s/m]"
            self.loop_damping = number("loop_damping", self.loop_damping, wanted, least=0.0)


class Viscoelastic(Method):
    """A method with spring-damper contacts, whose anchors are its memory, and with loops as springs and dampers."""

    reads = SPRINGS
    Options = SoftOptions
    options: SoftOptions

    def __init__(self, model: Model, dt: float, variant: str, pairs: Pairs, **options: Any) -> None:
        super().__init__(model, dt, variant, pairs, **options)
        self.anchors = make_anchors(total(pairs), self.options.rest)
        loops = loop_points(model, self.options.loop_stiffness, self.options.loop_damping)
        self.world = self.world._replace(loops=loops)
        self.contacts = ContactList(self.work.kin, capacity=min(16, total(pairs)) + len(loops.link1))
        self._closure = LoopClosure(model) if model.loops else None

    @property
    def _buffer(self) -> Contacts:
        return self.contacts.arrays

    def stages(self) -> dict[str, Stage]:
        return {
            "kinematics": lambda sim: update_kinematics(self.world, self.work, sim.state.q, sim.state.v),
            "collision": self._collision,
            "formulate": self._formulate,
        }

    def _collision(self, sim) -> None:
        while detect(self.world, self.work, self._buffer) == CONTACTS_FULL:
            self.contacts.grow()

    def _append_loops(self) -> None:
        """Put the loops behind the contacts, which may come from a Python collision function."""
        while not append_loops(self.world.loops, self.work.kin, self._buffer):
            self.contacts.grow()

    def _formulate(self, sim) -> None:
        self._append_loops()
        spring_damper(self.work.kin, self._buffer, self.anchors, self.dt)

    def make_room(self, pairs: int) -> None:
        if pairs > len(self.anchors.active):
            self.anchors = grown_anchors(self.anchors, 2 * pairs)

    def contact_energy(self) -> float:
        return contact_energy(self._buffer)

    def joint_error(self) -> np.ndarray:
        if self._closure is None:
            return super().joint_error()
        self._closure.measure(self.work.kin)
        return np.column_stack(self._closure.errors())

    def memory(self) -> dict[str, np.ndarray]:
        a = self.anchors
        return {"active": a.active, "anchor": a.anchor, "point": a.point, "rest": a.rest}
