"""The damped oscillator g″ + d·g′ + σ·g = 0, g(0) = 0, g′(0) = 1, and its first three time integrals, exactly.

With G₁ = ∫₀ʰg, G₂ = ∫G₁, G₃ = ∫G₂, the motion y″ = −σ·y − d·y′ + c from (y₀, w₀) has the closed forms

    y(h)  = y₀·(1 − σG₁) + w₀·g  + c·G₁
    ∫y    = y₀·(h − σG₂) + w₀·G₁ + c·G₂
    ∫∫y   = y₀·(h²/2 − σG₃) + w₀·G₂ + c·G₃

valid for σ = 0, underdamped, critical and overdamped. Three ways to evaluate them, each where it loses no digits:

* short steps (σh², dh ≤ 1): the power series of g;
* two well separated real roots r: Gₖ = hᵏ·(φₖ(r₁h) − φₖ(r₂h)) / (r₁ − r₂), φₖ(x) = Σ xʲ/(j + k)!;
* otherwise: sine or hyperbolic sine for g, and the integrated equation for the rest, as in σG₁ = 1 − g′ − d·g.
"""

from __future__ import annotations

from math import cos, cosh, exp, factorial, sin, sinh, sqrt

import numpy as np

from stickslip._jit import kernel

TERMS = 22
"""Of the power series: enough for 1e-16 where σh² and dh are at most 1."""
INVERSE = np.array([0.0] + [1.0 / k for k in range(1, TERMS + 4)])
"""1/k: multiplying is four times faster than dividing."""
FACTORIAL = np.array([1.0 / factorial(k + 3) for k in range(16)])
"""1/(k + 3)!: the series of φ₃, to 1e-17 for |x| ≤ 1."""


@kernel
def response(sigma, d, h):
    """(g, G₁, G₂, G₃) at time h; σ ≥ 0, d ≥ 0."""
    q, z = sigma * h * h, d * h
    if q <= 1.0 and z <= 1.0:
        return power_series(q, z, h)
    quarter = 0.25 * z * z - q  # a quarter of the discriminant, times h²
    if quarter > 0.25:
        return separate_roots(q, z, sqrt(quarter), h)
    return merged_roots(q, z, quarter, h)


@kernel
def power_series(q, z, h):
    # coefficients c_k of g = h·Σ c_k: (k + 2)(k + 1)·c_{k+2} = −z·(k + 1)·c_{k+1} − q·c_k, starting at c₁ = 1
    before, now = 0.0, 1.0
    g, G1, G2, G3 = 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0
    for k in range(2, TERMS):
        before, now = now, -(z * now + q * before * INVERSE[k - 1]) * INVERSE[k]
        g += now
        part = now * INVERSE[k + 1]
        G1 += part
        part *= INVERSE[k + 2]
        G2 += part
        G3 += part * INVERSE[k + 3]
        if abs(now) + abs(before) < 1e-18:
            break
    return h * g, h * h * G1, h * h * h * G2, h * h * h * h * G3


@kernel
def phi(x):
    """(e^x, φ₁, φ₂, φ₃) for x ≤ 0."""
    if x > -1.0:
        p3 = 0.0
        for k in range(15, -1, -1):
            p3 = FACTORIAL[k] + x * p3
        p2 = 0.5 + x * p3
        p1 = 1.0 + x * p2
        return 1.0 + x * p1, p1, p2, p3
    p0, inverse = exp(x), 1.0 / x
    p1 = (p0 - 1.0) * inverse
    p2 = (p1 - 1.0) * inverse
    return p0, p1, p2, (p2 - 0.5) * inverse


@kernel
def separate_roots(q, z, root, h):
    slow = -q / (0.5 * z + root)  # the small root from the product of the two: no cancellation
    a0, a1, a2, a3 = phi(slow)
    b0, b1, b2, b3 = phi(-0.5 * z - root)
    scale = 0.5 * h / root
    return scale * (a0 - b0), scale * h * (a1 - b1), scale * h * h * (a2 - b2), scale * h * h * h * (a3 - b3)


@kernel
def merged_roots(q, z, quarter, h):
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
    G1 = (1.0 - rate - z * g) / q
    G2 = (1.0 - g - z * G1) / q
    G3 = (0.5 - G1 - z * G2) / q
    return h * g, h * h * G1, h * h * h * G2, h * h * h * h * G3
