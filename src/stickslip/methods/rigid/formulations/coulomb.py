"""Coulomb's exact law: Signorini's condition, the circular cone and maximal dissipation, at the level of velocities.

    0 ≤ p_n ⟂ u_n ≥ 0,    |p_t| ≤ μ·p_n,    p_t dissipates the most,    u = W·p + b

De Saxcé's form is K ∋ p ⟂ u + (μ·|u_t|, 0, 0) ∈ K*, which is not convex, because the shift depends on u.
The normal rows of b have the offset ψ_n/dt where bodies are apart, so that the gap may be used up in the step, and
``feedback``·ψ_n/dt where they overlap, so that a part of the overlap is undone (at most as fast as ``recovery`` says).
Restitution is that of ``formulation``.
Reference: Carpentier, "Contact Dynamics in Robotics"; De Saxcé, Feng, Math. Comput. Modelling 28, 1998.
Differs from the lecture in: velocities and impulses instead of accelerations and forces, so that impacts are included.
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


@kernel
def coulomb_offset(gap, dt, feedback):
    """What is added to one contact's normal velocity [m/s], before restitution."""
    return (feedback if gap < 0.0 else 1.0) * gap / dt


@kernel
def coulomb_offsets(gap, dt, feedback, out):
    """``coulomb_offset`` for all contacts."""
    for c in range(gap.shape[0]):
        out[c] = coulomb_offset(gap[c], dt, feedback)


@dataclass
class Coulomb(Formulation):
    """Rigid contacts with Coulomb's exact cone."""

    form: str = "ncp"
    feedback: float = option(0.2, "the part of an overlap that is undone in a step, 0 … 1")

    summary: ClassVar[str] = "rigid contacts by Coulomb's exact cone: Signorini, maximal dissipation"
    reference: ClassVar[str] = "Carpentier, Contact Dynamics in Robotics; De Saxcé, Feng 1998"
    forms: ClassVar[tuple[str, ...]] = ("ncp",)
    usual_solver: ClassVar[str] = "pgs"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.feedback = number("feedback", self.feedback, "a number from 0 to 1", least=0.0, most=1.0)

    def plan(self, matrices: Matrices) -> Layout:
        return self.polygonal(matrices)

    def demanded(self, matrices: Matrices) -> np.ndarray:
        offset = np.empty(matrices.contacts)
        coulomb_offsets(matrices.gap, matrices.dt, self.feedback, offset)
        return offset

    def normal_offset(self, matrices: Matrices) -> np.ndarray:
        return self.bounced(matrices, self.recovered(matrices)[0])
