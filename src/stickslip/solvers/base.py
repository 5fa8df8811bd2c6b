"""The base class of all solvers: the checklist for writing a new one."""

from __future__ import annotations

import time as clock
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from stickslip.errors import InputError, expected, number, whole
from stickslip.solvers import residuals
from stickslip.solvers.core import Core, fits, run_core
from stickslip.solvers.problem import LinearProblem, NonlinearProblem, Problem


class Status(Enum):
    """Why a solver ended, as sentences."""

    CONVERGED = "the natural residual is below the tolerance"
    MAX_ITERATIONS = "the limit on iterations (sweeps, pivots) was reached before the tolerance"
    RAY = "a secondary ray: the pivoting path ends at infinity, and the problem may have no solution"
    STALLED = "the iteration came to a standstill above the tolerance: no better point for long, or in any direction"
    SINGULAR = "a linear system of the method is singular"
    INACCURATE = "the method ended, but the judge finds its answer above the tolerance"
    REFUSED = "the external solver ended without a solution"
    NOT_A_NUMBER = "the answer is not finite"


CODES = tuple(Status)
"""What the codes mean that cores return."""


class Outcome(NamedTuple):
    """The algorithm's own account of a run. ``Solver.solve`` checks it and makes the ``SolverResult``."""

    z: np.ndarray
    status: Status
    iterations: int
    history: np.ndarray
    """(iterations + 1,) natural residual before each iteration and at the end; empty if it was not asked for."""
    found_by: str = ""
    """Name of the part that found z, if the solver is a combination."""


@dataclass(frozen=True)
class SolverResult:
    """The answer of a solver, in the style of SciPy: ``success``, ``message``, ``z`` and how z was found."""

    z: np.ndarray
    """(n,) best point that was found."""
    status: Status
    iterations: int
    residual: float
    """‖natural map‖∞, computed by ``residuals.natural`` and not by the solver."""
    seconds: float
    history: np.ndarray = field(default_factory=lambda: np.empty(0))
    """Natural residual per iteration, if ``history=True``."""
    found_by: str = ""
    """Name of the part that found z, if the solver is a combination such as "interior-point+fischer-newton"."""

    @property
    def success(self) -> bool:
        return self.status is Status.CONVERGED

    @property
    def message(self) -> str:
        return self.status.value


@dataclass
class Solver(ABC):
    """A solver of complementarity problems. A new one is a subclass in a file of its own and one line in
    ``registry.SOLVERS``; lists, help, citations, tests and ``stickslip solve`` follow from it.

    The subclass is a dataclass whose fields are its options. It provides:

    * ``summary`` (one line), ``reference``, ``bibtex`` and ``solves``: a set of "lcp", "mlcp", "ncp" and "cone";
    * further options as fields with defaults, each checked in ``__post_init__`` (which calls super's);
    * ``_solve(problem, z)``, which goes from the start z (it may overwrite z) to an ``Outcome``. It stops when the
      natural residual is below ``self.limit(problem)`` and keeps a history only if ``self.history``.

    A solver does what its name says and never hands a problem over to another one; ``combination`` does that by name.
    """

    tolerance: float = 1e-8
    """Limit on the natural residual, relative to the largest |b| if that is above 1."""
    max_iterations: int | None = None
    """Largest number of iterations; None: the solver's own default."""
    history: bool = False
    """Whether the residual of every iteration is kept."""

    summary: ClassVar[str]
    reference: ClassVar[str]
    """Papers and books, for people to read."""
    bibtex: ClassVar[tuple[str, ...]] = ()
    """Keys of these papers and books in the bibliography."""
    page: ClassVar[str] = "docs/solvers.md"
    """Documentation, with an anchor."""
    solves: ClassVar[frozenset[str]]
    """Kinds of problems that it solves."""
    iterative: ClassVar[bool] = True
    """False for pivoting methods, which end after finitely many steps."""
    splitting: ClassVar[bool] = False
    """Whether each unknown is improved by its own rows alone, as in Gauss–Seidel and fixed-point iterations. Such a
    solver refuses contacts whose velocities are unknowns too (form "mlcp"), because their own rows are zero."""
    functions: ClassVar[bool] = True
    """Whether a solver of "ncp" takes a ``NonlinearProblem``; False: only contacts with circular cones."""
    prefers_cones: ClassVar[bool] = False
    """Whether contacts are better given with their circular cones (form "ncp") than with polygons."""
    former_options: ClassVar[dict[str, str]] = {}
    """Options that no longer exist, each with what to write instead."""

    def __post_init__(self) -> None:
        self.tolerance = number("tolerance", self.tolerance, "a positive number", above=0.0)
        if self.max_iterations is not None:
            self.max_iterations = whole("max_iterations", self.max_iterations, 1)

    @abstractmethod
    def _solve(self, problem: Any, z: np.ndarray) -> Outcome: ...

    def core(self, kind: str) -> Core | None:
        """The solver as a compiled function for dense problems of this kind, "cones" or "lcp";
        None if it has none, or none that can do what its options ask for."""
        return None

    def compiled_core(self, kind: str) -> Core | None:
        """``core`` of the package's own classes; a subclass from elsewhere may have overridden what its core does."""
        ours = type(self).__module__.partition(".")[0] == __package__.partition(".")[0]
        return self.core(kind) if ours else None

    def _run(self, problem: Any, z: np.ndarray) -> Outcome:
        """Solve by the core where it takes the problem, else by ``_solve``."""
        core = self.compiled_core("lcp" if isinstance(problem, LinearProblem) else "cones")
        if core is not None and fits(core, problem):
            z, code, done, history = run_core(core, problem, z, self.limit(problem), self.history)
            return Outcome(z, CODES[code], done, history)
        return self._solve(problem, z)

    @classmethod
    def options(cls) -> tuple[str, ...]:
        return tuple(option.name for option in fields(cls))

    def limit(self, problem: Problem) -> float:
        """The natural residual that counts as solved."""
        b = getattr(problem, "b", None)
        scale = 1.0 if b is None or not len(b) else max(1.0, float(np.max(np.abs(b))))
        return self.tolerance * scale

    def check(self, problem: Problem) -> None:
        """Raise an InputError if the solver does not solve problems of this kind."""
        name = type(self).__name__
        if problem.kind not in self.solves:
            kinds = ", ".join(sorted(self.solves))
            raise InputError(
                f"{name} solves {kinds}; this problem is of kind {problem.kind!r}: "
                "choose another solver or form, see 'stickslip list'"
            )
        if isinstance(problem, NonlinearProblem) and not self.functions:
            raise InputError(
                f"{name}: expected a linear problem or contacts with circular cones, got a NonlinearProblem, which has "
                "no matrix: choose 'fixed-point', 'fischer-newton' or 'minmap-newton'"
            )
        if self.splitting and isinstance(problem, LinearProblem) and "velocity" in problem.labels:
            raise InputError(
                f"{name}: expected impulses as the only unknowns, got the form 'mlcp', where contacts' "
                "own entries of A are zero because velocities are unknowns: choose form 'reduced' (joint impulses kept "
                "as free variables) or 'lcp' (eliminated)"
            )

    def solve(self, problem: Problem, z0: np.ndarray | None = None) -> SolverResult:
        """Solve the problem and check the answer; ``z0`` (n,) is a warm start, which pivoting methods may ignore."""
        self.check(problem)
        z = np.zeros(problem.n) if z0 is None else np.array(z0, dtype=float)
        if z.shape != (problem.n,):
            raise expected("z0", f"a vector of {problem.n} numbers", z.shape)
        start = clock.perf_counter()
        outcome = self._run(problem, z) if problem.n else Outcome(z, Status.CONVERGED, 0, np.zeros(1))
        seconds = clock.perf_counter() - start
        z, status, iterations, history, found_by = outcome
        residual = residuals.natural(problem, z)
        if residual <= self.limit(problem):
            status = Status.CONVERGED
        elif not np.all(np.isfinite(z)):
            status = Status.NOT_A_NUMBER
        elif status is Status.CONVERGED:
            status = Status.INACCURATE
        return SolverResult(z, status, iterations, residual, seconds, history, found_by)
