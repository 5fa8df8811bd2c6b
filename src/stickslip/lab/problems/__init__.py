"""Captured contact problems: rebuilt for any formulation, solved by every solver, compared."""

from stickslip.lab.problems.fclib import FCLibComparison
from stickslip.lab.problems.mujoco_problem import MujocoProblem, mujoco_problem
from stickslip.lab.problems.rebuild import matrices
from stickslip.lab.problems.solver_comparison import SolverComparison, Trial

Comparison = SolverComparison
"""Former name."""

__all__ = ["FCLibComparison", "MujocoProblem", "SolverComparison", "Trial", "matrices", "mujoco_problem"]
