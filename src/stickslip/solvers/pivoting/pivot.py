"""Pivoting for mixed LCPs: a block pivot eliminates free variables, and Lemke's method solves the LCP that is left.

With the bounds moved to zero, y = ±(z − bound), free variables f and bounded ones p,

    0 = A_ff·y_f + A_fp·y_p + b_f,        y_f = −A_ff⁻¹·(A_fp·y_p + b_f),
    S = A_pp − A_pf·A_ff⁻¹·A_fp,          q = b_p − A_pf·A_ff⁻¹·b_f,

which is a principal block pivot on the free variables; the rest is an LCP of (S, q). An upper bound u adds a
multiplier: 0 ≤ y ⟂ S·y + q + λ ≥ 0, 0 ≤ λ ⟂ u − y ≥ 0. Cottle, Pang and Stone, Secs. 1.5 and 2.3.

Redundant equations (joints that say the same twice) make A_ff singular. The largest regular block is then eliminated.
Equations that are left over are dropped if they say 0 = 0, else their variables enter the LCP as pairs y⁺ − y⁻.

Cost: LU of the free block (sparse for CSR matrices), a dense S, and Lemke's pivots of its size.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from stickslip.solvers import residuals
from stickslip.solvers.base import Outcome, Status
from stickslip.solvers.pivoting.lemke import PivotingSolver, check_memory, solve_lcp
from stickslip.solvers.problem import LinearProblem

RANK_TOLERANCE = 1e-11
"""Smaller pivots of the free block count as zero, relative to the largest one."""


class _Factor:
    """A factor of the free block: sparse LU, dense LU, or that of the largest regular part of a singular block."""

    def __init__(self, block: Any) -> None:
        self.size = block.shape[0]
        self.rows = self.columns = np.arange(self.size)
        self.solve: Any = np.copy
        if not self.size or (sp.issparse(block) and self._sparse(block)):
            return
        dense = block.toarray() if sp.issparse(block) else block
        if not self._dense(dense):
            self._choose(dense)
            self.solve = np.copy
            if len(self.rows):
                self._dense(dense[np.ix_(self.rows, self.columns)])

    def _sparse(self, block: Any) -> bool:
        try:
            factor = spla.splu(sp.csc_array(block))
        except RuntimeError:  # exactly singular
            return False
        pivots = np.abs(factor.U.diagonal())
        self.solve = factor.solve
        return bool(pivots.min() > RANK_TOLERANCE * pivots.max())

    def _dense(self, block: np.ndarray) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", la.LinAlgWarning)
            factor = la.lu_factor(block, check_finite=False)
        pivots = np.abs(np.diag(factor[0]))
        self.solve = lambda right: la.lu_solve(factor, right, check_finite=False)
        return bool(np.min(pivots, initial=np.inf) > RANK_TOLERANCE * np.max(pivots, initial=0.0))

    def _choose(self, block: np.ndarray) -> None:
        """Independent columns by QR with pivoting, then independent rows of those."""
        _, R, order = la.qr(block, pivoting=True, mode="economic", check_finite=False)
        pivots = np.abs(np.diag(R))
        rank = int(np.sum(pivots > RANK_TOLERANCE * max(pivots[0], np.finfo(float).tiny)))
        self.columns = np.sort(order[:rank])
        self.rows = np.sort(la.qr(block[:, self.columns].T, pivoting=True, mode="r", check_finite=False)[1][:rank])


class _Reduced:
    """The LCP that is left, and the way back; ``status`` is SINGULAR if equations contradict each other."""

    def __init__(self, problem: LinearProblem) -> None:
        lower, upper = problem.lower, problem.upper
        self.status: Status | None = None
        below, above, fixed = np.isfinite(lower), np.isfinite(upper), lower == upper
        self.shift = np.where(below, lower, np.where(above, upper, 0.0))
        self.sign = np.where(~below & above, -1.0, 1.0)
        free, bounded = np.flatnonzero(~below & ~above), np.flatnonzero((below | above) & ~fixed)
        b = self.sign * problem.function(self.shift)
        if problem.sparse:
            signs = sp.diags_array(self.sign)
            A = sp.csr_array(signs @ problem.A @ signs)
        else:
            A = self.sign[:, None] * problem.A * self.sign

        def block(rows: np.ndarray, columns: np.ndarray) -> Any:
            return A[rows][:, columns]

        self.factor = _Factor(block(free, free))
        pivot_rows, pivot_columns = free[self.factor.rows], free[self.factor.columns]
        left_rows, left_columns = np.setdiff1d(free, pivot_rows), np.setdiff1d(free, pivot_columns)
        self.columns = np.r_[bounded, left_columns]
        self.pivot_columns = pivot_columns
        rows = np.r_[bounded, left_rows]
        fill = block(pivot_rows, self.columns)
        self.X = self.factor.solve(fill.toarray() if sp.issparse(fill) else fill)
        self.x = self.factor.solve(b[pivot_rows])
        coupling, kept = block(rows, pivot_columns), block(rows, self.columns)
        S = (kept.toarray() if sp.issparse(kept) else kept) - coupling @ self.X
        q = b[rows] - coupling @ self.x
        entries = A.data if problem.sparse else A
        self._extend(S, q, len(bounded), (upper - lower)[bounded], float(np.max(np.abs(entries), initial=0.0)))

    def _extend(self, S: np.ndarray, q: np.ndarray, nb: int, width: np.ndarray, size: float) -> None:
        """Add multipliers of upper bounds, and pairs for equations that could not be eliminated."""
        equations = np.arange(nb, len(q))
        zero = np.all(np.abs(S[nb:]) <= 1e3 * RANK_TOLERANCE * size, axis=1)
        if np.any(np.abs(q[nb:][zero]) > 1e-9 * max(1.0, float(np.max(np.abs(q), initial=0.0)))):
            self.status = Status.SINGULAR
        keep = equations[~zero]  # an equation 0 = 0 goes, and the free variable in its place is 0
        chosen = np.r_[np.arange(nb), keep]
        boxes = np.flatnonzero(np.isfinite(width))
        nk, nu = len(keep), len(boxes)
        total = nb + 2 * nk + nu
        self.A, self.b = np.zeros((total, total)), np.zeros(total)
        self.A[: nb + nk, : nb + nk] = S[np.ix_(chosen, chosen)]
        self.b[: nb + nk] = q[chosen]
        mirror = slice(nb + nk, nb + 2 * nk)
        self.A[mirror] = -self.A[nb : nb + nk]
        self.A[:, mirror] = -self.A[:, nb : nb + nk]
        self.b[mirror] = -q[keep]
        self.A[boxes, total - nu + np.arange(nu)] = 1.0
        self.A[total - nu + np.arange(nu), boxes] = -1.0
        self.b[total - nu :] = width[boxes]
        self.nb, self.keep, self.nk = nb, keep, nk

    def back(self, y: np.ndarray) -> np.ndarray:
        """z of the original problem from the solution y of the LCP."""
        part = np.zeros(len(self.columns))
        part[: self.nb] = y[: self.nb]
        part[self.keep] = y[self.nb : self.nb + self.nk] - y[self.nb + self.nk : self.nb + 2 * self.nk]
        z = np.zeros(len(self.shift))
        z[self.columns] = part
        z[self.pivot_columns] = -(self.X @ part + self.x)
        return self.shift + self.sign * z


def _on_basis(problem: LinearProblem, z: np.ndarray) -> np.ndarray | None:
    """z with A·z + b = 0 in the rows of all variables strictly between their bounds, the others unchanged."""
    inside = np.flatnonzero((z > problem.lower) & (z < problem.upper))
    factor = _Factor(problem.A[inside][:, inside])
    if len(factor.rows) < len(inside):
        return None
    better = z.copy()
    for _ in range(2):
        better[inside] -= factor.solve(problem.function(better)[inside])
    return np.clip(better, problem.lower, problem.upper)


@dataclass
class Pivot(PivotingSolver):
    """Block elimination of free variables, then Lemke's method."""

    summary: ClassVar[str] = "pivoting for mixed LCPs: free variables eliminated, boxes extended, then Lemke"
    reference: ClassVar[str] = "Cottle, Pang and Stone 1992, Secs. 1.5, 2.3 and 4.4"
    bibtex: ClassVar[tuple[str, ...]] = ("cottle1992",)
    page: ClassVar[str] = "docs/solvers.md#pivot"
    accepts: ClassVar[bool] = True
    solves: ClassVar[frozenset[str]] = frozenset({"lcp", "mlcp"})

    def _solve(self, problem: LinearProblem, z: np.ndarray) -> Outcome:
        limit = self.limit(problem)
        start = np.clip(z, problem.lower, problem.upper)
        if residuals.natural(problem, start) <= limit:
            return Outcome(start, Status.CONVERGED, 0, np.full(int(self.history), residuals.natural(problem, start)))
        if np.any(z):
            warm = _on_basis(problem, start)
            if warm is not None and residuals.natural(problem, warm) <= limit:
                return Outcome(warm, Status.CONVERGED, 0, np.full(int(self.history), residuals.natural(problem, warm)))
        bounded = np.isfinite(problem.lower) | np.isfinite(problem.upper)
        check_memory(int(bounded.sum() + np.sum(np.isfinite(problem.upper - problem.lower))), self.memory, "pivot")
        reduced = _Reduced(problem)
        if reduced.status is not None:
            return Outcome(
                reduced.back(np.zeros(len(reduced.b))), reduced.status, 0, np.full(int(self.history), np.inf)
            )
        history: list[float] = []

        def judge(y: np.ndarray) -> float:
            return residuals.natural(problem, reduced.back(y))

        answer = solve_lcp(
            reduced.A,
            reduced.b,
            judge,
            limit,
            pivots=self.max_iterations or 50 * len(reduced.b) + 50,
            attempts=int(self.attempts),
            watch=(lambda y: history.append(judge(y))) if self.history else None,
        )
        best, least = reduced.back(answer.z), answer.residual
        if answer.status is Status.CONVERGED and least > limit:
            better = _on_basis(problem, np.clip(best, problem.lower, problem.upper))
            if better is not None and (size := residuals.natural(problem, better)) < least:
                best, least = better, size
        if self.history:
            history[-1] = least
        return Outcome(best, answer.status, answer.pivots, np.array(history))
