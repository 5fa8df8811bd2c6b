"""Cones: the unknowns of frictional contacts in an interior-point method, and shared parts of pyramid and circular
cone.

A contact has a slack s [m] of its gap, a normal force γ [N], a friction force β [N] in its tangent plane and, in the
plane of velocities, ψ [m/s] and η [m/s]. The kernels of ``pyramid`` and of ``circular`` have the same signatures; u =
(φ(z⁺) [m], v_t1 [m/s], v_t2 [m/s]) is the motion of the bodies, and f = (γ, f_t1, f_t2) [N] acts on body 2.

* ``start``     sets all unknowns strictly inside, from a gap [m] and a product μ [J, W]
* ``lift``      does the same from the unknowns of another step, such as the last one
* ``force``     f
* ``residual``  (|φ − s| [m], other equations [N, m/s], |products − μ| [J, W])
* ``block``     Δf = k − K·Δu, the Newton step with everything but u eliminated
* ``recover``   Δ of the unknowns from Δu
* ``longest``   the step length to the boundary; ``move`` takes a step
* ``settle``    sets unknowns that only follow the velocity in closed form
* ``gap``       (sum of products after a step of some length, number of products)

The normal direction is the same in both: Δs = Δu₀ + (u₀ − s) and γ·Δs + s·Δγ = p, so that Δγ = k₀ − (γ/s)·Δu₀.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.errors import expected

FEWEST_FACETS = 4
"""Smallest number of facets of a pyramid."""
FAR = 1e10
"""Step length to the boundary if there is none."""


class Cones(NamedTuple):
    """Unknowns of up to N contacts, or a step of them."""

    s: np.ndarray
    """(N,) slack of the gap [m]."""
    gamma: np.ndarray
    """(N,) normal force [N]."""
    beta: np.ndarray
    """(N, facets) friction force along each direction [N]; circular: the first two are along the tangents."""
    psi: np.ndarray
    """(N,) speed of sliding [m/s]."""
    eta: np.ndarray
    """(N, facets) ψ + velocity along each direction [m/s]; circular: unused."""
    room: np.ndarray
    """(N,) distance of friction from its limit [N], pyramid: c_f·γ − Σβ, circular: c_f·γ − |β|²/(c_f·γ). It is an
    unknown of its own, because the difference loses its digits."""


def facets_of(variant: str, facets: int | None) -> int:
    """Number of facets of the friction cone; 0 for the circular cone."""
    if variant != "pyramid":
        if facets is not None:
            raise expected(
                "facets", f"none with variational/{variant}", facets, "choose variational/pyramid, or leave them out"
            )
        return 0
    if facets is None:
        return FEWEST_FACETS
    if isinstance(facets, bool) or not isinstance(facets, int) or facets < FEWEST_FACETS:
        raise expected("facets", f"a whole number ≥ {FEWEST_FACETS}", facets)
    return facets


def make_cones(contacts: int, facets: int) -> Cones:
    n, m = max(1, contacts), max(2, facets)
    return Cones(np.zeros(n), np.zeros(n), np.zeros((n, m)), np.zeros(n), np.zeros((n, m)), np.zeros(n))


@kernel
def copy_cone(a, i, b, k):
    """Copy entry i of the cones a to entry k of the cones b."""
    b.s[k], b.gamma[k], b.psi[k], b.room[k] = a.s[i], a.gamma[i], a.psi[i], a.room[i]
    for m in range(a.beta.shape[1]):
        b.beta[k, m], b.eta[k, m] = a.beta[i, m], a.eta[i, m]


@kernel
def without_friction(cones, c):
    """Set the friction unknowns of contact c to 0."""
    cones.psi[c], cones.room[c] = 0.0, 0.0
    for i in range(cones.beta.shape[1]):
        cones.beta[c, i], cones.eta[c, i] = 0.0, 0.0


@kernel
def normal_block(cones, step, c, u0, target, second):
    """(k₀, γ/s) of Δγ = k₀ − (γ/s)·Δu₀."""
    s, gamma = cones.s[c], cones.gamma[c]
    product = target - s * gamma
    if second > 0.0:  # otherwise the step may not be valid
        product -= second * step.s[c] * step.gamma[c]
    return (product - gamma * (u0 - s)) / s, gamma / s


@kernel
def shorter(alpha, value, change):
    """The step length that keeps value + step·change ≥ 0, but at most ``alpha``."""
    if change < 0.0 and value < -alpha * change:
        return -value / change
    return alpha


@kernel
def raised(x, y, level):
    """(x, y), both raised to at least ``level`` [SI]."""
    return max(x, level), max(y, level)


@kernel
def move(cones, step, c, alpha):
    """Move contact c by ``alpha`` times its step."""
    cones.s[c] += alpha * step.s[c]
    cones.gamma[c] += alpha * step.gamma[c]
    cones.psi[c] += alpha * step.psi[c]
    cones.room[c] += alpha * step.room[c]
    for i in range(cones.beta.shape[1]):
        cones.beta[c, i] += alpha * step.beta[c, i]
        cones.eta[c, i] += alpha * step.eta[c, i]


@kernel
def clear_block(k0, stiffness, K, k):
    """K and k without friction."""
    for i in range(3):
        k[i] = 0.0
        for j in range(3):
            K[i, j] = 0.0
    k[0], K[0, 0] = k0, stiffness
