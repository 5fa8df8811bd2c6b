"""Event-selected systems: smooth flows between guards, projections through them, and first-order derivatives."""

from stickslip.event_selected.b_derivative import BDerivative, b_derivative
from stickslip.event_selected.corner import Corner, corner, saltation
from stickslip.event_selected.result import Crossings, DenseOutput, EssResult, Violation
from stickslip.event_selected.solve import solve_ess

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
