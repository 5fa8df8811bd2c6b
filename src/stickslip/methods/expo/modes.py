"""Averages of a viscoelastic system over a step, by its modes: exact for any step and any stiffness.

In scaled coordinates y = K^½·Δp the contact dynamics (Hammoud et al., eq. (11)) reads

    y″ = −S·y − β·S·y′ + c,    S = K^½·Υ·K^½ (symmetric, positive semidefinite),    β = B/K, the same for all contacts.

In the eigenbasis of S every mode is a damped oscillator with closed-form integrals (``oscillator.py``), also if S is
singular. With g = G₀, G₁, … of a mode, σ its eigenvalue, d = βσ and Bₖ = Gₖ + βGₖ₋₁, the integrated equation of motion
turns the two averages of the force, eqs. (23) and (25), into

    ∫(y + βy′)  = y₀·g  + w₀·B₁ + c·B₂
    ∫∫(y + βy′) = y₀·G₁ + w₀·B₂ + c·B₃

which contain no differences of large numbers.

Several contacts on one link move with six degrees of freedom, so that the rank r of S is less than its size n. A
pivoted Cholesky factor S = R·Rᵀ (n×r) gives the modes of the small RᵀR = V·Λ·Vᵀ, and f(S)·x = f(0)·x + R·V·φ(Λ)·Vᵀ·Rᵀ·x
with φ(σ) = (f(σ) − f(0))/σ. The integrated equation gives φ without a difference too: (Gₖ − Gₖ(0))/σ = −Bₖ₊₂.

How far the forces of a mode, f = −(y + βy′), depart from their mean within the step is bounded by their energy: since
f″ = −σ·f − d·f′ − c, the sum (f − f∞)² + f′²/σ with f∞ = −c/σ never grows. ``departure`` is the bound that this gives
for the forces of all contacts together, so that contacts well inside their cones need not be followed in time.

Cost: a symmetric eigenvalue problem of size n, or one of size r and n·r² for the factor.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.math.eigen import from_modes, to_modes
from stickslip.methods.expo.oscillator import response

RANK = 1e-13
"""Fraction of the largest diagonal entry below which the remainder counts as zero and the factor as complete."""


@kernel
def departure(sigma, beta, h, y, w, c):
    """A bound of the squared difference of the force of a mode from its mean over [0, h]."""
    force = y + beta * w
    rate = w + beta * (c - sigma * force)
    if sigma * h * h <= 0.5:  # |f′| ≤ 2·(|f′₀| + h·|c − σf₀|): damping only makes it less
        largest = 2.0 * h * (abs(rate) + h * abs(c - sigma * force))
        return largest * largest
    away = force - c / sigma
    return 4.0 * (away * away + rate * rate / sigma)


@kernel
def modal_averages(S, n, beta, h, basis, y, w, c):
    """Overwrite y with ∫(y + βy′) and w with ∫∫(y + βy′) over [0, h]; S[:n, :n] is overwritten. Returns the bound of
    the departures of forces from their means, or −1 if the eigenvalue iteration does not converge."""
    rotations = to_modes(S, n, basis, y, w, c)
    if rotations < 0:
        return -1.0
    bound = 0.0
    for i in range(n):
        sigma = max(0.0, basis.value[i])
        g, G1, G2, G3, _, _ = response(sigma, beta * sigma, h)
        B1, B2, B3 = G1 + beta * g, G2 + beta * G1, G3 + beta * G2
        y0, w0, c0 = y[i], w[i], c[i]
        bound += departure(sigma, beta, h, y0, w0, c0)
        y[i] = y0 * g + w0 * B1 + c0 * B2
        w[i] = y0 * G1 + w0 * B2 + c0 * B3
    from_modes(S, n, basis, rotations, y, w)
    return sqrt(bound)


@kernel
def low_rank_averages(S, n, beta, h, basis, factor, small, y, w, c):
    """As ``modal_averages``, by the modes of RᵀR; ``factor`` (2, n, n) holds Rᵀ and R, ``small`` (4, n) is scratch."""
    r = cholesky_factor(S, n, factor, small[3])
    R, a, b, d = factor[1], small[0], small[1], small[2]
    bound, beyond = 0.0, 0.0  # the second: |c|² outside the range of S, where nothing holds against it
    for i in range(n):
        beyond += c[i] * c[i]
    for k in range(r):
        a[k], b[k], d[k] = 0.0, 0.0, 0.0
        for m in range(r):
            S[k, m] = 0.0
    for i in range(n):
        for k in range(r):
            x = R[i, k]
            for m in range(r):
                S[k, m] += x * R[i, m]
            a[k] += x * y[i]
            b[k] += x * w[i]
            d[k] += x * c[i]
    if r > 0:
        rotations = to_modes(S, r, basis, a, b, d)
        if rotations < 0:
            return -1.0
        for k in range(r):
            sigma = max(0.0, basis.value[k])
            if sigma > 0.0:
                bound += departure(sigma, beta, h, a[k], b[k], d[k]) / sigma
                beyond -= d[k] * d[k] / sigma
            _, G1, G2, G3, G4, G5 = response(sigma, beta * sigma, h)
            B2, B3, B4, B5 = G2 + beta * G1, G3 + beta * G2, G4 + beta * G3, G5 + beta * G4
            y0, w0, c0 = a[k], b[k], d[k]
            a[k] = -(y0 * B2 + w0 * (B3 + beta * B2) + c0 * (B4 + beta * B3))
            b[k] = -(y0 * B3 + w0 * (B4 + beta * B3) + c0 * (B5 + beta * B4))
        from_modes(S, r, basis, rotations, a, b)
    G1, G2, G3 = h * h / 2.0, h * h * h / 6.0, h * h * h * h / 24.0
    B1, B2, B3 = G1 + beta * h, G2 + beta * G1, G3 + beta * G2
    for i in range(n):
        y0, w0, c0 = y[i], w[i], c[i]
        y[i] = y0 * h + w0 * B1 + c0 * B2
        w[i] = y0 * G1 + w0 * B2 + c0 * B3
    for k in range(r):
        for i in range(n):
            y[i] += factor[0, k, i] * a[k]
            w[i] += factor[0, k, i] * b[k]
    return sqrt(bound) + h * (0.5 * h + beta) * sqrt(max(0.0, beyond))


@kernel
def cholesky_factor(S, n, factor, left):
    """S = R·Rᵀ with the largest remaining diagonal entry first; factor[0] = Rᵀ, factor[1] = R. Returns the rank."""
    largest = 0.0
    for i in range(n):
        left[i] = S[i, i]
        largest = max(largest, left[i])
    for k in range(n):
        best = 0
        for i in range(1, n):
            if left[i] > left[best]:
                best = i
        if left[best] <= RANK * largest:
            return k
        row = factor[0, k]
        for i in range(n):
            row[i] = S[best, i]
        for m in range(k):
            x = factor[0, m, best]
            for i in range(n):
                row[i] -= x * factor[0, m, i]
        inverse = 1.0 / sqrt(left[best])
        for i in range(n):
            row[i] *= inverse
            factor[1, i, k] = row[i]
            left[i] -= row[i] * row[i]
        left[best] = 0.0
    return n
