"""The tree-sparse factorisation M = LᵀDL and its solves.

Featherstone (2008), Table 6.4. Eliminating the leaves first creates no fill-in, so L has exactly the packed pattern of
M (``model.arrays.Support``). An ancestor's row is the tail of its descendant's row, so every update is one contiguous
vector operation.

Cost: Σ depth² for the factor, Σ depth for a solve (depth: number of velocities from the root to a joint).
"""

from __future__ import annotations

from stickslip._jit import kernel


@kernel
def ltdl_factor(support, M, L):
    """Factor the packed M into the packed L (row d: D[d], then the entries of L left of the unit diagonal)."""
    start, column = support.start, support.column
    for k in range(M.shape[0]):
        L[k] = M[k]
    for d in range(start.shape[0] - 2, -1, -1):
        row, end = start[d], start[d + 1]
        inverse = 1.0 / L[row]
        for k in range(row + 1, end):
            c = L[k] * inverse
            to = start[column[k]]
            for m in range(end - k):
                L[to + m] -= c * L[k + m]
            L[k] = c


@kernel
def solve_lt(support, L, x):
    """x ← L⁻ᵀ·x."""
    start, column = support.start, support.column
    for d in range(x.shape[0] - 1, -1, -1):
        c = x[d]
        if c != 0.0:
            for k in range(start[d] + 1, start[d + 1]):
                x[column[k]] -= L[k] * c


@kernel
def solve_l(support, L, x):
    """x ← L⁻¹·x."""
    start, column = support.start, support.column
    for d in range(x.shape[0]):
        c = x[d]
        for k in range(start[d] + 1, start[d + 1]):
            c -= L[k] * x[column[k]]
        x[d] = c


@kernel
def solve(support, L, x):
    """x ← M⁻¹·x."""
    solve_lt(support, L, x)
    for d in range(x.shape[0]):
        x[d] /= L[support.start[d]]
    solve_l(support, L, x)


@kernel
def solve_rows(support, L, X):
    """X ← M⁻¹·X for a dense X (nv, n), by operations on whole rows, which vectorise."""
    start, column = support.start, support.column
    nv, n = X.shape
    for d in range(nv - 1, -1, -1):
        k, end = start[d] + 1, start[d + 1]
        while k + 2 <= end:  # two rows in one pass over row d
            c0, c1, e0, e1 = L[k], L[k + 1], column[k], column[k + 1]
            for j in range(n):
                x = X[d, j]
                X[e0, j] -= c0 * x
                X[e1, j] -= c1 * x
            k += 2
        if k < end:
            c0, e0 = L[k], column[k]
            for j in range(n):
                X[e0, j] -= c0 * X[d, j]
    for d in range(nv):
        k, end = start[d] + 1, start[d + 1]
        factor = 1.0 / L[k - 1]
        for j in range(n):
            X[d, j] *= factor
        while k + 4 <= end:
            c0, c1, c2, c3 = L[k], L[k + 1], L[k + 2], L[k + 3]
            e0, e1, e2, e3 = column[k], column[k + 1], column[k + 2], column[k + 3]
            for j in range(n):
                X[d, j] -= c0 * X[e0, j] + c1 * X[e1, j] + c2 * X[e2, j] + c3 * X[e3, j]
            k += 4
        while k < end:
            c0, e0 = L[k], column[k]
            for j in range(n):
                X[d, j] -= c0 * X[e0, j]
            k += 1


@kernel
def multiply(support, M, x, y):
    """y = M·x for the packed symmetric M."""
    start, column = support.start, support.column
    for d in range(x.shape[0]):
        y[d] = 0.0
    for d in range(x.shape[0]):
        c = M[start[d]] * x[d]
        for k in range(start[d] + 1, start[d + 1]):
            e = column[k]
            c += M[k] * x[e]
            y[e] += M[k] * x[d]
        y[d] += c
