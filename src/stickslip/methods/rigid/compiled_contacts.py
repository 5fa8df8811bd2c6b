"""The impulses of a compiled time step: rows of contacts and limits, W = G·M⁻¹·Gᵀ, the law, and the solver.

The rows are those of contacts and near joint limits. W is dense where it is small, else a CSR matrix of the contacts
that share a tree, if the solver takes one. The law's offsets and regularisation are those of ``formulations``; which
contacts carry impulses is decided as there, and ``compiled_problem`` solves their problem.
Cost: depth for every pair of contacts that share a tree, and the solver's.
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ADHESION, DAMPING, FRICTION, RESTITUTION, STIFFNESS
from stickslip.dynamics.delassus import eliminate
from stickslip.dynamics.factor import solve_l
from stickslip.methods.recovery import group_recoveries, recover
from stickslip.methods.rigid.assembly.compiled_matrices import (
    dense_matrix,
    limit_rows,
    own_blocks,
    regularise,
    row_speed,
    sparse_matrix,
)
from stickslip.methods.rigid.assembly.constraint_rows import contact_rows, count_spins, spin_rows
from stickslip.methods.rigid.assembly.dry_bounds import bound_in_use
from stickslip.methods.rigid.assembly.matrices import FIRST_DRY, FIRST_SPIN
from stickslip.methods.rigid.compiled_arrays import (
    ANITESCU_POTRA,
    DONE,
    LARGE,
    MOST_DENSE,
    NEEDED,
    PARADOX,
    RELAXED,
    ROOM,
    UNCONVERGED,
)
from stickslip.methods.rigid.compiled_problem import (
    ALLOWED,
    BLOCKS,
    CODE,
    CONTACTS,
    DRY,
    FOUND_BY,
    ITERATIONS,
    JOINTS,
    RESIDUAL,
    SOLVED,
    SPIN,
    TOO_LARGE,
    UNKNOWNS,
    UNSOLVED_STEPS,
    choose_sliding,
    fold,
    limit_of,
    needs_no_impulse,
    solve_cones,
    solve_polygons,
    solve_some_cones,
)
from stickslip.methods.rigid.coordinates.joint_limits import joint_rows
from stickslip.methods.rigid.coordinates.look_ahead import look_ahead
from stickslip.methods.rigid.formulations.anitescu_potra import touches
from stickslip.methods.rigid.formulations.coulomb import coulomb_offset
from stickslip.methods.rigid.formulations.formulation import dry_offset, meets_nothing, with_restitution
from stickslip.methods.rigid.formulations.painleve import may_be_paradox, sliding_margin
from stickslip.methods.rigid.formulations.peg import choose_primaries
from stickslip.methods.rigid.formulations.relaxed import HEAVY, ROUNDS, relaxation, relaxed_offset
from stickslip.methods.rigid.impulse_memory import recall
from stickslip.solvers.core import CONVERGED, STALLED
from stickslip.solvers.splitting.cone_sweeps import Contacts as Cones
from stickslip.solvers.splitting.cone_sweeps import residual
from stickslip.solvers.splitting.sweeps import Rows
from stickslip.solvers.storage import SMALL


@kernel
def law_of_contact(options, gap, K, B, most, own, least):
    """(offset that the law demands, offset with a bounded recovery [m/s], R_n, R_t [1/kg]) of one contact or limit; R_t
    of relaxed contacts alone, because R_n acts on the tangents of others.

    ``most`` is the fastest recovery, 0 for contacts whose recovery is not bounded, ``own`` is W_nn, and ``least`` the
    least W of a recovery.
    """
    if options.law == ANITESCU_POTRA:
        return 0.0, 0.0, 0.0, 0.0
    if options.law == RELAXED:
        offset = relaxed_offset(gap, options.dt, K, B)
        R, R_t = relaxation(options.dt, K, B, options.friction_ratio)
        if not most > 0.0:
            return offset, offset, R, R_t
        bounded, R = recover(offset, most, own, least)
        return offset, bounded, R, R_t
    offset = coulomb_offset(gap, options.dt, options.feedback)
    bounded, R = recover(offset, most, own, least)
    return offset, bounded, R, 0.0


@kernel
def speed(contacts, nc, n, space, c, k, v):
    """Velocity of row k of contact c at the joint velocities v, with that of moving surfaces."""
    u, U = row_speed(space.rows, c, k, v), contacts.surface
    if c < nc:
        return u + U[c, k]
    if c >= n - int(space.report[SPIN]) and k > 0:
        rolling = (space.ids[c] - FIRST_SPIN) % 2
        return u + (U[space.owner[c], 3 + k] if rolling else (U[space.owner[c], 3] if k == 1 else 0.0))
    return u


@kernel
def formulate(options, motion, limits, contacts, nc, n, space, groups):
    """Write b, R and friction of nc contacts and n − nc rows of joints, and add R to their own blocks; ``groups`` are
    those of grouped contacts, which recover together and bounce only where they are alone. The law of dry friction is
    its bound."""
    b, cones, law, g, dry = space.cones.b, space.cones, space.law, 0, n - int(space.report[DRY])
    for c in range(dry):
        mu, K, B, most = 0.0, np.inf, 0.0, options.recovery_speed
        if c < nc:
            mu, K, B = contacts.material[c, FRICTION], contacts.material[c, STIFFNESS], contacts.material[c, DAMPING]
            gap, most = contacts.gap[c], 0.0 if options.law == RELAXED else most
        else:
            gap, most = limits.gap[c - nc], options.recovery_rate if limits.angular[c - nc] else most
        cones.friction[c] = mu
        least = options.least if c < nc else 0.0
        law[0, c], law[1, c], law[2, c], law[3, c] = law_of_contact(options, gap, K, B, most, cones.own[c, 0], least)
    for c in range(dry, n):
        if c < n - int(space.report[SPIN]):
            space.factor[c] = limits.bound[c - nc]
            law[0, c] = bound_in_use(limits.bound[c - nc], 0.0, 0.0, cones.own[c, 0])
        else:
            law[0, c] = 0.0
        cones.friction[c] = 1.0
        law[1, c] = law[2, c] = law[3, c] = 0.0
    if options.grouped:
        while groups[g] < n:
            g += 1
        group_recoveries(groups[: g + 1], law, law[2])
        g = 0
    for c in range(dry):
        i, e, offset = 3 * c, contacts.material[c, RESTITUTION] if c < nc else 0.0, law[1, c]
        if options.grouped:
            while groups[g + 1] <= c:
                g += 1
            e = e if groups[g + 1] - groups[g] == 1 else 0.0
        for k in range(3):
            b[i + k] = speed(contacts, nc, n, space, c, k, motion.free)
        if e > 0.0 and options.law != RELAXED:
            before = speed(contacts, nc, n, space, c, 0, motion.velocity)
            offset = with_restitution(offset, before, b[i], e, options.rest_speed)
        regularise(cones, c, law[2, c], law[3, c] if options.law == RELAXED else law[2, c])
        b[i] += offset
    for c in range(dry, n):
        i, slip = 3 * c, 0.0
        b[i + 1] = speed(contacts, nc, n, space, c, 1, motion.free)
        b[i + 2] = speed(contacts, nc, n, space, c, 2, motion.free)
        regularise(cones, c, HEAVY * cones.own[c, 0] if options.law == RELAXED else 0.0, 0.0)
        if options.law == RELAXED:
            one = speed(contacts, nc, n, space, c, 1, motion.velocity)
            two = speed(contacts, nc, n, space, c, 2, motion.velocity)
            slip = (one * one + two * two) ** 0.5
        b[i] = slip + dry_offset(cones.own[c, 0], law[0, c])


@kernel
def paradox(contacts, nc, motion, rows, own):
    """Whether a sliding contact is in Painlevé's paradox, by the first row of its own block of W."""
    v, U = motion.velocity, contacts.surface
    for c in range(nc):
        normal, along1, along2, mu = own[c, 0], own[c, 1], own[c, 2], contacts.material[c, FRICTION]
        if may_be_paradox(normal, along1, along2, mu, contacts.gap[c]):
            slip1, slip2 = row_speed(rows, c, 1, v) + U[c, 1], row_speed(rows, c, 2, v) + U[c, 2]
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
def pull(support, L, contacts, nc, space, dt, free):
    """free (nv,) += what adhesion does within the step: impulses −a·dt along the normals of the contacts."""
    sticky = False
    for c in range(nc):
        sticky = sticky or contacts.material[c, ADHESION] != 0.0
        space.p[3 * c], space.p[3 * c + 1], space.p[3 * c + 2] = -dt * contacts.material[c, ADHESION], 0.0, 0.0
    if sticky:
        respond(support, L, nc, space)
        for d in range(free.shape[0]):
            free[d] += space.change[d]


@kernel
def name_rows(contacts, nc, n, space):
    """Write ids and links of nc contacts, and the ids of limits and dry friction up to n."""
    ids, links, dry = space.ids, space.links, n - int(space.report[DRY])
    for c in range(n):
        ids[c] = contacts.pair[c] if c < nc else (nc - c - 2 if c < dry else FIRST_DRY - (c - dry))
        if c < nc:
            links[0, c], links[1, c] = contacts.link1[c], contacts.link2[c]


@kernel
def contact_and_limit_rows(bodies, kin, L, motion, limits, contacts, space, dt):
    """Look ahead, and write rows, ids and links of contacts, then of near limits and of dry friction; returns their
    number, negated if there is no room."""
    support, rows, links, nc = bodies.support, space.rows, space.links, contacts.found[0]
    look_ahead(
        bodies.tree, support, bodies.inertia, bodies.limits, motion.f_ext, kin, L, motion.q, motion.velocity, dt,
        limits, contacts, motion.bias, motion.ahead, motion.free,
    )  # fmt: skip
    nl, dry = joint_rows(bodies.tree, bodies.limits, motion.q, motion.free, dt, limits)
    spins = count_spins(contacts, nc)
    n, space.report[DRY], space.report[SPIN] = nc + nl + spins, dry + spins, spins
    if n > links.shape[1]:
        return -n
    contact_rows(support, L, kin, contacts, nc, rows)
    name_rows(contacts, nc, n, space)
    limit_rows(support, limits, nl, nc, rows)
    for c in range(nc, nc + nl):
        links[0, c], links[1, c] = 0, support.dof_link[rows.dofs[c, 0]]
        eliminate(support, L, c, rows)
    add_spins(support, L, kin, contacts, nc, nc + nl, space)
    return n


@kernel
def add_spins(support, L, kin, contacts, nc, first, space):
    """Write rows, ids and links of torsional and rolling friction, the last blocks."""
    spins = spin_rows(support, L, kin, contacts, nc, first, space.rows, space.owner, space.factor, space.ids)
    for c in range(first, first + spins):
        space.links[0, c], space.links[1, c] = contacts.link1[space.owner[c]], contacts.link2[space.owner[c]]


@kernel
def choose(options, motion, limits, contacts, nc, n, space, plan):
    """Write which contacts carry impulses; returns their number, and that of other subcontacts."""
    if not options.grouped:
        ng = 0
        for c in range(n):
            gap = contacts.gap[c] if c < nc else (limits.gap[c - nc] if c < n - space.report[SPIN] else 0.0)
            free = speed(contacts, nc, n, space, c, 0, motion.free) if options.law == ANITESCU_POTRA else 0.0
            dry = c >= n - space.report[DRY]
            if options.law != ANITESCU_POTRA or dry or touches(gap, free, options.dt, options.touch):
                plan.primary[ng] = c
                plan.start[ng] = 0
                ng += 1
        plan.start[ng] = 0
        return ng, 0
    gap, end, ng = plan.vector[0, :n], plan.vector[1, :n], 0
    while plan.groups[ng] < n:
        ng += 1
    for c in range(n):
        gap[c] = contacts.gap[c] if c < nc else (limits.gap[c - nc] if c < n - space.report[SPIN] else 0.0)
        end[c] = gap[c] + options.dt * speed(contacts, nc, n, space, c, 0, motion.free)
    choose_primaries(plan.groups[: ng + 1], gap, end, options.largest, plan.primary, plan.secondary, plan.start)
    return ng, n - ng


@kernel
def fill_matrix(bodies, L, nc, n, space, blocks):
    """Write W, dense where it is small; returns False if there is no room for its blocks."""
    space.report[BLOCKS] = 0
    if 9 * n * n <= space.W.shape[0]:
        dense_matrix(bodies.support, L, space.links, nc, n, space.rows, space.W[: 9 * n * n].reshape(3 * n, 3 * n))
        return True
    total = sparse_matrix(bodies.support, L, space.links, nc, n, space.rows, blocks)
    space.report[BLOCKS] = abs(total)
    return total >= 0


@kernel(inline=False)
def lay_out(bodies, L, motion, limits, contacts, space, plan, options, memory, n):
    """Write own blocks, b and R of n contacts and near limits, whose rows are there; returns DONE, or why the step is
    not taken. A negative n says that there is no room for so many."""
    report, cones, nc = space.report, space.cones, contacts.found[0]
    report[CONTACTS], report[BLOCKS], report[JOINTS] = abs(n), 0, 0
    if 3 * abs(n) > (3 * MOST_DENSE if options.polygons else SMALL) and not options.sparse:
        return LARGE
    if n < 0 or n > memory.pair.shape[0]:
        return ROOM
    if options.grouped:
        extend_groups(plan.groups, nc, n)
    pull(bodies.support, L, contacts, nc, space, options.dt, motion.free)
    own_blocks(bodies.support, L, n, space.rows, cones)
    if options.watch and paradox(contacts, nc, motion, space.rows, cones.own):
        return PARADOX
    formulate(options, motion, limits, contacts, nc, n, space, plan.groups)
    return DONE


@kernel
def ending(good, report):
    """DONE if the problem is solved, or if the step is taken all the same; else UNCONVERGED."""
    if good:
        report[CODE] = CONVERGED
    elif report[CODE] == CONVERGED:
        report[CODE] = STALLED
    return DONE if good or report[UNSOLVED_STEPS] < report[ALLOWED] else UNCONVERGED


@kernel
def cones_of(cones, n):
    """The first n contacts."""
    return Cones(cones.own[:n], cones.R[: 3 * n], cones.weight[: 3 * n], cones.b[: 3 * n], cones.friction[:n])


@kernel(inline=False)
def start_solution(motion, limits, contacts, memory, space, plan, chain, options, bound):
    """Choose which contacts carry impulses, and write the start of the solver into ``space.p``.

    ``bound`` says whether joints or loops are eliminated. Returns (NEEDED if W is needed, DONE if there are no
    impulses, or ROOM; the number of contacts that carry impulses, of other subcontacts, and of contacts with friction).
    """
    report, p, cones, nc, n = space.report, space.p, space.cones, contacts.found[0], int(space.report[CONTACTS])
    coulomb = options.law != RELAXED
    for i in range(3 * n):
        p[i] = 0.0
    report[RESIDUAL], report[ITERATIONS], report[UNKNOWNS], report[FOUND_BY] = 0.0, 0.0, 0.0, 0.0
    report[CODE] = CONVERGED
    ng, na, nf, here = n, 0, 0, cones_of(cones, n)
    if n == 0 or not (bound or options.polygons or residual(here, p, here.b, coulomb) > 0.0):
        return DONE, ng, na, nf
    if options.warm and (bound or not meets_nothing(cones.b, 0, n)):
        recall(memory, space.ids, n, p)
        bounds_hold(space, n, options.law == RELAXED, False, 0.0)
    if options.polygons or options.law == ANITESCU_POTRA:
        ng, na = choose(options, motion, limits, contacts, nc, n, space, plan)
    if options.polygons:
        nf = choose_sliding(cones, plan, ng)
        report[UNKNOWNS] = ng + na + (plan.directions.shape[0] + 1) * nf
        if report[UNKNOWNS] > plan.needed.shape[0]:
            return ROOM, ng, na, nf
        if options.working_set and needs_no_impulse(chain, space, plan, ng, na, nf, report):
            return DONE, ng, na, nf
    return NEEDED, ng, na, nf


@kernel(separate=True)
def solve_filled(space, blocks, plan, chain, options, ng, na, nf):
    """Solve the problem with the W at hand, and write the impulses into ``space.p``; returns DONE, LARGE or
    UNCONVERGED. ``start_solution`` gives the last three numbers."""
    report, p, cones, n = space.report, space.p, space.cones, int(space.report[CONTACTS])
    dense = 3 * n if 9 * n * n <= space.W.shape[0] else 0
    entries = 0 if dense else 9 * int(report[BLOCKS])
    W, coulomb = space.W[: dense * dense].reshape(dense, dense), options.law != RELAXED
    matrix = Rows(W, blocks.data[:entries], blocks.indices[:entries], blocks.indptr[: (3 * n + 1 if entries else 0)])
    if coulomb:
        fold(matrix, cones.R[: 3 * n])
    good, hold, iterations = False, False, 0.0
    for _ in range(ROUNDS):
        if options.polygons:
            code = solve_polygons(chain, W, space, plan, ng, na, nf, options.warm, options.working_set, report)
            if code == TOO_LARGE:
                return LARGE
            good = code == SOLVED
        elif ng < n:
            good = solve_some_cones(chain, W, space, plan, ng, coulomb, report)
        else:
            good = solve_cones(chain, matrix, cones_of(cones, n), p[: 3 * n], space.u[: 3 * n], coulomb, report)
        iterations += report[ITERATIONS]
        hold = good and bounds_hold(space, n, not coulomb, not coulomb, limit_of(cones.b[: 3 * n], chain.tolerance))
        if hold or not good:
            break
    report[ITERATIONS] = iterations
    return ending(hold, report)


@kernel
def bounds_hold(space, n, relaxed, moved, limit):
    """Whether the offsets of dry friction fit to the solution; if not, they are put right. Bounds of torsional and
    rolling friction depend on normal impulses, and large bounds on the friction that is needed. In a relaxed problem a
    contact that slides also separates: u_n = |u_t|, which the offset allows for; |u_t| is that of ``space.u`` if
    ``moved``, else what it was."""
    b, u, p, own, law, there = space.cones.b, space.u, space.p, space.cones.own, space.law, True
    if space.report[DRY] == 0.0:
        return True
    for c in range(n - int(space.report[DRY]), n):
        i, slip = 3 * c, 0.0
        if moved:
            slip = (u[i + 1] * u[i + 1] + u[i + 2] * u[i + 2]) ** 0.5
        elif relaxed:
            slip = b[i] - dry_offset(own[c, 0], law[0, c])
        most, needed = space.factor[c], (p[i + 1] * p[i + 1] + p[i + 2] * p[i + 2]) ** 0.5
        if c >= n - int(space.report[SPIN]):
            most *= p[3 * space.owner[c]]
        law[0, c] = bound_in_use(most, law[0, c], needed, own[c, 0] / (1.0 + HEAVY if relaxed else 1.0))
        offset = slip + dry_offset(own[c, 0], law[0, c])
        there = there and abs(offset - b[i]) <= limit
        b[i] = offset
    return there


@kernel
def solve_contacts(bodies, kin, L, motion, limits, contacts, memory, space, blocks, plan, chain, options):
    """Write the impulses of a model without closed loops into ``space.p``; returns DONE, or why there are none."""
    n = contact_and_limit_rows(bodies, kin, L, motion, limits, contacts, space, options.dt)
    reason = lay_out(bodies, L, motion, limits, contacts, space, plan, options, memory, n)
    if reason != DONE:
        return reason
    reason, ng, na, nf = start_solution(motion, limits, contacts, memory, space, plan, chain, options, False)
    if reason != NEEDED:
        return reason
    if not fill_matrix(bodies, L, contacts.found[0], n, space, blocks):
        return ROOM
    return solve_filled(space, blocks, plan, chain, options, ng, na, nf)


@kernel
def extend_groups(groups, nc, n):
    """Let each joint limit be a group of its own after those of the contacts."""
    g = 0
    while groups[g] < nc:
        g += 1
    for c in range(nc, n):
        g += 1
        groups[g] = c + 1
