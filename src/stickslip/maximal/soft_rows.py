"""Soft rows: rotor inertia, dampers, springs and servos of joints as bilateral rows with a compliance.

With the rate q̇ = r·V of a joint velocity (``maximal.rates``), the impulse in it over a step is

    λ = h·(τ − h·K·q̇⁻) − w·(q̇⁺ − q̇⁻),    w = I_a + h·D + h²·K

where τ is the force of actuators, springs, dampers and the applied force at the beginning of the step, K and D are the
stiffness and damping of ``joint_gains`` and ``add_drive_gains``, and I_a is the armature. Eliminating it along the tree
gives the step of joint coordinates, (M + w)·(q̇⁺ − q̇⁻) = h·(τ − h·K·q̇⁻ − b). As a row it is

    r·V⁺ + C·λ = t,    C = 1/w,    t = q̇⁻ + C·h·(τ − h·K·q̇⁻)

Rows of slides, balls and universal joints turn with the bodies, so that q̈ = r·V̇ + ṙ·V there; the caller subtracts
I_a·ṙ·V from τ (``turning_rotors``).

C [1/kg or 1/(kg m²)] is added to the diagonal of r·M⁻¹·rᵀ, so that no stiffness limits h. A joint velocity with w = 0
has no row; its τ is applied to the bodies as a force. Free joints have no row either: their velocities are those of a
body, and h·D + h²·K is added to its mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from stickslip._jit import kernel
from stickslip.dynamics.drive_forces import add_drive_gains, add_drive_lead
from stickslip.dynamics.joint_forces import joint_gains
from stickslip.maximal.pair_rows import PairRows
from stickslip.model.arrays import FREE, HINGE
from stickslip.model.model import Model


def turning_rotors(model: Model) -> np.ndarray:
    """Joint velocities with armature whose rows turn with the bodies. These are all but those of free joints and of
    single hinges, whose axes are fixed to both bodies."""
    tree, turning = model.tree, model.inertia.armature > 0.0
    for b in range(1, model.nlink):
        own = np.arange(tree.joint_start[b], tree.joint_start[b + 1])
        hinges = own[tree.joint_type[own] == HINGE]
        if len(hinges) == 1:
            turning[tree.joint_v[hinges[0]]] = False
        if tree.joint_type[own[0]] == FREE:
            turning[model.support.link_dof[b] : model.support.link_dof[b + 1]] = False
    return np.flatnonzero(turning)


class Soft(NamedTuple):
    """The soft rows of a step, with room for one per joint velocity."""

    number: np.ndarray
    """(1,) their number ns."""
    dof: np.ndarray
    """(nv,) the joint velocities that have a row."""
    compliance: np.ndarray
    """(nv,) C."""
    target: np.ndarray
    """(nv,) t."""
    free_mass: np.ndarray
    """(6(nl − 1),) h·D + h²·K of free joints."""
    gains: np.ndarray
    """(2, nv) K and D."""


@kernel
def soft_rows(tree, support, passive, actuators, armature, q, v, dt, tau, soft):
    """Write the soft rows from τ (nv,) at q and v; what is left in ``tau`` is for the bodies. ``passive`` must have no
    limits, and ``drive_forces`` must have been computed at q and v."""
    n, K, D = 0, soft.gains[0], soft.gains[1]
    joint_gains(tree, passive, q, v, K, D)
    for d in range(v.shape[0]):
        tau[d] -= dt * K[d] * v[d]
    add_drive_lead(actuators, 0, dt, tau)
    add_drive_gains(actuators, 0, 1.0, 1.0, K, D)
    for d in range(v.shape[0]):
        b, implicit = support.dof_link[d], dt * (D[d] + dt * K[d])
        if tree.joint_type[tree.joint_start[b]] == FREE:
            soft.free_mass[6 * (b - 1) + d - support.link_dof[b]] = implicit
        elif armature[d] + implicit > 0.0:
            C = 1.0 / (armature[d] + implicit)
            soft.dof[n], soft.compliance[n], soft.target[n] = d, C, v[d] + C * dt * tau[d]
            tau[d] = 0.0
            n += 1
    soft.number[0] = n


class SoftRows:
    """The soft rows of a model: ns of its nv joint velocities, which the owner writes by ``soft_rows``.

    They may change from step to step, because a servo at its force limit has no stiffness.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        nv, free = model.nv, 6 * (model.nlink - 1)
        dof, count = np.zeros(nv, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self.arrays = Soft(count, dof, np.zeros(nv), np.zeros(nv), np.zeros(free), np.zeros((2, nv)))
        self.all_rates = np.zeros((nv, 12))
        """(nv, 12) the rates of all joint velocities (``maximal.rates``); the owner keeps them up to date."""

    def __len__(self) -> int:
        return int(self.arrays.number[0])

    @property
    def dof(self) -> np.ndarray:
        """(ns,) the joint velocities that have a row."""
        return self.arrays.dof[: len(self)]

    @property
    def compliance(self) -> np.ndarray:
        """(ns,) C."""
        return self.arrays.compliance[: len(self)]

    @property
    def target(self) -> np.ndarray:
        """(ns,) t."""
        return self.arrays.target[: len(self)]

    @property
    def rows(self) -> sparse.csr_matrix:
        """(ns, nv') r."""
        link = self.model.support.dof_link[self.dof]
        parent = self.model.tree.parent[link]
        return PairRows(parent, link, len(self.arrays.free_mass)).matrix(self.all_rates[self.dof])
