"""The classes of splitting methods on LCP and mixed LCP, over the loops of ``sweeps``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stickslip.errors import expected, number
from stickslip.solvers.base import CODES, Outcome, Solver, Status
from stickslip.solvers.core import LARGEST, Core
from stickslip.solvers.problem import LinearProblem
from stickslip.solvers.splitting import sweep_cores
from stickslip.solvers.splitting.block_lcp import block_work
from stickslip.solvers.splitting.sweep_cores import blocks_room, sweep_blocks
from stickslip.solvers.splitting.sweeps import (
    BEST,
    CHECK,
    LIMIT,
    Box,
    Watch,
    blocks_of,
    iterate_blocks,
    iterate_rows,
    residual,
    rows_of,
)


def ended(code: int, done: int, limit: int) -> Status:
    """The status of a loop's code."""
    return CODES[sweep_cores.ended(code, done, limit)]


def start_watch(z: np.ndarray, first: float, limit: float, step: float, history: int) -> Watch:
    """The state before the first sweep, at residual ``first``."""
    watch = Watch(np.zeros(7), np.zeros(len(z)), np.zeros(history))
    sweep_cores.begin_watch(watch, z, first, limit, step)
    return watch


@dataclass
class SweepingSolver(Solver):
    """Options of solvers that sweep over the rows of a problem."""

    relaxation: float | None = None
    """Part of a block's step that is taken, above 0 and below 2; None: the method's own, smaller where it diverges."""
    patience: int = 500
    """The iteration has stalled if the residual falls by less than a thousandth in so many sweeps."""

    splitting: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.relaxation is not None:
            wanted = "a number above 0 and below 2"
            self.relaxation = number("relaxation", self.relaxation, wanted, above=0.0, below=2.0)
        self.patience = int(number("patience", self.patience, f"a whole number ≥ {CHECK}", least=CHECK))


@dataclass
class SplittingSolver(SweepingSolver):
    """The loop of projected Gauss–Seidel and Jacobi methods."""

    solves: ClassVar[frozenset[str]] = frozenset({"lcp", "mlcp"})
    in_place: ClassVar[bool]
    """Whether a block uses the new values of the blocks before it in the same sweep."""
    default_step: ClassVar[float]
    """Largest relaxation if none is given; it shrinks where the residual grows, and recovers."""

    @property
    def sweeps(self) -> int:
        """Largest number of sweeps."""
        return self.max_iterations or 10_000

    def core(self, kind: str) -> Core | None:
        own = (self.relaxation or 0.0, self.patience, self.default_step, float(self.in_place))
        return Core(sweep_blocks, kind, self.sweeps, own, blocks_room, largest=LARGEST) if kind == "lcp" else None

    def _run(self, problem: Any, z: np.ndarray) -> Outcome:
        if isinstance(problem, LinearProblem) and not problem.blocks:
            return self._solve(problem, z)
        return super()._run(problem, z)

    def _solve(self, problem: LinearProblem, z: np.ndarray) -> Outcome:
        rows, box = rows_of(problem.A), Box(problem.b, problem.lower, problem.upper)
        if not problem.blocks:
            check_diagonal(problem, type(self).__name__.lower())
        z = np.clip(z, problem.lower, problem.upper)
        limit = self.sweeps
        watch = start_watch(
            z,
            float(residual(rows, box, z)),
            self.limit(problem),
            self.relaxation or self.default_step,
            limit + 1 if self.history else 0,
        )
        if watch.real[BEST] <= watch.real[LIMIT]:
            return Outcome(z, Status.CONVERGED, 0, watch.history[:1])
        out = z if self.in_place else z.copy()
        adaptive = self.relaxation is None
        if problem.blocks:
            boxes = (np.isfinite(problem.lower) & np.isfinite(problem.upper)).astype(int)
            work = block_work(max(len(block) + int(boxes[block].sum()) for block in problem.blocks))
            blocks = blocks_of(problem)
            code, done = iterate_blocks(rows, box, blocks, z, out, watch, work, limit, self.patience, adaptive)
        else:
            diagonal = np.ascontiguousarray(problem.A.diagonal(), dtype=float)
            code, done = iterate_rows(rows, box, diagonal, z, out, watch, limit, self.patience, adaptive)
        return Outcome(watch.best, ended(code, done, limit), int(done), watch.history[: done + 1])


def check_diagonal(problem: LinearProblem, name: str) -> None:
    """Raise an InputError if the diagonal, which sweeps by rows divide by, is not positive."""
    diagonal = problem.A.diagonal()
    bad = np.flatnonzero((diagonal <= 0.0) & (np.isfinite(problem.lower) | np.isfinite(problem.upper)))
    bad = np.union1d(bad, np.flatnonzero(diagonal == 0.0))
    if len(bad):
        i = int(bad[0])
        raise expected(
            f"{name}: the diagonal of A",
            "positive numbers, or blocks",
            f"{diagonal[i]:g} in row {i} ({len(bad)} such rows)",
            "give LinearProblem(…, blocks=…) so that a contact's normal, friction and slip are solved together, or "
            "choose 'lemke' or 'pivot'",
        )
