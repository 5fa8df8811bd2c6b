"""The fixed-point (prox) iteration: z ← π(z − r·F(z)), π the projection onto the bounds or the friction cones.

z solves the problem exactly if it is a fixed point, whatever r > 0 each row has. For bounds, π is mid(lower, ·, upper).
For contacts with the circular cone, per contact and with u = W·p + b,

    p_n ← max(0, p_n − r_n·u_n),        p_t ← the point nearest to p_t − r_t·u_t of the disk of radius μ·p_n,

and p ← p − r·u of bilateral rows. r is 1/(diagonal) in Gauss–Seidel order, where a row sees what was just found, and
1/(sum of |entries| of the row) in Jacobi order; the two tangents of a contact share one r, so that the prox is a
projection. All r shrink by a common factor where the residual grows, and recover where it falls.

After Foerg, Neumann and Ulbrich (2006) and Studer, Numerics of Unilateral Contacts and Friction (2009). Differs from
them in: r is not estimated from spectra of local blocks.

One sweep costs as many multiply-adds as the matrix has stored entries. Nonlinear problems are iterated in Jacobi order,
r from the rows of the Jacobian at the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stickslip.errors import one_of
from stickslip.solvers import residuals
from stickslip.solvers.base import Outcome, Status
from stickslip.solvers.core import Core
from stickslip.solvers.problem import FrictionProblem, LinearProblem, NonlinearProblem
from stickslip.solvers.splitting.prox import iterate_contacts
from stickslip.solvers.splitting.splitting_solver import SweepingSolver, ended, start_watch
from stickslip.solvers.splitting.sweep_cores import prox_contacts, prox_lcp, prox_room
from stickslip.solvers.splitting.sweeps import (
    BEST,
    LIMIT,
    RUNNING,
    STEP,
    Box,
    Watch,
    iterate_rows,
    look,
    rows_of,
)

ORDERS = ("gauss-seidel", "jacobi")
SWEEPS = 10_000
"""Default of ``max_iterations``."""


def _row_sums(A: Any) -> np.ndarray:
    return np.asarray(np.abs(A).sum(axis=1), dtype=float).ravel()


@dataclass
class FixedPoint(SweepingSolver):
    """The fixed-point iteration in Gauss–Seidel or Jacobi order; ``relaxation`` is a factor on all r."""

    order: str = "gauss-seidel"
    """"gauss-seidel" or "jacobi"."""

    summary: ClassVar[str] = "the fixed-point (prox) iteration, also for circular friction cones and nonlinear problems"
    reference: ClassVar[str] = "Foerg, Neumann and Ulbrich 2006; Studer 2009"
    bibtex: ClassVar[tuple[str, ...]] = ("studer2009",)
    page: ClassVar[str] = "docs/solvers.md#fixed-point"
    solves: ClassVar[frozenset[str]] = frozenset({"lcp", "mlcp", "ncp"})
    prefers_cones: ClassVar[bool] = True  # the slip speeds of polygons have no diagonal

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("order", self.order, ORDERS)

    def core(self, kind: str) -> Core | None:
        own = (self.relaxation or 0.0, self.patience, 1.0, float(self.order == "gauss-seidel"))
        function = prox_lcp if kind == "lcp" else prox_contacts
        return Core(function, kind, self.max_iterations or SWEEPS, own, prox_room, sparse=kind == "cones")

    def _solve(self, problem: LinearProblem | NonlinearProblem | FrictionProblem, z: np.ndarray) -> Outcome:
        if not isinstance(problem, FrictionProblem):
            z = np.clip(z, problem.lower, problem.upper)
        limit = self.max_iterations or SWEEPS
        first = residuals.natural(problem, z)
        steps = limit + 1 if self.history else 0
        watch = start_watch(z, first, self.limit(problem), self.relaxation or 1.0, steps)
        if watch.real[BEST] <= watch.real[LIMIT]:
            return Outcome(z, Status.CONVERGED, 0, watch.history[:1])
        out = z if self.order == "gauss-seidel" else z.copy()
        adaptive = self.relaxation is None
        if isinstance(problem, FrictionProblem):
            code, done = iterate_contacts(
                rows_of(problem.W), problem.b, problem.friction, self._contact_r(problem), z, out, watch, limit,
                self.patience, adaptive,
            )  # fmt: skip
        elif isinstance(problem, LinearProblem):
            box = Box(problem.b, problem.lower, problem.upper)
            inverse_r = 1.0 / self._r(problem.A)
            code, done = iterate_rows(
                rows_of(problem.A), box, inverse_r, z, out, watch, limit, self.patience, adaptive
            )  # fmt: skip
        else:
            code, done = self._nonlinear(problem, z, watch, limit)
        return Outcome(watch.best, ended(code, done, limit), int(done), watch.history[: done + 1])

    def _r(self, A: Any) -> np.ndarray:
        """(n,) r of every row; 1 where a row is empty."""
        sums, diagonal = _row_sums(A), np.asarray(A.diagonal(), dtype=float)
        size = np.where(diagonal > 0.0, diagonal, sums) if self.order == "gauss-seidel" else sums
        return 1.0 / np.where(size > 0.0, size, 1.0)

    def _contact_r(self, problem: FrictionProblem) -> np.ndarray:
        """(n,) the same r for both tangents of a contact."""
        r = self._r(problem.W)
        tangents = r[problem.bilateral :].reshape(-1, 3)[:, 1:]
        tangents[:] = tangents.min(axis=1, keepdims=True)
        return r

    def _nonlinear(self, problem: NonlinearProblem, z: np.ndarray, watch: Watch, limit: int) -> tuple[int, int]:
        sums = _row_sums(problem.jacobian(z))
        r = 1.0 / np.where(sums > 0.0, sums, 1.0)
        for done in range(1, limit + 1):
            z[:] = np.clip(z - watch.real[STEP] * r * problem.function(z), problem.lower, problem.upper)
            size = residuals.natural(problem, z)
            code = look(size, z, watch, done, self.patience, self.relaxation is None)
            if code != RUNNING:
                return int(code), done
        return RUNNING, limit
