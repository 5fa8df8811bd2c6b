"""Averages of a viscoelastic system over a step, by its modes: exact for any step and any stiffness.

In scaled coordinates y = K^½·Δp the contact dynamics (Hammoud et al., eq. 11) reads

    y″ = −S·y − β·S·y′ + c,    S = K^½·Υ·K^½ (symmetric, positive semidefinite),    β = B/K, the same for all contacts.

In the eigenbasis of S every mode is a damped oscillator with closed-form integrals (``oscillator.py``); a singular S is
nothing special. With g, G₁, G₂, G₃ of a mode, and σ = its eigenvalue, d = βσ, the integrated equation of motion turns
the two averages of the force (eqs. 23 and 25) into

    ∫(y + βy′)  = y₀·g  + w₀·(G₁ + βg)  + c·(G₂ + βG₁)
    ∫∫(y + βy′) = y₀·G₁ + w₀·(G₂ + βG₁) + c·(G₃ + βG₂)

where no difference of large numbers is left. Cost: one symmetric eigenvalue problem of the size of S.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.math.eigen import diagonalise, reflect, reflect_back, rotate_back, tridiagonalise
from stickslip.math.oscillator import response


@kernel
def modal_averages(S, n, beta, h, basis, y, w, c):
    """Overwrite y with ∫(y + βy′) and w with ∫∫(y + βy′) over [0, h]; S[:n, :n] is lost. False: no convergence,
    and S, y, w, c are lost."""
    tridiagonalise(S, n, basis)
    reflect(S, n, basis, y, w, c)
    rotations = diagonalise(n, basis, y, w, c)
    if rotations < 0:
        return False
    for i in range(n):
        sigma = max(0.0, basis.value[i])
        g, G1, G2, G3 = response(sigma, beta * sigma, h)
        y0, w0, c0 = y[i], w[i], c[i]
        y[i] = y0 * g + w0 * (G1 + beta * g) + c0 * (G2 + beta * G1)
        w[i] = y0 * G1 + w0 * (G2 + beta * G1) + c0 * (G3 + beta * G2)
    rotate_back(basis, rotations, y, w)
    reflect_back(S, n, basis, y, w)
    return True
