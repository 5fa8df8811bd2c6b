"""Shared parts of the explicit methods: accelerations under given forces, and the longest stable step.

A spring-damper contact of stiffness K, damping B and inverse mass w is stable under semi-implicit Euler while
K·w·dt² + 2·B·w·dt < 4: the two roots of λ² − (2 − Kw·dt² − Bw·dt)λ + 1 − Bw·dt lie inside the unit circle. Contacts on
one body act together.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import DAMPING, STIFFNESS, make_contacts
from stickslip.collision.loop_points import append_loops
from stickslip.constraints.joint_rows import FEEDBACK, factor_mass, hold_joints
from stickslip.dynamics import Dynamics
from stickslip.dynamics.aba import articulated_acceleration
from stickslip.dynamics.factor import solve
from stickslip.dynamics.fluid_derivatives import fluid_drag
from stickslip.dynamics.joint_forces import damper_slope, damper_slopes, largest_stiffness
from stickslip.dynamics.largest_gains import add_largest_gains
from stickslip.dynamics.rnea import bias_forces
from stickslip.methods.base import OK, Stage
from stickslip.methods.soft.loads import loads
from stickslip.methods.soft.spring_damper import apply_contact_forces, spring_damper
from stickslip.methods.soft.viscoelastic import Viscoelastic, detect_later, gather_forces, look, update_kinematics
from stickslip.model.arrays import JOINT_NV
from stickslip.model.model import Model, State


@kernel
def accelerate(world, work, contacts, inputs, armature, lag, q, v):
    """Joint accelerations under all forces; ``armature`` (nv,) is added to the diagonal of M. Drag of a medium is
    implicit over ``lag`` [s], explicit if that is 0."""
    gather_forces(world, work, inputs, q, v)
    if lag > 0.0:
        fluid_drag(world.fluid, work.kin)
    apply_contact_forces(work.kin, contacts, work.f_ext)
    if world.inertia.cable_armature.shape[0] > 0:
        accelerate_cables(world, work, armature, lag)
        return
    articulated_acceleration(
        world.tree, world.support, world.inertia, armature, world.fluid.drag, lag, work.tau, work.f_ext, work.kin,
        work.art, work.acceleration,
    )  # fmt: skip


@kernel(inline=False)
def accelerate_cables(world, work, armature, lag):
    """``work.acceleration`` by the factored mass matrix, for tendons with armature, which couple joints."""
    a = work.acceleration
    bias_forces(world.tree, world.support, world.inertia, work.f_ext, work.kin, a)
    for d in range(a.shape[0]):
        a[d] = work.tau[d] - a[d]
    factor_mass(world.tree, world.support, world.inertia, armature, world.fluid, lag, work.kin, world.rows)
    solve(world.support, world.rows.mass.L, a)


@kernel
def evaluate(world, work, contacts, anchors, inputs, armature, lag, elapsed, since, q, v):
    """``work.acceleration`` at (q, v), ``since`` [s] after the step's beginning, see ``accelerate``; the anchors were
    last moved ``elapsed`` [s] ago."""
    update_kinematics(world, work, q, v)
    status = detect_later(world, work, contacts, since)
    if status == OK:
        spring_damper(work.kin, contacts, anchors, elapsed, elapsed)
        accelerate(world, work, contacts, inputs, armature, lag, q, v)
    return status


@kernel
def hold(world, work, armature, lag, dt, feedback, v):
    """Correct ``work.acceleration`` by dry friction and couplings of joints, which hold at the end of the step;
    ``feedback`` is the part of a coupling's error that is undone in it, and ``lag`` is that of ``accelerate``."""
    if world.rows.bound.shape[0] > 0:
        factor_mass(world.tree, world.support, world.inertia, armature, world.fluid, lag, work.kin, world.rows)
        hold_joints(world.support, world.rows.mass.L, world.rows, work.kin, dt, feedback, v, work.acceleration)


@kernel
def implicit_armature(passive, own, dt, v, armature):
    """armature (nv,) = own + dt·D: dampers that are implicit in the velocity, linearised at v."""
    for d in range(v.shape[0]):
        armature[d] = own[d] + dt * max(0.0, damper_slope(passive, d, v[d]))


class Explicit(Viscoelastic):
    """An explicit method; ``armature`` (nv,) is added to the diagonal of the mass matrix."""

    implicit_damping: ClassVar[bool] = False
    """Whether joint damping (by ``armature``) and drag of a medium are implicit, so that they do not limit the step."""

    def __init__(self, model: Model, dt: float, variant: str, **options: Any) -> None:
        super().__init__(model, dt, variant, **options)
        self.armature = model.inertia.armature
        if self.implicit_damping:
            self.armature = np.zeros(model.nv)
            implicit_armature(self.world.passive, model.inertia.armature, dt, np.zeros(model.nv), self.armature)

    def stages(self) -> dict[str, Stage]:
        return {**super().stages(), "solve": self._solve}

    def _solve(self, sim) -> None:
        lag = self.dt if self.implicit_damping else 0.0
        accelerate(self.world, self.work, self._buffer, sim.acting, self.armature, lag, sim.state.q, sim.state.v)
        hold(self.world, self.work, self.armature, lag, self.dt, FEEDBACK, sim.state.v)

    def stable_dt(self, state: State) -> float:
        """K·w·dt² + 2·B·w·dt < 4 for all contacts, loops, joint springs, limits and servos together, and links that
        swing. This is conservative, since hardly all of them act at once; ``loads`` says which contacts count."""
        dynamics = Dynamics(self.model)
        stiffness, damping = explicit_joint_gains(self.model, state)
        if not self.implicit_damping:
            damping += damper_slopes(self.model, state.v)
        kw, bw = dynamics.mobility_norm(state.q, stiffness), dynamics.mobility_norm(state.q, damping)
        if not self.implicit_damping:
            bw += dynamics.drag_rate(state.q, state.v)
        kw += dynamics.swing_norm(state.q)
        look(self.world, self.work, state.q, state.v)
        link1, link2, point, K, B = self._loads(state)
        if len(link2):
            kw += dynamics.delassus_norm(state.q, link1, link2, point, K)
            bw += dynamics.delassus_norm(state.q, link1, link2, point, B)
        return longest(kw, bw)

    def _loads(self, state: State) -> tuple[np.ndarray, ...]:
        """(link 1, link 2, point, K, B) of the contacts that may act, and of all loops, at the poses at hand."""
        loops, n = self.world.loops, len(self.world.loops.link1)
        held = make_contacts(n)
        append_loops(loops, self.work.kin, held)
        own = (loops.link1, loops.link2, held.point[:n], loops.material[:, STIFFNESS], loops.material[:, DAMPING])
        if self.variant == "none":
            return own
        at = loads(self.model, self.work.kin, self.options.stiffness_per)
        damping = at.damping
        if np.any(at.bounce > 0.0):
            damping = damping + at.bounce * np.sqrt(impact_masses(self.model, state, at.link, at.point)[1])
        contacts = (np.zeros_like(at.link), at.link, at.point, at.stiffness, damping)
        return tuple(np.concatenate(both) for both in zip(contacts, own, strict=True))


def impact_masses(model: Model, state: State, link: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n,) each: the smallest and the largest mass that a force on these points of links could feel, by its direction;
    at most that of all that hangs together [kg]."""
    world, axes = np.zeros_like(link), np.tile(np.eye(3), (len(link), 1, 1))
    W = Dynamics(model).delassus_sparse(state.q, world, link, point, axes).tocsr()
    each = [np.linalg.eigvalsh(W[3 * k : 3 * k + 3, 3 * k : 3 * k + 3].toarray())[[0, 2]] for k in range(len(link))]
    least, largest = np.array(each).reshape(-1, 2).T
    total = np.bincount(model.tree.root, weights=model.inertia.mass, minlength=model.nlink)[model.tree.root[link]]
    return 1.0 / np.maximum(largest, 1e-300), 1.0 / np.maximum(least, 1.0 / np.maximum(total, 1e-300))


def longest(kw: float, bw: float) -> float:
    """The dt [s] with kw·dt² + 2·bw·dt = 4; kw = K·w [1/s²], bw = B·w [1/s]."""
    if kw == 0.0:
        return 2.0 / bw if bw > 0.0 else float("inf")
    return float((-bw + np.sqrt(bw**2 + 4 * kw)) / kw)


def explicit_joint_gains(model: Model, state: State) -> tuple[np.ndarray, np.ndarray]:
    """(nv,) stiffness and damping of explicit joint forces: springs, limits, tendons, servos; at the state where they
    are not constant."""
    passive, springs = model.joint_forces, largest_stiffness(model, state.q)
    stiffness, damping = np.zeros(model.nv), np.zeros(model.nv)
    for j, first in enumerate(model.tree.joint_v):
        dofs = slice(first, first + JOINT_NV[model.tree.joint_type[j]])
        limited = passive.limited[j] != 0
        stiffness[dofs] += springs[j] + limited * passive.limit_stiffness[j]
        damping[dofs] += limited * passive.limit_damping[j]
    add_largest_gains(model, state.q, stiffness, damping)
    return stiffness, damping
