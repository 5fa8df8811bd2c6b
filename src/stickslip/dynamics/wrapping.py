"""Shortest paths around spheres and cylinders, for tendons.

Both become a circle of radius r in a plane: of a sphere the plane through its centre and the two end points, of a
cylinder the plane across its axis, where the path climbs along the axis in proportion to its length in the plane.

*Outside* the circle: if the straight line meets the circle, the end points a and b are connected by two tangents and
an arc, the short way. If there is a side site s, and −s lies between the directions of a and b, then the path is taken
around the other side of the circle, the long way, also if the straight line misses it. *Inside* (the side site is
within the body): the path must pass through the circle, and touches it in one point if the straight line misses it.
A line with an end within the circle stays straight.
"""

from __future__ import annotations

from math import acos, atan2, cos, pi, sin, sqrt

from stickslip._jit import kernel

TINY = 1e-15
STRAIGHT = -1.0
"""The length of a wrap that does not take place."""


@kernel
def nearest_to_origin(ax, ay, bx, by):
    """The point of the segment ab that is nearest to the origin."""
    dx, dy = bx - ax, by - ay
    s = min(max(-(ax * dx + ay * dy) / (dx * dx + dy * dy), 0.0), 1.0)
    return ax + s * dx, ay + s * dy


@kernel
def around_circle(ax, ay, bx, by, r, sided, sx, sy):
    """(arc length, first and second tangent point) of the path from a to b around the circle; (sx, sy) is where the
    side site is, if ``sided``.

    With the angle θ < π between a and b, the arc of the short way is r·(θ − acos(r/|a|) − acos(r/|b|)); of the long way
    it has 2π − θ in place of θ.
    """
    aa, bb, rr = ax * ax + ay * ay, bx * bx + by * by, r * r
    if aa < rr or bb < rr or r < TINY or (bx - ax) ** 2 + (by - ay) ** 2 < TINY:
        return STRAIGHT, 0.0, 0.0, 0.0, 0.0
    turn = 1.0 if ax * by - ay * bx >= 0.0 else -1.0  # the short way is counterclockwise, clockwise
    between = turn * atan2(ax * by - ay * bx, ax * bx + ay * by)
    long = sided and turn * (ay * sx - ax * sy) >= 0.0 and turn * (sy * bx - sx * by) >= 0.0
    if long:
        turn, between = -turn, 2.0 * pi - between
    else:
        nx, ny = nearest_to_origin(ax, ay, bx, by)
        if nx * nx + ny * ny > rr:
            return STRAIGHT, 0.0, 0.0, 0.0, 0.0
    angle = between - acos(min(1.0, r / sqrt(aa))) - acos(min(1.0, r / sqrt(bb)))
    if angle < 0.0:
        return STRAIGHT, 0.0, 0.0, 0.0, 0.0
    ta, tb = turn * r * sqrt(max(0.0, aa - rr)), turn * r * sqrt(max(0.0, bb - rr))
    px, py = (rr * ax - ta * ay) / aa, (rr * ay + ta * ax) / aa
    qx, qy = (rr * bx + tb * by) / bb, (rr * by - tb * bx) / bb
    return r * angle, px, py, qx, qy


@kernel
def through_circle(ax, ay, bx, by, r):
    """(0 or STRAIGHT, touching point twice) of the shortest path from a to b that meets the disc.

    The point r·(cos θ, sin θ), counted from a towards b, makes F(θ) = |a − p| + |b − p| smallest; F′ = 0 is found by
    Newton's method with bisection.
    """
    la, lb = sqrt(ax * ax + ay * ay), sqrt(bx * bx + by * by)
    if la <= r or lb <= r or r < TINY:
        return STRAIGHT, 0.0, 0.0, 0.0, 0.0
    if (bx - ax) ** 2 + (by - ay) ** 2 > TINY:
        nx, ny = nearest_to_origin(ax, ay, bx, by)
        if nx * nx + ny * ny <= r * r:
            return STRAIGHT, 0.0, 0.0, 0.0, 0.0
    between = acos(min(max((ax * bx + ay * by) / (la * lb), -1.0), 1.0))
    low, high = 0.0, between
    x = 0.5 * between
    for _ in range(100):
        y = between - x
        da = sqrt(la * la + r * r - 2.0 * la * r * cos(x))
        db = sqrt(lb * lb + r * r - 2.0 * lb * r * cos(y))
        slope = la * sin(x) / da - lb * sin(y) / db
        if slope > 0.0:
            high = x
        else:
            low = x
        curve = la * cos(x) / da - la * la * r * sin(x) ** 2 / da**3
        curve += lb * cos(y) / db - lb * lb * r * sin(y) ** 2 / db**3
        step = x - slope / curve if curve > 0.0 else -1.0
        if not low < step < high:
            step = 0.5 * (low + high)
        moved = abs(step - x)
        x = step
        if moved <= 1e-15 * (1.0 + between):
            break
    turn = 1.0 if ax * by - ay * bx >= 0.0 else -1.0
    c, s = r * cos(x) / la, turn * r * sin(x) / la
    px, py = c * ax - s * ay, s * ax + c * ay
    return 0.0, px, py, px, py


@kernel
def wrap_sphere(a, b, r, sided, side):
    """(length, first, second point) of the path from a to b around a sphere about the origin; a, b and the side site
    are triples from its centre. The points are six numbers."""
    ax, ay, az = a
    bx, by, bz = b
    la = sqrt(ax * ax + ay * ay + az * az)
    if la < TINY or bx * bx + by * by + bz * bz < TINY * TINY:
        return STRAIGHT, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    ex, ey, ez = ax / la, ay / la, az / la
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    norm = sqrt(nx * nx + ny * ny + nz * nz)
    if norm < TINY:  # a, b and the centre are in line: any plane through them will do
        if abs(ex) <= abs(ey) and abs(ex) <= abs(ez):
            nx, ny, nz = 0.0, ez, -ey
        elif abs(ey) <= abs(ez):
            nx, ny, nz = -ez, 0.0, ex
        else:
            nx, ny, nz = ey, -ex, 0.0
        norm = sqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = nx / norm, ny / norm, nz / norm
    fx, fy, fz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
    along, across = bx * ex + by * ey + bz * ez, bx * fx + by * fy + bz * fz
    sx, sy, inside = 0.0, 0.0, False
    if sided:
        x, y, z = side
        inside = x * x + y * y + z * z < r * r
        sx, sy = x * ex + y * ey + z * ez, x * fx + y * fy + z * fz
    if inside:
        length, px, py, qx, qy = through_circle(la, 0.0, along, across, r)
    else:
        length, px, py, qx, qy = around_circle(la, 0.0, along, across, r, sided, sx, sy)
    return (
        length, px * ex + py * fx, px * ey + py * fy, px * ez + py * fz,
        qx * ex + qy * fx, qx * ey + qy * fy, qx * ez + qy * fz,
    )  # fmt: skip


@kernel
def wrap_cylinder(a, b, r, sided, side):
    """As ``wrap_sphere`` for an infinite cylinder about the z axis; all in its frame."""
    ax, ay, az = a
    bx, by, bz = b
    sx, sy, inside = 0.0, 0.0, False
    if sided:
        sx, sy, z = side
        inside = sx * sx + sy * sy + z * z < r * r
    if inside:
        length, px, py, qx, qy = through_circle(ax, ay, bx, by, r)
    else:
        length, px, py, qx, qy = around_circle(ax, ay, bx, by, r, sided, sx, sy)
    if length < 0.0:
        return STRAIGHT, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    first, last = sqrt((px - ax) ** 2 + (py - ay) ** 2), sqrt((qx - bx) ** 2 + (qy - by) ** 2)
    climb = (bz - az) / (first + length + last)
    pz, qz = az + climb * first, az + climb * (first + length)
    return sqrt(length * length + (qz - pz) ** 2), px, py, pz, qx, qy, qz
