"""The axis of largest gap between two cylinders,

    g(n) = n·d − s₁(n) − s₂(n),    sᵢ(n) = rᵢ·√(1 − (n·aᵢ)²) + hᵢ·|n·aᵢ|,

over unit vectors n from cylinder 1 at the origin to cylinder 2 at d. g is not smooth where n is an axis (a cap),
perpendicular to both axes (side on side) or to one (side on rim: a maximum along a circle). These cases have a closed
form or a search along the circle. In the smooth case, rim on rim, Newton's method on the sphere starts from the best of
many directions. With w the vector between the support points, ∇g = w; a rim of radius r at n with tangent t adds
−r/√(1 − (n·a)²)·t·tᵀ to the second derivative, and the sphere adds −g. For separate cylinders g has a single maximum;
for overlapping ones it may have several, and the many directions serve to find the best.
"""

from __future__ import annotations

from math import cos, inf, pi, sin, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.rim import best_on_arc, support
from stickslip.collision.convex.segments import across
from stickslip.math.spatial import cross

DIRECTIONS = 96
STARTS = 6
STEPS = 40
EAGER = 10.0
"""A climb that would miss the best gap with steps so many times as high as its last one is given up."""
COS, SIN = cos(2.399963229728653), sin(2.399963229728653)
"""Cosine and sine of the golden angle, by which one direction of the spiral follows another."""


@kernel
def gap_along(nx, ny, nz, dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2):
    return (
        nx * dx
        + ny * dy
        + nz * dz
        - support(r1, h1, nx * ax + ny * ay + nz * az)
        - support(r2, h2, nx * bx + ny * by + nz * bz)
    )


@kernel
def support_point(nx, ny, nz, ax, ay, az, r, h):
    """(point of the cylinder farthest along n, unit tangent of its rim there, √(1 − (n·a)²))."""
    along = nx * ax + ny * ay + nz * az
    mx, my, mz = nx - along * ax, ny - along * ay, nz - along * az
    root = sqrt(mx * mx + my * my + mz * mz)
    if root < 1e-14:
        mx, my, mz = across(ax, ay, az)
        root = 1e-14
    else:
        mx, my, mz = mx / root, my / root, mz / root
    t = h if along > 0.0 else -h
    tx, ty, tz = cross(ax, ay, az, mx, my, mz)
    return t * ax + r * mx, t * ay + r * my, t * az + r * mz, tx, ty, tz, root


@kernel
def climb(nx, ny, nz, dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2, best):
    """The maximum of g near n, by Newton steps if they ascend, else gradient steps, halved until g increases; or less,
    where it creeps up a ridge and would stay below ``best``."""
    g = gap_along(nx, ny, nz, dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2)
    for k in range(STEPS):
        x1, y1, z1, sx, sy, sz, root1 = support_point(nx, ny, nz, ax, ay, az, r1, h1)
        x2, y2, z2, tx, ty, tz, root2 = support_point(-nx, -ny, -nz, bx, by, bz, r2, h2)
        wx, wy, wz = dx + x2 - x1, dy + y2 - y1, dz + z2 - z1
        px, py, pz = across(nx, ny, nz)
        qx, qy, qz = cross(nx, ny, nz, px, py, pz)
        G1, G2 = wx * px + wy * py + wz * pz, wx * qx + wy * qy + wz * qz
        s1, s2 = sx * px + sy * py + sz * pz, sx * qx + sy * qy + sz * qz
        t1, t2 = tx * px + ty * py + tz * pz, tx * qx + ty * qy + tz * qz
        c1, c2 = r1 / root1, r2 / root2
        H11, H12, H22 = -c1 * s1 * s1 - c2 * t1 * t1 - g, -c1 * s1 * s2 - c2 * t1 * t2, -c1 * s2 * s2 - c2 * t2 * t2 - g
        det = H11 * H22 - H12 * H12
        if H11 < 0.0 and det > 0.0:
            u, v = -(H22 * G1 - H12 * G2) / det, -(H11 * G2 - H12 * G1) / det
        else:
            scale = abs(H11) + abs(H22) + abs(H12) + 1e-300
            u, v = G1 / scale, G2 / scale
        longest = sqrt(u * u + v * v)
        if longest > 0.5:
            u, v = 0.5 * u / longest, 0.5 * v / longest
        gained, before = False, g
        for _ in range(30):
            x, y, z = nx + u * px + v * qx, ny + u * py + v * qy, nz + u * pz + v * qz
            length = sqrt(x * x + y * y + z * z)
            x, y, z = x / length, y / length, z / length
            value = gap_along(x, y, z, dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2)
            if value > g:
                gained, g, nx, ny, nz = True, value, x, y, z
                break
            u, v = 0.5 * u, 0.5 * v
        if not gained or longest < 1e-12 or g + EAGER * (STEPS - k) * (g - before) < best:
            break
    return g, nx, ny, nz


@kernel
def on_circle(dx, dy, dz, ax, ay, az, r1, bx, by, bz, r2, h2):
    """(g, n) of the largest maximum over n perpendicular to a but not to both axes."""
    px, py, pz = across(ax, ay, az)
    qx, qy, qz = cross(ax, ay, az, px, py, pz)
    A, B = dx * px + dy * py + dz * pz, dx * qx + dy * qy + dz * qz
    C, D = bx * px + by * py + bz * pz, bx * qx + by * qy + bz * qz
    g, phi = best_on_arc(r2, h2, A, B, C, D, 2.0 * pi)
    c, s = cos(phi), sin(phi)
    return g - r1, c * px + s * qx, c * py + s * qy, c * pz + s * qz


@kernel
def ridges(dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2, tie):
    """(g, n) of the best axis where g is not smooth: caps, sides on sides, sides on rims."""
    best, nx, ny, nz = -inf, 0.0, 0.0, 1.0
    for i in range(8):
        if i < 2:
            x, y, z = ax, ay, az
        elif i < 4:
            x, y, z = bx, by, bz
        elif i < 6:
            x, y, z = cross(ax, ay, az, bx, by, bz)
        else:  # parallel axes, side on side: perpendicular to the first, towards the second
            along = dx * ax + dy * ay + dz * az
            x, y, z = dx - along * ax, dy - along * ay, dz - along * az
        length = sqrt(x * x + y * y + z * z)
        if length < (1e-12 if i < 6 else 1e-3 * tie):
            if i < 6:
                continue
            x, y, z = across(ax, ay, az)
            length = 1.0
        if i & 1:
            length = -length
        x, y, z = x / length, y / length, z / length
        g = gap_along(x, y, z, dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2)
        if g > best + (tie if best > -inf else 0.0):
            best, nx, ny, nz = g, x, y, z
    g, x, y, z = on_circle(dx, dy, dz, ax, ay, az, r1, bx, by, bz, r2, h2)
    g = gap_along(x, y, z, dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2)
    if g > best + tie:
        best, nx, ny, nz = g, x, y, z
    g, x, y, z = on_circle(dx, dy, dz, bx, by, bz, r2, ax, ay, az, r1, h1)
    g = gap_along(x, y, z, dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2)
    if g > best + tie:
        best, nx, ny, nz = g, x, y, z
    return best, nx, ny, nz


@kernel(inline=False)
def cylinders_axis(dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2, tie, margin, starts):
    """(g, n) of the largest gap, or of any gap that is not below ``margin``; ``starts`` (STARTS, 4) is scratch.
    ``ridges`` win ties of ``tie`` [m]."""
    length, top, mx, my, mz = sqrt(dx * dx + dy * dy + dz * dz), -inf, 0.0, 0.0, 1.0
    if length > 1e-150:
        x, y, z = dx / length, dy / length, dz / length
        top, mx, my, mz = climb(x, y, z, dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2, -inf)
        if top >= margin:
            return top, mx, my, mz
    best, nx, ny, nz = ridges(dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2, tie)
    if best >= margin:
        return best, nx, ny, nz
    for i in range(STARTS):
        starts[i, 0] = -inf
    c, s = 1.0, 0.0
    for k in range(DIRECTIONS):  # a spiral that covers the sphere evenly
        z = 1.0 - (2.0 * k + 1.0) / DIRECTIONS
        rho = sqrt(1.0 - z * z)
        x, y = rho * c, rho * s
        c, s = c * COS - s * SIN, s * COS + c * SIN
        g = gap_along(x, y, z, dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2)
        least = 0
        for i in range(1, STARTS):
            if starts[i, 0] < starts[least, 0]:
                least = i
        near = -1
        for i in range(STARTS):  # one start per neighbourhood
            if starts[i, 0] > -inf and x * starts[i, 1] + y * starts[i, 2] + z * starts[i, 3] > 0.9:
                near = i
        i = near if near >= 0 else least
        if g > starts[i, 0]:
            starts[i, 0], starts[i, 1], starts[i, 2], starts[i, 3] = g, x, y, z
    for i in range(STARTS):
        x, y, z = starts[i, 1], starts[i, 2], starts[i, 3]
        g, x, y, z = climb(x, y, z, dx, dy, dz, ax, ay, az, r1, h1, bx, by, bz, r2, h2, max(best, top))
        if g > best + tie:
            best, nx, ny, nz, tie = g, x, y, z, 0.0
    if top > best + tie:
        best, nx, ny, nz = top, mx, my, mz
    return best, nx, ny, nz
