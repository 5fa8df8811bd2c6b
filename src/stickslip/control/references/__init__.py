"""Motions for the bundled robots: each is a function of a model that returns a controller."""

from stickslip.control.references.squat import squat
from stickslip.control.references.walk import WalkPlan, walk

__all__ = ["WalkPlan", "squat", "walk"]
