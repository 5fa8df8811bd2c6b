"""A problem scaled to a matrix with unit diagonal, for Newton and interior-point methods.

With z = S·y, lower and upper likewise, and w = S·F(z): complementarity is the same, the matrix is S·A·S (n, n). S is
1/√A_ii; where the diagonal is not positive (slip speeds of a contact LCP), the largest entry of row and column becomes
1. Mass ratios are thereby scaled away. Nonlinear problems keep their units. A dense matrix that is nearly empty becomes
CSR.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from stickslip._jit import kernel
from stickslip.solvers.newton.complementarity import natural_size
from stickslip.solvers.problem import LinearProblem, NonlinearProblem

LARGE, NEARLY_EMPTY = 500, 0.05
"""Unknowns from which, and share of entries up to which, a dense matrix is treated as sparse."""


@kernel
def _dense_scale(A, scaled, s):
    """diag(s)·A·diag(s) into scaled (n, n)."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            scaled[i, j] = s[i] * A[i, j] * s[j]


@kernel
def _count_entries(A, start):
    """Where each row's entries begin in a CSR array of A, start (n + 1,)."""
    start[0] = 0
    for i in range(A.shape[0]):
        number = 0
        for j in range(A.shape[1]):
            number += A[i, j] != 0.0
        start[i + 1] = start[i] + number


@kernel
def _gather_entries(A, s, start, columns, data):
    """diag(s)·A·diag(s) as CSR."""
    for i in range(A.shape[0]):
        k = start[i]
        for j in range(A.shape[1]):
            if A[i, j] != 0.0:
                columns[k], data[k] = j, s[i] * A[i, j] * s[j]
                k += 1


def scaled_matrix(A: Any, s: np.ndarray) -> Any:
    """diag(s)·A·diag(s), CSR also where a dense A is large and nearly empty: its LU is then several times faster."""
    if sp.issparse(A):
        data = np.repeat(s, np.diff(A.indptr)) * A.data * s[A.indices]
        return sp.csr_array((data, A.indices, A.indptr), shape=A.shape)
    if len(s) >= LARGE:
        start = np.empty(len(s) + 1, dtype=np.int64)
        _count_entries(A, start)
        if start[-1] < NEARLY_EMPTY * A.size:
            columns, data = np.empty(start[-1], dtype=np.int64), np.empty(start[-1])
            _gather_entries(A, s, start, columns, data)
            return sp.csr_array((data, columns, start), shape=A.shape)
    scaled = np.empty_like(A)
    _dense_scale(A, scaled, s)
    return scaled


@kernel
def _see(largest, s, i, j, entry):
    """Record an entry of row i and column j for those of the two that have no scale yet."""
    if s[i] == 0.0:
        largest[i] = max(largest[i], abs(entry) * s[j])
    if s[j] == 0.0:
        largest[j] = max(largest[j], abs(entry) * s[i])


@kernel
def _dense_neighbours(A, rest, s, largest):
    for i in rest:
        for j in range(s.shape[0]):
            _see(largest, s, i, j, A[i, j])
            _see(largest, s, j, i, A[j, i])


@kernel
def _sparse_neighbours(indptr, indices, data, s, largest):
    for i in range(s.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            _see(largest, s, i, indices[k], data[k])


def scaling(A: Any) -> np.ndarray:
    """(n,) S."""
    diagonal = A.diagonal()
    positive = diagonal > 0.0
    s = np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)
    rest = np.flatnonzero(~positive)
    if len(rest):
        largest = np.zeros(len(s))
        if sp.issparse(A):
            _sparse_neighbours(A.indptr, A.indices, A.data, s, largest)
        else:
            _dense_neighbours(A, rest, s, largest)
        s[rest] = 1.0 / np.where(largest[rest] > 0.0, largest[rest], 1.0)
    return s


@kernel
def scale_rows(A, b, s, largest, scaled, constant):
    """``scaling`` of a dense A into s (n,), and A and b in scaled units; ``largest`` (n,) is scratch."""
    n = s.shape[0]
    for i in range(n):
        s[i] = 1.0 / A[i, i] ** 0.5 if A[i, i] > 0.0 else 0.0
        largest[i] = 0.0
    for i in range(n):
        if not A[i, i] > 0.0:
            for j in range(n):
                _see(largest, s, i, j, A[i, j])
                _see(largest, s, j, i, A[j, i])
    for i in range(n):
        if not A[i, i] > 0.0:
            s[i] = 1.0 / largest[i] if largest[i] > 0.0 else 1.0
        constant[i] = s[i] * b[i]
    _dense_scale(A, scaled, s)


class Scaled:
    """F, its matrix and the bounds in scaled units."""

    def __init__(self, problem: LinearProblem | NonlinearProblem) -> None:
        self.problem = problem
        self.linear = isinstance(problem, LinearProblem)
        self.scale = np.ones(problem.n)
        if isinstance(problem, LinearProblem):
            self.scale = s = scaling(problem.A)
            self._matrix = scaled_matrix(problem.A, s)
            self._constant = s * problem.b
        self.lower, self.upper = problem.lower / self.scale, problem.upper / self.scale

    def function(self, y: np.ndarray) -> np.ndarray:
        if self.linear:
            return self._matrix @ y + self._constant
        return np.asarray(self.problem.function(y), dtype=float)

    def matrix(self, y: np.ndarray) -> Any:
        """(n, n) dense C-ordered or CSR."""
        if self.linear:
            return self._matrix
        J = self.problem.jacobian(y)
        if not sp.issparse(J):
            return np.ascontiguousarray(J, dtype=float)
        J = sp.csr_array(J)
        J.sum_duplicates()  # and sort, because products are unsorted
        return J

    def natural(self, y: np.ndarray, w: np.ndarray) -> float:
        """‖natural map‖∞ in the problem's own units."""
        size = natural_size(y, w, self.lower, self.upper, self.scale)
        return float(size) if size == size else np.inf

    def size(self) -> float:
        """Largest entry of the constant term, which residuals are relative to; 1 if there is none."""
        largest = float(np.max(np.abs(self._constant))) if self.linear else 0.0
        return largest if largest > 0.0 else 1.0
