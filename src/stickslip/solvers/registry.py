"""Every solver by name; a new one is one line here."""

from __future__ import annotations

import numpy as np

from stickslip.errors import unknown
from stickslip.solvers.admm.admm import ADMM
from stickslip.solvers.base import Solver, SolverResult
from stickslip.solvers.external.path import PathSolver
from stickslip.solvers.interior_point.interior_point import InteriorPoint
from stickslip.solvers.newton.fischer_newton import FischerNewton
from stickslip.solvers.newton.minmap_newton import MinmapNewton
from stickslip.solvers.newton.primal_cg import PrimalCG
from stickslip.solvers.newton.primal_newton import PrimalNewton
from stickslip.solvers.pivoting.lemke import Lemke
from stickslip.solvers.pivoting.pivot import Pivot
from stickslip.solvers.problem import Problem
from stickslip.solvers.splitting.fixed_point import FixedPoint
from stickslip.solvers.splitting.jacobi import Jacobi
from stickslip.solvers.splitting.pgs import PGS

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
