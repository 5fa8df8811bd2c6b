"""Anitescu–Potra: contacts that touch must not approach.

    0 ≤ p_n ⟂ G_n·v⁺ ≥ 0 for contacts that touch,    friction as in ``polygonal_cone``

The right-hand side has no gaps. A contact that counts as touching stops all approach: bodies rest at the gap or depth
at which they were first noticed, and are never pushed out. With a number for ``touch``, contacts with ψ_n ≤ touch
count. If it is large, bodies stop early, in the air; if it is small, they are first seen when they are as deep as their
speed times dt, and may then be held from the wrong side. This dependence is the method's known weakness. By default,
contacts count that overlap or that the motion without impulses would meet within the step, ψ_n + dt·G_n·v_free ≤ 0:
bodies stop within the distance of one step, and then settle. The problem always has a solution, which creates no
energy. Forms and sizes are those of Stewart–Trinkle for the touching contacts.
Reference: Anitescu, Potra, Nonlinear Dynamics 14, 1997; Williams et al., Sec. 3.3.
Differs from the paper in: the rule for which contacts count, which the paper leaves open; joint limits, which count
alike; joint rows and restitution (see ``formulation``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stickslip._jit import kernel
from stickslip.errors import number
from stickslip.methods.options import option
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.formulations.formulation import Formulation
from stickslip.methods.rigid.formulations.polygonal_cone import Layout

SLACK = 1e-9
"""Allowance for the round-off of resting contacts [m]."""


@kernel
def touches(gap, free, dt, touch):
    """Whether a contact counts; ``free`` is its normal velocity without impulses, ``touch`` is NaN by default."""
    if touch == touch:
        return gap <= touch
    return gap + dt * min(0.0, free) <= SLACK


@kernel
def choose_touching(gap, free, dt, touch, chosen):
    """Write the contacts that count; returns how many."""
    n = 0
    for c in range(gap.shape[0]):
        if touches(gap[c], free[c], dt, touch):
            chosen[n] = c
            n += 1
    return n


@dataclass
class AnitescuPotra(Formulation):
    """Time stepping in which touching contacts do not approach."""

    touch: float | None = option(
        None, "gap [m] up to which contacts count as touching (default: those that would be met within the step)"
    )

    summary: ClassVar[str] = "time stepping: touching contacts do not approach"
    reference: ClassVar[str] = "Anitescu, Potra, Nonlinear Dynamics 14, 1997; Williams et al., Sec. 3.3"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.touch is not None:
            self.touch = number("touch", self.touch, "a gap [m], or None")

    def plan(self, matrices: Matrices) -> Layout:
        touching = np.empty(matrices.contacts, dtype=np.int64)
        free, touch = matrices.free[matrices.bilateral :: 3], np.nan if self.touch is None else self.touch
        nd = len(matrices.dry)
        n = choose_touching(matrices.gap[: matrices.contacts - nd], free, matrices.dt, touch, touching)
        touching[n : n + nd] = np.arange(matrices.contacts - nd, matrices.contacts)
        n += nd
        nothing = np.zeros(0, dtype=np.int64)
        return self.polygonal(matrices, touching[:n], nothing, np.zeros(n + 1, dtype=np.int64))

    def normal_offset(self, matrices: Matrices) -> np.ndarray:
        return self.bounced(matrices, np.zeros(matrices.contacts))
