"""How the forces of a surrounding medium depend on velocities: drag that is implicit in a step, and exact derivatives.

Drag on a light body is stiff. Methods that take joint dampers implicitly take the drag so, too:

    (M + dt·Σ Jᵀ·C·J)·(v⁺ − v) = dt·(forces at v),    C = −∂drag/∂velocity ≥ 0 of each link at the beginning of a step

Lift, Magnus and added-mass forces, which turn the motion more than they slow it, are not part of C. The iterations of
implicit Euler need all derivatives (``load_fluid``).
"""

from __future__ import annotations

from math import pi

from stickslip._jit import kernel
from stickslip.dynamics.fluid_forces import (
    element_force,
    ellipsoid_drag,
    from_middle,
    local_velocity,
    sizes,
    to_element,
    to_reference,
)
from stickslip.dynamics.jacobian import last_dof
from stickslip.math.spatial import cross, force_cross

NUDGE = 1e-6
"""Relative change of a velocity of which derivatives are differences."""


@kernel
def drag_slopes(medium, k, vx, vy, vz, wx, wy, wz):
    """(a₀, a₁, a₂, s, b₀, b₁, b₂, t): diag(a) + s·v·vᵀ and diag(b) + t·ω·ωᵀ are −∂force/∂v and −∂torque/∂ω of the drag.

    Both are symmetric and positive. They leave out how the projected area of an ellipsoid turns, and how its torque
    depends on the direction of ω; they are exact for boxes and spheres.
    """
    if medium.ellipsoid[k] == 0:
        rho, beta = medium.properties[0], medium.properties[1]
        a, b, c = sizes(medium, k)
        d = (a + b + c) / 3.0
        lin, ang = 3.0 * pi * d * beta, pi * d * d * d * beta
        a4, b4, c4 = a * a * a * a, b * b * b * b, c * c * c * c
        return (
            lin + rho * b * c * abs(vx), lin + rho * a * c * abs(vy), lin + rho * a * b * abs(vz), 0.0,
            ang + rho * a * (b4 + c4) / 32.0 * abs(wx), ang + rho * b * (a4 + c4) / 32.0 * abs(wy),
            ang + rho * c * (a4 + b4) / 32.0 * abs(wz), 0.0,
        )  # fmt: skip
    stokes, turning, lin, ang, _, _ = ellipsoid_drag(medium, k, vx, vy, vz, wx, wy, wz)
    acts = medium.coefficients[k, 0]
    speed, spin = vx * vx + vy * vy + vz * vz, wx * wx + wy * wy + wz * wz
    s = acts * lin / speed if speed > 0.0 else 0.0
    t = acts * ang / spin if spin > 0.0 else 0.0
    lin, ang = acts * (stokes + lin), acts * (turning + ang)
    return lin, lin, lin, s, ang, ang, ang, t


@kernel(inline=False)
def fluid_drag(fluid, kin):
    """Fill ``fluid.drag`` at the velocities of ``kin``."""
    medium, V, C = fluid.medium, kin.vel, fluid.drag
    for b in range(C.shape[0]):
        for i in range(6):
            for j in range(6):
                C[b, i, j] = 0.0
    for k in range(medium.link.shape[0]):
        b = medium.link[k]
        vx, vy, vz, wx, wy, wz = local_velocity(
            medium, kin, k, V[b, 0], V[b, 1], V[b, 2], V[b, 3], V[b, 4], V[b, 5]
        )  # fmt: skip
        a0, a1, a2, s, b0, b1, b2, t = drag_slopes(medium, k, vx, vy, vz, wx, wy, wz)
        x, y, z = from_middle(medium, kin, k)
        for j in range(6):
            ux, uy, uz = 1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2)
            rx, ry, rz = 1.0 * (j == 3), 1.0 * (j == 4), 1.0 * (j == 5)
            cx, cy, cz = cross(rx, ry, rz, x, y, z)
            ux, uy, uz = to_element(medium, kin, k, ux + cx, uy + cy, uz + cz)
            rx, ry, rz = to_element(medium, kin, k, rx, ry, rz)
            along, about = s * (vx * ux + vy * uy + vz * uz), t * (wx * rx + wy * ry + wz * rz)
            f0, f1, f2, f3, f4, f5 = to_reference(
                medium, kin, k, a0 * ux + along * vx, a1 * uy + along * vy, a2 * uz + along * vz,
                b0 * rx + about * wx, b1 * ry + about * wy, b2 * rz + about * wz,
            )  # fmt: skip
            C[b, 0, j], C[b, 1, j], C[b, 2, j] = C[b, 0, j] + f0, C[b, 1, j] + f1, C[b, 2, j] + f2
            C[b, 3, j], C[b, 4, j], C[b, 5, j] = C[b, 3, j] + f3, C[b, 4, j] + f4, C[b, 5, j] + f5


@kernel
def add_drag_mass(fluid, support, kin, dt, M):
    """M (packed) += dt·Σ Jᵀ·C·J, C = ``fluid.drag``: drag that is implicit in the velocity. Cost: depth² per link."""
    S, C = kin.S, fluid.drag
    for b in range(1, C.shape[0]):
        d = last_dof(support, b)
        while d >= 0:
            for k in range(support.start[d], support.start[d + 1]):
                e, total = support.column[k], 0.0
                for i in range(6):
                    row = 0.0
                    for j in range(6):
                        row += C[b, i, j] * S[e, j]
                    total += S[d, i] * row
                M[k] += dt * total
            d = support.dof_parent[d]


@kernel(inline=False)
def load_fluid(fluid, kin, der):
    """Add the derivatives of the forces of the medium (``dynamics.derivatives``).

    Damping is a central difference of the force by the link's velocity. A displacement (δx, δθ) that takes the velocity
    with it also carries the force along, and the wind, seen from the link, turns: −(δx, δθ) ×* f + D·(δθ × wind).
    """
    medium, V = fluid.medium, kin.vel
    wind = medium.properties
    for k in range(medium.link.shape[0]):
        b = medium.link[k]
        D, K = der.damping[b], der.stiffness[b]
        der.loaded[b] = 1
        speed = abs(wind[2]) + abs(wind[3]) + abs(wind[4])
        for i in range(6):
            speed += abs(V[b, i])
        h = NUDGE * (1e-3 + speed)
        f0, f1, f2, f3, f4, f5 = element_force(medium, kin, k, V[b, 0], V[b, 1], V[b, 2], V[b, 3], V[b, 4], V[b, 5])
        for j in range(6):
            e0, e1, e2 = h * (j == 0), h * (j == 1), h * (j == 2)
            e3, e4, e5 = h * (j == 3), h * (j == 4), h * (j == 5)
            a0, a1, a2, a3, a4, a5 = element_force(
                medium, kin, k, V[b, 0] + e0, V[b, 1] + e1, V[b, 2] + e2, V[b, 3] + e3, V[b, 4] + e4, V[b, 5] + e5
            )
            b0, b1, b2, b3, b4, b5 = element_force(
                medium, kin, k, V[b, 0] - e0, V[b, 1] - e1, V[b, 2] - e2, V[b, 3] - e3, V[b, 4] - e4, V[b, 5] - e5
            )
            half = 0.5 / h
            d0, d1, d2 = half * (b0 - a0), half * (b1 - a1), half * (b2 - a2)
            d3, d4, d5 = half * (b3 - a3), half * (b4 - a4), half * (b5 - a5)
            D[0, j], D[1, j], D[2, j] = D[0, j] + d0, D[1, j] + d1, D[2, j] + d2
            D[3, j], D[4, j], D[5, j] = D[3, j] + d3, D[4, j] + d4, D[5, j] + d5
            # the wind's part: a turn about axis m changes the relative velocity along j by (e_m × wind)_j
            if j < 3:
                for m in range(3):
                    x, y, z = cross(1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2), wind[2], wind[3], wind[4])
                    turn = x * (j == 0) + y * (j == 1) + z * (j == 2)
                    K[0, 3 + m], K[1, 3 + m], K[2, 3 + m] = (
                        K[0, 3 + m] + turn * d0, K[1, 3 + m] + turn * d1, K[2, 3 + m] + turn * d2
                    )  # fmt: skip
                    K[3, 3 + m], K[4, 3 + m], K[5, 3 + m] = (
                        K[3, 3 + m] + turn * d3, K[4, 3 + m] + turn * d4, K[5, 3 + m] + turn * d5
                    )  # fmt: skip
            c0, c1, c2, c3, c4, c5 = force_cross(
                1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2), 1.0 * (j == 3), 1.0 * (j == 4), 1.0 * (j == 5),
                f0, f1, f2, f3, f4, f5,
            )  # fmt: skip
            K[0, j], K[1, j], K[2, j] = K[0, j] - c0, K[1, j] - c1, K[2, j] - c2
            K[3, j], K[4, j], K[5, j] = K[3, j] - c3, K[4, j] - c4, K[5, j] - c5
