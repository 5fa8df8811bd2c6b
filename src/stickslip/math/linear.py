"""Small dense linear systems A·x = b: Gaussian elimination with row pivoting, from the last column to the first.

The order is that of the branches of a tree: eliminating leaves first fills nothing in where row and column d have
non-zeros at ancestors and descendants of d only, and zero multipliers are skipped. The diagonal is kept as pivot
unless another entry is ten times as large, for the same reason. Cost: n³/3 multiplications where A is full.

Golub & Van Loan, *Matrix Computations* (2013), section 3.4; Featherstone (2008), section 6.5 for the order.
"""

from __future__ import annotations

from stickslip._jit import kernel

KEEP_DIAGONAL = 10.0
"""How much larger another entry of the column must be to take the diagonal's place as pivot."""


@kernel
def solve_in_place(A, b):
    """b (n,) becomes A⁻¹·b; A (n, n) is destroyed. Returns 1 if A is singular, else 0."""
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
