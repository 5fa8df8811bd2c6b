"""The contacts of the spring-damper methods as a Detector.

It knows points, spheres, corners and vertices on planes, and points and spheres on boxes and spheres.
"""

from __future__ import annotations

from collections.abc import Mapping

from stickslip.collision.contacts import ContactList
from stickslip.collision.detector import Detector
from stickslip.collision.soft_pairs.detect import find_contacts
from stickslip.collision.soft_pairs.pairs import find_pairs
from stickslip.dynamics.data import Kinematics
from stickslip.model.model import Model


class PairDetector(Detector):
    """A detector that tests every candidate pair, at a cost quadratic in the number of bodies."""

    def __init__(self, model: Model, margin: float) -> None:
        self.margin = margin
        self.pairs, found = find_pairs(model)
        self.left_out: Mapping[str, int] = found

    def find(self, kin: Kinematics, contacts: ContactList) -> None:
        find_contacts(self.pairs, kin, self.margin, contacts.arrays)
        while len(contacts) > len(contacts.arrays.pair):
            contacts.grow()
            find_contacts(self.pairs, kin, self.margin, contacts.arrays)
