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
def dot(row, x):
    """row·x over the length of ``row``, in four partial sums, which keeps the processor's pipelines full."""
    n = row.shape[0]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for k in range(n // 4):
        a += row[4 * k] * x[4 * k]
        b += row[4 * k + 1] * x[4 * k + 1]
        c += row[4 * k + 2] * x[4 * k + 2]
        d += row[4 * k + 3] * x[4 * k + 3]
    for k in range(4 * (n // 4), n):
        a += row[k] * x[k]
    return (a + b) + (c + d)


@kernel
def product(A, x, out):
    """out = A·x."""
    for i in range(x.shape[0]):
        out[i] = dot(A[i], x)


@kernel
def symmetric_product(A, x, out):
    """out = A·x, A symmetric: by columns, several entries at a time."""
    n = x.shape[0]
    for j in range(n):
        out[j] = 0.0
    for i in range(n):
        row, f = A[i], x[i]
        for j in range(n):
            out[j] += row[j] * f


@kernel
def affine(A, x, b, out):
    """out = A·x + b."""
    for i in range(x.shape[0]):
        out[i] = b[i] + dot(A[i], x)


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
    """Overwrite A with its LU factors, with partial pivoting by rows. A singular A gives infinities.

    Four columns are eliminated together, so that the rest of A is read and written once for four pivots.
    """
    for first in range(0, n, 4):
        end = min(first + 4, n)
        for k in range(first, end):
            eliminate_column(A, n, k, end, pivot)
        if end == n:
            return
        for k in range(first, end):
            for i in range(k + 1, end):
                c, row, top = A[i, k], A[i, end:n], A[k, end:n]
                for j in range(row.shape[0]):
                    row[j] -= c * top[j]
        p, q, r, s = A[first, end:n], A[first + 1, end:n], A[first + 2, end:n], A[first + 3, end:n]
        for i in range(end, n):
            a, b, c, d, row = A[i, first], A[i, first + 1], A[i, first + 2], A[i, first + 3], A[i, end:n]
            for j in range(row.shape[0]):
                row[j] -= (a * p[j] + b * q[j]) + (c * r[j] + d * s[j])


@kernel
def eliminate_column(A, n, k, end, pivot):
    """Choose the pivot of column k and eliminate the column from those before ``end``."""
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
        for j in range(k + 1, end):
            A[i, j] -= c * A[k, j]


@kernel
def lu_solve(A, n, pivot, x):
    """x ← A⁻¹·x from the factors."""
    for k in range(n):
        p = pivot[k]
        x[k], x[p] = x[p], x[k]
    for i in range(1, n):
        x[i] -= dot(A[i, :i], x)
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - dot(A[i, i + 1 : n], x[i + 1 :])) / A[i, i]


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
