"""Changes of the rows of joint limits as their two bodies move: second derivatives of joint coordinates, at any pose.

A limited coordinate's row is h·δφ, δφ = δθ₂ − R₂ᵀR₁δθ₁ (``coordinate_rows``), a slide's is that of
``along_axis_change``. With R·exp(δφ) the relative rotation and (w, v) its quaternion, δv = ½(w·δφ + v × δφ) and
δw = −½v·δφ:

    hinge       h = N/M, N = w²u + w·u × v + (u·v)v, M = w² + (u·v)²        δh = (δN − h·δM)/M
    two hinges  h₁ = s·u₂ × Rᵀg₁, g₁ = c·n − a·u₂, s = 1/(a² + c²)          δ(Rᵀg) = Rᵀδg + (Rᵀg) × δφ
                h₂ = s·g₂ × y, g₂ = c·n − a·u₁                              δy = y × δφ
    ball        h = φ/|φ|                                                   δh = (1 − h hᵀ)·J⁻¹·δφ/|φ|

J: the right Jacobian of rotations.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.math.quaternion import from_matrix, inverse_right_jacobian, logarithm
from stickslip.math.spatial import cross, rotate
from stickslip.maximal.conversion import relative_rotation
from stickslip.maximal.joint_axes import anchor_joint, hinges_of
from stickslip.methods.variational.joints.row_derivatives import along_axis_change, axis_seen, axis_seen_change
from stickslip.model.arrays import BALL, SLIDE


@kernel
def transposed_times(R, x, y, z):
    """Rᵀ·(x, y, z) of one 3×3 matrix."""
    return (
        R[0, 0] * x + R[1, 0] * y + R[2, 0] * z,
        R[0, 1] * x + R[1, 1] * y + R[2, 1] * z,
        R[0, 2] * x + R[1, 2] * y + R[2, 2] * z,
    )


@kernel
def hinge_turn(w, x, y, z, ux, uy, uz, tx, ty, tz):
    """h and δh of a hinge about u, at the quaternion (w, x, y, z), turned by δφ = (tx, ty, tz)."""
    vx, vy, vz = cross(x, y, z, tx, ty, tz)
    vx, vy, vz = 0.5 * (w * tx + vx), 0.5 * (w * ty + vy), 0.5 * (w * tz + vz)
    dw, along, dalong = -0.5 * (x * tx + y * ty + z * tz), ux * x + uy * y + uz * z, ux * vx + uy * vy + uz * vz
    cx, cy, cz = cross(ux, uy, uz, x, y, z)
    dx, dy, dz = cross(ux, uy, uz, vx, vy, vz)
    s = 1.0 / (w * w + along * along)
    dM = 2.0 * (w * dw + along * dalong)
    hx = s * (w * w * ux + w * cx + along * x)
    hy = s * (w * w * uy + w * cy + along * y)
    hz = s * (w * w * uz + w * cz + along * z)
    return (
        hx,
        hy,
        hz,
        s * (2.0 * w * dw * ux + dw * cx + w * dx + dalong * x + along * vx - hx * dM),
        s * (2.0 * w * dw * uy + dw * cy + w * dy + dalong * y + along * vy - hy * dM),
        s * (2.0 * w * dw * uz + dw * cz + w * dz + dalong * z + along * vz - hz * dM),
    )


@kernel
def plane_of_angle(nx, ny, nz, ox, oy, oz, yx, yy, yz, dx, dy, dz):
    """s and δs, g = c·n − a·o and δc·n − δa·o of an angle atan2(a, c), a = n·y, c = o·y, as y moves by δy."""
    a, c = nx * yx + ny * yy + nz * yz, ox * yx + oy * yy + oz * yz
    da, dc = nx * dx + ny * dy + nz * dz, ox * dx + oy * dy + oz * dz
    s = 1.0 / (a * a + c * c)
    return (
        s,
        -2.0 * s * s * (a * da + c * dc),
        c * nx - a * ox,
        c * ny - a * oy,
        c * nz - a * oz,
        dc * nx - da * ox,
        dc * ny - da * oy,
        dc * nz - da * oz,
    )


@kernel
def first_turn(R, u, j, k, tx, ty, tz):
    """h₁ and δh₁ of two hinges j and k: all seen from link 2, against which n and u₂ of link 1 turn by −δφ."""
    x, y, z = cross(u[j, 0], u[j, 1], u[j, 2], u[k, 0], u[k, 1], u[k, 2])
    nx, ny, nz = transposed_times(R, x, y, z)
    ox, oy, oz = transposed_times(R, u[k, 0], u[k, 1], u[k, 2])
    x, y, z = cross(tx, ty, tz, u[k, 0], u[k, 1], u[k, 2])
    s, ds, gx, gy, gz, dx, dy, dz = plane_of_angle(nx, ny, nz, ox, oy, oz, u[k, 0], u[k, 1], u[k, 2], x, y, z)
    x, y, z = cross(gx, gy, gz, tx, ty, tz)
    dx, dy, dz = cross(u[k, 0], u[k, 1], u[k, 2], dx + x, dy + y, dz + z)
    x, y, z = cross(u[k, 0], u[k, 1], u[k, 2], gx, gy, gz)
    return s * x, s * y, s * z, ds * x + s * dx, ds * y + s * dy, ds * z + s * dz


@kernel
def second_turn(R, u, j, k, tx, ty, tz):
    """h₂ and δh₂ of two hinges j and k."""
    nx, ny, nz = cross(u[j, 0], u[j, 1], u[j, 2], u[k, 0], u[k, 1], u[k, 2])
    yx, yy, yz = transposed_times(R, u[j, 0], u[j, 1], u[j, 2])
    ex, ey, ez = cross(yx, yy, yz, tx, ty, tz)
    s, ds, gx, gy, gz, dx, dy, dz = plane_of_angle(nx, ny, nz, u[j, 0], u[j, 1], u[j, 2], yx, yy, yz, ex, ey, ez)
    dx, dy, dz = cross(dx, dy, dz, yx, yy, yz)
    ex, ey, ez = cross(gx, gy, gz, ex, ey, ez)
    x, y, z = cross(gx, gy, gz, yx, yy, yz)
    return s * x, s * y, s * z, ds * x + s * (dx + ex), ds * y + s * (dy + ey), ds * z + s * (dz + ez)


@kernel
def ball_turn(w, x, y, z, tx, ty, tz):
    """h and δh of a ball's angle; 0 if the angle is 0."""
    x, y, z = logarithm(w, x, y, z)
    angle = sqrt(x * x + y * y + z * z)
    if angle == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    a, b, c, d, e, f, g, h, i = inverse_right_jacobian(x, y, z)
    ux, uy, uz = x / angle, y / angle, z / angle
    dx = (a * tx + b * ty + c * tz) / angle
    dy = (d * tx + e * ty + f * tz) / angle
    dz = (g * tx + h * ty + i * tz) / angle
    along = ux * dx + uy * dy + uz * dz
    return ux, uy, uz, dx - along * ux, dy - along * uy, dz - along * uz


@kernel
def coordinate_row_change(tree, pose, b, j, R, move, change):
    """change (12,) of the row of ``coordinate_row`` of joint j of link b under the motion ``move`` (12,). ``move`` is
    that of the parent, then of the link; R (3, 3) is scratch; ``tree`` is that of ``Centred``."""
    p, u, kind = tree.parent[b], tree.joint_axis, tree.joint_type[j]
    if kind == SLIDE:
        x, y, z = rotate(tree.link_rot, b, u[j, 0], u[j, 1], u[j, 2])
        c, n = tree.joint_pos, anchor_joint(tree, b)
        along_axis_change(pose, p, b, x, y, z, c[n, 0], c[n, 1], c[n, 2], move, change)
        return
    for k in range(12):
        change[k] = 0.0
    tx, ty, tz = axis_seen(pose, p, b, move[3], move[4], move[5])
    tx, ty, tz = move[9] - tx, move[10] - ty, move[11] - tz
    relative_rotation(tree, pose, b, R)
    first, hinges = hinges_of(tree, b)
    last = first + 1
    if hinges == 2:
        if j == first:
            hx, hy, hz, dx, dy, dz = first_turn(R, u, first, last, tx, ty, tz)
        else:
            hx, hy, hz, dx, dy, dz = second_turn(R, u, first, last, tx, ty, tz)
    else:
        w, x, y, z = from_matrix(R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2])
        if kind == BALL:
            hx, hy, hz, dx, dy, dz = ball_turn(w, x, y, z, tx, ty, tz)
        else:
            hx, hy, hz, dx, dy, dz = hinge_turn(w, x, y, z, u[j, 0], u[j, 1], u[j, 2], tx, ty, tz)
    change[9], change[10], change[11] = dx, dy, dz
    x, y, z = axis_seen_change(pose, b, p, hx, hy, hz, move[9], move[10], move[11], move[3], move[4], move[5])
    dx, dy, dz = axis_seen(pose, b, p, dx, dy, dz)
    change[3], change[4], change[5] = -x - dx, -y - dy, -z - dz
