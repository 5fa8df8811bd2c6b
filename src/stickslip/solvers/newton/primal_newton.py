"""Newton's method on the relaxed contact problem's primal cost (``primal``), with an exact line search.

The Hessian in joint space, M + Gᵀ·∇²s·G with ∇²s = E·Eᵀ (the sliding zone included), is inverted through the contacts:
with r = p − q (n,) and k columns of E (3 per sticking contact, 2 per sliding one, 1 per bilateral row),

    d = r − E·t,    (1 + Eᵀ·W·E)·t = Eᵀ·W·r,    q ← q + α·d.

Symmetric positive definite of size k ≤ n, whatever W's rank. Cost per iteration: one Cholesky factorisation, k³/3, and
two products by W, n² each; W as CSR: SuperLU's fill-in, and the stored entries. Quadratic convergence where no contact
changes its zone.

Reference: Todorov, ICRA 2014; MuJoCo's documentation, "Computation: Algorithms".
Differs from MuJoCo in: contact space instead of joint space; rows without R (``primal``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from stickslip.solvers.newton.linear_systems import NewtonSystem
from stickslip.solvers.newton.primal import Primal
from stickslip.solvers.newton.primal_core import Cost
from stickslip.solvers.newton.primal_cost import columns, curvature, hessian
from stickslip.solvers.problem import ConeProblem


@dataclass
class PrimalNewton(Primal):
    """Newton's method on velocities."""

    summary: ClassVar[str] = "primal Newton with exact line search on the relaxed problem; dense or sparse"
    reference: ClassVar[str] = "Todorov 2014; Castro, Permenter and Han 2022"
    bibtex: ClassVar[tuple[str, ...]] = ("todorov2014", "castro2023")
    page: ClassVar[str] = "docs/solvers.md#newton"
    least: ClassVar[float] = 1e-7
    shrink: ClassVar[float] = 1e-2
    share: ClassVar[float] = 0.1
    usual_limit: ClassVar[int] = 500
    newton: ClassVar[bool] = True

    def _direction(self, problem: ConeProblem, c: Cost) -> None:
        curvature(c.y, c.R, c.friction, problem.bilateral, c.p, c.E, c.width)
        k = columns(c.width, problem.bilateral, c.E, c.start, c.column, c.data)
        super()._direction(problem, c)
        if k == 0:
            return
        used = int(c.start[-1])
        E = sp.csr_array((c.data[:used], c.column[:used], c.start), shape=(problem.n, k))
        right = E.T @ c.Wr
        c.d[:] -= E @ (_sparse(problem.W, E, right) if problem.sparse else _dense(problem.W, c, right))
        c.Wd[:] = problem.W @ c.d


def _sparse(W: Any, E: sp.csr_array, right: np.ndarray) -> np.ndarray:
    """t of a CSR W, by SuperLU."""
    K, k = sp.csr_array(E.T @ (W @ E)), len(right)
    K.sort_indices()
    return NewtonSystem("direct", k).solve(K, np.arange(k), np.ones(k), right, 0.0)


def _dense(W: np.ndarray, c: Cost, right: np.ndarray) -> np.ndarray:
    """t of a dense W, by LAPACK."""
    k = len(right)
    K = np.empty((k, k))
    hessian(W, c.start, c.column, c.data, K)
    factor, wrong = lapack.dpotrf(K.T, lower=0, overwrite_a=1)  # LAPACK stores by columns
    if wrong:  # by rounding, if W is far from definite
        return np.zeros(k)
    return lapack.dpotrs(factor, right, lower=0)[0]
