"""Interior point for LCP and mixed LCP: primal-dual path following with Mehrotra's predictor and corrector.

With slacks s = z − lower and t = upper − z of the finite bounds and their multipliers v, x > 0, all (n,), it follows

    A·z + b = v − x,   s·v = τ,   t·x = τ   (row by row),   τ → 0;

free rows have neither. z stays strictly between its bounds; the first equation need not hold at the start. An
iteration has one matrix, A + v/s + x/t on the diagonal (n, n), and two right-hand sides: a predictor with τ = 0, whose
success decides how much the corrector centres, and a corrector with the second-order term. The step, common to all
unknowns, goes 0.995 of the way to the nearest bound, or nearer to 1 as it converges.

It needs no start and 10 to 30 iterations whatever n, if the problem is monotone (A positive semidefinite, though not
symmetric). Contact problems with friction are not: then steps may become ever shorter, which is reported as STALLED.
A warm start is used only if it is the solution.

S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optim. 2, 1992; S. Wright,
"Primal-dual interior-point methods", SIAM 1997. Differs from the paper in: nothing; Williams et al. name the method.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.solvers.base import CODES, Outcome, Solver
from stickslip.solvers.core import LIMIT, Core
from stickslip.solvers.interior_point.linear_path import (
    AT_BOUND,
    CORRECTOR,
    DONE,
    GAP,
    SHIFT,
    Path,
    begin,
    proceed,
)
from stickslip.solvers.newton.linear_systems import NewtonSystem
from stickslip.solvers.newton.scaled import Scaled
from stickslip.solvers.problem import LinearProblem
from stickslip.solvers.splitting.sweeps import rows_of

MAX_ITERATIONS = 100


class LinearPath:
    """The iteration of the core with bounds of all kinds, CSR matrices and every way to solve the linear systems."""

    def __init__(self, method: Solver, problem: LinearProblem, subsolver: str, core: Core) -> None:
        n, system = problem.n, Scaled(problem)
        self.A: Any = system.matrix(np.empty(0))
        self.linear, self.free = NewtonSystem(subsolver, n), problem.lower < problem.upper
        self.options, self.history = core.options(), np.zeros(core.most + 1 if method.history else 0)
        self.options[LIMIT] = method.limit(problem)
        given = (system.function(np.zeros(n)), system.lower, system.upper, system.scale)
        scratch = (*np.zeros((13, n)), np.zeros(5), *np.zeros((2, 0), dtype=np.int64))
        self.path = Path(rows_of(self.A), np.zeros((0, 0)), *given, *scratch)

    def follow(self, z: np.ndarray) -> Outcome:
        path = self.path
        path.best[:] = z / path.scale
        code = begin(path, self.history, self.options)
        while code < 0:
            path.d[:] = self._direction(code == CORRECTOR)
            code = proceed(path, self.history, self.options)
        done = int(path.number[DONE])
        return Outcome(path.scale * path.best, CODES[code], done, self.history[: done + 1])

    def _direction(self, again: bool) -> np.ndarray:
        """The solution of a linear system; ``again``: with the matrix of the last one."""
        right, diagonal, linear = self.path.right, self.path.diagonal, self.linear
        d = np.where(self.free, right / np.maximum(diagonal, 1.0), 0.0)
        keep = np.flatnonzero((diagonal < AT_BOUND) & self.free)
        d[keep] = 0.0
        rest = (right - self.A @ d)[keep]
        if again and linear.keeps_factor:
            d[keep] = linear.again(rest)
        else:
            tolerance = 1e-3 * min(1.0, float(self.path.number[GAP]))
            d[keep] = linear.solve(self.A, keep, diagonal[keep] + SHIFT, rest, tolerance)
        if again and linear.keeps_factor:  # refines what rounding and the shift have left
            d[keep] += linear.again((right - self.A @ d - diagonal * d)[keep])
        return d
