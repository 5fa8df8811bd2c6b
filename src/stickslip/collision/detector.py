"""Detector: the interface of collision detection. It finds contacts with gaps, also positive ones, below a margin."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from stickslip.collision.contacts import ContactList
from stickslip.dynamics.data import Kinematics


class Detector(ABC):
    """Finds the contacts of an instant. Subclass it and hand it to a simulation as ``detector=``.

    A subclass provides ``margin`` and ``find``, and ``find_groups`` only if its contacts have subcontacts (PEG).
    """

    margin: float
    """Contacts whose gap is below this are found [m]."""

    @abstractmethod
    def find(self, kin: Kinematics, contacts: ContactList) -> None:
        """Clear and fill ``contacts``, growing its buffer if needed. ``pair`` ids must persist from step to step."""

    def find_groups(self, kin: Kinematics, contacts: ContactList) -> np.ndarray | None:
        """Like ``find``, with the subcontacts of a group in consecutive rows ``contacts[start[g]:start[g + 1]]``.

        Returns start (ng + 1,) int64, or None (the default) if every contact is a group of its own.
        """
        self.find(kin, contacts)
        return None
