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

from stickslip._jit import kernel
from stickslip.errors import one_of
from stickslip.solvers import residuals
from stickslip.solvers.base import Outcome, Status
from stickslip.solvers.contact_natural import coulomb_natural
from stickslip.solvers.problem import FrictionProblem, LinearProblem, NonlinearProblem
from stickslip.solvers.splitting.sweeps import (
    BEST,
    CHECK,
    LIMIT,
    RUNNING,
    STEP,
    Box,
    SweepingSolver,
    Watch,
    ended,
    iterate_rows,
    look,
    row_times,
    rows_of,
    start_watch,
)

ORDERS = ("gauss-seidel", "jacobi")


@kernel
def friction_residual(rows, b, mu, z):
    """‖natural map‖∞ of the circular-cone problem."""
    nb, largest = b.shape[0] - 3 * mu.shape[0], 0.0
    for i in range(nb):
        size = abs(b[i] + row_times(rows, i, z))
        if not size <= largest:
            largest = size
    for c in range(mu.shape[0]):
        i = nb + 3 * c
        u0, u1 = b[i] + row_times(rows, i, z), b[i + 1] + row_times(rows, i + 1, z)
        u2 = b[i + 2] + row_times(rows, i + 2, z)
        size = coulomb_natural(z[i], z[i + 1], z[i + 2], u0, u1, u2, mu[c])
        if not size <= largest:
            largest = size
    return largest


@kernel
def iterate_contacts(rows, b, mu, r, z, out, watch, limit, patience, adaptive):
    """Do at most ``limit`` sweeps of the prox iteration; ``out`` is z itself or not. Returns (code, sweeps done)."""
    every = 1 if watch.history.shape[0] > 0 else CHECK
    nb = b.shape[0] - 3 * mu.shape[0]
    for done in range(1, limit + 1):
        step = watch.real[STEP]
        for i in range(nb):
            out[i] = z[i] - step * r[i] * (b[i] + row_times(rows, i, z))
        for c in range(mu.shape[0]):
            i = nb + 3 * c
            out[i] = max(0.0, z[i] - step * r[i] * (b[i] + row_times(rows, i, z)))
            t1 = z[i + 1] - step * r[i + 1] * (b[i + 1] + row_times(rows, i + 1, z))
            t2 = z[i + 2] - step * r[i + 2] * (b[i + 2] + row_times(rows, i + 2, z))
            length, radius = np.hypot(t1, t2), mu[c] * out[i]
            shrink = radius / length if length > radius else 1.0
            out[i + 1], out[i + 2] = t1 * shrink, t2 * shrink
        for i in range(z.shape[0]):
            z[i] = out[i]
        if done % every == 0 or done == limit:
            code = look(friction_residual(rows, b, mu, z), z, watch, done, patience, adaptive)
            if code != RUNNING:
                return code, done
    return RUNNING, limit


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

    def _solve(self, problem: LinearProblem | NonlinearProblem | FrictionProblem, z: np.ndarray) -> Outcome:
        if not isinstance(problem, FrictionProblem):
            z = np.clip(z, problem.lower, problem.upper)
        limit = self.max_iterations or 10_000
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
