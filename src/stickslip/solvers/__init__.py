"""Complementarity solvers, one file per algorithm, and the residuals that judge them all alike."""

from stickslip.solvers import generate, generate_cones
from stickslip.solvers.base import Solver, SolverResult, Status
from stickslip.solvers.problem import ConeProblem, FrictionProblem, LinearProblem, NonlinearProblem, Problem
from stickslip.solvers.registry import SOLVERS, make_solver, solve
from stickslip.solvers.residuals import Residuals, judge

__all__ = [
    "SOLVERS",
    "ConeProblem",
    "FrictionProblem",
    "LinearProblem",
    "NonlinearProblem",
    "Problem",
    "Residuals",
    "Solver",
    "SolverResult",
    "Status",
    "generate",
    "generate_cones",
    "judge",
    "make_solver",
    "solve",
]
