"""Dry friction of joints in the interior point: a box for the friction force φ, as the disk of a contact's friction.

With the joint's rate u = r(z)·ν⁺, its largest friction f, b = φ/f, a slip speed ψ ≥ 0 and a slack r ≥ 0,

    u + ψ·b = 0,    1 − b² − r = 0,    r·ψ = μ → 0 (as a speed, whatever f is),

so that |φ| ≤ f, u = 0 where |φ| < f, and φ = −f·sign(u) where the joint moves. The impulse dt·φ is part of the joint's
soft row, w·(u − q̇⁻) + λ − h·(τ − h·K·q̇⁻) − dt·φ = 0. The three unknowns are eliminated from Newton's system,

    Δφ = k − K·Δu,    K = f·r/(ψ·(r + 2·b²)),    k = −K·(u + ψ·b) − f·b·(p − ψ·(1 − b² − r))/(ψ·(r + 2·b²)),

p = μ − r·ψ, less the second-order term of the predictor. It is ``contact.circular`` with one direction and a fixed
size.
Sizes: nd joint velocities with friction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel


class Rubbing(NamedTuple):
    """The unknowns of dry friction, or their step."""

    force: np.ndarray
    """(nd,) φ [N or N m]."""
    slip: np.ndarray
    """(nd,) ψ [m/s or rad/s]."""
    room: np.ndarray
    """(nd,) r."""


def make_rubbing(joints: int) -> Rubbing:
    return Rubbing(*np.zeros((3, joints)))


@kernel
def copy_rubbing(a, b):
    """Copy the unknowns of a to b."""
    for i in range(a.force.shape[0]):
        b.force[i], b.slip[i], b.room[i] = a.force[i], a.slip[i], a.room[i]


@kernel
def start_rubbing(rub, warm, level):
    """Unknowns strictly inside; with ``warm`` near those of the last step."""
    for i in range(rub.force.shape[0]):
        if not warm:
            rub.force[i], rub.room[i], rub.slip[i] = 0.0, 1.0, level
            continue
        rub.room[i], rub.slip[i] = max(rub.room[i], level), max(rub.slip[i], level)


@kernel
def rubbing_residual(nodes, rub, i, u, target):
    """(Largest residual of the equations [m/s, rad/s or 1], |product − target| [m/s or rad/s])."""
    b = rub.force[i] / nodes.dry_bound[i]
    left = 1.0 - b * b - rub.room[i]
    return max(abs(u + rub.slip[i] * b), abs(left)), abs(rub.room[i] * rub.slip[i] - target)


@kernel
def rubbing_block(nodes, rub, step, i, u, target, second):
    """(K, k) of Δφ = k − K·Δu."""
    f, r, psi = nodes.dry_bound[i], rub.room[i], rub.slip[i]
    b = rub.force[i] / f
    p = target - r * psi
    if second > 0.0:  # otherwise the step may not be valid
        p -= second * step.room[i] * step.slip[i]
    h = f / (psi * (r + 2.0 * b * b))
    return h * r, -h * (r * (u + psi * b) + b * (p - psi * (1.0 - b * b - r)))


@kernel
def rubbing_step(nodes, rub, step, i, u, target, second, du):
    """Write the step of the three unknowns for the step du of the rate."""
    f, r, psi = nodes.dry_bound[i], rub.room[i], rub.slip[i]
    K, k = rubbing_block(nodes, rub, step, i, u, target, second)
    b, dforce = rub.force[i] / f, k - K * du
    p = target - r * psi
    if second > 0.0:
        p -= second * step.room[i] * step.slip[i]
    step.force[i] = dforce
    step.room[i] = 1.0 - b * b - r - 2.0 * b * dforce / f
    step.slip[i] = (p - psi * step.room[i]) / r


@kernel
def move_rubbing(rub, step, alpha):
    """Move the unknowns by ``alpha`` times their step."""
    for i in range(rub.force.shape[0]):
        rub.force[i] += alpha * step.force[i]
        rub.slip[i] += alpha * step.slip[i]
        rub.room[i] += alpha * step.room[i]
