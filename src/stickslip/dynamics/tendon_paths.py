"""Lengths and moment arms of rows in space: spatial tendons, sites and slider-cranks.

A straight piece of a path from the point a of one link to the point b of another, with the unit vector u from a to b,
has the length |b − a| and the moment arms uᵀ·(J_b − J_a), where J are the Jacobians of the points. Where a path wraps
around a body, the arc's length does not change to first order if its ends move along the surface, so the two points
where it begins and ends count as points of that body.

A site gives the wrench ``gear`` in its own axes; its length is zero. With a reference site, the gear is in the axes of
that, and the length is gear·(position, rotation vector) of the site relative to it. A slider-crank with a rod of length
r has the length s = x·a − √((x·a)² + r² − x·x), where x leads from the slider to the crank's pin and a is the slider's
axis.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.dynamics.kinematics import place_links
from stickslip.dynamics.wrapping import wrap_cylinder, wrap_sphere
from stickslip.math.quaternion import from_matrix, logarithm
from stickslip.math.spatial import matmul3, rotate, rotate_transposed
from stickslip.model.arrays import AT_SITE, ON_JOINT, PULLEY, SITE, SLIDER_CRANK, SPHERE


@kernel
def place(poses, link, pos, i):
    """The point pos[i] (3,) of a link in world axes."""
    x, y, z = rotate(poses.rot, link, pos[i, 0], pos[i, 1], pos[i, 2])
    return x + poses.pos[link, 0], y + poses.pos[link, 1], z + poses.pos[link, 2]


@kernel
def add_point(drives, link, p, ux, uy, uz):
    """arm += uᵀ·J of the point p (a triple, world axes) of a link."""
    if link == 0:
        return
    S, origin, d = drives.poses.S, drives.poses.origin, drives.link_dof[link + 1] - 1
    x, y, z = p[0] - origin[link, 0], p[1] - origin[link, 1], p[2] - origin[link, 2]
    tx, ty, tz = y * uz - z * uy, z * ux - x * uz, x * uy - y * ux
    while d >= 0:
        drives.arm[d] += ux * S[d, 0] + uy * S[d, 1] + uz * S[d, 2] + tx * S[d, 3] + ty * S[d, 4] + tz * S[d, 5]
        d = drives.dof_parent[d]


@kernel
def add_turn(drives, link, ux, uy, uz):
    """arm += uᵀ·J of the angular velocity of a link."""
    if link == 0:
        return
    S, d = drives.poses.S, drives.link_dof[link + 1] - 1
    while d >= 0:
        drives.arm[d] += ux * S[d, 3] + uy * S[d, 4] + uz * S[d, 5]
        d = drives.dof_parent[d]


@kernel
def add_piece(drives, link_a, a, link_b, b, scale):
    """The length of the straight piece from a to b, times ``scale``; its moment arms are added to ``arm``."""
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    length = sqrt(x * x + y * y + z * z)
    if length > 0.0 and link_a != link_b:
        s = scale / length
        add_point(drives, link_a, a, -s * x, -s * y, -s * z)
        add_point(drives, link_b, b, s * x, s * y, s * z)
    return scale * length


@kernel
def store_row(drives, r):
    """Move ``arm`` to the moment arms of row r, and clear it."""
    for i in range(drives.start[r], drives.start[r + 1]):
        d = drives.column[i]
        drives.value[i] = drives.arm[d]
        drives.arm[d] = 0.0


@kernel
def to_geom(tendons, poses, e, p):
    """The point p (a triple, world axes) in the frame of element e."""
    link = tendons.on[e]
    x, y, z = place(poses, link, tendons.pos, e)
    x, y, z = rotate_transposed(poses.rot, link, p[0] - x, p[1] - y, p[2] - z)
    return rotate_transposed(tendons.rot, e, x, y, z)


@kernel
def from_geom(tendons, poses, e, x, y, z):
    """The inverse of ``to_geom``."""
    link = tendons.on[e]
    x, y, z = rotate(tendons.rot, e, x, y, z)
    x, y, z = x + tendons.pos[e, 0], y + tendons.pos[e, 1], z + tendons.pos[e, 2]
    x, y, z = rotate(poses.rot, link, x, y, z)
    return x + poses.pos[link, 0], y + poses.pos[link, 1], z + poses.pos[link, 2]


@kernel
def wrap(tendons, poses, e, a, b):
    """(length, first, second point) of the path from a to b around the sphere or cylinder e. a and b are triples in
    world axes; the points are six numbers in the frame of e. The length is below 0 if the path is straight."""
    p, q = to_geom(tendons, poses, e, a), to_geom(tendons, poses, e, b)
    sided = tendons.side[e] != 0
    side = to_geom(tendons, poses, e, place(poses, tendons.side_link[e], tendons.side_pos, e))
    if tendons.kind[e] == SPHERE:
        return wrap_sphere(p, q, tendons.number[e], sided, side)
    return wrap_cylinder(p, q, tendons.number[e], sided, side)


@kernel
def add_wrapped(drives, link_a, a, e, link_b, b, scale):
    """As ``add_piece`` for a path from a to b around the sphere or cylinder e."""
    t, poses = drives.tendons, drives.poses
    length, px, py, pz, qx, qy, qz = wrap(t, poses, e, a, b)
    if length < 0.0:
        return add_piece(drives, link_a, a, link_b, b, scale)
    first, last = from_geom(t, poses, e, px, py, pz), from_geom(t, poses, e, qx, qy, qz)
    total = add_piece(drives, link_a, a, t.on[e], first, scale)
    return total + scale * length + add_piece(drives, t.on[e], last, link_b, b, scale)


@kernel
def tendon_row(drives, t):
    """Length and moment arms of a spatial tendon."""
    x, poses, length, divisor = drives.tendons, drives.poses, 0.0, 1.0
    e, end = x.start[t], x.start[t + 1]
    while e < end - 1:
        if x.kind[e] == PULLEY:
            divisor = x.number[e]
        if x.kind[e] == PULLEY or x.kind[e + 1] == PULLEY:
            e += 1
            continue
        a = place(poses, x.on[e], x.pos, e)
        if x.kind[e + 1] == SITE:
            b = place(poses, x.on[e + 1], x.pos, e + 1)
            length += add_piece(drives, x.on[e], a, x.on[e + 1], b, 1.0 / divisor)
            e += 1
        else:
            b = place(poses, x.on[e + 2], x.pos, e + 2)
            length += add_wrapped(drives, x.on[e], a, e + 1, x.on[e + 2], b, 1.0 / divisor)
            e += 2
    drives.length[t] = length
    store_row(drives, t)


@kernel
def site_axes(drives, k, m):
    """Row-major axes of the site m of actuator k in the world."""
    R, s, link = drives.poses.rot, drives.actuators.site_rot[k, m], drives.actuators.site_link[k, m]
    return matmul3(
        R[link, 0, 0], R[link, 0, 1], R[link, 0, 2],
        R[link, 1, 0], R[link, 1, 1], R[link, 1, 2],
        R[link, 2, 0], R[link, 2, 1], R[link, 2, 2],
        s[0, 0], s[0, 1], s[0, 2], s[1, 0], s[1, 1], s[1, 2], s[2, 0], s[2, 1], s[2, 2],
    )  # fmt: skip


@kernel
def site_row(drives, r, k):
    """Length and moment arms of a wrench at a site."""
    a = drives.actuators
    gear, link, other = a.gear[k], a.site_link[k, 0], a.site_link[k, 1]
    p, length = place(drives.poses, link, a.site_pos[k], 0), 0.0
    b0, b1, b2, b3, b4, b5, b6, b7, b8 = site_axes(drives, k, a.target[k])
    fx, fy, fz = (
        b0 * gear[0] + b1 * gear[1] + b2 * gear[2],
        b3 * gear[0] + b4 * gear[1] + b5 * gear[2],
        b6 * gear[0] + b7 * gear[1] + b8 * gear[2],
    )
    mx, my, mz = (
        b0 * gear[3] + b1 * gear[4] + b2 * gear[5],
        b3 * gear[3] + b4 * gear[4] + b5 * gear[5],
        b6 * gear[3] + b7 * gear[4] + b8 * gear[5],
    )
    add_point(drives, link, p, fx, fy, fz)
    add_turn(drives, link, mx, my, mz)
    if a.target[k] != 0:
        q = place(drives.poses, other, a.site_pos[k], 1)
        length += fx * (p[0] - q[0]) + fy * (p[1] - q[1]) + fz * (p[2] - q[2])
        a0, a1, a2, a3, a4, a5, a6, a7, a8 = site_axes(drives, k, 0)
        t0, t1, t2, t3, t4, t5, t6, t7, t8 = matmul3(
            b0, b3, b6, b1, b4, b7, b2, b5, b8, a0, a1, a2, a3, a4, a5, a6, a7, a8
        )
        w, x, y, z = from_matrix(t0, t1, t2, t3, t4, t5, t6, t7, t8)
        x, y, z = logarithm(w, x, y, z)
        length += gear[3] * x + gear[4] * y + gear[5] * z
        add_point(drives, other, q, -fx, -fy, -fz)
        add_turn(drives, other, -mx, -my, -mz)
        clear_common(drives, link, other)
    drives.length[r] = length
    store_row(drives, r)


@kernel
def clear_common(drives, link, other):
    """arm = 0 for the velocities that move both links. They do not change one link relative to the other."""
    d = drives.link_dof[link + 1] - 1 if link != 0 else -1
    e = drives.link_dof[other + 1] - 1 if other != 0 else -1
    while d >= 0 and e >= 0:  # parents have smaller numbers
        if d == e:
            drives.arm[d] = 0.0
            d, e = drives.dof_parent[d], drives.dof_parent[e]
        elif d > e:
            d = drives.dof_parent[d]
        else:
            e = drives.dof_parent[e]


@kernel
def crank_row(drives, r, k):
    """Length and moment arms of a slider-crank."""
    a, gear, rod = drives.actuators, drives.actuators.gear[k, 0], drives.actuators.rod[k]
    pin, slider = a.site_link[k, 0], a.site_link[k, 1]
    p, q = place(drives.poses, pin, a.site_pos[k], 0), place(drives.poses, slider, a.site_pos[k], 1)
    axes = site_axes(drives, k, 1)
    ax, ay, az = axes[2], axes[5], axes[8]
    x, y, z = p[0] - q[0], p[1] - q[1], p[2] - q[2]
    along = x * ax + y * ay + z * az
    square = along * along + rod * rod - (x * x + y * y + z * z)
    root = sqrt(square) if square > 0.0 else 0.0
    by_axis, by_x = gear, 0.0
    if square > 0.0:
        by_axis, by_x = gear * (1.0 - along / root), gear / root
    drives.length[r] = gear * (along - root)
    ux, uy, uz = by_axis * ax + by_x * x, by_axis * ay + by_x * y, by_axis * az + by_x * z
    add_point(drives, pin, p, ux, uy, uz)
    add_point(drives, slider, q, -ux, -uy, -uz)
    add_turn(drives, slider, by_axis * (ay * z - az * y), by_axis * (az * x - ax * z), by_axis * (ax * y - ay * x))
    store_row(drives, r)


@kernel(deferred=True)
def spatial_rows(drives, q):
    """Lengths and moment arms at q of all rows that need the poses of links."""
    place_links(drives.tree, drives.links, 0, q, drives.poses)
    t, a, nt = drives.tendons, drives.actuators, drives.tendons.limited.shape[0]
    for k in range(nt):
        if t.kind[t.start[k]] != ON_JOINT:
            tendon_row(drives, k)
    for k in range(a.transmission.shape[0]):
        if a.transmission[k] == AT_SITE:
            site_row(drives, nt + k, k)
        elif a.transmission[k] == SLIDER_CRANK:
            crank_row(drives, nt + k, k)
