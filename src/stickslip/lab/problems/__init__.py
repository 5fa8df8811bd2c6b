"""Captured contact problems: rebuilt for any formulation, solved by every solver, compared."""

from typing import Any

from stickslip.errors import deprecated
from stickslip.lab.problems.fclib import FCLibComparison
from stickslip.lab.problems.mujoco_problem import MujocoProblem, mujoco_problem
from stickslip.lab.problems.rebuild import matrices
from stickslip.lab.problems.solver_comparison import SolverComparison, Trial

__all__ = ["FCLibComparison", "MujocoProblem", "SolverComparison", "Trial", "matrices", "mujoco_problem"]


def __getattr__(name: str) -> Any:
    if name != "Comparison":
        raise AttributeError(f"module 'stickslip.lab.problems' has no attribute {name!r}")
    deprecated("ss.database.Comparison", "ss.lab.problems.SolverComparison")
    return SolverComparison
