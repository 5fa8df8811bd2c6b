"""The configuration manifold: q ⊕ v·dt, q₁ ⊖ q₀, and the rate ẋ of a tangent vector x while q ⊕ x moves with v.

A free joint moves along a straight line and turns by the exponential map of its body-frame angular velocity. The
product of unit quaternions has unit length up to round-off, which ``integrate`` removes by a normalisation.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.math.quaternion import exponential, logarithm, multiply
from stickslip.model.arrays import BALL, FREE


@kernel
def integrate(tree, q, v, dt, out):
    """out = q ⊕ v·dt; ``out`` may be ``q`` itself."""
    for j in range(tree.joint_type.shape[0]):
        kind, i, d = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j]
        if kind == FREE:
            for k in range(3):
                out[i + k] = q[i + k] + dt * v[d + k]
            i += 3
            d += 3
        if kind == FREE or kind == BALL:
            ew, ex, ey, ez = exponential(dt * v[d], dt * v[d + 1], dt * v[d + 2])
            w, x, y, z = multiply(q[i], q[i + 1], q[i + 2], q[i + 3], ew, ex, ey, ez)
            s = 1.0 / sqrt(w * w + x * x + y * y + z * z)
            out[i], out[i + 1], out[i + 2], out[i + 3] = s * w, s * x, s * y, s * z
        else:
            out[i] = q[i] + dt * v[d]


@kernel
def difference(tree, q0, q1, out):
    """out (nv,): the velocity that leads from q0 to q1 in unit time."""
    for j in range(tree.joint_type.shape[0]):
        kind, i, d = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j]
        if kind == FREE:
            for k in range(3):
                out[d + k] = q1[i + k] - q0[i + k]
            i += 3
            d += 3
        if kind == FREE or kind == BALL:
            w, x, y, z = multiply(q0[i], -q0[i + 1], -q0[i + 2], -q0[i + 3], q1[i], q1[i + 1], q1[i + 2], q1[i + 3])
            out[d], out[d + 1], out[d + 2] = logarithm(w, x, y, z)
        else:
            out[d] = q1[i] - q0[i]


@kernel
def pull_back(tree, x, v, out):
    """out = ẋ while q ⊕ x moves with the velocity v. It equals v except for rotations. ẋ = ω + x×ω/2 + (1/12 +
    |x|²/720)·x×(x×ω), the inverse of the exponential map's derivative up to |x|⁶."""
    for d in range(v.shape[0]):
        out[d] = v[d]
    for j in range(tree.joint_type.shape[0]):
        kind, d = tree.joint_type[j], tree.joint_v[j]
        if kind == FREE:
            d += 3
        if kind == FREE or kind == BALL:
            a, b, c = x[d], x[d + 1], x[d + 2]
            p = b * v[d + 2] - c * v[d + 1]
            r = c * v[d] - a * v[d + 2]
            s = a * v[d + 1] - b * v[d]
            k = 1.0 / 12.0 + (a * a + b * b + c * c) / 720.0
            out[d] += 0.5 * p + k * (b * s - c * r)
            out[d + 1] += 0.5 * r + k * (c * p - a * s)
            out[d + 2] += 0.5 * s + k * (a * r - b * p)
