"""Forces of a surrounding medium (air, water, wind) on the bodies, by MuJoCo's two models.

A body with a shape whose ``fluidshape`` is ``ellipsoid`` has a force for each such shape; any other body has the force
of the box with its inertia (``model.arrays.Medium``). With v and ω the velocities of its middle against the medium in
its own axes, density ρ and viscosity β, the box of edges a₀, a₁, a₂ and mean edge d feels

    force_i  = −3π·d·β·v_i − ½·ρ·a_j·a_k·|v_i|·v_i
    torque_i = −π·d³·β·ω_i − ρ/64·a_i·(a_j⁴ + a_k⁴)·|ω_i|·ω_i

and the ellipsoid of half axes r with mean diameter d, largest section A, projected area A_v and normal n where v meets
its surface, with the coefficients C of ``Medium.coefficients``:

    viscous     −3π·d·β·v,    −π·d³·β·ω
    drag        −ρ·(C_blunt·A_v + C_slender·(A − A_v))·|v|·v,    −ρ·|(C_angular·I + C_slender·(I_max − I))∘ω|·ω
    Kutta lift  C_kutta·ρ·A_v·cos(n, v)·(n × v) × v
    Magnus      C_magnus·ρ·volume·ω × v
    added mass  (m∘v) × ω,    (m∘v) × v + (j∘ω) × ω     m, j: added mass and inertia of the displaced medium

MuJoCo's documentation, "Computation: passive forces, fluid". There, as here, the medium lifts nothing (no buoyancy),
and added mass has no inertia against acceleration.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.jacobian import link_point
from stickslip.math.spatial import cross, rotate, rotate_transposed
from stickslip.model.arrays import Medium
from stickslip.model.model import Model

TINY = 1e-15
"""Smallest denominator, MuJoCo's."""


class Fluid(NamedTuple):
    """The medium and the scratch of its derivatives."""

    medium: Medium
    drag: np.ndarray
    """(nl, 6, 6) −∂force/∂velocity of the drag on each link, at the reference points; no rows without a medium."""


def make_fluid(model: Model) -> Fluid:
    nl = model.nlink if len(model.medium.link) else 0
    return Fluid(model.medium, np.zeros((nl, 6, 6)))


@kernel
def box_force(medium, k, vx, vy, vz, wx, wy, wz):
    """Force and torque on a box in its own axes."""
    rho, beta = medium.properties[0], medium.properties[1]
    a, b, c = sizes(medium, k)
    d = (a + b + c) / 3.0
    lin, ang = 3.0 * pi * d * beta, pi * d * d * d * beta
    a4, b4, c4 = a * a * a * a, b * b * b * b, c * c * c * c
    return (
        -(lin + 0.5 * rho * b * c * abs(vx)) * vx,
        -(lin + 0.5 * rho * a * c * abs(vy)) * vy,
        -(lin + 0.5 * rho * a * b * abs(vz)) * vz,
        -(ang + rho * a * (b4 + c4) / 64.0 * abs(wx)) * wx,
        -(ang + rho * b * (a4 + c4) / 64.0 * abs(wy)) * wy,
        -(ang + rho * c * (a4 + b4) / 64.0 * abs(wz)) * wz,
    )


@kernel
def sizes(medium, k):
    """Half axes of an ellipsoid, or edges of a box."""
    return medium.size[k, 0], medium.size[k, 1], medium.size[k, 2]


@kernel
def projected(a, b, c, vx, vy, vz):
    """(A_v, cosine of the angle between v and the normal where it meets the ellipsoid of half axes a, b, c)."""
    x, y, z = b * c, c * a, a * b
    x, y, z = x * x, y * y, z * z
    num = x * vx * vx + y * vy * vy + z * vz * vz
    den = x * x * vx * vx + y * y * vy * vy + z * z * vz * vz
    speed = sqrt(vx * vx + vy * vy + vz * vz)
    return pi * sqrt(den / max(TINY, num)), num / max(TINY, speed * den)


@kernel
def ellipsoid_drag(medium, k, vx, vy, vz, wx, wy, wz):
    """(viscous coefficient of v and of ω, quadratic drag per v and per ω, A_v, cosine) of an ellipsoid."""
    rho, beta = medium.properties[0], medium.properties[1]
    a, b, c = sizes(medium, k)
    blunt, slender, angular = medium.coefficients[k, 1], medium.coefficients[k, 2], medium.coefficients[k, 3]
    largest = max(a, b, c)
    middle = a + b + c - largest - min(a, b, c)
    area, cosine = projected(a, b, c, vx, vy, vz)
    speed = sqrt(vx * vx + vy * vy + vz * vz)
    d = 2.0 / 3.0 * (a + b + c)
    share = 8.0 / 15.0 * pi
    most = share * middle * largest * largest * largest * largest
    ix, iy, iz = share * a * max(b, c) ** 4, share * b * max(a, c) ** 4, share * c * max(a, b) ** 4
    mx = wx * (angular * ix + slender * (most - ix))
    my = wy * (angular * iy + slender * (most - iy))
    mz = wz * (angular * iz + slender * (most - iz))
    linear = rho * speed * (blunt * area + slender * (pi * largest * middle - area))
    return (
        3.0 * pi * d * beta, pi * d * d * d * beta, linear, rho * sqrt(mx * mx + my * my + mz * mz), area, cosine
    )  # fmt: skip


@kernel
def ellipsoid_force(medium, k, vx, vy, vz, wx, wy, wz):
    """Force and torque on an ellipsoid in its own axes."""
    rho = medium.properties[0]
    a, b, c = sizes(medium, k)
    C, added = medium.coefficients, medium.added
    stokes, turning, lin, ang, area, cosine = ellipsoid_drag(medium, k, vx, vy, vz, wx, wy, wz)
    lin, ang = stokes + lin, turning + ang
    mx, my, mz = cross(wx, wy, wz, vx, vy, vz)
    magnus = C[k, 5] * rho * 4.0 / 3.0 * pi * a * b * c
    # the surface's normal, up to the factor that ``cosine`` has
    nx, ny, nz = cross((b * c) ** 2 * vx, (c * a) ** 2 * vy, (a * b) ** 2 * vz, vx, vy, vz)
    kutta = C[k, 4] * rho * cosine * area
    lx, ly, lz = cross(kutta * nx, kutta * ny, kutta * nz, vx, vy, vz)
    px, py, pz = rho * added[k, 0] * vx, rho * added[k, 1] * vy, rho * added[k, 2] * vz
    hx, hy, hz = rho * added[k, 3] * wx, rho * added[k, 4] * wy, rho * added[k, 5] * wz
    fx, fy, fz = cross(px, py, pz, wx, wy, wz)
    tx, ty, tz = cross(px, py, pz, vx, vy, vz)
    sx, sy, sz = cross(hx, hy, hz, wx, wy, wz)
    acts = C[k, 0]
    return (
        acts * (magnus * mx + lx + fx - lin * vx),
        acts * (magnus * my + ly + fy - lin * vy),
        acts * (magnus * mz + lz + fz - lin * vz),
        acts * (tx + sx - ang * wx),
        acts * (ty + sy - ang * wy),
        acts * (tz + sz - ang * wz),
    )


@kernel
def from_middle(medium, kin, k):
    """The middle of element k from the reference point of its link's tree, world axes."""
    b = medium.link[k]
    x, y, z = link_point(kin, b, medium.pos[k, 0], medium.pos[k, 1], medium.pos[k, 2])
    return x - kin.origin[b, 0], y - kin.origin[b, 1], z - kin.origin[b, 2]


@kernel
def to_element(medium, kin, k, x, y, z):
    """A vector in world axes, in the axes of element k."""
    x, y, z = rotate_transposed(kin.rot, medium.link[k], x, y, z)
    return rotate_transposed(medium.rot, k, x, y, z)


@kernel
def from_element(medium, kin, k, x, y, z):
    """A vector in the axes of element k, in world axes."""
    x, y, z = rotate(medium.rot, k, x, y, z)
    return rotate(kin.rot, medium.link[k], x, y, z)


@kernel
def local_velocity(medium, kin, k, v0, v1, v2, w0, w1, w2):
    """Velocity against the medium, and angular velocity, of element k in its own axes, if its link has the spatial
    velocity (v, w)."""
    wind = medium.properties
    x, y, z = from_middle(medium, kin, k)
    cx, cy, cz = cross(w0, w1, w2, x, y, z)
    vx, vy, vz = to_element(medium, kin, k, v0 + cx - wind[2], v1 + cy - wind[3], v2 + cz - wind[4])
    wx, wy, wz = to_element(medium, kin, k, w0, w1, w2)
    return vx, vy, vz, wx, wy, wz


@kernel
def to_reference(medium, kin, k, fx, fy, fz, tx, ty, tz):
    """Force and torque in the axes of element k at its middle, as a spatial force at the reference point."""
    fx, fy, fz = from_element(medium, kin, k, fx, fy, fz)
    tx, ty, tz = from_element(medium, kin, k, tx, ty, tz)
    x, y, z = from_middle(medium, kin, k)
    cx, cy, cz = cross(x, y, z, fx, fy, fz)
    return fx, fy, fz, tx + cx, ty + cy, tz + cz


@kernel(inline=False)
def element_force(medium, kin, k, v0, v1, v2, w0, w1, w2):
    """The spatial force on element k, if its link has the spatial velocity (v, w), both at the reference point."""
    vx, vy, vz, wx, wy, wz = local_velocity(medium, kin, k, v0, v1, v2, w0, w1, w2)
    if medium.ellipsoid[k] != 0:
        fx, fy, fz, tx, ty, tz = ellipsoid_force(medium, k, vx, vy, vz, wx, wy, wz)
    else:
        fx, fy, fz, tx, ty, tz = box_force(medium, k, vx, vy, vz, wx, wy, wz)
    return to_reference(medium, kin, k, fx, fy, fz, tx, ty, tz)


@kernel
def add_fluid_forces(fluid, kin, f_ext):
    """f_ext (nl, 6) += forces of the medium at the velocities of ``kin``."""
    medium, V = fluid.medium, kin.vel
    for k in range(medium.link.shape[0]):
        b = medium.link[k]
        f0, f1, f2, f3, f4, f5 = element_force(medium, kin, k, V[b, 0], V[b, 1], V[b, 2], V[b, 3], V[b, 4], V[b, 5])
        f_ext[b, 0], f_ext[b, 1], f_ext[b, 2] = f_ext[b, 0] + f0, f_ext[b, 1] + f1, f_ext[b, 2] + f2
        f_ext[b, 3], f_ext[b, 4], f_ext[b, 5] = f_ext[b, 3] + f3, f_ext[b, 4] + f4, f_ext[b, 5] + f5
