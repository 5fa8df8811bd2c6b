"""The circular friction cone in an interior-point method: maximal dissipation on the disc |β| ≤ F, F = c_f·γ.

Relaxed by μ, the disc's constraint F − |β|²/F ≥ 0 with a slack r and a multiplier ψ:

    φ(z⁺) − s = 0             s·γ = μ
    v_t + ψ·β/F = 0           r·ψ = μ
    F − |β|²/F − r = 0

In sliding, r → 0, ψ = |v_t| and β = −F·v_t/|v_t|; in sticking, ψ → 0. This is the central path of the second-order
cones (F, β) and (ψ, v_t). A Newton step with b = β/F, q = |b|², residuals e = v_t + ψ·b and c = F − q·F − r, p of r·ψ
(with Mehrotra's second-order term) and ΔF = c_f·Δγ, Δγ = k₀ − (γ/s)·Δφ (see ``cones``) is

    h  = 1/(r + 2·q·F),     K_tt = (F/ψ)·(1 − 2·F·h·b·bᵀ)
    Δf_t = Δβ = −K_tt·(e + Δv) − h·(F/ψ)·(p − ψ·c)·b + h·((1 + q)·F + r)·ΔF·b
    Δψ = h·(p − ψ·(c + (1 − q)·ΔF) − 2·F·b·(e + Δv))
    Δr = h·(r·(c + (1 − q)·ΔF + 2·(F/ψ)·b·(e + Δv)) + 2·(F/ψ)·q·p)

K_tt is symmetric and positive: F/ψ across the direction of sliding, and almost zero along it. Since r is an unknown of
its own, β can turn along the rim of the disc in long steps; a method that keeps (F, β) in its cone (Nesterov and Todd's
scaling was tried) takes steps that end at that rim, and loses half the digits there. Only the first two columns of
``beta`` are used, and ``eta`` is not. If friction cannot change the velocity much, F/ψ·ease < ``SLAVE``, ``settle``
sets its unknowns on the path at that velocity in closed form: ψ·(F − F·|v_t|²/ψ²) = μ. For sticking contacts it
corrects r, which no step can do once redundant forces depend on the last digits of velocities only. If c_f = 0, there
are no friction unknowns.
Reference: Brüdigam et al., eqs. (2), (4). Differs from the paper in: the cone itself, instead of a pyramid.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.methods.variational.contact.cones import (
    FAR,
    clear_block,
    normal_block,
    raised,
    shorter,
    without_friction,
)

SLAVE = 0.1
"""Ratio of the velocity change by friction to the velocity below which friction follows the velocity."""
EVEN = 0.01
"""Relative error of the slack, and of the product, that is corrected at once."""


@kernel
def start(cones, D, c, friction, gap, level):
    """Set both products to ``level``, without friction force."""
    length = max(gap, level**0.5)
    cones.s[c], cones.gamma[c] = length, level / length
    without_friction(cones, c)
    if friction > 0.0:
        cones.room[c] = friction * cones.gamma[c]
        cones.psi[c] = level / cones.room[c]


@kernel
def lift(cones, D, c, friction, level):
    """Move the unknowns of another step inside: raise those that must be positive to at least ``level`` [SI]."""
    cones.s[c], cones.gamma[c] = raised(cones.s[c], cones.gamma[c], level)
    if friction > 0.0:
        cones.room[c], cones.psi[c] = raised(cones.room[c], cones.psi[c], level)


@kernel
def force(cones, D, c):
    return cones.gamma[c], cones.beta[c, 0], cones.beta[c, 1]


@kernel
def state(cones, c, friction, u1, u2):
    """(F, b, q, e, c) of contact c."""
    F = friction * cones.gamma[c]
    b1, b2 = cones.beta[c, 0] / F, cones.beta[c, 1] / F
    q = b1 * b1 + b2 * b2
    return F, b1, b2, q, u1 + cones.psi[c] * b1, u2 + cones.psi[c] * b2, F - q * F - cones.room[c]


@kernel
def residual(cones, D, c, friction, u0, u1, u2, target):
    kinematic = abs(u0 - cones.s[c])
    equations, products = 0.0, abs(cones.s[c] * cones.gamma[c] - target)
    if friction > 0.0:
        _, _, _, _, e1, e2, left = state(cones, c, friction, u1, u2)
        equations = max(abs(e1), abs(e2), abs(left))
        products = max(products, abs(cones.room[c] * cones.psi[c] - target))
    return kinematic, equations, products


@kernel
def product(cones, step, c, target, second):
    """p of r·ψ."""
    p = target - cones.room[c] * cones.psi[c]
    if second > 0.0:  # otherwise the step may not be valid
        p -= second * step.room[c] * step.psi[c]
    return p


@kernel(inline=False)
def block(cones, step, D, c, friction, u0, u1, u2, target, second, K, k):
    k0, stiffness = normal_block(cones, step, c, u0, target, second)
    clear_block(k0, stiffness, K, k)
    if friction <= 0.0:
        return
    F, b1, b2, q, e1, e2, left = state(cones, c, friction, u1, u2)
    p, psi, room = product(cones, step, c, target, second), cones.psi[c], cones.room[c]
    h, soft = 1.0 / (room + 2.0 * q * F), F / psi
    bent = 2.0 * F * h
    K[1, 1], K[1, 2], K[2, 2] = soft * (1.0 - bent * b1 * b1), -soft * bent * b1 * b2, soft * (1.0 - bent * b2 * b2)
    K[2, 1] = K[1, 2]
    pull = friction * h * ((1.0 + q) * F + room)
    K[1, 0], K[2, 0] = pull * stiffness * b1, pull * stiffness * b2
    rest = pull * k0 - h * soft * (p - psi * left)
    k[1] = rest * b1 - K[1, 1] * e1 - K[1, 2] * e2
    k[2] = rest * b2 - K[2, 1] * e1 - K[2, 2] * e2


@kernel(inline=False)
def recover(cones, step, D, c, friction, u0, u1, u2, target, second, du0, du1, du2):
    k0, stiffness = normal_block(cones, step, c, u0, target, second)
    dgamma = k0 - stiffness * du0
    if friction <= 0.0:
        without_friction(step, c)
    else:
        F, b1, b2, q, e1, e2, left = state(cones, c, friction, u1, u2)
        p, psi, room = product(cones, step, c, target, second), cones.psi[c], cones.room[c]
        h, soft, dF = 1.0 / (room + 2.0 * q * F), F / psi, friction * dgamma
        e1, e2 = e1 + du1, e2 + du2
        along, rest = b1 * e1 + b2 * e2, h * ((1.0 + q) * F + room) * dF - h * soft * (p - psi * left)
        step.beta[c, 0] = (rest + soft * 2.0 * F * h * along) * b1 - soft * e1
        step.beta[c, 1] = (rest + soft * 2.0 * F * h * along) * b2 - soft * e2
        left += (1.0 - q) * dF
        step.psi[c] = h * (p - psi * left - 2.0 * F * along)
        step.room[c] = h * (room * (left + 2.0 * soft * along) + 2.0 * soft * q * p)
    step.s[c], step.gamma[c] = du0 + (u0 - cones.s[c]), dgamma


@kernel
def longest(cones, step, D, c, friction):
    alpha = shorter(shorter(FAR, cones.s[c], step.s[c]), cones.gamma[c], step.gamma[c])
    if friction > 0.0:
        alpha = shorter(shorter(alpha, cones.psi[c], step.psi[c]), cones.room[c], step.room[c])
    return alpha


@kernel
def settle(cones, D, c, friction, u1, u2, target, ease):
    """Set friction that follows the velocity; ``ease`` [m/s/N] is about dt/mass of the lighter body."""
    if friction <= 0.0 or target <= 0.0:
        return
    F = friction * cones.gamma[c]
    half = 0.5 * target / F
    psi = half + (half * half + u1 * u1 + u2 * u2) ** 0.5
    if F * ease < SLAVE * psi:
        cones.psi[c], cones.room[c] = psi, target / psi
        cones.beta[c, 0], cones.beta[c, 1] = -F * u1 / psi, -F * u2 / psi
        return
    left = F - (cones.beta[c, 0] ** 2 + cones.beta[c, 1] ** 2) / F - cones.room[c]
    if abs(left) * cones.psi[c] < EVEN * target and abs(left) < EVEN * cones.room[c]:
        cones.room[c] += left


@kernel
def gap(cones, step, D, c, friction, alpha):
    total, number = (cones.s[c] + alpha * step.s[c]) * (cones.gamma[c] + alpha * step.gamma[c]), 1
    if friction > 0.0:
        total += (cones.room[c] + alpha * step.room[c]) * (cones.psi[c] + alpha * step.psi[c])
        number = 2
    return total, number
