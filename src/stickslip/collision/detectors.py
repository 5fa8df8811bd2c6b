"""Every detector by name; a new one is one line here."""

from __future__ import annotations

from collections.abc import Callable

from stickslip.collision.contacts import ContactList
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.detector import Detector
from stickslip.collision.mujoco_detector import MuJoCoDetector
from stickslip.collision.polyhedral.peg_detector import PegDetector
from stickslip.dynamics.data import Kinematics
from stickslip.errors import InputError, function, one_of
from stickslip.model.model import Model

DETECTORS: dict[str, Callable[[Model, float], Detector]] = {
    "convex": ConvexDetector,
    "mujoco": MuJoCoDetector,
    "peg": PegDetector,
}
TRUSTED = frozenset(DETECTORS)
"""Detectors of this package, whose contacts are not checked at every step."""


class FunctionDetector(Detector):
    """A Python function of (kinematics, contacts) as a detector; the function clears the contacts and adds to them."""

    def __init__(self, function: Callable[[Kinematics, ContactList], None], margin: float) -> None:
        self.function, self.margin = function, margin

    def find(self, kin: Kinematics, contacts: ContactList) -> None:
        self.function(kin, contacts)


def make_detector(choice, model: Model, margin: float) -> Detector:
    """A detector from its name, a Detector, or a function of (kinematics, contacts)."""
    if isinstance(choice, Detector):
        return choice
    if isinstance(choice, str):
        one_of("detector", choice, DETECTORS)
        return DETECTORS[choice](model, margin)
    if callable(choice):
        return FunctionDetector(function("detector", choice, "f(kinematics, contacts)"), margin)
    raise InputError(
        f"detector: expected a name, a Detector or a function of (kinematics, contacts), got {choice!r}; "
        f"known names: {', '.join(DETECTORS)}"
    )
