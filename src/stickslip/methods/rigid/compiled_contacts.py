"""Time steps of Coulomb's and of relaxed contacts by Gauss–Seidel, many in one compiled call.

    v⁺ = v_free + M⁻¹·Gᵀ·p,    q⁺ = q ⊕ dt·v⁺,    p from ``cone_sweeps`` on W = G·M⁻¹·Gᵀ

A step is that of ``time_stepping`` without Python between its stages, and calls the same kernels: kinematics and free
velocity (``joint_coordinates``), contacts (``collision.convex.find``), rows of contacts and near joint limits, W
(dense up to ``SMALL`` rows, else by the blocks of contacts that share a tree), the formulation's offsets and
regularisation (``coulomb``, ``relaxed``), the last step's impulses as a start (``impulse_memory``), and the new state.
A step that this loop cannot take changes nothing and is left to the stages; ``REASONS`` lists why.
Cost: linear in the links; depth for every pair of contacts that share a tree; a sweep visits each such pair once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import DAMPING, FRICTION, RESTITUTION, STIFFNESS
from stickslip.collision.convex.find import find_contacts
from stickslip.collision.reach import fastest_point
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.delassus import ContactRows, eliminate, make_contact_rows
from stickslip.dynamics.factor import solve_l
from stickslip.math.linear import copy_to
from stickslip.methods.base import FASTEST
from stickslip.methods.recovery import recover
from stickslip.methods.rigid.assembly.compiled_matrices import (
    dense_matrix,
    limit_rows,
    own_blocks,
    regularise,
    row_speed,
    sparse_matrix,
)
from stickslip.methods.rigid.assembly.constraint_rows import contact_rows
from stickslip.methods.rigid.coordinates.joint_coordinates import begin
from stickslip.methods.rigid.coordinates.joint_limits import near_limits
from stickslip.methods.rigid.formulations.coulomb import coulomb_offset
from stickslip.methods.rigid.formulations.formulation import meets_nothing, with_restitution
from stickslip.methods.rigid.formulations.painleve import may_be_paradox, sliding_margin
from stickslip.methods.rigid.formulations.relaxed import relaxation, relaxed_offset
from stickslip.methods.rigid.impulse_memory import recall, store, write_forces
from stickslip.model.arrays import Actuators, Inertia, JointForces, Support, Tree
from stickslip.solvers.splitting.cone_sweeps import Contacts as Cones
from stickslip.solvers.splitting.cone_sweeps import Memory as Sweeps
from stickslip.solvers.splitting.cone_sweeps import iterate, residual
from stickslip.solvers.splitting.cone_sweeps import memory as make_sweeps
from stickslip.solvers.splitting.sweeps import CONVERGED, Rows
from stickslip.solvers.storage import SMALL

RESIDUAL, SWEEPS, CONTACTS, BLOCKS, MARGIN = range(5)
"""Places in ``Space.report``."""
DONE, PAIRS, ROOM, UNCONVERGED, FAST, PARADOX = range(6)
REASONS = {
    DONE: "all steps are done",
    PAIRS: "there are kinds of pairs that are not compiled, or the buffer of contacts is full",
    ROOM: "there are more contacts, or more pairs of them that share a tree, than there is room for; it is grown",
    UNCONVERGED: "the solver did not converge",
    FAST: f"a velocity is not a number or beyond {FASTEST:g}",
    PARADOX: "a sliding contact is in Painlevé's paradox; the stages keep the first one",
}
"""Why a compiled call ends."""


class Bodies(NamedTuple):
    """The constant arrays of a model."""

    tree: Tree
    support: Support
    inertia: Inertia
    passive: JointForces
    """Joint forces without limits."""
    limits: JointForces
    """Joint forces with limits."""
    actuators: Actuators
    radius: np.ndarray
    """(nl,) distance of the farthest point of each link's shapes from its origin [m]."""


class Space(NamedTuple):
    """Scratch of the contact problem, for up to N contacts and limits."""

    rows: ContactRows
    ids: np.ndarray
    """(N,) ids as in ``Matrices.pair``."""
    links: np.ndarray
    """(2, N) the two links of each."""
    W: np.ndarray
    """(SMALL²,) used as (3n, 3n)."""
    cones: Cones
    p: np.ndarray
    """(3N,) impulses [N s]."""
    u: np.ndarray
    """(3N,) velocities of the rows [m/s]."""
    change: np.ndarray
    """(nv,) M⁻¹·Gᵀ·p, then v⁺."""
    sweeps: Sweeps
    report: np.ndarray
    """(5,) numbers of the last step, at RESIDUAL, SWEEPS, …"""


class StepOptions(NamedTuple):
    """The options of the method, of its formulation and of its solver."""

    relaxed: bool
    """Whether the law is that of ``relaxed``, else that of ``coulomb``."""
    dt: float
    """[s]."""
    margin: float
    """Gap below which contacts are found [m], if ``reach`` is zero or nothing moves."""
    reach: float
    """The margin grows by this time [s] times the largest speed."""
    cell: float
    """Size of the broad phase's cells [m]."""
    feedback: float
    """Part of an overlap that is undone in a step."""
    rest_speed: float
    """Contacts that are approached more slowly do not bounce [m/s]."""
    recovery_speed: float
    """The fastest recovery of contacts and slides [m/s]."""
    recovery_rate: float
    """The fastest recovery of hinges and ball joints [rad/s]."""
    friction_ratio: float
    """R of normals over R of tangents."""
    tolerance: float
    """Largest natural residual, relative to max(1, the largest |b|)."""
    sweeps: int
    """Largest number of sweeps."""
    patience: int
    relaxation: float
    """0: adaptive."""
    warm: bool
    """Whether sweeps start from the last step's impulses."""
    watch: bool
    """Whether a contact in Painlevé's paradox ends the call."""


def make_space(support: Support, contacts: int, depth: int) -> Space:
    """Scratch for so many contacts, and for an acceleration that remembers ``depth`` sweeps."""
    n = 3 * contacts
    R, weight, b, p, u = np.zeros((5, n))
    return Space(
        rows=make_contact_rows(support, contacts),
        ids=np.zeros(contacts, dtype=np.int64),
        links=np.zeros((2, contacts), dtype=np.int64),
        W=np.zeros(SMALL**2),
        cones=Cones(np.zeros((contacts, 6)), R, weight, b, np.zeros(contacts)),
        p=p,
        u=u,
        change=np.zeros(len(support.dof_link)),
        sweeps=make_sweeps(n, depth),
        report=np.zeros(5),
    )


@kernel
def formulate(options, motion, limits, contacts, nc, n, space):
    """Write b, R and friction of nc contacts and n − nc limits, and add R to their own blocks; returns the largest
    |b|."""
    rows, b, cones, dt = space.rows, space.cones.b, space.cones, options.dt
    largest = 0.0
    for c in range(n):
        i = 3 * c
        for k in range(3):
            b[i + k] = row_speed(rows, c, k, motion.free)
        mu, K, B, e, gap, most = 0.0, np.inf, 0.0, 0.0, 0.0, options.recovery_speed
        if c < nc:
            mu, K, B = contacts.material[c, FRICTION], contacts.material[c, STIFFNESS], contacts.material[c, DAMPING]
            e, gap = contacts.material[c, RESTITUTION], contacts.gap[c]
        else:
            gap = limits.gap[c - nc]
            if limits.angular[c - nc]:
                most = options.recovery_rate
        cones.friction[c], R = mu, 0.0
        if options.relaxed:
            offset = relaxed_offset(gap, dt, K, B)
            R, R_t = relaxation(dt, K, B, options.friction_ratio)
            if c >= nc:
                offset, R = recover(offset, most, cones.own[c, 0])
        else:
            R_t = 0.0
            offset, R = recover(coulomb_offset(gap, dt, options.feedback), most, cones.own[c, 0])
            if e > 0.0:
                before = row_speed(rows, c, 0, motion.velocity)
                offset = with_restitution(offset, before, b[i], e, options.rest_speed)
        regularise(cones, c, R, R_t)
        b[i] += offset
        for k in range(3):
            if not abs(b[i + k]) <= largest:
                largest = abs(b[i + k])
    return largest


@kernel
def paradox(contacts, nc, motion, rows, own):
    """Whether a sliding contact is in Painlevé's paradox, by the first row of its own block of W."""
    v = motion.velocity
    for c in range(nc):
        normal, along1, along2, mu = own[c, 0], own[c, 1], own[c, 2], contacts.material[c, FRICTION]
        if may_be_paradox(normal, along1, along2, mu, contacts.gap[c]):
            slip1, slip2 = row_speed(rows, c, 1, v), row_speed(rows, c, 2, v)
            if sliding_margin(normal, along1, along2, mu, slip1, slip2) <= 0.0:
                return True
    return False


@kernel
def respond(support, L, n, space):
    """Write M⁻¹·Gᵀ·p into ``space.change``, from Y."""
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
    """Write rows, ids and links of contacts, then of near limits; returns their number, negated if there is no room."""
    support, rows, ids, links, nc = bodies.support, space.rows, space.ids, space.links, contacts.found[0]
    nl = near_limits(
        bodies.tree, bodies.limits, motion.q, motion.free, dt, limits.start, limits.column, limits.value, limits.gap,
        limits.angular,
    )  # fmt: skip
    n = nc + nl
    if n > links.shape[1]:
        return -n
    contact_rows(support, L, kin, contacts, nc, rows)
    for c in range(nc):
        ids[c], links[0, c], links[1, c] = contacts.pair[c], contacts.link1[c], contacts.link2[c]
    limit_rows(support, limits, nl, nc, rows)
    for c in range(nc, n):
        ids[c], links[0, c], links[1, c] = nc - c - 2, 0, support.dof_link[rows.dofs[c, 0]]
        eliminate(support, L, c, rows)
    return n


@kernel(inline=False)
def solve_contacts(bodies, kin, L, motion, limits, contacts, memory, space, blocks, options):
    """Write the impulses into ``space.p``; returns DONE, or why there are none."""
    report, p, cones, nc = space.report, space.p, space.cones, contacts.found[0]
    n = contact_and_limit_rows(bodies, kin, L, motion, limits, contacts, space, options.dt)
    report[CONTACTS], report[BLOCKS] = abs(n), 0
    if n < 0 or n > memory.pair.shape[0]:
        return ROOM
    dense, entries = 3 * n, 0
    if 3 * n <= SMALL:
        W = space.W[: 9 * n * n].reshape(3 * n, 3 * n)
        dense_matrix(bodies.support, L, space.links, nc, n, space.rows, W)
    else:
        total = sparse_matrix(bodies.support, L, space.links, nc, n, space.rows, blocks)
        report[BLOCKS] = abs(total)
        if total < 0:
            return ROOM
        dense, entries = 0, 9 * total
    matrix = Rows(
        space.W[: dense * dense].reshape(dense, dense), blocks.data[:entries], blocks.indices[:entries],
        blocks.indptr[: (3 * n + 1 if entries else 0)],
    )  # fmt: skip
    own_blocks(bodies.support, L, n, space.rows, cones)
    if options.watch and paradox(contacts, nc, motion, space.rows, cones.own):
        return PARADOX
    largest = formulate(options, motion, limits, contacts, nc, n, space)
    if options.warm and not meets_nothing(cones.b, 0, n):
        recall(memory, space.ids, n, p)
    else:
        for i in range(3 * n):
            p[i] = 0.0
    limit, coulomb = options.tolerance * max(1.0, largest), not options.relaxed
    here = Cones(cones.own[:n], cones.R[: 3 * n], cones.weight[: 3 * n], cones.b[: 3 * n], cones.friction[:n])
    code, sweeps = iterate(
        matrix, here, space.sweeps, p[: 3 * n], space.u[: 3 * n], report[:0], limit, options.sweeps, options.patience,
        options.relaxation, coulomb,
    )  # fmt: skip
    report[RESIDUAL], report[SWEEPS] = residual(here, p, space.u, coulomb), sweeps
    return DONE if code == CONVERGED else UNCONVERGED


@kernel
def advance(bodies, search, inputs, kin, mass, motion, limits, contacts, memory, space, blocks, options, q, v, n):
    """Take up to n steps; returns (how many, why the stages have to take the next one), which touched scratch only."""
    dt, support, free, new = options.dt, bodies.support, motion.free, space.change
    for k in range(n):
        copy_to(q, motion.q)
        copy_to(v, motion.velocity)
        begin(
            bodies.tree, support, bodies.inertia, bodies.passive, bodies.actuators, inputs, q, v, dt, kin, mass,
            motion.f_ext, motion.gains, motion.bias, free,
        )  # fmt: skip
        margin = options.margin
        if options.reach > 0.0:
            margin += options.reach * fastest_point(kin, bodies.radius)
        space.report[MARGIN] = margin
        if not find_contacts(search, kin, margin, options.cell, contacts):
            return k, PAIRS
        reason = solve_contacts(bodies, kin, mass.L, motion, limits, contacts, memory, space, blocks, options)
        if reason != DONE:
            return k, reason
        rows = int(space.report[CONTACTS])
        respond(support, mass.L, rows, space)
        for d in range(v.shape[0]):
            new[d] += free[d]
            if not abs(new[d]) <= FASTEST:  # "not ≤" is also true of NaN
                return k, FAST
        store(memory, space.ids, rows, space.p)
        write_forces(space.p, dt, contacts.found[0], contacts.force)
        for d in range(v.shape[0]):
            motion.acceleration[d] = (new[d] - v[d]) / dt
            v[d] = new[d]
        integrate(bodies.tree, q, v, dt, q)
    return n, DONE
