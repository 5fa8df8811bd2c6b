"""Joint forces at the end of a step, and their derivatives: actuators, springs, limits, damping.

    τ(q⁺, v⁺) = applied + Jᵀ·f(ℓ, ℓ̇, u) − k·(q⁺ ⊖ q_s) − D·v⁺ ∓ max(0, k_l·e + b_l·(e − e₀)/dt)

k and D depend on deviation and speed where a spring or damper is polynomial (``joint_forces``).

e > 0 is how far a limit is exceeded, e₀ ≥ 0 how far at the beginning of the step: (e − e₀)/dt is the mean rate.
With the joint's speed ė in place of it (``mean`` = 0) the force jumps by b_l·v where the limit is met, and an implicit
equation with a discontinuous force need not have a solution. For hinges and slides that are already beyond the limit
the two are the same.

Derivatives by the orientation of a ball or free joint are by its rotation vector in body axes, as everywhere.
Differs from ``joint_forces.py`` in: damping is included; the damper of a limit may use (e − e₀)/dt.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.dynamics.drive_forces import add_drive_forces, add_drive_slopes, drive_forces
from stickslip.dynamics.joint_forces import (
    damper_force,
    damper_slope,
    displacement,
    has_spring,
    secant_stiffness,
    tangent_stiffness,
    turned,
)
from stickslip.math.quaternion import inverse_right_jacobian, logarithm
from stickslip.model.arrays import BALL, FREE, HINGE, SLIDE


@kernel
def end_joint_forces(tree, passive, actuators, inputs, q0, q, v, mean, dt, tau):
    """tau (nv,) at the configuration q and velocity v at the end of a step that began at q0; ``mean`` is 1 if limits
    are damped by their mean rate, 0 for that at the end."""
    for d in range(tau.shape[0]):
        tau[d] = inputs.applied[d] + damper_force(passive, d, v[d])
    drive_forces(actuators, q, v, inputs.control)
    add_drive_forces(actuators, tau)
    for j in range(tree.joint_type.shape[0]):
        kind, i, d = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j]
        if kind == HINGE or kind == SLIDE:
            e = q[i] - passive.q_spring[i]
            tau[d] -= secant_stiffness(passive, j, e) * e
            if passive.limited[j] != 0:
                low, high = passive.range[j, 0], passive.range[j, 1]
                tau[d] += limit_push(passive, j, low - q[i], low - q0[i], -v[d], mean, dt)
                tau[d] -= limit_push(passive, j, q[i] - high, q0[i] - high, v[d], mean, dt)
            continue
        if kind == FREE:
            stiffness = secant_stiffness(passive, j, displacement(passive.q_spring, q, i))
            for k in range(3):
                tau[d + k] -= stiffness * (q[i + k] - passive.q_spring[i + k])
            i += 3
            d += 3
        if has_spring(passive, j):
            x, y, z = turned(passive.q_spring, q, i)
            stiffness = secant_stiffness(passive, j, sqrt(x * x + y * y + z * z))
            x, y, z = stiffness * x, stiffness * y, stiffness * z
            tau[d], tau[d + 1], tau[d + 2] = tau[d] - x, tau[d + 1] - y, tau[d + 2] - z
        if kind == BALL and passive.limited[j] != 0:
            x, y, z, angle = axis_and_angle(q, i)
            before = axis_and_angle(q0, i)[3] - passive.range[j, 1]
            rate = x * v[d] + y * v[d + 1] + z * v[d + 2]
            push = limit_push(passive, j, angle - passive.range[j, 1], before, rate, mean, dt)
            tau[d], tau[d + 1], tau[d + 2] = tau[d] - push * x, tau[d + 1] - push * y, tau[d + 2] - push * z


@kernel
def limit_push(passive, j, excess, before, rate, mean, dt):
    """Force of a limit that is exceeded by ``excess`` now, which grows at ``rate``, and by ``before`` at the beginning
    of the step."""
    if excess <= 0.0:
        return 0.0
    if mean != 0:
        rate = (excess - max(0.0, before)) / dt
    return max(0.0, passive.limit_stiffness[j] * excess + passive.limit_damping[j] * rate)


@kernel
def limit_slopes(passive, j, excess, before, rate, mean, dt):
    """Derivatives of ``limit_push`` by the excess and by its rate."""
    if limit_push(passive, j, excess, before, rate, mean, dt) == 0.0:
        return 0.0, 0.0
    k, b = passive.limit_stiffness[j], passive.limit_damping[j]
    return (k + b / dt, 0.0) if mean != 0 else (k, b)


@kernel
def axis_and_angle(q, i):
    """Unit axis and angle of the quaternion at q[i]; the axis is zero if the angle is."""
    x, y, z = logarithm(q[i], q[i + 1], q[i + 2], q[i + 3])
    angle = sqrt(x * x + y * y + z * z)
    s = 1.0 / angle if angle > 0.0 else 0.0
    return s * x, s * y, s * z, angle


@kernel
def subtract_joint_slopes(tree, passive, actuators, inputs, q0, q, v, mean, dt, turn, block, A):
    """A −= dτ/dv⁺ where q⁺ = q0 ⊕ dt·v⁺; ``turn`` (nj, 3, 3): right Jacobians of the rotations, ``block`` (3, 3)."""
    for d in range(v.shape[0]):
        A[d, d] += damper_slope(passive, d, v[d])
    drive_forces(actuators, q, v, inputs.control)
    add_drive_slopes(actuators, dt, A)
    for j in range(tree.joint_type.shape[0]):
        kind, i, d = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j]
        if kind == HINGE or kind == SLIDE:
            A[d, d] += dt * tangent_stiffness(passive, j, q[i] - passive.q_spring[i])
            if passive.limited[j] != 0:
                low, high = passive.range[j, 0], passive.range[j, 1]
                k, b = limit_slopes(passive, j, low - q[i], low - q0[i], -v[d], mean, dt)
                A[d, d] += dt * k + b
                k, b = limit_slopes(passive, j, q[i] - high, q0[i] - high, v[d], mean, dt)
                A[d, d] += dt * k + b
            continue
        if kind == FREE:
            subtract_displacement_slope(passive, j, i, d, q, dt, A)
            i += 3
            d += 3
        if has_spring(passive, j):
            x, y, z = turned(passive.q_spring, q, i)
            stiffness, outer = radial_slope(passive, j, sqrt(x * x + y * y + z * z))
            fill(block, inverse_right_jacobian(x, y, z), dt * stiffness)
            for c in range(3):  # the rotation vector is an eigenvector of J⁻ᵀ with eigenvalue 1: φ·φᵀ·J⁻¹ = φ·φᵀ
                along = dt * outer * (x if c == 0 else (y if c == 1 else z))
                block[0, c], block[1, c], block[2, c] = (
                    block[0, c] + x * along, block[1, c] + y * along, block[2, c] + z * along
                )  # fmt: skip
            add_turned(block, turn, j, d, A)
        if kind == BALL and passive.limited[j] != 0:
            subtract_ball_limit(passive, j, i, d, q0, q, v, mean, dt, turn, block, A)


@kernel
def radial_slope(passive, j, size):
    """(k, c) of −∂τ/∂φ = k·1 + c·φ·φᵀ, where τ = −(k₀ + k₁·|φ| + k₂·|φ|²)·φ and |φ| = size."""
    k1, k2 = passive.stiffness_poly[j, 0], passive.stiffness_poly[j, 1]
    return secant_stiffness(passive, j, size), (k1 / size if size > 0.0 else 0.0) + 2.0 * k2


@kernel
def subtract_displacement_slope(passive, j, i, d, q, dt, A):
    """The spring of a free joint against displacement: A −= dt·∂τ/∂x."""
    s = passive.q_spring
    k, outer = radial_slope(passive, j, displacement(s, q, i))
    for a in range(3):
        A[d + a, d + a] += dt * k
        for b in range(3):
            A[d + a, d + b] += dt * outer * (q[i + a] - s[i + a]) * (q[i + b] - s[i + b])


@kernel
def subtract_ball_limit(passive, j, i, d, q0, q, v, mean, dt, turn, block, A):
    """τ = −push·u: −dτ = u·(k·δθ + b·(ω·δu + u·δω)) + push·δu, with δθ = u·δφ and δu = (1 − u uᵀ)·J⁻¹·δφ/θ."""
    x, y, z, angle = axis_and_angle(q, i)
    excess, before = angle - passive.range[j, 1], axis_and_angle(q0, i)[3] - passive.range[j, 1]
    rate = x * v[d] + y * v[d + 1] + z * v[d + 2]
    push = limit_push(passive, j, excess, before, rate, mean, dt)
    if push == 0.0:
        return
    slope, damping = limit_slopes(passive, j, excess, before, rate, mean, dt)
    fill(block, inverse_right_jacobian(angle * x, angle * y, angle * z), 1.0 / angle)
    for c in range(3):
        along = x * block[0, c] + y * block[1, c] + z * block[2, c]
        b0, b1, b2 = block[0, c] - along * x, block[1, c] - along * y, block[2, c] - along * z
        grow = slope * (x if c == 0 else (y if c == 1 else z)) + damping * (v[d] * b0 + v[d + 1] * b1 + v[d + 2] * b2)
        block[0, c] = dt * (x * grow + push * b0)
        block[1, c] = dt * (y * grow + push * b1)
        block[2, c] = dt * (z * grow + push * b2)
    add_turned(block, turn, j, d, A)
    if damping != 0.0:
        for c in range(3):
            along = damping * (x if c == 0 else (y if c == 1 else z))
            A[d, d + c], A[d + 1, d + c], A[d + 2, d + c] = (
                A[d, d + c] + x * along, A[d + 1, d + c] + y * along, A[d + 2, d + c] + z * along
            )  # fmt: skip


@kernel
def fill(block, entries, scale):
    block[0, 0], block[0, 1], block[0, 2] = scale * entries[0], scale * entries[1], scale * entries[2]
    block[1, 0], block[1, 1], block[1, 2] = scale * entries[3], scale * entries[4], scale * entries[5]
    block[2, 0], block[2, 1], block[2, 2] = scale * entries[6], scale * entries[7], scale * entries[8]


@kernel
def add_turned(block, turn, j, d, A):
    """A[d: d + 3, d: d + 3] += block·turn[j]."""
    for r in range(3):
        for c in range(3):
            A[d + r, d + c] += block[r, 0] * turn[j, 0, c] + block[r, 1] * turn[j, 1, c] + block[r, 2] * turn[j, 2, c]
