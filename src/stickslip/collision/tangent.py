"""The first tangent of a contact frame on a curved surface, as a function of the normal alone.

The frame (n, t₁, t₂) is (z, x, y), turned by the smallest rotation that takes z to n:

    t₁ = x − (x·n)/(1 + z·n)·(z + n),    t₂ = n × t₁

It is smooth except at n = −z; by the hairy-ball theorem every field of tangents on a sphere has such a point. Near it
t₁ turns quickly with the direction of n. The frame depends on the normal alone, not on its history.
"""

from __future__ import annotations

from stickslip._jit import kernel

POLE = 1e-200
"""Squared sine of the angle between n and −z below which n is taken as −z."""


@kernel
def smooth_tangent(x, y, z):
    """t₁ of the unit normal (x, y, z); both are in the axes x, y, z of the formula above."""
    across = x * x + y * y
    if across < POLE:
        return 1.0, 0.0, 0.0
    fraction = 1.0 / (1.0 + z) if z > 0.0 else (1.0 - z) / across  # the same number, without cancellation
    return 1.0 - x * x * fraction, -x * y * fraction, -x


@kernel
def carried_axis(x, y, z):
    """(x, y, z) in the axes (2, 1, −2)/3, (−2, 2, −1)/3, (1, 2, 2)/3, which are the columns of a rotation."""
    return (2 * x + y - 2 * z) / 3, (-2 * x + 2 * y - z) / 3, (x + 2 * y + 2 * z) / 3


@kernel
def from_carried_axis(x, y, z):
    return (2 * x - 2 * y + z) / 3, (x + 2 * y + 2 * z) / 3, (-2 * x - y + 2 * z) / 3
