"""Joint coordinates to body coordinates and back.

Body coordinates are the poses and velocities of all link frames. The way back takes from each link's pose relative to
its parent the part that its joints can reach; the rest is the joint's error. With R = B₀ᵀ·R₁ᵀ·R₂ (B₀: link axes in the
parent at q₀), d the anchor's shift in the axes of B₀, and u a joint axis:

    slide       u·d
    hinge       2·atan2(u·(x, y, z), w) of the quaternion of R: its twist about u
    two hinges  the angle about u₁ from u₂ to R·u₂, and that about u₂ from Rᵀ·u₁ to u₁
    three       as in ``maximal.three_hinges``
    ball        the quaternion of R

Rates are the relative velocity along the same axes (``maximal.rates``). A hinge's angle is the one nearest to its
previous value, so that it counts turns, and a quaternion has the sign that is nearest to the previous one.
"""

from __future__ import annotations

from math import atan2, floor, pi

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.data import make_data
from stickslip.dynamics.jacobian import velocity_at
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities, link_poses
from stickslip.errors import expected
from stickslip.math.quaternion import from_matrix, to_matrix
from stickslip.math.spatial import cross, rotate, rotate_transposed
from stickslip.maximal.joint_axes import anchor_joint, hinges_of
from stickslip.maximal.rates import joint_velocities, rate_rows
from stickslip.maximal.three_hinges import angle_of_three
from stickslip.model.arrays import BALL, FREE, SLIDE
from stickslip.model.model import Model


@kernel
def body_velocities(kin, V):
    """V (6(nl − 1),): world-linear velocity of each link's origin, body-angular velocity."""
    for b in range(1, kin.pos.shape[0]):
        x, y, z = kin.pos[b, 0] - kin.origin[b, 0], kin.pos[b, 1] - kin.origin[b, 1], kin.pos[b, 2] - kin.origin[b, 2]
        i = 6 * (b - 1)
        V[i], V[i + 1], V[i + 2] = velocity_at(kin.vel, b, x, y, z)
        V[i + 3], V[i + 4], V[i + 5] = rotate_transposed(kin.rot, b, kin.vel[b, 3], kin.vel[b, 4], kin.vel[b, 5])


@kernel
def place_bodies(Q, V, kin):
    """Set the poses and velocities of ``kin`` from those of free bodies; the reference points are the link origins."""
    for b in range(1, kin.pos.shape[0]):
        i = 7 * (b - 1)
        kin.pos[b, 0], kin.pos[b, 1], kin.pos[b, 2] = Q[i], Q[i + 1], Q[i + 2]
        kin.origin[b, 0], kin.origin[b, 1], kin.origin[b, 2] = Q[i], Q[i + 1], Q[i + 2]
        a, c, d, e, f, g, h, k, m = to_matrix(Q[i + 3], Q[i + 4], Q[i + 5], Q[i + 6])
        kin.rot[b, 0, 0], kin.rot[b, 0, 1], kin.rot[b, 0, 2] = a, c, d
        kin.rot[b, 1, 0], kin.rot[b, 1, 1], kin.rot[b, 1, 2] = e, f, g
        kin.rot[b, 2, 0], kin.rot[b, 2, 1], kin.rot[b, 2, 2] = h, k, m
        i = 6 * (b - 1)
        kin.vel[b, 0], kin.vel[b, 1], kin.vel[b, 2] = V[i], V[i + 1], V[i + 2]
        kin.vel[b, 3], kin.vel[b, 4], kin.vel[b, 5] = rotate(kin.rot, b, V[i + 3], V[i + 4], V[i + 5])


@kernel
def nearest_turn(angle, previous):
    """The angle plus the number of whole turns that brings it nearest to the previous one."""
    return angle + 2.0 * pi * floor((previous - angle) / (2.0 * pi) + 0.5)


@kernel
def put_quaternion(w, x, y, z, previous, i, q):
    """Write a quaternion to q[i : i + 4], with the sign that is nearest to the previous one."""
    s = 1.0
    if w * previous[i] + x * previous[i + 1] + y * previous[i + 2] + z * previous[i + 3] < 0.0:
        s = -1.0
    q[i], q[i + 1], q[i + 2], q[i + 3] = s * w, s * x, s * y, s * z


@kernel
def relative_rotation(tree, kin, b, R):
    """R (3, 3) = B₀ᵀ·R₁ᵀ·R₂."""
    p = tree.parent[b]
    for k in range(3):
        x, y, z = rotate_transposed(kin.rot, p, kin.rot[b, 0, k], kin.rot[b, 1, k], kin.rot[b, 2, k])
        R[0, k], R[1, k], R[2, k] = rotate_transposed(tree.link_rot, b, x, y, z)


@kernel
def link_coordinates(tree, kin, b, previous, R, q):
    """Write the coordinates of link b's joints, none of them free, to q (nq,); R (3, 3) is scratch."""
    u, c = tree.joint_axis, tree.joint_pos
    first, stop, p = tree.joint_start[b], tree.joint_start[b + 1], tree.parent[b]
    relative_rotation(tree, kin, b, R)
    w, ix, iy, iz = from_matrix(R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2])
    a = anchor_joint(tree, b)
    x, y, z = rotate(kin.rot, b, c[a, 0], c[a, 1], c[a, 2])
    x, y, z = x + kin.pos[b, 0], y + kin.pos[b, 1], z + kin.pos[b, 2]
    x, y, z = rotate_transposed(kin.rot, p, x - kin.pos[p, 0], y - kin.pos[p, 1], z - kin.pos[p, 2])
    x, y, z = x - tree.link_pos[b, 0], y - tree.link_pos[b, 1], z - tree.link_pos[b, 2]
    x, y, z = rotate_transposed(tree.link_rot, b, x, y, z)
    x, y, z = x - c[a, 0], y - c[a, 1], z - c[a, 2]
    hinge, hinges = hinges_of(tree, b)
    for j in range(first, stop):
        i, kind = tree.joint_q[j], tree.joint_type[j]
        if kind == BALL:
            put_quaternion(w, ix, iy, iz, previous, i, q)
        elif kind == SLIDE:
            q[i] = tree.q0[i] + u[j, 0] * x + u[j, 1] * y + u[j, 2] * z
        elif hinges == 3:
            angle, _, _, _ = angle_of_three(tree, kin, b, hinge, j - hinge)
            q[i] = nearest_turn(tree.q0[i] + angle, previous[i])
        elif hinges == 1:
            angle = 2.0 * atan2(u[j, 0] * ix + u[j, 1] * iy + u[j, 2] * iz, w)
            q[i] = nearest_turn(tree.q0[i] + angle, previous[i])
    if hinges == 2:
        j, k = hinge, hinge + 1
        nx, ny, nz = cross(u[j, 0], u[j, 1], u[j, 2], u[k, 0], u[k, 1], u[k, 2])
        across, along, back_across, back_along = 0.0, 0.0, 0.0, 0.0
        for m in range(3):
            turned = R[m, 0] * u[k, 0] + R[m, 1] * u[k, 1] + R[m, 2] * u[k, 2]
            back = R[0, m] * u[j, 0] + R[1, m] * u[j, 1] + R[2, m] * u[j, 2]
            n = nx if m == 0 else (ny if m == 1 else nz)
            across += n * turned
            along += u[k, m] * turned
            back_across += n * back
            back_along += u[j, m] * back
        i = tree.joint_q[j]
        q[i] = nearest_turn(tree.q0[i] + atan2(across, along), previous[i])
        i = tree.joint_q[k]
        q[i] = nearest_turn(tree.q0[i] + atan2(back_across, back_along), previous[i])


@kernel
def joint_coordinates(tree, kin, Q, previous, R, q):
    """q (nq,) from the poses Q and ``kin`` of the cut model; ``previous`` (nq,) may be ``q``; R (3, 3) is scratch."""
    for b in range(1, tree.parent.shape[0]):
        first = tree.joint_start[b]
        if tree.joint_type[first] == FREE:
            i, k = tree.joint_q[first], 7 * (b - 1)
            q[i], q[i + 1], q[i + 2] = Q[k], Q[k + 1], Q[k + 2]
            put_quaternion(Q[k + 3], Q[k + 4], Q[k + 5], Q[k + 6], previous, i + 3, q)
        else:
            link_coordinates(tree, kin, b, previous, R, q)


def to_bodies(model: Model, q, v) -> tuple[np.ndarray, np.ndarray]:
    """(Q, V) of the cut model: poses (7(nl − 1),) and velocities (6(nl − 1),) of the links."""
    kin = make_data(model).kin
    forward_kinematics(model.tree, np.ascontiguousarray(q, dtype=float), kin)
    forward_velocities(model.tree, np.ascontiguousarray(v, dtype=float), kin)
    poses, V = np.empty((model.nlink, 7)), np.empty(6 * (model.nlink - 1))
    link_poses(kin, poses)
    body_velocities(kin, V)
    return poses[1:].reshape(-1), V


def to_joints(model: Model, Q, V, previous=None) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) of the model from the poses and velocities of its links. A hinge's angle is the one nearest to that in
    ``previous`` (nq,), by default the initial configuration. The joints must be of the types in ``maximal.joints``."""
    n = model.nlink - 1
    Q, V = np.ascontiguousarray(Q, dtype=float), np.ascontiguousarray(V, dtype=float)
    if Q.shape != (7 * n,) or V.shape != (6 * n,):
        raise expected("Q, V", f"arrays of shapes ({7 * n},) and ({6 * n},)", (Q.shape, V.shape))
    kin = make_data(model).kin
    place_bodies(Q, V, kin)
    q, v = np.array(model.state().q if previous is None else previous, dtype=float), np.empty(model.nv)
    joint_coordinates(model.tree, kin, Q, q, np.empty((3, 3)), q)
    rates = np.zeros((model.nv, 12))
    rate_rows(model.tree, kin, rates)
    joint_velocities(model.tree, model.support, rates, V, v)
    return q, v
