"""The feet of the bundled robots, and the error for a model that does not have them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from stickslip.errors import InputError, expected, unknown
from stickslip.model.model import Model

SOLO12_FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
A1_FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
"""Frames at the centres of spheres of 2 cm."""
ROMEO_FEET = {
    f"{side}_ankle": tuple(
        f"{side}_foot_{corner}" for corner in ("front_left", "front_right", "rear_left", "rear_right")
    )
    for side in "lr"
}
"""Foot → its contact points."""


def find_feet(model: Model, feet: Iterable[str], remedy: str) -> np.ndarray:
    """(nf,) the frames of these names; ``remedy`` says how to name others."""
    if not isinstance(model, Model):
        raise expected("model", "a Model", type(model).__name__, "scene.compile() makes one")
    feet = tuple(feet)
    for foot in feet:
        if foot not in model.frame_index:
            raise InputError(f"feet: {remedy}; {unknown('frame', foot, model.frame_index)}")
    return np.array([model.frame(foot) for foot in feet])
