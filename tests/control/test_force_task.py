"""Contact forces as a task: closed forms for Solo12, which stands on the corners of a rectangle, its weight in the
middle."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.control import CenterOfMass, ContactForce, FrameOrientation, InverseDynamics, Posture
from stickslip.control.references.feet import SOLO12_FEET as FEET

DIAGONAL = np.array([1.0, -1.0, -1.0, 1.0])
"""What may be added to the normal forces of the four feet without turning the robot."""
UP = np.array([0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def solo12():
    scene = ss.Scene()
    scene.add_plane()
    scene.add_robot("solo12")
    return scene.compile()


@pytest.fixture(scope="module")
def weight(solo12):
    return float(solo12.inertia.mass.sum()) * 9.81


def standing(model, *forces, motion=1.0, t=0.0, contacts=FEET, **options):
    """Solution at home and at rest, where every task but those on forces is satisfied by doing nothing."""
    tasks = [CenterOfMass(weight=motion), FrameOrientation("base_link", weight=motion), Posture(weight=1e-3 * motion)]
    controller = InverseDynamics(contacts, [*tasks, *forces], **options)
    controller.bind(model)
    return controller.solve(t, model.state().q, np.zeros(model.nv))


def in_equilibrium(model, weight, seed):
    """(4, 3) forces that carry the robot: a quarter each, and whatever the rigid body does not feel, by its grasp
    matrix."""
    dyn, q = ss.Dynamics(model), model.state().q
    arms = [dyn.frame_pose(q, foot)[0] - dyn.center_of_mass(q) for foot in FEET]
    turning = [np.cross(arm, np.eye(3)).T for arm in arms]
    grasp = np.vstack([np.hstack([np.eye(3)] * 4), np.hstack(turning)])
    unfelt = np.linalg.svd(grasp)[2][6:]
    inner = np.random.default_rng(seed).normal(size=6) @ unfelt
    return np.tile(weight / 4 * UP, (4, 1)) + inner.reshape(4, 3)


@pytest.mark.parametrize("seed", range(3))
def test_a_distribution_in_equilibrium_is_met(solo12, weight, seed):
    wanted = in_equilibrium(solo12, weight, seed)
    assert np.abs(wanted - weight / 4 * UP).max() > 0.5
    for reference in (wanted, dict(zip(FEET, wanted, strict=True)), lambda t: wanted + (t - 2.0)):
        solution = standing(solo12, ContactForce(reference), t=2.0)
        np.testing.assert_allclose(solution.force, wanted, atol=1e-6)
        assert np.abs(solution.acceleration).max() < 1e-6


def test_one_foot_decides_its_diagonal(solo12, weight):
    """Front left carries 35 %: by the balance of moments, so does hind right, and the others 15 % each."""
    solution = standing(solo12, ContactForce({"FL_FOOT": 0.35 * weight * UP}), force_weight=1e-8)
    share = 0.25 + 0.1 * DIAGONAL
    np.testing.assert_allclose(solution.force, np.outer(share, weight * UP), atol=1e-5)


def test_tasks_on_one_contact_share_by_weight(solo12, weight):
    one, two = (in_equilibrium(solo12, weight, seed) for seed in (3, 4))
    solution = standing(solo12, ContactForce(one, weight=1e-3), ContactForce(two, weight=3e-3))
    np.testing.assert_allclose(solution.force, 0.25 * one + 0.75 * two, atol=1e-6)


def test_forces_against_accelerations_share_by_weight(solo12, weight):
    """All feet shall press half as much again, the centre of mass shall stay: with a vertical acceleration a, minimise
    c·a² + 4·w·(m·(g + a)/4 − 1.5·m·g/4)²."""
    c, w, m = 2.0, 0.5, weight / 9.81
    press = ContactForce(np.tile(1.5 * weight / 4 * UP, (4, 1)), weight=w)
    tasks = [CenterOfMass(weight=c), FrameOrientation("base_link"), press]
    controller = InverseDynamics(FEET, tasks, torque_limits=False)
    controller.bind(solo12)
    found = controller.solve(0.0, solo12.state().q, np.zeros(solo12.nv))
    a = w * m * m / 4 * 0.5 * 9.81 / (c + w * m * m / 4)
    assert found.force.sum(axis=0) == pytest.approx([0.0, 0.0, m * (9.81 + a)], abs=1e-6)


def test_beyond_the_friction_cone_ends_on_its_boundary(solo12, weight):
    """Left and right feet shall push apart by 100 N: they do by what the facet of the pyramid allows."""
    sideways = 100.0 * np.array([[0.0, y, 0.0] for y in (1, -1, 1, -1)])
    mu = 0.4
    reference = ContactForce(weight / 4 * UP + sideways, weight=1e-2)
    solution = standing(solo12, reference, friction=mu, motion=1e3, torque_limits=False)
    most = mu * np.cos(np.pi / 8) * solution.force[:, 2]
    np.testing.assert_allclose(solution.force[:, 1], most * np.sign(sideways[:, 1]), atol=1e-6)
    np.testing.assert_allclose(solution.force[:, 2], weight / 4, rtol=1e-3)


def test_feet_press_with_their_least_force_at_least(solo12, weight):
    all_on_one_diagonal = ContactForce(np.outer([0.5, 0.0, 0.0, 0.5], weight * UP))
    solution = standing(solo12, all_on_one_diagonal, normal_force=(2.0, 1e4), motion=1e3)
    np.testing.assert_allclose(solution.force[:, 2], weight / 4 + DIAGONAL * (weight / 4 - 2.0), atol=1e-3)


def test_off_means_as_if_it_were_not_there(solo12):
    plain = standing(solo12).force
    np.testing.assert_array_equal(standing(solo12, ContactForce(lambda t: None)).force, plain)
    np.testing.assert_array_equal(standing(solo12, ContactForce(np.zeros((4, 3)), weight=0.0)).force, plain)


def test_contacts_that_do_not_touch_are_passed_over(solo12, weight):
    """A mapping for all feet, while one is in the air: the others have their references, in their own order."""
    wanted = {foot: (i + 1.0) * UP for i, foot in enumerate(FEET)}
    task = ContactForce(wanted)
    task.bind(solo12, FEET, always=False)
    members, force = task.target(0.0, ("HR_FOOT", "FR_FOOT"))
    np.testing.assert_array_equal(members, [0, 1])
    np.testing.assert_array_equal(force, [4.0 * UP, 2.0 * UP])
    three = standing(solo12, task, contacts=lambda t: FEET[:3], torque_limits=False, contact_weight=1e3)
    assert three.contacts == FEET[:3]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (
            None,
            r"ContactForce reference at t = 0 s: expected forces of shape \(4, 3\) \[N\], a row for each of FL_FOOT",
        ),
        (np.zeros((3, 3)), r"got 'shape \(3, 3\)'; a mapping from contacts"),
        (np.zeros(3), r"got 'shape \(3,\)'"),
        ("heavy", r"expected forces of shape \(4, 3\)"),
        (np.full((4, 3), np.nan), "expected finite forces"),
        (lambda t: np.zeros((2, 3)), r"at t = 0 s: expected forces of shape \(4, 3\)"),
        ({"FL_FOOT": 8.0}, r"'FL_FOOT': expected three numbers \[N\], got 'shape \(\)'"),
        ({"FL_FOOD": (0, 0, 8)}, "did you mean 'FL_FOOT'"),
        ({"base_link": (0, 0, 8)}, "unknown contact of ContactForce 'base_link': known: FL_FOOT"),
    ],
)
def test_bad_references_are_refused_by_name(solo12, reference, message):
    with pytest.raises(ss.InputError, match=message):
        InverseDynamics(FEET, [Posture(), ContactForce(reference)]).bind(solo12)


def test_bad_weights_are_refused():
    with pytest.raises(ss.InputError, match="ContactForce weight: expected a number ≥ 0"):
        ContactForce(np.zeros((4, 3)), weight=-1.0)
