"""Interior point: primal-dual path following for LCP, mixed LCP, and contacts with circular cones.

The iteration depends on the problem: ``linear_interior_point`` has bounds, ``cone_interior_point`` second-order cones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stickslip.errors import expected, number
from stickslip.solvers.base import Outcome, Solver
from stickslip.solvers.core import Core
from stickslip.solvers.interior_point.cone_core import cone_interior_point
from stickslip.solvers.interior_point.cone_interior_point import MAX_ITERATIONS, ConePaths
from stickslip.solvers.interior_point.cone_scratch import cone_room
from stickslip.solvers.interior_point.linear_core import linear_interior_point, linear_room
from stickslip.solvers.interior_point.linear_interior_point import MAX_ITERATIONS as LINEAR
from stickslip.solvers.interior_point.linear_interior_point import LinearPath
from stickslip.solvers.newton.linear_systems import check_subsolver
from stickslip.solvers.problem import ConeProblem, FrictionProblem, LinearProblem


@dataclass
class InteriorPoint(Solver):
    subsolver: str = "auto"
    """"direct" (LU, dense or sparse), "gmres" or "bicgstab" (only products by A), or "auto". Circular cones need one of
    "auto" and "direct"."""
    to_boundary: float = 0.995
    """Share of the way to the nearest bound that a step may go, between 0 and 1."""

    summary: ClassVar[str] = "primal-dual path following, for monotone problems and circular cones, Coulomb's too"
    reference: ClassVar[str] = "Mehrotra 1992; Wright 1997"
    bibtex: ClassVar[tuple[str, ...]] = ("mehrotra1992", "wright1997")
    page: ClassVar[str] = "docs/solvers.md#interior-point"
    solves: ClassVar[frozenset[str]] = frozenset({"lcp", "mlcp", "ncp", "cone"})
    functions: ClassVar[bool] = False
    former_options: ClassVar[dict[str, str]] = {
        "rescue": "choose the solver 'interior-point+fischer-newton' for rescue=True; without it, leave the option out"
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_subsolver(self.subsolver)
        self.to_boundary = number("to_boundary", self.to_boundary, "a number between 0 and 1", above=0.0, below=1.0)

    def core(self, kind: str) -> Core | None:
        if self.subsolver not in ("auto", "direct"):
            return None
        if kind == "lcp":
            return self._linear_core()
        most = self.max_iterations or MAX_ITERATIONS
        return Core(cone_interior_point, "cones", most, (self.to_boundary, self.tolerance), cone_room)

    def _linear_core(self) -> Core:
        return Core(linear_interior_point, "lcp", self.max_iterations or LINEAR, (self.to_boundary,), linear_room)

    def _solve(self, problem: LinearProblem | FrictionProblem | ConeProblem, z: np.ndarray) -> Outcome:
        if isinstance(problem, LinearProblem):
            return LinearPath(self, problem, self.subsolver, self._linear_core()).follow(z)
        if self.subsolver not in ("auto", "direct"):
            raise expected("subsolver", "'auto' or 'direct' with circular cones", self.subsolver)
        return ConePaths(self, problem, self.to_boundary).follow(z)
