"""MuJoCo's soft contacts: reference acceleration and regularisation from ``solref`` and ``solimp``.

For every row that pushes or sticks, with gap r and rate u, MuJoCo asks for an acceleration a with a + R·f = a_ref:

    a_ref = −b·u − k·d(r)·r,    R = (1 − d(r))/d(r)·Â
    solref (T, ζ), both > 0:     b = 2/(d_max·T),    k = 1/(d_max·T·ζ)²
    solref (−s, −c), both ≤ 0:   b = c/d_max,        k = s/d_max²
    d(r) = d_0 + (d_width − d_0)·y(|r|/width), y a power function with y(0) = 0, y(midpoint) = midpoint, y(x ≥ 1) = 1,

or the mean of d_0 and d_width where width = 0, and d_max = d_width. Tangents have k = 0 and R divided by ``impratio``.
Â approximates the diagonal of W; here it is that diagonal. With a = (u⁺ − u)/dt and p = f·dt, this becomes at the level
of velocities and impulses

    u⁺ + R·p + (dt·b − 1)·u + dt·k·d·r = 0:    R stays as it is, and b_row = G·v_free − (1 − dt·b)·u + dt·k·d·r.

Only contacts that overlap take part, as with MuJoCo's margin of 0. T is at least 2·dt, as with MuJoCo's ``refsafe``.
Reference: MuJoCo's documentation, "Computation: Constraint model" and "Modeling: Solver parameters".
Differs from MuJoCo in: Â, which MuJoCo takes from the model's initial configuration; joint limits are rigid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.errors import expected, number

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
"""MuJoCo's defaults."""
NEAREST = 1e-4
"""Least distance of impedances and of the midpoint from 0 and 1."""


class SoftReference:
    """A checked ``solref`` and ``solimp``; d₀, d_width and the midpoint are kept away from 0 and 1, as in MuJoCo."""

    def __init__(self, solref: Any, solimp: Any) -> None:
        wanted = "(time constant > 0, damping ratio > 0) or (−stiffness ≤ 0, −damping ≤ 0)"
        self.solref = _numbers("solref", solref, 2, wanted)
        if not (min(self.solref) > 0.0 or max(self.solref) <= 0.0):
            raise expected("solref", wanted, solref)
        wanted = "(d0, dwidth, width ≥ 0, midpoint, power ≥ 1) with d0, dwidth and midpoint from 0 to 1"
        d0, d1, width, middle, power = _numbers("solimp", solimp, 5, wanted)
        if min(d0, d1, middle) < 0.0 or max(d0, d1, middle) > 1.0 or width < 0.0 or power < 1.0:
            raise expected("solimp", wanted, solimp)
        d0, d1, middle = (min(1.0 - NEAREST, max(NEAREST, x)) for x in (d0, d1, middle))
        self.solimp = (d0, d1, width, middle, power)

    def spring(self, dt: float) -> tuple[float, float]:
        """k [1/s²] and b [1/s]."""
        first, second = self.solref
        largest = self.solimp[1]
        if first <= 0.0:
            return -first / largest**2, -second / largest
        constant = max(first, 2.0 * dt)
        return 1.0 / (largest * constant * second) ** 2, 2.0 / (largest * constant)

    def impedance(self, gap: np.ndarray) -> np.ndarray:
        """d(r) of gaps [m]."""
        d0, d1, width, middle, power = self.solimp
        if width == 0.0:
            return np.full(len(gap), 0.5 * (d0 + d1))
        x = np.minimum(1.0, np.abs(gap) / width)
        below = x**power / middle ** (power - 1.0)
        above = 1.0 - (1.0 - x) ** power / (1.0 - middle) ** (power - 1.0)
        return d0 + np.where(x <= middle, below, above) * (d1 - d0)


def _numbers(what: str, value: Any, n: int, wanted: str) -> tuple[float, ...]:
    if isinstance(value, str) or np.shape(value) != (n,):
        raise expected(what, wanted, value)
    return tuple(number(what, x, wanted) for x in value)
