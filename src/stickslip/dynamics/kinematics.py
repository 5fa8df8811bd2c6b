"""Forward kinematics in world axes: poses, motion subspaces, velocities, velocity-product accelerations, inertias.

A column of S for a rotation about the unit axis a through the point c is (a × (O − c), a); for a translation along a
it is (a, 0).  Every spatial vector of a tree is taken at the tree's reference point O, a point fixed in space at this
instant: the origin of a floating base, the home position of a fixed one.  O travels with a floating base from step to
step, so that a robot a kilometre away is simulated as exactly as one at the origin.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.math.quaternion import axis_angle_matrix, from_matrix, to_matrix
from stickslip.math.spatial import matmul3, motion_cross, rotate
from stickslip.model.arrays import BALL, FREE, HINGE


@kernel
def forward_kinematics(tree, q, kin):
    """Poses and motion subspaces of all links from the configuration q; O(links)."""
    for i in range(q.shape[0]):
        kin.q[i] = q[i]
    place_links(tree, tree.order, 1, q, kin)


@kernel
def path_kinematics(tree, link, q, kin):
    """Poses and motion subspaces of the links between the world and ``link`` only; O(depth)."""
    first = kin.path.shape[0]
    while link != 0:
        first -= 1
        kin.path[first] = link
        link = tree.parent[link]
    place_links(tree, kin.path, first, q, kin)


@kernel
def place_links(tree, links, first, q, kin):
    """Poses and motion subspaces of ``links[first:]``, parents before children."""
    pos, rot, origin, S = kin.pos, kin.rot, kin.origin, kin.S
    for k in range(first, links.shape[0]):
        b = links[k]
        p = tree.parent[b]
        # the link frame at the reference configuration
        x, y, z = rotate(rot, p, tree.link_pos[b, 0], tree.link_pos[b, 1], tree.link_pos[b, 2])
        x, y, z = x + pos[p, 0], y + pos[p, 1], z + pos[p, 2]
        r00, r01, r02 = rot[p, 0, 0], rot[p, 0, 1], rot[p, 0, 2]
        r10, r11, r12 = rot[p, 1, 0], rot[p, 1, 1], rot[p, 1, 2]
        r20, r21, r22 = rot[p, 2, 0], rot[p, 2, 1], rot[p, 2, 2]
        if tree.aligned[b] == 0:
            R = tree.link_rot
            r00, r01, r02, r10, r11, r12, r20, r21, r22 = matmul3(
                r00, r01, r02, r10, r11, r12, r20, r21, r22,
                R[b, 0, 0], R[b, 0, 1], R[b, 0, 2],
                R[b, 1, 0], R[b, 1, 1], R[b, 1, 2],
                R[b, 2, 0], R[b, 2, 1], R[b, 2, 2],
            )  # fmt: skip
        root = tree.root[b]
        if root == b:
            ox, oy, oz = x, y, z
        else:
            ox, oy, oz = origin[root, 0], origin[root, 1], origin[root, 2]

        for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
            kind, i, d = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j]
            if kind == FREE:
                x, y, z = q[i], q[i + 1], q[i + 2]
                ox, oy, oz = x, y, z
                r00, r01, r02, r10, r11, r12, r20, r21, r22 = to_matrix(q[i + 3], q[i + 4], q[i + 5], q[i + 6])
                for row in range(6):
                    for m in range(6):
                        S[d + row, m] = 0.0
                S[d, 0] = 1.0
                S[d + 1, 1] = 1.0
                S[d + 2, 2] = 1.0
                S[d + 3, 3], S[d + 3, 4], S[d + 3, 5] = r00, r10, r20
                S[d + 4, 3], S[d + 4, 4], S[d + 4, 5] = r01, r11, r21
                S[d + 5, 3], S[d + 5, 4], S[d + 5, 5] = r02, r12, r22
                continue
            # anchor of the joint in the world, before the joint moves
            jx, jy, jz = tree.joint_pos[j, 0], tree.joint_pos[j, 1], tree.joint_pos[j, 2]
            cx = x + r00 * jx + r01 * jy + r02 * jz
            cy = y + r10 * jx + r11 * jy + r12 * jz
            cz = z + r20 * jx + r21 * jy + r22 * jz
            if kind == BALL:
                m00, m01, m02, m10, m11, m12, m20, m21, m22 = to_matrix(q[i], q[i + 1], q[i + 2], q[i + 3])
                r00, r01, r02, r10, r11, r12, r20, r21, r22 = matmul3(
                    r00, r01, r02, r10, r11, r12, r20, r21, r22,
                    m00, m01, m02, m10, m11, m12, m20, m21, m22,
                )  # fmt: skip
                rotation_column(S, d, r00, r10, r20, cx - ox, cy - oy, cz - oz)
                rotation_column(S, d + 1, r01, r11, r21, cx - ox, cy - oy, cz - oz)
                rotation_column(S, d + 2, r02, r12, r22, cx - ox, cy - oy, cz - oz)
            else:
                ux, uy, uz = tree.joint_axis[j, 0], tree.joint_axis[j, 1], tree.joint_axis[j, 2]
                ax = r00 * ux + r01 * uy + r02 * uz
                ay = r10 * ux + r11 * uy + r12 * uz
                az = r20 * ux + r21 * uy + r22 * uz
                value = q[i] - tree.q0[i]
                if kind == HINGE:
                    rotation_column(S, d, ax, ay, az, cx - ox, cy - oy, cz - oz)
                    m00, m01, m02, m10, m11, m12, m20, m21, m22 = axis_angle_matrix(ux, uy, uz, value)
                    r00, r01, r02, r10, r11, r12, r20, r21, r22 = matmul3(
                        r00, r01, r02, r10, r11, r12, r20, r21, r22,
                        m00, m01, m02, m10, m11, m12, m20, m21, m22,
                    )  # fmt: skip
                else:  # SLIDE
                    S[d, 0], S[d, 1], S[d, 2] = ax, ay, az
                    S[d, 3], S[d, 4], S[d, 5] = 0.0, 0.0, 0.0
                    cx, cy, cz = cx + value * ax, cy + value * ay, cz + value * az
            # the anchor is the point that the joint's rotation leaves in place
            x = cx - r00 * jx - r01 * jy - r02 * jz
            y = cy - r10 * jx - r11 * jy - r12 * jz
            z = cz - r20 * jx - r21 * jy - r22 * jz

        pos[b, 0], pos[b, 1], pos[b, 2] = x, y, z
        origin[b, 0], origin[b, 1], origin[b, 2] = ox, oy, oz
        rot[b, 0, 0], rot[b, 0, 1], rot[b, 0, 2] = r00, r01, r02
        rot[b, 1, 0], rot[b, 1, 1], rot[b, 1, 2] = r10, r11, r12
        rot[b, 2, 0], rot[b, 2, 1], rot[b, 2, 2] = r20, r21, r22


@kernel
def link_poses(kin, out):
    """out (nl, 7): position and quaternion (w, x, y, z) of every link."""
    R = kin.rot
    for b in range(R.shape[0]):
        out[b, 0], out[b, 1], out[b, 2] = kin.pos[b, 0], kin.pos[b, 1], kin.pos[b, 2]
        out[b, 3], out[b, 4], out[b, 5], out[b, 6] = from_matrix(
            R[b, 0, 0], R[b, 0, 1], R[b, 0, 2],
            R[b, 1, 0], R[b, 1, 1], R[b, 1, 2],
            R[b, 2, 0], R[b, 2, 1], R[b, 2, 2],
        )  # fmt: skip


@kernel
def rotation_column(S, d, ax, ay, az, cx, cy, cz):
    """S[d] of a rotation about the axis a through the point c, both seen from O."""
    S[d, 0], S[d, 1], S[d, 2] = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
    S[d, 3], S[d, 4], S[d, 5] = ax, ay, az


@kernel
def forward_velocities(tree, v, kin):
    """Spatial velocities, and the accelerations Ṡ·v that remain when all joint accelerations are zero; O(links)."""
    S, vel, acc = kin.S, kin.vel, kin.acc
    for d in range(v.shape[0]):
        kin.v[d] = v[d]
    for b in range(1, tree.parent.shape[0]):
        p = tree.parent[b]
        v0, v1, v2, v3, v4, v5 = vel[p, 0], vel[p, 1], vel[p, 2], vel[p, 3], vel[p, 4], vel[p, 5]
        a0, a1, a2, a3, a4, a5 = acc[p, 0], acc[p, 1], acc[p, 2], acc[p, 3], acc[p, 4], acc[p, 5]
        for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
            kind, d = tree.joint_type[j], tree.joint_v[j]
            if kind == FREE:  # translation along fixed world axes: no velocity product of its own
                v0, v1, v2 = v0 + v[d], v1 + v[d + 1], v2 + v[d + 2]
                d += 3
            if kind == FREE or kind == BALL:
                s0 = S[d, 0] * v[d] + S[d + 1, 0] * v[d + 1] + S[d + 2, 0] * v[d + 2]
                s1 = S[d, 1] * v[d] + S[d + 1, 1] * v[d + 1] + S[d + 2, 1] * v[d + 2]
                s2 = S[d, 2] * v[d] + S[d + 1, 2] * v[d + 1] + S[d + 2, 2] * v[d + 2]
                s3 = S[d, 3] * v[d] + S[d + 1, 3] * v[d + 1] + S[d + 2, 3] * v[d + 2]
                s4 = S[d, 4] * v[d] + S[d + 1, 4] * v[d + 1] + S[d + 2, 4] * v[d + 2]
                s5 = S[d, 5] * v[d] + S[d + 1, 5] * v[d + 1] + S[d + 2, 5] * v[d + 2]
            else:
                r = v[d]
                s0, s1, s2, s3, s4, s5 = S[d, 0] * r, S[d, 1] * r, S[d, 2] * r, S[d, 3] * r, S[d, 4] * r, S[d, 5] * r
            # the joint's axes are carried by what lies before the joint
            c0, c1, c2, c3, c4, c5 = motion_cross(v0, v1, v2, v3, v4, v5, s0, s1, s2, s3, s4, s5)
            a0, a1, a2, a3, a4, a5 = a0 + c0, a1 + c1, a2 + c2, a3 + c3, a4 + c4, a5 + c5
            v0, v1, v2, v3, v4, v5 = v0 + s0, v1 + s1, v2 + s2, v3 + s3, v4 + s4, v5 + s5
        vel[b, 0], vel[b, 1], vel[b, 2], vel[b, 3], vel[b, 4], vel[b, 5] = v0, v1, v2, v3, v4, v5
        acc[b, 0], acc[b, 1], acc[b, 2], acc[b, 3], acc[b, 4], acc[b, 5] = a0, a1, a2, a3, a4, a5


@kernel
def forward_accelerations(tree, support, a, kin):
    """kin.total: spatial accelerations when the joints accelerate with a; the velocities must be up to date."""
    S, acc, total = kin.S, kin.acc, kin.total
    for b in range(1, tree.parent.shape[0]):
        p = tree.parent[b]
        for k in range(6):
            total[b, k] = total[p, k] + (acc[b, k] - acc[p, k])
        for d in range(support.link_dof[b], support.link_dof[b + 1]):
            for k in range(6):
                total[b, k] += S[d, k] * a[d]


@kernel
def spatial_inertias(inertia, kin):
    """World-frame inertia of every link at its tree's reference point."""
    R, I = kin.rot, kin.inertia
    for b in range(1, inertia.mass.shape[0]):
        m = inertia.mass[b]
        cx, cy, cz = rotate(R, b, inertia.com[b, 0], inertia.com[b, 1], inertia.com[b, 2])
        cx += kin.pos[b, 0] - kin.origin[b, 0]
        cy += kin.pos[b, 1] - kin.origin[b, 1]
        cz += kin.pos[b, 2] - kin.origin[b, 2]
        jxx, jyy, jzz = inertia.inertia[b, 0], inertia.inertia[b, 1], inertia.inertia[b, 2]
        jxy, jxz, jyz = inertia.inertia[b, 3], inertia.inertia[b, 4], inertia.inertia[b, 5]
        # T = R·J, then the six entries of T·Rᵀ
        t00, t01, t02 = rotate_symmetric(R, b, 0, jxx, jyy, jzz, jxy, jxz, jyz)
        t10, t11, t12 = rotate_symmetric(R, b, 1, jxx, jyy, jzz, jxy, jxz, jyz)
        t20, t21, t22 = rotate_symmetric(R, b, 2, jxx, jyy, jzz, jxy, jxz, jyz)
        I[b, 0] = m
        I[b, 1], I[b, 2], I[b, 3] = m * cx, m * cy, m * cz
        I[b, 4] = t00 * R[b, 0, 0] + t01 * R[b, 0, 1] + t02 * R[b, 0, 2] + m * (cy * cy + cz * cz)
        I[b, 5] = t10 * R[b, 1, 0] + t11 * R[b, 1, 1] + t12 * R[b, 1, 2] + m * (cx * cx + cz * cz)
        I[b, 6] = t20 * R[b, 2, 0] + t21 * R[b, 2, 1] + t22 * R[b, 2, 2] + m * (cx * cx + cy * cy)
        I[b, 7] = t00 * R[b, 1, 0] + t01 * R[b, 1, 1] + t02 * R[b, 1, 2] - m * cx * cy
        I[b, 8] = t00 * R[b, 2, 0] + t01 * R[b, 2, 1] + t02 * R[b, 2, 2] - m * cx * cz
        I[b, 9] = t10 * R[b, 2, 0] + t11 * R[b, 2, 1] + t12 * R[b, 2, 2] - m * cy * cz


@kernel
def rotate_symmetric(R, b, i, xx, yy, zz, xy, xz, yz):
    """Row i of R[b] times a symmetric matrix."""
    x, y, z = R[b, i, 0], R[b, i, 1], R[b, i, 2]
    return x * xx + y * xy + z * xz, x * xy + y * yy + z * yz, x * xz + y * yz + z * zz


@kernel
def forward_motion(tree, inertia, q, v, kin):
    """Poses, velocities and spatial inertias of all links."""
    forward_kinematics(tree, q, kin)
    forward_velocities(tree, v, kin)
    spatial_inertias(inertia, kin)
