"""Implicit Euler: its Jacobian against finite differences, its order, its stability, and what it says of itself."""

import warnings

import numpy as np
import pytest
from end_of_step import TWO_TREES, Problem, on_plane, stepper_for

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.errors import InputError, UnconvergedWarning
from stickslip.methods.base import DIVERGED, Inputs
from stickslip.methods.implicit_euler.implicit_euler import PLAIN, ImplicitEuler
from stickslip.methods.implicit_euler.implicit_step import evaluate
from stickslip.methods.implicit_euler.spring_damper_derivatives import RATES
from stickslip.methods.soft.spring_damper import spring_damper
from stickslip.model.compile import rotation

G = 9.81
METHOD = "implicit-euler"

# -- the Jacobian ------------------------------------------------------------------------------------------------------


TILTED = (0.3, -0.2, 0.9)
CENTER = np.array([0.1, 0.05, -0.02])


def on_tilted_plane(radius, friction, depth, dt=1e-3):
    """A free body; its sphere (radius 0: point), off its origin, is ``depth`` inside a tilted plane."""
    scene = ss.Scene()
    scene.add_body("body").set_inertia(1.5, inertia=(0.02, 0.03, 0.01))
    model = scene.compile()
    center, normal = CENTER, np.array(TILTED) / np.linalg.norm(TILTED)
    shapes = on_plane((0, (0, 0, 0), normal, 1, center, radius), friction=friction)
    q = np.r_[0.2, 0.1, 0.0, 1.0, 0.0, 0.0, 0.0]
    q[:3] += (radius - depth - (q[:3] + center) @ normal) * normal
    return stepper_for(model, dt, shapes), q


@pytest.mark.parametrize("radius", [0.0, 0.1], ids=["point", "sphere"])
@pytest.mark.parametrize("case", ["stick", "slip", "opening", "apart", "closing"])
def test_jacobian_of_one_contact_on_a_tilted_plane(radius, case):
    rng = np.random.default_rng(1)
    depth = -1e-3 if case in ("apart", "closing") else 1e-3
    stepper, q = on_tilted_plane(radius, 0.05 if case == "slip" else 20.0, depth, dt=1e-2)
    normal = np.array(TILTED) / np.linalg.norm(TILTED)
    speed = {"closing": -0.3, "opening": 0.07, "apart": 0.05}.get(case, -0.05)
    # it turns fast, so that every term counts, about an axis that leaves the contact point where it is
    turning = np.array([3.0, -4.0, 2.0])
    v = np.r_[speed * normal - np.cross(turning, CENTER - radius * normal), turning]
    v[:3] += 0.2 * np.cross(normal, [0.0, 1.0, 0.0]) * (case == "slip")
    problem = Problem(stepper, q, v)
    v_end = v + 0.01 * rng.normal(size=6)
    force, used = problem.contacts(v_end)
    if case in ("stick", "slip", "closing"):
        assert force[0] > 1.0
        assert used[0] == pytest.approx(1.0) if case == "slip" else used[0] < 0.9
    else:
        assert len(force) == (case == "opening")
        assert not np.any(force)
    assert problem.jacobian_error(v_end) < 1e-8


@pytest.mark.parametrize("radius", [0.0, 0.2], ids=["point", "sphere"])
@pytest.mark.parametrize("links", [(1, 4), (4, 3), (1, 3), (3, 1)], ids=str)
@pytest.mark.parametrize("friction", [1e-3, 500.0], ids=["slip", "stick"])
def test_jacobian_of_a_plane_on_a_moving_body(radius, links, friction):
    """In another tree, in the same tree, on an ancestor and on a descendant of the other body."""
    scene = ss.Scene.from_xml(TWO_TREES)
    model, rng = scene.compile(), np.random.default_rng(3)
    dyn = Dynamics(model)
    q, v = dyn.integrate(model.state().q, 0.5 * rng.normal(size=model.nv)), 3.0 * rng.normal(size=model.nv)
    poses = dyn.poses(q)
    first, second = links
    R = [rotation(pose[3:]) for pose in poses]
    center = np.array([0.05, -0.1, 0.1])
    world_center = poses[second, :3] + R[second] @ center
    normal = np.array([0.2, 0.5, 0.8]) / np.linalg.norm([0.2, 0.5, 0.8])
    origin = world_center - (radius - 0.02) * normal + np.cross(normal, [0.3, 0.2, -0.4])  # 2 cm deep
    row = (first, R[first].T @ (origin - poses[first, :3]), R[first].T @ normal, second, center, radius)
    stepper = stepper_for(model, 5e-3, on_plane(row, friction=friction))
    problem = Problem(stepper, q, v)
    v_end = v + 0.1 * rng.normal(size=model.nv)
    force, used = problem.contacts(v_end)
    assert force[0] > 10.0
    assert used[0] == pytest.approx(1.0) if friction < 1 else used[0] < 0.9
    assert problem.jacobian_error(v_end) < 1e-8


EVERYTHING = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="a" pos="0 0 1"><joint name="free" type="free" stiffness="3 2 4" damping="0.4 0.3 0.2"/>
    <inertial pos="0.1 0 0" mass="2" diaginertia="0.2 0.3 0.25"/>
    <body name="b" pos="0.3 0 0" gravcomp="0.5">
      <joint name="ball" type="ball" stiffness="5 2 3" damping="0.2" limited="true" range="0 0.4"/>
      <inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.2 0.15"/>
      <body pos="0 0 0.3" gravcomp="2"><inertial pos="0 0 0" mass="0.5" diaginertia="0.1 0.1 0.1"/></body>
      <body name="c" pos="0 0.2 0">
        <joint name="slide" type="slide" axis="1 0 0" stiffness="20 5 30" limited="true" range="-0.1 0.1"/>
        <inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.15"/>
        <body name="d"><joint name="low" type="hinge" axis="0 1 0" limited="true" range="-0.2 3"/>
          <inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.15"/>
          <body name="e"><joint name="servo" type="hinge" axis="0 0 1" damping="0.7" armature="0.1"/>
            <inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.15"/></body></body></body></body></body>
</worldbody>
<actuator><position joint="servo" kp="30" gear="2"/><velocity joint="slide" kv="4"/>
  <position joint="low" kp="500" forcerange="-1 1"/></actuator></mujoco>"""


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("before", [True, False], ids=["beyond limits before", "limits met in the step"])
def test_jacobian_of_joint_forces_and_wrenches(before, rate):
    model, rng = ss.Scene.from_xml(EVERYTHING).compile(), np.random.default_rng(4)
    q = model.tree.q0.copy()
    q[7:11] = np.r_[np.cos(0.3), np.sin(0.3) * np.array([2.0, 1.0, 2.0]) / 3] if before else [1.0, 0.0, 0.0, 0.0]
    q[11:13] = (0.15, -0.3) if before else (0.09, -0.19)
    dt = 1e-2
    v = 0.3 * rng.normal(size=model.nv)
    if not before:
        v[6:9], v[9], v[10] = np.array([2.0, 1.0, 2.0]) * 30, 4.0, -5.0
    inputs = Inputs(np.array([0.5, 0.3, 1.0]), rng.normal(size=model.nv), 3 * rng.normal(size=(model.nlink, 6)))
    stepper = ImplicitEuler(model, dt, "none", damper_rate=rate)
    problem = Problem(stepper, q, v, inputs)
    other = ImplicitEuler(model, dt, "none", damper_rate=rate)
    without = Problem(other, q, v, inputs._replace(wrench=np.zeros((model.nlink, 6))))
    assert np.abs(problem.residual(v) - without.residual(v)).max() > 1.0
    passive = model.joint_forces
    stepper.newton.v[:] = v
    for j in np.flatnonzero(passive.limited):  # each limit pushes: without it the residual is another
        off = passive.limited.copy()
        off[j] = 0
        world = stepper.world._replace(passive=passive._replace(limited=off))
        here = problem.residual(v)
        evaluate(world, *problem.arguments[1:], dt, problem.q, problem.v)
        assert np.abs(here - stepper.newton.r).max() > 0.1
    assert problem.jacobian_error(v + 0.1 * rng.normal(size=model.nv)) < 1e-8


@pytest.mark.parametrize(("speed", "friction", "height"), [(0.02, 0.9, 0.222), (1.0, 0.2, 0.222), (0.5, 0.9, 0.4)])
def test_jacobian_of_solo12_on_four_feet(speed, friction, height):
    scene = ss.Scene()
    scene.add_plane(friction=friction)
    scene.add_robot("solo12", pos=(0, 0, height))
    sim, rng = ss.Simulation(scene, METHOD, dt=1e-3), np.random.default_rng(5)
    v = speed * rng.normal(size=18)
    problem = Problem(sim.stepper, sim.state.q, v)
    v_end = v + 0.01 * rng.normal(size=18)
    force, used = problem.contacts(v_end)
    assert len(force) == (4 if height < 0.3 else 0)
    assert not len(force) or (np.all(used < 1) if friction > 0.5 else np.any(used > 0.999))
    assert problem.jacobian_error(v_end) < 1e-8


@pytest.mark.parametrize("radius", [0.0, 0.1], ids=["point", "sphere"])
@pytest.mark.parametrize("friction", [0.1, 8.0], ids=["slip", "stick"])
def test_forces_at_the_end_of_a_step_are_those_of_the_law(radius, friction):
    """A body that translates, and a sphere that rolls: their contact points move on straight lines."""
    stepper, q = on_tilted_plane(radius, friction, 1e-3)
    normal, rng = np.array(TILTED) / np.linalg.norm(TILTED), np.random.default_rng(6)
    along = np.cross(normal, [0.0, 1.0, 0.0])
    v = np.r_[-0.05 * normal + 0.3 * along, np.zeros(3)]
    problem = Problem(stepper, q, v)
    stepper.anchors.anchor[:] += 1e-4 * rng.normal(size=3)
    problem.residual(v + np.r_[0.01 * rng.normal(size=3), np.zeros(3)])
    contacts = stepper.contacts.arrays
    ours = contacts.force[:1].copy()
    spring_damper(stepper.work.kin, contacts, stepper.anchors, stepper.dt, stepper.dt)
    np.testing.assert_allclose(ours, contacts.force[:1], rtol=1e-9)
    assert np.linalg.norm(ours[0, 1:]) > 0.05 * ours[0, 0]


@pytest.mark.parametrize("radius", [0.0, 0.1], ids=["point", "sphere"])
@pytest.mark.parametrize("friction", [0.1, 8.0], ids=["slip", "stick"])
def test_plain_forces_are_those_of_the_law_in_any_motion(radius, friction):
    """Backward Euler evaluates the law itself, also for a body that turns and for one that has just touched."""
    stepper, q = on_tilted_plane(radius, friction, -1e-5)
    plain = ImplicitEuler(stepper.model, stepper.dt, "spring-damper", stiffness_per="point", **PLAIN)
    normal, rng = np.array(TILTED) / np.linalg.norm(TILTED), np.random.default_rng(7)
    v = np.r_[-0.5 * normal + 0.3 * np.cross(normal, [0.0, 1.0, 0.0]), 0.1 * rng.normal(size=3)]
    sizes = []
    for each in (stepper, plain):
        Problem(each, q, v).residual(v)
        contacts = each.contacts.arrays
        ours = contacts.force[:1].copy()
        assert ours[0, 0] > 1.0
        spring_damper(each.work.kin, contacts, each.anchors, each.dt, each.dt)
        sizes.append(np.abs(ours - contacts.force[:1]).max() / ours[0, 0])
    assert sizes[1] < 1e-12
    assert sizes[0] > 1e-3  # the mean rate of a contact that begins is smaller


# -- the motion --------------------------------------------------------------------------------------------------------


def mass_on_spring(stiffness, damping, height, mass=1.0):
    scene = ss.Scene()
    scene.add_plane(stiffness=stiffness, damping=damping, friction=0.5)
    scene.add_sphere(0.1, pos=(0, 0, 0.1 + height), mass=mass)
    return scene


@pytest.mark.filterwarnings("ignore::stickslip.StartWarning")
def test_first_order_on_a_smooth_contact():
    """A mass on a spring and damper, always in contact: the damped oscillator, halving dt halves the error."""
    K, B, end, offset = 1e3, 4.0, 0.3, 3e-3
    decay, rest = B / 2, -G / K
    omega = np.sqrt(K - decay**2)
    swing = np.cos(omega * end) + decay / omega * np.sin(omega * end)
    exact = rest + offset * np.exp(-decay * end) * swing
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        sim = ss.Simulation(mass_on_spring(K, B, rest + offset), METHOD, dt=dt)
        sim.step(round(end / dt))
        errors.append(abs(sim.state.q[2] - 0.1 - exact))
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.1)


def test_free_flight_is_first_order():
    """A body spinning freely about all axes, against the same at a hundredth of the step."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("body").set_inertia(1.0, inertia=(1.0, 2.0, 3.0))

    def at_the_end(dt):
        sim = ss.Simulation(scene, f"{METHOD}/none", dt=dt)
        sim.set_state(v=[0.1, 0.2, 0.3, 1.0, 2.0, 0.5])
        sim.step(round(1.0 / dt))
        return np.r_[sim.state.q, sim.state.v]

    exact = at_the_end(5e-5)
    coarse, fine = (np.abs(at_the_end(dt) - exact).max() for dt in (1e-2, 5e-3))
    assert coarse / fine == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("start", ["at rest", "dropped"])
def test_stiff_block_at_a_long_step_rests_at_weight_over_stiffness(start):
    scene = ss.Scene()
    scene.add_plane(stiffness=1e5, damping=300.0)
    depth = 2.0 * G / 1e5
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05 - depth if start == "at rest" else 0.06), mass=2.0)
    sim = ss.Simulation(scene, METHOD, dt=1e-2)
    for _ in range(100 if start == "at rest" else 1):
        sim.step(1 if start == "at rest" else 300)
        assert sim.state.q[2] == pytest.approx(0.05 - depth, abs=1e-10)
    assert np.abs(sim.state.v).max() < 1e-8


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
@pytest.mark.parametrize("damping", [0.0, 20.0])
def test_energy_of_a_bouncing_ball_never_grows(dt, damping):
    sim = ss.Simulation(mass_on_spring(1e4, damping, 0.2), METHOD, dt=dt)
    energies, touched = [], False
    for _ in range(round(1.0 / dt)):
        sim.step(1)
        energies.append(sim.observe() + sum(sim.energy()))
        touched |= len(sim.contacts) > 0
    assert touched
    assert np.diff(energies).max() <= 1e-9
    assert sim.stepper.divided == 0


def test_sliding_and_sticking_on_an_incline():
    for degrees, mu in ((25.0, 0.3), (10.0, 0.3)):
        angle = np.deg2rad(degrees)
        normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
        scene = ss.Scene()
        scene.add_plane(normal=normal, friction=mu)
        quat = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
        scene.add_box((0.2, 0.2, 0.05), pos=0.025 * normal, quat=quat, mass=1.0)
        sim = ss.Simulation(scene, METHOD, dt=5e-3)
        sim.step(100)
        before = np.linalg.norm(sim.state.v[:3])
        sim.step(100)
        acceleration = (np.linalg.norm(sim.state.v[:3]) - before) / 0.5
        assert acceleration == pytest.approx(max(0.0, G * (np.sin(angle) - mu * np.cos(angle))), rel=1e-3, abs=1e-6)


def test_ball_rolls_at_five_sevenths_of_its_speed():
    sim = ss.Simulation(mass_on_spring(1e5, 300.0, -G / 1e5), METHOD, dt=1e-3)
    sim.set_state(v=[2.0, 0, 0, 0, 0, 0])
    sim.step(1500)
    assert sim.state.v[0] == pytest.approx(10 / 7, rel=2e-3)
    assert sim.state.v[0] == pytest.approx(0.1 * sim.state.v[4], rel=1e-3)


def test_a_robot_thrown_on_the_floor_converges_in_every_step():
    """Limp, tumbling, at ten milliseconds: contacts open and close, stick and slip in nearly every step."""
    setup = ss.SCENES["a1-drop"].build()
    sim = ss.Simulation(setup.scene, METHOD, dt=1e-2)
    sim.set_state(v=np.r_[2 * np.random.default_rng(1).normal(size=6), np.zeros(12)])
    before = sum(sim.energy())
    sim.step(100)
    assert sim.stepper.unconverged == 0
    assert sum(sim.energy()) < before


def test_no_leap_to_another_turn_of_a_joint():
    """A limp leg that is hit hard: at this step the equations have solutions that turn it by several radians."""
    setup = ss.SCENES["solo12-drop"].build()
    sim = ss.Simulation(setup.scene, METHOD, dt=1e-2)
    sim.set_state(v=np.r_[2 * np.random.default_rng(6).normal(size=6), np.zeros(12)])
    before = sum(sim.energy())
    for _ in range(60):
        sim.step(1)
        assert sum(sim.energy()) < before
    assert sim.stepper.divided > 0


def test_converges_to_the_motion_of_semi_implicit_euler():
    """A box lands on an edge, slides, tips and leaves the floor: at short steps the two methods agree, ever better."""
    scene = ss.Scene()
    scene.add_plane(friction=0.4)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.12), quat=(np.cos(0.1), 0, np.sin(0.1), 0), mass=1.0)
    model = scene.compile()

    def at_the_end(method, dt):
        sim = ss.Simulation(model, method, dt=dt)
        sim.set_state(v=[0.5, 0, -0.3, 0, 0, 0])
        sim.step(round(0.09 / dt))
        return sim.state.v

    reference = at_the_end("semi-implicit-euler", 1e-6)
    errors = [np.abs(at_the_end(METHOD, dt) - reference).max() for dt in (1e-4, 5e-5, 2.5e-5)]
    assert 1.5 < errors[0] / errors[1] < 2.5
    assert 1.5 < errors[1] / errors[2] < 2.5


# -- what it says of itself --------------------------------------------------------------------------------------------


def test_unconverged_steps_are_counted_recorded_and_announced():
    setup = ss.SCENES["solo12-drop"].build()
    sim = ss.Simulation(setup.scene, METHOD, dt=1e-3)
    sim.stepper.options.max_iterations = 1
    sim.set_state(v=np.r_[0, 0, -2.0, 1.0, 2.0, 3.0, np.zeros(12)])
    with pytest.warns(UnconvergedWarning, match=r"implicit-euler: the solver of \d+ of 200 steps did not reach"):
        log = sim.run(0.2, record_dt=1e-3)
    assert sim.stepper.unconverged > 0
    assert np.count_nonzero(log.residual > sim.stepper.options.tolerance) == sim.stepper.unconverged
    assert log.iterations[0] == 0
    assert np.all(log.iterations[1:] >= 1)
    with pytest.warns(UnconvergedWarning):
        sim.step(100)


def test_converged_steps_say_nothing_and_are_recorded():
    setup = ss.SCENES["solo12-drop"].build()
    sim = ss.Simulation(setup.scene, METHOD, dt=1e-3)
    log = sim.run(0.2, record_dt=1e-3)
    assert sim.stepper.unconverged == 0
    assert np.all(log.residual <= sim.stepper.options.tolerance)
    assert 1 <= log.iterations.max() < 30


def test_plain_backward_euler_divides_no_step():
    """On the falls that the default divides steps for, it goes on with its best velocities, and counts them."""
    setup = ss.SCENES["solo12-drop"].build()
    steppers = []
    for options in ({}, PLAIN):
        sim = ss.Simulation(setup.scene, METHOD, dt=1e-2, **options)
        sim.set_state(v=np.r_[2 * np.random.default_rng(6).normal(size=6), np.zeros(12)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnconvergedWarning)
            sim.step(60)
        steppers.append(sim.stepper)
    ours, plain = steppers
    assert ours.divided > 0
    assert ours.unconverged == 0
    assert plain.divided == 0
    assert plain.unconverged > 0


def test_plain_backward_euler_is_of_the_same_order_on_a_lasting_contact():
    """Where a contact lasts and its point moves straight on, the two rates agree to round-off."""
    ends = []
    for options in ({}, PLAIN):
        sim = ss.Simulation(mass_on_spring(1e4, 30.0, -2e-3), METHOD, dt=1e-3, **options)
        sim.step(100)
        ends.append(sim.state.q.copy())
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-10)


def test_forces_without_sense_diverge_by_name():
    sim = ss.Simulation(mass_on_spring(1e4, 0.0, 0.1), METHOD)
    sim.inputs.applied[2] = 1e15
    with pytest.raises(ss.DivergedError, match="body 'body1'"):
        sim.step(1)
    assert sim.state.q[2] == 0.2
    sim.inputs.applied[2] = np.nan  # Simulation.step would refuse it; the method holds out by itself
    assert sim.stepper.advance(sim.state, sim.inputs, 1) == (DIVERGED, 0)
    assert sim.state.q[2] == 0.2


@pytest.mark.parametrize(
    "option",
    [{"tolerance": 0.0}, {"max_iterations": 0}, {"max_iterations": 1.5}, {"damper_rate": "last"}, {"divisions": -1}],
)
def test_bad_options_are_refused_by_name(option):
    sim = ss.Simulation(mass_on_spring(1e4, 0.0, 0.1), METHOD)
    with pytest.raises(InputError, match=next(iter(option))):
        ImplicitEuler(sim.model, 1e-3, "spring-damper", **option)


def test_stage_by_stage_is_the_same():
    setup = ss.SCENES["solo12-drop"].build()
    v = np.r_[1.0, 0, -2.0, 1.0, 2.0, 3.0, np.zeros(12)]
    compiled, staged = (ss.Simulation(setup.scene, METHOD, dt=2e-3, user=user) for user in (None, lambda sim: None))
    for sim in (compiled, staged):
        sim.set_state(v=v)
        sim.step(100)
    np.testing.assert_array_equal(compiled.state.q, staged.state.q)
    np.testing.assert_array_equal(compiled.state.v, staged.state.v)


def test_contact_stages_cannot_be_replaced():
    sim = ss.Simulation(mass_on_spring(1e4, 0.0, 0.1), METHOD, collision=lambda sim: sim.contacts.clear())
    with pytest.raises(InputError, match="inside its compiled step"):
        sim.step(1)
