"""Solvers in turn: where one does not converge, the next takes over. A combination has a name of its own, "A+B".

``result.found_by`` says which part found the answer, and ``iterations`` is the sum over the parts that ran.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.core import Core
from stickslip.solvers.interior_point.interior_point import InteriorPoint
from stickslip.solvers.newton.fischer_newton import FischerNewton
from stickslip.solvers.problem import Problem


@dataclass
class Combination(Solver):
    """Runs ``parts`` in turn until one converges, each from the best point that was found before it.

    The parts have the combination's tolerance and their own defaults otherwise. ``max_iterations``, if it is given, is
    the limit on the sum of their iterations. If no part converges, the best point is returned with its part's status.
    """

    parts: ClassVar[dict[str, type[Solver]]]
    """Solvers by name, the first one first; the combination's other declarations follow from it."""
    page: ClassVar[str] = "docs/solvers.md#combinations"

    def __init_subclass__(cls) -> None:
        kinds = cls.parts.values()
        cls.summary = "; where it does not converge, ".join(cls.parts)
        cls.reference = "; ".join(kind.reference for kind in kinds)
        cls.bibtex = tuple(key for kind in kinds for key in kind.bibtex)
        cls.solves = frozenset.intersection(*(kind.solves for kind in kinds))
        cls.splitting = any(kind.splitting for kind in kinds)

    def check(self, problem: Problem) -> None:
        for kind in self.parts.values():
            kind().check(problem)

    def cores(self, kind: str) -> tuple[Core, ...]:
        """The cores of the parts; none if a part has none."""
        solvers = [part(tolerance=self.tolerance, max_iterations=self.max_iterations) for part in self.parts.values()]
        cores = [solver.compiled_core(kind) for solver in solvers]
        return () if None in cores or len(cores) > 2 else tuple(core for core in cores if core is not None)

    def _solve(self, problem: Any, z: np.ndarray) -> Outcome:
        best, status, found_by, least = z, Status.NOT_A_NUMBER, "", np.inf
        history, iterations, left = np.empty(0), 0, self.max_iterations
        for name, kind in self.parts.items():
            solver = kind(tolerance=self.tolerance, max_iterations=left, history=self.history)
            result = solver.solve(problem, best)
            if result.residual < least:
                best, status, found_by, least = result.z, result.status, name, result.residual
            history = np.concatenate([history, result.history[1:] if len(history) else result.history])
            iterations += result.iterations
            left = None if left is None else left - result.iterations
            if result.success or (left is not None and left <= 0):
                break
        return Outcome(best, status, iterations, history, found_by)


@dataclass
class InteriorPointThenFischerNewton(Combination):
    """For contacts by Coulomb's law on which all paths of the interior-point method end."""

    parts: ClassVar[dict[str, type[Solver]]] = {"interior-point": InteriorPoint, "fischer-newton": FischerNewton}


@dataclass
class FischerNewtonThenInteriorPoint(Combination):
    """For problems that Fischer–Newton solves fast as a rule, but not always, as where masses differ by millions."""

    parts: ClassVar[dict[str, type[Solver]]] = {"fischer-newton": FischerNewton, "interior-point": InteriorPoint}
