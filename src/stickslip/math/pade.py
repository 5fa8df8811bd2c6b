"""Padé approximants of the exponential: orders, poles, errors, and how to choose one.

The diagonal approximant of degree j is r_j(z) = q(−z)/q(z), q(z) = Σ_k (2j−k)! j! / ((2j)! k! (j−k)!) · (−z)^k. Its
error is r_j(z) − e^z ≈ ±c_j·z^(2j+1), c_j = (j!)² / ((2j)! (2j+1)!). Applied m times to e^(A/m), with ‖A‖ ≤ ν, the
error stays below a tolerance ε for

    m·c_j·(ν/m)^(2j+1) ≤ ε,   that is   m = ν·(c_j·ν/ε)^(1/2j).

With poles ρ (the zeros of q, all to the right of the imaginary axis), r_j is a product of Cayley factors
(1 + z/ρ)/(1 − z/ρ): each needs one linear system and no matrix product. A conjugate pair of poles is a single complex
system, since (1 + z/ρ)(1 + z/ρ̄) / ((1 − z/ρ)(1 − z/ρ̄)) = 1 + 2·Re[κ/(1 − z/ρ)] with κ = 2i·Re ρ/Im ρ.

References: Higham, SIAM J. Matrix Anal. Appl. 26(4), 2005; Hammoud et al., Sec. V, eqs. (31), (32).
"""

from __future__ import annotations

from math import ceil, factorial

import numpy as np

from stickslip._jit import kernel

DEGREES = (1, 2, 3, 5, 7, 9, 13)
"""Degree of the approximant that 0, 1, … 6 matrix products give."""


def coefficients(degree: int) -> np.ndarray:
    """b_k of q(−z) = Σ b_k z^k, b_0 = 1."""
    j, f = degree, factorial
    return np.array([f(2 * j - k) * f(j) / (f(2 * j) * f(k) * f(j - k)) for k in range(j + 1)])


def find_poles(degree: int) -> np.ndarray:
    """The zeros of q with Im ≥ 0: first the real one (odd degrees only), then one of each conjugate pair. Newton's
    method in extended precision refines them to the last digit."""
    ascending = coefficients(degree).astype(np.longdouble) * (-1) ** np.arange(degree + 1)
    scaled = ascending / np.abs(ascending[-1])
    roots = np.roots(scaled[::-1].astype(float)).astype(np.clongdouble)
    slope = scaled[1:] * np.arange(1, degree + 1)
    for _ in range(8):
        roots -= np.polyval(scaled[::-1], roots) / np.polyval(slope[::-1], roots)
    upper = roots[roots.imag > -1e-9 * np.abs(roots)]
    return upper[np.argsort(upper.imag)].astype(complex)


def _table() -> tuple[np.ndarray, np.ndarray]:
    poles = np.zeros((len(DEGREES), 7), dtype=complex)
    error = np.zeros(len(DEGREES))
    for row, j in enumerate(DEGREES):
        found = find_poles(j)
        poles[row, 7 - len(found) :] = found  # pairs fill the row from its end; a real pole comes just before them
        error[row] = factorial(j) ** 2 / (factorial(2 * j) * factorial(2 * j + 1))
    return poles, error


POLES, ERROR = _table()
"""(7, 7) poles, right-aligned; (7,) error constants c_j; one row per entry of DEGREES."""
BETA = np.array([np.pad(coefficients(j), (0, 13 - j)) for j in DEGREES])
"""(7, 14) coefficients b_k of the numerator."""
DEGREE = np.array(DEGREES, dtype=np.int64)


@kernel
def repetitions(row, norm, tolerance):
    """m, as a float: how often the approximant of e^(A/m) is applied so that the error stays below the tolerance."""
    if norm == 0.0:
        return 1.0
    j = DEGREE[row]
    return max(1.0, float(ceil(min(1e15, norm * (ERROR[row] * norm / tolerance) ** (0.5 / j)))))
