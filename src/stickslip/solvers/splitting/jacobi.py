"""Projected damped Jacobi: all blocks are solved with the values of the previous sweep, and take a part ω of the step.

It is ``pgs.py`` without its order: blocks could be solved in parallel. Undamped, blocks that act on one body would
overshoot together; ω is at most 1/2 and less while the residual grows, unless ``relaxation`` fixes it.
Converges for symmetric positive definite A where 2/ω exceeds the largest eigenvalue of D⁻¹·A, D its blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stickslip.solvers.splitting.splitting_solver import SplittingSolver


@dataclass
class Jacobi(SplittingSolver):
    """Projected damped Jacobi, by rows or by blocks."""

    summary: ClassVar[str] = "projected damped Jacobi, all blocks at once; linear in the entries of a sparse matrix"
    reference: ClassVar[str] = "Cottle, Pang and Stone 1992, Sec. 5.2"
    bibtex: ClassVar[tuple[str, ...]] = ("cottle1992",)
    page: ClassVar[str] = "docs/solvers.md#jacobi"
    in_place: ClassVar[bool] = False
    default_step: ClassVar[float] = 0.5
