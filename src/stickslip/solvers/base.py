"""What a solver is: the checklist for writing a new one."""

from __future__ import annotations

import time as clock
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from stickslip.errors import InputError, expected, number
from stickslip.solvers import residuals
from stickslip.solvers.problem import LinearProblem, Problem


class Status(Enum):
    """How a solver ended, as sentences."""

    CONVERGED = "the natural residual is below the tolerance"
    MAX_ITERATIONS = "the limit on iterations (sweeps, pivots) was reached before the tolerance"
    RAY = "a secondary ray: the pivoting path ends at infinity, and the problem may have no solution"
    STALLED = "the iteration came to a standstill above the tolerance: no better point for long, or in any direction"
    SINGULAR = "a linear system of the method is singular"
    INACCURATE = "the method ended, but the judge finds its answer above the tolerance"
    REFUSED = "the external solver ended without a solution"
    NOT_A_NUMBER = "the answer is not finite"


class Outcome(NamedTuple):
    """What the algorithm itself says; the judge has the last word."""

    z: np.ndarray
    status: Status
    iterations: int
    history: np.ndarray
    """(iterations + 1,) natural residual before each iteration and at the end; empty if it was not asked for."""


@dataclass(frozen=True)
class SolverResult:
    """SciPy-like: ``success``, ``message``, ``z`` and how it was found."""

    z: np.ndarray
    """(n,) the best that was found."""
    status: Status
    iterations: int
    residual: float
    """‖natural map‖∞, by ``residuals.natural``, not by the solver."""
    seconds: float
    history: np.ndarray = field(default_factory=lambda: np.empty(0))
    """Natural residual per iteration, if ``history=True``."""

    @property
    def success(self) -> bool:
        return self.status is Status.CONVERGED

    @property
    def message(self) -> str:
        return self.status.value


@dataclass
class Solver(ABC):
    """A complementarity solver. Subclass it as a dataclass whose fields are its options, add one line to
    ``registry.SOLVERS``, and the tests and ``stickslip solve`` pick it up.

    Provide:

    * ``summary`` (one line), ``reference`` and ``solves``: the kinds of problems, of "lcp", "mlcp", "ncp" and "cone";
    * further options as fields with defaults, each checked in ``__post_init__`` (call super's);
    * ``_solve(problem, z)``: from the start z (yours to overwrite) to an ``Outcome``. Stop when the natural residual is
      below ``self.limit(problem)``; keep a history only if ``self.history``. Compiled kernels do the work.
    """

    tolerance: float = 1e-8
    """On the natural residual, relative to the largest |b|, if that is above 1."""
    max_iterations: int | None = None
    """None: the solver's own default."""
    history: bool = False
    """Whether the residual of every iteration is kept."""

    summary: ClassVar[str]
    reference: ClassVar[str]
    solves: ClassVar[frozenset[str]]
    iterative: ClassVar[bool] = True
    """False for pivoting methods, which end after finitely many steps."""
    splitting: ClassVar[bool] = False
    """Whether unknowns are improved by their own rows alone, as in Gauss–Seidel and fixed-point iterations: contacts
    whose velocities are unknowns too (form "mlcp") have nothing there, and are refused."""
    prefers_cones: ClassVar[bool] = False
    """Whether contacts are better given with their circular cones (form "ncp") than with polygons."""

    def __post_init__(self) -> None:
        self.tolerance = number("tolerance", self.tolerance, "a positive number", above=0.0)
        if self.max_iterations is not None:
            limit = number("max_iterations", self.max_iterations, "a whole number ≥ 1", least=1.0)
            if limit != int(limit):
                raise expected("max_iterations", "a whole number ≥ 1", self.max_iterations)
            self.max_iterations = int(limit)

    @abstractmethod
    def _solve(self, problem: Any, z: np.ndarray) -> Outcome: ...

    @classmethod
    def options(cls) -> tuple[str, ...]:
        return tuple(option.name for option in fields(cls))

    def limit(self, problem: Problem) -> float:
        """The natural residual that counts as solved."""
        b = getattr(problem, "b", None)
        scale = 1.0 if b is None or not len(b) else max(1.0, float(np.max(np.abs(b))))
        return self.tolerance * scale

    def solve(self, problem: Problem, z0: np.ndarray | None = None) -> SolverResult:
        """Solve, and have the answer judged; ``z0`` (n,) is a warm start, which pivoting methods may ignore."""
        if problem.kind not in self.solves:
            kinds = ", ".join(sorted(self.solves))
            raise InputError(
                f"{type(self).__name__} solves {kinds}; this problem is of kind {problem.kind!r}: "
                "choose another solver or form, see 'stickslip list'"
            )
        if self.splitting and isinstance(problem, LinearProblem) and "velocity" in problem.labels:
            raise InputError(
                f"{type(self).__name__}: expected impulses as the only unknowns, got the form 'mlcp', where contacts' "
                "own entries of A are zero because velocities are unknowns: choose form 'reduced' (joint impulses kept "
                "as free variables) or 'lcp' (eliminated)"
            )
        z = np.zeros(problem.n) if z0 is None else np.array(z0, dtype=float)
        if z.shape != (problem.n,):
            raise expected("z0", f"a vector of {problem.n} numbers", z.shape)
        start = clock.perf_counter()
        outcome = self._solve(problem, z) if problem.n else Outcome(z, Status.CONVERGED, 0, np.zeros(1))
        seconds = clock.perf_counter() - start
        residual = residuals.natural(problem, outcome.z)
        return SolverResult(
            outcome.z, self._verdict(outcome, residual, problem), outcome.iterations, residual, seconds, outcome.history
        )

    def _verdict(self, outcome: Outcome, residual: float, problem: Problem) -> Status:
        if residual <= self.limit(problem):
            return Status.CONVERGED
        if not np.all(np.isfinite(outcome.z)):
            return Status.NOT_A_NUMBER
        return Status.INACCURATE if outcome.status is Status.CONVERGED else outcome.status
