"""A·x = b by blocks along a graph: the numerical factorisation A = L·D·U in the pattern of ``block_graph``.

For every position k and its later neighbours i and j:

    U_kj = D_k⁻¹·A_kj,   A_ij ← A_ij − A_ik·U_kj          factor; pivots inside the block D_k
    y_k  = D_k⁻¹·b_k,    b_i  ← b_i − A_ik·y_k             solve, forwards
    x_k  = y_k − Σ U_kj·x_j                                solve, backwards

The pattern is symmetric, the values need not be. Blocks may have any size; those of a body (6) and a ball joint (3)
have loops of fixed length with their factors in registers, and rows are updated six, three or one columns at a time.
Nothing is allocated. Cost of a tree: linear, some 400 multiplications and 0.3 µs for a body and its ball joint.

The status is ``SINGULAR`` if a pivot is zero or not a number. Pivots of redundant loops are rounding errors, rarely
zeros, so their rows need a small diagonal.

Reference: Brüdigam et al., "Linear-time contact and friction dynamics in maximal coordinates using variational
integrators", Sec. III-B.
Differs from the paper in: L is not scaled (A_ik is kept), so that a solve applies each D_k⁻¹ once.
"""

from __future__ import annotations

from stickslip._jit import kernel

OK, SINGULAR = 0, 1


@kernel
def lu(A, d, n, pivots, r):
    """Overwrite the block at d by its factors P·L·D·U; L and U have a unit diagonal, whose place D⁻¹ takes."""
    for k in range(n):
        best, size = k, abs(A[d + n * k + k])
        for i in range(k + 1, n):
            other = abs(A[d + n * i + k])
            if other > size:
                best, size = i, other
        pivots[r + k] = best
        if not 0.0 < size < 1e300:
            return SINGULAR
        if best != k:
            for j in range(n):
                A[d + n * k + j], A[d + n * best + j] = A[d + n * best + j], A[d + n * k + j]
        inverse = 1.0 / A[d + n * k + k]
        A[d + n * k + k] = inverse
        for i in range(k + 1, n):
            c = A[d + n * i + k] * inverse
            A[d + n * i + k] = c
            for j in range(k + 1, n):
                A[d + n * i + j] -= c * A[d + n * k + j]
        for j in range(k + 1, n):
            A[d + n * k + j] *= inverse
    return OK


@kernel
def row_minus(A, t, c, w, m, begin, end):
    """Subtract Σ A[c + k]·(row k of the block at w), k from begin to end, from the row at t of m columns."""
    j = 0
    while j + 6 <= m:  # sums stay in registers, because the compiler cannot know that rows do not overlap
        o = t + j
        t0, t1, t2, t3, t4, t5 = A[o], A[o + 1], A[o + 2], A[o + 3], A[o + 4], A[o + 5]
        for k in range(begin, end):
            f, o = A[c + k], w + m * k + j
            t0 -= f * A[o]
            t1 -= f * A[o + 1]
            t2 -= f * A[o + 2]
            t3 -= f * A[o + 3]
            t4 -= f * A[o + 4]
            t5 -= f * A[o + 5]
        o = t + j
        A[o], A[o + 1], A[o + 2], A[o + 3], A[o + 4], A[o + 5] = t0, t1, t2, t3, t4, t5
        j += 6
    while j + 3 <= m:
        o = t + j
        t0, t1, t2 = A[o], A[o + 1], A[o + 2]
        for k in range(begin, end):
            f, o = A[c + k], w + m * k + j
            t0 -= f * A[o]
            t1 -= f * A[o + 1]
            t2 -= f * A[o + 2]
        o = t + j
        A[o], A[o + 1], A[o + 2] = t0, t1, t2
        j += 3
    while j < m:
        t0 = A[t + j]
        for k in range(begin, end):
            t0 -= A[c + k] * A[w + m * k + j]
        A[t + j] = t0
        j += 1


@kernel
def columns(A, d, n, u, m):
    """Solve L·D·U for the m columns of n rows at u."""
    for i in range(1, n):
        row_minus(A, u + m * i, d + n * i, u, m, 0, i)
    for i in range(n - 1, -1, -1):
        for j in range(m):
            A[u + m * i + j] *= A[d + n * i + i]
        row_minus(A, u + m * i, d + n * i, u, m, i + 1, n)


@kernel
def columns_3(A, d, X, u, m):
    """Solve L·D·U for the m columns of 3 rows at u of X, with the factors in registers."""
    a00, a01, a02 = A[d], A[d + 1], A[d + 2]
    a10, a11, a12 = A[d + 3], A[d + 4], A[d + 5]
    a20, a21, a22 = A[d + 6], A[d + 7], A[d + 8]
    for j in range(u, u + m):
        x0 = X[j]
        x1 = X[j + m] - a10 * x0
        x2 = X[j + 2 * m] - a20 * x0 - a21 * x1
        x2 = x2 * a22
        x1 = x1 * a11 - a12 * x2
        x0 = x0 * a00 - a02 * x2 - a01 * x1
        X[j], X[j + m], X[j + 2 * m] = x0, x1, x2


@kernel
def columns_6(A, d, X, u, m):
    """Solve L·D·U for the m columns of 6 rows at u of X, with the factors in registers."""
    a00, a01, a02, a03, a04, a05 = A[d], A[d + 1], A[d + 2], A[d + 3], A[d + 4], A[d + 5]
    a10, a11, a12, a13, a14, a15 = A[d + 6], A[d + 7], A[d + 8], A[d + 9], A[d + 10], A[d + 11]
    a20, a21, a22, a23, a24, a25 = A[d + 12], A[d + 13], A[d + 14], A[d + 15], A[d + 16], A[d + 17]
    a30, a31, a32, a33, a34, a35 = A[d + 18], A[d + 19], A[d + 20], A[d + 21], A[d + 22], A[d + 23]
    a40, a41, a42, a43, a44, a45 = A[d + 24], A[d + 25], A[d + 26], A[d + 27], A[d + 28], A[d + 29]
    a50, a51, a52, a53, a54, a55 = A[d + 30], A[d + 31], A[d + 32], A[d + 33], A[d + 34], A[d + 35]
    for j in range(u, u + m):
        x0 = X[j]
        x1 = X[j + m] - a10 * x0
        x2 = X[j + 2 * m] - a20 * x0 - a21 * x1
        x3 = X[j + 3 * m] - a30 * x0 - a31 * x1 - a32 * x2
        x4 = X[j + 4 * m] - a40 * x0 - a41 * x1 - a42 * x2 - a43 * x3
        x5 = X[j + 5 * m] - a50 * x0 - a51 * x1 - a52 * x2 - a53 * x3 - a54 * x4
        x5 = x5 * a55
        x4 = x4 * a44 - a45 * x5
        x3 = x3 * a33 - a35 * x5 - a34 * x4
        x2 = x2 * a22 - a25 * x5 - a24 * x4 - a23 * x3
        x1 = x1 * a11 - a15 * x5 - a14 * x4 - a13 * x3 - a12 * x2
        x0 = x0 * a00 - a05 * x5 - a04 * x4 - a03 * x3 - a02 * x2 - a01 * x1
        X[j], X[j + m], X[j + 2 * m] = x0, x1, x2
        X[j + 3 * m], X[j + 4 * m], X[j + 5 * m] = x3, x4, x5


@kernel
def lu_solve(A, d, n, pivots, r, x):
    """x[r : r + n] ← D⁻¹·x."""
    for k in range(n):
        p = pivots[r + k]
        if p != k:
            x[r + k], x[r + p] = x[r + p], x[r + k]
    if n == 6:
        columns_6(A, d, x, r, 1)
        return
    if n == 3:
        columns_3(A, d, x, r, 1)
        return
    for i in range(1, n):
        t = x[r + i]
        for k in range(i):
            t -= A[d + n * i + k] * x[r + k]
        x[r + i] = t
    for i in range(n - 1, -1, -1):
        t = x[r + i] * A[d + n * i + i]
        for k in range(i + 1, n):
            t -= A[d + n * i + k] * x[r + k]
        x[r + i] = t


@kernel
def lu_solve_block(A, d, n, pivots, r, u, m):
    """Multiply the block at u, n × m, by D⁻¹."""
    for k in range(n):
        p = pivots[r + k]
        if p != k:
            for j in range(m):
                A[u + m * k + j], A[u + m * p + j] = A[u + m * p + j], A[u + m * k + j]
    if n == 6 and m == 3:
        columns_6(A, d, A, u, 3)
    elif n == 6:
        columns_6(A, d, A, u, m)
    elif n == 3 and m == 6:
        columns_3(A, d, A, u, 6)
    else:
        columns(A, d, n, u, m)


@kernel
def product_minus(A, t, l, w, rows, n, m):
    """Subtract the product of the blocks at l and w from the block at t, rows × m."""
    for i in range(rows):
        row_minus(A, t + m * i, l + n * i, w, m, 0, n)


@kernel
def eliminate(sym, A, pivots, k, n):
    """Eliminate position k, of n rows."""
    width, later, right, left = sym.width, sym.later, sym.right, sym.left
    d, r, begin, end = sym.block[k], sym.row[k], sym.first[k], sym.first[k + 1]
    if lu(A, d, n, pivots, r) != OK:
        return SINGULAR
    for q in range(begin, end):
        lu_solve_block(A, d, n, pivots, r, right[q], width[later[q]])
    for p in range(begin, end):
        i = later[p]
        rows, t, s = width[i], sym.block[i], sym.first[i] - 1
        for q in range(p, end):
            j = later[q]
            if q > p:
                s += 1
                while later[s] != j:  # both lists ascend, and i has every later neighbour of k
                    s += 1
                t = right[s]
                product_minus(A, left[s], left[q], right[p], width[j], n, rows)
            m = width[j]
            if n == 6 and m == 3 and rows == 3:
                product_minus(A, t, left[p], right[q], 3, 6, 3)
            elif n == 3 and m == 6 and rows == 6:
                product_minus(A, t, left[p], right[q], 6, 3, 6)
            else:
                product_minus(A, t, left[p], right[q], rows, n, m)
    return OK


@kernel(inline=False)
def factor(sym, values, pivots):
    """Overwrite ``values`` (sym.length,) by the factors; ``pivots`` (sym.rows,) are integers. Returns a status."""
    for k in range(sym.width.shape[0]):
        n = sym.width[k]
        if n == 6:
            status = eliminate(sym, values, pivots, k, 6)
        elif n == 3:
            status = eliminate(sym, values, pivots, k, 3)
        else:
            status = eliminate(sym, values, pivots, k, n)
        if status != OK:
            return SINGULAR
    return OK


@kernel
def minus(A, u, n, m, x, r, s):
    """Subtract the block at u, n × m, times x[r : r + m] from x[s : s + n]."""
    for a in range(n):
        t = x[s + a]
        for b in range(m):
            t -= A[u + m * a + b] * x[r + b]
        x[s + a] = t


@kernel
def forward(sym, A, pivots, x, k, n):
    r = sym.row[k]
    lu_solve(A, sym.block[k], n, pivots, r, x)
    for p in range(sym.first[k], sym.first[k + 1]):
        i = sym.later[p]
        m = sym.width[i]
        if n == 6 and m == 3:
            minus(A, sym.left[p], 3, 6, x, r, sym.row[i])
        elif n == 3 and m == 6:
            minus(A, sym.left[p], 6, 3, x, r, sym.row[i])
        else:
            minus(A, sym.left[p], m, n, x, r, sym.row[i])


@kernel(inline=False)
def solve(sym, values, pivots, x):
    """Overwrite the right-hand side x (sym.rows,) by the solution."""
    nn = sym.width.shape[0]
    for k in range(nn):
        n = sym.width[k]
        if n == 6:
            forward(sym, values, pivots, x, k, 6)
        elif n == 3:
            forward(sym, values, pivots, x, k, 3)
        else:
            forward(sym, values, pivots, x, k, n)
    for k in range(nn - 1, -1, -1):
        for p in range(sym.first[k], sym.first[k + 1]):
            j = sym.later[p]
            n, m = sym.width[k], sym.width[j]
            if n == 6 and m == 3:
                minus(values, sym.right[p], 6, 3, x, sym.row[j], sym.row[k])
            elif n == 3 and m == 6:
                minus(values, sym.right[p], 3, 6, x, sym.row[j], sym.row[k])
            else:
                minus(values, sym.right[p], n, m, x, sym.row[j], sym.row[k])
