"""Joint coordinates of two bodies and their derivatives, exact at any poses: for limits, springs and servos.

With R = B₀ᵀ·R₁ᵀ·R₂ as in ``maximal.conversion``, small rotations δθ₁, δθ₂ of the links in their own axes change it to
R·exp(δφ), δφ = δθ₂ − R₂ᵀ·R₁·δθ₁. With (w, v) the quaternion of R, u a joint axis, n = u₁ × u₂ and y = Rᵀ·u₁:

    slide       ∂q = velocity along the axis that link 1 carries
    hinge       q = 2·atan2(u·v, w)                 ∂q/∂φ = (w²·u + w·u × v + (u·v)·v)/(w² + (u·v)²)
    two hinges  q₁ = atan2(n·R·u₂, u₂·R·u₂)         ∂q₁/∂φ = u₂ × Rᵀ·(c·n − a·u₂)/(a² + c²), a and c the two arguments
                q₂ = atan2(n·y, u₁·y)               ∂q₂/∂φ = (c·n − a·u₁) × y/(a² + c²)
    three       as in ``maximal.three_hinges``
    ball        angle |φ| = |log R|                 ∂|φ|/∂φ = φ/|φ|

If the joint is closed, the first four are the rates of ``maximal.rates``; during a Newton iteration it is not.
"""

from __future__ import annotations

from math import atan2, sqrt

from stickslip._jit import kernel
from stickslip.math.quaternion import from_matrix, logarithm
from stickslip.math.spatial import cross, rotate, rotate_transposed
from stickslip.maximal.conversion import nearest_turn, relative_rotation
from stickslip.maximal.joint_axes import anchor_joint, hinges_of, parent_axis
from stickslip.maximal.rates import angular_row, slide_row
from stickslip.maximal.three_hinges import angle_of_three
from stickslip.model.arrays import BALL, SLIDE


@kernel
def turn_row(pose, p, b, x, y, z, row):
    """row (12,): (x, y, z)·δφ over the rotations of the two links."""
    for k in range(12):
        row[k] = 0.0
    row[9], row[10], row[11] = x, y, z
    x, y, z = rotate(pose.rot, b, x, y, z)
    x, y, z = rotate_transposed(pose.rot, p, x, y, z)
    row[3], row[4], row[5] = -x, -y, -z


@kernel
def first_of_two(R, u, j, k):
    """q₁ − q₀ and ∂q₁/∂φ of two hinges j and k."""
    nx, ny, nz = cross(u[j, 0], u[j, 1], u[j, 2], u[k, 0], u[k, 1], u[k, 2])
    a, c = 0.0, 0.0
    for m in range(3):
        turned = R[m, 0] * u[k, 0] + R[m, 1] * u[k, 1] + R[m, 2] * u[k, 2]
        a += (nx if m == 0 else (ny if m == 1 else nz)) * turned
        c += u[k, m] * turned
    s = 1.0 / (a * a + c * c)
    x, y, z = s * (c * nx - a * u[k, 0]), s * (c * ny - a * u[k, 1]), s * (c * nz - a * u[k, 2])
    bx = R[0, 0] * x + R[1, 0] * y + R[2, 0] * z
    by = R[0, 1] * x + R[1, 1] * y + R[2, 1] * z
    bz = R[0, 2] * x + R[1, 2] * y + R[2, 2] * z
    x, y, z = cross(u[k, 0], u[k, 1], u[k, 2], bx, by, bz)
    return atan2(a, c), x, y, z


@kernel
def second_of_two(R, u, j, k):
    """q₂ − q₀ and ∂q₂/∂φ of two hinges j and k."""
    nx, ny, nz = cross(u[j, 0], u[j, 1], u[j, 2], u[k, 0], u[k, 1], u[k, 2])
    yx = R[0, 0] * u[j, 0] + R[1, 0] * u[j, 1] + R[2, 0] * u[j, 2]
    yy = R[0, 1] * u[j, 0] + R[1, 1] * u[j, 1] + R[2, 1] * u[j, 2]
    yz = R[0, 2] * u[j, 0] + R[1, 2] * u[j, 1] + R[2, 2] * u[j, 2]
    a, c = nx * yx + ny * yy + nz * yz, u[j, 0] * yx + u[j, 1] * yy + u[j, 2] * yz
    s = 1.0 / (a * a + c * c)
    x, y, z = cross(s * (c * nx - a * u[j, 0]), s * (c * ny - a * u[j, 1]), s * (c * nz - a * u[j, 2]), yx, yy, yz)
    return atan2(a, c), x, y, z


@kernel
def slide_coordinate(tree, pose, b, j, row):
    """q − q₀ of the slide j of link b, with its row."""
    u, c, p, a = tree.joint_axis, tree.joint_pos, tree.parent[b], anchor_joint(tree, b)
    sx, sy, sz = rotate(pose.rot, b, c[a, 0], c[a, 1], c[a, 2])
    x, y, z = parent_axis(tree, pose, b, u, j)
    slide_row(pose, p, b, sx, sy, sz, x, y, z, row)
    dx = sx + pose.pos[b, 0] - pose.pos[p, 0]
    dy = sy + pose.pos[b, 1] - pose.pos[p, 1]
    dz = sz + pose.pos[b, 2] - pose.pos[p, 2]
    dx, dy, dz = rotate_transposed(pose.rot, p, dx, dy, dz)
    dx, dy, dz = dx - tree.link_pos[b, 0], dy - tree.link_pos[b, 1], dz - tree.link_pos[b, 2]
    dx, dy, dz = rotate_transposed(tree.link_rot, b, dx, dy, dz)
    return u[j, 0] * (dx - c[a, 0]) + u[j, 1] * (dy - c[a, 1]) + u[j, 2] * (dz - c[a, 2])


@kernel
def coordinate_row(tree, pose, b, j, q, R, row):
    """The coordinate of joint j of link b and its row (12,) over δx, δθ of the parent, then of the link.

    A hinge's coordinate is the turn nearest to that in q (nq,), a ball's is its angle. R (3, 3) is scratch; ``tree`` is
    that of ``Centred``.
    """
    kind, i, u, p = tree.joint_type[j], tree.joint_q[j], tree.joint_axis, tree.parent[b]
    if kind == SLIDE:
        return tree.q0[i] + slide_coordinate(tree, pose, b, j, row)
    first, hinges = hinges_of(tree, b)
    if hinges == 3:
        angle, x, y, z = angle_of_three(tree, pose, b, first, j - first)
        angular_row(pose, p, b, x, y, z, row)
        return nearest_turn(tree.q0[i] + angle, q[i])
    relative_rotation(tree, pose, b, R)
    last = first + 1
    if hinges == 2:
        angle, x, y, z = first_of_two(R, u, first, last) if j == first else second_of_two(R, u, first, last)
        turn_row(pose, p, b, x, y, z, row)
        return nearest_turn(tree.q0[i] + angle, q[i])
    w, x, y, z = from_matrix(R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2])
    if kind == BALL:
        x, y, z = logarithm(w, x, y, z)
        angle = sqrt(x * x + y * y + z * z)
        s = 1.0 / angle if angle > 0.0 else 0.0
        turn_row(pose, p, b, s * x, s * y, s * z, row)
        return angle
    along = u[j, 0] * x + u[j, 1] * y + u[j, 2] * z
    s = 1.0 / (w * w + along * along)
    cx, cy, cz = cross(u[j, 0], u[j, 1], u[j, 2], x, y, z)
    turn_row(
        pose, p, b,
        s * (w * w * u[j, 0] + w * cx + along * x),
        s * (w * w * u[j, 1] + w * cy + along * y),
        s * (w * w * u[j, 2] + w * cz + along * z),
        row,
    )  # fmt: skip
    return nearest_turn(tree.q0[i] + 2.0 * atan2(along, w), q[i])
