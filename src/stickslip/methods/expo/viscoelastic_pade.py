"""Averages of a viscoelastic system over a step by Padé approximants, with linear systems of half the size.

As in ``modes.py``, but every contact may have its own ratio β = B/K:

    y″ = −S·y − S·β·y′ + c,   wanted: ∫(y + βy′) and ∫∫(y + βy′) over [0, h].

With P₁ = ∫y and P₂ = ∫P₁ the first-order system for (y, w, P₁, P₂, 1) is the augmented one of Hammoud et al., eqs. (29)
and (30). A Padé approximant of its exponential, eq. (31), is a product of Cayley factors (``pade.py``). In the system
of each pole, (1 − εÂ)·r = z with ε = h/(mρ), everything but w is eliminated in closed form:

    (1 + S·(εβ + ε²))·r_w = z_w + ε·c − ε·S·z_y,    r_y = z_y + ε·r_w,    r_P₁ = z_P₁ + ε·r_y,    r_P₂ = z_P₂ + ε·r_P₁.

No matrix product is needed at any order. The scaled coordinates balance the system: S is symmetric, so that its rows
and columns have equal norms, and the remaining scale between positions and velocities gives ‖A‖ ≤ √‖S‖ + β‖S‖.

The approximant is applied m times, in proportion to ‖hA‖, which is large if a contact is heavily overdamped beside
others that are not. If squaring the dense exponential of eq. (30), of size 2n + 3, costs less (beyond ‖hA‖ ≈ 100 to
500), that is done instead (eq. (32), ``expm.py``). Its cost grows with log₂‖hA‖ only, so that no damping makes a step
hang.

Differs from the paper in: the structure above (the paper always uses a dense matrix of size 2n + 3, balanced by
iteration); if a tolerance is given, degree and repetitions or squarings follow from the norm.
"""

from __future__ import annotations

from math import log2, sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.expm import AUTO, ExpmWork, expm_action
from stickslip.math.linear import lu_factor, lu_solve
from stickslip.math.pade import DEGREE, DEGREES, POLES, repetitions

SQUARE = 0
"""Value for the number of repetitions that selects the dense exponential by squaring."""
DENSE_TOLERANCE = 1e-15
"""Tolerance of the dense exponential, whose cost hardly depends on it."""


class PadeWork(NamedTuple):
    """Scratch for systems of up to n rows."""

    real: np.ndarray
    """(n, n) the system of the real pole, factored."""
    complex: np.ndarray
    """(6, n, n) the systems of the complex poles, factored."""
    pivot: np.ndarray
    """(7, 2n + 3) row exchanges of the factors."""
    state: np.ndarray
    """(4, n) y, w, P₁, P₂."""
    force: np.ndarray
    """(n,) S·y."""
    solution: np.ndarray
    """(n,) solution of the system of the real pole."""
    solutions: np.ndarray
    """(n,) solution of the system of a complex pole."""
    dense: np.ndarray
    """(8, 2n + 3, 2n + 3) eq. (30), its powers, and scratch of its exponential."""
    columns: np.ndarray
    """(2, 2n + 3, 2) last two columns of that exponential, and scratch."""
    scale: np.ndarray
    """(2n + 3,) scales of its balancing."""


def make_pade_work(n: int) -> PadeWork:
    return PadeWork(
        real=np.zeros((n, n)),
        complex=np.zeros((6, n, n), dtype=complex),
        pivot=np.zeros((7, 2 * n + 3), dtype=np.int64),
        state=np.zeros((4, n)),
        force=np.zeros(n),
        solution=np.zeros(n),
        solutions=np.zeros(n, dtype=complex),
        dense=np.zeros((8, 2 * n + 3, 2 * n + 3)),
        columns=np.zeros((2, 2 * n + 3, 2)),
        scale=np.zeros(2 * n + 3),
    )


@kernel
def balanced_norm(S, n, beta, h):
    """A bound of ‖h·Â‖: that of the balanced A = [0 1; −S −Sβ], or 1 for the chain of integrals y → P₁ → P₂."""
    norm, ratio = 0.0, 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += abs(S[i, j])
        norm = max(norm, total)
        ratio = max(ratio, beta[i])
    return 1.0 + h * (sqrt(norm) + ratio * norm)


@kernel
def choose(norm, tolerance, n):
    """(row of DEGREES, repetitions or SQUARE) of least cost for a relative tolerance; cost in real multiply–adds.

    The smallest of the integrals is h⁴/24 of an acceleration, and the error must be smaller by that factor. Degree 1 is
    excluded because it gets the integrals of a constant acceleration wrong.
    """
    if not norm < np.inf:
        return 1, 1  # the result is not finite in any case
    row, times, least = 1, 1.0, np.inf
    for k in range(1, len(DEGREES)):
        m = repetitions(k, norm, tolerance / 24.0)
        pairs, single = DEGREE[k] // 2, DEGREE[k] % 2
        cost = (4.0 * pairs + single) * (n * n * n / 3.0) + m * (5.0 * pairs + 2.0 * single) * n * n
        if cost < least:
            row, times, least = k, m, cost
    size, products = 2.0 * n + 3.0, 7.0 + max(0.0, log2(norm))
    if 0.5 * products * size * size * size < least:  # products run at twice the speed of complex solves
        return row, SQUARE
    return row, int(times)


@kernel
def pade_averages(S, n, beta, h, row, times, pade, y, w, c):
    """Overwrite y with ∫(y + βy′) and w with ∫∫(y + βy′) over [0, h]; ``beta`` (n,), ``row`` of DEGREES. ``times`` is
    the number of repetitions, or SQUARE, which chooses its own degree."""
    if times == SQUARE:
        dense_averages(S, n, beta, h, AUTO, DENSE_TOLERANCE, pade, y, w, c)
        return
    pairs, single = DEGREE[row] // 2, DEGREE[row] % 2
    tau = h / times
    if single:
        factor_pole(S, n, beta, tau / POLES[row, 6 - pairs].real, pade.real, pade.pivot[6])
    for k in range(pairs):
        factor_pole(S, n, beta, tau / POLES[row, 7 - pairs + k], pade.complex[k], pade.pivot[k])
    z = pade.state
    for i in range(n):
        z[0, i], z[1, i], z[2, i], z[3, i] = y[i], w[i], 0.0, 0.0
    for _ in range(times):
        if single:
            real_factor(S, n, tau / POLES[row, 6 - pairs].real, pade, c)
        for k in range(pairs):
            complex_factor(S, n, tau, POLES[row, 7 - pairs + k], k, pade, c)
    for i in range(n):
        start = y[i]
        y[i] = z[2, i] + beta[i] * (z[0, i] - start)
        w[i] = z[3, i] + beta[i] * (z[2, i] - h * start)


@kernel
def factor_pole(S, n, beta, eps, A, pivot):
    for i in range(n):
        for j in range(n):
            A[i, j] = S[i, j] * (eps * (beta[j] + eps))
        A[i, i] += 1.0
    lu_factor(A, n, pivot)


@kernel
def spring_forces(S, n, z, out):
    for i in range(n):
        out[i] = 0.0
    for j in range(n):
        for i in range(n):
            out[i] += S[j, i] * z[0, j]


@kernel
def real_factor(S, n, eps, pade, c):
    """z ← −z + 2·(1 − εÂ)⁻¹·z."""
    z, r = pade.state, pade.solution
    spring_forces(S, n, z, pade.force)
    for i in range(n):
        r[i] = z[1, i] + eps * (c[i] - pade.force[i])
    lu_solve(pade.real, n, pade.pivot[6], r)
    for i in range(n):
        ry = z[0, i] + eps * r[i]
        r1 = z[2, i] + eps * ry
        r2 = z[3, i] + eps * r1
        z[0, i], z[1, i] = 2.0 * ry - z[0, i], 2.0 * r[i] - z[1, i]
        z[2, i], z[3, i] = 2.0 * r1 - z[2, i], 2.0 * r2 - z[3, i]


@kernel
def complex_factor(S, n, tau, pole, k, pade, c):
    """z ← z + 2·Re[κ·(1 − εÂ)⁻¹·z], ε = τ/ρ, κ = 2i·Re ρ/Im ρ."""
    z, r, eps = pade.state, pade.solutions, tau / pole
    twice = -4.0 * pole.real / pole.imag  # 2·Re[κ·r] = −(4·Re ρ/Im ρ)·Im r
    spring_forces(S, n, z, pade.force)
    for i in range(n):
        r[i] = z[1, i] + eps * (c[i] - pade.force[i])
    lu_solve(pade.complex[k], n, pade.pivot[k], r)
    for i in range(n):
        ry = z[0, i] + eps * r[i]
        r1 = z[2, i] + eps * ry
        r2 = z[3, i] + eps * r1
        z[0, i] += twice * ry.imag
        z[1, i] += twice * r[i].imag
        z[2, i] += twice * r1.imag
        z[3, i] += twice * r2.imag


@kernel
def dense_averages(S, n, beta, h, row, tolerance, pade, y, w, c):
    """Compute the averages by eq. (29): the last two columns of the exponential of eq. (30) are ∫x and ∫∫x of
    x = (y, y′). Its rows are y, y′, then 1, t and t²/2 of the polynomial that drives them: c, then the initial values
    (y, w). ``row`` of DEGREES without scaling (Sec. V-C), or AUTO to reach ``tolerance`` with squarings."""
    A, X, size = pade.dense[0], pade.columns[0], 2 * n + 3
    work = ExpmWork(
        pade.dense[1:5], pade.dense[5], pade.dense[6], pade.dense[7], pade.columns[1], pade.pivot[0]
    )  # fmt: skip
    for i in range(size):
        pade.scale[i] = 1.0
        X[i, 0], X[i, 1] = 0.0, 0.0
        for j in range(size):
            A[i, j] = 0.0
    for i in range(n):
        A[i, n + i] = h
        for j in range(n):
            A[n + i, j] = -h * S[i, j]
            A[n + i, n + j] = -h * S[i, j] * beta[j]
        A[n + i, 2 * n] = h * c[i]
        A[i, 2 * n + 1], A[n + i, 2 * n + 1] = h * y[i], h * w[i]
    A[2 * n, 2 * n + 1], A[2 * n + 1, 2 * n + 2] = h, h
    X[2 * n + 1, 0], X[2 * n + 2, 1] = 1.0, 1.0
    expm_action(A, size, X, 2, row, tolerance, pade.scale, work)
    for i in range(n):
        y[i] = X[i, 0] + beta[i] * X[n + i, 0]
        w[i] = X[i, 1] + beta[i] * X[n + i, 1]
