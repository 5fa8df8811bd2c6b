"""Derivatives of the joint forces at the beginning of a variational step: actuators, springs, dampers.

With τ(q, q̇, u) as in ``joint_impulses``, h·(τ − h·K·q̇) in every joint velocity:

    by_q = ∂τ/∂q        servos, springs; for ball and free joints 3×3, by the rotation vector in body axes
    by_v = ∂(τ − h·K·q̇)/∂q̇    servos, dampers, −h·K
    by_u = ∂τ/∂u        gain·gear, 0 where the control or the force is clipped

All actuators drive one hinge or slide joint each (``Variational.gradient`` refuses other models).
K and the gains jump where a servo reaches its force limit; elsewhere their derivatives are zero.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.drive_forces import drive_forces
from stickslip.dynamics.joint_forces import turned
from stickslip.math.quaternion import inverse_right_jacobian
from stickslip.model.arrays import FREE, HINGE, SLIDE


@kernel
def joint_slopes(tree, passive, actuators, q, v, control, dt, by_q, by_v, by_u):
    """by_q (nv, 3), by_v (nv,) and by_u (nu,) at q (nq,) and v (nv,), the beginning of a step. by_q is over the
    coordinates of the same triple (ball, free), or in column 0."""
    for d in range(v.shape[0]):
        by_q[d, 0], by_q[d, 1], by_q[d, 2], by_v[d] = 0.0, 0.0, 0.0, -passive.damping[d]
    for j in range(tree.joint_type.shape[0]):
        kind, i, d, k = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j], passive.stiffness[j]
        if kind == HINGE or kind == SLIDE:
            by_q[d, 0] -= k
            continue
        if kind == FREE:
            for m in range(3):
                by_q[d + m, m] -= k
            i, d = i + 3, d + 3
        if k != 0.0:
            x, y, z = turned(passive.q_spring, q, i)
            a, b, c, e, f, g, h, m, n = inverse_right_jacobian(x, y, z)
            by_q[d, 0], by_q[d, 1], by_q[d, 2] = -k * a, -k * b, -k * c
            by_q[d + 1, 0], by_q[d + 1, 1], by_q[d + 1, 2] = -k * e, -k * f, -k * g
            by_q[d + 2, 0], by_q[d + 2, 1], by_q[d + 2, 2] = -k * h, -k * m, -k * n
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
