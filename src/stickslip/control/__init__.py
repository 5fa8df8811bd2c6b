"""Controllers: callables ``controller(t, q, v) -> u`` that a simulation calls at its control rate."""

from stickslip.control import references
from stickslip.control.force_task import ContactForce
from stickslip.control.inverse_dynamics import InverseDynamics, Solution
from stickslip.control.linear_feedback import LinearFeedback, Reference
from stickslip.control.pd import PD
from stickslip.control.several import Sum
from stickslip.control.tasks import CenterOfMass, FrameOrientation, FramePosition, Posture, Task

__all__ = [
    "PD", "CenterOfMass", "ContactForce", "FrameOrientation", "FramePosition", "InverseDynamics", "LinearFeedback",
    "Posture", "Reference", "Solution", "Sum", "Task", "references",
]  # fmt: skip
