"""The compiled kernels of Lemke's method: a condensed tableau in place, pivots applied in bundles.

With the artificial variable z₀ and a covering vector d > 0, w = b + A·z + d·z₀. Of the 2n + 1 variables n are basic;

    x_B = rhs + T·x_N,    T (n, n+1),

is all that is stored, transposed, so that an entering column is contiguous. Exchanging basic r with nonbasic s,
c = T[:, s], ρ = T[r, :], p = ρ_s, replaces row r by −ρ/p, column s by c/p and adds −c·ρᵀ/p elsewhere. These outer
products are kept aside, T = stored + U·V, and added to the stored part a bundle at a time, which reads the tableau from
memory once per bundle instead of once per pivot. Columns that a bundle does not touch are skipped.

Sizes: n×(n+2) numbers and 2·n×bundle. Cost of a pivot: n² multiply-adds, less where the tableau is sparse.

Ratio test: lexicographic, on rows of (rhs, inverse of the basis), so that no basis comes twice (Cottle, Pang and Stone,
The Linear Complementarity Problem, Sec. 4.9); the artificial variable leaves first in a tie, which ends the path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import dot

RUNNING, SOLVED, RAY = 0, 1, 2

COLUMN, FILLED, PIVOTS, FIRST_ROW = 0, 1, 2, 3
"""Places in ``Tableau.state``: the entering column, outer products kept aside, pivots done, where z₀ enters."""


class Tableau(NamedTuple):
    """Scratch and state of the pivoting path; variables are w_i = i, z_i = n + i, z₀ = 2n."""

    T: np.ndarray
    """(n+1, n) the stored part, one row per nonbasic variable."""
    U: np.ndarray
    """(bundle, n) columns c kept aside."""
    V: np.ndarray
    """(n+1, bundle) rows −ρ/p kept aside."""
    rhs: np.ndarray
    """(n,) values of the basic variables, always up to date."""
    basic: np.ndarray
    """(n,) which variable is basic in a row."""
    nonbasic: np.ndarray
    """(n+1,) which variable belongs to a column."""
    place: np.ndarray
    """(2n+1,) row of a basic variable, or −1 − column of a nonbasic one."""
    column: np.ndarray
    """(n,) the entering column."""
    row: np.ndarray
    """(n+1,) the leaving row."""
    ties: np.ndarray
    """(n,) rows that tie in the ratio test."""
    state: np.ndarray
    """(4,) int64: see COLUMN … FIRST_ROW."""


@kernel
def bundle_size(n):
    """Number of outer products that are kept aside."""
    return min(32, max(4, n // 12))


def new_tableau(n: int) -> Tableau:
    """Memory for problems of n variables."""
    bundle = bundle_size(n)
    return Tableau(
        np.empty((n + 1, n)),
        np.zeros((bundle, n)),
        np.zeros((n + 1, bundle)),
        np.empty(n),
        np.empty(n, np.int64),
        np.empty(n + 1, np.int64),
        np.empty(2 * n + 1, np.int64),
        np.empty(n),
        np.empty(n + 1),
        np.empty(n, np.int64),
        np.zeros(4, np.int64),
    )


@kernel
def _entering_column(t, s):
    """column = T[:, s], with the outer products that are kept aside."""
    n = t.rhs.shape[0]
    stored, column = t.T[s], t.column
    for i in range(n):
        column[i] = stored[i]
    for k in range(t.state[FILLED]):
        v = t.V[s, k]
        if v != 0.0:
            u = t.U[k]
            for i in range(n):
                column[i] += v * u[i]


@kernel
def _leaving_row(t, r):
    n, filled = t.rhs.shape[0], t.state[FILLED]
    for j in range(n + 1):
        total = t.T[j, r]
        v = t.V[j]
        for k in range(filled):
            total += v[k] * t.U[k, r]
        t.row[j] = total


@kernel
def _entry(t, i, j):
    total = t.T[j, i]
    for k in range(t.state[FILLED]):
        total += t.V[j, k] * t.U[k, i]
    return total


@kernel
def _flush(t):
    """Add the outer products that are kept aside: stored += U·V."""
    n, filled = t.rhs.shape[0], t.state[FILLED]
    for start in range(0, n, 256):  # a strip of U that stays in the fastest memory
        stop = min(n, start + 256)
        for j in range(n + 1):
            v, stored = t.V[j], t.T[j, start:stop]
            k = 0
            while k + 4 <= filled:
                a, b, c, d = v[k], v[k + 1], v[k + 2], v[k + 3]
                if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
                    p, q = t.U[k, start:stop], t.U[k + 1, start:stop]
                    r, s = t.U[k + 2, start:stop], t.U[k + 3, start:stop]
                    for i in range(stored.shape[0]):
                        stored[i] += a * p[i] + b * q[i] + c * r[i] + d * s[i]
                k += 4
            while k < filled:
                a, p = v[k], t.U[k, start:stop]
                if a != 0.0:
                    for i in range(stored.shape[0]):
                        stored[i] += a * p[i]
                k += 1
    t.state[FILLED] = 0


@kernel
def exchange(t, r, s):
    """Exchange the basic variable of row r and the nonbasic one of column s; ``column`` holds T[:, s]."""
    n, filled = t.rhs.shape[0], t.state[FILLED]
    _leaving_row(t, r)
    inverse = 1.0 / t.column[r]
    value = -t.rhs[r] * inverse
    for i in range(n):
        t.rhs[i] += t.column[i] * value
    t.rhs[r] = value
    for k in range(filled):
        t.U[k, r] = 0.0
        t.V[s, k] = 0.0
    u = t.U[filled]
    for i in range(n):
        u[i] = t.column[i]
        t.T[s, i] = t.column[i] * inverse
    u[r] = 0.0
    for j in range(n + 1):
        v = -t.row[j] * inverse
        t.V[j, filled] = v
        t.T[j, r] = v
    t.V[s, filled] = 0.0
    t.T[s, r] = inverse
    t.state[FILLED] = filled + 1
    t.state[PIVOTS] += 1
    leaving, entering = t.basic[r], t.nonbasic[s]
    t.basic[r], t.nonbasic[s] = entering, leaving
    t.place[entering], t.place[leaving] = r, -1 - s


@kernel
def equilibrate(A, rows, columns):
    """Powers of two that bring the largest entry of every row, then of every column, of A to between 1 and 2."""
    n = A.shape[0]
    for j in range(n):
        columns[j] = 0.0
    for i in range(n):
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(A[i, j]))
        rows[i] = 2.0 ** -np.floor(np.log2(largest)) if largest > 0.0 else 1.0
        for j in range(n):
            columns[j] = max(columns[j], abs(A[i, j]) * rows[i])
    for j in range(n):
        columns[j] = 2.0 ** -np.floor(np.log2(columns[j])) if columns[j] > 0.0 else 1.0


@kernel
def begin(t, A, b, cover, rows, columns):
    """The tableau of the scaled problem at w basic, ready to bring z₀ in; SOLVED if b ≥ 0."""
    n = b.shape[0]
    lowest, r = 0.0, -1
    for i in range(n):
        t.rhs[i] = b[i] * rows[i]
        ratio = t.rhs[i] / cover[i]
        if ratio < 0.0 and ratio <= lowest:  # the last of equal ones keeps all rows lexicographically positive
            lowest, r = ratio, i
    for i in range(n):
        t.basic[i], t.place[i] = i, i
        t.nonbasic[i], t.place[n + i] = n + i, -1 - i
        t.T[n, i] = cover[i]
    t.nonbasic[n], t.place[2 * n] = 2 * n, -1 - n
    t.state[FILLED], t.state[PIVOTS] = 0, 0
    if r < 0:
        return SOLVED
    for start in range(0, n, 32):  # transposed in tiles that fit into the cache
        for i in range(n):
            for j in range(start, min(n, start + 32)):
                t.T[j, i] = A[i, j] * rows[i] * columns[j]
    t.state[COLUMN], t.state[FIRST_ROW] = n, r
    return RUNNING


@kernel
def _choose_row(t, small, tie):
    """The leaving row of the ratio test, or −1 on a ray."""
    n, artificial = t.rhs.shape[0], 2 * t.rhs.shape[0]
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(t.column[i]))
    threshold = small * max(1.0, largest)
    best = np.inf
    for i in range(n):
        if t.column[i] < -threshold:
            best = min(best, max(t.rhs[i], 0.0) / -t.column[i])
    if best == np.inf:
        return -1
    limit, m = best + tie * (1.0 + best), 0
    for i in range(n):
        if t.column[i] < -threshold and max(t.rhs[i], 0.0) <= -limit * t.column[i]:
            if t.basic[i] == artificial:
                return i
            t.ties[m] = i
            m += 1
    variable = 0
    while m > 1 and variable < n:
        m = _lexicographic(t, variable, m, tie)
        variable += 1
    return t.ties[0]


@kernel
def _lexicographic(t, variable, m, tie):
    """Keep those of m tied rows that have the least (entry of the basis' inverse in w_variable's column)/pivot."""
    place = t.place[variable]
    least = np.inf
    for k in range(m):
        i = t.ties[k]
        if place >= 0:  # a unit column
            value = 1.0 if i == place else 0.0
        else:
            value = -_entry(t, i, -1 - place)
        t.row[k] = value / -t.column[i]
        least = min(least, t.row[k])
    left = 0
    for k in range(m):
        if t.row[k] <= least + tie * (1.0 + abs(least)):
            t.ties[left] = t.ties[k]
            left += 1
    return left


@kernel
def pivot(t, pivots, small, tie):
    """Do at most ``pivots`` pivots; returns RUNNING, SOLVED or RAY. At a solution nothing is left aside."""
    n, bundle = t.rhs.shape[0], t.U.shape[0]
    done, solved = 0, False
    while True:
        if solved or t.state[FILLED] == bundle:
            _flush(t)
        if solved:
            return SOLVED
        if done == pivots:
            return RUNNING
        s = t.state[COLUMN]
        _entering_column(t, s)
        r = t.state[FIRST_ROW] if t.state[PIVOTS] == 0 else _choose_row(t, small, tie)
        if r < 0:
            return RAY
        leaving = t.basic[r]
        exchange(t, r, s)
        done += 1
        solved = leaving == 2 * n
        if not solved:
            partner = leaving + n if leaving < n else leaving - n
            t.state[COLUMN] = -1 - t.place[partner]


@kernel
def values(t, columns, scale, z):
    """Read z from the tableau, in the units of the problem as given."""
    n = t.rhs.shape[0]
    for i in range(n):
        z[i] = 0.0
    for r in range(n):
        if n <= t.basic[r] < 2 * n:
            i = t.basic[r] - n
            z[i] = t.rhs[r] * columns[i] / scale


@kernel
def correct(t, A, b, rows, columns, scale, z):
    """Take one step of iterative refinement of A·z + b = 0 in the rows whose z is basic, at a solution. Residuals come
    from A itself, the inverse from the tableau's columns of nonbasic w."""
    n = t.rhs.shape[0]
    for r in range(n):
        t.column[r] = 0.0
    for i in range(n):
        if t.place[i] < 0:
            error = -(b[i] + dot(A[i], z)) * rows[i] * scale
            inverse = t.T[-1 - t.place[i]]
            for r in range(n):
                t.column[r] += error * inverse[r]
    for r in range(n):
        if n <= t.basic[r] < 2 * n:
            i = t.basic[r] - n
            z[i] += t.column[r] * columns[i] / scale


@kernel
def lcp_residual(A, b, z):
    """‖min(z, A·z + b)‖∞."""
    largest = 0.0
    for i in range(z.shape[0]):
        size = abs(min(z[i], b[i] + dot(A[i], z)))
        if not size <= largest:  # so that NaN stays
            largest = size
    return largest
