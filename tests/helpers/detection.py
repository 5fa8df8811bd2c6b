"""Contacts of a scene at a state, found by the kernels, without a simulation around them."""

import numpy as np

from stickslip.collision.contacts import contact_velocities, make_contacts
from stickslip.collision.soft_pairs.detect import find_contacts
from stickslip.collision.soft_pairs.pairs import find_pairs, total
from stickslip.dynamics.data import make_data
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities


class Detector:
    def __init__(self, scene):
        self.model = scene.compile()
        self.pairs, self.left_out = find_pairs(self.model)
        self.kin = make_data(self.model).kin

    def __call__(self, q=None, v=None, margin=np.inf):
        """The contacts nearer than ``margin``, in arrays cut to length."""
        state = self.model.state(q, v)
        forward_kinematics(self.model.tree, state.q, self.kin)
        forward_velocities(self.model.tree, state.v, self.kin)
        contacts = make_contacts(total(self.pairs))
        find_contacts(self.pairs, self.kin, margin, contacts)
        contact_velocities(self.kin, contacts)
        n = int(contacts.found[0])
        return type(contacts)(contacts.found, *(array[:n] for array in contacts[1:]))


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
