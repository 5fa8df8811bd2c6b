"""Captured contact problems: rebuilt for any formulation, solved by every solver, compared."""

from stickslip.lab.problems.compare import Comparison, Trial
from stickslip.lab.problems.fclib import FCLibComparison
from stickslip.lab.problems.mujoco_problem import MujocoProblem, mujoco_problem
from stickslip.lab.problems.rebuild import matrices

__all__ = ["Comparison", "FCLibComparison", "MujocoProblem", "Trial", "matrices", "mujoco_problem"]
