"""Elimination of bilateral rows from u = W·p + b, which leaves the problem of the contacts.

    [W_bb W_bc] [p_b]   [b_b]   [0  ]          W' = W_cc − W_cb·W_bb⁻¹·W_bc,   b' = b_c − W_cb·W_bb⁻¹·b_b
    [W_cb W_cc]·[p_c] + [b_c] = [u_c]          p_b = −W_bb⁻¹·(b_b + W_bc·p_c)

Soft rows have their compliance on the diagonal of W_bb. It is singular where joint rows depend on each other (closed
loops, doubled constraints). Then the smallest impulses are taken, by a pseudo-inverse or, for many rows, by
regularisation and refinement. W' is CSR if W is, unless it is small or mostly full (``storage``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from stickslip.solvers.problem import ConeProblem, FrictionProblem
from stickslip.solvers.storage import compact

JointSolver = Callable[[np.ndarray], np.ndarray | None]

DENSE = 600
"""Largest number of joint rows for which a sparse W_bb is factored as a dense matrix."""
SINGULAR = 1e-12
"""A matrix with unit diagonal is singular if a pivot is below this."""
DELTA, REFINEMENTS = 1e-8, 3
"""Regularisation of a singular matrix with unit diagonal, and the number of refinements that remove its effect."""


@dataclass(frozen=True)
class Elimination:
    """The problem that is left when the first nb rows are eliminated."""

    W: Any
    """(3nc, 3nc) W'."""
    b: np.ndarray
    """(3nc,) b'."""
    fixed: np.ndarray
    """(nb,) −W_bb⁻¹·b_b."""
    response: Any
    """(nb, 3nc) −W_bb⁻¹·W_bc."""

    def joints(self, contact_impulses: np.ndarray) -> np.ndarray:
        """(nb,) p_b."""
        return self.fixed + self.response @ contact_impulses


def eliminate(W, b: np.ndarray, nb: int, solve_joints: JointSolver | None = None) -> Elimination:
    """Eliminate the first nb rows. ``solve_joints`` multiplies a matrix by W_bb⁻¹ where that is known without W_bb. A
    sparse W leaves a sparse W' unless that is mostly full."""
    if nb == 0:
        return Elimination(W, b, np.zeros(0), np.zeros((0, len(b))))
    if sp.issparse(W):
        return _eliminate_sparse(W, b, nb, solve_joints)
    Wbb, Wbc = W[:nb, :nb], W[:nb, nb:]
    right = np.column_stack([Wbc, b[:nb]])
    known = None if solve_joints is None else solve_joints(right)
    return _left(W[nb:, nb:], Wbc, b[nb:], -(_solve(Wbb, right) if known is None else known))


def _eliminate_sparse(W, b: np.ndarray, nb: int, solve_joints: JointSolver | None) -> Elimination:
    """Sparse version: only the columns of W_bc of contacts whose bodies have joints are not empty."""
    Wbc, across = sp.csc_array(W[:nb, nb:]), sp.csr_array(W[nb:, :nb])
    touched = np.flatnonzero(np.diff(Wbc.indptr))
    right = np.column_stack([Wbc[:, touched].toarray(), b[:nb]])
    solved = None if solve_joints is None else solve_joints(right)
    if solved is None:
        Wbb = W[:nb, :nb]
        solved = _solve(Wbb.toarray(), right) if nb <= DENSE else _solve_sparse(sp.csc_array(Wbb), right)
    fixed, seen = -solved[:, -1], sp.coo_array(-solved[:, :-1])
    response = sp.csr_array((seen.data, (seen.row, touched[seen.col])), shape=Wbc.shape)
    left = W[nb:, nb:] + across @ response
    return Elimination(compact(0.5 * (left + left.T)), b[nb:] + across @ fixed, fixed, response)


def _left(Wcc: np.ndarray, Wbc: np.ndarray, b: np.ndarray, solved: np.ndarray) -> Elimination:
    """The elimination from −W_bb⁻¹·(W_bc, b_b)."""
    response, fixed = solved[:, :-1], solved[:, -1]
    left = Wcc + Wbc.T @ response
    return Elimination(0.5 * (left + left.T), b + Wbc.T @ fixed, fixed, response)


def _solve(A: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A⁻¹·right, by a pseudo-inverse if A is singular; the test does not depend on the units of rows."""
    try:
        factor = la.cho_factor(A, lower=True)
        if np.all(np.diag(factor[0]) ** 2 > SINGULAR * np.diag(A)):
            return la.cho_solve(factor, right)
    except la.LinAlgError:
        pass
    return la.pinvh(A, rtol=SINGULAR) @ right


def _solve_sparse(A: sp.csc_array, right: np.ndarray) -> np.ndarray:
    """A⁻¹·right by a sparse LU. If A is singular, A + δ·diag(A) is factored, and refinement removes the effect of δ:
    redundant rows get the smallest impulses in the norm of A's diagonal."""
    diagonal = A.diagonal()
    unit = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = sp.csc_array(sp.diags_array(unit) @ A @ sp.diags_array(unit))
    right = unit[:, None] * right
    try:
        factor = _symmetric_lu(scaled)
        if np.min(np.abs(factor.U.diagonal())) > SINGULAR:
            return unit[:, None] * factor.solve(right)
    except RuntimeError:  # "Factor is exactly singular"
        pass
    factor = _symmetric_lu(sp.csc_array(scaled + DELTA * sp.eye_array(len(diagonal))))
    x = factor.solve(right)
    for _ in range(REFINEMENTS):
        x += factor.solve(right - scaled @ x)
    return unit[:, None] * x


def _symmetric_lu(A: sp.csc_array) -> Any:
    return splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def without_bilateral(
    problem: FrictionProblem | ConeProblem,
) -> tuple[FrictionProblem | ConeProblem, Elimination | None]:
    """The problem of the contacts alone, and the elimination that led to it; None if there are no bilateral rows."""
    nb = problem.bilateral
    if nb == 0:
        return problem, None
    if isinstance(problem, FrictionProblem):
        left = eliminate(problem.W, problem.b, nb)
        return FrictionProblem(left.W, left.b, problem.friction), left
    soft = np.concatenate([problem.regularisation[:nb], np.zeros(problem.n - nb)])
    W = problem.W + (sp.diags_array(soft) if problem.sparse else np.diag(soft))
    left = eliminate(sp.csr_array(W) if problem.sparse else W, problem.b, nb)
    return ConeProblem(left.W, left.b, problem.friction, problem.regularisation[nb:]), left
