"""The iteration of Fischer–Newton and minmap–Newton: damped Newton on Φ(y) = 0, Φ a complementarity function.

With D_y, D_w the derivatives of Φ's rows (never negative), the direction d (n,) solves

    (D_y + D_w·(A + ε·1))·d = −Φ,    ε = regularisation·min(1, ‖Φ‖∞/‖b‖∞),

and the step is the largest of 1, ½, ¼, … with enough descent of ½‖Φ‖² (Armijo). Rows with D_w ≈ 0 are at their bound:
d_i = −Φ_i/D_y,i there, and the linear system has only the others. ε goes to 0 with Φ and leaves convergence fast. It is
what makes contact problems work: where directions of friction are redundant A is singular, and without ε the direction
is huge and no descent. Where d is no direction of descent even so, the step is along −∇½‖Φ‖². Where progress ends, the
same method starts again from elsewhere, with a non-monotone search: from zero, then from inside the bounds. Contacts
with circular cones start again from 30 projected sweeps first (``friction_ncp.sweeps``), which only guess who sticks.

Differs from the paper in: scaling, ε and new starts, which Erleben's num4lcp does not have. Cost per iteration: one LU
of the active rows and one product by A.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stickslip.errors import expected, number, one_of
from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.core import Core
from stickslip.solvers.newton.friction_ncp import QuadraticCone, quadratic_cone, sweeps
from stickslip.solvers.newton.friction_projection import DiskProjection, disk_projection
from stickslip.solvers.newton.linear_systems import NewtonSystem, check_subsolver
from stickslip.solvers.newton.newton_core import (
    ARMIJO,
    BOUND_ROW,
    HALVINGS,
    NEW_MEMORY,
    newton_contacts,
    newton_lcp,
)
from stickslip.solvers.newton.newton_system import PATIENCE, newton_room
from stickslip.solvers.newton.scaled import Scaled
from stickslip.solvers.problem import FrictionProblem, Problem
from stickslip.solvers.residuals import natural

MAX_ITERATIONS = 200
"""Default of ``max_iterations``."""
CONES: dict[str, Callable[[FrictionProblem], DiskProjection | QuadraticCone]] = {
    "projection": disk_projection,
    "quadratic": quadratic_cone,
}


@dataclass
class NonsmoothNewton(Solver):
    """Options and iteration; a subclass provides Φ."""

    subsolver: str = "auto"
    """"direct" (LU, dense or sparse), "gmres" or "bicgstab" (only products by A), or "auto"."""
    regularisation: float = 0.1
    """ε relative to the diagonal of A."""
    memory: int = 1
    """The merit must fall below the largest of so many previous ones; above 1 the line search is non-monotone."""
    restarts: int = 3
    """Largest number of new starts after stagnation."""
    cone: str = "projection"
    """How the circular cone of a friction problem is written: "projection" (fast) or "quadratic" (smooth)."""

    solves: ClassVar[frozenset[str]] = frozenset({"lcp", "mlcp", "ncp"})
    smooth: ClassVar[bool]
    """Whether Φ is Fischer and Burmeister's function, else it is the minimum map."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_subsolver(self.subsolver)
        one_of("cone", self.cone, CONES)
        self.regularisation = number("regularisation", self.regularisation, "a number ≥ 0", least=0.0)
        for name, least in (("memory", 1), ("restarts", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise expected(name, f"a whole number ≥ {least}", value)

    @abstractmethod
    def _evaluate(self, system: Scaled, A: Any, y: np.ndarray, w: np.ndarray, at: _Point) -> float:
        """Φ and its derivatives into ``at``; returns ½‖Φ‖²."""

    @abstractmethod
    def _merit(self, system: Scaled, y: np.ndarray, w: np.ndarray) -> float:
        """½‖Φ‖²."""

    @property
    def compiled(self) -> bool:
        """Whether the core can do what the options ask for."""
        return self.subsolver in ("auto", "direct") and self.cone == "projection" and self.memory <= PATIENCE

    def core(self, kind: str) -> Core | None:
        if not self.compiled:
            return None
        own = (float(self.smooth), self.regularisation, float(self.memory), float(self.restarts))
        function = newton_lcp if kind == "lcp" else newton_contacts
        return Core(function, kind, self.max_iterations or MAX_ITERATIONS, own, newton_room)

    def _solve(self, problem: Problem, z: np.ndarray) -> Outcome:
        if not isinstance(problem, FrictionProblem):
            return _Run(self, problem, problem, None).solve(z)
        cone = CONES[self.cone](problem)
        outcome = _Run(self, problem, cone.problem, cone).solve(cone.start(z))
        return outcome._replace(z=cone.impulses(outcome.z))


class _Point:
    """Φ and its derivatives at a point, (n,) each."""

    def __init__(self, n: int) -> None:
        self.phi, self.by_y, self.by_w = np.empty(n), np.empty(n), np.empty(n)


class _Run:
    """One call of ``solve``, with the best point that it has seen."""

    def __init__(
        self, method: NonsmoothNewton, judged: Problem, problem: Any, cone: DiskProjection | QuadraticCone | None
    ) -> None:
        self.method, self.judged, self.cone = method, judged, cone
        self.system = Scaled(problem)
        self.linear = NewtonSystem(method.subsolver, problem.n)
        self.at = _Point(problem.n)
        self.limit = method.limit(judged)
        self.left = method.max_iterations or MAX_ITERATIONS
        self.iterations = 0
        self.history: list[float] = []
        self.best, self.best_y = np.inf, np.zeros(problem.n)

    def solve(self, z: np.ndarray) -> Outcome:
        scale = self.system.scale
        status = Status.STALLED
        for attempt in range(self.method.restarts + 1):
            start = z / scale if attempt == 0 else self._start(attempt)
            status = self._descend(start, self.method.memory if attempt == 0 else NEW_MEMORY)
            if status in (Status.CONVERGED, Status.MAX_ITERATIONS):
                break
        return Outcome(scale * self.best_y, status, self.iterations, np.array(self.history))

    def _start(self, attempt: int) -> np.ndarray:
        """A new start: zero, then farther and farther inside the bounds; on circular cones first ``sweeps``."""
        lower, upper = self.system.lower, self.system.upper
        from_zero = 1
        if isinstance(self.judged, FrictionProblem) and self.cone is not None:
            from_zero = 2
            if attempt == 1:
                return self.cone.start(sweeps(self.judged))
        inside = self.system.size() * (10.0 ** (attempt - 3) if attempt > from_zero else 0.0)
        return np.clip(np.full(len(lower), inside), np.maximum(lower, -1e9), upper) * (lower > -np.inf)

    def _look(self, y: np.ndarray, w: np.ndarray) -> float:
        """The natural residual of the problem as given, at y; keeps the best point."""
        if self.cone is None:
            residual = self.system.natural(y, w)
        else:
            residual = natural(self.judged, self.cone.impulses(y))
        if residual < self.best:
            self.best, self.best_y = residual, y.copy()
        return residual

    def _descend(self, y: np.ndarray, memory: int) -> Status:
        method, system = self.method, self.system
        w = system.function(y)
        residual = self._look(y, w)
        if not self.history and method.history:
            self.history.append(residual)
        merits: list[float] = []
        for _ in range(self.left):
            if residual <= self.limit:
                return Status.CONVERGED
            A = system.matrix(y)
            merit = method._evaluate(system, A, y, w, self.at)
            if not np.isfinite(merit):
                return Status.NOT_A_NUMBER
            merits.append(merit)
            if len(merits) > PATIENCE and min(merits[-PATIENCE:]) > 0.5 * min(merits[:-PATIENCE]):
                return Status.STALLED
            step = self._step(A, y, w, max(merits[-memory:]))
            if step is None:
                return Status.STALLED
            y, w = step
            self.iterations += 1
            self.left -= 1
            residual = self._look(y, w)
            if method.history:
                self.history.append(residual)
        return Status.CONVERGED if residual <= self.limit else Status.MAX_ITERATIONS

    def _step(self, A: Any, y: np.ndarray, w: np.ndarray, reference: float) -> tuple[np.ndarray, np.ndarray] | None:
        at = self.at
        size = float(np.max(np.abs(at.phi)))
        epsilon = self.method.regularisation * min(1.0, size / self.system.size())
        d = self._direction(A, epsilon, 0.01 * min(1.0, size / self.system.size()))
        e = A @ d if np.all(np.isfinite(d)) else d
        slope = float(at.phi @ (at.by_y * d + at.by_w * e))
        merit = 0.5 * float(at.phi @ at.phi)
        found = None
        if slope < -1e-10 * merit:  # false also if the direction is not a number
            found = self._search(y, w, d, e, slope, reference)
        if found is None:
            d = -(at.by_y * at.phi + A.T @ (at.by_w * at.phi))
            found = self._search(y, w, d, A @ d, -float(d @ d), reference)
        return found

    def _direction(self, A: Any, epsilon: float, tolerance: float) -> np.ndarray:
        at = self.at
        inside = at.by_w > BOUND_ROW * at.by_y
        d = np.where(inside, 0.0, -at.phi / np.where(inside, 1.0, at.by_y))
        keep = np.flatnonzero(inside)
        by_w = at.by_w[keep]
        r = -at.phi[keep] / by_w
        if len(keep) < len(d):
            r -= (A @ d)[keep]
        d[keep] = self.linear.solve(A, keep, at.by_y[keep] / by_w + epsilon, r, tolerance)
        return d

    def _search(
        self, y: np.ndarray, w: np.ndarray, d: np.ndarray, e: np.ndarray, slope: float, reference: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The first step of 1, ½, ¼, … with enough descent; None if there is none."""
        t = 1.0
        for _ in range(HALVINGS):
            y_new = y + t * d
            if not self.system.linear:
                w_new = self.system.function(y_new)
            elif self.iterations % 8 == 7:
                w_new = self.system.function(y_new)  # keeps rounding errors from adding up
            else:
                w_new = w + t * e
            if self.method._merit(self.system, y_new, w_new) <= reference + ARMIJO * t * slope:
                return y_new, w_new
            t *= 0.5
        return None
