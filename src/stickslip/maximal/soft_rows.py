"""Soft rows: rotor inertia, dampers, springs and servos of joints as bilateral rows with a compliance.

With the rate q̇ = r·V of a joint velocity (``maximal.rates``), the impulse in it over a step is

    λ = h·(τ − h·K·q̇⁻) − w·(q̇⁺ − q̇⁻),    w = I_a + h·D + h²·K

where τ is the force of actuators, springs, dampers and the applied force at the beginning of the step, K and D are the
stiffness and damping of ``joint_gains``, and I_a is the armature. Eliminating it along the tree gives the step of joint
coordinates, (M + w)·(q̇⁺ − q̇⁻) = h·(τ − h·K·q̇⁻ − b). As a row it is

    r·V⁺ + C·λ = t,    C = 1/w,    t = q̇⁻ + C·h·(τ − h·K·q̇⁻)

Rows of slides, balls and universal joints turn with the bodies, so that q̈ = r·V̇ + ṙ·V there; the caller subtracts
I_a·ṙ·V from τ (``turning_rotors``).

C [1/kg or 1/(kg m²)] is added to the diagonal of r·M⁻¹·rᵀ, so that no stiffness limits h. A joint velocity with w = 0
has no row; its τ is applied to the bodies as a force. Free joints have no row either: their velocities are those of a
body, and h·D + h²·K is added to its mass.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from stickslip.dynamics.joint_forces import joint_gains
from stickslip.maximal.pair_rows import PairRows
from stickslip.model.arrays import FREE, HINGE, Actuators, JointForces
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


class SoftRows:
    """The soft rows of a model: ns of its nv joint velocities. ``passive`` must have no limits.

    They may change from step to step, because a servo at its force limit has no stiffness.
    """

    def __init__(self, model: Model, passive: JointForces) -> None:
        self.model, self.passive = model, passive
        self.link = model.support.dof_link
        first = model.tree.joint_start[self.link]
        self._free = np.flatnonzero(model.tree.joint_type[first] == FREE)
        own = self._free - model.support.link_dof[self.link[self._free]]
        self._free_column = 6 * (self.link[self._free] - 1) + own
        self._gains, self._nv = np.zeros((2, model.nv)), 6 * (model.nlink - 1)
        self.dof = np.zeros(0, dtype=np.int64)
        """(ns,) the joint velocities that have a row."""
        self.compliance, self.target = np.zeros(0), np.zeros(0)
        """(ns,) C and t."""
        self.rates = np.zeros((0, 12))
        """(ns, 12) r."""
        self.free_mass = np.zeros(self._nv)
        """(nv',) h·D + h²·K of free joints."""
        self._pairs = PairRows(self.dof, self.dof, self._nv)

    def begin(self, q: np.ndarray, v: np.ndarray, control: np.ndarray, dt: float, tau: np.ndarray) -> None:
        """Set the rows from τ (nv,) at q and v; the rest of ``tau`` is for the bodies. Call ``look`` next."""
        m, (K, D) = self.model, self._gains
        actuators: Actuators = m.actuators
        joint_gains(m.tree, self.passive, actuators, q, v, control, K, D)
        implicit = dt * (D + dt * K)
        tau -= dt * K * v
        weight = m.inertia.armature + implicit
        self.free_mass[self._free_column] = implicit[self._free]
        weight[self._free] = 0.0
        dof = np.flatnonzero(weight > 0.0)
        if not np.array_equal(dof, self.dof):
            self.dof = dof
            self._pairs = PairRows(m.tree.parent[self.link[dof]], self.link[dof], self._nv)
        self.compliance = 1.0 / weight[dof]
        self.target = v[dof] + self.compliance * dt * tau[dof]
        tau[dof] = 0.0

    def look(self, rates: np.ndarray) -> None:
        """Take the rows from those of all joint velocities, ``rates`` (nv, 12)."""
        self.rates = rates[self.dof]

    @property
    def rows(self) -> sparse.csr_matrix:
        """(ns, nv') r; calls return the same object as long as the same joint velocities have rows."""
        return self._pairs.matrix(self.rates)
