"""Projected Gauss–Seidel: block after block solved exactly, each with the newest values of the others.

Where no blocks are given, z_i ← mid(lower_i, z_i − ω·w_i/A_ii, upper_i) for i = 1, 2, …, with w_i = A_i·z + b_i.
With blocks, z_b ← (1 − ω)·z_b + ω·(the solution of block b's small mixed LCP), so that a contact's slip variable, whose
diagonal is zero, and its friction and normal impulses are found together (``block_lcp.py``).

Unless ``relaxation`` fixes it, ω is 1, less while the residual grows: strong friction can make blocks chase each other.
Contacts with circular cones are blocks of three, each solved exactly: Coulomb's law and the relaxed, convex problem
(``one_contact.py``), with Anderson's acceleration (``cone_sweeps.py``).

Converges for symmetric positive definite A and 0 < ω < 2 (Cottle, Pang and Stone, Sec. 5.3), linearly, and the slower
the higher a pile is. Differs from the simulator of Williams et al. in: blocks, where that divides by a zero diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stickslip.errors import number
from stickslip.solvers.base import Outcome
from stickslip.solvers.problem import ConeProblem, FrictionProblem
from stickslip.solvers.splitting.cone_splitting import refuse_functions, sweep_contacts
from stickslip.solvers.splitting.sweeps import SplittingSolver


@dataclass
class PGS(SplittingSolver):
    """Projected Gauss–Seidel, by rows or by blocks."""

    acceleration: int = 10
    """Sweeps that Anderson's acceleration remembers, of contacts with circular cones; 0: none."""

    summary: ClassVar[str] = "projected Gauss–Seidel, a block at a time; linear in the entries of a sparse matrix"
    reference: ClassVar[str] = "Cottle, Pang and Stone 1992, Sec. 5.2"
    solves: ClassVar[frozenset[str]] = frozenset({"lcp", "mlcp", "ncp", "cone"})
    in_place: ClassVar[bool] = True
    default_step: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.acceleration = int(number("acceleration", self.acceleration, "a whole number ≥ 0", least=0.0))

    def _solve(self, problem: Any, z: np.ndarray) -> Outcome:
        refuse_functions("PGS", problem)
        if isinstance(problem, FrictionProblem | ConeProblem):
            step, limit = self.relaxation or 0.0, self.limit(problem)
            return sweep_contacts(problem, z, limit, self.sweeps, self.patience, step, self.acceleration, self.history)
        return super()._solve(problem, z)
