"""Lemke's complementary pivoting for 0 ≤ z ⟂ A·z + b ≥ 0.

An artificial variable z₀ with a covering vector d > 0 makes w = A·z + b + d·z₀ feasible; every pivot exchanges a basic
and a nonbasic variable so that z_i·w_i = 0 stays true, until z₀ leaves the basis (a solution) or none leaves (a ray).
For some matrices a ray proves that there is no solution, among them semidefinite ones; for others it proves nothing.
Cottle, Pang and Stone, The Linear Complementarity Problem, Alg. 4.4.5.

The path of pivots only has to name the variables that are basic at its end: z is then refined with A itself, so that
thousands of pivots leave no trace of round-off. If the answer is not accurate enough, other covering vectors are tried,
and then the status says that it is not.

Sizes: n×(n+2) numbers. Differs from the simulator of Williams et al. in: lexicographic ratio test; on failure another
covering vector, not a shifted diagonal, which would be another problem.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg as la

from stickslip.errors import InputError, number, whole
from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.core import LARGEST, Core
from stickslip.solvers.pivoting import tableau as tb
from stickslip.solvers.pivoting.lemke_core import (
    PIVOT_TOLERANCE,
    TIE_TOLERANCE,
    end_path,
    lemke_lcp,
    lemke_room,
    path,
)
from stickslip.solvers.problem import LinearProblem

STATUS = {tb.RUNNING: Status.MAX_ITERATIONS, tb.SOLVED: Status.CONVERGED, tb.RAY: Status.RAY}


class Path(NamedTuple):
    """Where a path of pivots ended."""

    z: np.ndarray
    """(n,) ≥ 0; at a solution refined with A itself."""
    basic: np.ndarray
    """(n,) bool: which z are basic."""
    code: int
    pivots: int


def follow(
    A: np.ndarray, b: np.ndarray, cover: np.ndarray, pivots: int, watch: Callable[[np.ndarray], Any] | None = None
) -> Path:
    """Follow Lemke's path from the covering vector; ``watch(z)`` is called at the start and after every pivot."""
    n = len(b)
    if watch is None:
        return _whole_path(A, b, cover, pivots)
    t = tb.new_tableau(n)
    rows, columns = np.empty(n), np.empty(n)
    tb.equilibrate(A, rows, columns)
    size = float(np.max(np.abs(b * rows), initial=0.0))
    scale = 1.0 / size if size > 0.0 else 1.0

    z = np.zeros(n)
    watch(z)
    code = tb.begin(t, A, b * scale, cover, rows, columns)
    while code == tb.RUNNING and t.state[tb.PIVOTS] < pivots:
        if t.state[tb.PIVOTS]:
            tb.values(t, columns, scale, z)
            watch(np.maximum(0.0, z))
        code = tb.pivot(t, 1, PIVOT_TOLERANCE, TIE_TOLERANCE)
    end_path(t, A, b, rows, columns, scale, code, z)
    watch(z)
    basic = np.zeros(2 * n + 1, bool)
    basic[t.basic] = True
    return Path(z, basic[n : 2 * n], int(code), int(t.state[tb.PIVOTS]))


def _whole_path(A: np.ndarray, b: np.ndarray, cover: np.ndarray, pivots: int) -> Path:
    """``follow`` in one compiled call."""
    n, z = len(b), np.zeros(len(b))
    t = tb.new_tableau(n)
    rows, columns, scaled = np.zeros((3, n))
    code = path(t, A, b, cover, rows, columns, scaled, pivots, z)
    basic = np.zeros(2 * n + 1, bool)
    basic[t.basic] = True
    return Path(z, basic[n : 2 * n], int(code), int(t.state[tb.PIVOTS]))


def covering_vector(n: int, attempt: int) -> np.ndarray:
    """Ones at the first attempt, then reproducible random numbers between 1 and 2."""
    return np.ones(n) if attempt == 0 else 1.0 + np.random.default_rng(attempt).random(n)


def solve_basis(A: np.ndarray, b: np.ndarray, basic: np.ndarray) -> np.ndarray | None:
    """z ≥ 0 with A·z + b = 0 in the basic rows as far as it can be, and z = 0 in the others; None if singular."""
    z = np.zeros(len(b))
    if basic.any():
        block, right = A[np.ix_(basic, basic)], b[basic]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", la.LinAlgWarning)
            factor = la.lu_factor(block, check_finite=False)
            if np.any(np.diag(factor[0]) == 0.0):
                return None
            part = -la.lu_solve(factor, right, check_finite=False)
            part -= la.lu_solve(factor, block @ part + right, check_finite=False)
        z[basic] = np.maximum(0.0, part)
    return z if np.all(np.isfinite(z)) else None


class Answer(NamedTuple):
    """The best end of several paths."""

    z: np.ndarray
    residual: float
    status: Status
    pivots: int


def solve_lcp(
    A: np.ndarray,
    b: np.ndarray,
    judge: Callable[[np.ndarray], float],
    limit: float,
    *,
    pivots: int,
    attempts: int,
    watch: Callable[[np.ndarray], Any] | None = None,
) -> Answer:
    """Follow paths from several covering vectors until ``judge(z) <= limit``."""
    n = len(b)
    best = Answer(np.zeros(n), np.inf, Status.MAX_ITERATIONS, 0)
    for attempt in range(attempts):
        path = follow(A, b, covering_vector(n, attempt), pivots, watch)
        best = best._replace(pivots=best.pivots + path.pivots)
        candidates = [path.z]
        if path.code == tb.SOLVED and judge(path.z) > limit:  # the tableau is too inaccurate to refine with
            candidates += [z for z in (solve_basis(A, b, path.basic),) if z is not None]
        for z in candidates:
            if judge(z) < best.residual:
                best = best._replace(z=z, residual=judge(z), status=STATUS[path.code])
        if best.residual <= limit:
            break
    return best


def check_memory(n: int, memory: float, name: str) -> None:
    needed = 8.0 * n * (n + 2)
    if needed > memory:
        raise InputError(
            f"{name}: a tableau of {n} variables needs {needed / 1e9:.1f} GB, above memory = {memory / 1e9:.1f} GB; "
            "solvers for large sparse problems are 'pgs' and 'fixed-point', or raise memory=… [bytes]"
        )


@dataclass
class PivotingSolver(Solver):
    """Options of solvers that follow Lemke's path."""

    attempts: int = 3
    """Largest number of covering vectors that are tried."""
    memory: float = 4e9
    """Largest size of the tableau [bytes]."""

    iterative: ClassVar[bool] = False
    accepts: ClassVar[bool] = False
    """Whether zero is taken for the answer where its residual is below the limit, or only where it solves the LCP."""

    def core(self, kind: str) -> Core | None:
        if kind != "lcp":
            return None
        own = (float(self.max_iterations or 0), float(self.accepts))
        return Core(lemke_lcp, kind, self.max_iterations or 50 * LARGEST + 50, own, lemke_room, largest=LARGEST)

    def _run(self, problem: Any, z: np.ndarray) -> Outcome:
        """The core follows one path; where that is not enough, others are followed here."""
        return self._solve(problem, z)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.attempts = whole("attempts", self.attempts, 1)
        self.memory = number("memory", self.memory, "a positive number of bytes", above=0.0)


@dataclass
class Lemke(PivotingSolver):
    """Lemke's method for LCPs."""

    summary: ClassVar[str] = "Lemke's complementary pivoting, lexicographic, refined from the final basis"
    reference: ClassVar[str] = "Lemke 1965; Cottle, Pang and Stone 1992, Alg. 4.4.5"
    bibtex: ClassVar[tuple[str, ...]] = ("lemke1965", "cottle1992")
    page: ClassVar[str] = "docs/solvers.md#lemke"
    solves: ClassVar[frozenset[str]] = frozenset({"lcp"})

    def _solve(self, problem: LinearProblem, z: np.ndarray) -> Outcome:
        n, b, limit = problem.n, problem.b, self.limit(problem)
        history: list[float] = []
        if np.all(b >= 0.0):
            return Outcome(np.zeros(n), Status.CONVERGED, 0, np.zeros(int(self.history)))
        check_memory(n, self.memory, "lemke")
        A = problem.dense()

        def judge(z: np.ndarray) -> float:
            return float(tb.lcp_residual(A, b, z))

        for warm in (np.maximum(0.0, z), solve_basis(A, b, z > 0.0)) if np.any(z > 0.0) else ():
            if warm is not None and judge(warm) <= limit:
                return Outcome(warm, Status.CONVERGED, 0, np.full(int(self.history), judge(warm)))
        answer = solve_lcp(
            A,
            b,
            judge,
            limit,
            pivots=self.max_iterations or 50 * n + 50,
            attempts=int(self.attempts),
            watch=(lambda z: history.append(judge(z))) if self.history else None,
        )
        if self.history:
            history[-1] = answer.residual
        return Outcome(answer.z, answer.status, answer.pivots, np.array(history))
