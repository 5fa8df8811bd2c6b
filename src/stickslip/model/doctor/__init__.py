"""The model doctor: finds faults of a model before it is simulated."""

from stickslip.model.doctor.examine import Report, examine
from stickslip.model.doctor.finding import Finding

__all__ = ["Finding", "Report", "examine"]
