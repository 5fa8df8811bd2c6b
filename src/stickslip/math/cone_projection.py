"""The second-order friction cone K = {p: |p_t| ≤ μ·p_n} of vectors (normal, tangent 1, tangent 2).

Its polar cone is {x: x_n ≤ −μ·|x_t|}, its dual cone K* = {x: μ·|x_t| ≤ x_n}. μ = 0 leaves the half-line of normals.
"""

from __future__ import annotations

from stickslip._jit import kernel


@kernel
def project_cone(n, t1, t2, mu):
    """The point of K that is nearest to (n, t1, t2)."""
    length = (t1 * t1 + t2 * t2) ** 0.5
    if length <= mu * n and n >= 0.0:  # for μ = 0 the first test alone would accept every n < 0 with length 0
        return n, t1, t2
    if n <= -mu * length:
        return 0.0, 0.0, 0.0
    normal = (n + mu * length) / (1.0 + mu * mu)
    if normal <= 0.0:
        return 0.0, 0.0, 0.0
    shrink = mu * normal / length
    return normal, shrink * t1, shrink * t2
