"""StickingContacts: contacts that have become constraints, each of a point of link 2 to a point of link 1.

An entry is created at the contact point when a contact touches, and is kept under the contact's pair id until it is
dropped. The arrays are the method's memory; an id is stored plus one, so that zero means no entry.
"""

from __future__ import annotations

import numpy as np

from stickslip.collision.contacts import ContactList
from stickslip.dynamics.data import Kinematics
from stickslip.model.loops import Constraint


class StickingContacts:
    """Growing arrays of constrained contacts; the entries in use come first."""

    def __init__(self, capacity: int = 16) -> None:
        self.pair = np.zeros(capacity, dtype=np.int64)
        self.links = np.zeros((capacity, 2), dtype=np.int64)
        self.place = np.zeros((capacity, 9))
        """(capacity, 9) the point in the frames of link 1 and link 2 [m], and the normal in the frame of link 1."""
        self.motion = np.zeros((capacity, 3))
        """(capacity, 3) velocity with which a moving surface of body 1 takes the point along [m/s, world]."""

    def __len__(self) -> int:
        return int(np.count_nonzero(self.pair))

    def ids(self) -> np.ndarray:
        """(n,) pair ids of the entries."""
        return self.pair[: len(self)] - 1

    def memory(self) -> dict[str, np.ndarray]:
        return {"held_pair": self.pair, "held_links": self.links, "held_place": self.place, "held_motion": self.motion}

    def make_room(self, entries: int) -> None:
        if entries > len(self.pair):
            n, more = len(self.pair), max(entries, 2 * len(self.pair)) - len(self.pair)
            self.pair = np.concatenate([self.pair, np.zeros(more, dtype=np.int64)])
            self.links = np.concatenate([self.links, np.zeros((more, 2), dtype=np.int64)])
            self.place = np.concatenate([self.place, np.zeros((more, 9))])
            self.motion = np.concatenate([self.motion, np.zeros((more, 3))])
            assert len(self.pair) == n + more

    def copy_from(self, other: StickingContacts) -> None:
        """Copy all entries of another object."""
        self.make_room(len(other.pair))
        for mine, its in zip(self.memory().values(), other.memory().values(), strict=True):
            mine[:] = 0
            mine[: len(its)] = its

    def add(self, contacts: ContactList, c: int, kin: Kinematics) -> None:
        """Add contact c where it is: a point midway between the two surfaces is fixed to both links."""
        arrays, n = contacts.arrays, len(self)
        self.make_room(n + 1)
        a, b, normal = int(arrays.link1[c]), int(arrays.link2[c]), arrays.axes[c, 0]
        point = arrays.point[c] - 0.5 * arrays.gap[c] * normal
        local = [kin.rot[link].T @ (point - kin.pos[link]) for link in (a, b)]
        self.pair[n], self.links[n] = arrays.pair[c] + 1, (a, b)
        self.place[n] = np.concatenate([*local, kin.rot[a].T @ normal])
        self.motion[n] = 0.0

    def carry(self, contacts: ContactList, kin: Kinematics) -> None:
        """Let moving surfaces take the held points along: their velocities, from those of the contacts at hand."""
        arrays, n = contacts.arrays, len(contacts)
        for c, k in enumerate(self.find(arrays.pair[:n])):
            if k >= 0:
                self.motion[k] = -(arrays.axes[c].T @ arrays.surface[c, :3])

    def ahead(self, dt: float, kin: Kinematics) -> None:
        """Move the held points of link 1 to where they are dt [s] later."""
        n = len(self)
        self.place[:n, :3] += dt * np.einsum("bji,bj->bi", kin.rot[self.links[:n, 0]], self.motion[:n])

    def drop(self, which: np.ndarray) -> None:
        """Remove the entries ``which``; the others keep their order."""
        kept = np.setdiff1d(np.arange(len(self)), which)
        for array in self.memory().values():
            saved = array[kept].copy()
            array[:] = 0
            array[: len(kept)] = saved

    def find(self, pair: np.ndarray) -> np.ndarray:
        """(n,) the entry of each pair id; −1 if there is none."""
        entry = {int(p) - 1: i for i, p in enumerate(self.pair[: len(self)])}
        return np.array([entry.get(int(p), -1) for p in pair], dtype=np.int64)

    def constraints(self) -> list[Constraint]:
        """A connect constraint per entry, in their order."""
        n = len(self)
        entries = zip(self.links[:n], self.place[:n], self.pair[:n], self.motion[:n], strict=True)
        return [
            Constraint("connect", int(a), int(b), place[:3], pos2=place[3:6], name=f"contact {pair - 1}", motion=six)
            for (a, b), place, pair, motion in entries
            for six in (np.concatenate([motion, np.zeros(3)]),)
        ]

    def normals(self, kin: Kinematics) -> np.ndarray:
        """(n, 3) normals in world axes."""
        n = len(self)
        return np.einsum("bij,bj->bi", kin.rot[self.links[:n, 0]], self.place[:n, 6:])
