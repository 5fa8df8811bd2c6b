"""Painlevé's paradox: sliding contacts that a growing normal force presses even harder.

A contact that slides in direction ŝ has p_t = −μ·p_n·ŝ, and a normal impulse changes its own normal velocity by

    margin = W_nn − μ·W_nt·ŝ   [1/kg].

The paradox is margin ≤ 0. If the free motion presses the contact together, no finite force keeps it sliding
(*inconsistent*); otherwise a contact that lets go and one that jams are both solutions (*indeterminate*). Velocities
and impulses still have an answer: an impact without collision, in which the contact stops sliding within a step.

A uniform rod at an angle θ to the ground has margin = (1 + 3·cos²θ − 3·μ·sinθ·cosθ)/m if its lower end slides away
from its centre of mass. It is ≤ 0 from μ = (tanθ + 4/tanθ)/3 on, which is at least 4/3, at tanθ = 2.
Each contact is looked at alone, with its own 3×3 block of W. Joints count where they are eliminated (joint
coordinates); other contacts and bilateral rows do not.
Reference: Génot, Brogliato, "New results on Painlevé paradoxes", Eur. J. Mech. A/Solids 18, 1999.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.methods.rigid.assembly.matrices import Matrices

SLIDES = 1e-6
"""Least speed that has a direction [m/s]."""
TOUCHES = 1e-6
"""Largest gap of a contact that may slide [m]."""


class Paradox(NamedTuple):
    """A sliding contact in paradox."""

    contact: int
    """Its number among the step's contacts."""
    margin: float
    """≤ 0 [1/kg]."""
    friction: float
    """μ."""
    critical: float
    """The least μ for which this contact, sliding in this direction, is in paradox."""
    speed: float
    """Sliding speed [m/s]."""
    inconsistent: bool
    """Whether the free motion presses the contact together; otherwise it is indeterminate."""

    @property
    def kind(self) -> str:
        return "inconsistent" if self.inconsistent else "indeterminate"


@kernel
def along_slip(along1, along2, slip1, slip2):
    """W_nt·ŝ of a contact with W_nt = (along1, along2) and this slip [m/s]; zero where it does not slide."""
    speed = (slip1 * slip1 + slip2 * slip2) ** 0.5
    return (along1 * slip1 + along2 * slip2) / speed if speed > SLIDES else 0.0


@kernel
def sliding_margin(normal, along1, along2, mu, slip1, slip2):
    """W_nn − μ·W_nt·ŝ of a contact with these entries of W and this slip; W_nn where it does not slide."""
    return normal - mu * along_slip(along1, along2, slip1, slip2)


@kernel
def may_be_paradox(normal, along1, along2, mu, gap):
    """Whether a contact with these entries of W would be in paradox if it slid in the worst direction."""
    return gap <= TOUCHES and normal > 0.0 and mu * mu * (along1 * along1 + along2 * along2) >= normal * normal


@kernel
def margins(own, friction, gap, approach, nb, out):
    """Margins of all contacts, infinite if no direction is in paradox; ``own`` (nc, 3) has W_nn, W_n1 and W_n2."""
    for c in range(gap.shape[0]):
        normal, along1, along2, mu, i = own[c, 0], own[c, 1], own[c, 2], friction[c], nb + 3 * c
        out[c] = np.inf
        if may_be_paradox(normal, along1, along2, mu, gap[c]):
            out[c] = sliding_margin(normal, along1, along2, mu, approach[i + 1], approach[i + 2])


def paradox(matrices: Matrices) -> tuple[Paradox, ...]:
    """The sliding contacts of a time step that are in paradox."""
    nb, W, nc = matrices.bilateral, matrices.delassus, matrices.contacts
    own, margin = np.empty((nc, 3)), np.empty(nc)
    for k in range(3):  # W_nn, W_n1 and W_n2 lie on W's diagonal and the two above it
        own[:, k] = W.diagonal(k)[nb::3]
    margins(own, matrices.friction, matrices.gap, matrices.approach, nb, margin)
    return tuple(_describe(matrices, int(c), float(margin[c]), *own[c]) for c in np.flatnonzero(margin <= 0.0))


def _describe(matrices: Matrices, c: int, margin: float, normal: float, along1: float, along2: float) -> Paradox:
    i, mu = matrices.bilateral + 3 * c, float(matrices.friction[c])
    slip = matrices.approach[i + 1 : i + 3]
    critical, pressed = float(normal / along_slip(along1, along2, *slip)), matrices.free[i] < matrices.approach[i]
    return Paradox(c, margin, mu, critical, float(np.hypot(*slip)), bool(pressed))
