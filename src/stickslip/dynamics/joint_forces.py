"""Forces in the joints: actuators and tendons (``drive_forces``), springs, limits.

A limit is a one-sided spring-damper that pushes but never pulls. Joint damping is added by each method, because some
treat it implicitly.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.dynamics.drive_forces import add_drive_forces, drive_forces
from stickslip.math.quaternion import logarithm, multiply
from stickslip.model.arrays import BALL, FREE, HINGE, SLIDE


@kernel
def turned(q0, q1, i):
    """The rotation vector from the quaternion at q0[i] to that at q1[i], in body axes."""
    w, x, y, z = multiply(q0[i], -q0[i + 1], -q0[i + 2], -q0[i + 3], q1[i], q1[i + 1], q1[i + 2], q1[i + 3])
    return logarithm(w, x, y, z)


@kernel
def joint_space_forces(tree, passive, actuators, q, v, control, applied, tau):
    """tau (nv,): actuators, tendons, springs, dampers and applied forces, and limits if ``passive`` has them."""
    for d in range(tau.shape[0]):
        tau[d] = applied[d] - passive.damping[d] * v[d]
    drive_forces(actuators, q, v, control)
    add_drive_forces(actuators, tau)
    spring_and_limit_forces(tree, passive, q, v, tau)


@kernel
def spring_and_limit_forces(tree, passive, q, v, tau):
    """tau += joint springs and joint limits."""
    for j in range(tree.joint_type.shape[0]):
        kind, i, d, stiffness = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j], passive.stiffness[j]
        if kind == HINGE or kind == SLIDE:
            tau[d] -= stiffness * (q[i] - passive.q_spring[i])
            if passive.limited[j] != 0:
                below, above = passive.range[j, 0] - q[i], q[i] - passive.range[j, 1]
                k, b = passive.limit_stiffness[j], passive.limit_damping[j]
                if below > 0.0:
                    tau[d] += max(0.0, k * below - b * v[d])
                if above > 0.0:
                    tau[d] -= max(0.0, k * above + b * v[d])
            continue
        if kind == FREE:
            for k in range(3):
                tau[d + k] -= stiffness * (q[i + k] - passive.q_spring[i + k])
            i += 3
            d += 3
        x, y, z = turned(passive.q_spring, q, i)
        tau[d] -= stiffness * x
        tau[d + 1] -= stiffness * y
        tau[d + 2] -= stiffness * z
        if kind == BALL and passive.limited[j] != 0:
            x, y, z = logarithm(q[i], q[i + 1], q[i + 2], q[i + 3])
            angle = sqrt(x * x + y * y + z * z)
            above = angle - passive.range[j, 1]
            if above > 0.0:
                x, y, z = x / angle, y / angle, z / angle
                rate = x * v[d] + y * v[d + 1] + z * v[d + 2]
                push = max(0.0, passive.limit_stiffness[j] * above + passive.limit_damping[j] * rate)
                tau[d] -= push * x
                tau[d + 1] -= push * y
                tau[d + 2] -= push * z


@kernel
def joint_gains(tree, passive, q, v, stiffness, damping):
    """Diagonals (nv,) of −∂τ/∂q and −∂τ/∂v at this state, for methods that treat joint forces implicitly: dampers,
    springs, and limits that push. Those of tendons and actuators are added by ``add_drive_gains``."""
    for d in range(v.shape[0]):
        stiffness[d], damping[d] = 0.0, passive.damping[d]
    for j in range(tree.joint_type.shape[0]):
        kind, i, d = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j]
        if kind == HINGE or kind == SLIDE:
            stiffness[d] += passive.stiffness[j]
            if passive.limited[j] != 0:
                k, b = passive.limit_stiffness[j], passive.limit_damping[j]
                below, above = passive.range[j, 0] - q[i], q[i] - passive.range[j, 1]
                if (below > 0.0 and k * below > b * v[d]) or (above > 0.0 and k * above > -b * v[d]):
                    stiffness[d] += k
                    damping[d] += b
        else:
            for k in range(6 if kind == FREE else 3):
                stiffness[d + k] += passive.stiffness[j]


@kernel
def spring_energy(tree, passive, q):
    """Energy stored in the joint springs [J], without the limits'."""
    energy = 0.0
    for j in range(tree.joint_type.shape[0]):
        kind, i, half = tree.joint_type[j], tree.joint_q[j], 0.5 * passive.stiffness[j]
        if half == 0.0:
            continue
        s = passive.q_spring
        if kind == HINGE or kind == SLIDE:
            energy += half * (q[i] - s[i]) ** 2
            continue
        if kind == FREE:
            for k in range(3):
                energy += half * (q[i + k] - s[i + k]) ** 2
            i += 3
        w, x, y, z = multiply(s[i], -s[i + 1], -s[i + 2], -s[i + 3], q[i], q[i + 1], q[i + 2], q[i + 3])
        x, y, z = logarithm(w, x, y, z)
        energy += half * (x * x + y * y + z * z)
    return energy
