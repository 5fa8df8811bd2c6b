"""Torsional and rolling friction in the interior point: a torque about the normal, |τ_n| ≤ μ_t·γ, and one about the
tangents, |τ_t| ≤ μ_r·γ [N m], each besides the friction cone.

Both are discs as that of ``circular``, which gives their equations, with F = μ_t·γ or μ_r·γ and the relative angular
velocity w of the bodies in the place of the velocity: w + ψ·τ/F = 0, F − |τ|²/F − r = 0, r·ψ = μ. The disc of τ_n has
one direction; its second one is not used. Part 0 of a contact is torsional, part 1 rolling friction. A part is there if
its bound is positive. Newton's step, Δτ = k − K·(Δφ, Δw), is eliminated as that of the cone is.

The unknowns of a part are ``Cones`` whose s and γ *are* those of the contact; they are moved with the contact only.
They are not kept from step to step: at a start they follow from the angular velocity in closed form.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ROLLING, TORSION
from stickslip.math.spatial import rotate_transposed
from stickslip.methods.variational.contact import circular
from stickslip.methods.variational.contact.cones import Cones, make_cones, shorter


class Spin(NamedTuple):
    """Torsional and rolling friction of up to N contacts."""

    bound: np.ndarray
    """(N, 2) μ_t and μ_r [m]."""
    rows1: np.ndarray
    """(N, 2, 3, 6) zero, and the relative angular velocity about the normal, or about both tangents, over (v [m/s,
    world], ω [rad/s, body axes]) of link 1 at the start of the step."""
    rows2: np.ndarray
    """(N, 2, 3, 6) the same of link 2."""
    w: np.ndarray
    """(N, 2, 2) w of the current ν⁺ [rad/s]."""
    torsion: Cones
    rolling: Cones
    dtorsion: Cones
    """The Newton step of both."""
    drolling: Cones
    kept: Cones
    """(2N) the unknowns at the beginning of a line search; part p of contact c is at 2·c + p."""


def make_spin(cones: Cones, step: Cones) -> Spin:
    """Arrays for the contacts of ``cones``, whose Newton step is ``step``."""
    n = len(cones.s)

    def part(of: Cones) -> Cones:
        return make_cones(n, 0)._replace(s=of.s, gamma=of.gamma)

    return Spin(
        bound=np.zeros((n, 2)), rows1=np.zeros((n, 2, 3, 6)), rows2=np.zeros((n, 2, 3, 6)), w=np.zeros((n, 2, 2)),
        torsion=part(cones), rolling=part(cones), dtorsion=part(step), drolling=part(step),
        kept=make_cones(2 * n, 0),
    )  # fmt: skip


@kernel(inline=False)
def place_spins(contacts, pose, points, spin):
    """Bounds and rows of all contacts; ``place_points`` must have been called before."""
    for c in range(points.found[0]):
        spin.bound[c, 0], spin.bound[c, 1] = contacts.material[c, TORSION], contacts.material[c, ROLLING]
        if spin.bound[c, 0] <= 0.0 and spin.bound[c, 1] <= 0.0:
            continue
        swapped = contacts.link2[c] == 0  # as ``points.exchange``
        for k in range(3):
            part, place = (0, 1) if k == 0 else (1, k)
            for side in range(2):
                link = points.link1[c] if side == 0 else points.link2[c]
                rows = spin.rows1 if side == 0 else spin.rows2
                sign = -1.0 if (side == 0) != swapped else 1.0
                x, y, z = contacts.axes[c, k, 0], contacts.axes[c, k, 1], contacts.axes[c, k, 2]
                x, y, z = rotate_transposed(pose.rot, link, x, y, z)
                row = rows[c, part, place]
                row[3], row[4], row[5] = sign * x, sign * y, sign * z


@kernel
def spin_rates(points, spin, c, nu):
    """``spin.w`` of contact c at ν⁺."""
    a, b = points.link1[c], points.link2[c]
    for part in range(2):
        if spin.bound[c, part] > 0.0:
            for i in range(2):
                total = 0.0
                for k in range(3, 6):
                    total += spin.rows1[c, part, 1 + i, k] * nu[a, k] + spin.rows2[c, part, 1 + i, k] * nu[b, k]
                spin.w[c, part, i] = total


@kernel
def start_spins(spin, c, level):
    """Unknowns on the path with the product ``level`` at the present angular velocities."""
    for part in range(2):
        mu = spin.bound[c, part]
        if mu > 0.0:
            cones = spin.torsion if part == 0 else spin.rolling
            w1, w2, F = spin.w[c, part, 0], spin.w[c, part, 1], mu * cones.gamma[c]
            half = 0.5 * level / F
            psi = half + (half * half + w1 * w1 + w2 * w2) ** 0.5
            cones.psi[c], cones.room[c] = psi, level / psi
            cones.beta[c, 0], cones.beta[c, 1] = -F * w1 / psi, -F * w2 / psi


@kernel
def spin_residual(spin, D, c, part, target):
    """(Equations [N m, rad/s], |product − target| [W])."""
    cones = spin.torsion if part == 0 else spin.rolling
    _, _, _, _, e1, e2, left = circular.state(cones, c, spin.bound[c, part], spin.w[c, part, 0], spin.w[c, part, 1])
    return max(abs(e1), abs(e2), abs(left)), abs(cones.room[c] * cones.psi[c] - target)


@kernel
def spin_block(touch, c, part, target, second):
    """K and k of ``touch`` for one part: Δτ = k − K·(Δu₀, Δw); the row of the normal is zero."""
    spin, K, k = touch.spin, touch.K, touch.k
    cones, step = (spin.torsion, spin.dtorsion) if part == 0 else (spin.rolling, spin.drolling)
    w1, w2 = spin.w[c, part, 0], spin.w[c, part, 1]
    circular.block(cones, step, touch.D, c, spin.bound[c, part], touch.u[c, 0], w1, w2, target, second, K, k)


@kernel
def recover_spin(touch, c, part, target, second, du0, dw1, dw2):
    """The Newton step of one part. s and γ of the step are left as they are, since second-order terms need them."""
    spin = touch.spin
    cones, step = (spin.torsion, spin.dtorsion) if part == 0 else (spin.rolling, spin.drolling)
    s, gamma, w1, w2 = step.s[c], step.gamma[c], spin.w[c, part, 0], spin.w[c, part, 1]
    circular.recover(
        cones, step, touch.D, c, spin.bound[c, part], touch.u[c, 0], w1, w2, target, second, du0, dw1, dw2
    )  # fmt: skip
    step.s[c], step.gamma[c] = s, gamma


@kernel
def longest_spin(spin, c, alpha):
    """The step length, at most ``alpha``, that keeps both parts inside."""
    for part in range(2):
        if spin.bound[c, part] > 0.0:
            cones, step = (spin.torsion, spin.dtorsion) if part == 0 else (spin.rolling, spin.drolling)
            alpha = shorter(shorter(alpha, cones.psi[c], step.psi[c]), cones.room[c], step.room[c])
    return alpha


@kernel
def spin_gap(spin, c, alpha):
    """(Sum of the products after a step of length ``alpha``, their number)."""
    total, number = 0.0, 0
    for part in range(2):
        if spin.bound[c, part] > 0.0:
            cones, step = (spin.torsion, spin.dtorsion) if part == 0 else (spin.rolling, spin.drolling)
            total += (cones.room[c] + alpha * step.room[c]) * (cones.psi[c] + alpha * step.psi[c])
            number += 1
    return total, number


@kernel
def keep_spins(spin, c):
    """Store the unknowns of contact c at the beginning of a line search."""
    for part in range(2):
        cones, kept, i = spin.torsion if part == 0 else spin.rolling, spin.kept, 2 * c + part
        kept.psi[i], kept.room[i] = cones.psi[c], cones.room[c]
        kept.beta[i, 0], kept.beta[i, 1] = cones.beta[c, 0], cones.beta[c, 1]


@kernel
def move_spins(spin, c, alpha):
    """Set the unknowns of contact c to the stored ones plus ``alpha`` times their step."""
    for part in range(2):
        if spin.bound[c, part] > 0.0:
            cones, step = (spin.torsion, spin.dtorsion) if part == 0 else (spin.rolling, spin.drolling)
            kept, i = spin.kept, 2 * c + part
            cones.psi[c] = kept.psi[i] + alpha * step.psi[c]
            cones.room[c] = kept.room[i] + alpha * step.room[c]
            for m in range(2):
                cones.beta[c, m] = kept.beta[i, m] + alpha * step.beta[c, m]


@kernel
def settle_spins(spin, D, c, target, ease):
    """Set torques that follow the angular velocity; ``ease`` [rad/s/(N m)] is about dt/inertia."""
    for part in range(2):
        if spin.bound[c, part] > 0.0:
            cones = spin.torsion if part == 0 else spin.rolling
            circular.settle(cones, D, c, spin.bound[c, part], spin.w[c, part, 0], spin.w[c, part, 1], target, ease)


@kernel
def spin_torques(spin, c):
    """(τ_n, τ_t1, τ_t2) on body 2 [N m]."""
    t0 = spin.torsion.beta[c, 0] if spin.bound[c, 0] > 0.0 else 0.0
    if spin.bound[c, 1] > 0.0:
        return t0, spin.rolling.beta[c, 0], spin.rolling.beta[c, 1]
    return t0, 0.0, 0.0
