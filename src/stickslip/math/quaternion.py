"""Unit quaternions (w, x, y, z) and rotation matrices.

Small fixed-size results are returned as tuples: they stay in registers, on the CPU and on the GPU.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt, tan

from stickslip._jit import kernel


@kernel
def multiply(aw, ax, ay, az, bw, bx, by, bz):
    """The product a∘b: rotate by b first, then by a."""
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


@kernel
def exponential(x, y, z):
    """The quaternion of the rotation vector (x, y, z) [rad]."""
    angle = sqrt(x * x + y * y + z * z)
    if angle < 1e-4:  # sin(a/2)/a by its series: no cancellation, error below 1e-18
        s = 0.5 - angle * angle / 48.0
    else:
        s = sin(0.5 * angle) / angle
    return cos(0.5 * angle), s * x, s * y, s * z


@kernel
def logarithm(w, x, y, z):
    """The rotation vector [rad] of a unit quaternion, the shorter way round (angle ≤ π)."""
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    n = sqrt(x * x + y * y + z * z)
    if n < 1e-9:
        s = 2.0
    else:
        s = 2.0 * atan2(n, w) / n
    return s * x, s * y, s * z


@kernel
def to_matrix(w, x, y, z):
    """Row-major entries of the rotation matrix of a unit quaternion."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@kernel
def from_matrix(a, b, c, d, e, f, g, h, i):
    """The unit quaternion (w ≥ 0) of a rotation matrix given row by row; Shepperd's choice of the largest pivot."""
    trace = a + e + i
    if trace > a and trace > e and trace > i:
        w, x, y, z = 1.0 + trace, h - f, c - g, d - b
    elif a > e and a > i:
        w, x, y, z = h - f, 1.0 + a - e - i, b + d, c + g
    elif e > i:
        w, x, y, z = c - g, b + d, 1.0 + e - a - i, f + h
    else:
        w, x, y, z = d - b, c + g, f + h, 1.0 + i - a - e
    s = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    if w < 0.0:
        s = -s
    return s * w, s * x, s * y, s * z


@kernel
def axis_angle_matrix(x, y, z, angle):
    """Row-major entries of the rotation by ``angle`` about the unit axis (x, y, z): Rodrigues' formula."""
    s = sin(angle)
    c = cos(angle)
    t = 1.0 - c
    return (
        c + t * x * x,
        t * x * y - s * z,
        t * x * z + s * y,
        t * x * y + s * z,
        c + t * y * y,
        t * y * z - s * x,
        t * x * z - s * y,
        t * y * z + s * x,
        c + t * z * z,
    )


@kernel
def right_jacobian(x, y, z):
    """Row-major entries of J with exp(φ + δ) ≈ exp(φ)·exp(J·δ), φ = (x, y, z) [rad]."""
    square = x * x + y * y + z * z
    if square < 1e-4:  # the series: no cancellation, error below 1e-15
        a, b = 0.5 - square / 24.0 + square * square / 720.0, 1.0 / 6.0 - square / 120.0 + square * square / 5040.0
    else:
        angle = sqrt(square)
        a, b = (1.0 - cos(angle)) / square, (angle - sin(angle)) / (square * angle)
    return _one_plus(-a, b, x, y, z, square)


@kernel
def inverse_right_jacobian(x, y, z):
    """Row-major entries of J⁻¹ with log(exp(φ)·exp(δ)) ≈ φ + J⁻¹·δ, φ = (x, y, z) [rad]."""
    square = x * x + y * y + z * z
    if square < 1e-4:
        b = 1.0 / 12.0 + square / 720.0 + square * square / 30240.0
    else:
        half = 0.5 * sqrt(square)
        b = (1.0 - half / tan(half)) / square
    return _one_plus(0.5, b, x, y, z, square)


@kernel
def _one_plus(a, b, x, y, z, square):
    """1 + a·[φ]× + b·[φ]×², row by row."""
    return (
        1.0 + b * (x * x - square),
        b * x * y - a * z,
        b * x * z + a * y,
        b * x * y + a * z,
        1.0 + b * (y * y - square),
        b * y * z - a * x,
        b * x * z - a * y,
        b * y * z + a * x,
        1.0 + b * (z * z - square),
    )
