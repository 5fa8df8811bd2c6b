"""Former place of ``lab.problems.solver_comparison``."""

from stickslip.lab.problems.solver_comparison import SolverComparison as Comparison  # noqa: F401
