"""Shared parts of all methods with spring-damper contacts: the friction anchors, and the stages up to the forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import Contacts
from stickslip.collision.soft_pairs.detect import find_contacts
from stickslip.collision.soft_pairs.pairs import Pairs, total
from stickslip.dynamics.jacobian import set_wrenches
from stickslip.dynamics.joint_forces import joint_space_forces
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities, spatial_inertias
from stickslip.errors import one_of
from stickslip.methods.base import CONTACTS_FULL, OK, Capabilities, Method, Stage
from stickslip.methods.handle import HeldCall
from stickslip.methods.materials import SPRINGS
from stickslip.methods.options import Options, option
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
    find_contacts(world.pairs, work.kin, MARGIN, contacts)
    if contacts.found[0] > contacts.pair.shape[0]:
        return CONTACTS_FULL
    return OK


@kernel
def gather_forces(world, work, inputs, q, v):
    """``work.tau`` and ``work.f_ext``: actuators, joint springs, limits and damping, applied forces; no contacts."""
    joint_space_forces(world.tree, world.passive, world.actuators, q, v, inputs.control, inputs.applied, work.tau)
    set_wrenches(work.kin, inputs.wrench, work.f_ext)


def soft_capabilities(summary: str, **declared: Any) -> Capabilities:
    """The capabilities of a method with spring-damper contacts."""
    honours = frozenset({"friction", "stiffness", "damping", "preload"})
    return Capabilities(summary, ("spring-damper", "none"), honours, **declared)


@dataclass(kw_only=True)
class SoftOptions(Options):
    """Options of methods with spring-damper contacts."""

    rest: str = option("surface", "where normal springs rest: 'surface', or 'detected', the point of first penetration")

    def __post_init__(self) -> None:
        one_of("rest", self.rest, REST)


class Viscoelastic(Method):
    """A method with spring-damper contacts; their anchors are its memory."""

    reads = SPRINGS
    advance_held: ClassVar[Any]
    """The compiled loop ``advance`` of the method as a kernel of (held, n); see ``HeldCall``."""
    Options = SoftOptions
    options: SoftOptions

    def __init__(self, model: Model, dt: float, variant: str, pairs: Pairs, **options: Any) -> None:
        super().__init__(model, dt, variant, pairs, **options)
        self.anchors = make_anchors(total(pairs), self.options.rest)
        self._call = HeldCall(self.advance_held)

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

    def _formulate(self, sim) -> None:
        spring_damper(self.work.kin, self._buffer, self.anchors, self.dt)

    def make_room(self, pairs: int) -> None:
        if pairs > len(self.anchors.active):
            self.anchors = grown_anchors(self.anchors, 2 * pairs)

    def contact_energy(self) -> float:
        return contact_energy(self._buffer)

    def memory(self) -> dict[str, np.ndarray]:
        a = self.anchors
        return {"active": a.active, "anchor": a.anchor, "point": a.point, "rest": a.rest}
