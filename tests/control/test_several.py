"""Several controllers as one: two robots, each with its own."""

import copy
import pickle

import numpy as np

import stickslip as ss
from stickslip.control import PD, Sum


def two_arms() -> tuple[ss.Simulation, list[PD]]:
    scene = ss.Scene()
    scene.add_plane(friction=0.8)
    dogs = [scene.add_robot("solo12", name=name, pos=(0, y, 0.3)) for name, y in (("left", 0.5), ("right", -0.5))]
    return ss.Simulation(scene, "coulomb", dt=2e-3), [
        PD(dog, kp=kp, kd=0.2) for dog, kp in zip(dogs, (8, 4), strict=True)
    ]


def test_two_robots_with_a_controller_each():
    sim, (left, right) = two_arms()
    together = sim.run(0.1, controller=Sum(left, right))
    sim.reset()

    def by_hand(t, q, v):
        u = left(t, q, v)
        u += right(t, q, v)  # into what the first one gave, which is the caller's
        return u

    apart = sim.run(0.1, controller=by_hand)
    assert np.array_equal(together.q, apart.q)
    assert np.abs(together.control[-1, :12]).max() > 0 < np.abs(together.control[-1, 12:]).max()


def test_forces_on_a_robot_of_a_recording():
    sim, pair = two_arms()
    log = sim.run(0.3, controller=Sum(*pair))
    left, right = sim.model.robots
    assert np.allclose(log.net_contact_force(left)[-1], sim.contacts.force_on(left))
    assert np.allclose(log.contact_force(left) + log.contact_force(right), log.contact_force())
    feet = [f"right/{leg}_LOWER_LEG" for leg in ("FL", "FR", "HL", "HR")]
    assert np.array_equal(log.net_contact_force(feet)[-1], log.net_contact_force(right)[-1])


class Counting:
    """A controller with a state."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self, t, q, v):
        self.n += 1
        return np.full(24, 1e-3 * self.n)

    def get_state(self):
        return self.n

    def set_state(self, state):
        self.n = state


def test_snapshots_and_copies_hold_the_state_of_each():
    sim, (left, _) = two_arms()
    sim.controller = Sum(left, Counting())
    sim.step(5)
    copies = copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))
    snapshot = sim.snapshot()
    sim.step(5)
    after = sim.state.q.copy()
    for other in copies:
        other.step(5)
        assert np.array_equal(other.state.q, after)
    sim.restore(snapshot)
    assert sim.controller.controllers[1].n == snapshot.controller[1]
    sim.step(5)
    assert np.array_equal(sim.state.q, after)
