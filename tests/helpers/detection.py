"""Contacts of a scene at a state, found by the kernels, without a simulation around them."""

import numpy as np

from stickslip.collision.contacts import ContactList, contact_velocities
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.dynamics.data import make_data
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities

FAR = 1e3
"""A margin [m] beyond all distances of a test."""


class Detector:
    def __init__(self, scene, **options):
        self.model = scene.compile()
        self.detector = ConvexDetector(self.model, FAR, **options)
        self.kin = make_data(self.model).kin
        self.contacts = ContactList(self.kin)

    def __call__(self, q=None, v=None, margin=FAR):
        """The contacts nearer than ``margin``, in arrays cut to length."""
        state = self.model.state(q, v)
        forward_kinematics(self.model.tree, state.q, self.kin)
        forward_velocities(self.model.tree, state.v, self.kin)
        self.detector.margin = margin
        self.detector.find(self.kin, self.contacts)
        contacts, n = self.contacts.arrays, len(self.contacts)
        contact_velocities(self.kin, contacts)
        return type(contacts)(contacts.found, *(array[:n].copy() for array in contacts[1:]))


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def rotation(quat):
    w, x, y, z = quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
