"""Complementarity solvers, one file per algorithm, and the residuals that judge them all alike."""

from stickslip.solvers.base import Solver, SolverResult, Status
from stickslip.solvers.problem import FrictionProblem, LinearProblem, NonlinearProblem, Problem
from stickslip.solvers.registry import SOLVERS, make_solver, solve

__all__ = [
    "SOLVERS",
    "FrictionProblem",
    "LinearProblem",
    "NonlinearProblem",
    "Problem",
    "Solver",
    "SolverResult",
    "Status",
    "make_solver",
    "solve",
]
