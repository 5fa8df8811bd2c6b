"""Interior point on second-order cones: the relaxed contact problem, and Coulomb's law in De Saxcé's form.

In the units of ``cone_system``, coulomb = 0 is the relaxed problem, convex, with u in K*; coulomb = 1 is Coulomb's law,
û = u + (μ·|u_t|, 0, 0) in K*. ``cone_path`` has the equations and the iteration. A problem takes 5 to 15 iterations,
hardly more with n.

Near a solution the method ends with a few semismooth Newton steps (``cone_newton``). They belong to the algorithm:
without them, degenerate contacts (at rest without force, or at the edge of slipping) would stop at the square root of
rounding errors.

The relaxed problem is monotone. Coulomb's is not, and steps become short where |y_t| bends. What the linearised shift
leaves of the equations is put into y_n where x_n is small, which mends most of it. A path that ends all the same is
begun anew, from elsewhere or with the gap τ held up by infeasibility (``STARTS``). If all paths end, the status is
STALLED. A warm start is used only if it is the solution.

The limit is on impulses, so that contacts with small ones meet it with friction that is not quite against their slip.
Up to ``SHARPER`` more Newton steps are therefore taken at the end, until the residual is ``SHARP`` of the limit and as
long as each lowers it tenfold.

V. Acary, P. Armand, H. M. Nguyen, M. Shpakovych, "Second-order cone programming for frictional contact mechanics using
interior point algorithm", Optim. Methods Softw. 39, 2024. Differs from the paper in: W instead of (M, H); new starts
and Newton's method at the end.
"""

from __future__ import annotations

import numpy as np

from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.interior_point.cone_core import NEAR, SHARP, SHARPER, STARTS
from stickslip.solvers.interior_point.cone_newton import polish
from stickslip.solvers.interior_point.cone_path import ConePath
from stickslip.solvers.interior_point.cone_scratch import PATIENCE
from stickslip.solvers.interior_point.cone_system import cone_system
from stickslip.solvers.problem import ConeProblem, FrictionProblem
from stickslip.solvers.residuals import natural

MAX_ITERATIONS = 400


class ConePaths:
    """The paths of one call of ``solve``, and the best point of all of them."""

    def __init__(self, method: Solver, problem: ConeProblem | FrictionProblem, to_boundary: float) -> None:
        self.system, self.to_boundary = cone_system(problem), to_boundary
        self.tolerance, self.limit = method.tolerance, method.limit(problem)
        self.left = method.max_iterations or MAX_ITERATIONS
        self.iterations, self.keep, self.history = 0, method.history, [np.inf]
        self.best, self.best_x, self.best_p = np.inf, np.zeros(problem.n), np.zeros(problem.n)

    def follow(self, p: np.ndarray) -> Outcome:
        system = self.system
        start = natural(system.problem, p)
        self.history = [start]
        if start <= self.limit:
            return Outcome(p, Status.CONVERGED, 0, np.array(self.history))
        status = Status.STALLED
        for far, caution in STARTS:
            status = self._descend(ConePath(system, self.to_boundary, far, caution))
            if status is Status.CONVERGED or self.left <= 0:
                break
        if status is Status.CONVERGED:
            self._sharpen()
        answer = p if start < self.best else self.best_p
        return Outcome(answer, status, self.iterations, np.array(self.history) if self.keep else np.empty(0))

    def _look(self, x: np.ndarray) -> float:
        residual = self.system.natural(x)
        if residual < self.best:
            self.best, self.best_x, self.best_p = residual, x.copy(), self.system.scale * x
        return residual

    def _descend(self, path: ConePath) -> Status:
        """Follow one path, with Newton's method from where it is near a solution or ends."""
        status, tried, gaps = Status.STALLED, np.inf, [path.gap()]
        while self.left > 0:
            if not path.step():
                break
            gaps.append(path.gap())
            if len(gaps) > PATIENCE and gaps[-1] > 0.5 * gaps[-PATIENCE]:
                break
            residual = self._count(path.x)
            if residual <= self.limit:
                return Status.CONVERGED
            if residual < NEAR * self.limit / self.tolerance and residual < 1e-2 * tried:
                tried = residual
                if self._newton(path.x):
                    return Status.CONVERGED
        else:
            status = Status.MAX_ITERATIONS
        return Status.CONVERGED if self._newton(self.best_x) else status

    def _count(self, x: np.ndarray) -> float:
        self.iterations += 1
        self.left -= 1
        residual = self._look(x)
        if self.keep:
            self.history.append(residual)
        return residual

    def _sharpen(self) -> None:
        before, aim = self.best, SHARP * self.limit
        if before <= aim:
            return
        for x in polish(self.system, self.best_x, aim, min(SHARPER, self.left)):
            if not self._count(x) <= 0.1 * before:
                return
            before = self.best

    def _newton(self, x: np.ndarray) -> bool:
        steps = polish(self.system, x, self.limit, self.left)
        return any(self._count(improved) <= self.limit for improved in steps)
