"""Detector: what finds contacts within a margin, positive gaps included, for methods that anticipate them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from stickslip.collision.contacts import ContactList
from stickslip.dynamics.data import Kinematics


class Detector(ABC):
    """Finds the contacts of an instant. Subclass it and hand it to a simulation as ``detector=``.

    Provide ``margin`` and ``find``; ``find_groups`` only where contacts have subcontacts (PEG).
    """

    margin: float
    """Contacts whose gap is below this are found [m]."""

    @abstractmethod
    def find(self, kin: Kinematics, contacts: ContactList) -> None:
        """Clear and fill ``contacts``, whose buffer it grows if it must; ``pair`` ids persist from step to step."""

    def find_groups(self, kin: Kinematics, contacts: ContactList) -> np.ndarray | None:
        """Like ``find``, with the subcontacts of a group in consecutive rows ``contacts[start[g]:start[g + 1]]``.

        Returns start (ng + 1,) int64; None, the default: every contact is its own group.
        """
        self.find(kin, contacts)
        return None
