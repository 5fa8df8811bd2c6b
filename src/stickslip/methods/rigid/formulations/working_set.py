"""A working set for pivoting methods, which begins with the contacts that the motion without impulses would violate.

    S ← contacts with a negative slack at p = 0;  repeat: solve the LCP of S alone;  S ← S + contacts that it violates

A contact outside S has p_n = β = 0; its auxiliary variables and s then follow from w = A·z + b row by row, and its
slack is w_n + Σ c_a. When no slack is negative, z solves the whole problem, and its residual is checked. If a part has
no solution, the solver gets the whole problem. Anticipated contacts that are not met cost no pivots.

With friction there can be several solutions: a body between two walls may fall freely, or jam. The working set finds
one in which only contacts that are needed carry impulses; a pivoting method on the whole problem finds any of them.
"""

from __future__ import annotations

import time as clock

import numpy as np
import scipy.sparse as sp

from stickslip._jit import kernel
from stickslip.methods.rigid.formulations.polygonal_cone import Layout
from stickslip.solvers import residuals
from stickslip.solvers.base import Solver, SolverResult, Status
from stickslip.solvers.problem import LinearProblem

MOST_ROUNDS = 20
"""Largest number of rounds before the solver gets the whole problem."""


@kernel
def complete(w, first, start, sliding, nd, inside, limit, z):
    """Fill in the unknowns of groups that are not ``inside`` (ng,), from w = A·z + b with zeros there; put groups whose
    slack is below −limit inside. Returns how many."""
    ng = inside.shape[0]
    a = first + ng
    f = a + start[ng]
    s = f + nd * sliding.shape[0]
    added = 0
    for r in range(sliding.shape[0]):
        if inside[sliding[r]] == 0:
            least = 0.0
            for k in range(nd):
                least = min(least, w[f + nd * r + k])
            z[s + r] = -least
    for g in range(ng):
        if inside[g] != 0:
            continue
        reached = 0.0
        for k in range(start[g], start[g + 1]):
            wanted = max(reached, -w[a + k])
            z[a + k] = wanted - reached
            reached = wanted
        if w[first + g] + reached < -limit:
            inside[g] = 1
            added += 1
    return added


@kernel
def members(first, start, sliding, nd, inside, index):
    """Write the ascending indices of the ``first`` unknowns and of those of groups inside; returns how many."""
    n = 0
    for i in range(first):
        index[n] = i
        n += 1
    ng = inside.shape[0]
    a = first + ng
    f = a + start[ng]
    for g in range(ng):
        if inside[g] != 0:
            index[n] = first + g
            n += 1
    for g in range(ng):
        if inside[g] != 0:
            for k in range(start[g], start[g + 1]):
                index[n] = a + k
                n += 1
    for r in range(sliding.shape[0]):
        if inside[sliding[r]] != 0:
            for k in range(nd):
                index[n] = f + nd * r + k
                n += 1
    for r in range(sliding.shape[0]):
        if inside[sliding[r]] != 0:
            index[n] = f + nd * sliding.shape[0] + r
            n += 1
    return n


def solve_needed(solver: Solver, problem: LinearProblem, plan: Layout) -> SolverResult:
    """The solution of a problem that ``contact_lcp`` or ``lcp_with_joints`` made with this layout."""
    begin = clock.perf_counter()
    first, nd, limit = problem.n - sum(plan.sizes), len(plan.directions), 0.5 * solver.limit(problem)
    inside, index = np.zeros(len(plan.primary), dtype=np.int64), np.empty(problem.n, dtype=np.int64)
    z = np.zeros(problem.n)
    shape = (first, plan.start, plan.sliding, nd, inside)
    iterations = 0
    if first == 0:
        complete(problem.b, *shape, limit, z)
    for _ in range(MOST_ROUNDS):
        if first == 0 and not inside.any():
            break
        kept = index[: members(*shape, index)]
        if len(kept) == problem.n:
            return solver.solve(problem)
        A = problem.A[kept][:, kept] if sp.issparse(problem.A) else problem.A[np.ix_(kept, kept)]
        part = solver.solve(LinearProblem(A, problem.b[kept], problem.lower[kept], problem.upper[kept]))
        iterations += part.iterations
        if not part.success:
            return solver.solve(problem)
        z[:] = 0.0
        z[kept] = part.z
        if complete(problem.function(z), *shape, limit, z) == 0:
            break
    else:
        return solver.solve(problem)
    residual = residuals.natural(problem, z)
    if residual > solver.limit(problem):
        return solver.solve(problem)
    return SolverResult(z, Status.CONVERGED, iterations, residual, clock.perf_counter() - begin)
