"""ContactSearch: which detector a step uses, and how far it looks."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from stickslip.collision.contacts import ContactList
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.convex.find import Search
from stickslip.collision.detector import Detector
from stickslip.collision.detectors import TRUSTED, make_detector
from stickslip.collision.polyhedral.peg_detector import PegDetector
from stickslip.collision.reach import Reach
from stickslip.dynamics.data import Kinematics
from stickslip.errors import InputError, expected, number
from stickslip.model.model import Model


class ContactSearch:
    """A detector by name, as an object or as a function, and its margin.

    Unless a margin is given, a named detector looks as far as a step can go (``Reach``), and ``ahead`` [s] further.
    ``usual`` is the name of the detector where none is chosen.
    """

    def __init__(
        self,
        model: Model,
        dt: float,
        variant: str,
        detector: Any,
        margin: float | None,
        *,
        usual: str = "convex",
        ahead: float = 0.0,
    ) -> None:
        if variant == "none" and (detector is not None or margin is not None):
            raise InputError("detector, margin: the law 'none' has no contacts; leave them out")
        self.model, self.dt, self.none, self.reach = model, dt, variant == "none", Reach(model, ahead)
        margin = None if margin is None else number("margin", margin, "a distance ≥ 0 [m]", least=0.0)
        named = detector is None or isinstance(detector, str)
        first = self.reach.at_rest(dt) if margin is None else margin
        self.detector = make_detector(usual if detector is None else detector, model, first)
        self.automatic = named and margin is None
        """Whether the margin follows the speeds of the bodies."""
        self.trusted = named and (detector is None or detector in TRUSTED)
        """Whether the detector is the package's own, so that its contacts need no check."""
        if not named and margin is not None:
            if not isinstance(detector, Detector):
                raise expected("margin", "a named detector or a Detector with it", detector, "your function chooses")
            self.detector.margin = margin

    @cached_property
    def shapes(self) -> ConvexDetector:
        """A detector that knows the shapes, whoever finds the contacts."""
        return self.detector if isinstance(self.detector, ConvexDetector) else ConvexDetector(self.model, 0.0)

    @property
    def convex(self) -> bool:
        """Whether contacts are those of a ``ConvexDetector``, whose ids name shapes."""
        return isinstance(self.detector, ConvexDetector)

    @property
    def compiled(self) -> bool:
        """Whether a compiled step can look for contacts itself."""
        return type(self.detector) is ConvexDetector and not self.none

    @property
    def grouped(self) -> bool:
        """Whether a compiled step can look for groups of subcontacts itself."""
        return type(self.detector) is PegDetector and not self.none

    def find(self, kin: Kinematics, contacts: ContactList) -> None:
        """Fill ``contacts`` with those of the present instant."""
        if not self.none:
            self._set_margin(kin)
            self.detector.find(kin, contacts)

    def find_groups(self, kin: Kinematics, contacts: ContactList) -> np.ndarray | None:
        """Like ``find``, with groups of subcontacts; see ``Detector.find_groups``."""
        self._set_margin(kin)
        return self.detector.find_groups(kin, contacts)

    def _set_margin(self, kin: Kinematics) -> None:
        if self.automatic:
            self.detector.margin = self.reach.margin(kin, self.dt)

    def arrays(self) -> tuple[Search, float, float, float]:
        """What a compiled step needs: the search, margin at rest [m], seconds of motion to add, cell [m]."""
        d = self.detector.others if isinstance(self.detector, PegDetector) else self.detector
        assert isinstance(d, ConvexDetector)
        margin = self.reach.at_rest(self.dt) if self.automatic else self.detector.margin
        return d.search, margin, self.reach.seconds(self.dt) if self.automatic else 0.0, d.cell
