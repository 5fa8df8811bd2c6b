"""Forces in the joints: actuators and tendons (``drive_forces``), springs, dampers, limits.

    spring    −(k₀ + k₁·e + k₂·e²)·e    e: deviation of a hinge or slide from its rest position
              −(k₀ + k₁·|φ| + k₂·|φ|²)·φ    φ: rotation vector, or displacement, of a ball or free joint
    damper    −(b₀ + b₁·|v| + b₂·v²)·v    for every joint velocity v

Each is MuJoCo's. A limit is a one-sided spring-damper that pushes but never pulls. Joint damping is added by each
method, because some treat it implicitly.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.drive_forces import add_drive_forces, drive_forces
from stickslip.math.quaternion import logarithm, multiply
from stickslip.model.arrays import BALL, FREE, HINGE, SLIDE
from stickslip.model.model import Model


@kernel
def damper_force(passive, d, v):
    """Force of the damper of joint velocity d at the speed v."""
    speed = abs(v)
    return -(passive.damping[d] + speed * (passive.damping_poly[d, 0] + speed * passive.damping_poly[d, 1])) * v


@kernel
def damper_slope(passive, d, v):
    """−∂force/∂v of the damper of joint velocity d at the speed v."""
    speed = abs(v)
    return passive.damping[d] + speed * (2.0 * passive.damping_poly[d, 0] + 3.0 * speed * passive.damping_poly[d, 1])


@kernel
def has_spring(passive, j):
    """Whether joint j has a spring; spares ball and free joints a logarithm."""
    return passive.stiffness[j] != 0.0 or passive.stiffness_poly[j, 0] != 0.0 or passive.stiffness_poly[j, 1] != 0.0


@kernel
def secant_stiffness(passive, j, e):
    """k₀ + k₁·e + k₂·e² of the spring of joint j at the deviation e: force per deviation."""
    return passive.stiffness[j] + e * (passive.stiffness_poly[j, 0] + e * passive.stiffness_poly[j, 1])


@kernel
def tangent_stiffness(passive, j, e):
    """k₀ + 2·k₁·e + 3·k₂·e² of the spring of joint j at the deviation e: −∂force/∂e."""
    return passive.stiffness[j] + e * (2.0 * passive.stiffness_poly[j, 0] + 3.0 * e * passive.stiffness_poly[j, 1])


def damper_slopes(model: Model, v: np.ndarray) -> np.ndarray:
    """(nv,) −∂force/∂v of all dampers at v."""
    return np.array([max(0.0, damper_slope(model.joint_forces, d, float(v[d]))) for d in range(model.nv)])


def largest_stiffness(model: Model, q: np.ndarray) -> np.ndarray:
    """(nj,) the largest −∂force/∂e of each spring at q and, if it is polynomial and its joint is limited, anywhere in
    the range [N m/rad or N/m]."""
    tree, passive = model.tree, model.joint_forces
    stiffness = passive.stiffness.copy()
    for j in np.flatnonzero(passive.stiffness_poly.any(axis=1)):
        i, kind, rest = tree.joint_q[j], tree.joint_type[j], passive.q_spring
        if kind == HINGE or kind == SLIDE:
            ends = [q[i] - rest[i], *(passive.range[j] - rest[i] if passive.limited[j] else ())]
        elif kind == FREE:
            ends = [displacement(rest, q, i), np.linalg.norm(turned(rest, q, i + 3))]
        else:
            ends = [np.linalg.norm(turned(rest, q, i)), *(passive.range[j, 1:] if passive.limited[j] else ())]
        stiffness[j] = max(0.0, *(tangent_stiffness(passive, j, float(e)) for e in ends))
    return stiffness


@kernel
def energy_of_spring(passive, j, e):
    """Energy of the spring of joint j at the deviation e [J]."""
    k1, k2 = passive.stiffness_poly[j, 0], passive.stiffness_poly[j, 1]
    return e * e * (0.5 * passive.stiffness[j] + e * (k1 / 3.0 + 0.25 * e * k2))


@kernel
def turned(q0, q1, i):
    """The rotation vector from the quaternion at q0[i] to that at q1[i], in body axes."""
    w, x, y, z = multiply(q0[i], -q0[i + 1], -q0[i + 2], -q0[i + 3], q1[i], q1[i + 1], q1[i + 2], q1[i + 3])
    return logarithm(w, x, y, z)


@kernel
def displacement(q0, q1, i):
    """Distance between the positions at q0[i] and q1[i] [m]."""
    x, y, z = q1[i] - q0[i], q1[i + 1] - q0[i + 1], q1[i + 2] - q0[i + 2]
    return sqrt(x * x + y * y + z * z)


@kernel
def joint_space_forces(tree, passive, actuators, q, v, control, applied, tau):
    """tau (nv,): actuators, tendons, springs, dampers and applied forces, and limits if ``passive`` has them."""
    for d in range(tau.shape[0]):
        tau[d] = applied[d] + damper_force(passive, d, v[d])
    drive_forces(actuators, q, v, control)
    add_drive_forces(actuators, tau)
    spring_and_limit_forces(tree, passive, q, v, tau)


@kernel
def spring_and_limit_forces(tree, passive, q, v, tau):
    """tau += joint springs and joint limits."""
    for j in range(tree.joint_type.shape[0]):
        kind, i, d = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j]
        if kind == HINGE or kind == SLIDE:
            e = q[i] - passive.q_spring[i]
            tau[d] -= secant_stiffness(passive, j, e) * e
            if passive.limited[j] != 0:
                below, above = passive.range[j, 0] - q[i], q[i] - passive.range[j, 1]
                k, b = passive.limit_stiffness[j], passive.limit_damping[j]
                if below > 0.0:
                    tau[d] += max(0.0, k * below - b * v[d])
                if above > 0.0:
                    tau[d] -= max(0.0, k * above + b * v[d])
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
    springs, and limits that push. Those of tendons and actuators are added by ``add_drive_gains``. A part that is
    negative counts as zero; of polynomial springs of ball and free joints it is the force per deviation."""
    for d in range(v.shape[0]):
        stiffness[d], damping[d] = 0.0, max(0.0, damper_slope(passive, d, v[d]))
    for j in range(tree.joint_type.shape[0]):
        kind, i, d = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j]
        if kind == HINGE or kind == SLIDE:
            stiffness[d] += max(0.0, tangent_stiffness(passive, j, q[i] - passive.q_spring[i]))
            if passive.limited[j] != 0:
                k, b = passive.limit_stiffness[j], passive.limit_damping[j]
                below, above = passive.range[j, 0] - q[i], q[i] - passive.range[j, 1]
                if (below > 0.0 and k * below > b * v[d]) or (above > 0.0 and k * above > -b * v[d]):
                    stiffness[d] += k
                    damping[d] += b
        elif has_spring(passive, j):
            if kind == FREE:
                spring = secant_stiffness(passive, j, displacement(passive.q_spring, q, i))
                for k in range(3):
                    stiffness[d + k] += max(0.0, spring)
                i, d = i + 3, d + 3
            x, y, z = turned(passive.q_spring, q, i)
            spring = secant_stiffness(passive, j, sqrt(x * x + y * y + z * z))
            for k in range(3):
                stiffness[d + k] += max(0.0, spring)


@kernel
def spring_energy(tree, passive, q):
    """Energy stored in the joint springs [J], without the limits'."""
    energy = 0.0
    for j in range(tree.joint_type.shape[0]):
        kind, i, s = tree.joint_type[j], tree.joint_q[j], passive.q_spring
        if kind == HINGE or kind == SLIDE:
            energy += energy_of_spring(passive, j, q[i] - s[i])
            continue
        if kind == FREE:
            energy += energy_of_spring(passive, j, displacement(s, q, i))
            i += 3
        if has_spring(passive, j):
            x, y, z = turned(s, q, i)
            energy += energy_of_spring(passive, j, sqrt(x * x + y * y + z * z))
    return energy
