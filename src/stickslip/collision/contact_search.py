"""Which contacts a step looks for: a detector, and how far it looks."""

from __future__ import annotations

from typing import Any

from stickslip.collision.contacts import ContactList
from stickslip.collision.convex.compiled import Search
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.detector import Detector
from stickslip.collision.detectors import make_detector
from stickslip.collision.reach import Reach
from stickslip.dynamics.data import Kinematics
from stickslip.errors import InputError, expected, number
from stickslip.model.model import Model


class ContactSearch:
    """A detector by name, as an object or as a function; its margin is as far as a step can go unless it is given."""

    def __init__(self, model: Model, dt: float, variant: str, detector: Any, margin: float | None) -> None:
        if variant == "none" and (detector is not None or margin is not None):
            raise InputError("detector, margin: the law 'none' has no contacts; leave them out")
        self.dt, self.none, self.reach = dt, variant == "none", Reach(model)
        margin = None if margin is None else number("margin", margin, "a distance ≥ 0 [m]", least=0.0)
        first = self.reach.at_rest(dt) if margin is None else margin
        self.shapes = ConvexDetector(model, first)
        """Knows the shapes, whoever finds the contacts."""
        named = detector is None or isinstance(detector, str)
        self.detector = self.shapes if detector is None else make_detector(detector, model, first)
        self.automatic = named and margin is None
        if not named and margin is not None:
            if not isinstance(detector, Detector):
                raise expected("margin", "a named detector or a Detector with it", detector, "your function chooses")
            self.detector.margin = margin
        self.left_out = getattr(self.detector, "left_out", {})

    @property
    def convex(self) -> bool:
        """Whether contacts are those of a ``ConvexDetector``, whose ids name shapes."""
        return isinstance(self.detector, ConvexDetector)

    @property
    def compiled(self) -> bool:
        """Whether a compiled step can look for itself."""
        return type(self.detector) is ConvexDetector and not self.none

    def find(self, kin: Kinematics, contacts: ContactList) -> None:
        if self.none:
            return
        if self.automatic:
            self.detector.margin = self.reach.margin(kin, self.dt)
        self.detector.find(kin, contacts)

    def arrays(self) -> tuple[Search, float, float, float]:
        """What a compiled step needs: the search, margin at rest [m], seconds of motion to add, cell [m]."""
        d = self.detector
        assert isinstance(d, ConvexDetector)
        search = Search(d.geometry, d.rules, d.placed, d.grid, d.candidates, d.found, d.work, d.material)
        margin = self.reach.at_rest(self.dt) if self.automatic else d.margin
        return search, margin, self.reach.seconds(self.dt) if self.automatic else 0.0, d.cell
