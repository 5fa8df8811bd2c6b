"""The impulses of a compiled time step: rows of contacts and limits, W = G·M⁻¹·Gᵀ, the law, and the solver.

The rows are those of contacts and near joint limits. W is dense where it is small, else a CSR matrix of the contacts
that share a tree, if the solver takes one. The law's offsets and regularisation are those of ``formulations``; which
contacts carry impulses is decided as there, and ``compiled_problem`` solves their problem.
Cost: depth for every pair of contacts that share a tree, and the solver's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import DAMPING, FRICTION, RESTITUTION, STIFFNESS
from stickslip.dynamics.delassus import ContactRows, eliminate, make_contact_rows
from stickslip.dynamics.factor import solve_l
from stickslip.methods.base import FASTEST
from stickslip.methods.rigid.assembly.compiled_matrices import (
    dense_matrix,
    limit_rows,
    own_blocks,
    row_speed,
    sparse_matrix,
)
from stickslip.methods.rigid.assembly.constraint_rows import contact_rows
from stickslip.methods.rigid.coordinates.joint_limits import near_limits
from stickslip.methods.rigid.compiled_problem import (
    BLOCKS,
    CONTACTS,
    FOUND_BY,
    ITERATIONS,
    RESIDUAL,
    SOLVED,
    TOO_LARGE,
    UNKNOWNS,
    choose_sliding,
    needs_no_impulse,
    solve_cones,
    solve_polygons,
    solve_some_cones,
)
from stickslip.methods.rigid.formulations.anitescu_potra import touches
from stickslip.methods.rigid.formulations.coulomb import coulomb_offset
from stickslip.methods.rigid.formulations.formulation import meets_nothing, with_restitution
from stickslip.methods.rigid.formulations.painleve import may_be_paradox, sliding_margin
from stickslip.methods.rigid.formulations.peg import choose_primaries
from stickslip.methods.rigid.formulations.relaxed import relaxation, relaxed_offset
from stickslip.methods.rigid.impulse_memory import recall
from stickslip.model.arrays import Actuators, Inertia, JointForces, Support, Tree
from stickslip.solvers.splitting.cone_sweeps import Contacts as Cones
from stickslip.solvers.splitting.sweeps import Rows
from stickslip.solvers.storage import SMALL

MOST_DENSE = 300
"""Largest number of contacts and limits of an LCP."""
DONE, FULL, ROOM, UNCONVERGED, FAST, PARADOX, LARGE, PYTHON = range(8)
REASONS = {
    DONE: "all steps are done",
    FULL: "a buffer of the contact search is full; it is grown",
    ROOM: "there are more contacts, or more pairs of them that share a tree, than there is room for; it is grown",
    UNCONVERGED: "the solver did not converge",
    FAST: f"a velocity is not a number or beyond {FASTEST:g}",
    PARADOX: "a sliding contact is in Painlevé's paradox; the stages keep the first one",
    LARGE: f"there are more than {SMALL // 3} contacts and limits (LCPs: {MOST_DENSE}), and the solver needs a dense "
    "matrix",
    PYTHON: "the method's choices are not compiled; stepper.why_stages() says which",
}
"""Why a compiled call ends."""
COULOMB, RELAXED, ANITESCU_POTRA = range(3)
"""Laws: what is added to normal velocities. Stewart–Trinkle's is Coulomb's with a feedback of 1."""


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
    """Used as (3n, 3n) where there is room for it."""
    cones: Cones
    p: np.ndarray
    """(3N,) impulses [N s]."""
    u: np.ndarray
    """(3N,) velocities of the rows [m/s]."""
    change: np.ndarray
    """(nv,) M⁻¹·Gᵀ·p, then v⁺."""
    report: np.ndarray
    """(7,) numbers of the last step, at RESIDUAL, ITERATIONS, …"""


class StepOptions(NamedTuple):
    """The options of the method, of its formulation and of its solver."""

    law: int
    """COULOMB, RELAXED or ANITESCU_POTRA."""
    polygons: bool
    """Whether cones are polygonal, else they are circular."""
    sparse: bool
    """Whether the solver takes CSR matrices of many contacts."""
    grouped: bool
    """Whether there are groups of subcontacts, of which the primaries carry impulses."""
    largest: bool
    """Whether the primary is the subcontact of the largest gap."""
    touch: float
    """Gap up to which contacts of ANITESCU_POTRA count [m]; NaN: those that would be met within the step."""
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
    friction_ratio: float
    """R of normals over R of tangents."""
    warm: bool
    """Whether solvers start from the last step's impulses."""
    working_set: bool
    """Whether a pivoting method begins with the contacts that are met without impulses."""
    watch: bool
    """Whether a contact in Painlevé's paradox ends the call."""


def make_space(support: Support, contacts: int, dense: int = SMALL // 3) -> Space:
    """Scratch for so many contacts; W is dense up to ``dense`` of them."""
    n = 3 * contacts
    R, weight, b, p, u = np.zeros((5, n))
    return Space(
        rows=make_contact_rows(support, contacts),
        ids=np.zeros(contacts, dtype=np.int64),
        links=np.zeros((2, contacts), dtype=np.int64),
        W=np.zeros(9 * dense**2),
        cones=Cones(np.zeros((contacts, 6)), R, weight, b, np.zeros(contacts)),
        p=p,
        u=u,
        change=np.zeros(len(support.dof_link)),
        report=np.zeros(7),
    )


@kernel
def formulate(options, motion, limits, contacts, nc, n, space, groups):
    """Write b, R and friction of nc contacts and n − nc limits; ``groups`` are those of grouped contacts, which bounce
    only where they are alone."""
    rows, b, R, dt, g = space.rows, space.cones.b, space.cones.R, options.dt, 0
    for c in range(n):
        i = 3 * c
        if options.grouped:
            while groups[g + 1] <= c:
                g += 1
        for k in range(3):
            b[i + k] = row_speed(rows, c, k, motion.free)
        mu, K, B, e, gap = 0.0, np.inf, 0.0, 0.0, 0.0
        if c < nc:
            mu, K, B = contacts.material[c, FRICTION], contacts.material[c, STIFFNESS], contacts.material[c, DAMPING]
            e, gap = contacts.material[c, RESTITUTION], contacts.gap[c]
        else:
            gap = limits.gap[c - nc]
        space.cones.friction[c] = mu
        if options.law == RELAXED:
            offset = relaxed_offset(gap, dt, K, B)
            R[i], R[i + 1] = relaxation(dt, K, B, options.friction_ratio)
        else:
            offset = 0.0 if options.law == ANITESCU_POTRA else coulomb_offset(gap, dt, options.feedback)
            if e > 0.0 and not (options.grouped and groups[g + 1] - groups[g] > 1):
                before = row_speed(rows, c, 0, motion.velocity)
                offset = with_restitution(offset, before, b[i], e, options.rest_speed)
            R[i] = R[i + 1] = 0.0
        R[i + 2] = R[i + 1]
        b[i] += offset


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
        bodies.tree, bodies.limits, motion.q, motion.free, dt, limits.start, limits.column, limits.value, limits.gap
    )
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


@kernel
def choose(options, motion, limits, contacts, nc, n, space, plan):
    """Write which contacts carry impulses; returns their number, and that of other subcontacts."""
    if not options.grouped:
        ng = 0
        for c in range(n):
            gap = contacts.gap[c] if c < nc else limits.gap[c - nc]
            free = row_speed(space.rows, c, 0, motion.free) if options.law == ANITESCU_POTRA else 0.0
            if options.law != ANITESCU_POTRA or touches(gap, free, options.dt, options.touch):
                plan.primary[ng] = c
                plan.start[ng] = 0
                ng += 1
        plan.start[ng] = 0
        return ng, 0
    gap, end, ng = plan.vector[0, :n], plan.vector[1, :n], 0
    while plan.groups[ng] < n:
        ng += 1
    for c in range(n):
        gap[c] = contacts.gap[c] if c < nc else limits.gap[c - nc]
        end[c] = gap[c] + options.dt * row_speed(space.rows, c, 0, motion.free)
    choose_primaries(plan.groups[: ng + 1], gap, end, options.largest, plan.primary, plan.secondary, plan.start)
    return ng, n - ng


@kernel
def fill_matrix(bodies, L, nc, n, space, blocks):
    """Write W, dense where it is small; returns False if there is no room for its blocks."""
    space.report[BLOCKS] = 0
    if 9 * n * n <= space.W.shape[0]:
        dense_matrix(
            bodies.support, L, space.links, nc, n, space.rows, space.W[: 9 * n * n].reshape(3 * n, 3 * n)
        )
        return True
    total = sparse_matrix(bodies.support, L, space.links, nc, n, space.rows, blocks)
    space.report[BLOCKS] = abs(total)
    return total >= 0


@kernel(inline=False)
def solve_contacts(bodies, kin, L, motion, limits, contacts, memory, space, blocks, plan, chain, options):
    """Write the impulses into ``space.p``; returns DONE, or why there are none."""
    report, p, cones, nc = space.report, space.p, space.cones, contacts.found[0]
    n = contact_and_limit_rows(bodies, kin, L, motion, limits, contacts, space, options.dt)
    report[CONTACTS], report[BLOCKS] = abs(n), 0
    if 3 * abs(n) > (3 * MOST_DENSE if options.polygons else SMALL) and not options.sparse:
        return LARGE
    if n < 0 or n > memory.pair.shape[0]:
        return ROOM
    if options.grouped:
        extend_groups(plan.groups, nc, n)
    formulate(options, motion, limits, contacts, nc, n, space, plan.groups)
    if options.watch:
        own_blocks(bodies.support, L, n, space.rows, cones)
        if paradox(contacts, nc, motion, space.rows, cones.own):
            return PARADOX
    if options.warm and not meets_nothing(cones.b, 0, n):
        recall(memory, space.ids, n, p)
    else:
        for i in range(3 * n):
            p[i] = 0.0
    report[RESIDUAL], report[ITERATIONS], report[UNKNOWNS], report[FOUND_BY] = 0.0, 0.0, 0.0, 0.0
    if n == 0:
        return DONE
    ng, na, nf = n, 0, 0
    if options.polygons or options.law == ANITESCU_POTRA:
        ng, na = choose(options, motion, limits, contacts, nc, n, space, plan)
    if options.polygons:
        nf = choose_sliding(cones, plan, ng)
        report[UNKNOWNS] = ng + na + (plan.directions.shape[0] + 1) * nf
        if report[UNKNOWNS] > plan.index.shape[0]:
            return ROOM
        if options.working_set and needs_no_impulse(chain, space, plan, ng, na, nf, report):
            return DONE
    if not fill_matrix(bodies, L, nc, n, space, blocks):
        return ROOM
    dense = 3 * n if 9 * n * n <= space.W.shape[0] else 0
    entries = 0 if dense else 9 * int(report[BLOCKS])
    W, coulomb = space.W[: dense * dense].reshape(dense, dense), options.law != RELAXED
    if options.polygons:
        code = solve_polygons(chain, W, space, plan, ng, na, nf, options.warm, options.working_set, report)
        return DONE if code == SOLVED else (LARGE if code == TOO_LARGE else UNCONVERGED)
    if ng < n:
        good = solve_some_cones(chain, W, space, plan, ng, coulomb, report)
    else:
        matrix = Rows(W, blocks.data[:entries], blocks.indices[:entries], blocks.indptr[: (3 * n + 1 if entries else 0)])
        here = Cones(cones.own[:n], cones.R[: 3 * n], cones.weight[: 3 * n], cones.b[: 3 * n], cones.friction[:n])
        good = solve_cones(chain, matrix, here, p[: 3 * n], space.u[: 3 * n], coulomb, report)
    return DONE if good else UNCONVERGED


@kernel
def extend_groups(groups, nc, n):
    """Let each joint limit be a group of its own after those of the contacts."""
    g = 0
    while groups[g] < nc:
        g += 1
    for c in range(nc, n):
        g += 1
        groups[g] = c + 1
