"""Contacts: the 5-tuples (body 1, body 2, point, normal, gap) of the RPI simulator, in a buffer of fixed capacity.

The normal points from body 1 to body 2; gap > 0 apart, < 0 penetrating; a force acts on body 2, its opposite on
body 1. The world is body 0 and comes first. Contact-frame vectors are (normal, tangent 1, tangent 2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip.errors import expected
from stickslip.model.shape import DEFAULT_DAMPING, DEFAULT_FRICTION, DEFAULT_STIFFNESS, Material

FRICTION, STIFFNESS, DAMPING, RESTITUTION = 0, 1, 2, 3
MOST_PAIRS = 1_000_000
"""Ids that a Python collision function may use; memory follows the largest one."""


class Contacts(NamedTuple):
    """The contacts of one instant; the first ``found[0]`` entries are valid."""

    found: np.ndarray
    """(1,) number of contacts found; more than the capacity means that the buffer must grow."""
    pair: np.ndarray
    """(capacity,) an id that persists from step to step: anchors and warm starts hang on it."""
    link1: np.ndarray
    link2: np.ndarray
    point: np.ndarray
    """(capacity, 3) on body 2 [m, world]."""
    axes: np.ndarray
    """(capacity, 3, 3) rows: normal, tangent 1, tangent 2 [world]."""
    gap: np.ndarray
    """(capacity,) [m]."""
    rolling: np.ndarray
    """(capacity,) 1 where the contact point wanders over body 2 (a sphere), 0 where it is a point of body 2."""
    material: np.ndarray
    """(capacity, 4) friction, stiffness [N/m], damping [N s/m], restitution."""
    velocity: np.ndarray
    """(capacity, 3) of body 2's point relative to body 1's, contact frame [m/s]."""
    force: np.ndarray
    """(capacity, 3) on body 2, contact frame [N]."""
    stretch: np.ndarray
    """(capacity, 3) of the contact's springs, contact frame [m]; written by laws that have springs."""
    drift: np.ndarray
    """(capacity, 3) velocity of the geometric contact point, world axes [m/s]."""
    spin: np.ndarray
    """(capacity, 3) angular velocity of the contact frame relative to link 1's, world axes [rad/s]."""


def make_contacts(capacity: int) -> Contacts:
    n = max(1, capacity)
    return Contacts(
        found=np.zeros(1, dtype=np.int64),
        pair=np.zeros(n, dtype=np.int64),
        link1=np.zeros(n, dtype=np.int64),
        link2=np.zeros(n, dtype=np.int64),
        point=np.zeros((n, 3)),
        axes=np.zeros((n, 3, 3)),
        gap=np.zeros(n),
        rolling=np.zeros(n, dtype=np.int64),
        material=np.zeros((n, 4)),
        velocity=np.zeros((n, 3)),
        force=np.zeros((n, 3)),
        stretch=np.zeros((n, 3)),
        drift=np.zeros((n, 3)),
        spin=np.zeros((n, 3)),
    )


def grown(contacts: Contacts, capacity: int) -> Contacts:
    """A copy with room for more."""
    bigger = make_contacts(capacity)
    for old, new in zip(contacts, bigger, strict=True):
        new[: len(old)] = old
    return bigger


def tangents(normal: np.ndarray) -> np.ndarray:
    """A right-handed contact frame (3, 3), rows normal, tangent 1, tangent 2, from a unit normal alone."""
    helper = np.eye(3)[np.argmin(np.abs(normal))]
    t1 = np.cross(helper, normal)
    t1 /= np.linalg.norm(t1)
    return np.stack([normal, t1, np.cross(normal, t1)])


class ContactList:
    """What a Python collision function writes to: ``sim.contacts.add(link1, link2, point, normal, gap)``."""

    def __init__(self, capacity: int = 16, links: int = 1) -> None:
        self.arrays = make_contacts(capacity)
        self.links = links
        """Number of links of the model, the world included."""

    def __len__(self) -> int:
        return int(self.arrays.found[0])

    def clear(self) -> None:
        self.arrays.found[0] = 0

    def grow(self) -> None:
        """Make room for at least as many contacts as were found."""
        capacity = len(self.arrays.pair)
        self.arrays = grown(self.arrays, max(2 * capacity, int(self.arrays.found[0])))

    def add(
        self,
        link1: int,
        link2: int,
        point,
        normal,
        gap: float,
        *,
        pair: int,
        friction: float = DEFAULT_FRICTION,
        stiffness: float = DEFAULT_STIFFNESS,
        damping: float = DEFAULT_DAMPING,
        restitution: float = 0.0,
        rolling: bool = False,
    ) -> None:
        """Append a contact between two links at a point [m, world]; gap [m] < 0 in penetration.

        ``pair`` names the contact from step to step (friction anchors hang on it): a small whole number of your own.
        """
        n, p = np.asarray(normal, dtype=float), np.asarray(point, dtype=float)
        if n.shape != (3,) or not abs(np.linalg.norm(n) - 1.0) < 1e-6:
            raise expected("contact normal", "a unit vector (3,)", normal, "divide it by its norm")
        if p.shape != (3,) or not np.all(np.isfinite(p)) or not np.isfinite(gap):
            raise expected("contact point and gap", "finite numbers (3,) and one more", (point, gap))
        for link in (link1, link2):
            if not 0 <= link < self.links:
                raise expected("contact link", f"an index from 0 (world) to {self.links - 1}", link, "see model.link")
        if link1 == link2:
            raise expected("contact links", "two different links", (link1, link2))
        if not 0 <= pair < MOST_PAIRS:
            raise expected("contact pair", f"a whole number from 0 to {MOST_PAIRS - 1}", pair)
        material = Material(friction, stiffness, damping, restitution)
        i = len(self)
        if i == len(self.arrays.pair):
            self.grow()
        c = self.arrays
        c.pair[i] = pair
        c.link1[i], c.link2[i] = link1, link2
        c.point[i], c.axes[i], c.gap[i] = p, tangents(n), gap
        c.material[i] = material.friction, material.stiffness, material.damping, material.restitution
        c.rolling[i] = rolling
        c.velocity[i], c.force[i] = 0.0, 0.0
        c.found[0] = i + 1
