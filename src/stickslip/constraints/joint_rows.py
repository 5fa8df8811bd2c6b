"""Joints and tendons that rub or are coupled, in methods without a contact problem: exact at the end of each step.

Dry friction: a joint or tendon with the rate u = S_i·v has a friction force φ_i, |φ_i| ≤ f_i, and φ_i = −f_i·sign(u)
where it moves. S_i is one joint velocity, or the tendon's moment arms ∂ℓ/∂q. Couplings: a force
along the row J_c of ``couplings`` keeps J_c·v⁺ = −β·e_c/dt. With S the rows of both, the forces φ of the last step
already in the step's acceleration a, and the impulses λ = dt·φ⁺ of this one,

    v⁺ = v + dt·a + M⁻¹·Sᵀ·(λ − dt·φ),     u = S·v⁺ + β·e/dt,
    |λ_i| ≤ dt·f_i,   u_i = 0 where |λ_i| < dt·f_i,   else λ_i·u_i ≤ 0;      f = ∞ and u = 0 of couplings.

This is a box-constrained linear complementarity problem with the matrix W = S·M⁻¹·Sᵀ, positive definite, so it has one
solution. Block principal pivoting finds it exactly: guess which rows hold, solve for their impulses, correct all wrong
guesses at once; where that does not reduce their number for a while, only the last one (Murty's rule), which always
ends. A joint thus stops within a step and stays; its position has the method's error. Forces of the last step are the
guess for this one: a joint that is held has them in its acceleration already.

Sizes: nf joint velocities with friction, nt tendons with friction, then nc couplings, n = nf + nt + nc.
Cost: depth² for each row, n²·depth for W, and (held rows)³/6 a guess.
Reference: Júdice, Pires, "A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems", Computers Ops Res. 21, 1994; box constraints as there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.constraints.couplings import (
    Couplings,
    bend_tendons,
    coupling_error,
    coupling_rate,
    coupling_slopes,
    error_at,
    look_at_tendons,
    make_couplings,
    term_weight,
)
from stickslip.dynamics import Dynamics
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.data import MassMatrix, make_data
from stickslip.dynamics.factor import ltdl_factor, solve
from stickslip.dynamics.fluid_derivatives import add_drag_mass
from stickslip.dynamics.fluid_forces import make_fluid
from stickslip.model.arrays import Support
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
    """Their ``paths`` begin with the tendons that rub."""
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
    """(nf + nt,) diagonal of M for joints, 1/(J·M⁻¹·Jᵀ) for tendons, at the reference configuration [kg or kg m²]."""
    stiffness: np.ndarray
    """(nc,) 1/(J·M⁻¹·Jᵀ) of couplings at the reference configuration [kg or kg m²]."""


def make_joint_rows(model: Model, coupled: bool = True) -> JointRows:
    """Memory and scratch, of couplings only if ``coupled``; all forces are zero at first."""
    friction, support, along = model.joint_forces.friction, model.support, model.tendons.frictionloss
    dof, tendons = np.flatnonzero(friction > 0.0), np.flatnonzero(along > 0.0)
    couplings = make_couplings(model, model.couplings if coupled else (), tendons.tolist())
    nc, nt, paths = len(couplings.start) - 1, len(tendons), couplings.paths
    own = [support.column[support.start[d] : support.start[d + 1]] for d in dof]
    for t in range(nt):
        above = {int(e) for d in paths.column[paths.start[t] : paths.start[t + 1]] for e in ancestors(support, d)}
        own.append(np.array(sorted(above, reverse=True), dtype=np.int64))
    own += [couplings.support[couplings.support_start[c] : couplings.support_start[c + 1]] for c in range(nc)]
    start = np.concatenate([[0], np.cumsum([len(row) for row in own])]).astype(np.int64)
    column = np.concatenate([np.zeros(0, dtype=np.int64), *own])
    n, size = len(own), int(start[-1])
    rows = JointRows(
        dof, np.concatenate([friction[dof], along[tendons], np.full(nc, np.inf)]), np.zeros(n), couplings, start,
        column, np.zeros(size), np.zeros(size), np.zeros((n, n)), np.zeros((n, n)), np.zeros((4, n)),
        np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(model.nv), make_data(model).mass,
        np.zeros(n), np.zeros(len(dof) + nt), np.zeros(nc),
    )  # fmt: skip
    if n:
        dynamics = Dynamics(model)
        diagonal = dynamics.crba(model.tree.q0).diagonal()[dof]
        write_rows(rows, dynamics.data.kin)
        armature, fluid = model.inertia.armature, make_fluid(model)
        factor_mass(model.tree, support, model.inertia, armature, fluid, 0.0, dynamics.data.kin, rows)
        mobility(support, rows.mass.L, rows)
        mass = 1.0 / np.maximum(rows.W.diagonal(), 1e-300)
        rows.inertia[:] = np.concatenate([diagonal, mass[len(dof) : n - nc]])
        rows.stiffness[:] = mass[n - nc :]
    return rows


def ancestors(support: Support, d: int) -> np.ndarray:
    """The joint velocity d and those that carry it."""
    return support.column[support.start[d] : support.start[d + 1]]


@kernel
def friction_rows(rows):
    """Number of rows of friction, which come first: nf + nt."""
    return rows.inertia.shape[0]


@kernel
def write_rows(rows, kin):
    """Write S at the configuration of ``kin``."""
    nf, n, coupled = rows.dof.shape[0], friction_rows(rows), rows.couplings
    look_at_tendons(coupled, kin.q)
    for i in range(rows.bound.shape[0]):
        first = rows.start[i]
        for k in range(first, rows.start[i + 1]):
            rows.J[k] = 0.0
        if i < nf:
            rows.J[first] = 1.0
        elif i < n:
            paths = coupled.paths
            for t in range(paths.start[i - nf], paths.start[i - nf + 1]):
                for k in range(first, rows.start[i + 1]):
                    if rows.column[k] == paths.column[t]:
                        rows.J[k] += paths.value[t]
        else:
            slope, _ = coupling_slopes(coupled, i - n, kin.q)
            for t in range(coupled.start[i - n], coupled.start[i - n + 1]):
                weight = term_weight(coupled, t, slope)
                for k in range(first, rows.start[i + 1]):
                    if rows.column[k] == coupled.dof[t]:
                        rows.J[k] += weight


@kernel
def row_rate(rows, i, v):
    """S_i·v."""
    rate = 0.0
    for k in range(rows.start[i], rows.start[i + 1]):
        rate += rows.J[k] * v[rows.column[k]]
    return rate


@kernel
def mobility(support, L, rows):
    """Write Y and W from S and the factor L of M. A row without entries (a tendon at a dead centre) gets W_ii = 1."""
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
        rows.W[i, i] = rows.W[i, i] * (1.0 + REDUNDANT) if rows.W[i, i] > 0.0 else 1.0


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
def hold_joints(support, L, rows, kin, dt, feedback, v, acceleration):
    """Correct ``acceleration`` (nv,), which has the forces of the last step in it, and write those of this one;
    ``change``/dt is what is added. L is the factor of the mass matrix that the acceleration belongs to; ``kin`` is at
    the beginning of the step, or near it; ``feedback`` is β."""
    nf, n, b, p = friction_rows(rows), rows.bound.shape[0], rows.vector[0], rows.vector[1]
    write_rows(rows, kin)
    mobility(support, L, rows)
    for i in range(n):
        b[i] = feedback * coupling_error(rows.couplings, kin, i - nf) / dt if i >= nf else 0.0
        b[i] += row_rate(rows, i, v) + dt * row_rate(rows, i, acceleration)
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
def close_couplings(tree, support, L, rows, q):
    """Correct q (nq,) by one Newton step in the metric of M so that couplings hold, with the rows at hand."""
    nf, n, b, p = friction_rows(rows), rows.bound.shape[0], rows.vector[0], rows.vector[1]
    look_at_tendons(rows.couplings, q)
    for i in range(n):
        rows.side[i], p[i], b[i] = 1, 0.0, 0.0
        if i >= nf:
            rows.side[i], b[i] = 0, error_at(rows.couplings, q, i - nf)
    solve_stuck(rows, 0.0)
    push_couplings(support, L, rows)
    integrate(tree, q, rows.change, 1.0, q)


@kernel
def push_couplings(support, L, rows):
    """``change`` = M⁻¹·Sᵀ·λ of couplings, λ = ``vector[1]``."""
    for d in range(rows.change.shape[0]):
        rows.change[d] = 0.0
    for i in range(friction_rows(rows), rows.bound.shape[0]):
        for k in range(rows.start[i], rows.start[i + 1]):
            rows.change[rows.column[k]] += rows.J[k] * rows.vector[1, i]
    solve(support, L, rows.change)


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
def smooth_friction(rows, kin, v):
    """Write friction forces −f·u/√(u² + ``CREEP``²) at the poses of ``kin``, for methods that integrate smooth fields:
    a held joint or tendon creeps."""
    nf = rows.dof.shape[0]
    if friction_rows(rows) > nf:
        write_rows(rows, kin)
    for i in range(friction_rows(rows)):
        u = v[rows.dof[i]] if i < nf else row_rate(rows, i, v)
        rows.force[i] = -rows.bound[i] * u / (u * u + CREEP * CREEP) ** 0.5


SETTLE = 100.0
"""Rate at which the errors of couplings decay in smooth fields [1/s], critically damped."""


@kernel(inline=False)
def couple_accelerations(support, L, rows, kin, acceleration):
    """Correct ``acceleration`` (nv,) so that couplings hold: J·a + J̇·v = −2·SETTLE·ė − SETTLE²·e. Friction is not
    touched; ``rows.force`` of couplings must not be in the acceleration."""
    nf, n, b, p = friction_rows(rows), rows.bound.shape[0], rows.vector[0], rows.vector[1]
    write_rows(rows, kin)
    bend_tendons(rows.couplings, kin.q, kin.v)
    mobility(support, L, rows)
    for i in range(n):
        rows.side[i], p[i], b[i] = (1 if i < nf else 0), 0.0, 0.0
        if i >= nf:
            rate, bend = coupling_rate(rows.couplings, kin, i - nf)
            b[i] = bend + SETTLE * (2.0 * rate + SETTLE * coupling_error(rows.couplings, kin, i - nf))
            b[i] += row_rate(rows, i, acceleration)
    solve_stuck(rows, 0.0)
    push_couplings(support, L, rows)
    for d in range(acceleration.shape[0]):
        acceleration[d] += rows.change[d]
