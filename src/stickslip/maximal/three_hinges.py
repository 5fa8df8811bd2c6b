"""The angles of three hinges through one point (Davenport's; Euler's and Cardan's among them), and their derivatives.

Each axis is at right angles to the next one: R = exp(u₁a)·exp(u₂b)·exp(u₃c), with the axes at a = b = c = 0. With the
angle λ from u₁ to u₃ about u₂ and β = b + λ,

    R·u₃ = cos β·u₁ + sin β·(cos a·w + sin a·u₂)          w = u₂ × u₁
    Rᵀ·u₁ = cos β·u₃ − sin β·(cos c·w' − sin c·u₂)        w' = u₂ × u₃

These give the three angles. Their derivatives by the relative rotation follow from those of atan2, with p = u₂·R·u₃ and
r = w·R·u₃ of the first line:

    ∂a = R·u₃ × (r·u₂ − p·w)/(p² + r²),    ∂b = −R·u₃ × u₁/sin β

and that of c as that of a. Two sets of angles give the same R, with the opposite sign of sin β. The hinges keep the
sign of their first configuration: beyond gimbal lock (sin β = 0) the first and the last angle jump by half a turn.
"""

from __future__ import annotations

from math import atan2, sqrt

from stickslip._jit import kernel
from stickslip.math.spatial import cross, rotate
from stickslip.maximal.joint_axes import parent_axis

LOCK = 1e-6
"""Smallest |sin β| that derivatives are divided by."""


@kernel
def angle_about(nx, ny, nz, ox, oy, oz, yx, yy, yz, sign):
    """The angle atan2(n·y, o·y), both times ``sign``, and its derivative (c·n − a·o) by y."""
    a, c = sign * (nx * yx + ny * yy + nz * yz), sign * (ox * yx + oy * yy + oz * yz)
    s = sign / max(a * a + c * c, LOCK * LOCK)
    return atan2(a, c), s * (c * nx - a * ox), s * (c * ny - a * oy), s * (c * nz - a * oz)


@kernel
def angle_of_three(tree, kin, b, first, which):
    """The angle, less q₀, of hinge first + ``which`` of link b's three, and its derivative by the rotation of the link
    relative to the parent, in world axes."""
    u = tree.joint_axis
    e1x, e1y, e1z = parent_axis(tree, kin, b, u, first)
    e3x, e3y, e3z = rotate(kin.rot, b, u[first + 2, 0], u[first + 2, 1], u[first + 2, 2])
    x, y, z = cross(u[first + 1, 0], u[first + 1, 1], u[first + 1, 2], u[first, 0], u[first, 1], u[first, 2])
    sine = x * u[first + 2, 0] + y * u[first + 2, 1] + z * u[first + 2, 2]
    sign = 1.0 if sine > 0.0 else -1.0
    if which == 0:
        e2x, e2y, e2z = parent_axis(tree, kin, b, u, first + 1)
        wx, wy, wz = cross(e2x, e2y, e2z, e1x, e1y, e1z)
        angle, x, y, z = angle_about(e2x, e2y, e2z, wx, wy, wz, e3x, e3y, e3z, sign)
        x, y, z = cross(e3x, e3y, e3z, x, y, z)
        return angle, x, y, z
    if which == 2:
        e2x, e2y, e2z = rotate(kin.rot, b, u[first + 1, 0], u[first + 1, 1], u[first + 1, 2])
        wx, wy, wz = cross(e3x, e3y, e3z, e2x, e2y, e2z)
        angle, x, y, z = angle_about(e2x, e2y, e2z, wx, wy, wz, e1x, e1y, e1z, sign)
        x, y, z = cross(x, y, z, e1x, e1y, e1z)
        return angle, x, y, z
    nx, ny, nz = cross(e1x, e1y, e1z, e3x, e3y, e3z)
    across, along = sqrt(nx * nx + ny * ny + nz * nz), e1x * e3x + e1y * e3y + e1z * e3z
    before = u[first, 0] * u[first + 2, 0] + u[first, 1] * u[first + 2, 1] + u[first, 2] * u[first + 2, 2]
    s = sign / max(across, LOCK)
    return atan2(sign * across, along) - atan2(sine, before), s * nx, s * ny, s * nz
