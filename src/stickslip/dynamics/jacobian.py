"""Jacobians of points and frames, their velocities, and J̇·v; all in world axes, linear rows first.

Only the columns of the joints between the world and the link are written; the caller's array must be zero elsewhere.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.math.spatial import rotate_transposed


@kernel
def last_dof(support, link):
    """Index of the last velocity on the path from the root to the link; −1 for the world."""
    if link == 0:
        return -1
    return support.link_dof[link + 1] - 1


@kernel
def velocity_at(S, d, x, y, z):
    """The velocity that S[d] gives to the point (x, y, z) seen from O."""
    a, b, c = S[d, 3], S[d, 4], S[d, 5]
    return S[d, 0] + b * z - c * y, S[d, 1] + c * x - a * z, S[d, 2] + a * y - b * x


@kernel
def point_jacobian(support, kin, link, x, y, z, J):
    """J (3, nv): velocity of the point (x, y, z) [world] of a link. Cost: depth of the link."""
    x, y, z = x - kin.origin[link, 0], y - kin.origin[link, 1], z - kin.origin[link, 2]
    d = last_dof(support, link)
    while d >= 0:
        J[0, d], J[1, d], J[2, d] = velocity_at(kin.S, d, x, y, z)
        d = support.dof_parent[d]


@kernel
def frame_jacobian(support, frames, kin, frame, J):
    """J (6, nv): linear velocity of the frame's origin, then angular velocity, both in world axes."""
    S, link = kin.S, frames.link[frame]
    x, y, z = frame_position(frames, kin, frame)
    x, y, z = x - kin.origin[link, 0], y - kin.origin[link, 1], z - kin.origin[link, 2]
    d = last_dof(support, link)
    while d >= 0:
        J[0, d], J[1, d], J[2, d] = velocity_at(S, d, x, y, z)
        J[3, d], J[4, d], J[5, d] = S[d, 3], S[d, 4], S[d, 5]
        d = support.dof_parent[d]


@kernel
def link_point(kin, link, x, y, z):
    """World position of a point given in the link frame."""
    R = kin.rot
    return (
        kin.pos[link, 0] + R[link, 0, 0] * x + R[link, 0, 1] * y + R[link, 0, 2] * z,
        kin.pos[link, 1] + R[link, 1, 0] * x + R[link, 1, 1] * y + R[link, 1, 2] * z,
        kin.pos[link, 2] + R[link, 2, 0] * x + R[link, 2, 1] * y + R[link, 2, 2] * z,
    )


@kernel
def to_link(kin, link, x, y, z):
    """A world point in the link frame."""
    x, y, z = x - kin.pos[link, 0], y - kin.pos[link, 1], z - kin.pos[link, 2]
    return rotate_transposed(kin.rot, link, x, y, z)


@kernel
def frame_position(frames, kin, frame):
    return link_point(kin, frames.link[frame], frames.pos[frame, 0], frames.pos[frame, 1], frames.pos[frame, 2])


@kernel
def point_velocity(kin, link, x, y, z):
    """Velocity of the point (x, y, z) [world] of a link."""
    O = kin.origin
    return velocity_at(kin.vel, link, x - O[link, 0], y - O[link, 1], z - O[link, 2])


@kernel
def point_acceleration(kin, acc, link, x, y, z):
    """Acceleration of a point of a link from spatial accelerations ``acc``.

    J̇·v for ``kin.acc``, J·a + J̇·v for ``kin.total``.
    """
    A, V = acc, kin.vel
    vx, vy, vz = point_velocity(kin, link, x, y, z)
    x, y, z = x - kin.origin[link, 0], y - kin.origin[link, 1], z - kin.origin[link, 2]
    a, b, c = A[link, 3], A[link, 4], A[link, 5]
    p, q, r = V[link, 3], V[link, 4], V[link, 5]
    return (
        A[link, 0] + b * z - c * y + q * vz - r * vy,
        A[link, 1] + c * x - a * z + r * vx - p * vz,
        A[link, 2] + a * y - b * x + p * vy - q * vx,
    )


@kernel
def add_point_force(kin, link, x, y, z, fx, fy, fz, f_ext):
    """Add a force [N, world axes] at a point [world] to the link's spatial force at its tree's reference point."""
    x, y, z = x - kin.origin[link, 0], y - kin.origin[link, 1], z - kin.origin[link, 2]
    f_ext[link, 0] += fx
    f_ext[link, 1] += fy
    f_ext[link, 2] += fz
    f_ext[link, 3] += y * fz - z * fy
    f_ext[link, 4] += z * fx - x * fz
    f_ext[link, 5] += x * fy - y * fx


@kernel
def set_wrenches(kin, wrench, f_ext):
    """Set the spatial forces of all links to those of the wrenches."""
    for b in range(f_ext.shape[0]):
        for k in range(6):
            f_ext[b, k] = 0.0
    add_wrenches(kin, wrench, f_ext)


@kernel
def add_wrenches(kin, wrench, f_ext):
    """f_ext += wrenches (nl, 6), force and torque in world axes at the link origins, moved to the reference points."""
    for b in range(1, wrench.shape[0]):
        add_point_force(
            kin, b, kin.pos[b, 0], kin.pos[b, 1], kin.pos[b, 2], wrench[b, 0], wrench[b, 1], wrench[b, 2], f_ext
        )
        f_ext[b, 3] += wrench[b, 3]
        f_ext[b, 4] += wrench[b, 4]
        f_ext[b, 5] += wrench[b, 5]
