"""Motions for the bundled robots. Each is a function of a model that returns a controller; the trot and the jump also
return the initial state."""

from stickslip.control.references.jump import jump
from stickslip.control.references.squat import squat
from stickslip.control.references.trot import tracked_trot, trot
from stickslip.control.references.turn import HopperTurn
from stickslip.control.references.walk import WalkPlan, walk

__all__ = ["HopperTurn", "WalkPlan", "jump", "squat", "tracked_trot", "trot", "walk"]
