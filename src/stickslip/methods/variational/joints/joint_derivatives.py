"""Derivatives of joint forces and rates by the poses of the bodies, for the gradient of a step.

    H = ∂(G(z)ᵀλ)/∂z  (12, 12) per joint       of held rows, for given impulses λ
    H = ∂(r(z)ᵀτ)/∂z  (12, 12) per link        of rates, for given forces or impulses τ in the joints
    D = ∂(r(z)·ν)/∂z  (12,) per row            velocity of a row, for given velocities ν of the bodies

z moves by (δx₁, δθ₁, δx₂, δθ₂) of the row's two links, x in world axes, θ in body axes; force components are in the
same axes of the displaced bodies. Columns of the world have no meaning. Sizes: nj joints, nb held rows, nl, nv.

If a joint is closed, ∂q/∂z of its coordinates (hinge angles, slides, the rotation vector of a ball) is r(z) itself. The
coordinates of a free joint are those of its link's origin, o = x − R·c (c: centre of mass in link axes), with the row
(1, R[c]×) over (v, ω).
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.math.spatial import cross, rotate
from stickslip.maximal.joint_axes import anchor_joint
from stickslip.maximal.joint_types import TRANSLATION
from stickslip.methods.variational.joints.row_derivatives import (
    along_axis_change,
    child_axis_change,
    parent_axis_change,
    two_axes_change,
)
from stickslip.model.arrays import BALL, FREE, HINGE


@kernel
def held_row_change(joints, pose, r, move, change):
    """change (12,) of held row r under the motion ``move`` (12,) of its two links."""
    j, i, k = joints.joint[r], joints.axis1[r], joints.axis2[r]
    a, b = joints.link1[j], joints.link2[j]
    ux, uy, uz = joints.rot1[j, 0, i], joints.rot1[j, 1, i], joints.rot1[j, 2, i]
    if joints.kind[r] == TRANSLATION:
        sx, sy, sz = joints.pos2[j, 0], joints.pos2[j, 1], joints.pos2[j, 2]
        along_axis_change(pose, a, b, ux, uy, uz, sx, sy, sz, move, change)
    else:
        fx, fy, fz = joints.rot2[j, 0, k], joints.rot2[j, 1, k], joints.rot2[j, 2, k]
        two_axes_change(pose, a, b, ux, uy, uz, fx, fy, fz, move, change)


@kernel
def rate_row_change(tree, com, pose, b, j, i, move, change):
    """change (12,) of the rate of coordinate i of joint j of link b; ``com`` (nl, 3) [m, link axes] of free joints."""
    p, kind = tree.parent[b], tree.joint_type[j]
    if kind == FREE:
        for k in range(12):
            change[k] = 0.0
        if i < 3:  # row i of R[c]× is (Rᵀeᵢ) × c
            x, y, z = pose.rot[b, i, 0], pose.rot[b, i, 1], pose.rot[b, i, 2]
            x, y, z = cross(x, y, z, move[9], move[10], move[11])
            change[9], change[10], change[11] = cross(x, y, z, com[b, 0], com[b, 1], com[b, 2])
    elif kind == BALL:
        x, y, z = (1.0 if i == 0 else 0.0), (1.0 if i == 1 else 0.0), (1.0 if i == 2 else 0.0)
        child_axis_change(pose, p, b, x, y, z, move, change)
    elif kind == HINGE and j == tree.joint_start[b + 1] - 1:
        u = tree.joint_axis
        child_axis_change(pose, p, b, u[j, 0], u[j, 1], u[j, 2], move, change)
    else:
        x, y, z = rotate(tree.link_rot, b, tree.joint_axis[j, 0], tree.joint_axis[j, 1], tree.joint_axis[j, 2])
        if kind == HINGE:
            parent_axis_change(pose, p, b, x, y, z, move, change)
        else:
            c, n = tree.joint_pos, anchor_joint(tree, b)
            along_axis_change(pose, p, b, x, y, z, c[n, 0], c[n, 1], c[n, 2], move, change)


@kernel
def row_velocity(change, nu, a, b):
    """change·(ν_a, ν_b)."""
    s = 0.0
    for k in range(6):
        s += change[k] * nu[a, k] + change[6 + k] * nu[b, k]
    return s


@kernel
def held_derivatives(joints, pose, impulse, nu, H, D, move, change):
    """H (nj, 12, 12), D (nb, 12) of the held rows for impulses (nb,) and velocities ``nu`` (nl, 6). The scratch
    ``move`` (12,) must be zero and is zero afterwards."""
    H[:] = 0.0
    for r in range(joints.joint.shape[0]):
        j = joints.joint[r]
        for k in range(12):
            move[k] = 1.0
            held_row_change(joints, pose, r, move, change)
            move[k] = 0.0
            for m in range(12):
                H[j, m, k] += change[m] * impulse[r]
            D[r, k] = row_velocity(change, nu, joints.link1[j], joints.link2[j])


@kernel
def rate_derivatives(tree, com, pose, tau, nu, H, D, move, change):
    """H (nl, 12, 12), D (nv, 12) of all rates for joint forces tau (nv,) and velocities ``nu`` (nl, 6). The scratch
    ``move`` (12,) must be zero and is zero afterwards."""
    H[:] = 0.0
    for b in range(1, tree.parent.shape[0]):
        for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
            kind = tree.joint_type[j]
            for i in range(6 if kind == FREE else (3 if kind == BALL else 1)):
                d = tree.joint_v[j] + i
                for k in range(12):
                    move[k] = 1.0
                    rate_row_change(tree, com, pose, b, j, i, move, change)
                    move[k] = 0.0
                    for m in range(12):
                        H[b, m, k] += change[m] * tau[d]
                    D[d, k] = row_velocity(change, nu, tree.parent[b], b)
