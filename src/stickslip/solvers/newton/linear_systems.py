"""The linear systems of Newton and interior-point methods: (D + A_KK)·x = r for a subset K of rows, D diagonal ≥ 0.

Rows outside K are those whose variable is known without them, so that the system is as small as the active set:
A (n, n) dense or CSR, K (k,). Dense: LAPACK's LU of a k×k matrix, 2k³/3 operations. CSR: SuperLU with minimum-degree
ordering and pivots from the diagonal, refined. Iterative: GMRES or BiCGStab with the diagonal as preconditioner, which
only ever multiply by A: the matrix of the system is not formed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, bicgstab, gmres, splu

from stickslip._jit import kernel
from stickslip.errors import one_of

SUBSOLVERS = ("auto", "direct", "gmres", "bicgstab")
DIRECT_UP_TO = 200_000
"""Unknowns of a sparse problem up to which "auto" takes the direct method."""
PIVOTS = (1e-8, 0.1)
"""Smallest diagonal entry that serves as a pivot, relative to the largest of its column: off-diagonal pivots fill the
factors up, tenfold and more. The second is for systems that the first leaves inaccurate."""
ACCURATE = 1e-6
"""Residual of a sparse system, relative to its right-hand side, that needs no second factor."""


def check_subsolver(name: str) -> None:
    one_of("subsolver", name, SUBSOLVERS)


@kernel
def _dense_part(A, keep, diagonal, K):
    for i in range(keep.shape[0]):
        row = keep[i]
        for j in range(keep.shape[0]):
            K[i, j] = A[row, keep[j]]
        K[i, i] += diagonal[i]


@kernel
def _count_part(indptr, indices, keep, where, start):
    """where (n,): position of a row within keep, −1 outside; start (k + 1,): a diagonal entry is always there."""
    for i in range(where.shape[0]):
        where[i] = -1
    for i in range(keep.shape[0]):
        where[keep[i]] = i
    start[0] = 0
    for i in range(keep.shape[0]):
        number, diagonal = 0, 1
        for k in range(indptr[keep[i]], indptr[keep[i] + 1]):
            j = where[indices[k]]
            if j >= 0:
                number += 1
            if j == i:
                diagonal = 0
        start[i + 1] = start[i] + number + diagonal


@kernel
def _sparse_part(indptr, indices, data, keep, where, diagonal, start, columns, entries):
    for i in range(keep.shape[0]):
        k_out = start[i]
        placed = False
        for k in range(indptr[keep[i]], indptr[keep[i] + 1]):
            j = where[indices[k]]
            if j < 0:
                continue
            if j > i and not placed:
                columns[k_out], entries[k_out] = i, diagonal[i]
                k_out += 1
                placed = True
            columns[k_out], entries[k_out] = j, data[k]
            if j == i:
                entries[k_out] += diagonal[i]
                placed = True
            k_out += 1
        if not placed:
            columns[k_out], entries[k_out] = i, diagonal[i]


class SparseFactor:
    """A sparse LU with iterative refinement. It is made again with safer pivots if refinement does not help."""

    def __init__(self, K: sp.csr_array) -> None:
        self.K, self.attempt, self.lu = K, 0, _lu(K, PIVOTS[0])

    def __call__(self, r: np.ndarray) -> np.ndarray:
        while True:
            x = self._refined(r)
            if x is not None:
                return x
            self.attempt += 1
            self.lu = _lu(self.K, PIVOTS[1])

    def _refined(self, r: np.ndarray) -> np.ndarray | None:
        """x; None if other pivots may do better."""
        last = self.attempt > 0
        if self.lu is None:
            return np.full(len(r), np.nan) if last else None
        x = self.lu.solve(r, trans="T")
        for _ in range(2):
            error = r - self.K @ x
            if np.max(np.abs(error)) <= ACCURATE * np.max(np.abs(r)):
                return x
            x += self.lu.solve(error, trans="T")
        return x if last else None


def _lu(K: sp.csr_array, pivot: float) -> Any:
    """LU of the transpose, which has the same arrays by columns; None if it is singular."""
    transposed = sp.csc_array((K.data, K.indices, K.indptr), shape=K.shape)
    try:
        return splu(transposed, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=pivot, options={"SymmetricMode": True})
    except RuntimeError:  # "Factor is exactly singular"
        return None


class NewtonSystem:
    """Solves a sequence of such systems of one size n, in the same memory."""

    def __init__(self, subsolver: str, n: int) -> None:
        self.subsolver = subsolver
        self.n = n
        self._where = np.empty(n, dtype=np.int64)
        self._memory: np.ndarray | None = None
        self._again: Any = None

    def solve(self, A: Any, keep: np.ndarray, diagonal: np.ndarray, r: np.ndarray, tolerance: float) -> np.ndarray:
        """x (k,), NaN if the matrix is singular; the relative tolerance is for iterative methods."""
        if not len(keep):
            return np.empty(0)
        method = self.subsolver
        if method == "auto":
            method = "direct" if not sp.issparse(A) or self.n <= DIRECT_UP_TO else "gmres"
        if method != "direct":
            return self._iterate(method, A, keep, diagonal, r, tolerance)
        factor = self._sparse(A, keep, diagonal) if sp.issparse(A) else self._dense(A, keep, diagonal)
        self._again = factor
        return factor(r)

    def again(self, r: np.ndarray) -> np.ndarray:
        """Solve the last system of a direct method with another right-hand side."""
        return self._again(r)

    @property
    def keeps_factor(self) -> bool:
        return self.subsolver in ("auto", "direct") and self._again is not None

    def _dense(self, A: np.ndarray, keep: np.ndarray, diagonal: np.ndarray) -> Any:
        k = len(keep)
        if self._memory is None:
            self._memory = np.empty(self.n * self.n)
        K = self._memory[: k * k].reshape(k, k)
        _dense_part(A, keep, diagonal, K)
        lu, pivots, info = lapack.dgetrf(K.T, overwrite_a=1)  # the transpose: LAPACK stores by columns
        if info != 0:
            return lambda r: np.full(k, np.nan)
        return lambda r: lapack.dgetrs(lu, pivots, r, trans=1)[0]

    def _sparse(self, A: Any, keep: np.ndarray, diagonal: np.ndarray) -> Any:
        k = len(keep)
        start = np.empty(k + 1, dtype=np.int32)
        _count_part(A.indptr, A.indices, keep, self._where, start)
        columns, entries = np.empty(start[-1], dtype=np.int32), np.empty(start[-1])
        _sparse_part(A.indptr, A.indices, A.data, keep, self._where, diagonal, start, columns, entries)
        return SparseFactor(sp.csr_array((entries, columns, start), shape=(k, k)))

    def _iterate(
        self, method: str, A: Any, keep: np.ndarray, diagonal: np.ndarray, r: np.ndarray, tolerance: float
    ) -> np.ndarray:
        whole = np.zeros(self.n)

        def product(x: np.ndarray) -> np.ndarray:
            whole[keep] = x.ravel()
            return (A @ whole)[keep] + diagonal * x.ravel()

        size = np.abs(A.diagonal()[keep] + diagonal)
        inverse = 1.0 / np.where(size > 1e-8, size, 1.0)
        shape = (len(keep), len(keep))
        operator = LinearOperator(shape, matvec=product, dtype=float)
        precondition = LinearOperator(shape, matvec=lambda x: inverse * x.ravel(), dtype=float)
        if method == "gmres":
            return gmres(operator, r, rtol=tolerance, restart=60, maxiter=5, M=precondition)[0]
        return bicgstab(operator, r, rtol=tolerance, maxiter=300, M=precondition)[0]
