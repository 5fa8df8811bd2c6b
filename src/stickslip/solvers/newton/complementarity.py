"""Functions that vanish exactly where a box-constrained complementarity condition holds, with their derivatives.

For a variable y between lower and upper with w = F(y), and φ(a, b) = a + b − √(a² + b²) (Fischer 1992):

    Fischer–Burmeister:  lower bound only φ(y − lower, w), upper only −φ(upper − y, −w), free w,
                         both φ(y − lower, −φ(upper − y, −w))   (Billups 1995),
    minimum map:         y − mid(lower, y − w, upper), for 0 ≤ y ⟂ w ≥ 0: min(y, w).

All vectors are (n,). Derivatives (∂/∂y, ∂/∂w) are never negative. They are computed without cancellation: far into
the solution, 1 − a/√(a² + b²) is b²/(r·(r + a)). They decide which rows a Newton system can leave out.
"""

from __future__ import annotations

import math

import numpy as np

from stickslip._jit import kernel

AT_KINK = 1.0 - math.sqrt(0.5)
"""Both derivatives of φ where a = b = 0, approached along a = b > 0."""


@kernel
def _phi(a, b):
    r = math.hypot(a, b)
    if a > 0.0 and b > 0.0:
        return 2.0 * a * b / (a + b + r)
    return a + b - r


@kernel
def _slope(a, b, r):
    """1 − a/r."""
    if a > 0.0:
        return b * b / (r * (r + a))
    return 1.0 - a / r


@kernel
def fischer(y, w, lower, upper, kink, phi, dy, dw):
    """Values and derivatives at (y, w) into phi, dy, dw; returns ½‖φ‖². Derivatives are AT_KINK where r ≤ kink."""
    total = 0.0
    for i in range(y.shape[0]):
        below, above = lower[i] > -np.inf, upper[i] < np.inf
        value, by_y, by_w = w[i], 0.0, 1.0
        if above:
            a, b = upper[i] - y[i], -w[i]
            r = math.hypot(a, b)
            value = -_phi(a, b)
            by_y = _slope(a, b, r) if r > kink else AT_KINK
            by_w = _slope(b, a, r) if r > kink else AT_KINK
        if below:
            a, b = y[i] - lower[i], value
            r = math.hypot(a, b)
            value = _phi(a, b)
            first = _slope(a, b, r) if r > kink else AT_KINK
            second = _slope(b, a, r) if r > kink else AT_KINK
            by_y, by_w = first + second * by_y, second * by_w
        phi[i], dy[i], dw[i] = value, by_y, by_w
        total += value * value
    return 0.5 * total


@kernel
def fischer_merit(y, w, lower, upper):
    """½‖φ‖²."""
    total = 0.0
    for i in range(y.shape[0]):
        value = w[i]
        if upper[i] < np.inf:
            value = -_phi(upper[i] - y[i], -w[i])
        if lower[i] > -np.inf:
            value = _phi(y[i] - lower[i], value)
        total += value * value
    return 0.5 * total


@kernel
def minmap(y, w, lower, upper, kink, phi, dy, dw):
    """Write φ by the minimum map and its derivatives, (1, 0) at a bound and (0, 1) in between; returns ½·Σφ²."""
    total = 0.0
    for i in range(y.shape[0]):
        moved = y[i] - w[i]
        bound = lower[i] if moved < lower[i] else upper[i]
        if moved < lower[i] or moved > upper[i]:
            value, dy[i], dw[i] = y[i] - bound, 1.0, 0.0
        else:
            value, dy[i], dw[i] = w[i], 0.0, 1.0
        phi[i] = value
        total += value * value
    return 0.5 * total


@kernel
def minmap_merit(y, w, lower, upper):
    """½‖natural map‖²."""
    total = 0.0
    for i in range(y.shape[0]):
        value = y[i] - min(max(y[i] - w[i], lower[i]), upper[i])
        total += value * value
    return 0.5 * total


@kernel
def natural_size(y, w, lower, upper, scale):
    """‖natural map‖∞ in the units before scaling: variables scale·y, functions w/scale."""
    largest = 0.0
    for i in range(y.shape[0]):
        s = scale[i]
        value = abs(s * y[i] - min(max(s * y[i] - w[i] / s, s * lower[i]), s * upper[i]))
        if not value <= largest:
            largest = value
    return largest
