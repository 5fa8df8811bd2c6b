"""The damped oscillator g″ + d·g′ + σ·g = 0, g(0) = 0, g′(0) = 1, and its first five time integrals, exactly.

With G₁ = ∫₀ʰg, G₂ = ∫G₁, … the motion y″ = −σ·y − d·y′ + c from (y₀, w₀) has the closed forms

    y(h)  = y₀·(1 − σG₁) + w₀·g  + c·G₁
    ∫y    = y₀·(h − σG₂) + w₀·G₁ + c·G₂
    ∫∫y   = y₀·(h²/2 − σG₃) + w₀·G₂ + c·G₃

valid for σ = 0, underdamped, critical and overdamped motion. They are evaluated in three ways, each where it loses no
digits:

* short steps (σh² ≤ 1, dh ≤ 2): the power series of g;
* two well separated real roots r: Gₖ = hᵏ·(φₖ(r₁h) − φₖ(r₂h)) / (r₁ − r₂), φₖ(x) = Σ xʲ/(j + k)!;
* otherwise: sine or hyperbolic sine for g, and the integrated equation for the rest, as in σG₁ = 1 − g′ − d·g.
"""

from __future__ import annotations

from math import cos, cosh, exp, factorial, sin, sinh, sqrt

import numpy as np

from stickslip._jit import kernel

TERMS = 34
"""Terms of the power series, enough for 1e-16 if σh² ≤ 1 and dh ≤ 2."""
INVERSE = np.array([0.0] + [1.0 / k for k in range(1, TERMS + 6)])
"""1/k: multiplying is four times faster than dividing."""
FACTORIAL = np.array([1.0 / factorial(k + 5) for k in range(15)])
"""1/(k + 5)!: the series of φ₅, to 1e-17 for |x| ≤ 1."""


@kernel
def response(sigma, d, h):
    """(g, G₁, … G₅) at time h; σ ≥ 0, d ≥ 0."""
    q, z = sigma * h * h, d * h
    quarter = 0.25 * z * z - q  # a quarter of the discriminant, times h²
    if q <= 1.0 and z <= 2.0:
        g, G1, G2, G3, G4, G5 = power_series(q, z)
    elif quarter > 0.25:
        g, G1, G2, G3, G4, G5 = separate_roots(q, z, sqrt(quarter))
    else:
        g, G1, G2, G3, G4, G5 = merged_roots(q, z, quarter)
    h2 = h * h
    return h * g, h2 * G1, h * h2 * G2, h2 * h2 * G3, h * h2 * h2 * G4, h2 * h2 * h2 * G5


@kernel
def power_series(q, z):
    # coefficients c_k of g = Σ c_k: k·(k − 1)·c_k = −z·(k − 1)·c_{k−1} − q·c_{k−2}, starting at c₁ = 1
    before, now = 0.0, 1.0
    g, G1, G2, G3, G4, G5 = 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0
    for k in range(2, TERMS):
        before, now = now, -(z * now + q * before * INVERSE[k - 1]) * INVERSE[k]
        g += now
        part = now * INVERSE[k + 1]
        G1 += part
        part *= INVERSE[k + 2]
        G2 += part
        part *= INVERSE[k + 3]
        G3 += part
        part *= INVERSE[k + 4]
        G4 += part
        G5 += part * INVERSE[k + 5]
        if abs(now) + abs(before) < 1e-18:
            break
    return g, G1, G2, G3, G4, G5


@kernel
def phi(x):
    """(e^x, φ₁, … φ₅) for x ≤ 0."""
    if x > -1.0:
        p5 = 0.0
        for k in range(14, -1, -1):
            p5 = FACTORIAL[k] + x * p5
        p4 = 1.0 / 24.0 + x * p5
        p3 = 1.0 / 6.0 + x * p4
        p2 = 0.5 + x * p3
        p1 = 1.0 + x * p2
        return 1.0 + x * p1, p1, p2, p3, p4, p5
    p0, inverse = exp(x), 1.0 / x
    p1 = (p0 - 1.0) * inverse
    p2 = (p1 - 1.0) * inverse
    p3 = (p2 - 0.5) * inverse
    p4 = (p3 - 1.0 / 6.0) * inverse
    return p0, p1, p2, p3, p4, (p4 - 1.0 / 24.0) * inverse


@kernel
def separate_roots(q, z, root):
    slow = -q / (0.5 * z + root)  # the small root from the product of the two: no cancellation
    a0, a1, a2, a3, a4, a5 = phi(slow)
    b0, b1, b2, b3, b4, b5 = phi(-0.5 * z - root)
    s = 0.5 / root
    return s * (a0 - b0), s * (a1 - b1), s * (a2 - b2), s * (a3 - b3), s * (a4 - b4), s * (a5 - b5)


@kernel
def merged_roots(q, z, quarter):
    decay = exp(-0.5 * z)
    root = sqrt(abs(quarter))
    if root < 1e-4:
        ratio, even = 1.0 + quarter / 6.0, 1.0 + quarter / 2.0
    elif quarter > 0.0:
        ratio, even = sinh(root) / root, cosh(root)
    else:
        ratio, even = sin(root) / root, cos(root)
    g = decay * ratio
    rate = decay * (even - 0.5 * z * ratio)
    inverse = 1.0 / q
    G1 = (1.0 - rate - z * g) * inverse
    G2 = (1.0 - g - z * G1) * inverse
    G3 = (0.5 - G1 - z * G2) * inverse
    G4 = (1.0 / 6.0 - G2 - z * G3) * inverse
    return g, G1, G2, G3, G4, (1.0 / 24.0 - G3 - z * G4) * inverse
