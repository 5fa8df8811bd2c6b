"""Inverse dynamics: its solution obeys the equations of motion, the cones, the limits and the contacts."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.control import CenterOfMass, FrameOrientation, FramePosition, InverseDynamics, Posture
from stickslip.control.inverse_dynamics import friction_pyramid, rigid_motions
from stickslip.control.references.feet import ROMEO_FEET
from stickslip.control.references.feet import SOLO12_FEET as FEET

BOTH_SOLES = [point for points in ROMEO_FEET.values() for point in points]


def robot(name):
    scene = ss.Scene()
    scene.add_plane()
    scene.add_robot(name)
    return scene.compile()


@pytest.fixture(scope="module")
def solo12():
    return robot("solo12")


@pytest.fixture(scope="module")
def romeo():
    return robot("romeo")


def moving(model, seed=0):
    """A state near home, in motion."""
    rng = np.random.default_rng(seed)
    away, v = 0.05 * rng.normal(size=model.nv), 0.2 * rng.normal(size=model.nv)
    return ss.Dynamics(model).integrate(model.state().q, away), v


def residual(model, q, v, solution):
    """Of the equations of motion, with torques and contact forces applied: M·a + b − Jᵀf − Sᵀτ."""
    dyn = ss.Dynamics(model)
    wrench = np.zeros((model.nlink, 6))
    poses = dyn.poses(q)
    for name, force in zip(solution.contacts, solution.force, strict=True):
        link, point = model.link(name), dyn.frame_pose(q, name)[0]
        wrench[link] += [*force, *np.cross(point - poses[link, :3], force)]
    tau = dyn.rnea(q, v, solution.acceleration, wrench)
    tau[model.tree.joint_v[model.actuators.target]] -= solution.torque
    return tau


def contact_error(model, q, v, solution, kd):
    """p̈ + kd·ṗ of the contact points of each link, as far as the link can do something about it: as a rigid body,
    it cannot take away the centripetal acceleration of one point seen from another."""
    dyn, links = ss.Dynamics(model), {}
    for name in solution.contacts:
        wrong = dyn.frame_acceleration(q, v, solution.acceleration, name) + kd * dyn.frame_velocity(q, v, name)
        links.setdefault(model.link(name), []).append((dyn.frame_pose(q, name)[0], wrong[:3]))
    errors = []
    for rows in links.values():
        points, wrong = np.transpose(rows, (1, 0, 2))
        moves = np.hstack(
            [np.tile(np.eye(3), (len(points), 1)), *(np.cross(e, points).reshape(-1, 1) for e in np.eye(3))]
        )
        errors.append(moves.T @ wrong.ravel())
    return np.concatenate(errors)


CASES = {
    "solo12, hard contacts": ("solo12", FEET, {}),
    "solo12, contacts as a task": ("solo12", FEET, {"contact_weight": 10.0}),
    "solo12, little friction": ("solo12", FEET, {"friction": 0.05, "facets": 4, "contact_weight": 1.0}),
    "romeo, two feet": ("romeo", BOTH_SOLES, {}),
    "romeo, one foot": ("romeo", ROMEO_FEET["l_ankle"], {"torque_limits": False}),
}


@pytest.mark.parametrize(("name", "contacts", "options"), CASES.values(), ids=CASES)
def test_equations_of_motion_cones_and_contacts(name, contacts, options, request):
    model = request.getfixturevalue(name)
    q, v = moving(model)
    tasks = [CenterOfMass(kp=20.0), Posture(weight=1e-3), FrameOrientation("base_link", weight=1e-2)]
    controller = InverseDynamics(list(contacts), tasks, contact_kd=3.0, **options)
    controller.bind(model)
    solution = controller.solve(0.0, q, v)
    assert np.abs(residual(model, q, v, solution)).max() < 1e-8

    normal, tangent = solution.force[:, 2], np.linalg.norm(solution.force[:, :2], axis=1)
    assert np.all(normal >= 1.0 - 1e-6)
    assert np.all(tangent <= options.get("friction", 1.0) * normal + 1e-6)
    if options.get("torque_limits", True):
        assert np.all(np.abs(solution.torque) <= model.actuators.force_range[:, 1] + 1e-6)
    if "contact_weight" not in options:
        assert np.abs(contact_error(model, q, v, solution, kd=3.0)).max() < 1e-8


@pytest.mark.parametrize(("name", "contacts"), [("solo12", FEET), ("romeo", BOTH_SOLES)])
def test_standing_still_carries_the_weight(name, contacts, request):
    """At home and at rest every task is satisfied by doing nothing."""
    model = request.getfixturevalue(name)
    controller = InverseDynamics(list(contacts), [CenterOfMass(), Posture(weight=1e-3)], force_weight=1e-9)
    controller.bind(model)
    solution = controller.solve(0.0, model.state().q, np.zeros(model.nv))
    weight = model.inertia.mass.sum() * 9.81
    assert solution.force.sum(axis=0) == pytest.approx([0, 0, weight], abs=1e-3 * weight)
    assert np.abs(solution.acceleration).max() < 1e-2


def test_torque_limits_bind_and_are_kept(solo12):
    """A leap that needs more than 2.7 N m: the limits are reached, not passed; without them they are."""
    up = np.array([0.0, 0.0, 1.0])
    leap = CenterOfMass(lambda t: (np.zeros(3), np.zeros(3), 60.0 * up), kp=0.0)
    q, v = solo12.state().q, np.zeros(solo12.nv)
    torque = {}
    for limits in (True, False):
        controller = InverseDynamics(FEET, [leap, Posture(weight=1e-3)], torque_limits=limits)
        controller.bind(solo12)
        torque[limits] = np.abs(controller.solve(0.0, q, v).torque).max()
    assert torque[True] == pytest.approx(2.7, abs=1e-6)
    assert torque[False] > 3.0


def test_references_are_followed_where_nothing_hinders(solo12):
    """One foot swings: its acceleration is what was asked for, with feedback."""
    q, v = moving(solo12)
    dyn = ss.Dynamics(solo12)
    here = dyn.frame_pose(q, "FL_FOOT")[0]

    def reference(t):
        return here + np.array([0.0, 0.0, 0.01]), np.array([0.1, 0.0, 0.0]), np.array([t, 0.0, 1.0])

    tasks = [FramePosition("FL_FOOT", reference, weight=1.0, kp=25.0), Posture(weight=1e-9)]
    controller = InverseDynamics(FEET[1:], tasks, force_weight=1e-9)
    controller.bind(solo12)
    solution = controller.solve(2.0, q, v)
    found = dyn.frame_acceleration(q, v, solution.acceleration, "FL_FOOT")[:3]
    velocity = dyn.frame_velocity(q, v, "FL_FOOT")[:3]
    wanted = np.array([2.0, 0.0, 1.0]) + 25.0 * np.array([0, 0, 0.01]) + 10.0 * (np.array([0.1, 0, 0]) - velocity)
    assert found == pytest.approx(wanted, abs=1e-3)


def test_orientation_turns_the_short_way(romeo):
    """A head that shall look 0.2 rad to the left accelerates about the vertical, towards it."""
    c, s = np.cos(0.2), np.sin(0.2)
    dyn, q = ss.Dynamics(romeo), romeo.state().q
    axes = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ dyn.frame_pose(q, "torso")[1]
    tasks = [FrameOrientation("torso", axes, kp=10.0), Posture(weight=1e-9), CenterOfMass(weight=1e-3)]
    controller = InverseDynamics(BOTH_SOLES, tasks, force_weight=1e-10, torque_limits=False)
    controller.bind(romeo)
    solution = controller.solve(0.0, q, np.zeros(romeo.nv))
    found = dyn.frame_acceleration(q, np.zeros(romeo.nv), solution.acceleration, "torso")[3:]
    assert found == pytest.approx([0, 0, 2.0], abs=1e-2)


def test_gear_gain_and_bias_of_actuators_are_honoured():
    """A geared servo with a spring of its own is told the control that gives the same torque as a plain motor."""
    text = """
    <mujoco><worldbody><body name="arm"><joint name="j" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.02" mass="1" contype="0" conaffinity="0"/>
      <site name="tip" pos="0.5 0 0"/></body></worldbody>
      <actuator>{}</actuator></mujoco>"""
    q, v = np.array([0.3]), np.array([0.7])
    forces = []
    for actuator in (
        '<motor name="j" joint="j"/>',
        '<general name="j" joint="j" gear="-3" gainprm="7" biastype="affine" biasprm="0.4 -5 -0.6"/>',
    ):
        scene = ss.Scene.from_xml(text.format(actuator))
        sim = ss.Simulation(scene, method="semi-implicit-euler/none", dt=1e-6)
        controller = InverseDynamics(lambda t: [], [Posture(np.array([1.0]), kp=4.0)])
        controller.bind(sim.model)
        sim.set_state(q, v)
        sim.set_control(controller(0.0, q, v))
        sim.step()
        forces.append((sim.state.v - v) / 1e-6)
    wanted = 4.0 * (1.0 - 0.3) - 4.0 * 0.7
    assert np.ravel(forces) == pytest.approx([wanted, wanted], abs=1e-4)


def test_joint_springs_and_damping_are_counted():
    scene = ss.Scene()
    arm = scene.add_body("arm", joint="hinge", axis=(0, 1, 0), stiffness=3.0, damping=0.5, motor=True)
    arm.add_capsule(0.02, 0.4, mass=0.5, collide=False)
    sim = ss.Simulation(scene, method="semi-implicit-euler/none", dt=1e-6)
    controller = InverseDynamics(lambda t: [], [Posture(np.array([0.2]), kp=9.0)])
    controller.bind(sim.model)
    q, v = np.array([0.4]), np.array([1.0])
    sim.set_state(q, v)
    sim.set_control(controller(0.0, q, v))
    sim.step()
    assert (sim.state.v - v) / 1e-6 == pytest.approx([9.0 * -0.2 - 6.0], abs=2e-3)  # damping is implicit


def test_no_solution_is_an_error_that_says_so(solo12):
    """Feet that must press with a kilonewton each, by motors of 2.7 N m, at rest."""
    controller = InverseDynamics(FEET, [Posture()], normal_force=(1e3, 1e4))
    controller.bind(solo12)
    with pytest.raises(ss.ControlError, match=r"at t = 0.5 s.*FL_FOOT.*torque_limits=False"):
        controller.solve(0.5, solo12.state().q, np.zeros(solo12.nv))


def test_a_robot_that_runs_away_in_a_simulation_says_what_to_change(solo12):
    """Joints at up to 170 rad/s: no torques and contact forces keep the feet where they are."""
    controller = InverseDynamics(FEET, [Posture()])
    sim = ss.Simulation(solo12, method="semi-implicit-euler", dt=1e-5)
    sim.set_state(v=np.arange(solo12.nv) * 10.0)
    with pytest.raises(
        ss.ControlError, match=r"is 170 m/s or rad/s \(joint 'HR_KFE'\).* try a smaller dt, or another me"
    ):
        sim.run(0.1, controller=controller)
    with (
        pytest.raises(ss.ControlError, match=r"not finite: the robot has run away.* a smaller dt"),
        np.errstate(all="ignore"),
    ):
        controller(0.0, solo12.state().q, np.full(solo12.nv, 1e200))


def test_contradictory_contacts_are_an_error(solo12):
    """Two points of one leg, and the joint between them may not move, but shall move apart."""
    wanted = {"FL_FOOT": (0.0, 0.0, 5.0), "FL_LOWER_LEG": None, "FL_UPPER_LEG": None, "FL_SHOULDER": None}
    controller = InverseDynamics(wanted, [Posture()], contact_kp=10.0, torque_limits=False)
    controller.bind(solo12)
    with pytest.raises(ss.ControlError, match="contradict"):
        controller.solve(0.0, solo12.state().q, np.zeros(solo12.nv))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: InverseDynamics([], [Posture()]), "contacts: expected the names of the points"),
        (lambda: InverseDynamics("FL_FOOT", [Posture()]), "contacts: expected the names of the points"),
        (lambda: InverseDynamics(FEET, Posture()), "tasks: expected a list of tasks"),
        (lambda: InverseDynamics(["FL_FOOD"], [Posture()]), "did you mean 'FL_FOOT'"),
        (lambda: InverseDynamics({"FL_FOOT": (1, 2)}, [Posture()]), "position of contact 'FL_FOOT'"),
        (lambda: InverseDynamics(lambda t: 3, [Posture()]), "contacts at t = 0 s: expected names"),
        (lambda: InverseDynamics(FEET, [CenterOfMass(weight=-1.0)]), "CenterOfMass weight: expected a number ≥ 0"),
        (lambda: InverseDynamics(FEET, [CenterOfMass(kp=-1.0)]), "CenterOfMass kp: expected a number ≥ 0"),
        (lambda: InverseDynamics(FEET, [CenterOfMass((0, 0))]), "CenterOfMass reference: position: expected finite"),
        (lambda: InverseDynamics(FEET, [CenterOfMass(lambda t: (0, 0, 0))]), r"numbers of shape \(3,\), got 0"),
        (lambda: InverseDynamics(FEET, [CenterOfMass(lambda t: np.zeros(3))]), "position, velocity, acceleration"),
        (lambda: InverseDynamics(FEET, [FramePosition("FL_FOO")]), "unknown body or site 'FL_FOO'"),
        (lambda: InverseDynamics(FEET, [FrameOrientation("base_link", np.ones((3, 3)))]), "a rotation matrix"),
        (lambda: InverseDynamics(FEET, [Posture()], friction=0.0), "friction: expected a number > 0"),
        (lambda: InverseDynamics(FEET, [Posture()], facets=2), "facets: expected"),
        (lambda: InverseDynamics(FEET, [Posture()], normal_force=(5.0, 1.0)), "normal_force: most: expected"),
        (lambda: InverseDynamics(FEET, [Posture()], normal_force=3.0), "normal_force: expected"),
        (lambda: InverseDynamics(FEET, [Posture()], normal=(0, 0, 0)), "normal: expected"),
    ],
)
def test_bad_input_is_refused_by_name(solo12, make, message):
    with pytest.raises(ss.InputError, match=message):
        make().bind(solo12)


def test_a_controller_without_a_model_says_what_comes_first(solo12):
    with pytest.raises(ss.InputError, match=r"bind\(model\) comes first"):
        InverseDynamics(FEET, [Posture()]).solve(0.0, solo12.state().q, np.zeros(solo12.nv))


def test_pyramid_lies_inside_the_cone_and_touches_it():
    rng = np.random.default_rng(0)
    normal = np.array([0.6, 0.0, 0.8])
    for facets in (3, 4, 8):
        rows = friction_pyramid(normal, 0.7, facets)
        forces = rng.normal(size=(20000, 3)) + 2.0 * normal
        inside = forces[np.all(forces @ rows.T <= 0.0, axis=1)]
        along = inside @ normal
        ratio = np.linalg.norm(inside - along[:, None] * normal, axis=1) / along
        assert len(inside) > 1000
        assert 0.65 < ratio.max() <= 0.7 + 1e-12


@pytest.mark.parametrize(("n", "rank"), [(1, 3), (2, 5), (3, 6), (4, 6)])
def test_points_of_one_link_move_as_a_rigid_body(n, rank):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(n, 3))
    basis = rigid_motions(points)
    assert basis.shape == (3 * n, rank)
    velocity = (rng.normal(size=3) + np.cross(rng.normal(size=3), points)).ravel()
    assert basis @ (basis.T @ velocity) == pytest.approx(velocity, abs=1e-12)
