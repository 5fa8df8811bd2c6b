"""Touchdown: how long a part of a step may be, so that no contact that closes in it ends deep inside something.

A contact that is within reach at the beginning closes by

    gap(h) = gap + h·(ġ + h·g̈)          of semi-implicit Euler, h the length of the part

if its normal does not turn. The smallest root h is the first guess. Bodies that turn may still end too deep; so
``deepest`` looks at the end of the part, which is halved if need be.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from stickslip.collision.contacts import ContactList, contact_velocities
from stickslip.collision.detector import Detector
from stickslip.collision.reach import LEAST, Reach
from stickslip.dynamics.data import Kinematics
from stickslip.dynamics.kinematics import forward_velocities
from stickslip.model.model import Model

DEEPEST = 0.05
"""Depth that a landing may reach within a step, as a fraction of the smallest moving body's radius."""
SHORTEST = 1.0 / 256.0
"""Shortest part, as a fraction of what is left of the step."""
MOST_PARTS = 64
"""A step is divided into no more parts."""


class Touchdown:
    """Looks for contacts that close within a step. ``follows``: the detector's margin may follow the speeds."""

    def __init__(self, model: Model, detector: Detector, kin: Kinematics, *, follows: bool) -> None:
        self._tree, self._detector, self._follows = model.tree, detector, follows
        self._reach, self._found = Reach(model), ContactList(kin, capacity=64)
        self.radius = self._reach.least / LEAST
        """Radius of the smallest moving body [m]."""
        self.allowed = DEEPEST * self.radius
        """Depth in which a landing may end [m]."""
        self.near = False
        """Whether something may touch in this part that is not held."""
        self._before: dict[int, float] = {}
        """Depths of contacts at the beginning of the part, by their ids [m]."""

    def time(self, kin: Kinematics, v: np.ndarray, acceleration: np.ndarray, left: float, held: np.ndarray) -> float:
        """The first guess of a part's length ≤ ``left`` [s], for velocities v (nv,) and accelerations (nv,). ``held``
        (n,) are ids of contacts that are constraints already."""
        forward_velocities(self._tree, v, kin)
        found = self._look(kin, self._reach.margin(kin, left))
        arrays, n = found.arrays, len(found)
        contact_velocities(kin, arrays)
        self.remember(found)
        new = ~np.isin(arrays.pair[:n], held) & (arrays.surface[:n, 0] == 0.0)  # what is moved moves at the end
        self.near = bool(new.any())
        if not self.near:
            return left
        gap, rate = arrays.gap[:n][new], arrays.velocity[:n, 0][new].copy()
        forward_velocities(self._tree, v + left * acceleration, kin)
        contact_velocities(kin, arrays)
        change = (arrays.velocity[:n, 0][new] - rate) / left
        forward_velocities(self._tree, v, kin)
        deep = gap + left * (rate + left * change) < -np.maximum(self.allowed, -gap)
        times = (closing(*each) for each in zip(gap[deep], rate[deep], change[deep], strict=True))
        return max(min(times, default=left), SHORTEST * left)

    def remember(self, contacts: ContactList) -> None:
        """Take these contacts for those at the beginning of the part."""
        arrays, n = contacts.arrays, len(contacts)
        self._before = dict(zip(arrays.pair[:n].tolist(), (-arrays.gap[:n]).tolist(), strict=True))

    def deepest(self, kin: Kinematics, held: np.ndarray) -> float:
        """How deep a contact is at the end of a part [m], which was less deep at its beginning and is not held."""
        found = self._look(kin, 0.0)
        arrays, n = found.arrays, len(found)
        new = ~np.isin(arrays.pair[:n], held) & (arrays.surface[:n, 0] == 0.0)
        deeper = (-arrays.gap[c] for c in np.flatnonzero(new) if -arrays.gap[c] > self._before.get(arrays.pair[c], 0.0))
        return max(deeper, default=0.0)

    def _look(self, kin: Kinematics, margin: float) -> ContactList:
        usual = self._detector.margin
        if self._follows:
            self._detector.margin = max(margin, usual)
        try:
            self._detector.find(kin, self._found)
        finally:
            self._detector.margin = usual
        return self._found


def closing(gap: float, rate: float, change: float) -> float:
    """The smallest h > 0 with gap + h·(rate + h·change) = 0, where this is negative later on. A contact that is closed
    and opens gets the time at which it is as deep again."""
    if gap <= 0.0:
        return -rate / change if rate > 0.0 > change else 0.0
    return 2.0 * gap / (-rate + sqrt(max(rate * rate - 4.0 * change * gap, 0.0)))
