"""Dry friction of joints in methods without a contact problem: stick and slip at the end of a step, exactly.

Joint d with dry friction f_d has a friction force φ_d, |φ_d| ≤ f_d, and φ_d = −f_d·sign(v_d) where it moves. With the
forces φ of the last step already in the step's acceleration a, and the impulses λ = dt·φ⁺ of this one,

    v⁺ = v + dt·a + M⁻¹·Sᵀ·(λ − dt·φ),      |λ_d| ≤ dt·f_d,   v⁺_d = 0 where |λ_d| < dt·f_d,   else λ_d·v⁺_d ≤ 0,

S picks the joints with friction. This is a box-constrained linear complementarity problem with the matrix W = S·M⁻¹·Sᵀ,
positive definite, so it has one solution. Block principal pivoting finds it exactly: guess which joints stick, solve
for their impulses, correct all wrong guesses at once; where that does not reduce their number for a while, only the last
one (Murty's rule), which always ends. A joint thus stops within a step and stays; its position has the method's error.
Friction of the last step is the guess for this one: a joint that is held has it in its acceleration already.

Sizes: nf joint velocities with friction. Cost: depth² for each of them, nf²·depth for W, and (sticking)³/6 a guess.
Reference: Júdice, Pires, "A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems", Computers Ops Res. 21, 1994; box constraints as there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics import Dynamics
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.data import MassMatrix, make_data
from stickslip.dynamics.factor import ltdl_factor, solve
from stickslip.model.model import Model

PATIENCE = 3
"""Number of guesses that may pass without fewer wrong ones; then the last wrong one is corrected alone."""
MOST = 1000
"""Largest number of guesses."""
ROUND_OFF = 1e-12
"""A guess counts as wrong if it is by more than this, relative to the largest speed or bound."""


class DryFriction(NamedTuple):
    """Joints with dry friction, their friction forces, and scratch."""

    dof: np.ndarray
    """(nf,) the joint velocities with friction."""
    bound: np.ndarray
    """(nf,) f [N or N m]."""
    force: np.ndarray
    """(nv,) φ of the last step [N or N m]; part of a method's memory."""
    start: np.ndarray
    """(nf + 1,) places of the rows in Y."""
    Y: np.ndarray
    """Rows S·L⁻¹, each over a joint velocity and its ancestors."""
    W: np.ndarray
    """(nf, nf) [1/kg or 1/(kg m²)]."""
    F: np.ndarray
    """(nf, nf) Cholesky's factor for the joints that stick."""
    vector: np.ndarray
    """(4, nf): velocities without friction, impulses, right-hand sides, velocities."""
    side: np.ndarray
    """(nf,) 0: the joint sticks; ±1: its impulse is at that bound."""
    stuck: np.ndarray
    """(nf,) the joints that stick."""
    change: np.ndarray
    """(nv,) M⁻¹·Sᵀ·(λ − dt·φ)."""
    mass: MassMatrix
    """A mass matrix of its own, for methods that have none."""
    kept: np.ndarray
    """(nv,) φ at the beginning of a step that may be taken back."""
    inertia: np.ndarray
    """(nf,) diagonal of M at the reference configuration [kg or kg m²]."""


def make_dry_friction(model: Model) -> DryFriction:
    """Memory and scratch; friction forces are zero at first."""
    dof = np.flatnonzero(model.joint_forces.friction > 0.0)
    depth = np.diff(model.support.start)[dof]
    nf = len(dof)
    start = np.concatenate([[0], np.cumsum(depth)]).astype(np.int64)
    return DryFriction(
        dof, model.joint_forces.friction[dof].copy(), np.zeros(model.nv), start, np.zeros(int(start[-1])),
        np.zeros((nf, nf)), np.zeros((nf, nf)), np.zeros((4, nf)), np.zeros(nf, dtype=np.int64),
        np.zeros(nf, dtype=np.int64), np.zeros(model.nv), make_data(model).mass, np.zeros(model.nv),
        _inertias(model, dof),
    )  # fmt: skip


def _inertias(model: Model, dof: np.ndarray) -> np.ndarray:
    """(nf,) the diagonal of M at the reference configuration [kg or kg m²]."""
    return Dynamics(model).crba(model.tree.q0).diagonal()[dof] if len(dof) else np.zeros(0)


@kernel
def mobility(support, L, dry):
    """Write W from the factor L of M."""
    for i in range(dry.dof.shape[0]):
        d, first = dry.dof[i], dry.start[i]
        n = dry.start[i + 1] - first
        dry.Y[first] = 1.0
        for k in range(1, n):
            dry.Y[first + k] = 0.0
        for k in range(n):  # an ancestor's own ancestors are the tail of the list
            e = support.column[support.start[d] + k]
            for m in range(1, support.start[e + 1] - support.start[e]):
                dry.Y[first + k + m] -= L[support.start[e] + m] * dry.Y[first + k]
        for j in range(i + 1):
            dry.W[i, j] = dry.W[j, i] = shared(support, L, dry, i, j)


@kernel
def shared(support, L, dry, i, j):
    """W[i, j]: a sum over the common ancestors, which are the tails of both lists."""
    a, b, total = dry.start[i], dry.start[j], 0.0
    da, db = support.start[dry.dof[i]], support.start[dry.dof[j]]
    na, nb = dry.start[i + 1] - a, dry.start[j + 1] - b
    for k in range(1, min(na, nb) + 1):
        e = support.column[da + na - k]
        if e != support.column[db + nb - k]:
            break
        total += dry.Y[a + na - k] * dry.Y[b + nb - k] / L[support.start[e]]
    return total


@kernel
def solve_stuck(dry, dt):
    """Write λ for the guess ``side``, and the velocities that go with it; returns False if W is not definite."""
    W, F, b, p, right, u, n = dry.W, dry.F, dry.vector[0], dry.vector[1], dry.vector[2], dry.vector[3], 0
    nf = dry.dof.shape[0]
    for i in range(nf):
        if dry.side[i] == 0:
            dry.stuck[n] = i
            n += 1
        else:
            p[i] = dry.side[i] * dt * dry.bound[i]
    for r in range(n):
        i = dry.stuck[r]
        right[r] = -b[i]
        for j in range(nf):
            if dry.side[j] != 0:
                right[r] -= W[i, j] * p[j]
        for s in range(r + 1):
            total = W[i, dry.stuck[s]]
            for k in range(s):
                total -= F[r, k] * F[s, k]
            if s < r:
                F[r, s] = total / F[s, s]
            elif total > 0.0:
                F[r, r] = total**0.5
            else:
                return False
    for r in range(n):
        for s in range(r):
            right[r] -= F[r, s] * right[s]
        right[r] /= F[r, r]
    for r in range(n - 1, -1, -1):
        for s in range(r + 1, n):
            right[r] -= F[s, r] * right[s]
        right[r] /= F[r, r]
        p[dry.stuck[r]] = right[r]
    for i in range(nf):
        u[i] = b[i]
        for j in range(nf):
            u[i] += W[i, j] * p[j]
    return True


@kernel
def wrong_side(dry, i, dt, speed):
    """The side that joint i should be on, by the λ and velocities at hand; ``speed`` is what velocities are compared
    with."""
    p, u, most = dry.vector[1, i], dry.vector[3, i], dt * dry.bound[i]
    if dry.side[i] == 0:
        if abs(p) > most * (1.0 + ROUND_OFF):
            return 1 if p > 0.0 else -1
        return 0
    return 0 if dry.side[i] * u > ROUND_OFF * speed else dry.side[i]


@kernel(inline=False)
def friction_impulses(dry, dt):
    """Write λ (``vector[1]``) for the W and the velocities without friction (``vector[0]``) at hand; returns whether the
    conditions are met."""
    nf, b = dry.dof.shape[0], dry.vector[0]
    best, patience, speed = nf + 1, PATIENCE, 0.0
    for i in range(nf):
        own = dt * dry.bound[i] * dry.W[i, i]
        speed = max(speed, own)
        dry.side[i] = 0
        if abs(b[i]) > own:
            dry.side[i] = -1 if b[i] > 0.0 else 1
    for _ in range(MOST):
        if not solve_stuck(dry, dt):
            return False
        wrong, last = 0, -1
        for i in range(nf):
            if wrong_side(dry, i, dt, speed) != dry.side[i]:
                wrong, last = wrong + 1, i
        if wrong == 0:
            return True
        if wrong < best:
            best, patience = wrong, PATIENCE
        else:
            patience -= 1
        if patience >= 0:
            for i in range(nf):
                dry.side[i] = wrong_side(dry, i, dt, speed)
        else:
            dry.side[last] = wrong_side(dry, last, dt, speed)
    return False


@kernel(inline=False)
def stick_or_slip(support, L, dry, dt, v, acceleration):
    """Correct ``acceleration`` (nv,), which has the friction of the last step in it, and write the friction of this one;
    ``dry.change``/dt is what is added. L is the factor of the mass matrix that the acceleration belongs to."""
    nf, b, p = dry.dof.shape[0], dry.vector[0], dry.vector[1]
    mobility(support, L, dry)
    for i in range(nf):
        b[i] = v[dry.dof[i]] + dt * acceleration[dry.dof[i]]
        for j in range(nf):
            b[i] -= dry.W[i, j] * dt * dry.force[dry.dof[j]]
    friction_impulses(dry, dt)
    for d in range(v.shape[0]):
        dry.change[d] = 0.0
    for i in range(nf):
        d, most = dry.dof[i], dt * dry.bound[i]
        impulse = min(max(p[i], -most), most)
        dry.change[d] = impulse - dt * dry.force[d]
        dry.force[d] = impulse / dt
    solve(support, L, dry.change)
    for d in range(v.shape[0]):
        acceleration[d] += dry.change[d] / dt


@kernel(inline=False)
def factor_mass(tree, support, inertia, armature, kin, dry):
    """Factorise the mass matrix at the poses of ``kin``, with ``armature`` (nv,) in the place of the model's."""
    M = dry.mass.M
    composite_inertia(tree, support, inertia, kin, dry.mass)
    for d in range(armature.shape[0]):
        M[support.start[d]] += armature[d] - inertia.armature[d]
    ltdl_factor(support, M, dry.mass.L)


@kernel
def add_dry_forces(dry, tau):
    """tau (nv,) += the friction of the last step."""
    for i in range(dry.dof.shape[0]):
        tau[dry.dof[i]] += dry.force[dry.dof[i]]


CREEP = 1e-3
"""Speed at which smooth dry friction has 0.7 of its force [m/s or rad/s]."""


@kernel
def smooth_friction(dry, v):
    """Write friction forces −f·v/√(v² + ``CREEP``²), for methods that integrate smooth fields: a joint that is held creeps."""
    for i in range(dry.dof.shape[0]):
        d = dry.dof[i]
        dry.force[d] = -dry.bound[i] * v[d] / (v[d] * v[d] + CREEP * CREEP) ** 0.5


@kernel
def balance_friction(dry, dt, v, r):
    """Put friction into the balance r (nv,) of forces of an implicit step that ends with the velocities v (nv,).

    With r⁰ the force that is missing without friction and ρ = M/dt, r_d = r⁰ − clip(r⁰ − ρ·v_d, ±f): zero exactly where
    the joint is held by |r⁰| ≤ f, or slides with r⁰ = −f·sign(v_d). ``side`` tells which branch was taken.
    """
    for i in range(dry.dof.shape[0]):
        d, f = dry.dof[i], dry.bound[i]
        trial = r[d] - dry.inertia[i] / dt * v[d]
        dry.side[i] = 0 if abs(trial) < f else (1 if trial > 0.0 else -1)
        r[d] -= min(max(trial, -f), f)


@kernel
def balance_slopes(dry, dt, A):
    """The rows of A = dr/dv (nv, nv) of the joints that ``balance_friction`` holds."""
    for i in range(dry.dof.shape[0]):
        if dry.side[i] == 0:
            d = dry.dof[i]
            for c in range(A.shape[1]):
                A[d, c] = 0.0
            A[d, d] = dry.inertia[i] / dt
