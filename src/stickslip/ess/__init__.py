"""Event-selected systems: smooth flows between guards, projections through them, and first-order derivatives."""

from stickslip.ess.b_derivative import BDerivative, b_derivative
from stickslip.ess.corner import Corner, corner, saltation
from stickslip.ess.result import Crossings, DenseOutput, EssResult, Violation
from stickslip.ess.solve import solve_ess

__all__ = [
    "BDerivative",
    "Corner",
    "Crossings",
    "DenseOutput",
    "EssResult",
    "Violation",
    "b_derivative",
    "corner",
    "saltation",
    "solve_ess",
]
