"""Painlevé's paradox: sliding contacts that are pressed the harder, the more the normal force grows.

Of a contact that slides with direction ŝ, p_t = −μ·p_n·ŝ, and a normal impulse changes its own normal velocity by

    margin = W_nn − μ·W_nt·ŝ   [1/kg].

margin ≤ 0 is the paradox. If the free motion presses the contact together, no finite force keeps it sliding
(*inconsistent*); else a contact that lets go and one that jams are both solutions (*indeterminate*). Velocities and
impulses have an answer all the same: an impact without collision, in which the contact stops sliding within a step.

A uniform rod at an angle θ to the ground has margin = (1 + 3·cos²θ − 3·μ·sinθ·cosθ)/m where its lower end slides away
from its centre of mass: ≤ 0 from μ = (tanθ + 4/tanθ)/3 on, which is 4/3 at least, at tanθ = 2.
Each contact is looked at alone, with its own 3×3 block of W: joints count where they are eliminated (joint
coordinates), other contacts and bilateral rows do not.
Reference: Génot, Brogliato, "New results on Painlevé paradoxes", Eur. J. Mech. A/Solids 18, 1999.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.methods.rigid.assembly.matrices import Matrices

SLIDES = 1e-6
"""[m/s] the least speed that has a direction."""
TOUCHES = 1e-6
"""[m] the largest gap of a contact that may slide."""


class Paradox(NamedTuple):
    """A sliding contact in paradox."""

    contact: int
    """Among the step's contacts."""
    margin: float
    """≤ 0 [1/kg]."""
    friction: float
    """μ."""
    critical: float
    """The μ from which on this contact, sliding in this direction, is in paradox."""
    speed: float
    """It slides with [m/s]."""
    inconsistent: bool
    """Whether the free motion presses the contact together; else indeterminate."""

    @property
    def kind(self) -> str:
        return "inconsistent" if self.inconsistent else "indeterminate"


@kernel
def sliding_margin(normal, along1, along2, mu, slip1, slip2):
    """W_nn − μ·W_nt·ŝ of a contact with these entries of W and this slip; W_nn where it does not slide."""
    speed = (slip1 * slip1 + slip2 * slip2) ** 0.5
    if speed <= SLIDES:
        return normal
    return normal - mu * (along1 * slip1 + along2 * slip2) / speed


@kernel
def may_be_paradox(normal, along1, along2, mu, gap):
    """Whether a contact with these entries of W is in paradox if it slides in the worst direction."""
    return gap <= TOUCHES and normal > 0.0 and mu * mu * (along1 * along1 + along2 * along2) >= normal * normal


@kernel
def first_paradox(W, nb, friction, gap, approach):
    """The first contact in paradox, −1 if there is none; W (m, m) dense, approach (m,) the velocities at the beginning
    of the step [m/s], both with nb bilateral rows first."""
    for c in range(gap.shape[0]):
        i = nb + 3 * c
        if may_be_paradox(W[i, i], W[i, i + 1], W[i, i + 2], friction[c], gap[c]):
            slip1, slip2 = approach[i + 1], approach[i + 2]
            if sliding_margin(W[i, i], W[i, i + 1], W[i, i + 2], friction[c], slip1, slip2) <= 0.0:
                return c
    return -1


def paradox(matrices: Matrices) -> tuple[Paradox, ...]:
    """The sliding contacts of a time step that are in paradox."""
    nb, W, mu = matrices.bilateral, matrices.delassus, matrices.friction
    if not isinstance(W, np.ndarray):
        return _collect(matrices, W.diagonal(), W.diagonal(1), W.diagonal(2))
    if first_paradox(W, nb, mu, matrices.gap, matrices.approach) < 0:
        return ()
    return _collect(matrices, W.diagonal(), W.diagonal(1), W.diagonal(2))


def _collect(matrices: Matrices, diagonal: np.ndarray, above: np.ndarray, beyond: np.ndarray) -> tuple[Paradox, ...]:
    """From W's diagonal and the two above it, which hold W_nn, W_n1 and W_n2 at every contact's normal row."""
    nb, mu = matrices.bilateral, matrices.friction
    own: Any = diagonal[nb::3], above[nb::3], beyond[nb::3]
    slip = matrices.approach[nb:].reshape(-1, 3)[:, 1:]
    speed = np.hypot(slip[:, 0], slip[:, 1])
    slides = (speed > SLIDES) & (matrices.gap <= TOUCHES) & (mu > 0.0) & (own[0] > 0.0)
    along = (own[1] * slip[:, 0] + own[2] * slip[:, 1]) / np.where(slides, speed, 1.0)
    margin = own[0] - mu * along
    pressed = (matrices.free - matrices.approach)[nb::3] < 0.0
    return tuple(
        Paradox(int(c), float(margin[c]), float(mu[c]), float(own[0][c] / along[c]), float(speed[c]), bool(pressed[c]))
        for c in np.flatnonzero(slides & (margin <= 0.0))
    )
