"""The direction of largest separation of an ellipsoid from a box, capsule, cylinder or ellipsoid.

The signed distance of two convex shapes is the largest separation along a direction,

    gap = max over |n| = 1 of s(n),    s(n) = n·c − h_A(n) − h_E(n),    h_E(n) = |D·Rᵀ·n|

with c the ellipsoid's centre seen from A, D its half axes and R its orientation in A's axes. A is a segment with a
radius, a disc, a box or a sum of these, or an ellipsoid:

    h_A(n) = r + Σ hᵢ·|nᵢ| + d·√(n_x² + n_y²) + |D_A·n|

The gradient of s joins the points of A and E that are farthest along n and −n; at the maximum it is along n. A step of
Newton's method solves (C_A + C_E + s)·δ = ∇s in the tangent plane, C the second derivatives of h (radii of curvature).

**Creases.** s has creases nᵢ = 0, where an edge or a side touches; two of them meet where a face does. Σ hᵢ·|nᵢ| is
what the lasso of statistics adds, so the steps are those of an orthant-wise method (Andrew, Gao, ICML 2007): a
component that is zero stays so while the rest of the gradient is at most hᵢ there; one that would change its sign
becomes zero. The cap of a cylinder, where the disc has its crease, is tried by itself.

**Which maximum.** E is the sum of a convex body and a ball of its least radius of curvature ρ, and so may be A. If
s > −ρ_A − ρ_E, the rest of both is apart, and a local maximum of s is the only one. Else the search begins again from
the best of many directions, and the largest value found counts.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.segments import across
from stickslip.math.spatial import cross

MOST_STEPS = 40
PRECISE = 1e-13
"""Size of the tangential gradient, relative to the sizes, at which Newton's method ends."""
DISC, BALL, OWN, HALF = 8, 9, 10, 5
"""Places of ``Minkowski.core``: disc and ball of A, its half axes if it is an ellipsoid, its half edges."""
DIRECTIONS = 34
"""Directions of which deep searches begin at the best: to faces, edges and corners of a cube in A's axes, along the
ellipsoid's axes, and between the centres."""
STARTS = 5
APART = 0.8
"""Cosine of the angle that directions at which searches begin must differ by."""


@kernel(inline=False)
def separation(T, core, x, y, z):
    """(s, gradient of s without the half edges) along the unit vector (x, y, z) of A's axes."""
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
    gx, gy, gz = T[3, 0] - gx / h - core[BALL] * x, T[3, 1] - gy / h - core[BALL] * y, T[3, 2] - gz / h - core[BALL] * z
    rho = sqrt(x * x + y * y)
    if core[DISC] > 0.0 and rho > 0.0:
        gx, gy = gx - core[DISC] * x / rho, gy - core[DISC] * y / rho
    if core[OWN] > 0.0:
        a, b, c = core[OWN] * core[OWN], core[OWN + 1] * core[OWN + 1], core[OWN + 2] * core[OWN + 2]
        h = sqrt(a * x * x + b * y * y + c * z * z)
        gx, gy, gz = gx - a * x / h, gy - b * y / h, gz - c * z / h
    s = gx * x + gy * y + gz * z - core[HALF] * abs(x) - core[HALF + 1] * abs(y) - core[HALF + 2] * abs(z)
    return s, gx, gy, gz


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
def side(x, g, half):
    """Sign of a component x with the gradient g; 0 if it is zero and stays so."""
    if x != 0.0 or half == 0.0:
        return 1.0 if x > 0.0 or (x == 0.0 and g >= 0.0) else -1.0
    return 1.0 if g > half else (-1.0 if g < -half else 0.0)


@kernel
def newton_step(T, core, s, x, y, z, gx, gy, gz, i, j, k):
    """(size of the tangential gradient, step) among the components whose signs i, j, k are not 0."""
    zeros = (1 if i == 0.0 else 0) + (1 if j == 0.0 else 0) + (1 if k == 0.0 else 0)
    if zeros >= 2:
        return 0.0, 0.0, 0.0, 0.0
    if zeros == 1:
        ax, ay, az = cross(1.0 if i == 0.0 else 0.0, 1.0 if j == 0.0 else 0.0, 1.0 if k == 0.0 else 0.0, x, y, z)
        bx, by, bz = 0.0, 0.0, 0.0
    else:
        ax, ay, az = across(x, y, z)
        bx, by, bz = cross(x, y, z, ax, ay, az)
    p, q = gx * ax + gy * ay + gz * az, gx * bx + gy * by + gz * bz
    haa = curvature(T, core, x, y, z, ax, ay, az, ax, ay, az) + s
    hab, hbb = 0.0, 1.0
    least = haa
    if zeros == 0:
        hab = curvature(T, core, x, y, z, ax, ay, az, bx, by, bz)
        hbb = curvature(T, core, x, y, z, bx, by, bz, bx, by, bz) + s
        least = 0.5 * (haa + hbb) - sqrt(0.25 * (haa - hbb) * (haa - hbb) + hab * hab)
    size = abs(haa) + abs(hab) + (abs(hbb) if zeros == 0 else 0.0)
    if least < 1e-6 * size:  # not concave here: make it so
        haa = haa + 0.1 * size - least
        if zeros == 0:
            hbb = hbb + 0.1 * size - least
    determinant = haa * hbb - hab * hab
    u, v = (hbb * p - hab * q) / determinant, (haa * q - hab * p) / determinant
    length = sqrt(u * u + v * v)
    if length > 1.0:
        u, v = u / length, v / length
    return sqrt(p * p + q * q), u * ax + v * bx, u * ay + v * by, u * az + v * bz


@kernel
def same_side(x, sign, half):
    """A component after a step: zero if it is held at zero, or if it would change its sign."""
    if half == 0.0:
        return x
    return 0.0 if sign == 0.0 or x * sign < 0.0 else x


@kernel(inline=False)
def ascend(T, core, size, x, y, z):
    """(s, unit normal) at a local maximum of s, by orthant-wise Newton steps from (x, y, z)."""
    s, gx, gy, gz = separation(T, core, x, y, z)
    for _ in range(MOST_STEPS):
        i, j, k = side(x, gx, core[HALF]), side(y, gy, core[HALF + 1]), side(z, gz, core[HALF + 2])
        slope, dx, dy, dz = newton_step(
            T, core, s, x, y, z, gx - i * core[HALF], gy - j * core[HALF + 1], gz - k * core[HALF + 2], i, j, k
        )
        if slope <= PRECISE * size:
            break
        t, better = 1.0, False
        small = dx * dx + dy * dy + dz * dz < 1e-10
        for _ in range(30):
            px = same_side(x + t * dx, i, core[HALF])
            py = same_side(y + t * dy, j, core[HALF + 1])
            pz = same_side(z + t * dz, k, core[HALF + 2])
            length = sqrt(px * px + py * py + pz * pz)
            if length > 0.1:
                px, py, pz = px / length, py / length, pz / length
                value, hx, hy, hz = separation(T, core, px, py, pz)
                if value > s or (small and value > s - 1e-15 * size):
                    better = True
                    break
            t *= 0.4
        if not better:
            break
        x, y, z, s, gx, gy, gz = px, py, pz, value, hx, hy, hz
    return s, x, y, z


@kernel
def candidate(T, m):
    """Unit vector m of ``DIRECTIONS``."""
    if m < 27:
        x, y, z = m // 9 - 1.0, (m // 3) % 3 - 1.0, m % 3 - 1.0
        if m == 13:
            x, y, z = T[3, 0], T[3, 1], T[3, 2]
    elif m < 33:
        j, sign = (m - 27) // 2, (1.0 if m % 2 else -1.0)
        x, y, z = sign * T[0, j], sign * T[1, j], sign * T[2, j]
    else:
        x, y, z = -T[3, 0], -T[3, 1], -T[3, 2]
    length = sqrt(x * x + y * y + z * z)
    if length < 1e-100:
        return 0.0, 0.0, 1.0
    return x / length, y / length, z / length


@kernel(inline=False)
def best_candidate(T, core, starts, number):
    """The best of the directions that differ from the first ``number`` rows of ``starts``."""
    best, bx, by, bz = -1e300, 0.0, 0.0, 0.0
    for m in range(DIRECTIONS):
        x, y, z = candidate(T, m)
        new = True
        for i in range(number):
            if x * starts[i, 0] + y * starts[i, 1] + z * starts[i, 2] > APART:
                new = False
        if new:
            s, _, _, _ = separation(T, core, x, y, z)
            if s > best:
                best, bx, by, bz = s, x, y, z
    return best, bx, by, bz


@kernel
def least_curvature(core, first):
    """The least radius of curvature of the ellipsoid whose half axes begin at place ``first`` of ``core``."""
    a, b, c = core[first], core[first + 1], core[first + 2]
    most = max(a, b, c)
    return min(a, b, c) ** 2 / most if most > 0.0 else 0.0


@kernel(inline=False)
def widest_separation(T, core, starts, margin):
    """(gap, unit normal from A to the ellipsoid) in A's axes; a gap ≥ margin is only a bound. ``starts`` (6, 4) is
    scratch."""
    size = core[2] + core[3] + core[4] + core[HALF] + core[HALF + 1] + core[HALF + 2] + core[DISC] + core[BALL]
    size += core[OWN] + core[OWN + 1] + core[OWN + 2]
    x, y, z = candidate(T, 13)
    best, bx, by, bz = separation(T, core, x, y, z)
    if best >= margin:
        return best, x, y, z
    best, bx, by, bz = ascend(T, core, size, x, y, z)
    if core[DISC] > 0.0:
        best, bx, by, bz = try_caps(T, core, best, bx, by, bz)
    stuck = core[DISC] > 0.0 and 0.99 <= abs(bz) < 1.0  # perhaps beside a cap's normal
    if best > -least_curvature(core, 2) - least_curvature(core, OWN) - core[BALL] and not stuck:
        return best, bx, by, bz
    starts[0, 0], starts[0, 1], starts[0, 2] = x, y, z
    for number in range(1, STARTS):
        s, x, y, z = best_candidate(T, core, starts, number)
        if s == -1e300:
            break
        starts[number, 0], starts[number, 1], starts[number, 2] = x, y, z
        s, x, y, z = ascend(T, core, size, x, y, z)
        if s > best:
            best, bx, by, bz = s, x, y, z
    return best, bx, by, bz


@kernel
def try_caps(T, core, best, bx, by, bz):
    """The better of the direction so far and of the normals of a cylinder's caps."""
    for m in range(2):
        up = 1.0 if m == 0 else -1.0
        s, _, _, _ = separation(T, core, 0.0, 0.0, up)
        if s >= best:
            best, bx, by, bz = s, 0.0, 0.0, up
    return best, bx, by, bz
