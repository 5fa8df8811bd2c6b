"""Projected Gauss–Seidel: blocks are solved exactly one after another, with the newest values of the others.

Where no blocks are given, z_i ← mid(lower_i, z_i − ω·w_i/A_ii, upper_i) for i = 1, 2, …, with w_i = A_i·z + b_i.
With blocks, z_b ← (1 − ω)·z_b + ω·(the solution of block b's small mixed LCP), so that a contact's slip variable, whose
diagonal is zero, and its friction and normal impulses are found together (``block_lcp.py``).

Unless ``relaxation`` fixes it, ω is 1, and less while the residual grows, because strong friction can make blocks
oscillate. Contacts with circular cones are blocks of three rows, each solved exactly by Coulomb's law or in the
relaxed, convex problem (``one_contact.py``); Anderson's acceleration combines the sweeps (``cone_sweeps.py``).

Converges for symmetric positive definite A and 0 < ω < 2 (Cottle, Pang and Stone, Sec. 5.3), linearly, and the slower
the higher a pile is. Differs from the simulator of Williams et al. in: blocks, where that divides by a zero diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from stickslip.errors import number
from stickslip.solvers.base import Outcome
from stickslip.solvers.core import Core
from stickslip.solvers.elimination import without_bilateral
from stickslip.solvers.problem import ConeProblem, FrictionProblem
from stickslip.solvers.splitting.cone_sweeps import BEST, contacts_of, iterate, memory
from stickslip.solvers.splitting.splitting_solver import SplittingSolver, ended
from stickslip.solvers.splitting.sweep_cores import pgs_contacts, pgs_room
from stickslip.solvers.splitting.sweeps import rows_of


@dataclass
class PGS(SplittingSolver):
    """Projected Gauss–Seidel, by rows or by blocks."""

    acceleration: int = 10
    """Number of sweeps that Anderson's acceleration combines on circular cones; 0: no acceleration."""
    brief: bool = False
    """Whether sweeps over circular cones end as soon as their rate shows that they will not reach the tolerance; far
    from it they look at their rate after 1600 sweeps and at each doubling, by Coulomb's law alone."""

    summary: ClassVar[str] = "projected Gauss–Seidel, a block at a time; linear in the entries of a sparse matrix"
    reference: ClassVar[str] = "Cottle, Pang and Stone 1992, Sec. 5.2"
    bibtex: ClassVar[tuple[str, ...]] = ("cottle1992",)
    page: ClassVar[str] = "docs/solvers.md#pgs"
    solves: ClassVar[frozenset[str]] = frozenset({"lcp", "mlcp", "ncp", "cone"})
    functions: ClassVar[bool] = False
    in_place: ClassVar[bool] = True
    default_step: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.acceleration = int(number("acceleration", self.acceleration, "a whole number ≥ 0", least=0.0))

    def core(self, kind: str) -> Core | None:
        if kind == "lcp":
            return super().core(kind)
        own = (self.relaxation or 0.0, self.patience, self.acceleration, float(self.brief))
        return Core(pgs_contacts, kind, self.sweeps, own, partial(pgs_room, self.acceleration), sparse=True)

    def _solve(self, problem: Any, z: np.ndarray) -> Outcome:
        if isinstance(problem, FrictionProblem | ConeProblem):
            return self._sweep_contacts(problem, z)
        return super()._solve(problem, z)

    def _sweep_contacts(self, problem: FrictionProblem | ConeProblem, p: np.ndarray) -> Outcome:
        """Sweep over contacts with circular cones after bilateral rows have been eliminated."""
        alone, joints = without_bilateral(problem)
        impulses, u = p[problem.bilateral :].copy(), np.empty(alone.n)
        curve, kept = np.zeros(self.sweeps + 1 if self.history else 0), memory(alone.n, self.acceleration)
        code, done = iterate(
            rows_of(alone.W), contacts_of(alone), kept, impulses, u, curve, self.limit(problem), self.sweeps,
            self.patience, self.relaxation or 0.0, isinstance(alone, FrictionProblem), self.brief,
        )  # fmt: skip
        found = kept.last[BEST]
        z = found if joints is None else np.concatenate([joints.joints(found), found])
        return Outcome(z, ended(code, done, self.sweeps), int(done), curve[: done + 1])
