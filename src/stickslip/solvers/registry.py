"""Every solver by name. A new one is a file and one line here."""

from __future__ import annotations

import numpy as np

from stickslip.errors import InputError, one_of
from stickslip.solvers.admm.admm import ADMM
from stickslip.solvers.base import Solver, SolverResult
from stickslip.solvers.combination import FischerNewtonThenInteriorPoint, InteriorPointThenFischerNewton
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
    # Pivoting
    "lemke": Lemke,
    "pivot": Pivot,
    # Splitting
    "pgs": PGS,
    "jacobi": Jacobi,
    "fixed-point": FixedPoint,
    # An external program
    "path": PathSolver,
    # Newton's method on complementarity functions
    "fischer-newton": FischerNewton,
    "minmap-newton": MinmapNewton,
    # Interior point
    "interior-point": InteriorPoint,
    # Newton's method and conjugate gradients on the primal cost of the relaxed problem
    "newton": PrimalNewton,
    "cg": PrimalCG,
    # Alternating directions
    "admm": ADMM,
    # Combinations: the second takes over where the first does not converge
    "interior-point+fischer-newton": InteriorPointThenFischerNewton,
    "fischer-newton+interior-point": FischerNewtonThenInteriorPoint,
}


def make_solver(name: str, **options) -> Solver:
    """A solver by name with its options."""
    one_of("solver", name, SOLVERS)
    kind = SOLVERS[name]
    for option in options:
        if option in kind.former_options:
            raise InputError(f"{name} no longer has the option {option!r}: {kind.former_options[option]}")
        one_of(f"option of {name}", option, kind.options())
    return kind(**options)


def solve(problem: Problem, solver: str = "lemke", z0: np.ndarray | None = None, **options) -> SolverResult:
    """``solve(LinearProblem(A, b), "lemke")`` → SolverResult with z, status, residual, iterations, history."""
    return make_solver(solver, **options).solve(problem, z0)
