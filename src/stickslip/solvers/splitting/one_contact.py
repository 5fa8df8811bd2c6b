"""One contact alone, by Coulomb's law or relaxed: its 3×3 problem, u = A·p + b, solved exactly.

A is symmetric positive semidefinite, its entries a00 (normal) … a22 (tangents), and need be neither diagonal nor
isotropic. **Coulomb**, K ∋ p ⟂ u + (μ·|u_t|, 0, 0) ∈ K*: the contact

* separates where b_n ≥ 0: p = 0;
* sticks where −A⁻¹·b is in the cone;
* slides otherwise, u_n = 0 and u_t = −λ·p_t: with S = A_tt − a_t·a_tᵀ/a00 and c = b_t − a_t·b_n/a00,

      p_t(λ) = −(S + λ)⁻¹·c,   p_n(λ) = −(b_n + a_t·p_t)/a00,   h(λ) = μ·p_n/|p_t| − 1 = 0,

  where h(0) < 0 < h(∞) whenever b_n < 0: there is a solution, whatever μ. h is close to a straight line; Newton's
  method in a bracket takes 1 to 5 steps. Strong friction with a_t ≠ 0 (Painlevé) allows several solutions. Then p = 0
  is taken if it is one, else sticking if it is one, else the λ that Newton's method from ``guess`` comes to.

**Relaxed**, minimise ½·pᵀ·A·p + b·p over K: zero where b is in K*, −A⁻¹·b where that is in K, else a point of the
cone's surface, by Newton's method on the convex function of p_t that is left when p_n ≥ |p_t|/μ is minimised over.

Where the problem has no solution, p is 0 (b_n < 0 and a00 = 0) or large (relaxed, no least value). Singular blocks are
solved with the shift ``SHIFT``·trace(A), which is round-off. Nothing is NaN for finite input.
M. Jean, "The non-smooth contact dynamics method", CMAME 177, 1999; Bonnefon, Daviet, INRIA RR-7561, 2011 (who solve a
quartic for the same points). Differs from them in: root finding on the multiplier, exact to round-off.
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel

SHIFT = 1e-14
"""Shift of a singular block, relative to its trace."""
RANGE = 1e-12
"""Part of a right-hand side that may be outside the range of a singular block: round-off."""
EXACT = 4e-15
"""Relative accuracy of the roots."""
STEPS = 60
"""Largest number of Newton steps, and of halvings in a line search."""


@kernel
def _free_tangents(s11, s12, s22, c1, c2, shift):
    """−(S + shift)⁻¹·c."""
    m11, m22 = s11 + shift, s22 + shift
    inverse = 1.0 / (m11 * m22 - s12 * s12)
    return (s12 * c2 - m22 * c1) * inverse, (s12 * c1 - m11 * c2) * inverse


@kernel
def _sticking_tangents(s11, s12, s22, c1, c2, shift):
    """−(S + shift)⁻¹·c; where S is singular (shift > 0) and c is in its range, −S⁺·c = −c/trace(S), without the
    cancellation of the former."""
    spread = s11 + s22
    if shift > 0.0 and spread > shift:
        p1, p2 = -c1 / spread, -c2 / spread
        r1, r2 = s11 * p1 + s12 * p2 + c1, s12 * p1 + s22 * p2 + c2
        if r1 * r1 + r2 * r2 <= RANGE * RANGE * (c1 * c1 + c2 * c2):
            return p1, p2
    return _free_tangents(s11, s12, s22, c1, c2, shift)


@kernel
def coulomb_contact(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, guess):
    """p (normal, tangent 1, tangent 2); ``guess`` ≥ 0 is |u_t|/|p_t| of a point nearby, or 0."""
    scale = a00 + a11 + a22
    if b0 >= 0.0 or not a00 > SHIFT * scale or a00 < 1e-280:
        return 0.0, 0.0, 0.0
    inverse = 1.0 / a00
    if mu <= 0.0:
        return -b0 * inverse, 0.0, 0.0
    s11, s12, s22 = a11 - a01 * a01 * inverse, a12 - a01 * a02 * inverse, a22 - a02 * a02 * inverse
    c1, c2 = b1 - a01 * b0 * inverse, b2 - a02 * b0 * inverse
    shift, spread = 0.0, s11 + s22
    if not s11 * s22 - s12 * s12 > SHIFT * spread * spread or not spread > SHIFT * scale:
        shift = SHIFT * scale
    p1, p2 = _sticking_tangents(s11, s12, s22, c1, c2, shift)
    p0 = -(b0 + a01 * p1 + a02 * p2) * inverse
    if p0 >= 0.0 and p1 * p1 + p2 * p2 <= mu * mu * p0 * p0:
        return p0, p1, p2
    low = shift
    high = 2.0 * (c1 * c1 + c2 * c2) ** 0.5 * (a00 + mu * (a01 * a01 + a02 * a02) ** 0.5) / (-mu * b0)
    if not high < 1e280:
        return -b0 * inverse, 0.0, 0.0
    x = guess if low < guess < high else low
    for _ in range(STEPS):
        m11, m22 = s11 + x, s22 + x
        over = 1.0 / (m11 * m22 - s12 * s12)
        p1, p2 = (s12 * c2 - m22 * c1) * over, (s12 * c1 - m11 * c2) * over
        q1, q2 = (m22 * p1 - s12 * p2) * over, (m11 * p2 - s12 * p1) * over
        r = (p1 * p1 + p2 * p2) ** 0.5
        p0 = -(b0 + a01 * p1 + a02 * p2) * inverse
        h = mu * p0 / r - 1.0
        if h < 0.0:
            low = x
        else:
            high = x
        if abs(h) <= EXACT or high - low <= 0.25 * EXACT * high:
            break
        slope = mu * ((a01 * q1 + a02 * q2) * inverse + p0 * (p1 * q1 + p2 * q2) / (r * r)) / r
        new = x - h / slope if slope > 0.0 else high
        if not low < new < high:
            new = scale * (((1.0 + low / scale) * (1.0 + high / scale)) ** 0.5 - 1.0)
            if not low < new < high:
                new = 0.5 * (low + high)
        x = new
    p0 = max(p0, 0.0)
    shrink = mu * p0 / r
    return p0, p1 * shrink, p2 * shrink


@kernel
def relaxed_contact(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, guess1, guess2):
    """p (normal, tangent 1, tangent 2); the guess is a p_t nearby, or 0."""
    scale = a00 + a11 + a22
    length = (b1 * b1 + b2 * b2) ** 0.5
    if b0 >= mu * length or scale < 1e-280 or (b0 < 0.0 and not a00 > SHIFT * scale):
        return 0.0, 0.0, 0.0
    a00 = max(a00, SHIFT * scale)
    inverse = 1.0 / a00
    if mu <= 0.0:
        return -b0 * inverse, 0.0, 0.0
    s11, s12, s22 = a11 - a01 * a01 * inverse, a12 - a01 * a02 * inverse, a22 - a02 * a02 * inverse
    c1, c2 = b1 - a01 * b0 * inverse, b2 - a02 * b0 * inverse
    shift, spread = 0.0, s11 + s22
    if not s11 * s22 - s12 * s12 > SHIFT * spread * spread or not spread > SHIFT * scale:
        shift = SHIFT * scale
        a00, a11, a22 = a00 + shift, a11 + shift, a22 + shift
    p1, p2 = _sticking_tangents(s11, s12, s22, c1, c2, shift)
    p0 = -(b0 + a01 * p1 + a02 * p2) * inverse
    if p0 >= 0.0 and p1 * p1 + p2 * p2 <= mu * mu * p0 * p0:
        return p0, p1, p2
    e1, e2 = -b1, -b2
    if guess1 * guess1 + guess2 * guess2 > 0.0:
        e1, e2 = guess1, guess2
    p1, p2 = _along(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, e1, e2)
    if p1 == 0.0 and p2 == 0.0:
        p1, p2 = _along(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, -b1, -b2)
    if p1 == 0.0 and p2 == 0.0:  # b has no tangential part
        p1, p2 = _along(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, -c1, -c2)
    return _on_the_surface(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, p1, p2)


@kernel
def coulomb_visit(a00, a01, a02, a11, a12, a22, p, u, i, mu):
    """New p of the contact in rows i … i + 2, with all other contacts unchanged."""
    p0, p1, p2 = p[i], p[i + 1], p[i + 2]
    b0 = u[i] - a00 * p0 - a01 * p1 - a02 * p2
    b1 = u[i + 1] - a01 * p0 - a11 * p1 - a12 * p2
    b2 = u[i + 2] - a02 * p0 - a12 * p1 - a22 * p2
    size = p1 * p1 + p2 * p2
    guess = 0.0
    if size > 0.0:
        guess = ((u[i + 1] * u[i + 1] + u[i + 2] * u[i + 2]) / size) ** 0.5
    return coulomb_contact(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, guess)


@kernel
def relaxed_visit(a00, a01, a02, a11, a12, a22, p, u, i, mu):
    """New p of the contact in rows i … i + 2, with all other contacts unchanged."""
    p0, p1, p2 = p[i], p[i + 1], p[i + 2]
    b0 = u[i] - a00 * p0 - a01 * p1 - a02 * p2
    b1 = u[i + 1] - a01 * p0 - a11 * p1 - a12 * p2
    b2 = u[i + 2] - a02 * p0 - a12 * p1 - a22 * p2
    return relaxed_contact(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, p1, p2)


@kernel
def _along(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, e1, e2):
    """p_t of the least value on the ray of the surface whose tangent is e; zero if that is the cone's tip."""
    length = (e1 * e1 + e2 * e2) ** 0.5
    if length == 0.0:
        return 0.0, 0.0
    e1, e2 = mu * e1 / length, mu * e2 / length
    force = b0 + b1 * e1 + b2 * e2
    mass = a00 + 2.0 * (a01 * e1 + a02 * e2) + a11 * e1 * e1 + 2.0 * a12 * e1 * e2 + a22 * e2 * e2
    if force >= 0.0 or not mass > 0.0:
        return 0.0, 0.0
    return -force / mass * e1, -force / mass * e2


@kernel
def _value(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, p1, p2):
    """Least of ½·pᵀ·A·p + b·p over p_n ≥ |p_t|/μ, that p_n, u, and whether p is inside the cone."""
    r = (p1 * p1 + p2 * p2) ** 0.5
    p0 = -(b0 + a01 * p1 + a02 * p2) / a00
    inside = mu * p0 >= r
    if not inside:
        p0 = r / mu
    u0 = a00 * p0 + a01 * p1 + a02 * p2 + b0
    u1 = a01 * p0 + a11 * p1 + a12 * p2 + b1
    u2 = a02 * p0 + a12 * p1 + a22 * p2 + b2
    value = 0.5 * (p0 * (u0 + b0) + p1 * (u1 + b1) + p2 * (u2 + b2))
    return value, p0, u0, u1, u2, r, inside


@kernel
def _gradient(u0, u1, u2, p1, p2, r, mu, inside):
    """Along p_t and across it: for weak friction they differ by orders of magnitude."""
    along, across = (u1 * p1 + u2 * p2) / r, (u2 * p1 - u1 * p2) / r
    return (along if inside else along + u0 / mu), across


@kernel
def _towards_the_surface(a00, a01, a02, a11, a12, a22, mu, p0, p1, p2, g1, g2):
    """p_t where the way from p, inside the cone, to the least value without the cone, which is outside, leaves it."""
    s11, s12, s22 = a11 - a01 * a01 / a00, a12 - a01 * a02 / a00, a22 - a02 * a02 / a00
    d1, d2 = _free_tangents(s11, s12, s22, g1, g2, SHIFT * (a00 + a11 + a22))
    rate = -(a01 * d1 + a02 * d2) / a00
    a = d1 * d1 + d2 * d2 - mu * mu * rate * rate
    b = p1 * d1 + p2 * d2 - mu * mu * p0 * rate
    c = min(p1 * p1 + p2 * p2 - mu * mu * p0 * p0, 0.0)
    root = max(b * b - a * c, 0.0) ** 0.5
    t = 1.0
    if b > 0.0:
        t = -c / (b + root)
    elif a > 0.0:
        t = (root - b) / a
    t = min(t, 1.0)
    return p1 + t * d1, p2 + t * d2


@kernel
def _on_the_surface(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, p1, p2):
    """Newton's method with a line search, from p_t ≠ 0."""
    weight = min(mu, 1.0)
    value, p0, u0, u1, u2, r, inside = _value(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, p1, p2)
    for _ in range(STEPS):
        if r == 0.0:
            break
        along, across = _gradient(u0, u1, u2, p1, p2, r, mu, inside)
        size = abs(weight * along) + abs(across)
        if size <= 4e-16 * (abs(b1) + abs(b2) + weight * abs(b0) / mu):
            break
        if inside:
            n1, n2 = _towards_the_surface(a00, a01, a02, a11, a12, a22, mu, p0, p1, p2, u1, u2)
            if abs(n1 - p1) + abs(n2 - p2) > 1e-12 * r:
                p1, p2 = n1, n2
                value, p0, u0, u1, u2, r, inside = _value(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, p1, p2)
                continue
        e1, e2 = p1 / r, p2 / r
        haa = e1 * e1 * a11 + 2.0 * e1 * e2 * a12 + e2 * e2 * a22 + 2.0 * (e1 * a01 + e2 * a02) / mu + a00 / (mu * mu)
        hac = e1 * e2 * (a22 - a11) + (e1 * e1 - e2 * e2) * a12 + (e1 * a02 - e2 * a01) / mu
        hcc = e2 * e2 * a11 - 2.0 * e1 * e2 * a12 + e1 * e1 * a22 + max(u0 / mu, 0.0) / r + max(-along, 0.0) / r
        haa = max(haa, SHIFT * a00 / (mu * mu))
        left = max(hcc - hac * hac / haa, SHIFT * (a00 + a11 + a22))
        dc = -(across - hac / haa * along) / left
        da = -(along + hac * dc) / haa
        slope = da * along + dc * across
        step, better, newsize = 1.0, False, size
        for _ in range(STEPS):
            turn = min(max(step * dc / r, -1.0), 1.0)  # on a circle: with weak friction the valley is narrow and round
            away, side = max(r + step * da, 0.1 * r) * np.cos(turn), max(r + step * da, 0.1 * r) * np.sin(turn)
            n1, n2 = away * e1 - side * e2, away * e2 + side * e1
            found, f0, v0, v1, v2, length, within = _value(a00, a01, a02, a11, a12, a22, b0, b1, b2, mu, n1, n2)
            if length > 0.0:
                ga, gc = _gradient(v0, v1, v2, n1, n2, length, mu, within)
                newsize = abs(weight * ga) + abs(gc)
                if found <= value + 1e-4 * step * slope or newsize <= 0.5 * size:
                    better = True
                    break
            step *= 0.4
            if step * (abs(da) + abs(dc)) <= 0.1 * EXACT * r:
                break
        if not better:
            break
        p0, p1, p2, u0, u1, u2, r, inside, value = f0, n1, n2, v0, v1, v2, length, within, found
        if step == 1.0 and abs(da) + abs(dc) <= EXACT * r:
            break
    return p0, p1, p2
