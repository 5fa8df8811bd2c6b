"""Cylinders by their support function, s(n) = r·√(1 − (n·a)²) + h·|n·a|, and the best axis against an edge.

The axes n ⟂ e that an edge e supports form an arc n(φ). Along it the gap to a cylinder at the origin is

    G(φ) = n·p − s(n),    p a point of the edge,

which is smooth except where n·a = 0. Maxima inside the smooth parts are contacts of the edge with a rim. Those at the
ends of the parts are contacts of faces or of the cylinder's side, which have closed forms.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

from stickslip._jit import kernel

PIECES = 5
"""Number of intervals of a quarter; at most one maximum is searched for in each."""


@kernel
def support(r, h, along):
    """s(n) for n·a = ``along``."""
    return r * sqrt(max(0.0, 1.0 - along * along)) + h * abs(along)


@kernel
def slope(r, h, A, B, C, D, phi):
    """G′(φ) of G = A·cos φ + B·sin φ − s(C·cos φ + D·sin φ)."""
    c, s = cos(phi), sin(phi)
    w, dw = C * c + D * s, D * c - C * s
    root = sqrt(max(1e-300, 1.0 - w * w))
    return B * c - A * s + (r * w / root - (h if w > 0.0 else -h)) * dw


@kernel(inline=False)
def best_on_quarter(r, h, A, B, C, D, peak, sign, near, far):
    """(G, φ) of the largest maximum of G at φ = peak + sign·u, near < u < far; G = −1e300 if there is none. |n·a| is
    largest at ``peak``. If n comes close to a there, s(n) bends sharply, so the intervals are short there."""
    best, at = -1e300, 0.0
    left = sign * slope(r, h, A, B, C, D, peak + sign * near)
    for i in range(PIECES):
        f, g = i / PIECES, (i + 1) / PIECES
        u0, u1 = near + (far - near) * f * f * f, near + (far - near) * g * g * g
        right = sign * slope(r, h, A, B, C, D, peak + sign * u1)
        if left > 0.0 >= right:
            for _ in range(60):
                u = 0.5 * (u0 + u1)
                if u <= u0 or u >= u1:
                    break
                if sign * slope(r, h, A, B, C, D, peak + sign * u) > 0.0:
                    u0 = u
                else:
                    u1 = u
            x = peak + sign * 0.5 * (u0 + u1)
            value = A * cos(x) + B * sin(x) - support(r, h, C * cos(x) + D * sin(x))
            if value > best:
                best, at = value, x
        left = right
    return best, at


@kernel
def best_on_arc(r, h, A, B, C, D, length):
    """(G, φ) of the largest interior maximum for 0 < φ < length. The arc is divided where n·a is 0 or largest."""
    best, at, start = -1e300, 0.0, 0.0
    border, at_zero = atan2(-C, D), True
    while border > 0.0:
        border, at_zero = border - 0.5 * pi, not at_zero
    while border <= 0.0:
        border, at_zero = border + 0.5 * pi, not at_zero
    while start < length:
        end = min(border, length)
        inner = 1e-12 * (end - start)  # slopes jump at n·a = 0
        if end - start > 1e-9:
            if at_zero:
                peak = border - 0.5 * pi
                value, x = best_on_quarter(r, h, A, B, C, D, peak, 1.0, start - peak + inner, end - peak - inner)
            else:
                value, x = best_on_quarter(r, h, A, B, C, D, border, -1.0, border - end + inner, border - start - inner)
            if value > best:
                best, at = value, x
        start, border, at_zero = end, border + 0.5 * pi, not at_zero
    return best, at
