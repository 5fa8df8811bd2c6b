"""Stewart–Trinkle: every contact within the margin must not be penetrated at the end of the step.

    0 ≤ p_n ⟂ ψ_n/dt + G_n·v⁺ ≥ 0,    friction as in ``polygonal_cone``,    M·v⁺ = M·v + p_ext + Gᵀ·p

A contact that is still ψ_n > 0 apart may be approached with at most ψ_n/dt: impacts are found before they happen, and
take a whole step. A penetration ψ_n < 0 is undone within one step, and the speed −ψ_n/dt that this takes remains; a
deep one takes longer, at the speed of ``recovery``. The plane of a constraint has no end: a body near a corner of
another one is held where there is nothing (PEG removes these false contacts). The problem is LCP (7), mixed LCP (6)
without its third row, or an NCP. The LCP has nc·(2 + n_d) unknowns.
Reference: Stewart, Trinkle, IJNME 39, 1996; Williams et al., Sec. 3.2.
Differs from the paper in: joint rows, joint limits and restitution (see ``formulation``); ``recovery``; ∂ψ/∂t is zero,
because moving obstacles are links here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.formulations.formulation import Formulation
from stickslip.methods.rigid.formulations.polygonal_cone import Layout


@dataclass
class StewartTrinkle(Formulation):
    """Time stepping in which gaps at the end of the step are not negative."""

    summary: ClassVar[str] = "time stepping: gaps at the end of the step are not negative"
    reference: ClassVar[str] = "Stewart, Trinkle, IJNME 39, 1996; Williams et al., eqs. (6) and (7)"

    def plan(self, matrices: Matrices) -> Layout:
        return self.polygonal(matrices)

    def demanded(self, matrices: Matrices) -> np.ndarray:
        return matrices.gap / matrices.dt

    def normal_offset(self, matrices: Matrices) -> np.ndarray:
        return self.bounced(matrices, self.recovered(matrices)[0])
