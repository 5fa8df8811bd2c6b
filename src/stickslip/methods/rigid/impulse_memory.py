"""The last step's impulses by contact id: a start for the solver, and the forces that recordings show.

An id is stored plus one, so that zero means an empty place; the empty places are the last ones. Joint limits have the
ids −2, −3, … in the order of their rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contact_ids import find_id
from stickslip.collision.contacts import ADHESION, ContactList
from stickslip.methods.rigid.assembly.matrices import Matrices

PUSHING = 1e-6
"""A contact counts as pushing if its normal impulse is above this part of the step's largest: the impulses of interior
points are never exactly zero."""


class Memory(NamedTuple):
    """Impulses of a step, with room for N contacts and limits and for K joint rows."""

    pair: np.ndarray
    """(N,) ids plus one, zero where nothing is stored."""
    impulse: np.ndarray
    """(N, 3) normal and tangents [N s]."""
    joint: np.ndarray
    """(K,) impulses of the joint rows [N s, N m s]."""


def make_memory(contacts: int, joints: int) -> Memory:
    """An empty memory."""
    return Memory(np.zeros(contacts, dtype=np.int64), np.zeros((contacts, 3)), np.zeros(joints))


@kernel
def store(memory, ids, n, p):
    """Store the impulses p (3n,) of contacts with these ids, and zeros for joint rows."""
    for c in range(memory.pair.shape[0]):
        memory.pair[c] = ids[c] + 1 if c < n else 0
        for k in range(3):
            memory.impulse[c, k] = p[3 * c + k] if c < n else 0.0
    for j in range(memory.joint.shape[0]):
        memory.joint[j] = 0.0


@kernel
def recall(memory, ids, n, p):
    """Write the stored impulses of these ids into p (3n,), zero where there was no such contact."""
    at, size = 0, 0
    while size < memory.pair.shape[0] and memory.pair[size] != 0:
        size += 1
    for c in range(n):
        p[3 * c] = p[3 * c + 1] = p[3 * c + 2] = 0.0
        place = find_id(memory.pair, size, ids[c] + 1, at)
        if place >= 0:
            at = place + 1
            for k in range(3):
                p[3 * c + k] = memory.impulse[place, k]


@kernel
def choose_pushing(p, n, out):
    """Write which of n contacts push, by their impulses p (3n,); returns how many."""
    largest, count = 0.0, 0
    for c in range(n):
        largest = max(largest, p[3 * c])
    for c in range(n):
        if p[3 * c] > PUSHING * largest:
            out[count] = c
            count += 1
    return count


@kernel
def write_forces(p, dt, n, contacts):
    """Forces [N] of n contacts from their impulses (3n,) over a step, and their adhesion."""
    for c in range(n):
        for k in range(3):
            contacts.force[c, k] = p[3 * c + k] / dt
        contacts.force[c, 0] -= contacts.material[c, ADHESION]


class ImpulseMemory:
    """A ``Memory`` that grows."""

    def __init__(self) -> None:
        self.arrays = make_memory(16, 16)

    def memory(self) -> dict[str, np.ndarray]:
        """The arrays that belong to snapshots."""
        return {"pair": self.arrays.pair, "impulse": self.arrays.impulse, "joint_impulse": self.arrays.joint}

    def make_room(self, contacts: int, joints: int) -> None:
        """Replace arrays that are too short by longer ones, which are empty: the caller is about to fill them."""
        room = len(self.arrays.pair)
        if contacts > room:
            longer = make_memory(max(contacts, 2 * room), 0)
            self.arrays = longer._replace(joint=self.arrays.joint)
        if joints > len(self.arrays.joint):
            self.arrays = self.arrays._replace(joint=np.zeros(joints))

    def keep_room(self, contacts: int) -> None:
        """Make room for contacts without losing what is stored."""
        pair, impulse, _ = self.arrays
        self.make_room(contacts, 0)
        self.arrays.pair[: len(pair)], self.arrays.impulse[: len(pair)] = pair, impulse

    def store(self, matrices: Matrices, impulses: np.ndarray) -> None:
        """Store the impulses (nb + 3nc,) of all rows of a step."""
        nb = matrices.bilateral
        self.make_room(matrices.contacts, nb)
        store(self.arrays, matrices.pair, matrices.contacts, impulses[nb:])
        self.arrays.joint[:nb] = impulses[:nb]

    def store_forces(self, contacts: ContactList, dt: float) -> None:
        """Store the forces that a Python function wrote into the contacts."""
        n = len(contacts)
        self.make_room(n, 0)
        force = contacts.arrays.force[:n].copy()
        force[:, 0] += contacts.arrays.material[:n, ADHESION]
        store(self.arrays, contacts.arrays.pair, n, (force * dt).ravel())

    def recall(self, matrices: Matrices) -> np.ndarray:
        """(nb + 3nc,) the stored impulses of a step's rows, zero where there was no such contact."""
        nb = matrices.bilateral
        self.make_room(0, nb)
        impulses = np.empty(nb + 3 * matrices.contacts)
        impulses[:nb] = self.arrays.joint[:nb]
        recall(self.arrays, matrices.pair, matrices.contacts, impulses[nb:])
        return impulses

    def show(self, contacts: ContactList, dt: float) -> None:
        """Write the stored impulses into the contacts as forces."""
        n = len(contacts)
        impulses = np.empty(3 * n)
        recall(self.arrays, contacts.arrays.pair, n, impulses)
        write_forces(impulses, dt, n, contacts.arrays)
