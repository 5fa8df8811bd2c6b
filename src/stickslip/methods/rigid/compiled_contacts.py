"""Time steps of Coulomb's and of relaxed contacts by Gauss–Seidel, many in one compiled call.

    v⁺ = v_free + M⁻¹·Gᵀ·p,    q⁺ = q ⊕ dt·v⁺,    p from ``cone_sweeps`` on W = G·M⁻¹·Gᵀ

The stages of ``time_stepping`` without Python between them, and with their results to round-off: kinematics and free
velocity, contacts (``collision.convex.compiled``), rows of contacts and of joint limits that are near, W (dense up to
``SMALL`` rows, else by the blocks of contacts that share a tree) and b as the formulations write them, the last step's
impulses by id as a start, and the new state. A step that this cannot take is left as it was, for the stages: kinds of
pairs that are not compiled, full buffers, no convergence, velocities beyond all bounds.
Cost: linear in the links; depth for every pair of contacts that share a tree; a sweep visits each such pair once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import DAMPING, FRICTION, RESTITUTION, STIFFNESS
from stickslip.collision.convex.compiled import find_simple
from stickslip.collision.reach import fastest_point
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.delassus import ContactRows, contact_jacobian, eliminate, make_contact_rows
from stickslip.dynamics.factor import solve_l
from stickslip.math.linear import copy_to
from stickslip.methods.base import FASTEST
from stickslip.methods.rigid.assembly.compiled_matrices import (
    dense_matrix,
    limit_rows,
    own_blocks,
    row_speed,
    sparse_matrix,
)
from stickslip.methods.rigid.coordinates.joint_coordinates import begin
from stickslip.methods.rigid.coordinates.joint_limits import near_limits
from stickslip.methods.rigid.formulations.painleve import may_be_paradox, sliding_margin
from stickslip.model.arrays import Actuators, Inertia, JointForces, Support, Tree
from stickslip.solvers.splitting.cone_sweeps import Contacts as Cones
from stickslip.solvers.splitting.cone_sweeps import Memory as Sweeps
from stickslip.solvers.splitting.cone_sweeps import iterate, residual
from stickslip.solvers.splitting.cone_sweeps import memory as make_sweeps
from stickslip.solvers.splitting.sweeps import CONVERGED, Rows
from stickslip.solvers.storage import SMALL

RESIDUAL, SWEEPS, CONTACTS, BLOCKS, MARGIN = range(5)
"""What ``Space.told`` has of the last step."""
DONE, PAIRS, ROOM, UNCONVERGED, FAST, PARADOX = range(6)
REASONS = {
    DONE: "all steps are done",
    PAIRS: "kinds of pairs that are not compiled, or a full buffer of contacts",
    ROOM: "more contacts, or more pairs of them that share a tree, than there is room for; it is grown",
    UNCONVERGED: "the solver did not converge",
    FAST: f"a velocity is not a number or beyond {FASTEST:g}",
    PARADOX: "a sliding contact is in Painlevé's paradox, of which the stages keep the first",
}
"""Why a compiled call ends, as sentences."""


class Bodies(NamedTuple):
    """The constant arrays."""

    tree: Tree
    support: Support
    inertia: Inertia
    passive: JointForces
    """Without limits."""
    limits: JointForces
    """With them."""
    actuators: Actuators
    radius: np.ndarray
    """(nl,) reach of each link's shapes from its origin [m]."""


class Memory(NamedTuple):
    """The last step's impulses: the arrays of ``ImpulseMemory``."""

    pair: np.ndarray
    impulse: np.ndarray
    joint: np.ndarray


class Space(NamedTuple):
    """Scratch of the contact problem, for up to N contacts and limits."""

    rows: ContactRows
    links: np.ndarray
    """(2, N) the links of each."""
    W: np.ndarray
    """(SMALL²,) used as (3n, 3n)."""
    cones: Cones
    p: np.ndarray
    """(3N,)."""
    u: np.ndarray
    change: np.ndarray
    """(nv,) M⁻¹·Gᵀ·p, then v⁺."""
    sweeps: Sweeps
    told: np.ndarray
    """(5,) see RESIDUAL …"""


class How(NamedTuple):
    """The numbers of a method."""

    relaxed: bool
    dt: float
    margin: float
    """[m] at rest, or always."""
    reach: float
    """[s] times the largest speed is added to it."""
    cell: float
    """[m] of the broad phase."""
    feedback: float
    rest_speed: float
    """[m/s]."""
    friction_ratio: float
    """R of normals over R of tangents."""
    tolerance: float
    sweeps: int
    patience: int
    relaxation: float
    """0: adaptive."""
    warm: bool
    watch: bool
    """Whether a contact in Painlevé's paradox ends the call."""


def make_space(support: Support, contacts: int, depth: int) -> Space:
    """For so many contacts, and an acceleration that remembers ``depth`` sweeps."""
    n = 3 * contacts
    R, weight, b, p, u = np.zeros((5, n))
    return Space(
        rows=make_contact_rows(support, contacts),
        links=np.zeros((2, contacts), dtype=np.int64),
        W=np.zeros(SMALL**2),
        cones=Cones(np.zeros((contacts, 6)), R, weight, b, np.zeros(contacts)),
        p=p,
        u=u,
        change=np.zeros(len(support.dof_link)),
        sweeps=make_sweeps(n, depth),
        told=np.zeros(5),
    )


@kernel
def formulate(how, motion, limits, contacts, nc, n, space):
    """b, R and friction; returns (the largest |b|, whether the motion without impulses meets nothing)."""
    rows, b, R, dt = space.rows, space.cones.b, space.cones.R, how.dt
    largest, unhindered = 0.0, True
    for c in range(n):
        i = 3 * c
        for k in range(3):
            b[i + k] = row_speed(rows, c, k, motion.free)
        mu, K, B, e, gap = 0.0, np.inf, 0.0, 0.0, 0.0
        if c < nc:
            mu, K, B = contacts.material[c, FRICTION], contacts.material[c, STIFFNESS], contacts.material[c, DAMPING]
            e, gap = contacts.material[c, RESTITUTION], contacts.gap[c]
        else:
            gap = limits.gap[c - nc]
        space.cones.friction[c] = mu
        R[i] = 1.0 / (dt * (dt * K + B)) if how.relaxed else 0.0
        R[i + 1] = R[i + 2] = R[i] / how.friction_ratio
        if how.relaxed:
            offset = gap / (dt + B / K)
        else:
            offset = (how.feedback if gap < 0.0 else 1.0) * gap / dt
            if e > 0.0 and offset + b[i] < 0.0:
                before = row_speed(rows, c, 0, motion.velocity)
                if before < -how.rest_speed:
                    offset = min(offset, e * before)
        b[i] += offset
        unhindered = unhindered and b[i] >= 0.0
        for k in range(3):
            if not abs(b[i + k]) <= largest:
                largest = abs(b[i + k])
    return largest, unhindered


@kernel
def paradox(contacts, nc, motion, rows, own):
    """Whether a sliding contact is in Painlevé's paradox, by the first row of its own block of W."""
    for c in range(nc):
        normal, along1, along2, mu = own[c, 0], own[c, 1], own[c, 2], contacts.material[c, FRICTION]
        if may_be_paradox(normal, along1, along2, mu, contacts.gap[c]):
            slip1, slip2 = row_speed(rows, c, 1, motion.velocity), row_speed(rows, c, 2, motion.velocity)
            if sliding_margin(normal, along1, along2, mu, slip1, slip2) <= 0.0:
                return True
    return False


@kernel
def contact_name(contacts, nc, c):
    """The id of a contact plus one; of a limit, what ``assembly`` gives it."""
    return contacts.pair[c] + 1 if c < nc else nc - c - 1


@kernel
def recall(memory, contacts, nc, n, p):
    """The last step's impulses of the same ids; each search begins after the last find."""
    at, size = 0, 0
    while size < memory.pair.shape[0] and memory.pair[size] != 0:
        size += 1
    for c in range(n):
        name = contact_name(contacts, nc, c)
        p[3 * c] = p[3 * c + 1] = p[3 * c + 2] = 0.0
        for _ in range(size):
            at = at if at < size else 0
            at += 1
            if memory.pair[at - 1] == name:
                for k in range(3):
                    p[3 * c + k] = memory.impulse[at - 1, k]
                break


@kernel
def store(memory, contacts, nc, n, p, dt):
    """Impulses by id, and as forces of the contacts."""
    for c in range(memory.pair.shape[0]):
        memory.pair[c] = contact_name(contacts, nc, c) if c < n else 0
        for k in range(3):
            memory.impulse[c, k] = p[3 * c + k] if c < n else 0.0
    for c in range(nc):
        for k in range(3):
            contacts.force[c, k] = p[3 * c + k] / dt
    for j in range(memory.joint.shape[0]):
        memory.joint[j] = 0.0


@kernel
def respond(support, L, n, space):
    """M⁻¹·Gᵀ·p, from Y."""
    rows, p, out = space.rows, space.p, space.change
    for d in range(out.shape[0]):
        out[d] = 0.0
    for c in range(n):
        x, y, z = p[3 * c], p[3 * c + 1], p[3 * c + 2]
        for k in range(rows.length[c]):
            out[rows.dofs[c, k]] += rows.Y[c, k, 0] * x + rows.Y[c, k, 1] * y + rows.Y[c, k, 2] * z
    for d in range(out.shape[0]):
        out[d] /= L[support.start[d]]
    solve_l(support, L, out)


@kernel
def contact_and_limit_rows(bodies, kin, L, motion, limits, contacts, space, dt):
    """Rows and links of contacts, then of limits that are near; their number, negative where there is no room."""
    support, rows, links, nc = bodies.support, space.rows, space.links, contacts.found[0]
    nl = near_limits(
        bodies.tree, bodies.limits, motion.q, motion.free, dt, limits.start, limits.column, limits.value, limits.gap
    )
    n = nc + nl
    if n > links.shape[1]:
        return -n
    for c in range(nc):
        contact_jacobian(support, kin, contacts.link1, contacts.link2, contacts.point, contacts.axes, c, rows)
        links[0, c], links[1, c] = contacts.link1[c], contacts.link2[c]
    limit_rows(support, limits, nl, nc, rows)
    for c in range(nc, n):
        links[0, c], links[1, c] = 0, support.dof_link[rows.dofs[c, 0]]
    for c in range(n):
        eliminate(support, L, c, rows)
    return n


@kernel(inline=False)
def solve_contacts(bodies, kin, L, motion, limits, contacts, memory, space, blocks, how):
    """Impulses in ``space.p``; returns why not."""
    told, p, cones, nc = space.told, space.p, space.cones, contacts.found[0]
    n = contact_and_limit_rows(bodies, kin, L, motion, limits, contacts, space, how.dt)
    told[CONTACTS], told[BLOCKS] = abs(n), 0
    if n < 0 or n > memory.pair.shape[0]:
        return ROOM
    dense, entries = 3 * n, 0
    if 3 * n <= SMALL:
        W = space.W[: 9 * n * n].reshape(3 * n, 3 * n)
        dense_matrix(bodies.support, L, space.links, nc, n, space.rows, W)
    else:
        total = sparse_matrix(bodies.support, L, space.links, nc, n, space.rows, blocks)
        told[BLOCKS] = abs(total)
        if total < 0:
            return ROOM
        dense, entries = 0, 9 * total
    matrix = Rows(
        space.W[: dense * dense].reshape(dense, dense), blocks.data[:entries], blocks.indices[:entries],
        blocks.indptr[: (3 * n + 1 if entries else 0)],
    )  # fmt: skip
    largest, unhindered = formulate(how, motion, limits, contacts, nc, n, space)
    own_blocks(bodies.support, L, n, space.rows, cones)
    if how.watch and paradox(contacts, nc, motion, space.rows, cones.own):
        return PARADOX
    if how.warm and not unhindered:
        recall(memory, contacts, nc, n, p)
    else:
        for i in range(3 * n):
            p[i] = 0.0
    limit, coulomb = how.tolerance * max(1.0, largest), not how.relaxed
    here = Cones(cones.own[:n], cones.R[: 3 * n], cones.weight[: 3 * n], cones.b[: 3 * n], cones.friction[:n])
    code, sweeps = iterate(
        matrix, here, space.sweeps, p[: 3 * n], space.u[: 3 * n], told[:0], limit, how.sweeps, how.patience,
        how.relaxation, coulomb,
    )  # fmt: skip
    told[RESIDUAL], told[SWEEPS] = residual(here, p, space.u, coulomb), sweeps
    return DONE if code == CONVERGED else UNCONVERGED


@kernel
def advance(bodies, search, inputs, kin, mass, motion, limits, contacts, memory, space, blocks, how, q, v, n):
    """Up to n steps; returns (how many, why the stages have to take the next one). That one touches scratch only."""
    dt, support, free, new = how.dt, bodies.support, motion.free, space.change
    for k in range(n):
        copy_to(q, motion.q)
        copy_to(v, motion.velocity)
        begin(
            bodies.tree, support, bodies.inertia, bodies.passive, bodies.actuators, inputs, q, v, dt, kin, mass,
            motion.f_ext, motion.gains, motion.bias, free,
        )  # fmt: skip
        margin = how.margin
        if how.reach > 0.0:
            margin += how.reach * fastest_point(kin, bodies.radius)
        space.told[MARGIN] = margin
        if not find_simple(search, kin, margin, how.cell, contacts):
            return k, PAIRS
        reason = solve_contacts(bodies, kin, mass.L, motion, limits, contacts, memory, space, blocks, how)
        if reason != DONE:
            return k, reason
        rows = int(space.told[CONTACTS])
        respond(support, mass.L, rows, space)
        for d in range(v.shape[0]):
            new[d] += free[d]
            if not abs(new[d]) <= FASTEST:  # "not ≤" is also true of NaN
                return k, FAST
        store(memory, contacts, contacts.found[0], rows, space.p, dt)
        for d in range(v.shape[0]):
            motion.acceleration[d] = (new[d] - v[d]) / dt
            v[d] = new[d]
        integrate(bodies.tree, q, v, dt, q)
    return n, DONE
