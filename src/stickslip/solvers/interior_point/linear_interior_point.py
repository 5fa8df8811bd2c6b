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

from typing import Any, NamedTuple

import numpy as np

from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.interior_point.linear_core import AT_BOUND, SHIFT, SHORTEST
from stickslip.solvers.newton.linear_systems import NewtonSystem
from stickslip.solvers.newton.scaled import Scaled
from stickslip.solvers.problem import LinearProblem

MAX_ITERATIONS = 100


class _Iterate(NamedTuple):
    """A point or a direction, (n,) each; v and x are zero where a bound does not exist."""

    y: np.ndarray
    v: np.ndarray
    x: np.ndarray


class LinearPath:
    """The path of one call of ``solve``."""

    def __init__(self, method: Solver, problem: LinearProblem, subsolver: str, to_boundary: float) -> None:
        self.method, self.to_boundary = method, to_boundary
        self.system = Scaled(problem)
        self.A: Any = self.system.matrix(np.empty(0))
        self.linear = NewtonSystem(subsolver, problem.n)
        self.limit = method.limit(problem)
        lower, upper = self.system.lower, self.system.upper
        self.fixed = lower == upper
        self.below = np.isfinite(lower) & ~self.fixed
        self.above = np.isfinite(upper) & ~self.fixed
        self.pairs = int(np.sum(self.below) + np.sum(self.above))

    def follow(self, z: np.ndarray) -> Outcome:
        method, system = self.method, self.system
        w = system.function(z / system.scale)
        best, best_y = system.natural(z / system.scale, w), z / system.scale
        history = [best]
        now = self._start()
        status, iterations = Status.MAX_ITERATIONS, 0
        for _ in range(method.max_iterations or MAX_ITERATIONS):
            if best <= self.limit:
                break
            moved = self._step(now)
            if moved is None:
                status = Status.STALLED
                break
            now = moved
            iterations += 1
            residual = system.natural(now.y, system.function(now.y))
            history.append(residual)
            if residual < best:
                best, best_y = residual, now.y
        if best <= self.limit:
            status = Status.CONVERGED
        return Outcome(system.scale * best_y, status, iterations, np.array(history) if method.history else np.empty(0))

    def _start(self) -> _Iterate:
        """A point as far inside the bounds as b is large, with multipliers of that size."""
        system = self.system
        far = system.size()
        width = np.where(self.above & self.below, 0.5 * (system.upper - system.lower), np.inf)
        inside = np.minimum(far, width)
        y = np.zeros(len(inside))
        y[self.above] = (system.upper - inside)[self.above]
        y[self.below] = (system.lower + inside)[self.below]
        y[self.fixed] = system.lower[self.fixed]
        w = system.function(y)
        return _Iterate(
            y, np.where(self.below, np.maximum(w, far), 0.0), np.where(self.above, np.maximum(-w, far), 0.0)
        )

    def _slacks(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """s and t; 1 where a bound does not exist."""
        s = np.where(self.below, y - np.where(self.below, self.system.lower, 0.0), 1.0)
        t = np.where(self.above, np.where(self.above, self.system.upper, 0.0) - y, 1.0)
        return s, t

    def _step(self, now: _Iterate) -> _Iterate | None:
        s, t = self._slacks(now.y)
        if min(s.min(), t.min()) <= 0.0:  # rounded onto a bound
            return None
        infeasible = self.system.function(now.y) - now.v + now.x
        gap = float(s @ now.v + t @ now.x) / max(1, self.pairs)
        tolerance = 1e-3 * min(1.0, gap)
        diagonal = now.v / s + now.x / t
        target_v, target_x = -s * now.v, -t * now.x
        predictor = self._direction(now, s, t, infeasible, diagonal, target_v, target_x, tolerance, first=True)
        if predictor is None:
            return None
        length = self._length(now, predictor, s, t)
        if not self.pairs:
            return _Iterate(now.y + predictor.y, now.v, now.x)
        after = (s + length * predictor.y * self.below) @ (now.v + length * predictor.v)
        after += (t - length * predictor.y * self.above) @ (now.x + length * predictor.x)
        centre = min(1.0, max(0.0, float(after) / self.pairs / gap)) ** 3
        target_v = np.where(self.below, target_v + centre * gap - predictor.y * predictor.v, 0.0)
        target_x = np.where(self.above, target_x + centre * gap + predictor.y * predictor.x, 0.0)
        d = self._direction(now, s, t, infeasible, diagonal, target_v, target_x, tolerance, first=False)
        if d is None:
            return None
        reach = max(self.to_boundary, 1.0 - gap / self.system.size() ** 2)
        length = min(1.0, reach * self._length(now, d, s, t, limit=1.0 / reach))
        if length < SHORTEST:
            return None
        return _Iterate(now.y + length * d.y, now.v + length * d.v, now.x + length * d.x)

    def _direction(
        self,
        now: _Iterate,
        s: np.ndarray,
        t: np.ndarray,
        infeasible: np.ndarray,
        diagonal: np.ndarray,
        target_v: np.ndarray,
        target_x: np.ndarray,
        tolerance: float,
        first: bool,
    ) -> _Iterate | None:
        r = -infeasible + target_v / s - target_x / t
        y = np.where(self.fixed, 0.0, r / np.maximum(diagonal, 1.0))
        keep = np.flatnonzero((diagonal < AT_BOUND) & ~self.fixed)
        y[keep] = 0.0
        rest = (r - self.A @ y)[keep]
        if first or not self.linear.keeps_factor:
            y[keep] = self.linear.solve(self.A, keep, diagonal[keep] + SHIFT, rest, tolerance)
        else:
            y[keep] = self.linear.again(rest)
        if self.linear.keeps_factor:  # refines what rounding and the shift have left
            y[keep] += self.linear.again((r - self.A @ y - diagonal * y)[keep])
        if not np.all(np.isfinite(y)):
            return None
        return _Iterate(y, (target_v - now.v * y) / s, (target_x + now.x * y) / t)

    def _length(self, now: _Iterate, d: _Iterate, s: np.ndarray, t: np.ndarray, limit: float = 1.0) -> float:
        """The longest step up to the limit that keeps slacks and multipliers from changing sign."""
        for value, change, there in (
            (s, d.y, self.below),
            (t, -d.y, self.above),
            (now.v, d.v, self.below),
            (now.x, d.x, self.above),
        ):
            shrinks = there & (change < 0.0)
            if np.any(shrinks):
                limit = min(limit, float(np.min(-value[shrinks] / change[shrinks])))
        return limit
