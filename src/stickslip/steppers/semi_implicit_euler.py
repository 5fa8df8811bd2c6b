"""Semi-implicit Euler: new velocities move the configuration; contact forces are explicit.

    a   = (M + dt·D)⁻¹ (τ − D·v − b + Jᵀλ(q, v))
    v⁺  = v + dt·a
    q⁺  = q ⊕ dt·v⁺

M: mass matrix, b: gravity, centrifugal and Coriolis forces, D: joint damping (treated implicitly, so that a strongly
damped joint does not limit dt), λ: forces of the contact law at the beginning of the step. First order; energy and
momentum of rotating bodies drift in proportion to dt, since b(q, v) is taken at the old velocity. Cost: linear in
links and in contacts.

A spring-damper contact of stiffness K, damping B and inverse mass w is stable while K·w·dt² + 2·B·w·dt < 4: the two
roots of λ² − (2 − Kw·dt² − Bw·dt)λ + 1 − Bw·dt lie inside the unit circle. Contacts on one body act together.
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import DAMPING, STIFFNESS, Contacts
from stickslip.collision.detect import find_contacts, loads
from stickslip.collision.pairs import Pairs, total
from stickslip.contact.spring_damper import (
    apply_contact_forces,
    contact_energy,
    make_anchors,
    spring_damper,
)
from stickslip.dynamics import Dynamics
from stickslip.dynamics.aba import articulated_acceleration
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.jacobian import add_wrenches
from stickslip.dynamics.joint_forces import actuator_forces, spring_and_limit_forces
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities, spatial_inertias
from stickslip.model.arrays import JOINT_NV
from stickslip.model.model import Model, State
from stickslip.steppers.base import (
    CONTACTS_FULL,
    OK,
    Capabilities,
    Inputs,
    Stage,
    Stepper,
    bounded,
)

MARGIN = 0.0  # a spring-damper acts only in penetration


@kernel
def update_kinematics(world, work, q, v):
    forward_kinematics(world.tree, q, work.kin)
    forward_velocities(world.tree, v, work.kin)
    spatial_inertias(world.inertia, work.kin)


@kernel
def detect(world, work, contacts):
    find_contacts(world.pairs, work.kin, MARGIN, contacts)
    if contacts.found[0] > contacts.pair.shape[0]:
        return CONTACTS_FULL
    return OK


@kernel
def accelerate(world, work, contacts, inputs, damped_armature, q, v):
    """Joint accelerations under actuators, joint springs and limits, damping, applied and contact forces."""
    tau, f_ext = work.tau, work.f_ext
    for d in range(tau.shape[0]):
        tau[d] = inputs.applied[d] - world.passive.damping[d] * v[d]
    actuator_forces(world.tree, world.actuators, q, v, inputs.control, tau)
    spring_and_limit_forces(world.tree, world.passive, q, v, tau)
    for b in range(f_ext.shape[0]):
        for k in range(6):
            f_ext[b, k] = 0.0
    add_wrenches(work.kin, inputs.wrench, f_ext)
    apply_contact_forces(work.kin, contacts, f_ext)
    articulated_acceleration(
        world.tree, world.support, world.inertia, damped_armature, tau, f_ext, work.kin, work.art, work.acceleration
    )


@kernel
def integrate_state(world, acceleration, dt, q, v):
    for d in range(v.shape[0]):
        v[d] += dt * acceleration[d]
    integrate(world.tree, q, v, dt, q)


@kernel
def step(world, work, contacts, anchors, inputs, damped_armature, dt, q, v):
    """One step: the table of contents of the method."""
    update_kinematics(world, work, q, v)
    status = detect(world, work, contacts)
    if status != OK:
        return status
    spring_damper(work.kin, contacts, anchors, dt)
    accelerate(world, work, contacts, inputs, damped_armature, q, v)
    status = bounded(work.acceleration, v, dt)
    if status != OK:
        return status
    integrate_state(world, work.acceleration, dt, q, v)
    return OK


@kernel
def advance(world, work, contacts, anchors, inputs, damped_armature, dt, q, v, n):
    """n steps without Python in between; returns (status, steps done)."""
    for k in range(n):
        status = step(world, work, contacts, anchors, inputs, damped_armature, dt, q, v)
        if status != OK:
            return status, k
    return OK, n


class SemiImplicitEuler(Stepper):
    """Semi-implicit Euler with spring-damper contacts."""

    capabilities = Capabilities(
        summary="semi-implicit Euler, explicit contact forces",
        laws=("spring-damper", "none"),
        honours=frozenset({"friction", "stiffness", "damping"}),
        order=1,
        reference="contact law: Hammoud et al., eqs. (2), (21), (22), (28)",
    )

    def __init__(self, model: Model, dt: float, law: str, pairs: Pairs) -> None:
        super().__init__(model, dt, law, pairs)
        self.damped_armature = model.inertia.armature + dt * model.joint_forces.damping
        self.anchors = make_anchors(total(pairs))

    @property
    def _buffer(self) -> Contacts:
        return self.contacts.arrays

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        memory = (self._buffer, self.anchors)
        return advance(self.world, self.work, *memory, inputs, self.damped_armature, self.dt, state.q, state.v, n)

    def stages(self) -> dict[str, Stage]:
        return {
            "kinematics": lambda sim: update_kinematics(self.world, self.work, sim.state.q, sim.state.v),
            "collision": self._collision,
            "formulate": self._formulate,
            "solve": self._solve,
            "integrate": lambda sim: integrate_state(
                self.world, self.work.acceleration, self.dt, sim.state.q, sim.state.v
            ),
        }

    def _collision(self, sim) -> None:
        while detect(self.world, self.work, self._buffer) == CONTACTS_FULL:
            self.contacts.grow()

    def _formulate(self, sim) -> None:
        spring_damper(self.work.kin, self._buffer, self.anchors, self.dt)

    def _solve(self, sim) -> None:
        accelerate(self.world, self.work, self._buffer, sim.inputs, self.damped_armature, sim.state.q, sim.state.v)

    def make_room(self, pairs: int) -> None:
        if pairs > len(self.anchors.active):
            bigger = make_anchors(2 * pairs)
            for old, new in zip(self.anchors, bigger, strict=True):
                new[: len(old)] = old
            self.anchors = bigger

    def contact_energy(self) -> float:
        return contact_energy(self.work.kin, self._buffer, self.anchors)

    def memory(self) -> dict[str, np.ndarray]:
        return {"active": self.anchors.active, "anchor": self.anchors.anchor, "point": self.anchors.point}

    def stable_dt(self, state: State) -> float:
        """K·w·dt² + 2·B·w·dt < 4 for all contacts, joint springs, limits and servos together: rather too careful,
        since hardly all of them act at once. Of a shape, as many points count as can lie on a plane together."""
        dynamics = Dynamics(self.model)
        stiffness, damping = explicit_joint_gains(self.model)
        kw, bw = dynamics.mobility_norm(state.q, stiffness), dynamics.mobility_norm(state.q, damping)
        if total(self.world.pairs):
            update_kinematics(self.world, self.work, state.q, state.v)
            link1, link2, point, material, share = loads(self.world.pairs, self.work.kin)
            kw += dynamics.delassus_norm(state.q, link1, link2, point, share * material[:, STIFFNESS])
            bw += dynamics.delassus_norm(state.q, link1, link2, point, share * material[:, DAMPING])
        if kw == 0.0:
            return 2.0 / bw if bw > 0.0 else float("inf")
        return float((-bw + np.sqrt(bw**2 + 4 * kw)) / kw)


def explicit_joint_gains(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """(nv,) stiffness and damping that act in the joints and are treated explicitly: springs, limits, servos."""
    passive, actuators = model.joint_forces, model.actuators
    stiffness, damping = np.zeros(model.nv), np.zeros(model.nv)
    for j, first in enumerate(model.tree.joint_v):
        dofs = slice(first, first + JOINT_NV[model.tree.joint_type[j]])
        limited = passive.limited[j] != 0
        stiffness[dofs] += passive.stiffness[j] + limited * passive.limit_stiffness[j]
        damping[dofs] += limited * passive.limit_damping[j]
    driven = model.tree.joint_v[actuators.joint]
    np.add.at(stiffness, driven, np.maximum(0.0, -(actuators.gear**2) * actuators.bias[:, 1]))
    np.add.at(damping, driven, np.maximum(0.0, -(actuators.gear**2) * actuators.bias[:, 2]))
    return stiffness, damping
