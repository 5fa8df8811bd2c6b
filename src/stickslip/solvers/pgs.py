"""Projected Gauss–Seidel: block after block solved exactly, each with the newest values of the others.

Where no blocks are given, z_i ← mid(lower_i, z_i − ω·w_i/A_ii, upper_i) for i = 1, 2, …, with w_i = A_i·z + b_i.
With blocks, z_b ← (1 − ω)·z_b + ω·(the solution of block b's small mixed LCP), so that a contact's slip variable, whose
diagonal is zero, and its friction and normal impulses are found together (``block_lcp.py``).

Unless ``relaxation`` fixes it, ω is 1, less while the residual grows: strong friction can make blocks chase each other.
Converges for symmetric positive definite A and 0 < ω < 2 (Cottle, Pang and Stone, Sec. 5.3), linearly, and the slower
the higher a pile is. Differs from the simulator of Williams et al. in: blocks, where that divides by a zero diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stickslip.solvers.splitting import SplittingSolver


@dataclass
class PGS(SplittingSolver):
    """Projected Gauss–Seidel, by rows or by blocks."""

    summary: ClassVar[str] = "projected Gauss–Seidel, a block at a time; linear in the entries of a sparse matrix"
    reference: ClassVar[str] = "Cottle, Pang and Stone 1992, Sec. 5.2"
    in_place: ClassVar[bool] = True
    default_step: ClassVar[float] = 1.0
