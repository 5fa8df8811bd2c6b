"""The last step's impulses by contact id: warm starts, and the forces that recordings show."""

from __future__ import annotations

import numpy as np

from stickslip.collision.contacts import ContactList
from stickslip.methods.rigid.assembly.matrices import Matrices


class ImpulseMemory:
    """Arrays that grow; an id is stored plus one, so that zeros mean nothing."""

    def __init__(self) -> None:
        self.pair, self.impulse = np.zeros(16, dtype=np.int64), np.zeros((16, 3))
        self.joint = np.zeros(16)

    def memory(self) -> dict[str, np.ndarray]:
        return {"pair": self.pair, "impulse": self.impulse, "joint_impulse": self.joint}

    def make_room(self, contacts: int, joints: int) -> None:
        """Longer arrays are empty: whoever asks for room is about to fill them."""
        if contacts > len(self.pair):
            size = max(contacts, 2 * len(self.pair))
            self.pair, self.impulse = np.zeros(size, dtype=np.int64), np.zeros((size, 3))
        if joints > len(self.joint):
            self.joint = np.zeros(joints)

    def keep_room(self, contacts: int) -> None:
        """Longer arrays that remember."""
        pair, impulse = self.pair, self.impulse
        self.make_room(contacts, 0)
        self.pair[: len(pair)], self.impulse[: len(pair)] = pair, impulse

    def store(self, matrices: Matrices, impulses: np.ndarray) -> None:
        """Impulses (nb + 3nc,) of the step at hand."""
        nb = matrices.bilateral
        self._store(matrices.pair, impulses[nb:].reshape(-1, 3))
        self.make_room(0, nb)
        self.joint[:] = 0.0
        self.joint[:nb] = impulses[:nb]

    def store_forces(self, contacts: ContactList, dt: float) -> None:
        """The forces that a Python function wrote into the contacts."""
        n = len(contacts)
        self._store(contacts.arrays.pair[:n], contacts.arrays.force[:n] * dt)
        self.joint[:] = 0.0

    def _store(self, pair: np.ndarray, impulse: np.ndarray) -> None:
        n = len(pair)
        self.make_room(n, 0)
        self.pair[n:], self.impulse[n:] = 0, 0.0
        self.pair[:n], self.impulse[:n] = pair + 1, impulse

    def recall(self, matrices: Matrices) -> np.ndarray:
        """(nb + 3nc,) the stored impulses of these rows; zero where there was no such contact."""
        nb = matrices.bilateral
        self.make_room(0, nb)
        return np.concatenate([self.joint[:nb], self._find(matrices.pair).ravel()])

    def show(self, contacts: ContactList, dt: float) -> None:
        """Forces of contacts from the stored impulses."""
        n = len(contacts)
        contacts.arrays.force[:n] = self._find(contacts.arrays.pair[:n]) / dt

    def _find(self, pair: np.ndarray) -> np.ndarray:
        order = np.argsort(self.pair, kind="stable")
        sorted_pairs = self.pair[order]
        at = np.minimum(np.searchsorted(sorted_pairs, pair + 1), len(order) - 1)
        return np.where((sorted_pairs[at] == pair + 1)[:, None], self.impulse[order[at]], 0.0)
