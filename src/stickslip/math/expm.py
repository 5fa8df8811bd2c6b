"""The matrix exponential of a small dense matrix acting on a few columns: balancing, Padé, scaling and squaring.

    e^A·V = D·(r_j(D⁻¹AD/2^s))^(2^s)·D⁻¹·V

* Balancing: D is diagonal, of powers of two, such that rows and columns of D⁻¹AD have like norms (Osborne). The scale
  of the last matrix of a sequence is a good start of the search for the next one (warm start).
* Degree j and scaling s: those with the fewest matrix products for a tolerance (``pade.py``), or a fixed number of
  products without scaling, as in Hammoud et al., Sec. V-C.
* r_j = (V − U)⁻¹(V + U) with odd and even parts U, V (Higham 2005). Without squaring, only the wanted columns are
  solved for (eq. 33).

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


class ExpmWork(NamedTuple):
    """Scratch for n×n matrices and c columns."""

    powers: np.ndarray
    """(4, n, n) A², A⁴, A⁶, A⁸."""
    U: np.ndarray
    """(n, n) odd part, then numerator."""
    V: np.ndarray
    """(n, n) even part, then denominator."""
    other: np.ndarray
    """(n, n)."""
    columns: np.ndarray
    """(n, c)."""
    pivot: np.ndarray
    """(n,)."""


def make_expm_work(n: int, columns: int) -> ExpmWork:
    U, V, other = np.zeros((3, n, n))
    return ExpmWork(np.zeros((4, n, n)), U, V, other, np.zeros((n, columns)), np.zeros(n, dtype=np.int64))


@kernel
def balance(A, n, scale):
    """A ← D⁻¹AD in place, D = diag(scale) of powers of two; ``scale`` (n,) holds a first guess, and the result."""
    for i in range(n):
        for j in range(n):
            A[i, j] *= scale[j] / scale[i]
    for _ in range(20):
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
            break


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
    """(row of DEGREES, squarings) with the fewest products for a tolerance."""
    row, squarings, least = 0, 0, np.inf
    for k in range(len(DEGREES)):
        s = ceil(log2(repetitions(k, norm, tolerance)))
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
    """X[:n, :columns] ← e^A·X; A is lost. ``row`` of DEGREES, or AUTO with a tolerance. Returns (row, squarings)."""
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
    U, V, other = work.U, work.V, work.other
    for i in range(n):
        for j in range(n):
            U[i, j], V[i, j] = V[i, j] + U[i, j], V[i, j] - U[i, j]
    lu_factor(V, n, work.pivot)
    if squarings == 0:
        apply(U, n, X, columns, work.columns)
        lu_solve_columns(V, n, work.pivot, X, columns)
    else:
        lu_solve_columns(V, n, work.pivot, U, n)
        for _ in range(squarings):
            matmul(U, U, n, other)
            for i in range(n):
                for j in range(n):
                    U[i, j] = other[i, j]
        apply(U, n, X, columns, work.columns)
    for i in range(n):
        for j in range(columns):
            X[i, j] *= scale[i]
    return row, squarings


@kernel
def apply(A, n, X, columns, scratch):
    """X ← A·X."""
    for i in range(n):
        for j in range(columns):
            scratch[i, j] = 0.0
        for k in range(n):
            for j in range(columns):
                scratch[i, j] += A[i, k] * X[k, j]
    for i in range(n):
        for j in range(columns):
            X[i, j] = scratch[i, j]


def expm_multiply(A, X, *, matmuls: int | str = "auto", tolerance: float = 1e-14) -> np.ndarray:
    """e^A·X for a square A (n, n) and X (n,) or (n, c).

    ``matmuls`` = 0 … 6 takes the approximant that so many products allow, without scaling; "auto" takes order and
    scaling that reach ``tolerance`` (relative to the norm of the result) with the fewest products.

    >>> expm_multiply(np.array([[0.0, 1.0], [-1.0, 0.0]]), [1.0, 0.0])  # a rotation by one radian
    array([ 0.54030231, -0.84147098])
    """
    a = np.array(A, dtype=float, order="C")
    x = np.array(X, dtype=float, order="C")
    if a.ndim != 2 or a.shape[0] != a.shape[1] or not np.all(np.isfinite(a)):
        raise expected("A", "a square matrix of finite numbers", f"shape {a.shape}")
    if x.ndim not in (1, 2) or x.shape[0] != len(a):
        raise expected("X", f"an array of {len(a)} rows", f"shape {x.shape}")
    columns = x.reshape(len(a), -1)
    row = AUTO if matmuls == "auto" else matmuls
    if not isinstance(row, int) or not (row == AUTO or 0 <= row < len(DEGREES)):
        raise expected("matmuls", "'auto' or a whole number from 0 to 6", matmuls)
    tolerance = number("tolerance", tolerance, "a positive number", above=0.0)
    work = make_expm_work(len(a), columns.shape[1])
    expm_action(a, len(a), columns, columns.shape[1], row, tolerance, np.ones(len(a)), work)
    return columns.reshape(x.shape)
