"""What a method shows of the complementarity problems that its steps solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np

from stickslip.methods.base import Method
from stickslip.model.model import Model
from stickslip.solvers.base import SolverResult
from stickslip.solvers.problem import FrictionProblem, Problem


class UnsolvedReport(Protocol):
    """Who is told of problems that were not solved."""

    @property
    def full(self) -> bool:
        """Whether further problems are not kept: then ``count_more`` is enough."""

    def fits(self, unknowns: int) -> bool:
        """Whether a problem of this size would be kept; if not, ``count_more`` is enough."""

    def keep(self, problem: Problem, result: SolverResult) -> str:
        """Keep the problem of the step at hand, with the best answer; returns a sentence that says where it is."""

    def count_more(self, steps: int) -> None:
        """Count steps whose problems are not kept."""


class ComplementaritySteps(Protocol):
    """The members of a method with ``solves_problems = True``; ``methods.rigid.TimeStepping`` says what they are."""

    model: Model
    dt: float
    step: int
    problem: Any
    velocity_of: Callable[[np.ndarray], np.ndarray] | None
    coordinates: Any

    @property
    def matrices(self) -> Any: ...
    @property
    def result(self) -> SolverResult | None: ...
    @property
    def title(self) -> str: ...
    def accept(self, z: np.ndarray) -> None: ...
    def impulses(self, z: np.ndarray) -> np.ndarray: ...
    def friction_problem(self) -> tuple[FrictionProblem, np.ndarray]: ...
    def residual_limit(self) -> float: ...
    def report_unsolved(self, report: UnsolvedReport) -> None: ...


def complementarity_of(method: Method) -> ComplementaritySteps | None:
    """The method with these members, or None if its steps solve no complementarity problem."""
    return cast(ComplementaritySteps, method) if method.solves_problems else None
