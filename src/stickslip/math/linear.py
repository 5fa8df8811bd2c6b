"""Small dense linear algebra for kernels: products and LU, real or complex, on the leading n×n part of the arrays."""

from __future__ import annotations

from stickslip._jit import kernel


@kernel
def matmul(A, B, n, out):
    """out = A·B."""
    for i in range(n):
        for j in range(n):
            out[i, j] = 0.0
        for k in range(n):
            a = A[i, k]
            for j in range(n):
                out[i, j] += a * B[k, j]


@kernel
def lu_factor(A, n, pivot):
    """Overwrite A with its LU factors, by rows, with partial pivoting; a singular A gives infinities."""
    for k in range(n):
        best, size = k, abs(A[k, k])
        for i in range(k + 1, n):
            if abs(A[i, k]) > size:
                best, size = i, abs(A[i, k])
        pivot[k] = best
        if best != k:
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            c = A[i, k] * inverse
            A[i, k] = c
            for j in range(k + 1, n):
                A[i, j] -= c * A[k, j]


@kernel
def lu_solve(A, n, pivot, x):
    """x ← A⁻¹·x from the factors."""
    for k in range(n):
        p = pivot[k]
        x[k], x[p] = x[p], x[k]
    for i in range(1, n):
        for k in range(i):
            x[i] -= A[i, k] * x[k]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= A[i, k] * x[k]
        x[i] /= A[i, i]


@kernel
def lu_solve_columns(A, n, pivot, X, columns):
    """X[:n, :columns] ← A⁻¹·X."""
    for k in range(n):
        p = pivot[k]
        if p != k:
            for j in range(columns):
                X[k, j], X[p, j] = X[p, j], X[k, j]
    for i in range(n):
        for k in range(i):
            c = A[i, k]
            for j in range(columns):
                X[i, j] -= c * X[k, j]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            c = A[i, k]
            for j in range(columns):
                X[i, j] -= c * X[k, j]
        inverse = 1.0 / A[i, i]
        for j in range(columns):
            X[i, j] *= inverse
