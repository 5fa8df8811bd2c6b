"""Gauss–Seidel sweeps over contacts with circular cones, dense or CSR, with Anderson's acceleration.

    coulomb   K ∋ p ⟂ u + (μ·|u_t|, 0, 0) ∈ K*,   u = W·p + b,           relaxed   K ∋ p ⟂ u ∈ K*,   u = (W + R)·p + b

A sweep solves contact after contact with the newest values of the others (``one_contact``), p_c ← p_c + ω·(solution −
p_c), and u += W[:, c]·(change of p_c), W symmetric. Contacts whose own natural residual is a hundredth of the limit are
skipped. A sweep costs at most n² (or the stored entries of a CSR matrix) multiply-adds, the residual of all contacts
after it only n. The relaxed problem is convex and every visit lowers its function; Coulomb's is not, and no proof of
convergence exists.

With g(p) the result of a sweep from p and f = g(p) − p in units of the diagonal of W, the next start is

    g(p_k) − Σ γ_i·(g(p_{i+1}) − g(p_i)),    γ = argmin |f_k − Σ γ_i·(f_{i+1} − f_i)|    over the last m sweeps,

put back into the cones; u follows by the same combination, so that the cost is 3·m·n beside the sweep. Where |f|
doubles, the memory is cleared, the iteration returns to its best point and, by Coulomb's law, sweeps plainly for a
while, each time twice as long. Sweeps needed fall to a third on heaps.
M. Jourdan, P. Alart, M. Jean, "A Gauss–Seidel like algorithm to solve frictional contact problems", CMAME 155, 1998;
D. G. Anderson, J. ACM 12, 1965; H. Walker, P. Ni, SIAM J. Numer. Anal. 49, 2011.
Differs from them in: exact solution of a contact; projection onto the cones, restarts.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.cone_projection import project_cone
from stickslip.solvers.contact_natural import coulomb_natural, relaxed_natural
from stickslip.solvers.core import AIM
from stickslip.solvers.problem import ConeProblem, FrictionProblem
from stickslip.solvers.splitting.one_contact import coulomb_visit, relaxed_visit
from stickslip.solvers.splitting.sweeps import CONVERGED, DIVERGED, RUNNING, STALLED

UNEVEN = 2
"""Factor on a solver's patience, because residuals of contacts fall unevenly."""
REFRESH = 64
"""Number of sweeps after which u is computed anew, so that round-off does not add up."""
ROUND, NEARLY = 100, 100.0
"""Brief sweeps end, after a round of so many, where the residual is within so many times the limit, and its fall shows
that it will not reach it."""
LONG = 1600
"""By Coulomb's law brief sweeps end after so many, too, wherever the residual is, if its fall over the second half of
them shows the same; they look again at twice as many. The relaxed problem is convex: its sweeps get there."""
PLAIN = 10
"""Number of plain sweeps before acceleration begins; twice as many follow its first failure."""
P, U, F, BEFORE, SAFE, BEST = 0, 1, 2, 3, 4, 5
"""Rows of ``Memory.last``: p, u and f of the last sweep, p before it, p of the least |f|, p of the least residual."""


class Contacts(NamedTuple):
    """The contacts of a problem, as sweeps read them."""

    own: np.ndarray
    """(nc, 6) upper triangles of the 3×3 blocks of W + R, by rows [1/kg]."""
    R: np.ndarray
    """(n,) the diagonal that W lacks, 0 for Coulomb's law [1/kg]."""
    weight: np.ndarray
    """(n,) square roots of the diagonal of W + R."""
    b: np.ndarray
    friction: np.ndarray


class Memory(NamedTuple):
    """Scratch of the sweeps: the last m of them for the acceleration, and the best points."""

    impulses: np.ndarray
    """(m, n) differences of p between sweeps."""
    speeds: np.ndarray
    """(m, n) differences of u."""
    changes: np.ndarray
    """(m, n) differences of f."""
    gram: np.ndarray
    """(m, m) products of ``changes``."""
    factor: np.ndarray
    """(m, m) Cholesky factor of ``gram``."""
    gamma: np.ndarray
    """(m,) γ."""
    last: np.ndarray
    """(6, n) vectors named by P … BEST."""


def contacts_of(problem: FrictionProblem | ConeProblem) -> Contacts:
    nc = len(problem.friction)
    R = problem.regularisation if isinstance(problem, ConeProblem) else np.zeros(problem.n)
    own = np.empty((nc, 6))
    first = 3 * np.arange(nc)
    for place, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        own[:, place] = problem.W[first + i, first + j]
        if i == j:
            own[:, place] += R[first + i]
    diagonal = np.maximum(own[:, [0, 3, 5]].ravel(), 0.0)
    return Contacts(own, R, np.sqrt(diagonal), problem.b, problem.friction)


def memory(n: int, m: int) -> Memory:
    impulses, speeds, changes = np.zeros((3, m, n))
    return Memory(impulses, speeds, changes, np.zeros((m, m)), np.zeros((m, m)), np.zeros(m), np.zeros((6, n)))


@kernel
def push(rows, i, d, u):
    """u += W[:, i]·d, W symmetric."""
    if rows.dense.shape[0] > 0:
        row = rows.dense[i]
        for j in range(u.shape[0]):
            u[j] += row[j] * d
    else:
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            u[rows.indices[e]] += rows.data[e] * d


@kernel
def change(rows, contacts, i, d0, d1, d2, p, u):
    """Add (d0, d1, d2) to p in rows i … i + 2 and update u."""
    for k, d in ((i, d0), (i + 1, d1), (i + 2, d2)):
        if d != 0.0:
            p[k] += d
            u[k] += contacts.R[k] * d
            push(rows, k, d, u)


@kernel(inline=False)
def speeds(rows, contacts, p, u):
    """u = (W + R)·p + b."""
    for i in range(u.shape[0]):
        u[i] = contacts.b[i] + contacts.R[i] * p[i]
    for i in range(u.shape[0]):
        if p[i] != 0.0:
            push(rows, i, p[i], u)


@kernel
def natural(p0, p1, p2, u0, u1, u2, mu, coulomb):
    if coulomb:
        return coulomb_natural(p0, p1, p2, u0, u1, u2, mu)
    return relaxed_natural(p0, p1, p2, u0, u1, u2, mu)


@kernel(inline=False)
def sweep(rows, contacts, p, u, step, small, coulomb):
    """Solve contact after contact; those with a natural residual up to ``small`` are skipped."""
    for c in range(contacts.friction.shape[0]):
        i, mu, a = 3 * c, contacts.friction[c], contacts.own[c]
        if natural(p[i], p[i + 1], p[i + 2], u[i], u[i + 1], u[i + 2], mu, coulomb) <= small:
            continue
        if coulomb:
            p0, p1, p2 = coulomb_visit(a[0], a[1], a[2], a[3], a[4], a[5], p, u, i, mu)
        else:
            p0, p1, p2 = relaxed_visit(a[0], a[1], a[2], a[3], a[4], a[5], p, u, i, mu)
        if step != 1.0:
            p0, p1, p2 = p[i] + step * (p0 - p[i]), p[i + 1] + step * (p1 - p[i + 1]), p[i + 2] + step * (p2 - p[i + 2])
            p0, p1, p2 = project_cone(p0, p1, p2, mu)
        change(rows, contacts, i, p0 - p[i], p1 - p[i + 1], p2 - p[i + 2], p, u)


@kernel
def residual(contacts, p, u, coulomb):
    """‖natural map‖∞, NaN if anything is."""
    largest = 0.0
    for c in range(contacts.friction.shape[0]):
        i = 3 * c
        size = natural(p[i], p[i + 1], p[i + 2], u[i], u[i + 1], u[i + 2], contacts.friction[c], coulomb)
        if not size <= largest:
            largest = size
    return largest


@kernel
def combine(memory, filled):
    """Find γ by Cholesky's method; returns False if ``gram`` is not definite."""
    G, L, x = memory.gram, memory.factor, memory.gamma
    trace = 0.0
    for i in range(filled):
        trace += G[i, i]
    for i in range(filled):
        for j in range(i + 1):
            total = G[i, j] + (1e-14 * trace if i == j else 0.0)
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                L[i, i] = total**0.5
            else:
                L[i, j] = total / L[j, j]
    for i in range(filled):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
    for i in range(filled - 1, -1, -1):
        for k in range(i + 1, filled):
            x[i] -= L[k, i] * x[k]
        x[i] /= L[i, i]
    return True


@kernel(inline=False)
def accelerate(rows, contacts, memory, p, u, slot, filled):
    """Move p and u to Anderson's combination, with the newest differences in ``slot``; False if there is none."""
    last, n = memory.last, p.shape[0]
    X, S, D, G = memory.impulses, memory.speeds, memory.changes, memory.gram
    for k in range(filled):
        total = 0.0
        for i in range(n):
            total += D[slot, i] * D[k, i]
        G[slot, k] = G[k, slot] = total
        total = 0.0
        for i in range(n):
            total += D[k, i] * last[F, i]
        memory.gamma[k] = total
    if not combine(memory, filled):
        return False
    for k in range(filled):
        g = memory.gamma[k]
        for i in range(n):
            p[i] -= g * X[k, i]
            u[i] -= g * S[k, i]
    for c in range(contacts.friction.shape[0]):
        i = 3 * c
        p0, p1, p2 = project_cone(p[i], p[i + 1], p[i + 2], contacts.friction[c])
        change(rows, contacts, i, p0 - p[i], p1 - p[i + 1], p2 - p[i + 2], p, u)
    return True


@kernel
def hopeless(before, now, limit, rounds):
    """Whether a residual that fell from ``before`` to ``now`` in one round is above the limit after so many more."""
    return log(now / limit) > rounds * log(before / now)


@kernel(inline=False)
def iterate(rows, contacts, memory, p, u, history, limit, sweeps, patience, step, coulomb, brief):
    """Sweep from p until the residual is ``AIM`` of the limit, at most ``sweeps`` times, or until ``UNEVEN`` times the
    patience has passed without progress, or, if ``brief``, until it is ``hopeless``. Returns (code, sweeps done); the
    best p is in ``memory.last[BEST]``."""
    limit, patience = AIM * limit, UNEVEN * patience
    last, n, deep = memory.last, p.shape[0], memory.impulses.shape[0]
    adaptive, omega = step <= 0.0, (step if step > 0.0 else 1.0)
    speeds(rows, contacts, p, u)
    size = residual(contacts, p, u, coulomb)
    best = mark = recent = previous = size
    least, filled, slot, known = 1e300, 0, 0, False
    pause, resume = PLAIN, PLAIN
    halfway, window = size, ROUND
    for i in range(n):
        last[BEST, i] = p[i]
    if history.shape[0] > 0:
        history[0] = size
    if size <= limit:
        return CONVERGED, 0
    for done in range(1, sweeps + 1):
        for i in range(n):
            last[BEFORE, i] = p[i]
        sweep(rows, contacts, p, u, omega, 0.01 * limit, coulomb)
        size = residual(contacts, p, u, coulomb)
        if size <= limit or done % REFRESH == 0 or done == sweeps:
            speeds(rows, contacts, p, u)
            size = residual(contacts, p, u, coulomb)
        if history.shape[0] > 0:
            history[done] = size
        if not size < 1e300:
            return DIVERGED, done
        if size < best:
            best = size
            for i in range(n):
                last[BEST, i] = p[i]
        if size <= limit:
            return CONVERGED, done
        if done % patience == 0:
            if best > 0.999 * mark:
                return STALLED, done
            mark = best
        if brief and done % ROUND == 0:
            if best <= NEARLY * limit and hopeless(recent, best, limit, (sweeps - done) / ROUND):
                return STALLED, done
            recent = best
            if done == window:
                if coulomb and done >= LONG and hopeless(halfway, best, limit, 2 * sweeps / done - 2):
                    return STALLED, done
                halfway, window = best, 2 * done
        if adaptive:
            omega = max(0.8 * omega, 0.3) if deep == 0 and size > 1.05 * previous else min(1.05 * omega, 1.0)
        previous = size
        if deep == 0 or done < resume:
            continue
        length = 0.0
        for i in range(n):
            f = contacts.weight[i] * (p[i] - last[BEFORE, i])
            length += f * f
            if known:
                memory.impulses[slot, i] = p[i] - last[P, i]
                memory.speeds[slot, i] = u[i] - last[U, i]
                memory.changes[slot, i] = f - last[F, i]
            last[P, i], last[U, i], last[F, i] = p[i], u[i], f
        if length > 4.0 * least and filled > 0:
            for i in range(n):
                p[i] = last[SAFE, i]
            speeds(rows, contacts, p, u)
            least, filled, slot, known = 1e300, 0, 0, False
            if coulomb:  # in the relaxed problem every sweep lowers a convex function: no pause is needed
                pause *= 2
                resume = done + pause
            continue
        if length < least:
            least = length
            for i in range(n):
                last[SAFE, i] = p[i]
        if known:
            filled = min(filled + 1, deep)
            if not accelerate(rows, contacts, memory, p, u, slot, filled):
                filled, slot, known = 0, 0, False
                continue
            slot = (slot + 1) % deep
        known = True
    return RUNNING, sweeps
