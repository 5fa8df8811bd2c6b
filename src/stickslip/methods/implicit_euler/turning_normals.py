"""Derivatives of contact point and force for contacts whose normal turns when body 2 moves.

Body 1 rests; body 2 is displaced by ξ = (v, ω) at the contact point p. The centre x = p + r·n of the sphere in contact,
as a point of body 2, moves by δx = v + r·ω × n. Let C = κ·(1 − n·nᵀ − a·aᵀ), where 1/κ is its distance from the other
sphere's centre (a = 0), from an edge of the box along a, or from a corner (a = 0); on a face C = 0. Then

    body 2 carries the sphere:         δn = C·δx,            δp = δx − r·δn,
    body 2 is a box, the sphere rests: δn = ω × n + C·δx,    δp = n·(n·v) − r·δn      (here −r is the distance).

In both cases δgap = n·v. The force is f = (λ_n − a)·n + λ_t with the adhesion a, λ_t = g or μ·λ_n·g/|g| and
g = (1 − n·nᵀ)·h, where h, the force of springs and dampers before its projection on the tangent plane, does not depend
on n. f does not depend on the choice of tangents. So δg = −(n·h)·δn − n·(g·δn), and with e = g/|g|, ρ = |λ_t|/|g| (in
stick ρ = 1 and e = 0),

    N = ∂f/∂n = (λ_n − a − ρ·n·h)·1 + ρ·(n·h)·e·eᵀ − n·λ_tᵀ        on δn ⟂ n.

Where the normal damper acts on ġap = n·ṗ at the end of the step, λ_n changes by −B·ṗ·δn besides, and N has another
term, −B·(n + μ·e)·ṗ_tᵀ.

Sizes: three 3×3 matrices per contact. A contact with the world adds a 6×6 stiffness to its link, column by column.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.contacts import ADHESION, FRICTION, ON_BOX
from stickslip.dynamics.jacobian import point_velocity
from stickslip.math.spatial import cross
from stickslip.methods.soft.spring_damper import inside_cone


@kernel
def turns(contacts, c):
    """Whether the normal of contact c turns relative to body 1."""
    return contacts.curvature[c, 0] != 0.0 or contacts.rolling[c] == ON_BOX


@kernel
def displaced(contacts, c, vx, vy, vz, wx, wy, wz):
    """(δp, δn) of contact c if body 2 is displaced by (v, ω) at the contact point."""
    A, C, r = contacts.axes, contacts.curvature, contacts.radius[c]
    nx, ny, nz = A[c, 0, 0], A[c, 0, 1], A[c, 0, 2]
    tx, ty, tz = cross(wx, wy, wz, nx, ny, nz)
    x, y, z = vx + r * tx, vy + r * ty, vz + r * tz
    out = x * nx + y * ny + z * nz
    px, py, pz = out * nx, out * ny, out * nz
    if contacts.rolling[c] != ON_BOX:
        tx, ty, tz = 0.0, 0.0, 0.0
        px, py, pz = x, y, z
    k = C[c, 0]
    if k != 0.0:
        ax, ay, az = C[c, 1], C[c, 2], C[c, 3]
        along = x * ax + y * ay + z * az
        tx += k * (x - out * nx - along * ax)
        ty += k * (y - out * ny - along * ay)
        tz += k * (z - out * nz - along * az)
    return px - r * tx, py - r * ty, pz - r * tz, tx, ty, tz


@kernel
def world_force(contacts, c):
    f, A = contacts.force, contacts.axes
    return (
        f[c, 0] * A[c, 0, 0] + f[c, 1] * A[c, 1, 0] + f[c, 2] * A[c, 2, 0],
        f[c, 0] * A[c, 0, 1] + f[c, 1] * A[c, 1, 1] + f[c, 2] * A[c, 2, 1],
        f[c, 0] * A[c, 0, 2] + f[c, 1] * A[c, 1, 2] + f[c, 2] * A[c, 2, 2],
    )


@kernel
def normal_slopes(contacts, c, fn, g1, g2, along, damping, exact, N):
    """N (3, 3) in world axes from forces before the cone; ``along`` is n·h, ``damping`` acts on ġap at the end of the
    step; ``exact`` as in ``force_slopes``."""
    A, mu = contacts.axes, contacts.material[c, FRICTION]
    _, _, ratio = inside_cone(contacts, c, fn, g1, g2)
    e1, e2 = 0.0, 0.0
    if ratio < 1.0:
        size = sqrt(g1 * g1 + g2 * g2)
        e1, e2 = g1 / size, g2 / size
    u1, u2 = damping * contacts.velocity[c, 1], damping * contacts.velocity[c, 2]
    turned, kept = fn - contacts.material[c, ADHESION] - ratio * along, exact * ratio * along
    for j in range(3):
        e = kept * (e1 * A[c, 1, j] + e2 * A[c, 2, j])
        f = ratio * (g1 * A[c, 1, j] + g2 * A[c, 2, j])
        u = u1 * A[c, 1, j] + u2 * A[c, 2, j]
        for i in range(3):
            slip = e1 * A[c, 1, i] + e2 * A[c, 2, i]
            N[i, j] = slip * (e - exact * mu * u) - A[c, 0, i] * (f + u)
        N[j, j] += turned


@kernel
def load_turning_contact(kin, contacts, c, slope, der):
    """Add the stiffness and damping of contact c with the world to link 2; ``slope`` (3, 3, 3) holds P, D and N."""
    b, O, V, P, D, N = contacts.link2[c], kin.origin, kin.vel, slope[0], slope[1], slope[2]
    px, py, pz = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
    rx, ry, rz = px - O[b, 0], py - O[b, 1], pz - O[b, 2]
    fx, fy, fz = world_force(contacts, c)
    sx, sy, sz = point_velocity(kin, b, px, py, pz)
    ox, oy, oz = V[b, 3], V[b, 4], V[b, 5]
    der.loaded[b] = 1
    for k in range(6):
        vx, vy, vz = 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0
        wx, wy, wz = 1.0 if k == 3 else 0.0, 1.0 if k == 4 else 0.0, 1.0 if k == 5 else 0.0
        vx, vy, vz = vx + wy * rz - wz * ry, vy + wz * rx - wx * rz, vz + wx * ry - wy * rx
        dx, dy, dz, tx, ty, tz = displaced(contacts, c, vx, vy, vz, wx, wy, wz)
        ux = oy * dz - oz * dy + wy * sz - wz * sy + vy * oz - vz * oy
        uy = oz * dx - ox * dz + wz * sx - wx * sz + vz * ox - vx * oz
        uz = ox * dy - oy * dx + wx * sy - wy * sx + vx * oy - vy * ox
        f0, f1, f2 = times(P, dx, dy, dz)
        g0, g1, g2 = times(D, ux, uy, uz)
        h0, h1, h2 = times(N, tx, ty, tz)
        f0, f1, f2 = f0 + g0 + h0, f1 + g1 + h1, f2 + g2 + h2
        m0, m1, m2 = cross(dx, dy, dz, fx, fy, fz)
        subtract_column(der.stiffness, b, k, rx, ry, rz, f0, f1, f2, m0, m1, m2)
        f0, f1, f2 = times(D, vx, vy, vz)
        subtract_column(der.damping, b, k, rx, ry, rz, f0, f1, f2, 0.0, 0.0, 0.0)


@kernel
def times(M, x, y, z):
    return (
        M[0, 0] * x + M[0, 1] * y + M[0, 2] * z,
        M[1, 0] * x + M[1, 1] * y + M[1, 2] * z,
        M[2, 0] * x + M[2, 1] * y + M[2, 2] * z,
    )


@kernel
def subtract_column(K, b, k, x, y, z, f0, f1, f2, m0, m1, m2):
    """Column k of K[b] −= a force and a moment at the point (x, y, z) from O."""
    K[b, 0, k] -= f0
    K[b, 1, k] -= f1
    K[b, 2, k] -= f2
    K[b, 3, k] -= m0 + y * f2 - z * f1
    K[b, 4, k] -= m1 + z * f0 - x * f2
    K[b, 5, k] -= m2 + x * f1 - y * f0
