"""What is wrong with a model, before simulating it."""

from stickslip.model.doctor.examine import Report, examine
from stickslip.model.doctor.finding import Finding

__all__ = ["Finding", "Report", "examine"]
