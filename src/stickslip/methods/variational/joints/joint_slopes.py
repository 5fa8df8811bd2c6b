"""Derivatives of the joint forces at the beginning of a variational step: actuators, springs, dampers.

With τ(q, q̇, u) as in ``joint_impulses``, h·(τ − h·K·q̇) in every joint velocity:

    by_q = ∂τ/∂q        servos, springs; for ball and free joints 3×3, by the rotation vector in body axes
    by_v = ∂(τ − h·K·q̇)/∂q̇ − D′·(q̇⁺ − q̇)    servos, dampers, −h·K; D′ is how D of a polynomial damper changes with q̇
    by_u = ∂τ/∂u        gain·gear, 0 where the control or the force is clipped

All actuators drive one hinge or slide joint each (``Variational.gradient`` refuses other models).
K and the gains jump where a servo reaches its force limit; elsewhere their derivatives are zero.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.dynamics.drive_forces import drive_forces
from stickslip.dynamics.implicit_joint_forces import radial_slope
from stickslip.dynamics.joint_forces import (
    damper_slope,
    displacement,
    has_spring,
    tangent_stiffness,
    turned,
)
from stickslip.math.quaternion import inverse_right_jacobian
from stickslip.model.arrays import FREE, HINGE, SLIDE


@kernel
def joint_slopes(tree, passive, actuators, q, v, after, control, dt, by_q, by_v, by_u):
    """by_q (nv, 3), by_v (nv,) and by_u (nu,) at q (nq,) and v (nv,), the beginning of a step whose rates (nv,) at the
    end are ``after``. by_q is over the coordinates of the same triple (ball, free), or in column 0."""
    for d in range(v.shape[0]):
        slope = damper_slope(passive, d, v[d])
        by_q[d, 0], by_q[d, 1], by_q[d, 2], by_v[d] = 0.0, 0.0, 0.0, -slope
        if slope > 0.0:
            b1, b2 = passive.damping_poly[d, 0], passive.damping_poly[d, 1]
            turn = 1.0 if v[d] > 0.0 else (-1.0 if v[d] < 0.0 else 0.0)
            by_v[d] -= (2.0 * turn * b1 + 6.0 * b2 * v[d]) * (after[d] - v[d])
    for j in range(tree.joint_type.shape[0]):
        kind, i, d = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j]
        if kind == HINGE or kind == SLIDE:
            by_q[d, 0] -= tangent_stiffness(passive, j, q[i] - passive.q_spring[i])
            continue
        if not has_spring(passive, j):
            continue
        if kind == FREE:
            s = passive.q_spring
            k, outer = radial_slope(passive, j, displacement(s, q, i))
            for m in range(3):
                by_q[d + m, m] -= k
                for n in range(3):
                    by_q[d + m, n] -= outer * (q[i + m] - s[i + m]) * (q[i + n] - s[i + n])
            i, d = i + 3, d + 3
        x, y, z = turned(passive.q_spring, q, i)
        k, outer = radial_slope(passive, j, sqrt(x * x + y * y + z * z))
        a, b, c, e, f, g, h, m, n = inverse_right_jacobian(x, y, z)
        by_q[d, 0], by_q[d, 1], by_q[d, 2] = -k * a, -k * b, -k * c
        by_q[d + 1, 0], by_q[d + 1, 1], by_q[d + 1, 2] = -k * e, -k * f, -k * g
        by_q[d + 2, 0], by_q[d + 2, 1], by_q[d + 2, 2] = -k * h, -k * m, -k * n
        if outer != 0.0:  # φ·φᵀ·J⁻¹ = φ·φᵀ
            by_q[d, 0], by_q[d, 1], by_q[d, 2] = (
                by_q[d, 0] - outer * x * x, by_q[d, 1] - outer * x * y, by_q[d, 2] - outer * x * z
            )  # fmt: skip
            by_q[d + 1, 0], by_q[d + 1, 1], by_q[d + 1, 2] = (
                by_q[d + 1, 0] - outer * y * x, by_q[d + 1, 1] - outer * y * y, by_q[d + 1, 2] - outer * y * z
            )  # fmt: skip
            by_q[d + 2, 0], by_q[d + 2, 1], by_q[d + 2, 2] = (
                by_q[d + 2, 0] - outer * z * x, by_q[d + 2, 1] - outer * z * y, by_q[d + 2, 2] - outer * z * z
            )  # fmt: skip
    drive_forces(actuators, q, v, control)
    for a in range(control.shape[0]):
        d, arm = actuators.column[actuators.start[a]], actuators.value[actuators.start[a]]
        by_q[d, 0] -= arm * arm * actuators.stiffness[a]
        by_v[d] -= arm * arm * (actuators.damping[a] + dt * max(0.0, actuators.stiffness[a]))
        by_u[a] = arm * actuators.by_control[a]


@kernel
def triple_start(tree, dof_link, d):
    """(first velocity, number of velocities) that ``by_q`` of velocity d is over."""
    b = dof_link[d]
    for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
        if tree.joint_type[j] == HINGE or tree.joint_type[j] == SLIDE:
            if tree.joint_v[j] == d:
                return d, 1
        else:
            return tree.joint_v[j] + 3 * ((d - tree.joint_v[j]) // 3), 3
    return d, 1
