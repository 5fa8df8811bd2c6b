"""The gyroscopic torque of a body that turns freely, averaged over a time step: Kahan's method, and the midpoint rule.

Euler's equations are J·ω̇ = −ω × J·ω, in axes of the body. Their right-hand side at the beginning of a step gives the
body energy in every step, in proportion to dt². Kahan's method replaces the square by a symmetric product of the two
ends of the step,

    J·(ω⁺ − ω) = −dt/2·(ω × J·ω⁺ + ω⁺ × J·ω),

which is linear in ω⁺: with A = J + dt/2·([ω]·J − [J·ω]) and A·x = ω × J·ω, the average torque is J·x. The method is of
second order, and its energy and momentum stay within a band of width dt² for ever. Other torques do not enter: what
contacts or motors do within the step is known to be too uncertain to look ahead with.

The midpoint rule takes the torque at the mean velocity w = (ω + ω⁺)/2, which solves

    J·(w − ω) + dt/2·κ·(w × J·w) = 0,      κ = tan(x)/x,   x = |w|·dt/2.

Since exp(dt·[w]) is the Cayley transform of κ·dt·w, a body that then turns by exp(dt·[w]) keeps its angular momentum
and its energy to round-off. Integrators that move configurations with the mean velocity use it (``mean_rotation``).

W. Kahan, "Unconventional numerical methods for trajectory calculations" (1993); R. Hirota and K. Kimura,
"Discretization of the Euler top", J. Phys. Soc. Japan 69 (2000). Cost: a 3×3 system per body.
"""

from __future__ import annotations

from math import sqrt, tan

import numpy as np

from stickslip._jit import kernel
from stickslip.math.spatial import cross, rotate, rotate_transposed
from stickslip.model.arrays import FREE
from stickslip.model.model import Model

LEAST_DETERMINANT = 0.1
"""Where det A falls below this part of det J, a body turns by more than about two radians in a step, which no formula
resolves. Its torque is then left as it is at the beginning of the step."""


def lone_links(model: Model) -> np.ndarray:
    """(n,) the links on free joints that carry no other link: bodies that turn on their own."""
    tree = model.tree
    first, count = tree.joint_start[:-1], np.diff(tree.joint_start)
    free = np.zeros(model.nlink, dtype=bool)
    free[count == 1] = tree.joint_type[first[count == 1]] == FREE
    free[tree.parent[1:]] = False
    return np.flatnonzero(free)


@kernel
def gyroscopic_solve(J, b, h, wx, wy, wz, gx, gy, gz):
    """(x, y, z, whether it is sound): the solution of (J + h·([w]·J − [J·w]))·x = g for link b."""
    xx, yy, zz, xy, xz, yz = J[b, 0], J[b, 1], J[b, 2], J[b, 3], J[b, 4], J[b, 5]
    lx, ly, lz = xx * wx + xy * wy + xz * wz, xy * wx + yy * wy + yz * wz, xz * wx + yz * wy + zz * wz
    # the columns of A
    ax, ay, az = xx + h * (wy * xz - wz * xy), xy + h * (wz * xx - wx * xz - lz), xz + h * (wx * xy - wy * xx + ly)
    bx, by, bz = xy + h * (wy * yz - wz * yy + lz), yy + h * (wz * xy - wx * yz), yz + h * (wx * yy - wy * xy - lx)
    cx, cy, cz = xz + h * (wy * zz - wz * yz - ly), yz + h * (wz * xz - wx * zz + lx), zz + h * (wx * yz - wy * xz)
    ux, uy, uz = cross(bx, by, bz, cx, cy, cz)
    det = ax * ux + ay * uy + az * uz
    own = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    if not det > LEAST_DETERMINANT * own:
        return 0.0, 0.0, 0.0, False
    # Cramer's rule
    x = (gx * ux + gy * uy + gz * uz) / det
    ux, uy, uz = cross(cx, cy, cz, ax, ay, az)
    y = (gx * ux + gy * uy + gz * uz) / det
    ux, uy, uz = cross(ax, ay, az, bx, by, bz)
    return x, y, (gx * ux + gy * uy + gz * uz) / det, True


@kernel
def average_gyroscopic_torques(links, inertia, kin, dt, f_ext):
    """Add to f_ext (nl, 6) the difference between ω × J·ω of these links and its average over the step."""
    J = inertia.inertia
    for k in range(links.shape[0]):
        b = links[k]
        wx, wy, wz = rotate_transposed(kin.rot, b, kin.vel[b, 3], kin.vel[b, 4], kin.vel[b, 5])
        gx, gy, gz = gyroscopic_torque(J, b, wx, wy, wz)
        if gx == 0.0 and gy == 0.0 and gz == 0.0:
            continue
        x, y, z, sound = gyroscopic_solve(J, b, 0.5 * dt, wx, wy, wz, gx, gy, gz)
        if not sound:
            continue
        gx -= J[b, 0] * x + J[b, 3] * y + J[b, 4] * z
        gy -= J[b, 3] * x + J[b, 1] * y + J[b, 5] * z
        gz -= J[b, 4] * x + J[b, 5] * y + J[b, 2] * z
        gx, gy, gz = rotate(kin.rot, b, gx, gy, gz)
        f_ext[b, 3] += gx
        f_ext[b, 4] += gy
        f_ext[b, 5] += gz


@kernel
def gyroscopic_torque(J, b, wx, wy, wz):
    """ω × J·ω of link b, in its axes."""
    lx = J[b, 0] * wx + J[b, 3] * wy + J[b, 4] * wz
    ly = J[b, 3] * wx + J[b, 1] * wy + J[b, 5] * wz
    lz = J[b, 4] * wx + J[b, 5] * wy + J[b, 2] * wz
    return cross(wx, wy, wz, lx, ly, lz)


@kernel
def mean_rotation(J, b, dt, wx, wy, wz):
    """(w, κ) of the midpoint rule from the angular velocity ω of link b, in its axes; (ω, 1) where the body turns by
    more than about two radians in the step."""
    x, y, z, h = wx, wy, wz, 0.5 * dt
    kappa = 1.0
    for _ in range(12):
        half = h * sqrt(x * x + y * y + z * z)
        if not half < 1.0:
            return wx, wy, wz, 1.0
        kappa = tan(half) / half if half > 1e-4 else 1.0 + half * half / 3.0
        gx, gy, gz = gyroscopic_torque(J, b, x, y, z)
        dx, dy, dz = x - wx, y - wy, z - wz
        rx = J[b, 0] * dx + J[b, 3] * dy + J[b, 4] * dz + h * kappa * gx
        ry = J[b, 3] * dx + J[b, 1] * dy + J[b, 5] * dz + h * kappa * gy
        rz = J[b, 4] * dx + J[b, 5] * dy + J[b, 2] * dz + h * kappa * gz
        dx, dy, dz, sound = gyroscopic_solve(J, b, h * kappa, x, y, z, rx, ry, rz)
        if not sound:
            return wx, wy, wz, 1.0
        x, y, z = x - dx, y - dy, z - dz
        if abs(dx) + abs(dy) + abs(dz) <= 1e-15 * (abs(x) + abs(y) + abs(z)):
            break
    return x, y, z, kappa
