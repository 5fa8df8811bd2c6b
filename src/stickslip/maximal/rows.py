"""Errors of joints and their Jacobian rows, in closed form.

With r₁ = p₁ − x₁ and r₂ = p₂ − x₂ (x: link origins), d = p₂ − p₁, e an axis of F₁ and f one of F₂, all in world axes:

    translation   g = e·d    ġ = −e·v₁ − ((r₁ + d) × e)·ω₁ + e·v₂ + (r₂ × e)·ω₂
    rotation      g = e·f    ġ = (e × f)·ω₁ − (e × f)·ω₂
    translation along f      g = f·d    ġ = −f·v₁ − (r₁ × f)·ω₁ + f·v₂ + ((r₂ − d) × f)·ω₂
    offset, n = e × f        g = n·d − c
                             ġ = −n·v₁ − (r₁ × n − e × (f × d))·ω₁ + n·v₂ + (r₂ × n + f × (d × e))·ω₂

The first ġ is the velocity of link 2's point relative to the coincident point of link 1, along an axis fixed to link 1.
A row has twelve numbers (linear 1, angular 1, linear 2, angular 2) with the signs above. ``joint_rows`` returns them in
world axes; ``body_rows`` turns the angular parts to body axes, Rᵀ·a, as the velocities of a free joint require.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.jacobian import link_point
from stickslip.math.spatial import cross, rotate, rotate_transposed
from stickslip.maximal.joint_types import OFFSET, ROTATION, TRANSLATION


@kernel
def frame_axis(kin, link, rot, j, axis):
    """An axis of a joint's frame in world axes."""
    return rotate(kin.rot, link, rot[j, 0, axis], rot[j, 1, axis], rot[j, 2, axis])


@kernel
def joint_errors(joints, kin, g):
    """g (nb,): position errors [m or rad] at the poses of ``kin``."""
    for r in range(joints.joint.shape[0]):
        j = joints.joint[r]
        a, b = joints.link1[j], joints.link2[j]
        ex, ey, ez = frame_axis(kin, a, joints.rot1, j, joints.axis1[r])
        fx, fy, fz = frame_axis(kin, b, joints.rot2, j, joints.axis2[r])
        if joints.kind[r] == ROTATION:
            g[r] = ex * fx + ey * fy + ez * fz
            continue
        x1, y1, z1 = link_point(kin, a, joints.pos1[j, 0], joints.pos1[j, 1], joints.pos1[j, 2])
        x2, y2, z2 = link_point(kin, b, joints.pos2[j, 0], joints.pos2[j, 1], joints.pos2[j, 2])
        g[r] = 0.0
        if joints.kind[r] == OFFSET:
            fx, fy, fz = cross(ex, ey, ez, fx, fy, fz)
            g[r] = -joints.offset[j]
        elif joints.kind[r] == TRANSLATION:
            fx, fy, fz = ex, ey, ez
        g[r] += fx * (x2 - x1) + fy * (y2 - y1) + fz * (z2 - z1)


@kernel
def second_axis_row(joints, kin, r, ex, ey, ez, fx, fy, fz, row):
    """row (12,) of a translation along f, an axis of F₂, or of an offset along e × f, e an axis of F₁; world axes."""
    j = joints.joint[r]
    a, b = joints.link1[j], joints.link2[j]
    x1, y1, z1 = link_point(kin, a, joints.pos1[j, 0], joints.pos1[j, 1], joints.pos1[j, 2])
    x2, y2, z2 = link_point(kin, b, joints.pos2[j, 0], joints.pos2[j, 1], joints.pos2[j, 2])
    dx, dy, dz = x2 - x1, y2 - y1, z2 - z1
    sx, sy, sz = 0.0, 0.0, 0.0  # how the first body turns the axis
    tx, ty, tz = cross(fx, fy, fz, dx, dy, dz)  # how the second one does
    nx, ny, nz = fx, fy, fz
    if joints.kind[r] == OFFSET:
        sx, sy, sz = cross(ex, ey, ez, tx, ty, tz)
        ux, uy, uz = cross(dx, dy, dz, ex, ey, ez)
        tx, ty, tz = cross(fx, fy, fz, ux, uy, uz)
        nx, ny, nz = cross(ex, ey, ez, fx, fy, fz)
    mx, my, mz = cross(x1 - kin.pos[a, 0], y1 - kin.pos[a, 1], z1 - kin.pos[a, 2], nx, ny, nz)
    row[0], row[1], row[2], row[3], row[4], row[5] = -nx, -ny, -nz, sx - mx, sy - my, sz - mz
    mx, my, mz = cross(x2 - kin.pos[b, 0], y2 - kin.pos[b, 1], z2 - kin.pos[b, 2], nx, ny, nz)
    row[6], row[7], row[8], row[9], row[10], row[11] = nx, ny, nz, tx + mx, ty + my, tz + mz


@kernel
def joint_rows(joints, kin, J):
    """J (nb, 12): linear 1, angular 1, linear 2, angular 2, world axes, at the link origins."""
    for r in range(joints.joint.shape[0]):
        j = joints.joint[r]
        a, b = joints.link1[j], joints.link2[j]
        ex, ey, ez = frame_axis(kin, a, joints.rot1, j, joints.axis1[r])
        if joints.kind[r] == TRANSLATION:
            x, y, z = link_point(kin, b, joints.pos2[j, 0], joints.pos2[j, 1], joints.pos2[j, 2])
            # r₁ + d = p₂ − x₁
            mx, my, mz = cross(x - kin.pos[a, 0], y - kin.pos[a, 1], z - kin.pos[a, 2], ex, ey, ez)
            nx, ny, nz = cross(x - kin.pos[b, 0], y - kin.pos[b, 1], z - kin.pos[b, 2], ex, ey, ez)
            J[r, 0], J[r, 1], J[r, 2], J[r, 3], J[r, 4], J[r, 5] = -ex, -ey, -ez, -mx, -my, -mz
            J[r, 6], J[r, 7], J[r, 8], J[r, 9], J[r, 10], J[r, 11] = ex, ey, ez, nx, ny, nz
            continue
        fx, fy, fz = frame_axis(kin, b, joints.rot2, j, joints.axis2[r])
        if joints.kind[r] != ROTATION:
            second_axis_row(joints, kin, r, ex, ey, ez, fx, fy, fz, J[r])
        else:
            mx, my, mz = cross(ex, ey, ez, fx, fy, fz)
            J[r, 0], J[r, 1], J[r, 2], J[r, 3], J[r, 4], J[r, 5] = 0.0, 0.0, 0.0, mx, my, mz
            J[r, 6], J[r, 7], J[r, 8], J[r, 9], J[r, 10], J[r, 11] = 0.0, 0.0, 0.0, -mx, -my, -mz


@kernel
def body_rows(joints, kin, G):
    """G (nb, 12): the rows over the velocities of the two free joints: world-linear, body-angular."""
    joint_rows(joints, kin, G)
    for r in range(joints.joint.shape[0]):
        j = joints.joint[r]
        a, b = joints.link1[j], joints.link2[j]
        G[r, 3], G[r, 4], G[r, 5] = rotate_transposed(kin.rot, a, G[r, 3], G[r, 4], G[r, 5])
        G[r, 9], G[r, 10], G[r, 11] = rotate_transposed(kin.rot, b, G[r, 9], G[r, 10], G[r, 11])


@kernel
def pair_speed(rows, r, link1, link2, V):
    """Row r of rows over the velocities of two links, twelve numbers each, times V; link 1 may be the world."""
    a, b, s = 6 * (link1 - 1), 6 * (link2 - 1), 0.0
    for k in range(6):
        if a >= 0:
            s += rows[r, k] * V[a + k]
        s += rows[r, 6 + k] * V[b + k]
    return s


@kernel
def add_pair(rows, r, link1, link2, x, f):
    """f += x·(row r), its transpose."""
    a, b = 6 * (link1 - 1), 6 * (link2 - 1)
    for k in range(6):
        if a >= 0:
            f[a + k] += rows[r, k] * x
        f[b + k] += rows[r, 6 + k] * x


@kernel
def times_velocity(joints, G, V, out):
    """out (nb,) = G·V: velocity errors [m/s or rad/s]."""
    for r in range(joints.joint.shape[0]):
        j = joints.joint[r]
        out[r] = pair_speed(G, r, joints.link1[j], joints.link2[j], V)


@kernel
def largest_per_joint(joints, rows, out):
    """out (nj,): the largest |rows| of each joint."""
    for j in range(out.shape[0]):
        out[j] = 0.0
        for r in range(joints.start[j], joints.start[j + 1]):
            if not abs(rows[r]) <= out[j]:  # written so that NaN is not lost
                out[j] = abs(rows[r])
