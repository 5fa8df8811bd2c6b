"""The problem of a compiled step and its solution: contacts with circular cones, or the LCP of polygonal ones.

W (3n, 3n) and b come from ``compiled_contacts``; the solver's core (``solvers.core``) is called by its address, and a
second one where the first does not converge. The judge is that of the stages: the natural residual of the whole
problem. Pivoting methods begin with a working set (``formulations.working_set``), iterative ones with the last step's
impulses. Contacts that the formulation leaves out have no impulses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import affine
from stickslip.methods.rigid.formulations.contact_lcp import lcp_dense, lcp_vector, residual_at_rest
from stickslip.methods.rigid.formulations.polygonal_cone import block_lists, impulses_of, unknowns_of
from stickslip.methods.rigid.formulations.working_set import MOST_ROUNDS, complete, members
from stickslip.solvers.core import CONVERGED, COULOMB, LIMIT, MOST, OPTIONS, call_cones, call_lcp, largest_entry
from stickslip.solvers.pivoting.tableau import lcp_residual
from stickslip.solvers.splitting.cone_sweeps import Contacts as Cones
from stickslip.solvers.splitting.cone_sweeps import residual, speeds
from stickslip.solvers.splitting.sweeps import Rows

SOLVED, UNSOLVED, TOO_LARGE = range(3)
"""How a problem ends; the last: it is too large for the solver's core."""
RESIDUAL, ITERATIONS, CONTACTS, BLOCKS, MARGIN, UNKNOWNS = range(6)
FOUND_BY, JOINTS, CODE, UNSOLVED_STEPS, ALLOWED, DRY, SPIN = range(6, 13)
"""Places in ``Space.report``. DRY is the number of the last contacts that are dry friction, of which the last SPIN are
torsional or rolling. CODE says how the last
problem ended, as in ``solvers.core``; UNSOLVED_STEPS counts the steps that were taken although their problem was not
solved, and ALLOWED is the largest number of them."""


class Chain(NamedTuple):
    """The solver of a step, and a second one for what the first does not solve."""

    first: Any
    """Address of the core."""
    second: Any
    """Address of the second one, or the first's."""
    number: int
    """How many there are, 1 or 2."""
    shared: float
    """Largest number of iterations of both together; 0: each has its own."""
    largest: int
    """Largest number of unknowns of an LCP."""
    tolerance: float
    """Largest natural residual, relative to max(1, the largest |b|)."""
    options: np.ndarray
    """(2, OPTIONS) as ``solvers.core`` says."""
    real: np.ndarray
    """Scratch of the cores, and so is ``whole``."""
    whole: np.ndarray


class Plan(NamedTuple):
    """Which contacts carry impulses, as in ``polygonal_cone.Layout``, and their problem, for up to N contacts and n
    unknowns. A and part are (n²,), used as square matrices."""

    directions: np.ndarray
    """(n_d, 2)."""
    groups: np.ndarray
    """(N + 1,) group g has the contacts groups[g] … groups[g + 1] − 1."""
    primary: np.ndarray
    secondary: np.ndarray
    start: np.ndarray
    friction: np.ndarray
    sliding: np.ndarray
    A: np.ndarray
    part: np.ndarray
    """The matrix of a working set."""
    vector: np.ndarray
    """(6, n) b, z, w, R, and b and z of a working set."""
    inside: np.ndarray
    """(N,) which groups are in the working set; ``needed`` (n,) are their unknowns."""
    needed: np.ndarray
    block: np.ndarray
    """(N + 1,) the blocks are member[block[g]:block[g + 1]], ``member`` (n,)."""
    member: np.ndarray


def make_plan(directions: np.ndarray, contacts: int, unknowns: int, polygons: bool) -> Plan:
    """Scratch for so many contacts, and for a problem of so many unknowns."""

    def whole(n: int) -> np.ndarray:
        return np.zeros(n, dtype=np.int64)

    n = unknowns
    return Plan(
        np.ascontiguousarray(directions), whole(contacts + 1), whole(contacts), whole(contacts), whole(contacts + 1),
        np.zeros(contacts), whole(contacts), np.zeros(n * n), np.zeros(n * n if polygons else 0),
        np.zeros((6, max(n, contacts))), whole(contacts), whole(n), whole(contacts + 1), whole(n),
    )  # fmt: skip


@kernel
def fold(matrix, R):
    """Add R to the matrix's diagonal and set it to zero, for solvers of Coulomb's law."""
    for i in range(R.shape[0]):
        if R[i] == 0.0:
            continue
        if matrix.dense.shape[0] > 0:
            matrix.dense[i, i] += R[i]
        else:
            for e in range(matrix.indptr[i], matrix.indptr[i + 1]):
                if matrix.indices[e] == i:
                    matrix.data[e] += R[i]
        R[i] = 0.0


@kernel
def count_unconverged(report):
    """Count a step that is taken although its problem was not solved."""
    if report[CODE] != CONVERGED:
        report[UNSOLVED_STEPS] += 1.0


@kernel
def limit_of(b, tolerance):
    """The natural residual that counts as solved."""
    return tolerance * max(1.0, largest_entry(b))


@kernel
def prepare(chain, k, limit, coulomb, done):
    """Set what a core's options leave open; returns False if no iterations are left."""
    options = chain.options[k]
    options[LIMIT], options[COULOMB] = limit, 1.0 if coulomb else 0.0
    if chain.shared > 0.0:
        options[MOST] = chain.shared - done
    return options[MOST] > 0.0


@kernel(inline=False)
def solve_cones(chain, matrix, cones, p, u, coulomb, report):
    """Solve contacts with circular cones from the start p; returns whether the judge accepts p."""
    limit, done, size = limit_of(cones.b, chain.tolerance), 0, 0.0
    for k in range(chain.number):
        if not prepare(chain, k, limit, coulomb, done):
            break
        core = chain.first if k == 0 else chain.second
        report[CODE] = call_cones(
            core,
            (
                matrix.dense, matrix.data, matrix.indices, matrix.indptr, cones.R, cones.b, cones.friction, p,
                chain.real, chain.whole, chain.real[:0], chain.options[k],
            ),
        )  # fmt: skip
        done += chain.whole[0]
        speeds(matrix, cones, p, u)
        size = residual(cones, p, u, coulomb)
        report[FOUND_BY] = k
        if size <= limit:
            break
    report[RESIDUAL], report[ITERATIONS], report[UNKNOWNS] = size, done, p.shape[0]
    return size <= limit


@kernel(inline=False)
def solve_some_cones(chain, W, space, plan, ng, coulomb, report):
    """Solve the contacts ``plan.primary`` alone; the others have no impulses. Returns what ``solve_cones`` does."""
    n, p = 3 * ng, space.p
    A, b, z = plan.A[: n * n].reshape(n, n), plan.vector[0, :n], plan.vector[1, :n]
    w, R = plan.vector[2, :n], plan.vector[3, :n]
    for g in range(ng):
        i = 3 * plan.primary[g]
        plan.friction[g] = space.cones.friction[plan.primary[g]]
        for r in range(3):
            b[3 * g + r], z[3 * g + r], R[3 * g + r] = space.cones.b[i + r], p[i + r], space.cones.R[i + r]
            for h in range(ng):
                j = 3 * plan.primary[h]
                for s in range(3):
                    A[3 * g + r, 3 * h + s] = W[i + r, j + s]
    none = space.cones.own[:0]
    cones = Cones(none, R, b[:0], b, plan.friction[:ng])
    nothing = plan.needed[:0]
    good = solve_cones(chain, Rows(A, b[:0], nothing, nothing), cones, z, w, coulomb, report)
    for i in range(W.shape[0]):
        p[i] = 0.0
    for g in range(ng):
        for r in range(3):
            p[3 * plan.primary[g] + r] = z[3 * g + r]
    return good


@kernel(inline=False)
def solve_whole(chain, A, b, plan, blocks, z, report):
    """Solve an LCP from the start z; returns whether the judge accepts z."""
    limit, done, size = limit_of(b, chain.tolerance), 0, 0.0
    for k in range(chain.number):
        if not prepare(chain, k, limit, False, done):
            break
        core = chain.first if k == 0 else chain.second
        report[CODE] = call_lcp(
            core,
            (
                A, b, plan.block[:blocks], plan.member[: (b.shape[0] if blocks else 0)], z, chain.real, chain.whole,
                chain.real[:0], chain.options[k],
            ),
        )  # fmt: skip
        done += chain.whole[0]
        size = lcp_residual(A, b, z)
        report[FOUND_BY] = k
        if size <= limit:
            break
    report[RESIDUAL] = size
    report[ITERATIONS] += done
    return size <= limit


@kernel(inline=False)
def solve_needed(chain, A, b, plan, ng, nf, z, report):
    """Solve an LCP by a working set, as ``working_set.solve_needed``; returns whether that found a solution."""
    n, nd = b.shape[0], plan.directions.shape[0]
    limit = limit_of(b, chain.tolerance)
    inside, start, sliding, w = plan.inside[:ng], plan.start[: ng + 1], plan.sliding[:nf], plan.vector[2, :n]
    for g in range(ng):
        inside[g] = 0
    for i in range(n):
        z[i] = 0.0
    left = complete(b, 0, start, sliding, nd, inside, 0.5 * limit, z)
    for _ in range(MOST_ROUNDS):
        if left == 0:
            break
        k = members(0, start, sliding, nd, inside, plan.needed)
        if k == n:
            return False
        part, own, answer = plan.part[: k * k].reshape(k, k), plan.vector[4, :k], plan.vector[5, :k]
        for i in range(k):
            own[i], answer[i] = b[plan.needed[i]], 0.0
            for j in range(k):
                part[i, j] = A[plan.needed[i], plan.needed[j]]
        if not solve_whole(chain, part, own, plan, 0, answer, report):
            return False
        for i in range(n):
            z[i] = 0.0
        for i in range(k):
            z[plan.needed[i]] = answer[i]
        affine(A, z, b, w)
        left = complete(w, 0, start, sliding, nd, inside, 0.5 * limit, z)
    report[RESIDUAL] = lcp_residual(A, b, z)
    return left == 0 and report[RESIDUAL] <= limit


@kernel
def choose_sliding(cones, plan, ng):
    """Write friction and which groups have some; returns how many."""
    nf = 0
    for g in range(ng):
        plan.friction[g] = cones.friction[plan.primary[g]]
        if plan.friction[g] > 0.0:
            plan.sliding[nf] = g
            nf += 1
    return nf


@kernel(inline=False)
def needs_no_impulse(chain, space, plan, ng, na, nf, report):
    """Whether the motion without impulses solves the LCP of polygonal cones, as the working set would find: its matrix
    is not needed then. There must be room for the unknowns, ``report[UNKNOWNS]``."""
    n, nd = int(report[UNKNOWNS]), plan.directions.shape[0]
    b, z, start, sliding = plan.vector[0, :n], plan.vector[1, :n], plan.start[: ng + 1], plan.sliding[:nf]
    for g in range(ng):
        plan.inside[g] = 0
    for i in range(n):
        z[i] = 0.0
    lcp_vector(space.cones.b, plan.primary[:ng], plan.secondary[:na], start, sliding, plan.directions, b)
    limit = limit_of(b, chain.tolerance)
    if complete(b, 0, start, sliding, nd, plan.inside[:ng], 0.5 * limit, z) > 0:
        return False
    report[RESIDUAL], report[ITERATIONS] = residual_at_rest(b, start, sliding, nd, z), 0.0
    return report[RESIDUAL] <= limit


@kernel(inline=False)
def solve_polygons(chain, W, space, plan, ng, na, nf, warm, working_set, report):
    """Solve the LCP of polygonal cones for the groups of ``plan``, from the impulses in ``space.p`` if ``warm``.

    Writes the impulses into ``space.p``; returns SOLVED if the judge accepts them.
    """
    n3, nd, n, good = W.shape[0], plan.directions.shape[0], int(report[UNKNOWNS]), False
    A, b, z, p, u = plan.A[: n * n].reshape(n, n), plan.vector[0, :n], plan.vector[1, :n], space.p[:n3], space.u[:n3]
    primary, secondary, start, sliding = plan.primary[:ng], plan.secondary[:na], plan.start[: ng + 1], plan.sliding[:nf]
    lcp_dense(W, space.cones.b, primary, secondary, start, plan.friction[:ng], sliding, plan.directions, A, b)
    block_lists(start, sliding, nd, plan.block, plan.member)
    report[ITERATIONS], report[RESIDUAL] = 0.0, 0.0
    if working_set:
        good = solve_needed(chain, A, b, plan, ng, nf, z, report)
    if not good:
        if n > chain.largest:
            return TOO_LARGE
        report[ITERATIONS] = 0.0
        if warm:
            affine(W, p, space.cones.b[:n3], u)
            unknowns_of(primary, secondary, start, sliding, plan.directions, p, u, z)
        else:
            for i in range(n):
                z[i] = 0.0
        good = solve_whole(chain, A, b, plan, ng + 1, z, report)
    impulses_of(primary, start, sliding, plan.directions, z, p)
    return SOLVED if good else UNSOLVED


def make_chain(cores: tuple[Any, ...], tolerance: float, shared: int | None, unknowns: int) -> Chain:
    """The chain of one or two cores, with scratch for so many unknowns."""
    rooms = np.array([core.room(unknowns) for core in cores]).max(axis=0)
    options = np.zeros((2, OPTIONS))
    for row, core in zip(options, cores, strict=False):
        row[:] = core.options()
    return Chain(
        cores[0].address(), cores[-1].address(), len(cores), float(shared or 0),
        min(core.largest for core in cores), tolerance, options,
        np.zeros(int(rooms[0])), np.zeros(int(rooms[1]), dtype=np.int64),
    )  # fmt: skip
