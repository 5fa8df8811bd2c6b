"""Inertia along tendons: tendons with armature add a mass a to the rate of their length ℓ.

    M += Σ a·JᵀJ,    bias += Σ a·Jᵀ·(J̇·v),    J = ∂ℓ/∂q

A straight piece from a point of one link to one of another, with the unit vector u and length s between them, has
J̇·v = u·Δp̈ + (|Δṗ|² − (u·Δṗ)²)/s, Δp̈ at zero joint acceleration. Paths are fixed tendons or run through sites and over
pulleys; MuJoCo has no armature of tendons that wrap. The velocities of each lie on one branch of the tree, so that the
packed M has room for it (``model.arrays.Inertia``).
Sizes: na tendons with armature, nnz velocities that change their lengths. Cost: pieces·depth for J, depth² for M.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.jacobian import link_point, point_acceleration, point_velocity
from stickslip.dynamics.tendon_paths import add_piece
from stickslip.model.arrays import ON_JOINT, PULLEY


class Arms(NamedTuple):
    """What ``tendon_paths.add_piece`` needs."""

    poses: NamedTuple
    link_dof: np.ndarray
    dof_parent: np.ndarray
    arm: np.ndarray


@kernel
def cable_point(inertia, kin, e):
    """The site of element e in the world."""
    p = inertia.cable_pos
    return link_point(kin, inertia.cable_on[e], p[e, 0], p[e, 1], p[e, 2])


@kernel
def piece_begins(inertia, e):
    """Whether a straight piece leads from element e to the next."""
    return inertia.cable_kind[e] != PULLEY and inertia.cable_kind[e + 1] != PULLEY


@kernel(inline=False)
def cable_arms(support, inertia, kin):
    """Write J of all tendons with armature into ``kin.arm``."""
    arms = Arms(kin, support.link_dof, support.dof_parent, kin.cable)
    for t in range(inertia.cable_armature.shape[0]):
        divisor, end = 1.0, inertia.cable_start[t + 1]
        for e in range(inertia.cable_start[t], end):
            if inertia.cable_kind[e] == ON_JOINT:  # ``on`` is the joint's velocity
                kin.cable[inertia.cable_on[e]] += inertia.cable_number[e]
                continue
            if inertia.cable_kind[e] == PULLEY:
                divisor = inertia.cable_number[e]
            if e + 1 < end and piece_begins(inertia, e):
                a, b = cable_point(inertia, kin, e), cable_point(inertia, kin, e + 1)
                add_piece(arms, inertia.cable_on[e], a, inertia.cable_on[e + 1], b, 1.0 / divisor)
        for i in range(inertia.cable_row[t], inertia.cable_row[t + 1]):
            d = inertia.cable_column[i]
            kin.arm[i], kin.cable[d] = kin.cable[d], 0.0


@kernel
def cable_rate(inertia, kin, t, v):
    """J·v of tendon t, after ``cable_arms``."""
    rate = 0.0
    for i in range(inertia.cable_row[t], inertia.cable_row[t + 1]):
        rate += kin.arm[i] * v[inertia.cable_column[i]]
    return rate


@kernel
def cable_bend(inertia, kin, t):
    """J̇·v of tendon t, from velocities that are up to date."""
    bend, divisor, end = 0.0, 1.0, inertia.cable_start[t + 1]
    for e in range(inertia.cable_start[t], end):
        if inertia.cable_kind[e] == PULLEY:
            divisor = inertia.cable_number[e]
        if inertia.cable_kind[e] == ON_JOINT or e + 1 == end or not piece_begins(inertia, e):
            continue
        i, j = inertia.cable_on[e], inertia.cable_on[e + 1]
        a, b = cable_point(inertia, kin, e), cable_point(inertia, kin, e + 1)
        x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        length = sqrt(x * x + y * y + z * z)
        if i == j or length == 0.0:
            continue
        x, y, z = x / length, y / length, z / length
        vi, vj = point_velocity(kin, i, a[0], a[1], a[2]), point_velocity(kin, j, b[0], b[1], b[2])
        ai = point_acceleration(kin, kin.acc, i, a[0], a[1], a[2])
        aj = point_acceleration(kin, kin.acc, j, b[0], b[1], b[2])
        u, v, w = vj[0] - vi[0], vj[1] - vi[1], vj[2] - vi[2]
        along = x * u + y * v + z * w
        part = x * (aj[0] - ai[0]) + y * (aj[1] - ai[1]) + z * (aj[2] - ai[2])
        bend += (part + (u * u + v * v + w * w - along * along) / length) / divisor
    return bend


@kernel
def add_cable_mass(support, inertia, kin, M):
    """M (packed) += Σ a·JᵀJ, from kinematics that are up to date."""
    cable_arms(support, inertia, kin)
    for t in range(inertia.cable_armature.shape[0]):
        for i in range(inertia.cable_row[t], inertia.cable_row[t + 1]):
            d, scale = inertia.cable_column[i], inertia.cable_armature[t] * kin.arm[i]
            k = support.start[d]
            for j in range(i, inertia.cable_row[t] - 1, -1):  # columns ascend, those of a packed row descend
                e = inertia.cable_column[j]
                while support.column[k] != e:
                    k += 1
                M[k] += scale * kin.arm[j]


@kernel
def add_cable_forces(support, inertia, kin, a, accelerated, tau):
    """tau (nv,) += Σ a·Jᵀ·(J·a + J̇·v); the accelerations a (nv,) count only if ``accelerated``."""
    cable_arms(support, inertia, kin)
    for t in range(inertia.cable_armature.shape[0]):
        rate = cable_bend(inertia, kin, t)
        if accelerated:
            rate += cable_rate(inertia, kin, t, a)
        for i in range(inertia.cable_row[t], inertia.cable_row[t + 1]):
            tau[inertia.cable_column[i]] += inertia.cable_armature[t] * kin.arm[i] * rate
