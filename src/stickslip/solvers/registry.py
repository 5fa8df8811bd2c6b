"""Every solver by name; a new one is one line here."""

from __future__ import annotations

import numpy as np

from stickslip.errors import unknown
from stickslip.solvers.admm import ADMM
from stickslip.solvers.base import Solver, SolverResult
from stickslip.solvers.fischer_newton import FischerNewton
from stickslip.solvers.fixed_point import FixedPoint
from stickslip.solvers.interior_point import InteriorPoint
from stickslip.solvers.jacobi import Jacobi
from stickslip.solvers.lemke import Lemke
from stickslip.solvers.minmap_newton import MinmapNewton
from stickslip.solvers.path import PathSolver
from stickslip.solvers.pgs import PGS
from stickslip.solvers.pivot import Pivot
from stickslip.solvers.primal_cg import PrimalCG
from stickslip.solvers.primal_newton import PrimalNewton
from stickslip.solvers.problem import Problem

SOLVERS: dict[str, type[Solver]] = {
    "lemke": Lemke,
    "pivot": Pivot,
    "pgs": PGS,
    "jacobi": Jacobi,
    "fixed-point": FixedPoint,
    "path": PathSolver,
    "fischer-newton": FischerNewton,
    "minmap-newton": MinmapNewton,
    "interior-point": InteriorPoint,
    "newton": PrimalNewton,
    "cg": PrimalCG,
    "admm": ADMM,
}


def make_solver(name: str, **options) -> Solver:
    """A solver by name with its options."""
    if name not in SOLVERS:
        raise unknown("solver", name, SOLVERS)
    for option in options:
        if option not in SOLVERS[name].options():
            raise unknown(f"option of {name}", option, SOLVERS[name].options())
    return SOLVERS[name](**options)


def solve(problem: Problem, solver: str = "lemke", z0: np.ndarray | None = None, **options) -> SolverResult:
    """``solve(LinearProblem(A, b), "lemke")`` → SolverResult with z, status, residual, iterations, history."""
    return make_solver(solver, **options).solve(problem, z0)
