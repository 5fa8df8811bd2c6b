"""Captured contact problems: rebuilt for any formulation, solved by every solver, compared."""

from stickslip.database.compare import Comparison, Trial
from stickslip.database.fclib import FCLibComparison
from stickslip.database.mujoco_problem import MujocoProblem, mujoco_problem
from stickslip.database.rebuild import matrices

__all__ = ["Comparison", "FCLibComparison", "MujocoProblem", "Trial", "matrices", "mujoco_problem"]
