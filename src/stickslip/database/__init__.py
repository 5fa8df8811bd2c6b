"""Captured contact problems: rebuilt for any formulation, solved by every solver, compared."""

from stickslip.database.compare import Comparison, Trial
from stickslip.database.rebuild import matrices

__all__ = ["Comparison", "Trial", "matrices"]
