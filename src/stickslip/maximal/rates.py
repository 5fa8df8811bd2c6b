"""Rates of joints as rows over the velocities of their two bodies, q̇ = R·V; Rᵀ maps joint forces to the bodies.

    hinge   q̇ = a·(ω₂ − ω₁); a is not the axis but ∂q of ``maximal.three_hinges`` if the link has three
    slide   q̇ = a·(velocity of link 2's anchor relative to the coincident point of link 1)
    ball    ω = the link's own axes·(ω₂ − ω₁)
    free    the link's own velocities: no row

Each row has twelve numbers, as in ``maximal.rows``: linear 1, angular 1, linear 2, angular 2 over the velocities of
free joints. A force τ in a joint acts on the bodies as Rᵀ·τ: a hinge's torque is τ·a on the child and −τ·a on the
parent; a slide's force is τ·a at the child's anchor and its opposite at the same place on the parent. The power is the
same, and momentum is conserved because forces come in opposite pairs.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.math.spatial import cross, rotate, rotate_transposed
from stickslip.maximal.joint_axes import anchor_joint, hinges_of, parent_axis
from stickslip.maximal.rows import add_pair, pair_speed
from stickslip.maximal.three_hinges import angle_of_three
from stickslip.model.arrays import BALL, FREE, HINGE


@kernel
def angular_row(kin, p, b, x, y, z, row):
    """row (12,): (x, y, z)·(ω₂ − ω₁)."""
    for k in range(12):
        row[k] = 0.0
    row[9], row[10], row[11] = rotate_transposed(kin.rot, b, x, y, z)
    x, y, z = rotate_transposed(kin.rot, p, x, y, z)
    row[3], row[4], row[5] = -x, -y, -z


@kernel
def slide_row(kin, p, b, sx, sy, sz, x, y, z, row):
    """row (12,): velocity along (x, y, z) of link b's point, (sx, sy, sz) from its origin, relative to link p."""
    mx, my, mz = cross(sx, sy, sz, x, y, z)
    row[6], row[7], row[8] = x, y, z
    row[9], row[10], row[11] = rotate_transposed(kin.rot, b, mx, my, mz)
    sx, sy, sz = sx + kin.pos[b, 0], sy + kin.pos[b, 1], sz + kin.pos[b, 2]
    mx, my, mz = cross(sx - kin.pos[p, 0], sy - kin.pos[p, 1], sz - kin.pos[p, 2], x, y, z)
    row[0], row[1], row[2] = -x, -y, -z
    mx, my, mz = rotate_transposed(kin.rot, p, mx, my, mz)
    row[3], row[4], row[5] = -mx, -my, -mz


@kernel
def rate_rows(tree, kin, rates):
    """rates (nv, 12) at the poses of the cut model in ``kin``; rows of free joints are not written."""
    u, c = tree.joint_axis, tree.joint_pos
    for b in range(1, tree.parent.shape[0]):
        p, a = tree.parent[b], anchor_joint(tree, b)
        hinge, hinges = hinges_of(tree, b)
        for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
            kind, d = tree.joint_type[j], tree.joint_v[j]
            if kind == FREE:
                continue
            if kind == BALL:
                for k in range(3):
                    angular_row(kin, p, b, kin.rot[b, 0, k], kin.rot[b, 1, k], kin.rot[b, 2, k], rates[d + k])
                continue
            if kind == HINGE and hinges == 3:
                _, x, y, z = angle_of_three(tree, kin, b, hinge, j - hinge)
            elif kind == HINGE and j == tree.joint_start[b + 1] - 1:  # the last joint's axis is fixed to the link
                x, y, z = rotate(kin.rot, b, u[j, 0], u[j, 1], u[j, 2])
            else:
                x, y, z = parent_axis(tree, kin, b, u, j)
            if kind == HINGE:
                angular_row(kin, p, b, x, y, z, rates[d])
            else:
                sx, sy, sz = rotate(kin.rot, b, c[a, 0], c[a, 1], c[a, 2])
                slide_row(kin, p, b, sx, sy, sz, x, y, z, rates[d])


@kernel
def joint_velocities(tree, support, rates, V, v):
    """v (nv,) from the velocities V (6(nl − 1),) of the links."""
    for d in range(v.shape[0]):
        b = support.dof_link[d]
        if tree.joint_type[tree.joint_start[b]] == FREE:
            v[d] = V[6 * (b - 1) + d - support.link_dof[b]]
        else:
            v[d] = pair_speed(rates, d, tree.parent[b], b, V)


@kernel
def body_forces(tree, support, rates, tau, force):
    """force (6(nl − 1),) = Rᵀ·tau on the velocities of the links."""
    for k in range(force.shape[0]):
        force[k] = 0.0
    for d in range(tau.shape[0]):
        b = support.dof_link[d]
        if tree.joint_type[tree.joint_start[b]] == FREE:
            force[6 * (b - 1) + d - support.link_dof[b]] += tau[d]
        else:
            add_pair(rates, d, tree.parent[b], b, tau[d], force)
