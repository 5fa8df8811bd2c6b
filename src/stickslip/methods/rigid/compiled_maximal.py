"""The compiled step in maximal coordinates: joints are eliminated from the contacts' problem, and the step closes them.

With the joints' system (``maximal.joint_system``), u = K·f + u_J is what impulses f on the bodies and the right-hand
sides of joints add to V_free. The contacts Gc see

    W' = Gc·K·Gcᵀ,    b' = b + Gc·u_J,    V⁺ = V_free + K·Gcᵀ·p + u_J,

which is the problem that ``solvers.elimination`` leaves. W' comes from ``maximal.path_rows``; a model without joints
has the W of joint coordinates. The laws of contacts, the solver and the memory of impulses are those of joint
coordinates (``compiled_contacts``). The end of the step is that of ``coordinates.free_bodies``; a step after which a
joint is left open is not taken.
Cost: O(bodies) for the joints; for contacts, the way of their bodies to the root, and what they share for every pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.delassus import ContactRows, eliminate
from stickslip.math.linear import copy_to
from stickslip.maximal.elimination import OK
from stickslip.maximal.fixed_normals import Normals, make_normals
from stickslip.maximal.joint_system import solve_system
from stickslip.maximal.path_rows import make_path_rows, path_block, path_row
from stickslip.methods.handle import restored
from stickslip.methods.rigid.assembly.compiled_matrices import coupled_contacts, put_block, row_speed
from stickslip.methods.rigid.assembly.constraint_rows import contact_rows, count_spins
from stickslip.methods.rigid.compiled_arrays import DONE, FAST, LARGE, MOST_DENSE, NEEDED, OPEN, ROOM
from stickslip.methods.rigid.compiled_contacts import (
    add_spins,
    fill_matrix,
    lay_out,
    name_rows,
    solve_filled,
    start_solution,
)
from stickslip.methods.rigid.compiled_loop import find_groups, find_singles, is_fast, keep_impulses, take_velocity
from stickslip.methods.rigid.compiled_problem import BLOCKS, CONTACTS, DRY, JOINTS, SPIN
from stickslip.methods.rigid.coordinates.free_bodies import (
    FreeBodies,
    Links,
    begin_bodies,
    factor_bodies,
    finish_bodies,
    joint_rights,
    row_count,
    take_end,
)
from stickslip.methods.rigid.coordinates.joint_limits import joint_rows, limit_rates
from stickslip.methods.rigid.impulse_memory import choose_pushing


class ClosingOptions(NamedTuple):
    """How joints are closed at the end of a step (``maximal.stabilisation``)."""

    stabilise: bool
    tolerance: float
    iterations: int


class Jointed(NamedTuple):
    """Bodies with joints in a compiled step, and scratch for its contacts."""

    links: Links
    free: FreeBodies
    normals: Normals
    limit: np.ndarray
    """(limits, 12) rows of the joint limits that are near."""
    Q: np.ndarray
    """Q, V, q and v at the beginning of the step."""
    V: np.ndarray
    q: np.ndarray
    v: np.ndarray
    iterations: np.ndarray
    """(2,) of the corrections of positions and velocities."""


def make_jointed(links: Links, free: FreeBodies, rows: ContactRows) -> Jointed:
    """Memory for the contacts and limits of these rows."""
    most = MOST_DENSE if np.any(links.jointed) else 0
    normals = make_normals(rows, make_path_rows(free.system, len(rows.length)), most)
    Q, V, q, v = (np.zeros(len(array)) for array in (free.Q, free.V, free.q, free.v))
    limit = np.zeros((2 * len(links.tree.joint_type) + np.count_nonzero(links.limits.friction), 12))
    return Jointed(links, free, normals, limit, Q, V, q, v, np.zeros(2, dtype=np.int64))


@kernel
def begin_maximal(jointed, inputs, q, v, dt):
    """Keep the beginning of the step; compute kinematics, rows of joints and V_free."""
    free = jointed.free
    copy_to(free.Q, jointed.Q)
    copy_to(free.V, jointed.V)
    copy_to(q, jointed.q)
    copy_to(v, jointed.v)
    begin_bodies(jointed.links, free, inputs, q, v, dt)


@kernel
def pair_row(row, link1, link2, c, i, rows):
    """Rows of contact c from twelve numbers over the velocities of two links, link 1 < link 2: the i-th, the others are
    empty."""
    n = 0
    for side in range(1, -1, -1):
        link = link2 if side == 1 else link1
        for k in range(5, -1 if link > 0 else 5, -1):
            rows.J[c, n, 0] = rows.J[c, n, 1] = rows.J[c, n, 2] = 0.0
            rows.dofs[c, n], rows.J[c, n, i] = 6 * (link - 1) + k, row[6 * side + k]
            n += 1
    rows.length[c] = n


@kernel
def maximal_rows(jointed, kin, L, limits, contacts, space, dt):
    """Write rows, ids and links of contacts, then of near limits and of dry friction; returns their number, negated if
    there is no room."""
    links, free, support, nc = jointed.links, jointed.free, jointed.free.support, contacts.found[0]
    nl, dry = joint_rows(links.tree, links.limits, free.q, free.v, dt, limits)
    spins = count_spins(contacts, nc)
    n, space.report[DRY], space.report[SPIN] = nc + nl + spins, dry + spins, spins
    if n > space.links.shape[1]:
        return -n
    contact_rows(support, L, kin, contacts, nc, space.rows)
    name_rows(contacts, nc, n, space)
    limit_rates(limits, nl, free.rates, jointed.limit)
    for i in range(nl):
        c, link = nc + i, links.support.dof_link[limits.column[limits.start[i]]]
        space.links[0, c], space.links[1, c] = links.tree.parent[link], link
        pair_row(jointed.limit[i], links.tree.parent[link], link, c, 0 if i < nl - dry else 1, space.rows)
        eliminate(support, L, c, space.rows)
    add_spins(support, L, kin, contacts, nc, nc + nl, space)
    return n


@kernel
def fill_empty(cones, a, B, i):
    """Give empty rows of contact a, whose block begins at B[i, i], their diagonal without joints."""
    if B[i, i] == 0.0:
        B[i, i] = cones.own[a, 0] - cones.R[3 * a]
    for k in range(1, 3):
        if B[i + k, i + k] == 0.0:
            B[i + k, i + k] = cones.own[a, 2 * k + 1] - cones.R[3 * a + k]


@kernel(inline=False)
def fill_joint_matrix(bodies, system, paths, n, space, blocks):
    """Write W', dense where it is small; returns False if there is no room for its blocks."""
    space.report[BLOCKS] = 0
    for a in range(n):
        path_row(system, space.rows, a, paths)
    if 9 * n * n <= space.W.shape[0]:
        W = space.W[: 9 * n * n].reshape(3 * n, 3 * n)
        for a in range(n):
            for c in range(a + 1):
                path_block(paths, a, c, W, 3 * a, 3 * c)
                for r in range(3):
                    for s in range(3):
                        W[3 * c + s, 3 * a + r] = W[3 * a + r, 3 * c + s]
            fill_empty(space.cones, a, W, 3 * a)
        return True
    total, B = coupled_contacts(bodies.support, space.links, n, blocks), blocks.block
    space.report[BLOCKS] = abs(total)
    for a in range(n if total >= 0 else 0):
        for k in range(blocks.start[a], blocks.start[a + 1]):
            path_block(paths, a, blocks.other[k], B, 0, 0)
            if blocks.other[k] == a:
                fill_empty(space.cones, a, B, 0)
            put_block(blocks, a, k)
    return total >= 0


@kernel
def push_bodies(free, rows, n, p):
    """Write what the impulses p (3n,) of contacts and those of joints add to V_free into ``change``, and the joints'
    impulses; the rights of joints must be there."""
    change = free.change
    for d in range(change.shape[0]):
        change[d] = 0.0
    for c in range(n):
        x, y, z = p[3 * c], p[3 * c + 1], p[3 * c + 2]
        for k in range(rows.length[c]):
            change[rows.dofs[c, k]] += rows.J[c, k, 0] * x + rows.J[c, k, 1] * y + rows.J[c, k, 2] * z
    solve_system(free.system, row_count(free), change, free.right, change, free.impulse)


@kernel
def solve_jointed(bodies, kin, L, motion, limits, contacts, memory, space, blocks, plan, chain, options, jointed):
    """Write the impulses of contacts into ``space.p``, and the number of joint rows into the report; returns DONE, or
    why there are none."""
    free, rows = jointed.free, space.rows
    n = maximal_rows(jointed, kin, L, limits, contacts, space, options.dt)
    reason = lay_out(bodies, L, motion, limits, contacts, space, plan, options, memory, n)
    if reason != DONE:
        return reason
    if factor_bodies(jointed.links, free) != OK:
        return OPEN
    joint_rights(jointed.links, free)
    push_bodies(free, rows, 0, space.p)
    for i in range(3 * n):
        space.cones.b[i] += row_speed(rows, i // 3, i % 3, free.change)
    joints = row_count(free)
    space.report[JOINTS] = joints
    reason, ng, na, nf = start_solution(motion, limits, contacts, memory, space, plan, chain, options, joints > 0)
    if reason != NEEDED:
        return reason
    if joints > 0:
        filled = fill_joint_matrix(bodies, free.system, jointed.normals.paths, n, space, blocks)
    else:
        filled = fill_matrix(bodies, L, contacts.found[0], n, space, blocks)
    if not filled:
        return ROOM
    return solve_filled(space, blocks, plan, chain, options, ng, na, nf)


@kernel
def hold_normals(jointed, n, p):
    """Note which of n contacts push and touch a link with joints: the end of the step keeps their normal velocities.
    Returns False if there is no room for them."""
    normals, rows, count = jointed.normals, jointed.normals.rows, 0
    for k in range(choose_pushing(p, n, normals.contact)):
        c, held = normals.contact[k], 0
        for e in range(rows.length[c]):
            held += jointed.links.jointed[rows.dofs[c, e] // 6 + 1]
        if held > 0:
            normals.contact[count] = c
            count += 1
    normals.number[0] = count
    return count <= normals.S.shape[0]


@kernel(inline=False)
def end_maximal(
    bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v, jointed, closing
):
    """Move the state by the impulses of contacts and joints, and close the joints; returns DONE, or why nothing was
    changed but scratch."""
    reason = solve_jointed(
        bodies, kin, mass.L, motion, limits, contacts, memory, space, blocks, plan, chain, options, jointed
    )
    if reason != DONE:
        return reason
    free, n, dt = jointed.free, int(space.report[CONTACTS]), options.dt
    if n > 0:
        push_bodies(free, space.rows, n, space.p)
    for d in range(free.free.shape[0]):
        free.V_next[d] = free.free[d] + free.change[d]
    if is_fast(free.V_next):
        return FAST
    if not hold_normals(jointed, n - int(space.report[DRY]), space.p):
        return LARGE
    code, closed, first, second = finish_bodies(
        jointed.links, free, jointed.normals, q, dt, closing.stabilise, closing.tolerance, closing.iterations
    )
    if code != OK or not closed:
        return OPEN
    jointed.iterations[0], jointed.iterations[1] = first, second
    keep_impulses(memory, space, contacts, free.impulse[: int(space.report[JOINTS])], dt)
    take_velocity(free.v_next, dt, v, motion.acceleration)
    take_end(free, q, v)
    return DONE


@kernel
def advance_maximal(held, n):
    """``compiled_loop.advance`` in maximal coordinates."""
    (
        bodies, search, inputs, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v,
        jointed, closing,
    ) = restored(held)  # fmt: skip
    for k in range(n):
        begin_maximal(jointed, inputs, q, v, options.dt)
        reason = find_singles(search, bodies, kin, contacts, space, options)
        if reason == DONE:
            reason = end_maximal(
                bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v,
                jointed, closing,
            )  # fmt: skip
        if reason != DONE:
            return k, reason
    return n, DONE


@kernel
def advance_maximal_groups(held, n):
    """``advance_maximal`` with groups of subcontacts."""
    (
        bodies, search, inputs, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v,
        jointed, closing,
    ) = restored(held)  # fmt: skip
    for k in range(n):
        begin_maximal(jointed, inputs, q, v, options.dt)
        reason = find_groups(search, bodies, kin, contacts, space, options, plan.groups)
        if reason == DONE:
            reason = end_maximal(
                bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v,
                jointed, closing,
            )  # fmt: skip
        if reason != DONE:
            return k, reason
    return n, DONE
