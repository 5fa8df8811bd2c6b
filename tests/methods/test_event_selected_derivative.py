"""B-derivatives of steps of scenes, against one-sided differences on each side of contacts that touch at once."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.model.arrays import FREE
from stickslip.scenes.springs import plate_on_springs, preloaded_hopper

SHARP = {"rtol": 1e-11, "atol": 1e-13, "eps": 1e-9}
SMALL = 1e-5


def moved(dyn, q, v, displacement):
    """q and v displaced by (δq, δv), q by its tangent."""
    nv = len(v)
    return dyn.integrate(q, displacement[:nv]), v + displacement[nv:]


def difference(dyn, model, a, b):
    """(δq, δv) from state a to state b; quaternions by their vector part."""
    out = np.concatenate([np.zeros(model.nv), b[1] - a[1]])
    for j in range(len(model.tree.joint_type)):
        i, d = model.tree.joint_q[j], model.tree.joint_v[j]
        if model.tree.joint_type[j] == FREE:
            out[d : d + 3] = b[0][i : i + 3] - a[0][i : i + 3]
            w, x, y, z = a[0][i + 3 : i + 7]
            left = np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])
            out[d + 3 : d + 6] = 2.0 * left @ b[0][i + 3 : i + 7]
        else:
            out[d] = b[0][i] - a[0][i]
    return out


class Case:
    """A scene, the state at the beginning of a step, and the step."""

    def __init__(self, scene, dt, q=None, v=None):
        self.sim = ss.Simulation(scene, "event-selected", dt=dt, **SHARP)
        self.dyn = ss.Dynamics(self.sim.model)
        state = self.sim.state
        self.q = state.q.copy() if q is None else np.asarray(q, float)
        self.v = state.v.copy() if v is None else np.asarray(v, float)

    def end(self, displacement=None):
        q, v = (self.q, self.v) if displacement is None else moved(self.dyn, self.q, self.v, displacement)
        self.sim.set_state(q=q, v=v)
        self.sim.step(1)
        return self.sim.state.q.copy(), self.sim.state.v.copy()

    def differences(self, displacements):
        """One-sided differences of the end, a column for each displacement of size 1."""
        base = self.end()
        ends = [self.end(SMALL * np.asarray(dx)) for dx in displacements]
        return np.array([difference(self.dyn, self.sim.model, base, end) for end in ends]).T / SMALL


def check(case, displacements, tolerance=1e-3):
    found = case.differences(displacements)
    case.end()
    B = case.sim.stepper.b_derivative()
    expected = B(np.transpose(displacements))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())
    return B


def test_a_hop():
    B = check(Case(preloaded_hopper(preload=20.0).scene, 0.8), [[1, 0], [0, 1], [-1, 0], [0, -1]])
    assert [k % 4 for k in B.solution.crossings.guard] == [0, 1]
    assert abs(np.linalg.det(B.matrix) - 1.0) < 1e-6  # nothing is lost without damping


def test_a_level_plate_touches_all_springs_at_once():
    case = Case(plate_on_springs(4, tilt=0.0, height=1.3, preload=8.0).scene, 0.4)
    sides = [[0, 0, 1, 0, 0, 0], [0, 0, -1, 0, 0, 0], [0, 0, 0.3, 0, 0, 1], [0, 1, -1, 0, 0, 0], [1, 0, 0, 0, 1, 0]]
    B = check(case, sides)
    assert len(B.groups[0]) == 4
    case.end(SMALL * np.array(sides[0]))
    first = case.sim.stepper.b_derivative().solution.crossings.guard[:4]
    case.end(SMALL * np.array(sides[1]))
    other = case.sim.stepper.b_derivative().solution.crossings.guard[:4]
    assert first.tolist() == other[::-1].tolist()  # the sides are two orders of touching


def test_a_free_box_lands_flat_and_its_corners_stick():
    scene = ss.Scene()
    scene.add_plane(friction=1.0, stiffness=4e3, damping=20.0)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.12), mass=1.0)
    case = Case(scene, 0.08)
    rng = np.random.default_rng(0)
    sides = [*np.eye(12)[[2, 3, 4, 9]], *-np.eye(12)[[2, 3, 4]]]
    B = check(case, [*sides, 0.3 * np.r_[rng.uniform(-1, 1, 6), 0, 0, 0, 0, 0, 0]], 3e-3)
    assert [len(group) for group in B.groups] == [4]


def test_a_contact_that_sticks_at_the_beginning():
    """Its anchor stays where it is when the body is displaced."""
    scene = ss.Scene()
    scene.add_plane(friction=1.0, stiffness=1e3, damping=3.0)
    body = scene.add_body("puck", joint="slide", axis=(1, 0, 0))
    body.add_joint("slide", axis=(0, 0, 1), name="height")
    body.add_sphere(0.1, mass=1.0, collide=False)
    body.add_contact_point("tip")
    scene.set_home("height", -9.81e-3)
    sim = ss.Simulation(scene, "event-selected", dt=0.05, **SHARP)
    sim.inputs.applied[0] = 2.0
    sim.step(1)
    saved, ends = sim.snapshot(), []
    for dx in (0.0, SMALL):
        sim.restore(saved)
        sim.state.q[0] += dx
        sim.step(1)
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    sim.restore(saved)
    sim.step(1)
    B = sim.stepper.b_derivative()
    np.testing.assert_allclose(B([1, 0, 0, 0]), (ends[1] - ends[0]) / SMALL, rtol=0, atol=2e-3)
    assert len(B.solution.crossings.t) == 0


def test_what_has_no_derivative_is_an_error():
    sim = ss.Simulation(preloaded_hopper().scene, "event-selected", dt=0.1)
    with pytest.raises(ss.InputError, match="expected a step to differentiate"):
        sim.stepper.b_derivative()
    sim.step(1)
    with pytest.raises(ss.InputError, match="displacement: expected"):
        sim.stepper.b_derivative()(np.zeros(3))
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_sphere(0.1, pos=(0, 0, 0.11), mass=1.0)
    sim = ss.Simulation(scene, "event-selected", dt=0.06)
    sim.set_state(v=[1.0, 0, 0, 0, 0, 0])
    sim.step(1)
    with pytest.raises(ss.InputError, match="begins to slip at"):
        sim.stepper.b_derivative()
