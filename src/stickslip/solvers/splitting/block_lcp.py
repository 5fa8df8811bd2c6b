"""The small mixed LCP of one block (a contact's normal, friction and slip; a joint's rows), solved by Lemke's method.

With bounds moved to zero as in ``pivot.py``, free variables are exchanged into the basis first (largest pivot of the
free block), then Lemke's method runs on the rest, lexicographically. One tableau x_B = rhs + T·x_N of (k, k+2) numbers,
k the rows and the upper bounds of the block; about k pivots of k² multiply-adds.

A free variable without a pivot (a joint row that says nothing new) stays 0. If the rows that were active in the sweep
before still are, one elimination of their size finds the same answer without pivoting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel

SOLVED, FAILED = 0, 1
FREE, BOUNDED = 0, 1


class BlockWork(NamedTuple):
    """Scratch for blocks of up to k rows and upper bounds; variables are w_i = i, y_i = k + i, the artificial 2k."""

    T: np.ndarray
    """(k, k+2) nonbasic columns, the artificial one, and the right-hand side last."""
    basic: np.ndarray
    """(k,)."""
    nonbasic: np.ndarray
    """(k+1,)."""
    kind: np.ndarray
    """(k,) FREE or BOUNDED row as given."""
    box: np.ndarray
    """(k,) which row an upper bound belongs to."""
    ties: np.ndarray
    """(k,)."""
    sign: np.ndarray
    """(k,) −1 where only an upper bound exists."""
    shift: np.ndarray
    """(k,) the bound that is moved to zero."""
    q: np.ndarray
    """(k,) w of the block's rows at z = 0, given the other blocks."""
    lower: np.ndarray
    """(k,)."""
    upper: np.ndarray
    """(k,)."""
    z: np.ndarray
    """(k,) the answer."""


def block_work(k: int) -> BlockWork:
    """Scratch for k rows and upper bounds."""
    whole = [np.zeros(size, np.int64) for size in (k, k + 1, k, k, k)]
    return BlockWork(np.zeros((k, k + 2)), *whole, *(np.zeros(k) for _ in range(6)))


@kernel
def _exchange(t, k, r, s):
    """Exchange the basic variable of row r and the nonbasic one of column s in the leading (k, k+2) part."""
    T = t.T
    inverse = 1.0 / T[r, s]
    for j in range(k + 2):
        T[r, j] = -T[r, j] * inverse
    T[r, s] = inverse
    for i in range(k):
        c = T[i, s]
        if i != r and c != 0.0:
            T[i, s] = 0.0
            for j in range(k + 2):
                T[i, j] += c * T[r, j]
    t.basic[r], t.nonbasic[s] = t.nonbasic[s], t.basic[r]


@kernel
def _fill(t, A, m):
    """Fill the tableau, with w basic; returns k = m + number of boxes, and the largest entry."""
    k, largest = m, 0.0
    for i in range(m):
        below, above = t.lower[i] > -np.inf, t.upper[i] < np.inf
        t.sign[i] = -1.0 if above and not below else 1.0
        t.shift[i] = t.lower[i] if below else (t.upper[i] if above else 0.0)
        t.kind[i] = BOUNDED if below or above else FREE
        if below and above:
            t.box[k] = i
            t.kind[k] = BOUNDED
            k += 1
    for i in range(k):
        for j in range(k + 2):
            t.T[i, j] = 0.0
    for i in range(m):
        total = t.q[i]
        for j in range(m):
            total += A[i, j] * t.shift[j]
            t.T[i, j] = t.sign[i] * A[i, j] * t.sign[j]
            largest = max(largest, abs(A[i, j]))
        t.T[i, k + 1] = t.sign[i] * total
    for e in range(m, k):
        i = t.box[e]
        t.T[e, i], t.T[i, e] = -1.0, 1.0
        t.T[e, k + 1] = t.upper[i] - t.lower[i]
    for i in range(k):
        t.basic[i], t.nonbasic[i] = i, k + i
        t.T[i, k] = 1.0 if t.kind[i] == BOUNDED else 0.0
    t.nonbasic[k] = 2 * k
    return k, largest


@kernel
def _leaving(t, k, s, small):
    """The row of the lexicographic ratio test, or −1."""
    best, scale = np.inf, 0.0
    for i in range(k):
        if t.kind[i] == BOUNDED:
            scale = max(scale, abs(t.T[i, s]))
    threshold = max(small, 1e-12 * scale)
    for i in range(k):
        if t.kind[i] == BOUNDED and t.T[i, s] < -threshold:
            best = min(best, max(t.T[i, k + 1], 0.0) / -t.T[i, s])
    if best == np.inf:
        return -1
    m = 0
    for i in range(k):
        if (
            t.kind[i] == BOUNDED
            and t.T[i, s] < -threshold
            and max(t.T[i, k + 1], 0.0) / -t.T[i, s] <= best * (1.0 + 1e-12) + 1e-300
        ):
            if t.basic[i] == 2 * k:
                return i
            t.ties[m] = i
            m += 1
    for w in range(k):
        if m == 1:
            break
        if t.kind[w] == BOUNDED:
            m = _thin_out(t, k, s, w, m)
    return t.ties[0]


@kernel
def _thin_out(t, k, s, w, m):
    """Keep those of m tied rows that have the least (entry of the basis' inverse in the column of w)/pivot."""
    column = -1
    for j in range(k + 1):
        if t.nonbasic[j] == w:
            column = j
    least, left = np.inf, 0
    for pass_ in range(2):
        for e in range(m):
            i = t.ties[e]
            value = (-t.T[i, column] if column >= 0 else (1.0 if t.basic[i] == w else 0.0)) / -t.T[i, s]
            if pass_ == 0:
                least = min(least, value)
            elif value <= least + 1e-12 * (1.0 + abs(least)):
                t.ties[left] = i
                left += 1
    return left


@kernel
def keep_basis(A, t):
    """Solve A·z + q = 0 in the rows whose t.z is positive, by elimination, with z = 0 in the others.

    Returns whether this is a solution of the block, which it is where the last values had the right active set. Only
    for blocks without upper bounds and free variables.
    """
    m, k, T, row, largest = A.shape[0], 0, t.T, t.basic, 0.0
    for i in range(m):
        if t.lower[i] != 0.0 or t.upper[i] < np.inf:
            return False
        largest = max(largest, abs(t.q[i]))
        if t.z[i] > 0.0:
            row[k] = i
            k += 1
    for a in range(k):
        for c in range(k):
            T[a, c] = A[row[a], row[c]]
        T[a, k] = -t.q[row[a]]
    for a in range(k):
        best = a
        for c in range(a + 1, k):
            if abs(T[c, a]) > abs(T[best, a]):
                best = c
        if best != a:
            for c in range(a, k + 1):
                T[a, c], T[best, c] = T[best, c], T[a, c]
        if not abs(T[a, a]) > 1e-10 * abs(A[row[a], row[a]]) or T[a, a] == 0.0:
            return False
        for b in range(a + 1, k):
            factor = T[b, a] / T[a, a]
            for c in range(a + 1, k + 1):
                T[b, c] -= factor * T[a, c]
    for a in range(k - 1, -1, -1):
        for c in range(a + 1, k):
            T[a, k] -= T[a, c] * T[c, k]
        T[a, k] /= T[a, a]
        if not T[a, k] >= 0.0:
            return False
    for i in range(m):
        w = t.q[i]
        for a in range(k):
            w += A[i, row[a]] * T[a, k]
        if not w >= -1e-13 * largest:
            return False
    for i in range(m):
        t.z[i] = 0.0
    for a in range(k):
        t.z[row[a]] = T[a, k]
    return True


@kernel
def solve_block(A, t):
    """Find t.z from A (m, m), t.q, t.lower and t.upper; returns SOLVED or FAILED. The z before tells which rows are
    likely to be active: that is tried first."""
    if keep_basis(A, t):
        return SOLVED
    m = A.shape[0]
    k, largest = _fill(t, A, m)
    small = 1e-13 * largest
    free, status, s, lowest = True, FAILED, k, 0.0  # one loop for all pivots keeps the compiled code small
    for _ in range(m + 50 * (k + 1)):
        r = -1
        if free:  # free variables into the basis, the largest pivot first
            best = small
            for i in range(m):
                if t.kind[i] == FREE and t.basic[i] < k:
                    for j in range(m):
                        if t.kind[j] == FREE and t.nonbasic[j] >= k and abs(t.T[i, j]) > best:
                            best, r, s = abs(t.T[i, j]), i, j
            if r < 0:
                free, s = False, k
                for i in range(k):
                    if t.kind[i] == BOUNDED and t.T[i, k + 1] < 0.0 and t.T[i, k + 1] <= lowest:
                        lowest, r = t.T[i, k + 1], i
                if r < 0:
                    status = SOLVED
                    break
        else:
            r = _leaving(t, k, s, small)
            if r < 0:  # a ray; it starts at a solution if the artificial variable is already zero
                for i in range(k):
                    if t.basic[i] == 2 * k and t.T[i, k + 1] <= -1e-12 * lowest:
                        status = SOLVED
                break
        leaving = t.basic[r]
        _exchange(t, k, r, s)
        if leaving == 2 * k:
            status = SOLVED
            break
        if not free:
            partner = leaving + k if leaving < k else leaving - k
            for j in range(k + 1):
                if t.nonbasic[j] == partner:
                    s = j
    for i in range(m):
        t.z[i] = 0.0
    for r in range(k):
        if k <= t.basic[r] < k + m:
            i = t.basic[r] - k
            t.z[i] = t.T[r, k + 1] if t.kind[i] == FREE else max(0.0, t.T[r, k + 1])
    for i in range(m):
        t.z[i] = min(max(t.shift[i] + t.sign[i] * t.z[i], t.lower[i]), t.upper[i])
    return status
