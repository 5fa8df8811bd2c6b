"""What a method shows of the complementarity problems that its steps solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np

from stickslip.methods.base import Method
from stickslip.model.model import Model
from stickslip.solvers.base import SolverResult
from stickslip.solvers.problem import FrictionProblem, Problem


class ComplementaritySteps(Protocol):
    """The members of a method with ``solves_problems = True``, for the step at hand; ``TimeStepping`` has them."""

    model: Model
    dt: float
    """[s]."""
    step: int
    """Number of the step at hand, from 0."""
    problem: Any
    """The problem (``solvers.Problem``); a Python formulate function may assign its own."""
    velocity_of: Callable[[np.ndarray], np.ndarray] | None
    """From a solution z to the new velocities, where z has unknowns of a Python formulate function."""
    coordinates: Any
    """``methods.rigid.coordinates.Coordinates``."""

    @property
    def matrices(self) -> Any:
        """``methods.rigid.assembly.Matrices``."""

    @property
    def result(self) -> SolverResult | None:
        """How the last step's problem was solved."""

    @property
    def title(self) -> str:
        """Method, solver and form."""

    def accept(self, z: np.ndarray) -> None:
        """Take z for the solution of ``problem``."""

    def impulses(self, z: np.ndarray) -> np.ndarray:
        """Impulses of all rows of ``matrices`` from a solution of ``problem`` [N s, N m s]."""

    def friction_problem(self) -> tuple[FrictionProblem, np.ndarray]:
        """The step with Coulomb's exact cone, whatever is solved, and which rows of ``matrices`` it has."""

    def residual_limit(self) -> float:
        """The natural residual below which ``problem`` counts as solved."""

    def report_unsolved(self, function: Callable[[Problem, SolverResult], str]) -> None:
        """Have ``function`` called with every problem that is not solved; it returns a sentence for the error."""


def complementarity_of(method: Method) -> ComplementaritySteps | None:
    """The method with the members above; None if its steps solve no complementarity problem."""
    return cast(ComplementaritySteps, method) if method.solves_problems else None
