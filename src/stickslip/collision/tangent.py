"""The first tangent of a contact frame on a curved surface, as a function of the normal alone.

The frame (n, t₁, t₂) is what the smallest rotation that takes the axis z to n makes of (z, x, y):

    t₁ = x − (x·n)/(1 + z·n)·(z + n),    t₂ = n × t₁

It is smooth but at n = −z, where every field of tangents on a sphere must break somewhere (the hairy ball). Near there
t₁ is ±x or anything between, turning with the direction from which n comes. Since it has no memory, it is the same
whenever the normal is; while the normal travels, it turns about the normal by no more than the field does.
"""

from __future__ import annotations

from stickslip._jit import kernel

POLE = 1e-200
"""Squared sine of the angle between n and −z below which there is no direction left to speak of."""


@kernel
def smooth_tangent(x, y, z):
    """t₁ of the unit normal (x, y, z), all in the coordinates of the axes that the frame is carried along from."""
    across = x * x + y * y
    if across < POLE:
        return 1.0, 0.0, 0.0
    fraction = 1.0 / (1.0 + z) if z > 0.0 else (1.0 - z) / across  # the same number, without cancellation
    return 1.0 - x * x * fraction, -x * y * fraction, -x
