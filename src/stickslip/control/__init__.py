"""Controllers: callables ``controller(t, q, v) -> u`` that a simulation asks at its control rate."""

from stickslip.control.linear_feedback import LinearFeedback, Reference
from stickslip.control.pd import PD
from stickslip.control.references.jump import jump
from stickslip.control.references.trot import trot

__all__ = ["PD", "LinearFeedback", "Reference", "jump", "trot"]
