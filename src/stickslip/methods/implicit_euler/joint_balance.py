"""Dry friction and couplings of joints and tendons in the equations of an implicit step, r(v⁺) = 0.

Joints: with r⁰ the force that is missing without friction and ρ = M/dt, r_d = r⁰ − clip(r⁰ − ρ·v_d, ±f). It is zero
exactly where the joint is held by |r⁰| ≤ f, or slides with r⁰ = −f·sign(v_d).
Tendons: their forces φ are unknowns beside v⁺, with u = J·v⁺ and a ρ of their own,

    r = r⁰ − Jᵀ·φ = 0,    C = φ − clip(φ − ρ·u, ±f) = 0.

A Newton step has φ⁺ = ±f where the clip is active, else φ⁺ = φ − K·u⁺, which adds K·Jᵀ·J to dr/dv and leaves u⁺ = 0 in
the limit of the iteration (the method of multipliers); K is ``STIFF`` in units of the tendon's mass over dt.
Couplings: springs of ``STIFF`` times their mass over dt², φ = −K·e at the end of the step.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.constraints.couplings import coupling_error
from stickslip.constraints.joint_rows import friction_rows, row_rate, write_rows

STIFF = 1e6
"""Stiffness of couplings in units of their mass over dt²: an acceleration a opens them by a millionth of a·dt²."""


@kernel
def balance_friction(rows, dt, v, r):
    """Put friction into the balance r (nv,) of forces of an implicit step that ends with the velocities v (nv,).

    ``side`` tells which branch was taken; C/ρ of tendons is in ``vector[3]``. Returns the largest of these [m/s or
    rad/s]. ``coupling_forces`` must have written S.
    """
    most = 0.0
    for i in range(rows.dof.shape[0], friction_rows(rows)):
        rho, f, force = rows.inertia[i] / dt, rows.bound[i], rows.force[i]
        trial = force - rho * row_rate(rows, i, v)
        rows.side[i] = 0 if abs(trial) < f else (1 if trial > 0.0 else -1)
        rows.vector[3, i] = (force - min(max(trial, -f), f)) / rho
        most = max(most, abs(rows.vector[3, i]))
        for k in range(rows.start[i], rows.start[i + 1]):
            r[rows.column[k]] -= rows.J[k] * force
    for i in range(rows.dof.shape[0]):
        d, f = rows.dof[i], rows.bound[i]
        trial = r[d] - rows.inertia[i] / dt * v[d]
        rows.side[i] = 0 if abs(trial) < f else (1 if trial > 0.0 else -1)
        r[d] -= min(max(trial, -f), f)
    return most


@kernel
def balance_slopes(rows, dt, A):
    """Put the derivatives of ``balance_friction`` into A = dr/dv (nv, nv)."""
    for i in range(rows.dof.shape[0], friction_rows(rows)):
        if rows.side[i] == 0:
            add_square(rows, i, STIFF * rows.inertia[i] / dt, A)
    for i in range(rows.dof.shape[0]):
        if rows.side[i] == 0:
            d = rows.dof[i]
            for c in range(A.shape[1]):
                A[d, c] = 0.0
            A[d, d] = rows.inertia[i] / dt


@kernel
def add_square(rows, i, K, A):
    """A += K·JᵀJ of row i."""
    for k in range(rows.start[i], rows.start[i + 1]):
        for m in range(rows.start[i], rows.start[i + 1]):
            A[rows.column[k], rows.column[m]] += rows.J[k] * K * rows.J[m]


@kernel
def tendon_right(rows, dt, v, r, right):
    """right (nv,) += Jᵀ·(the part of Newton's step of φ that does not depend on that of v); ``r`` (nv,) is the
    balance."""
    for i in range(rows.dof.shape[0], friction_rows(rows)):
        part = rows.force[i] - rows.side[i] * rows.bound[i]
        if rows.side[i] == 0:
            part = STIFF * rows.inertia[i] / dt * row_rate(rows, i, v)
        for k in range(rows.start[i], rows.start[i + 1]):
            right[rows.column[k]] += rows.J[k] * part
        rows.vector[1, i] = part
    for i in range(rows.dof.shape[0]):
        if rows.side[i] == 0:
            right[rows.dof[i]] = r[rows.dof[i]]


@kernel
def tendon_step(rows, dt, step):
    """Newton's step of φ (``vector[1]``, to be subtracted) for that of v, ``step`` (nv,)."""
    for i in range(rows.dof.shape[0], friction_rows(rows)):
        if rows.side[i] == 0:
            rows.vector[1, i] -= STIFF * rows.inertia[i] / dt * row_rate(rows, i, step)
        rows.vector[0, i] = rows.force[i]


@kernel
def move_tendons(rows, fraction):
    """φ = where the last ``tendon_step`` began, less this fraction of it."""
    for i in range(rows.dof.shape[0], friction_rows(rows)):
        rows.force[i] = rows.vector[0, i] - fraction * rows.vector[1, i]


@kernel
def keep_tendons(rows, back):
    """Keep φ of the best guess, or take it back."""
    for i in range(rows.dof.shape[0], friction_rows(rows)):
        if back:
            rows.force[i] = rows.vector[2, i]
        else:
            rows.vector[2, i] = rows.force[i]


@kernel
def coupling_forces(rows, kin, dt, tau):
    """Write S, and tau (nv,) += Sᵀ·φ of couplings as implicit springs, at the configuration of ``kin``."""
    nf = friction_rows(rows)
    if rows.bound.shape[0] > rows.dof.shape[0]:
        write_rows(rows, kin)
    for i in range(nf, rows.bound.shape[0]):
        force = -STIFF * rows.stiffness[i - nf] / (dt * dt) * coupling_error(rows.couplings, kin, i - nf)
        for k in range(rows.start[i], rows.start[i + 1]):
            tau[rows.column[k]] += rows.J[k] * force


@kernel
def subtract_coupling_slopes(rows, dt, A):
    """A −= d(Sᵀ·φ)/dv⁺ of ``coupling_forces``, which must have written S last; bends of couplings are left out."""
    nf = friction_rows(rows)
    for i in range(nf, rows.bound.shape[0]):
        add_square(rows, i, STIFF * rows.stiffness[i - nf] / dt, A)
