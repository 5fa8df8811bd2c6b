"""Ellipsoids against all other shapes: one contact, at the nearest or deepest points.

The signed distance of two convex shapes is the largest separation along a direction,

    gap = max over |n| = 1 of s(n),    s(n) = n·c − h_A(n) − h_E(n),    h_E(n) = |D·Rᵀ·n|

with c the ellipsoid's centre seen from A, D its half axes and R its orientation in A's axes. The gradient of s joins
the points of A and E that are farthest along n and −n; at the maximum it is along n. A is a ball, a segment, a disc, a
box or a sum of these, or an ellipsoid:

    h_A(n) = r + Σ hᵢ·|nᵢ| + d·√(n_x² + n_y²) + |D_A·n|

s is smooth but for creases nᵢ = 0, where an edge or a side touches, and for the axes, where a face touches. So the
maximum is the best of the axes, of Newton's method along each crease, and of Newton's method between them. A step of
the latter solves (C_A + C_E + s)·δ = ∇s in the tangent plane, C the second derivatives of h (radii of curvature), and
is shortened until s grows. Apart, s has one maximum; in deep penetration the search may end at another one.
Planes have a closed form. Meshes go through GJK and EPA (``rounded``), corrected by the normal of a face that touches.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    SPHERE,
    WITHIN,
    emit,
    feature,
)
from stickslip.collision.convex.planes import height
from stickslip.collision.convex.segments import across
from stickslip.math.spatial import cross, rotate, rotate_transposed

MOST_STEPS = 40
PRECISE = 1e-14
"""Relative size of the gradient, or of the gain of a step, at which Newton's method ends."""
DISC, BALL, OWN, HALF = 8, 9, 10, 5
"""Places of ``Minkowski.core``: disc and ball of A, its half axes if it is an ellipsoid, its half edges."""


@kernel
def support_height(size, s, x, y, z):
    """(h, D²·u/h) of ellipsoid s for a direction u in its axes."""
    a, b, c = size[s, 0] * size[s, 0], size[s, 1] * size[s, 1], size[s, 2] * size[s, 2]
    h = sqrt(a * x * x + b * y * y + c * z * z)
    return h, a * x / h, b * y / h, c * z / h


@kernel
def mean_radius(size, s, x, y, z):
    """Mean of the two radii of curvature of ellipsoid s where its normal is the unit vector (x, y, z), in its axes."""
    h, px, py, pz = support_height(size, s, x, y, z)
    total = size[s, 0] * size[s, 0] + size[s, 1] * size[s, 1] + size[s, 2] * size[s, 2]
    return 0.5 * (total - px * px - py * py - pz * pz) / h


@kernel
def plane_ellipsoid(geometry, placed, work, pairs, margin, found):
    """One contact at p = c − D²·u/h in the ellipsoid's axes, u = Rᵀ·n: the point farthest along −n."""
    R, P = placed.rot, placed.pos
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
        x, y, z = rotate_transposed(R, b, nx, ny, nz)
        h, x, y, z = support_height(geometry.shapes.size, b, x, y, z)
        gap = height(placed, a, P[b, 0], P[b, 1], P[b, 2]) - h
        if gap < margin:
            x, y, z = rotate(R, b, x, y, z)
            emit(found, a, b, feature(WITHIN, 0, 0, 0), P[b, 0] - x, P[b, 1] - y, P[b, 2] - z, nx, ny, nz, gap)


@kernel(inline=False)
def separation(T, core, x, y, z):
    """(s, ∇s) along the unit vector (x, y, z) of A's axes."""
    u = T[0, 0] * x + T[1, 0] * y + T[2, 0] * z
    v = T[0, 1] * x + T[1, 1] * y + T[2, 1] * z
    w = T[0, 2] * x + T[1, 2] * y + T[2, 2] * z
    u, v, w = core[2] * core[2] * u, core[3] * core[3] * v, core[4] * core[4] * w
    gx, gy, gz = (
        T[0, 0] * u + T[0, 1] * v + T[0, 2] * w,
        T[1, 0] * u + T[1, 1] * v + T[1, 2] * w,
        T[2, 0] * u + T[2, 1] * v + T[2, 2] * w,
    )
    h = sqrt(gx * x + gy * y + gz * z)
    gx, gy, gz = T[3, 0] - gx / h, T[3, 1] - gy / h, T[3, 2] - gz / h
    gx -= core[BALL] * x + (core[HALF] if x > 0.0 else (-core[HALF] if x < 0.0 else 0.0))
    gy -= core[BALL] * y + (core[HALF + 1] if y > 0.0 else (-core[HALF + 1] if y < 0.0 else 0.0))
    gz -= core[BALL] * z + (core[HALF + 2] if z > 0.0 else (-core[HALF + 2] if z < 0.0 else 0.0))
    rho = sqrt(x * x + y * y)
    if core[DISC] > 0.0 and rho > 0.0:
        gx, gy = gx - core[DISC] * x / rho, gy - core[DISC] * y / rho
    if core[OWN] > 0.0:
        a, b, c = core[OWN] * core[OWN], core[OWN + 1] * core[OWN + 1], core[OWN + 2] * core[OWN + 2]
        h = sqrt(a * x * x + b * y * y + c * z * z)
        gx, gy, gz = gx - a * x / h, gy - b * y / h, gz - c * z / h
    return gx * x + gy * y + gz * z, gx, gy, gz


@kernel(inline=False)
def curvature(T, core, x, y, z, ax, ay, az, bx, by, bz):
    """a·(C_A + C_E)·b at the normal (x, y, z), for tangents a and b."""
    total, rho = core[BALL] * (ax * bx + ay * by + az * bz), x * x + y * y
    h, na, nb, ab = 0.0, 0.0, 0.0, 0.0
    for j in range(3):
        d = core[2 + j] * core[2 + j]
        n = T[0, j] * x + T[1, j] * y + T[2, j] * z
        p, q = T[0, j] * ax + T[1, j] * ay + T[2, j] * az, T[0, j] * bx + T[1, j] * by + T[2, j] * bz
        h, na, nb, ab = h + d * n * n, na + d * n * p, nb + d * n * q, ab + d * p * q
    total += (ab - na * nb / h) / sqrt(h)
    if core[DISC] > 0.0 and rho > 0.0:
        total += core[DISC] * (x * ay - y * ax) * (x * by - y * bx) / (rho * sqrt(rho))
    if core[OWN] > 0.0:
        d, e, f = core[OWN] * core[OWN], core[OWN + 1] * core[OWN + 1], core[OWN + 2] * core[OWN + 2]
        h = d * x * x + e * y * y + f * z * z
        na, nb = d * x * ax + e * y * ay + f * z * az, d * x * bx + e * y * by + f * z * bz
        total += (d * ax * bx + e * ay * by + f * az * bz - na * nb / h) / sqrt(h)
    return total


@kernel
def unit(x, y, z):
    length = sqrt(x * x + y * y + z * z)
    if length == 0.0:
        return 0.0, 0.0, 1.0
    return x / length, y / length, z / length


@kernel
def newton_direction(T, core, crease, s, x, y, z, gx, gy, gz):
    """(tangential gradient, step): the step of Newton's method along the crease, or in the tangent plane."""
    if crease >= 0:
        ax, ay, az = cross(
            1.0 if crease == 0 else 0.0, 1.0 if crease == 1 else 0.0, 1.0 if crease == 2 else 0.0, x, y, z
        )
        bx, by, bz = 0.0, 0.0, 0.0
    else:
        ax, ay, az = across(x, y, z)
        bx, by, bz = cross(x, y, z, ax, ay, az)
    p, q = gx * ax + gy * ay + gz * az, gx * bx + gy * by + gz * bz
    haa = curvature(T, core, x, y, z, ax, ay, az, ax, ay, az) + s
    hab = curvature(T, core, x, y, z, ax, ay, az, bx, by, bz)
    hbb = curvature(T, core, x, y, z, bx, by, bz, bx, by, bz) + s if crease < 0 else 1.0
    least = 0.5 * (haa + hbb) - sqrt(0.25 * (haa - hbb) * (haa - hbb) + hab * hab)
    size = abs(haa) + abs(hbb) + abs(hab)
    if least < 1e-6 * size:  # not concave here: make it so
        haa, hbb = haa + 0.1 * size - least, hbb + 0.1 * size - least
    determinant = haa * hbb - hab * hab
    i, j = (hbb * p - hab * q) / determinant, (haa * q - hab * p) / determinant
    length = sqrt(i * i + j * j)
    if length > 1.0:
        i, j = i / length, j / length
    return sqrt(p * p + q * q), i * ax + j * bx, i * ay + j * by, i * az + j * bz


@kernel(inline=False)
def ascend(T, core, crease, x, y, z):
    """(s, unit normal) at a local maximum of s, by Newton's method from (x, y, z); ``crease`` i keeps nᵢ = 0."""
    s, gx, gy, gz = separation(T, core, x, y, z)
    for _ in range(MOST_STEPS):
        slope, dx, dy, dz = newton_direction(T, core, crease, s, x, y, z, gx, gy, gz)
        scale = abs(gx) + abs(gy) + abs(gz)
        if slope <= PRECISE * scale:
            break
        t, better = 1.0, False
        for k in range(50):
            if k == 25:  # a crease may be in the way: go along the gradient
                t = 0.1 / slope
                dx, dy, dz = gx - s * x, gy - s * y, gz - s * z
            px, py, pz = unit(x + t * dx, y + t * dy, z + t * dz)
            if crease == 0:
                px = 0.0
            elif crease == 1:
                py = 0.0
            elif crease == 2:
                pz = 0.0
            value, hx, hy, hz = separation(T, core, px, py, pz)
            if value > s:
                better = True
                break
            t *= 0.5
        if not better:
            break
        gain = value - s
        x, y, z, s, gx, gy, gz = px, py, pz, value, hx, hy, hz
        if gain <= PRECISE * scale and t < 1.0:
            break
    return s, x, y, z


@kernel(inline=False)
def best_start(T, core, crease):
    """The best of the axes of both shapes and of the centres' direction, in the crease if there is one."""
    best, bx, by, bz = -1e300, 0.0, 0.0, 1.0
    for k in range(14):
        i, sign = k // 2, (1.0 if k % 2 == 0 else -1.0)
        if i < 3:
            x, y, z = (sign if i == 0 else 0.0), (sign if i == 1 else 0.0), (sign if i == 2 else 0.0)
        elif i < 6:
            x, y, z = sign * T[0, i - 3], sign * T[1, i - 3], sign * T[2, i - 3]
        else:
            x, y, z = sign * T[3, 0], sign * T[3, 1], sign * T[3, 2]
        if crease == 0:
            x = 0.0
        elif crease == 1:
            y = 0.0
        elif crease == 2:
            z = 0.0
        if x * x + y * y + z * z < 1e-12 * (T[3, 0] * T[3, 0] + T[3, 1] * T[3, 1] + T[3, 2] * T[3, 2]):
            continue
        x, y, z = unit(x, y, z)
        s, _, _, _ = separation(T, core, x, y, z)
        if s > best:
            best, bx, by, bz = s, x, y, z
    return best, bx, by, bz


@kernel(inline=False)
def widest_separation(T, core):
    """(gap, unit normal from A to the ellipsoid) in A's axes."""
    best, bx, by, bz = best_start(T, core, -1)
    s, x, y, z = ascend(T, core, -1, bx, by, bz)
    if s > best:
        best, bx, by, bz = s, x, y, z
    for i in range(3):
        if core[HALF + i] == 0.0:
            continue
        _, x, y, z = best_start(T, core, i)
        s, x, y, z = ascend(T, core, i, x, y, z)
        if s > best:
            best, bx, by, bz = s, x, y, z
        _, gx, gy, gz = separation(T, core, x, y, z)
        d = gx if i == 0 else (gy if i == 1 else gz)
        if abs(d) > core[HALF + i]:  # s grows beside the crease
            d = 0.05 if d > 0.0 else -0.05
            x, y, z = unit(x + (d if i == 0 else 0.0), y + (d if i == 1 else 0.0), z + (d if i == 2 else 0.0))
            s, x, y, z = ascend(T, core, -1, x, y, z)
            if s > best:
                best, bx, by, bz = s, x, y, z
    return best, bx, by, bz


@kernel
def describe(shapes, a, b, core):
    """Write what A is made of, and the half axes of ellipsoid b."""
    size, kind = shapes.size, shapes.kind[a]
    for i in range(3):
        core[2 + i] = size[b, i]
        core[HALF + i] = size[a, i] if kind == BOX else 0.0
        core[OWN + i] = size[a, i] if kind == ELLIPSOID else 0.0
    core[DISC] = size[a, 0] if kind == CYLINDER else 0.0
    core[BALL] = size[a, 0] if kind == SPHERE or kind == CAPSULE else 0.0
    if kind == CAPSULE or kind == CYLINDER:
        core[HALF + 2] = size[a, 1]


@kernel
def solid_ellipsoid(geometry, placed, work, pairs, margin, found):
    """Contacts of spheres, boxes, capsules, cylinders and ellipsoids with ellipsoids, which come second."""
    R, P, T, core = placed.rot, placed.pos, work.minkowski.pose, work.minkowski.core
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        describe(geometry.shapes, a, b, core)
        round_one = geometry.shapes.kind[a] == SPHERE  # whose axes are not known, nor needed
        for i in range(3):
            T[3, i] = P[b, i] - P[a, i]
            for j in range(3):
                T[i, j] = R[b, i, j]
        if not round_one:
            T[3, 0], T[3, 1], T[3, 2] = rotate_transposed(R, a, T[3, 0], T[3, 1], T[3, 2])
            for j in range(3):
                T[0, j], T[1, j], T[2, j] = rotate_transposed(R, a, R[b, 0, j], R[b, 1, j], R[b, 2, j])
        gap, nx, ny, nz = widest_separation(T, core)
        if not gap < margin:
            continue
        if not round_one:
            nx, ny, nz = rotate(R, a, nx, ny, nz)
        x, y, z = rotate_transposed(R, b, nx, ny, nz)
        _, x, y, z = support_height(geometry.shapes.size, b, x, y, z)
        x, y, z = rotate(R, b, x, y, z)
        emit(found, a, b, feature(WITHIN, 0, 0, 0), P[b, 0] - x, P[b, 1] - y, P[b, 2] - z, nx, ny, nz, gap)
