"""Rotation of a rigid body in discrete time, and the momentum that it conserves: eqs. (8)–(13) for one body.

Over a step h the body turns from q to q⁺ = q∘(s, ω)·h/2, s = √(4/h² − |ω|²), with ω in body axes; q⁺ has unit length
for any |ω| < 2/h. The discrete Lagrangian h·½·ω·J·ω (J about the centre of mass) gives the angular momentum at the
beginning and at the end of the step, each in the body's axes there,

    P(ω) = (h/2)·(s·J·ω + ω × J·ω),    P₋(ω) = (h/2)·(s·J·ω − ω × J·ω),    R(q)·P(ω) = R(q⁺)·P₋(ω)    [N m s]

so that a step is P(ω⁺) − P₋(ω) = h·τ, with τ in body axes at the instant between the two. The derivatives are

    ∂P/∂ω = (h/2)·(s·J − J·ω·ωᵀ/s + [ω]×·J − [J·ω]×),    δθ⁺ = T·δω,  T = (h²/2)·(s·1 + ω·ωᵀ/s − [ω]×)    [s]

where δθ⁺ is a small rotation of q⁺ in its own axes. T⁻¹ = (s·1 + [ω]×)/2.

Reference: J. Brüdigam, J. Janeva, S. Sosnowski, S. Hirche, "Linear-time contact and friction dynamics in maximal
coordinates using variational integrators", eqs. (8)–(13); Brüdigam and Manchester (2021) for the rotation.
Differs from the paper in: ω is the vector part, which (9b) as printed omits; the sign of the old gyroscopic term is
that of the derivation (with the printed sign a torque-free body never changes its ω).
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.math.spatial import cross, rotate

OK, SPINNING = 0, 1
"""Status; SPINNING means |ω| ≥ 2/h, half a turn in a step, which no rotation can represent."""


@kernel
def spin_root(dt, x, y, z):
    """s = √(4/h² − |ω|²) [1/s] of ω = (x, y, z); −1 if |ω| ≥ 2/h or ω is not a number."""
    square = 4.0 / (dt * dt) - (x * x + y * y + z * z)
    if not square > 0.0:
        return -1.0
    return sqrt(square)


@kernel
def momentum_after(J, b, dt, x, y, z):
    """P(ω) [N m s] of body b, J (nl, 3, 3), in its axes before the rotation; |ω| < 2/h."""
    s, h = spin_root(dt, x, y, z), 0.5 * dt
    jx, jy, jz = rotate(J, b, x, y, z)
    cx, cy, cz = cross(x, y, z, jx, jy, jz)
    return h * (s * jx + cx), h * (s * jy + cy), h * (s * jz + cz)


@kernel
def momentum_before(J, b, dt, x, y, z):
    """P₋(ω) [N m s] of body b, J (nl, 3, 3), in its axes after the rotation; |ω| < 2/h."""
    s, h = spin_root(dt, x, y, z), 0.5 * dt
    jx, jy, jz = rotate(J, b, x, y, z)
    cx, cy, cz = cross(x, y, z, jx, jy, jz)
    return h * (s * jx - cx), h * (s * jy - cy), h * (s * jz - cz)


@kernel
def momentum_jacobian(J, b, dt, x, y, z, out):
    """out (3, 3) = ∂P/∂ω [kg m²] of body b, J (nl, 3, 3)."""
    s, h = spin_root(dt, x, y, z), 0.5 * dt
    jx, jy, jz = rotate(J, b, x, y, z)
    for k in range(3):
        along = (x if k == 0 else (y if k == 1 else z)) / s
        ax, ay, az = J[b, 0, k], J[b, 1, k], J[b, 2, k]
        cx, cy, cz = cross(x, y, z, ax, ay, az)
        out[0, k] = h * (s * ax - along * jx + cx)
        out[1, k] = h * (s * ay - along * jy + cy)
        out[2, k] = h * (s * az - along * jz + cz)
    out[0, 1] += h * jz
    out[0, 2] -= h * jy
    out[1, 0] -= h * jz
    out[1, 2] += h * jx
    out[2, 0] += h * jy
    out[2, 1] -= h * jx


@kernel
def turn_jacobian(dt, x, y, z, out):
    """out (3, 3) = T [s]: δθ⁺ = T·δω."""
    s, h = spin_root(dt, x, y, z), 0.5 * dt * dt
    r = 1.0 / s
    out[0, 0], out[0, 1], out[0, 2] = h * (s + r * x * x), h * (r * x * y + z), h * (r * x * z - y)
    out[1, 0], out[1, 1], out[1, 2] = h * (r * x * y - z), h * (s + r * y * y), h * (r * y * z + x)
    out[2, 0], out[2, 1], out[2, 2] = h * (r * x * z + y), h * (r * y * z - x), h * (s + r * z * z)


@kernel
def world_momentum(centred, pose, nu, dt, about, out):
    """out (6,): linear [kg m/s], then angular momentum [kg m²/s] of all bodies about the world point ``about`` (3,).

    They are those of the step that ended at ``pose`` with the velocities nu (nl, 6): R·P₋(ω) + (x − about) × m·v.
    Forces between bodies conserve both to round-off.
    """
    for k in range(6):
        out[k] = 0.0
    for b in range(1, nu.shape[0]):
        m = centred.mass[b]
        px, py, pz = m * nu[b, 0], m * nu[b, 1], m * nu[b, 2]
        lx, ly, lz = momentum_before(centred.J, b, dt, nu[b, 3], nu[b, 4], nu[b, 5])
        lx, ly, lz = rotate(pose.rot, b, lx, ly, lz)
        cx, cy, cz = cross(pose.pos[b, 0] - about[0], pose.pos[b, 1] - about[1], pose.pos[b, 2] - about[2], px, py, pz)
        out[0] += px
        out[1] += py
        out[2] += pz
        out[3] += lx + cx
        out[4] += ly + cy
        out[5] += lz + cz


@kernel
def discrete_energy(centred, gravity, pose, nu, dt):
    """(kinetic, potential) [J] of the step that ended at ``pose`` with nu (nl, 6).

    The kinetic energy is Σ ½·m·|v|² + ½·ω·J·ω, the potential one that of gravity (3,) averaged over the step's two
    ends, −m·g·(x − h·v/2). Free fall conserves their sum to round-off. Springs and rotors are not included.
    """
    kinetic, potential = 0.0, 0.0
    for b in range(1, nu.shape[0]):
        m, x, y, z = centred.mass[b], nu[b, 3], nu[b, 4], nu[b, 5]
        jx, jy, jz = rotate(centred.J, b, x, y, z)
        kinetic += 0.5 * (x * jx + y * jy + z * jz)
        for k in range(3):
            kinetic += 0.5 * m * nu[b, k] * nu[b, k]
            potential -= m * gravity[k] * (pose.pos[b, k] - 0.5 * dt * nu[b, k])
    return kinetic, potential
