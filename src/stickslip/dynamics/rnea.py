"""Recursive Newton–Euler: τ = M(q)·a + b(q, v) − Jᵀf, in O(links).

Featherstone (2008), Table 5.1, in world axes at a common point: a parent's force is the plain sum of its children's.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.cables import add_cable_forces
from stickslip.dynamics.kinematics import (
    forward_accelerations,
    forward_kinematics,
    forward_velocities,
    spatial_inertias,
)
from stickslip.math.spatial import inertia_times


@kernel
def rnea(tree, support, inertia, q, v, a, f_ext, kin, tau):
    """Inverse dynamics: the joint forces ``tau`` (nv,) that give the accelerations ``a``.

    ``f_ext`` (nl, 6) are external spatial forces (f, n) on the links, in world axes at the tree's reference point.
    """
    forward_kinematics(tree, q, kin)
    forward_velocities(tree, v, kin)
    forward_accelerations(tree, support, a, kin)
    spatial_inertias(inertia, kin)
    link_forces(inertia, kin.total, f_ext, kin)
    collect_forces(tree, support, kin, tau)
    for d in range(tau.shape[0]):
        tau[d] += inertia.armature[d] * a[d]
    if inertia.cable_armature.shape[0] > 0:
        add_cable_forces(support, inertia, kin, a, True, tau)


@kernel
def bias_forces(tree, support, inertia, f_ext, kin, tau):
    """b(q, v) − Jᵀf: gravity, centrifugal and Coriolis forces; needs velocities and inertias up to date."""
    link_forces(inertia, kin.acc, f_ext, kin)
    collect_forces(tree, support, kin, tau)
    if inertia.cable_armature.shape[0] > 0:
        add_cable_forces(support, inertia, kin, tau, False, tau)


@kernel
def link_forces(inertia, acc, f_ext, kin):
    """kin.force = I·(acc − g) + v ×* I·v − f_ext for every link: the force that its own motion requires."""
    I, vel, f = kin.inertia, kin.vel, kin.force
    gx, gy, gz = inertia.gravity[0], inertia.gravity[1], inertia.gravity[2]
    for k in range(6):
        f[0, k] = 0.0
    for b in range(1, vel.shape[0]):
        v0, v1, v2, w0, w1, w2 = vel[b, 0], vel[b, 1], vel[b, 2], vel[b, 3], vel[b, 4], vel[b, 5]
        px, py, pz, lx, ly, lz = inertia_times(I, b, v0, v1, v2, w0, w1, w2)
        f0, f1, f2, f3, f4, f5 = inertia_times(
            I, b, acc[b, 0] - gx, acc[b, 1] - gy, acc[b, 2] - gz, acc[b, 3], acc[b, 4], acc[b, 5]
        )
        f[b, 0] = f0 + w1 * pz - w2 * py - f_ext[b, 0]
        f[b, 1] = f1 + w2 * px - w0 * pz - f_ext[b, 1]
        f[b, 2] = f2 + w0 * py - w1 * px - f_ext[b, 2]
        f[b, 3] = f3 + w1 * lz - w2 * ly + v1 * pz - v2 * py - f_ext[b, 3]
        f[b, 4] = f4 + w2 * lx - w0 * lz + v2 * px - v0 * pz - f_ext[b, 4]
        f[b, 5] = f5 + w0 * ly - w1 * lx + v0 * py - v1 * px - f_ext[b, 5]


@kernel
def collect_forces(tree, support, kin, tau):
    """Project each link's force on its joint and add it to the parent's, leaves first."""
    S, f = kin.S, kin.force
    for b in range(tree.parent.shape[0] - 1, 0, -1):
        f0, f1, f2, f3, f4, f5 = f[b, 0], f[b, 1], f[b, 2], f[b, 3], f[b, 4], f[b, 5]
        for d in range(support.link_dof[b], support.link_dof[b + 1]):
            tau[d] = S[d, 0] * f0 + S[d, 1] * f1 + S[d, 2] * f2 + S[d, 3] * f3 + S[d, 4] * f4 + S[d, 5] * f5
        p = tree.parent[b]
        f[p, 0] += f0
        f[p, 1] += f1
        f[p, 2] += f2
        f[p, 3] += f3
        f[p, 4] += f4
        f[p, 5] += f5
