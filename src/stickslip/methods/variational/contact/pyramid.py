"""The friction pyramid in an interior-point method: m directions dᵢ, with everything but u eliminated in O(m).

Maximal dissipation on the polygon Σβᵢ ≤ c_f·γ, β ≥ 0, with f_t = Σ βᵢ·dᵢ, relaxed by μ, eqs. (20) and (26):

    φ(z⁺) − s = 0                 s·γ = μ         (26f), (26i)
    dᵢ·v_t + ψ − ηᵢ = 0           βᵢ·ηᵢ = μ       (20a), (26c), (26h)
    c_f·γ − Σβᵢ − s_ψ = 0         s_ψ·ψ = μ       (20b), (26d), (26g)

A Newton step has right-hand sides r of the left column (added to the step of the variable that the equation is solved
for) and p of the right column, which include Mehrotra's second-order terms:

    Δγ = k₀ − (γ/s)·Δφ                         see ``cone``
    Δβᵢ = aᵢ − wᵢ·(dᵢ·Δv + Δψ),                wᵢ = βᵢ/ηᵢ,   aᵢ = (pᵢ − βᵢ·rᵢ)/ηᵢ
    Δψ  = h·(p_ψ − ψ·(c_f·Δγ + r_ψ − Σaᵢ + m·Δv)),   m = Σ wᵢ·dᵢ,   W = Σ wᵢ,   h = 1/(s_ψ + ψ·W)

since Δs_ψ = c_f·Δγ − ΣΔβᵢ + r_ψ. The diagonal wᵢ with the rank one of ψ has its Schur complement in closed form; with
d̄ = m/W, δᵢ = dᵢ − d̄ no large numbers cancel if the contact slides (one wᵢ → ∞):

    Δf_t = Σ aᵢ·δᵢ + h·s_ψ·(Σaᵢ)·d̄ − h·(p_ψ − ψ·r_ψ)·m + h·ψ·c_f·m·Δγ − (Σ wᵢ·δᵢ·δᵢᵀ + h·s_ψ·W·d̄·d̄ᵀ)·Δv

If c_f = 0, there are no friction unknowns.
Reference: Brüdigam, Janeva, Sosnowski, Hirche, "Linear-Time Contact and Friction Dynamics in Maximal Coordinates using
Variational Integrators", Sec. III. Differs from the paper in: contacts are eliminated in closed form before the graph
is factored, instead of being nodes of it; βᵢ has no slack of its own.
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


@kernel
def start(cones, D, c, friction, gap, level):
    """Set all products to ``level``, as far as the gap and ψ's equation allow."""
    length = max(gap, level**0.5)
    cones.s[c], cones.gamma[c] = length, level / length
    if friction <= 0.0:
        without_friction(cones, c)
        return
    m = D.shape[0]
    share = friction * cones.gamma[c] / (m + 1)
    cones.room[c], cones.psi[c] = share, level / share
    for i in range(m):
        cones.beta[c, i], cones.eta[c, i] = share, level / share


@kernel
def lift(cones, D, c, friction, level):
    """Move the unknowns of another step inside: raise those that must be positive to at least ``level`` [SI]."""
    cones.s[c], cones.gamma[c] = raised(cones.s[c], cones.gamma[c], level)
    if friction > 0.0:
        for i in range(D.shape[0]):
            cones.beta[c, i], cones.eta[c, i] = raised(cones.beta[c, i], cones.eta[c, i], level)
        cones.room[c], cones.psi[c] = raised(cones.room[c], cones.psi[c], level)


@kernel
def force(cones, D, c):
    f1, f2 = 0.0, 0.0
    for i in range(D.shape[0]):
        f1 += cones.beta[c, i] * D[i, 0]
        f2 += cones.beta[c, i] * D[i, 1]
    return cones.gamma[c], f1, f2


@kernel
def residual(cones, D, c, friction, u0, u1, u2, target):
    kinematic = abs(u0 - cones.s[c])
    equations, products = 0.0, abs(cones.s[c] * cones.gamma[c] - target)
    if friction > 0.0:
        psi, left = cones.psi[c], friction * cones.gamma[c] - cones.room[c]
        for i in range(D.shape[0]):
            left -= cones.beta[c, i]
            row = D[i, 0] * u1 + D[i, 1] * u2 + psi - cones.eta[c, i]
            equations = max(equations, abs(row))
            products = max(products, abs(cones.beta[c, i] * cones.eta[c, i] - target))
        equations = max(equations, abs(left))
        products = max(products, abs(cones.room[c] * psi - target))
    return kinematic, equations, products


@kernel
def facet(cones, step, D, c, i, u1, u2, target, second):
    """(wᵢ, aᵢ) of Δβᵢ = aᵢ − wᵢ·(dᵢ·Δv + Δψ), and rᵢ."""
    beta, eta = cones.beta[c, i], cones.eta[c, i]
    product = target - beta * eta
    if second > 0.0:  # otherwise the step may not be valid
        product -= second * step.beta[c, i] * step.eta[c, i]
    row = D[i, 0] * u1 + D[i, 1] * u2 + cones.psi[c] - eta
    return beta / eta, (product - beta * row) / eta, row


@kernel
def limit(cones, step, c, friction, target, second):
    """(p_ψ, r_ψ) of the limit of friction."""
    product = target - cones.room[c] * cones.psi[c]
    if second > 0.0:  # otherwise the step may not be valid
        product -= second * step.room[c] * step.psi[c]
    left = friction * cones.gamma[c] - cones.room[c]
    for i in range(cones.beta.shape[1]):
        left -= cones.beta[c, i]
    return product, left


@kernel(inline=False)
def block(cones, step, D, c, friction, u0, u1, u2, target, second, K, k):
    k0, stiffness = normal_block(cones, step, c, u0, target, second)
    clear_block(k0, stiffness, K, k)
    if friction <= 0.0:
        return
    W, m1, m2, total = 0.0, 0.0, 0.0, 0.0
    for i in range(D.shape[0]):
        w, a, _ = facet(cones, step, D, c, i, u1, u2, target, second)
        W += w
        m1 += w * D[i, 0]
        m2 += w * D[i, 1]
        total += a
    product, left = limit(cones, step, c, friction, target, second)
    psi, room = cones.psi[c], cones.room[c]
    h = 1.0 / (room + psi * W)
    mean1, mean2 = m1 / W, m2 / W
    for i in range(D.shape[0]):
        w, a, _ = facet(cones, step, D, c, i, u1, u2, target, second)
        e1, e2 = D[i, 0] - mean1, D[i, 1] - mean2
        K[1, 1] += w * e1 * e1
        K[1, 2] += w * e1 * e2
        K[2, 2] += w * e2 * e2
        k[1] += a * e1
        k[2] += a * e2
    along = h * room * W
    K[1, 1] += along * mean1 * mean1
    K[1, 2] += along * mean1 * mean2
    K[2, 2] += along * mean2 * mean2
    K[2, 1] = K[1, 2]
    pull = h * psi * friction
    K[1, 0], K[2, 0] = pull * stiffness * m1, pull * stiffness * m2
    rest = h * room * total / W - h * (product - psi * left) + pull * k0
    k[1] += rest * m1
    k[2] += rest * m2


@kernel(inline=False)
def recover(cones, step, D, c, friction, u0, u1, u2, target, second, du0, du1, du2):
    k0, stiffness = normal_block(cones, step, c, u0, target, second)
    if friction <= 0.0:
        step.s[c], step.gamma[c] = du0 + (u0 - cones.s[c]), k0 - stiffness * du0
        without_friction(step, c)
        return
    W, slide, total = 0.0, 0.0, 0.0
    for i in range(D.shape[0]):
        w, a, _ = facet(cones, step, D, c, i, u1, u2, target, second)
        W += w
        slide += w * (D[i, 0] * du1 + D[i, 1] * du2)
        total += a
    product, left = limit(cones, step, c, friction, target, second)
    psi, room = cones.psi[c], cones.room[c]
    dgamma = k0 - stiffness * du0
    dpsi = (product - psi * (friction * dgamma + left - total + slide)) / (room + psi * W)
    for i in range(D.shape[0]):
        w, a, row = facet(cones, step, D, c, i, u1, u2, target, second)
        rate = D[i, 0] * du1 + D[i, 1] * du2 + dpsi
        step.beta[c, i], step.eta[c, i] = a - w * rate, rate + row
    step.s[c], step.gamma[c] = du0 + (u0 - cones.s[c]), dgamma
    step.psi[c], step.room[c] = dpsi, (product - room * dpsi) / psi


@kernel
def longest(cones, step, D, c, friction):
    alpha = shorter(shorter(FAR, cones.s[c], step.s[c]), cones.gamma[c], step.gamma[c])
    if friction > 0.0:
        alpha = shorter(shorter(alpha, cones.psi[c], step.psi[c]), cones.room[c], step.room[c])
        for i in range(D.shape[0]):
            alpha = shorter(alpha, cones.beta[c, i], step.beta[c, i])
            alpha = shorter(alpha, cones.eta[c, i], step.eta[c, i])
    return alpha


@kernel
def settle(cones, D, c, friction, u1, u2, target, ease):
    """Nothing to do for a pyramid, whose facets are flat."""


@kernel
def gap(cones, step, D, c, friction, alpha):
    total, number = (cones.s[c] + alpha * step.s[c]) * (cones.gamma[c] + alpha * step.gamma[c]), 1
    if friction > 0.0:
        total += (cones.psi[c] + alpha * step.psi[c]) * (cones.room[c] + alpha * step.room[c])
        for i in range(D.shape[0]):
            total += (cones.beta[c, i] + alpha * step.beta[c, i]) * (cones.eta[c, i] + alpha * step.eta[c, i])
        number += D.shape[0] + 1
    return total, number
