"""Small dense linear algebra for kernels: copies, products and LU, real or complex, on the leading n×n part of arrays.

``solve_in_place`` eliminates from the last column to the first, that is, from the leaves of a kinematic tree to its
root. Where row and column d are non-zero only at ancestors and descendants of d, this order creates no fill-in, and
zero multipliers are skipped. To keep the order, the diagonal is the pivot unless another entry is ten times as large.

Golub & Van Loan, *Matrix Computations* (2013), section 3.4; Featherstone (2008), section 6.5 for the order.
"""

from __future__ import annotations

from stickslip._jit import kernel

KEEP_DIAGONAL = 10.0
"""How much larger another entry of the column must be to take the diagonal's place as pivot."""


@kernel
def copy_to(source, target):
    for k in range(source.shape[0]):
        target[k] = source[k]


@kernel
def affine(A, x, b, out):
    """out = A·x + b."""
    for i in range(x.shape[0]):
        total = b[i]
        for j in range(x.shape[0]):
            total += A[i, j] * x[j]
        out[i] = total


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
    """Overwrite A with its LU factors, with partial pivoting by rows. A singular A gives infinities."""
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


@kernel
def solve_in_place(A, b):
    """b ← A⁻¹·b for b (n,); A (n, n) is overwritten. Returns 1 if A is singular, else 0."""
    n = b.shape[0]
    for c in range(n - 1, -1, -1):
        pivot, largest = c, KEEP_DIAGONAL * abs(A[c, c])
        for r in range(c):
            if abs(A[r, c]) > largest:
                pivot, largest = r, abs(A[r, c])
        if pivot != c:
            for k in range(c + 1):
                A[c, k], A[pivot, k] = A[pivot, k], A[c, k]
            b[c], b[pivot] = b[pivot], b[c]
        if A[c, c] == 0.0:
            return 1
        inverse = 1.0 / A[c, c]
        for r in range(c):
            if A[r, c] != 0.0:
                factor = A[r, c] * inverse
                for k in range(c):
                    A[r, k] -= factor * A[c, k]
                b[r] -= factor * b[c]
    for r in range(n):
        x = b[r]
        for k in range(r):
            x -= A[r, k] * b[k]
        b[r] = x / A[r, r]
    return 0
