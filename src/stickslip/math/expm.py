"""The matrix exponential of a small dense matrix acting on a few columns: balancing, Padé, scaling and squaring.

    e^A·V = D·(r_j(D⁻¹AD/2^s))^(2^s)·D⁻¹·V

* Balancing: D is a diagonal matrix of powers of two that makes the norms of rows and columns of D⁻¹AD alike (Osborne).
  The search for D may start from the D of a similar matrix; it then takes one sweep instead of several.
* Degree j and scaling s: those that reach a tolerance with the fewest matrix products (``pade.py``), or a fixed number
  of products without scaling, as in Hammoud et al., Sec. V-C.
* r_j = (V − U)⁻¹(V + U) with odd and even parts U, V (eq. (31); Higham 2005). Without squaring, the linear system is
  solved for the wanted columns only, as in eq. (33).
* Squaring (eq. (32)) acts on F = r − 1 = (V − U)⁻¹·2U, by F ← F² + 2F, instead of on r. Slow modes beside fast ones
  have r ≈ 1 − δ after scaling, and storing r would round δ off. With K = 1e8 N/m and dampers up to ‖A‖ = 1e13 the
  averages of ``viscoelastic_pade.py`` then keep 11 digits instead of 4. Once every mode has decayed, ‖r‖ < ½, r itself
  is squared, because F ≈ −1 would round off the small result.

Differs from the paper in: the squaring; balancing by powers of two.

Cost: 2n³ per product, 2n³/3 for the factorisation. For the structured matrix of the contact dynamics,
``viscoelastic_pade.py`` and ``modes.py`` do the same work with systems of half the size and no products.
"""

from __future__ import annotations

from math import ceil, log2
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.errors import expected, number
from stickslip.math.linear import lu_factor, lu_solve_columns, matmul
from stickslip.math.pade import BETA, DEGREE, DEGREES, repetitions

AUTO = -1
MOST_SWEEPS = 20
"""Largest number of balancing sweeps."""
LARGE = 1e6
"""Matrices of a larger norm are halved down to it before degree and scaling are chosen."""


class ExpmWork(NamedTuple):
    """Scratch for n×n matrices and c columns."""

    powers: np.ndarray
    """(4, n, n) A², A⁴, A⁶, A⁸."""
    U: np.ndarray
    """(n, n) odd part, then numerator."""
    V: np.ndarray
    """(n, n) even part, then denominator."""
    other: np.ndarray
    """(n, n) scratch of the products."""
    columns: np.ndarray
    """(n, c) scratch of the result."""
    pivot: np.ndarray
    """(n,) row exchanges of the LU factors."""


def make_expm_work(n: int, columns: int) -> ExpmWork:
    U, V, other = np.zeros((3, n, n))
    return ExpmWork(np.zeros((4, n, n)), U, V, other, np.zeros((n, columns)), np.zeros(n, dtype=np.int64))


@kernel
def balance(A, n, scale):
    """A ← D⁻¹AD in place, D = diag(scale) of powers of two; ``scale`` (n,) holds the first guess and then the result.

    Returns the number of sweeps. Below MOST_SWEEPS, the last one changed nothing.
    """
    for i in range(n):
        for j in range(n):
            A[i, j] *= scale[j] / scale[i]
    for sweep in range(MOST_SWEEPS):
        settled = True
        for i in range(n):
            column, row = 0.0, 0.0
            for j in range(n):
                if j != i:
                    column += abs(A[j, i])
                    row += abs(A[i, j])
            if column == 0.0 or row == 0.0:
                continue
            factor, total = 1.0, column + row
            while column < 0.5 * row:
                column, row, factor = 2.0 * column, 0.5 * row, 2.0 * factor
            while column > 2.0 * row:
                column, row, factor = 0.5 * column, 2.0 * row, 0.5 * factor
            if column + row < 0.95 * total:
                settled = False
                scale[i] *= factor
                for j in range(n):
                    A[j, i] *= factor
                    A[i, j] /= factor
        if settled:
            return sweep + 1
    return MOST_SWEEPS


@kernel
def one_norm(A, n):
    norm = 0.0
    for j in range(n):
        total = 0.0
        for i in range(n):
            total += abs(A[i, j])
        norm = max(norm, total)
    return norm


@kernel
def choose(norm, tolerance):
    """(row of DEGREES, squarings) that reach a tolerance with the fewest products."""
    row, squarings, least = 0, 0, np.inf
    halved = ceil(log2(norm / LARGE)) if LARGE < norm < np.inf else 0  # ``repetitions`` would overflow
    for k in range(len(DEGREES)):
        s = halved + ceil(log2(repetitions(k, norm * 0.5**halved, tolerance * 0.5**halved)))
        if k + s < least:
            row, squarings, least = k, s, k + s
    return row, squarings


@kernel
def odd_and_even(A, n, row, work):
    """U and V of the approximant: r = (V − U)⁻¹(V + U)."""
    degree, b, P, U, V, other = DEGREE[row], BETA[row], work.powers, work.U, work.V, work.other
    highest = 3 if degree == 13 else degree // 2
    for k in range(highest):
        if k == 0:
            matmul(A, A, n, P[0])
        else:
            matmul(P[0], P[k - 1], n, P[k])
    for i in range(n):
        for j in range(n):
            odd, even = 0.0, 0.0
            for k in range(highest):
                if 2 * k + 3 <= degree:
                    odd += b[2 * k + 3] * P[k, i, j]
                even += b[2 * k + 2] * P[k, i, j]
            if i == j:
                odd += b[1]
                even += b[0]
            other[i, j], V[i, j] = odd, even
    if degree == 13:  # the upper halves, A⁶·(b₁₃A⁶ + b₁₁A⁴ + b₉A²) and A⁶·(b₁₂A⁶ + b₁₀A⁴ + b₈A²)
        for half in range(2):
            for i in range(n):
                for j in range(n):
                    U[i, j] = b[13 - half] * P[2, i, j] + b[11 - half] * P[1, i, j] + b[9 - half] * P[0, i, j]
            matmul(P[2], U, n, P[3])
            target = other if half == 0 else V
            for i in range(n):
                for j in range(n):
                    target[i, j] += P[3, i, j]
    if degree <= 2:
        for i in range(n):
            for j in range(n):
                U[i, j] = b[1] * A[i, j]
    else:
        matmul(A, other, n, U)


@kernel
def expm_action(A, n, X, columns, row, tolerance, scale, work):
    """X[:n, :columns] ← e^A·X; A is overwritten. ``row`` is a row of DEGREES, or AUTO to choose one by the tolerance.

    Returns (row, squarings).
    """
    balance(A, n, scale)
    squarings = 0
    if row == AUTO:
        row, squarings = choose(one_norm(A, n), tolerance)
        for i in range(n):
            for j in range(n):
                A[i, j] *= 0.5**squarings
    for i in range(n):
        for j in range(columns):
            X[i, j] /= scale[i]
    odd_and_even(A, n, row, work)
    U, V, other, new = work.U, work.V, work.other, work.columns
    for i in range(n):
        for j in range(n):
            odd, even = U[i, j], V[i, j]
            U[i, j], V[i, j] = (even + odd if squarings == 0 else 2.0 * odd), even - odd
    lu_factor(V, n, work.pivot)
    if squarings == 0:
        multiply(U, n, X, columns, new)
        for i in range(n):
            for j in range(columns):
                X[i, j] = new[i, j]
        lu_solve_columns(V, n, work.pivot, X, columns)
    else:
        lu_solve_columns(V, n, work.pivot, U, n)
        less = 1.0  # U holds r − less
        for _ in range(squarings):
            if less == 1.0 and decayed(U, n):
                less = 0.0
                for i in range(n):
                    U[i, i] += 1.0
            matmul(U, U, n, other)
            for i in range(n):
                for j in range(n):
                    U[i, j] = other[i, j] + 2.0 * less * U[i, j]
        multiply(U, n, X, columns, new)
        for i in range(n):
            for j in range(columns):
                X[i, j] = less * X[i, j] + new[i, j]
    for i in range(n):
        for j in range(columns):
            X[i, j] *= scale[i]
    return row, squarings


@kernel
def decayed(F, n):
    """Whether ‖1 + F‖ < ½."""
    for j in range(n):
        total = abs(1.0 + F[j, j])
        for i in range(n):
            if i != j:
                total += abs(F[i, j])
        if not total < 0.5:
            return False
    return True


@kernel
def multiply(A, n, X, columns, out):
    """out = A·X."""
    for i in range(n):
        for j in range(columns):
            out[i, j] = 0.0
        for k in range(n):
            for j in range(columns):
                out[i, j] += A[i, k] * X[k, j]


def expm_multiply(
    A, X, *, matmuls: int | str = "auto", tolerance: float = 1e-14, balance: np.ndarray | None = None
) -> np.ndarray:
    """e^A·X for a square A (n, n) and X (n,) or (n, c).

    ``matmuls`` = 0 … 6 uses the approximant that this number of matrix products allows, without scaling; "auto" chooses
    the order and scaling that reach ``tolerance`` (relative to the norm of the result) with the fewest products.

    ``balance`` (n,) holds the first guess of the balancing scales and receives the result, rounded to powers of two.
    For a sequence of similar matrices pass the same array, initially ones, to every call: the result is the same up to
    round-off, and the search ends after a sweep or two. Without it each call starts from ones.

    >>> expm_multiply(np.array([[0.0, 1.0], [-1.0, 0.0]]), [1.0, 0.0])  # a rotation by one radian
    array([ 0.54030231, -0.84147098])
    """
    a = np.array(A, dtype=float, order="C")
    x = np.array(X, dtype=float, order="C")
    if a.ndim != 2 or a.shape[0] != a.shape[1] or not np.all(np.isfinite(a)):
        raise expected("A", "a square matrix of finite numbers", f"shape {a.shape}")
    if x.ndim not in (1, 2) or x.shape[0] != len(a):
        raise expected("X", f"an array of {len(a)} rows", f"shape {x.shape}")
    row = row_of(matmuls)
    tolerance = number("tolerance", tolerance, "a positive number", above=0.0)
    scale = np.ones(len(a)) if balance is None else first_scales(balance, len(a))
    if x.size == 0:  # no rows or no columns
        return x
    columns = x.reshape(len(a), -1)
    work = make_expm_work(len(a), columns.shape[1])
    expm_action(a, len(a), columns, columns.shape[1], row, tolerance, scale, work)
    return columns.reshape(x.shape)


def row_of(matmuls: int | str) -> int:
    """The row of DEGREES, or AUTO."""
    if isinstance(matmuls, str) and matmuls == "auto":
        return AUTO
    whole = isinstance(matmuls, (int, np.integer)) and not isinstance(matmuls, bool)
    if not whole or not 0 <= int(matmuls) < len(DEGREES):
        raise expected("matmuls", "'auto' or a whole number from 0 to 6", matmuls)
    return int(matmuls)


def first_scales(balance: np.ndarray, n: int) -> np.ndarray:
    """The caller's own array, rounded in place to powers of two, because any other scale would round A."""
    wanted = f"a writable array of {n} positive floats"
    if not isinstance(balance, np.ndarray) or balance.dtype != float or balance.shape != (n,):
        raise expected("balance", wanted, balance, f"start with np.ones({n}), and hand it over again")
    if not balance.flags.writeable or not np.all((balance > 0.0) & np.isfinite(balance)):
        raise expected("balance", wanted, balance, f"start with np.ones({n}), and hand it over again")
    balance[:] = 2.0 ** np.round(np.log2(balance))
    return balance
