"""Closed loops in the compiled step: their rows are eliminated from the contacts' problem, and the step closes them.

With the independent rows J (nb, nv) of the loops, G = J·M⁻¹·Jᵀ = F·Fᵀ (Cholesky) and b_b = J·v_free + 0.9·J·v,

    Z = F⁻¹·J·M⁻¹·Gcᵀ,   z = F⁻¹·b_b,   W' = W − Zᵀ·Z,   b' = b − Zᵀ·z,   p_b = −F⁻ᵀ·(z + Z·p),

which is ``solvers.elimination``; the end of the step is that of ``constraints.loop_closure``. A step after which a loop
is left open is not taken. Sizes: m rows of the loops, of which nb ≤ m are independent.
Cost: nb²·3n for Z and nb·(3n)² for W', beside what contacts cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.constraints.bilateral import Bilateral, Work, assemble
from stickslip.constraints.bilateral_rows import Loops, drift_of, transposed_times
from stickslip.constraints.loop_closure import CLOSED, close, independent, still
from stickslip.dynamics.data import Kinematics, MassMatrix
from stickslip.dynamics.delassus import ContactRows
from stickslip.dynamics.factor import solve
from stickslip.math.linear import copy_to
from stickslip.methods.handle import restored
from stickslip.methods.rigid.assembly.compiled_matrices import row_speed
from stickslip.methods.rigid.compiled_arrays import DONE, FAST, NEEDED, OPEN, ROOM
from stickslip.methods.rigid.compiled_contacts import (
    contact_and_limit_rows,
    fill_matrix,
    lay_out,
    respond,
    solve_filled,
    start_solution,
)
from stickslip.methods.rigid.compiled_loop import (
    begin_step,
    find_groups,
    find_singles,
    is_fast,
    keep_impulses,
    take_velocity,
)
from stickslip.methods.rigid.compiled_problem import CONTACTS, JOINTS
from stickslip.methods.rigid.formulations.formulation import JOINT_FEEDBACK


class Closing(NamedTuple):
    """The loops of a model and scratch, for up to N contacts and limits."""

    loops: Loops
    rows: ContactRows
    work: Work
    kin: Kinematics
    mass: MassMatrix
    keep: np.ndarray
    """(m,) 1 for independent rows."""
    kept: np.ndarray
    """(nb,) the independent rows."""
    F: np.ndarray
    """(m, m) Cholesky's factor of their G, and their Z (m, 3N)."""
    Z: np.ndarray
    z: np.ndarray
    """(m,) F⁻¹·b_b."""
    p: np.ndarray
    """(m,) impulses of the independent rows [N s, N m s]."""
    force: np.ndarray
    """(m,) impulses of all rows, zero for dependent ones."""
    push: np.ndarray
    """(nv,) M⁻¹·Jᵀ·p_b."""
    diagonal: np.ndarray
    """(nv,) what joint springs and dampers add to M."""
    q: np.ndarray
    """(nq,) the configuration at the end of the step."""
    left: np.ndarray
    """(1,) the largest error of a loop at the end of the last step [m, rad]."""


def make_closing(bilateral: Bilateral, contacts: int) -> Closing:
    """Scratch for so many contacts and limits."""
    m, model, data = len(bilateral.work.a), bilateral.dynamics.model, bilateral.dynamics.data
    z, p, force = np.zeros((3, m))
    return Closing(
        bilateral.loops, bilateral.rows, bilateral.work, data.kin, data.mass, np.zeros(m, dtype=np.int64),
        np.zeros(m, dtype=np.int64), np.zeros((m, m)), np.zeros((m, 3 * contacts)), z, p, force, np.zeros(model.nv),
        np.zeros(model.nv), np.zeros(model.nq), np.zeros(1),
    )  # fmt: skip


@kernel
def coupling(support, L, first, a, i, second, b, j):
    """Row i of group a of one set of rows times M⁻¹ times row j of contact b of another."""
    ka, kb, total = 0, 0, 0.0
    while ka < first.length[a] and kb < second.length[b]:
        da, db = first.dofs[a, ka], second.dofs[b, kb]
        if da > db:
            ka += 1
        elif db > da:
            kb += 1
        else:
            total += first.Y[a, ka, i] * second.Y[b, kb, j] / L[support.start[da]]
            ka += 1
            kb += 1
    return total


@kernel(inline=False)
def eliminate_loops(support, L, motion, space, n, c):
    """Compute F, Z and z of the independent rows, and b' in the place of b; returns the number nb of these rows."""
    work, F, Z, b = c.work, c.F, c.Z, space.cones.b
    independent(work.G, work.F, c.keep)
    nb = 0
    for i in range(c.keep.shape[0]):
        if c.keep[i] != 0:
            c.kept[nb] = i
            nb += 1
    for r in range(nb):
        i = c.kept[r]
        for s in range(r + 1):
            F[r, s] = work.F[i, c.kept[s]]
        free, before = row_speed(c.rows, i // 3, i % 3, motion.free), row_speed(c.rows, i // 3, i % 3, motion.velocity)
        c.z[r] = free + JOINT_FEEDBACK * before - (1.0 + JOINT_FEEDBACK) * drift_of(c.loops, i)
        for k in range(3 * n):
            Z[r, k] = coupling(support, L, c.rows, i // 3, i % 3, space.rows, k // 3, k % 3)
        for s in range(r):
            c.z[r] -= F[r, s] * c.z[s]
            for k in range(3 * n):
                Z[r, k] -= F[r, s] * Z[s, k]
        c.z[r] /= F[r, r]
        for k in range(3 * n):
            Z[r, k] /= F[r, r]
            b[k] -= Z[r, k] * c.z[r]
    return nb


@kernel
def joint_impulses(support, L, n, nb, space, c):
    """Write the impulses of the loops' rows, and what they do to velocities."""
    p, F = c.p, c.F
    for i in range(c.force.shape[0]):
        c.force[i] = 0.0
    for r in range(nb - 1, -1, -1):
        total = c.z[r]
        for k in range(3 * n):
            total += c.Z[r, k] * space.p[k]
        for s in range(r + 1, nb):
            total += F[s, r] * p[s]
        p[r] = -total / F[r, r]
        c.force[c.kept[r]] = p[r]
    transposed_times(c.rows, c.loops.constraint.shape[0], c.force, c.push)
    solve(support, L, c.push)


@kernel
def subtract_squares(Z, n, W):
    """W (3n, 3n) ← W − Zᵀ·Z for the eliminated rows of closed loops, Z (nb, 3n)."""
    for r in range(Z.shape[0]):
        for i in range(3 * n):
            for j in range(3 * n):
                W[i, j] -= Z[r, i] * Z[r, j]


@kernel
def begin_loops(bodies, inputs, kin, mass, motion, options, q, v, c):
    """``begin_step``, and the rows of the loops."""
    begin_step(bodies, inputs, kin, mass, motion, options, q, v)
    assemble(bodies.support, c.loops, 0.0, 0.0, kin, mass.L, c.rows, c.work)


@kernel
def solve_with_loops(bodies, kin, L, motion, limits, contacts, memory, space, blocks, plan, chain, options, c):
    """Write the impulses of contacts into ``space.p``, and the number of the loops' rows into the report; returns DONE,
    or why there are none."""
    n = contact_and_limit_rows(bodies, kin, L, motion, limits, contacts, space, options.dt)
    reason = lay_out(bodies, L, motion, limits, contacts, space, plan, options, memory, n)
    if reason != DONE:
        return reason
    nb = eliminate_loops(bodies.support, L, motion, space, n, c)
    space.report[JOINTS] = nb
    reason, ng, na, nf = start_solution(motion, limits, contacts, memory, space, plan, chain, options, nb > 0)
    if reason != NEEDED:
        return reason
    if not fill_matrix(bodies, L, contacts.found[0], n, space, blocks):
        return ROOM
    subtract_squares(c.Z[:nb, : 3 * n], n, space.W[: 9 * n * n].reshape(3 * n, 3 * n))
    return solve_filled(space, blocks, plan, chain, options, ng, na, nf)


@kernel(inline=False)
def end_loops(bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v, c):
    """Move the state by the impulses of contacts and loops, and close the loops; returns DONE, or why nothing was
    changed but scratch."""
    reason = solve_with_loops(
        bodies, kin, mass.L, motion, limits, contacts, memory, space, blocks, plan, chain, options, c
    )
    if reason != DONE:
        return reason
    support, new, dt = bodies.support, space.change, options.dt
    rows, nb = int(space.report[CONTACTS]), int(space.report[JOINTS])
    joint_impulses(support, mass.L, rows, nb, space, c)
    respond(support, mass.L, rows, space)
    for d in range(v.shape[0]):
        new[d] += motion.free[d] + c.push[d]
        c.diagonal[d] = dt * (motion.gains[1, d] + dt * motion.gains[0, d])
    if is_fast(new):
        return FAST
    c.left[0] = close(bodies.tree, support, c.loops, q, dt, mass.L, c.kin, c.rows, c.work, new, c.q)
    if not c.left[0] <= CLOSED:
        return OPEN
    still(bodies.tree, support, bodies.inertia, c.loops, c.diagonal, c.kin, c.mass, c.rows, c.work, new)
    keep_impulses(memory, space, contacts, c.p[:nb], dt)
    take_velocity(new, dt, v, motion.acceleration)
    copy_to(c.q, q)
    return DONE


@kernel
def advance_loops(held, n):
    """``compiled_loop.advance`` of a model with closed loops."""
    (
        bodies, search, inputs, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v,
        c,
    ) = restored(held)  # fmt: skip
    for k in range(n):
        begin_loops(bodies, inputs, kin, mass, motion, options, q, v, c)
        reason = find_singles(search, bodies, kin, contacts, space, options)
        if reason == DONE:
            reason = end_loops(
                bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v, c
            )
        if reason != DONE:
            return k, reason
    return n, DONE


@kernel
def advance_loop_groups(held, n):
    """``advance_loops`` with groups of subcontacts."""
    (
        bodies, search, inputs, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v,
        c,
    ) = restored(held)  # fmt: skip
    for k in range(n):
        begin_loops(bodies, inputs, kin, mass, motion, options, q, v, c)
        reason = find_groups(search, bodies, kin, contacts, space, options, plan.groups)
        if reason == DONE:
            reason = end_loops(
                bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v, c
            )
        if reason != DONE:
            return k, reason
    return n, DONE
