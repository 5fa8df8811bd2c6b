"""Changes of the rows of joints as their two bodies move: exact directional derivatives.

With R₁, R₂ the rotations of link a and link b, x their origins, u an axis fixed to link a, f one fixed to link b (each
in its link's axes), s link b's anchor in its axes, and a small motion (δx₁, δθ₁, δx₂, δθ₂), x in world and θ in body
axes:

    δ(R₁·u) = R₁(δθ₁ × u)                               an axis in the world
    u₂ = R₂ᵀR₁u    δu₂ = R₂ᵀR₁(δθ₁ × u) + u₂ × δθ₂      link a's axis seen by link b; the same with 1, 2 exchanged
    d = R₁ᵀ(x₂ + R₂s − x₁)    δd = R₁ᵀ(δx₂ − δx₁ + R₂(δθ₂ × s)) + d × δθ₁      link b's anchor seen by link a

    row, over (v₁, ω₁, v₂, ω₂)                          is found in
    along an axis   (−R₁u, −d × u, R₁u, s × u₂)         rows TRANSLATION; rates of slides
    two axes        (0, u × f₁, 0, f × u₂)              rows ROTATION
    parent's axis   (0, −u, 0, u₂)                      rates of hinges before the last
    child's axis    (0, −f₁, 0, f)                      rates of last hinges and balls

The second derivative of a function on rotations in body axes is not symmetric: δ(row) by motion i, component k, and
δ(row) by motion k, component i, differ by half a Lie bracket each. So no derivative here is obtained by symmetry.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.math.spatial import cross, rotate, rotate_transposed


@kernel
def axis_seen(pose, a, b, x, y, z):
    """R_bᵀ·R_a·(x, y, z)."""
    x, y, z = rotate(pose.rot, a, x, y, z)
    return rotate_transposed(pose.rot, b, x, y, z)


@kernel
def axis_seen_change(pose, a, b, x, y, z, ax, ay, az, bx, by, bz):
    """Its change as link a turns by (ax, ay, az) and link b by (bx, by, bz)."""
    tx, ty, tz = cross(ax, ay, az, x, y, z)
    tx, ty, tz = axis_seen(pose, a, b, tx, ty, tz)
    x, y, z = axis_seen(pose, a, b, x, y, z)
    x, y, z = cross(x, y, z, bx, by, bz)
    return tx + x, ty + y, tz + z


@kernel
def along_axis_change(pose, a, b, ux, uy, uz, sx, sy, sz, move, change):
    """change (12,) of the row along the axis u of link a, of link b's anchor s, under the motion ``move`` (12,)."""
    tx, ty, tz = cross(move[3], move[4], move[5], ux, uy, uz)
    tx, ty, tz = rotate(pose.rot, a, tx, ty, tz)
    change[0], change[1], change[2] = -tx, -ty, -tz
    change[6], change[7], change[8] = tx, ty, tz
    x, y, z = rotate(pose.rot, b, sx, sy, sz)
    P = pose.pos
    x, y, z = x + P[b, 0] - P[a, 0], y + P[b, 1] - P[a, 1], z + P[b, 2] - P[a, 2]
    x, y, z = rotate_transposed(pose.rot, a, x, y, z)
    gx, gy, gz = cross(x, y, z, move[3], move[4], move[5])
    x, y, z = cross(move[9], move[10], move[11], sx, sy, sz)
    x, y, z = rotate(pose.rot, b, x, y, z)
    x, y, z = rotate_transposed(pose.rot, a, x + move[6] - move[0], y + move[7] - move[1], z + move[8] - move[2])
    change[3], change[4], change[5] = cross(ux, uy, uz, x + gx, y + gy, z + gz)
    x, y, z = axis_seen_change(pose, a, b, ux, uy, uz, move[3], move[4], move[5], move[9], move[10], move[11])
    change[9], change[10], change[11] = cross(sx, sy, sz, x, y, z)


@kernel
def _only_angular(change):
    for k in range(12):
        change[k] = 0.0


@kernel
def two_axes_change(pose, a, b, ux, uy, uz, fx, fy, fz, move, change):
    """change (12,) of the row that keeps u of link a and f of link b at right angles."""
    _only_angular(change)
    x, y, z = axis_seen_change(pose, b, a, fx, fy, fz, move[9], move[10], move[11], move[3], move[4], move[5])
    change[3], change[4], change[5] = cross(ux, uy, uz, x, y, z)
    x, y, z = axis_seen_change(pose, a, b, ux, uy, uz, move[3], move[4], move[5], move[9], move[10], move[11])
    change[9], change[10], change[11] = cross(fx, fy, fz, x, y, z)


@kernel
def parent_axis_change(pose, a, b, ux, uy, uz, move, change):
    """change (12,) of the row u·(ω₂ − ω₁), u fixed to link a."""
    _only_angular(change)
    change[9], change[10], change[11] = axis_seen_change(
        pose, a, b, ux, uy, uz, move[3], move[4], move[5], move[9], move[10], move[11]
    )


@kernel
def child_axis_change(pose, a, b, fx, fy, fz, move, change):
    """change (12,) of the row f·(ω₂ − ω₁), f fixed to link b."""
    _only_angular(change)
    x, y, z = axis_seen_change(pose, b, a, fx, fy, fz, move[9], move[10], move[11], move[3], move[4], move[5])
    change[3], change[4], change[5] = -x, -y, -z
