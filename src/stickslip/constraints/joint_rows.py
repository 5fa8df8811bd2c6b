"""Joints that rub and joints that are coupled, in methods without a contact problem: exact at the end of each step.

Dry friction: joint d has a friction force φ_d, |φ_d| ≤ f_d, and φ_d = −f_d·sign(v_d) where it moves. Couplings: a force
along the row J_c of ``couplings`` keeps J_c·v⁺ = −β·e_c/dt. With S the rows of both, the forces φ of the last step
already in the step's acceleration a, and the impulses λ = dt·φ⁺ of this one,

    v⁺ = v + dt·a + M⁻¹·Sᵀ·(λ − dt·φ),     u = S·v⁺ + β·e/dt,
    |λ_i| ≤ dt·f_i,   u_i = 0 where |λ_i| < dt·f_i,   else λ_i·u_i ≤ 0;      f = ∞ and u = 0 of couplings.

This is a box-constrained linear complementarity problem with the matrix W = S·M⁻¹·Sᵀ, positive definite, so it has one
solution. Block principal pivoting finds it exactly: guess which rows hold, solve for their impulses, correct all wrong
guesses at once; where that does not reduce their number for a while, only the last one (Murty's rule), which always
ends. A joint thus stops within a step and stays; its position has the method's error. Forces of the last step are the
guess for this one: a joint that is held has them in its acceleration already.

Sizes: nf joint velocities with friction, then nc couplings, n = nf + nc. Cost: depth² for each row, n²·depth for W, and
(held rows)³/6 a guess.
Reference: Júdice, Pires, "A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems", Computers Ops Res. 21, 1994; box constraints as there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.constraints.couplings import (
    Couplings,
    coupling_error,
    coupling_rate,
    coupling_slopes,
    make_couplings,
    term_weight,
)
from stickslip.dynamics import Dynamics
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.data import MassMatrix, make_data
from stickslip.dynamics.factor import ltdl_factor, solve
from stickslip.dynamics.fluid_derivatives import add_drag_mass
from stickslip.dynamics.fluid_forces import make_fluid
from stickslip.model.model import Model

PATIENCE = 3
"""Number of guesses that may pass without fewer wrong ones; then the last wrong one is corrected alone."""
MOST = 1000
"""Largest number of guesses."""
ROUND_OFF = 1e-12
"""A guess counts as wrong if it is by more than this, relative to the largest speed or bound."""
FEEDBACK = 0.2
"""β: the part of a coupling's error that a step undoes."""
REDUNDANT = 1e-12
"""Added to the diagonal of W, relative to it: couplings may be redundant."""


class JointRows(NamedTuple):
    """Joints with dry friction and couplings, their forces, and scratch."""

    dof: np.ndarray
    """(nf,) the joint velocities with friction."""
    bound: np.ndarray
    """(n,) f [N or N m], infinite for couplings."""
    force: np.ndarray
    """(n,) φ of the last step [N or N m]; part of a method's memory."""
    couplings: Couplings
    start: np.ndarray
    """(n + 1,) places of the rows in ``column``, ``J`` and ``Y``."""
    column: np.ndarray
    """The velocities of each row and their ancestors, in descending order."""
    J: np.ndarray
    """Rows of S."""
    Y: np.ndarray
    """Rows of S·L⁻¹."""
    W: np.ndarray
    """(n, n) [1/kg or 1/(kg m²)]."""
    F: np.ndarray
    """(n, n) Cholesky's factor for the rows that hold."""
    vector: np.ndarray
    """(4, n): u without these impulses, impulses, right-hand sides, u."""
    side: np.ndarray
    """(n,) 0: the row holds; ±1: its impulse is at that bound."""
    stuck: np.ndarray
    """(n,) the rows that hold."""
    change: np.ndarray
    """(nv,) M⁻¹·Sᵀ·(λ − dt·φ)."""
    mass: MassMatrix
    """A mass matrix of its own, for methods that have none."""
    kept: np.ndarray
    """(n,) φ at the beginning of a step that may be taken back."""
    inertia: np.ndarray
    """(nf,) diagonal of M at the reference configuration [kg or kg m²]."""
    stiffness: np.ndarray
    """(nc,) 1/(J·M⁻¹·Jᵀ) of couplings at the reference configuration [kg or kg m²]."""


def make_joint_rows(model: Model, coupled: bool = True) -> JointRows:
    """Memory and scratch, of couplings only if ``coupled``; all forces are zero at first."""
    friction, support = model.joint_forces.friction, model.support
    dof = np.flatnonzero(friction > 0.0)
    couplings = make_couplings(model, model.couplings if coupled else ())
    nc = len(couplings.start) - 1
    own = [support.column[support.start[d] : support.start[d + 1]] for d in dof]
    own += [couplings.support[couplings.support_start[c] : couplings.support_start[c + 1]] for c in range(nc)]
    start = np.concatenate([[0], np.cumsum([len(row) for row in own])]).astype(np.int64)
    column = np.concatenate([np.zeros(0, dtype=np.int64), *own])
    n, size = len(own), int(start[-1])
    rows = JointRows(
        dof, np.concatenate([friction[dof], np.full(nc, np.inf)]), np.zeros(n), couplings, start, column,
        np.zeros(size), np.zeros(size), np.zeros((n, n)), np.zeros((n, n)), np.zeros((4, n)),
        np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(model.nv), make_data(model).mass,
        np.zeros(n), np.zeros(len(dof)), np.zeros(nc),
    )  # fmt: skip
    if n:
        dynamics = Dynamics(model)
        rows.inertia[:] = dynamics.crba(model.tree.q0).diagonal()[dof]
        write_rows(rows, dynamics.data.kin)
        armature, fluid = model.inertia.armature, make_fluid(model)
        factor_mass(model.tree, support, model.inertia, armature, fluid, 0.0, dynamics.data.kin, rows)
        mobility(support, rows.mass.L, rows)
        rows.stiffness[:] = 1.0 / rows.W.diagonal()[len(dof) :]
    return rows


@kernel
def write_rows(rows, kin):
    """Write S at the configuration of ``kin``."""
    nf = rows.dof.shape[0]
    for i in range(rows.bound.shape[0]):
        first = rows.start[i]
        for k in range(first, rows.start[i + 1]):
            rows.J[k] = 0.0
        if i < nf:
            rows.J[first] = 1.0
            continue
        c = i - nf
        slope, _ = coupling_slopes(rows.couplings, c, kin.q)
        for t in range(rows.couplings.start[c], rows.couplings.start[c + 1]):
            weight = term_weight(rows.couplings, t, slope)
            for k in range(first, rows.start[i + 1]):
                if rows.column[k] == rows.couplings.dof[t]:
                    rows.J[k] += weight


@kernel
def mobility(support, L, rows):
    """Write Y and W from S and the factor L of M."""
    x = rows.change  # scratch: only entries of a row are read, and they are written before
    for i in range(rows.bound.shape[0]):
        for k in range(rows.start[i], rows.start[i + 1]):
            x[rows.column[k]] = rows.J[k]
        for k in range(rows.start[i], rows.start[i + 1]):
            d = rows.column[k]
            rows.Y[k] = x[d]
            for m in range(support.start[d] + 1, support.start[d + 1]):
                x[support.column[m]] -= L[m] * rows.Y[k]
        for j in range(i + 1):
            rows.W[i, j] = rows.W[j, i] = shared(support, L, rows, i, j)
        rows.W[i, i] *= 1.0 + REDUNDANT


@kernel
def shared(support, L, rows, i, j):
    """Y_i·D⁻¹·Y_j: a sum over common velocities; both lists descend."""
    a, b, total = rows.start[i], rows.start[j], 0.0
    while a < rows.start[i + 1] and b < rows.start[j + 1]:
        da, db = rows.column[a], rows.column[b]
        if da > db:
            a += 1
        elif db > da:
            b += 1
        else:
            total += rows.Y[a] * rows.Y[b] / L[support.start[da]]
            a += 1
            b += 1
    return total


@kernel
def solve_stuck(rows, dt):
    """Write λ for the guess ``side``, and the velocities that go with it; returns False if W is not definite."""
    W, F, b, p, right, u, n = rows.W, rows.F, rows.vector[0], rows.vector[1], rows.vector[2], rows.vector[3], 0
    nf = rows.bound.shape[0]
    for i in range(nf):
        if rows.side[i] == 0:
            rows.stuck[n] = i
            n += 1
        else:
            p[i] = rows.side[i] * dt * rows.bound[i]
    for r in range(n):
        i = rows.stuck[r]
        right[r] = -b[i]
        for j in range(nf):
            if rows.side[j] != 0:
                right[r] -= W[i, j] * p[j]
        for s in range(r + 1):
            total = W[i, rows.stuck[s]]
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
        p[rows.stuck[r]] = right[r]
    for i in range(nf):
        u[i] = b[i]
        for j in range(nf):
            u[i] += W[i, j] * p[j]
    return True


@kernel
def wrong_side(rows, i, dt, speed):
    """The side that joint i should be on, by the λ and velocities at hand; ``speed`` is what velocities are compared
    with."""
    p, u, most = rows.vector[1, i], rows.vector[3, i], dt * rows.bound[i]
    if rows.side[i] == 0:
        if abs(p) > most * (1.0 + ROUND_OFF):
            return 1 if p > 0.0 else -1
        return 0
    return 0 if rows.side[i] * u > ROUND_OFF * speed else rows.side[i]


@kernel(inline=False)
def friction_impulses(rows, dt):
    """Write λ (``vector[1]``) for W and u without these impulses (``vector[0]``); returns whether the conditions are
    met."""
    nf, b = rows.bound.shape[0], rows.vector[0]
    best, patience, speed = nf + 1, PATIENCE, 0.0
    for i in range(nf):
        rows.side[i] = 0
        if rows.bound[i] < np.inf:
            own = dt * rows.bound[i] * rows.W[i, i]
            speed = max(speed, own)
            if abs(b[i]) > own:
                rows.side[i] = -1 if b[i] > 0.0 else 1
    for _ in range(MOST):
        if not solve_stuck(rows, dt):
            return False
        wrong, last = 0, -1
        for i in range(nf):
            if wrong_side(rows, i, dt, speed) != rows.side[i]:
                wrong, last = wrong + 1, i
        if wrong == 0:
            return True
        if wrong < best:
            best, patience = wrong, PATIENCE
        else:
            patience -= 1
        if patience >= 0:
            for i in range(nf):
                rows.side[i] = wrong_side(rows, i, dt, speed)
        else:
            rows.side[last] = wrong_side(rows, last, dt, speed)
    return False


@kernel(inline=False)
def hold_joints(support, L, rows, kin, dt, v, acceleration):
    """Correct ``acceleration`` (nv,), which has the forces of the last step in it, and write those of this one;
    ``change``/dt is what is added. L is the factor of the mass matrix that the acceleration belongs to; ``kin`` is at
    the beginning of the step, or near it."""
    nf, n, b, p = rows.dof.shape[0], rows.bound.shape[0], rows.vector[0], rows.vector[1]
    write_rows(rows, kin)
    mobility(support, L, rows)
    for i in range(n):
        b[i] = FEEDBACK * coupling_error(rows.couplings, kin, i - nf) / dt if i >= nf else 0.0
        for k in range(rows.start[i], rows.start[i + 1]):
            b[i] += rows.J[k] * (v[rows.column[k]] + dt * acceleration[rows.column[k]])
        for j in range(n):
            b[i] -= rows.W[i, j] * dt * rows.force[j]
    friction_impulses(rows, dt)
    for d in range(v.shape[0]):
        rows.change[d] = 0.0
    for i in range(n):
        most = dt * rows.bound[i]
        impulse = min(max(p[i], -most), most)
        for k in range(rows.start[i], rows.start[i + 1]):
            rows.change[rows.column[k]] += rows.J[k] * (impulse - dt * rows.force[i])
        rows.force[i] = impulse / dt
    solve(support, L, rows.change)
    for d in range(v.shape[0]):
        acceleration[d] += rows.change[d] / dt


@kernel(inline=False)
def factor_mass(tree, support, inertia, armature, fluid, lag, kin, rows):
    """Factorise the mass matrix at the poses of ``kin``, with ``armature`` (nv,) in the place of the model's, and with
    the drag of a medium that is implicit over ``lag`` [s]."""
    M = rows.mass.M
    composite_inertia(tree, support, inertia, kin, rows.mass)
    for d in range(armature.shape[0]):
        M[support.start[d]] += armature[d] - inertia.armature[d]
    if lag > 0.0:
        add_drag_mass(fluid, support, kin, lag, M)
    ltdl_factor(support, M, rows.mass.L)


@kernel
def add_joint_rows(rows, kin, tau):
    """tau (nv,) += Sᵀ·φ, the forces of the last step."""
    if rows.bound.shape[0] > 0:
        write_rows(rows, kin)
    for i in range(rows.bound.shape[0]):
        for k in range(rows.start[i], rows.start[i + 1]):
            tau[rows.column[k]] += rows.J[k] * rows.force[i]


CREEP = 1e-3
"""Speed at which smooth dry friction has 0.7 of its force [m/s or rad/s]."""


@kernel
def smooth_friction(rows, v):
    """Write friction forces −f·v/√(v² + ``CREEP``²), for methods that integrate smooth fields: a held joint creeps."""
    for i in range(rows.dof.shape[0]):
        d = rows.dof[i]
        rows.force[i] = -rows.bound[i] * v[d] / (v[d] * v[d] + CREEP * CREEP) ** 0.5


@kernel
def balance_friction(rows, dt, v, r):
    """Put friction into the balance r (nv,) of forces of an implicit step that ends with the velocities v (nv,).

    With r⁰ the force that is missing without friction and ρ = M/dt, r_d = r⁰ − clip(r⁰ − ρ·v_d, ±f): zero exactly where
    the joint is held by |r⁰| ≤ f, or slides with r⁰ = −f·sign(v_d). ``side`` tells which branch was taken.
    """
    for i in range(rows.dof.shape[0]):
        d, f = rows.dof[i], rows.bound[i]
        trial = r[d] - rows.inertia[i] / dt * v[d]
        rows.side[i] = 0 if abs(trial) < f else (1 if trial > 0.0 else -1)
        r[d] -= min(max(trial, -f), f)


@kernel
def balance_slopes(rows, dt, A):
    """The rows of A = dr/dv (nv, nv) of the joints that ``balance_friction`` holds."""
    for i in range(rows.dof.shape[0]):
        if rows.side[i] == 0:
            d = rows.dof[i]
            for c in range(A.shape[1]):
                A[d, c] = 0.0
            A[d, d] = rows.inertia[i] / dt


STIFF = 1e6
"""Stiffness of couplings in an implicit step, in units of their mass over dt²: an acceleration a opens them by a
millionth of a·dt²."""


@kernel
def coupling_forces(rows, kin, dt, tau):
    """tau (nv,) += Sᵀ·φ of couplings as implicit springs, φ = −K·e at the configuration of ``kin``."""
    nf = rows.dof.shape[0]
    if rows.bound.shape[0] > nf:
        write_rows(rows, kin)
    for i in range(nf, rows.bound.shape[0]):
        force = -STIFF * rows.stiffness[i - nf] / (dt * dt) * coupling_error(rows.couplings, kin, i - nf)
        for k in range(rows.start[i], rows.start[i + 1]):
            tau[rows.column[k]] += rows.J[k] * force


@kernel
def subtract_coupling_slopes(rows, dt, A):
    """A −= d(Sᵀ·φ)/dv⁺ of ``coupling_forces``, which must have written S last; bends of couplings are left out."""
    nf = rows.dof.shape[0]
    for i in range(nf, rows.bound.shape[0]):
        K = STIFF * rows.stiffness[i - nf] / dt
        for k in range(rows.start[i], rows.start[i + 1]):
            for m in range(rows.start[i], rows.start[i + 1]):
                A[rows.column[k], rows.column[m]] += rows.J[k] * K * rows.J[m]


SETTLE = 100.0
"""Rate at which the errors of couplings decay in smooth fields [1/s], critically damped."""


@kernel(inline=False)
def couple_accelerations(support, L, rows, kin, acceleration):
    """Correct ``acceleration`` (nv,) so that couplings hold: J·a + J̇·v = −2·SETTLE·ė − SETTLE²·e. Friction is not
    touched; ``rows.force`` of couplings must not be in the acceleration."""
    nf, n, b, p = rows.dof.shape[0], rows.bound.shape[0], rows.vector[0], rows.vector[1]
    write_rows(rows, kin)
    mobility(support, L, rows)
    for i in range(n):
        rows.side[i], p[i], b[i] = (1 if i < nf else 0), 0.0, 0.0
        if i >= nf:
            rate, bend = coupling_rate(rows.couplings, kin, i - nf)
            b[i] = bend + SETTLE * (2.0 * rate + SETTLE * coupling_error(rows.couplings, kin, i - nf))
            for k in range(rows.start[i], rows.start[i + 1]):
                b[i] += rows.J[k] * acceleration[rows.column[k]]
    solve_stuck(rows, 0.0)
    for d in range(acceleration.shape[0]):
        rows.change[d] = 0.0
    for i in range(nf, n):
        for k in range(rows.start[i], rows.start[i + 1]):
            rows.change[rows.column[k]] += rows.J[k] * p[i]
    solve(support, L, rows.change)
    for d in range(acceleration.shape[0]):
        acceleration[d] += rows.change[d]
