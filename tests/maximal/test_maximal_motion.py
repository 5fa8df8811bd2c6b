"""Mechanisms in maximal coordinates: joint errors, periods, momentum, loops; without contacts."""

from itertools import pairwise

import numpy as np
import pytest
from mechanisms import bars, inputs, pendulum, random_state, random_tree, step
from scipy.special import ellipk

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.maximal import Joint, to_bodies
from stickslip.methods.rigid.coordinates.maximal_coordinates import MaximalCoordinates

START = np.pi / 5


def run(coordinates, state, dt, time, given=None):
    """Positions after every step, and the joint errors (steps, 2)."""
    given = given or inputs(coordinates.model)
    q, errors = [state.q.copy()], []
    for _ in range(round(time / dt)):
        step(coordinates, state, given, dt)
        q.append(state.q.copy())
        errors.append([np.max(error, initial=0.0) for error in coordinates.joint_error()])
    return np.array(q), np.array(errors)


def start(model, joint):
    half = START / 2
    return model.state([START] if joint == "hinge" else [np.cos(half), 0.0, np.sin(half), 0.0])


def periods(angle, dt):
    down = np.flatnonzero((angle[:-1] > 0) & (angle[1:] <= 0))
    crossing = (down + angle[down] / (angle[down] - angle[down + 1])) * dt
    return np.diff(crossing)


@pytest.mark.parametrize(("joint", "dt"), [("hinge", 0.01), ("ball", 0.005)])
def test_stabilised_pendulum_keeps_its_joint(joint, dt):
    model = pendulum(joint)
    coordinates = MaximalCoordinates(model)
    _, errors = run(coordinates, start(model, joint), dt, 5.0)
    assert errors.max() <= 1e-5
    assert coordinates.stabilisation.converged


@pytest.mark.parametrize(("joint", "dt", "original"), [("hinge", 0.01, 1.7e-3), ("ball", 0.005, 8.4e-4)])
def test_without_stabilisation_the_joint_drifts_as_in_the_original(joint, dt, original):
    """Velocity errors are fed back, and drift is that of the RPI simulator; without feedback, as ``step`` here does it,
    a step leaves h²/2·ω²·r, which adds up to h/2·∫ω²·r dt, 18 times as much."""
    model = pendulum(joint)
    sim = ss.Simulation(model, "stewart-trinkle/lemke", dt=dt, coordinates="maximal", stabilise=False)
    sim.set_state(start(model, joint).q)
    error = sim.run(5.0, record_dt=0.1).joint_error[:, 0, 0]
    assert error.max() == pytest.approx(original, rel=0.2)
    assert error[-1] > 0.5 * error.max()  # it adds up
    _, without = run(MaximalCoordinates(model, stabilise=False), start(model, joint), dt, 0.5)
    log = ss.Simulation(model, "stewart-trinkle/lemke", dt=dt)
    log.set_state(start(model, joint).q)
    v = log.run(0.5, record_dt=dt).v
    predicted = dt / 2 * 0.25 * np.sum(v**2) * dt
    assert without[-1, 0] == pytest.approx(predicted, rel=0.1)


def test_the_period_is_that_of_joint_coordinates_and_of_theory():
    model = pendulum("hinge")
    q, _ = run(MaximalCoordinates(model), start(model, "hinge"), 0.01, 5.0)
    sim = ss.Simulation(model, "semi-implicit-euler", dt=0.01)
    sim.set_state([START])
    theirs = sim.run(5.0, record_dt=0.01).q[:, 0]
    about_joint = model.inertia.inertia[1, 1] + 0.25**2
    exact = 4 * np.sqrt(about_joint / (9.81 * 0.25)) * ellipk(np.sin(START / 2) ** 2)
    np.testing.assert_allclose(periods(q[:, 0], 0.01), exact, rtol=2e-4)
    np.testing.assert_allclose(periods(q[:, 0], 0.01), periods(theirs, 0.01), rtol=1e-4)
    assert abs(np.abs(q[-150:]).max() - START) < 1e-3  # and it swings as high as in the beginning


def test_unstabilised_steps_converge_to_joint_coordinates():
    """Every kind of joint: half the step, half the distance from the trajectory in joint coordinates."""
    for seed in (2, 5):
        model = random_tree(seed, links=5)
        begin = random_state(model, np.random.default_rng(seed), size=0.3)
        exact = ss.Simulation(model, "rk4", dt=5e-4)
        exact.set_state(begin.q, begin.v)
        exact.step(400)
        for stabilise in (False, True):
            distance = []
            for dt in (4e-3, 2e-3):
                state = begin.copy()
                run(MaximalCoordinates(model, stabilise=stabilise), state, dt, 0.2)
                distance.append(np.abs(Dynamics(model).difference(exact.state.q, state.q)).max())
            assert distance[1] < 0.65 * distance[0] < 0.1, (seed, stabilise, distance)


def free_chain():
    """Three bars without gravity, frames in their middles; the first is free."""
    scene = ss.Scene(gravity=(0, 0, 0))
    bar = scene.add_body("bar0", pos=(0, 0, 0))
    every = [bar]
    for k, joint in enumerate(("hinge", "ball")):
        bar = bar.add_body(f"bar{k + 1}", pos=(0.5, 0, 0))
        bar.add_joint(joint, axis=(0, 1, 0), pos=(-0.25, 0, 0))
        every.append(bar)
    for bar in every:
        bar.add_box((0.5, 0.1, 0.2), mass=1.0)
    return scene.compile()


def momentum(model, state):
    return Dynamics(model).momentum(state.q, state.v, np.zeros(3))


def test_a_free_chain_keeps_its_momentum():
    """Linear: to round-off. Angular: impulses keep it, what is left is the explicit gyroscopic term, of order dt."""
    model = free_chain()
    change = []
    for dt in (2e-3, 1e-3):
        state = random_state(model, np.random.default_rng(4))
        before = momentum(model, state)
        _, errors = run(MaximalCoordinates(model), state, dt, 1.0)
        after = momentum(model, state)
        assert errors.max() <= 1e-5
        # the state's joint coordinates leave out the joint errors, hence the tolerance
        np.testing.assert_allclose(after[:3], before[:3], atol=1e-4)
        change.append(np.abs(after[3:] - before[3:]).max())
    assert change[1] < 0.6 * change[0] < 0.1


def test_corrections_change_no_momentum():
    model = free_chain()
    coordinates, state = MaximalCoordinates(model), random_state(model, np.random.default_rng(6))
    coordinates.begin(state, inputs(model), 0.01)
    constraints = coordinates.constraints
    constraints.factorise(coordinates.M)
    V = np.random.default_rng(7).normal(size=coordinates.cut.nv)
    bodies = Dynamics(coordinates.cut)
    before = bodies.momentum(coordinates.Q, V, np.zeros(3))
    V += constraints.correct(-constraints.velocity_errors(V))
    np.testing.assert_allclose(constraints.velocity_errors(V), 0.0, atol=1e-12)
    np.testing.assert_allclose(bodies.momentum(coordinates.Q, V, np.zeros(3)), before, atol=1e-12)


def four_bar():
    """A parallelogram of crank, coupler and rocker, all of 1 m, hung on the world at x = 0 and x = 1."""
    scene = ss.Scene()
    crank = scene.add_body("crank", joint="fixed", pos=(0, 0, -0.5))
    crank.add_joint("hinge", axis=(0, 1, 0), pos=(0, 0, 0.5))
    coupler = crank.add_body("coupler", pos=(0.5, 0, -0.5))
    coupler.add_joint("hinge", axis=(0, 1, 0), pos=(-0.5, 0, 0))
    rocker = coupler.add_body("rocker", pos=(0.5, 0, 0.5))
    rocker.add_joint("hinge", axis=(0, 1, 0), pos=(0, 0, -0.5))
    for body, size in ((crank, (0.05, 0.05, 1)), (coupler, (1, 0.05, 0.05)), (rocker, (0.05, 0.05, 1))):
        body.add_box(size, mass=1.0)
    return scene.compile()


@pytest.mark.parametrize("closing", ["in-line", "revolute", "spherical"])
def test_four_bar_loop(closing):
    """A parallelogram swings as a pendulum: crank and rocker turn about their ends, the coupler does not turn.

    With "revolute" three of the loop's rows are redundant, with "spherical" one.
    """
    model = four_bar()
    closed = Joint(closing, "world", "rocker", anchor=(1, 0, 0), axis=(0, 1, 0))
    coordinates = MaximalCoordinates(model, extra_joints=[closed])
    assert len(coordinates.constraints.forest.loops) == 1
    rod = model.inertia.inertia[1, 1] + 0.25
    inertia, moment = 2 * rod + 1.0, 9.81 * (2 * 0.5 + 1.0)
    state = model.state(np.zeros(3), np.array([1.0, -1.0, 1.0]))
    q, errors = run(coordinates, state, 0.01, 4.0)
    assert errors.max() <= 1e-5
    np.testing.assert_allclose(q[:, 0] + q[:, 1], 0.0, atol=1e-4)  # the coupler stays level
    np.testing.assert_allclose(q[:, 0], q[:, 0] + q[:, 1] + q[:, 2], atol=1e-4)
    amplitude = 2 * np.arcsin(np.sqrt(inertia * 1.0**2 / (4 * moment)))
    exact = 4 * np.sqrt(inertia / moment) * ellipk(np.sin(amplitude / 2) ** 2)
    np.testing.assert_allclose(periods(q[:, 0], 0.01), exact, rtol=1e-3)
    assert abs(q[:, 0].max() - amplitude) < 0.01


def test_a_weld_moves_as_one_body():
    """Two free boxes welded by an extra joint fly and turn as one."""
    scene = ss.Scene()
    scene.add_box((0.1, 0.2, 0.3), mass=1.0, pos=(0, 0, 1), name="a")
    scene.add_box((0.3, 0.2, 0.1), mass=2.0, pos=(0.3, 0, 1), name="b")
    model = scene.compile()
    coordinates = MaximalCoordinates(model, extra_joints=[Joint("fixed", "a", "b", anchor=(0.1, 0, 1))])
    spin, lift = np.array([0.0, 0.0, 2.0]), np.array([0.0, 0.0, 3.0])
    centre = np.array([0.2, 0.0, 1.0])
    places = np.array([[0, 0, 1], [0.3, 0, 1]])
    v = np.concatenate([np.concatenate([lift + np.cross(spin, place - centre), spin]) for place in places])
    state = model.state(v=v)
    q, errors = run(coordinates, state, 0.005, 0.5)
    assert errors.max() <= 1e-5
    height = (q[-1, 2] + 2 * q[-1, 9]) / 3
    assert abs(height - (1.0 + 3.0 * 0.5 - 0.5 * 9.81 * 0.5 * (0.5 + 0.005))) < 1e-6
    turned = np.arctan2(q[-1, 8] - q[-1, 1], q[-1, 7] - q[-1, 0])
    assert abs(turned - 1.0) < 1e-3


def test_a_tree_of_bars_keeps_all_its_joints():
    """127 bars on ball joints, pushed: every joint error stays below the tolerance."""
    model = bars(7)
    assert model.nlink == 128
    state = model.state(v=np.random.default_rng(0).normal(size=model.nv))
    coordinates = MaximalCoordinates(model)
    _, errors = run(coordinates, state, 0.005, 0.1)
    assert errors.max() <= 1e-5
    assert coordinates.stabilisation.position_iterations <= 5


def test_joint_forces_move_as_in_joint_coordinates():
    """Motor, spring, damper on hinge and slide: the acceleration of the first step is that of joint coordinates."""
    scene = ss.Scene()
    arm = scene.add_body("arm", joint="hinge", axis=(0, 1, 0), motor=True, stiffness=3.0, damping=0.2)
    arm.add_box((0.1, 0.1, 0.4), mass=1.0, pos=(0, 0, 0.2))
    hand = arm.add_body("hand", joint="slide", pos=(0, 0, 0.4), axis=(0, 0, 1), motor=True, stiffness=50.0, damping=1.0)
    hand.add_box((0.1, 0.1, 0.2), mass=0.5)
    model = scene.compile()
    given = inputs(model)
    given.control[:] = 0.7, -0.4
    given.applied[:] = 0.1, 0.2
    given.wrench[2] = (1.0, 0.5, -0.3, 0.1, 0.2, 0.3)
    state = model.state([0.4, 0.05], [0.6, -0.3])
    tau = given.control + given.applied - np.array([3.0, 50.0]) * state.q - np.array([0.2, 1.0]) * state.v
    exact = Dynamics(model).aba(state.q, state.v, tau, given.wrench)
    dt, before = 1e-6, state.v.copy()
    step(MaximalCoordinates(model, tolerance=1e-14), state, given, dt)
    np.testing.assert_allclose((state.v - before) / dt, exact, rtol=1e-4)


def test_memory_continues_exactly_and_a_set_state_begins_anew():
    model = pendulum("hinge")
    one, two = MaximalCoordinates(model), MaximalCoordinates(model)
    state = start(model, "hinge")
    run(one, state, 0.01, 0.5)
    saved, kept = {name: array.copy() for name, array in one.memory().items()}, state.copy()
    straight, _ = run(one, state, 0.01, 0.3)
    for name, array in two.memory().items():
        array[:] = saved[name]
    again, _ = run(two, kept, 0.01, 0.3)
    np.testing.assert_array_equal(straight, again)

    for array in two.memory().values():
        array[:] = 0.0
    kept.q[:], kept.v[:] = 0.0, 0.0  # what a zeroed memory has, too
    two.begin(kept, inputs(model), 0.01)
    np.testing.assert_allclose(two.Q, to_bodies(model, kept.q, kept.v)[0])
    kept.v[:] = 1.0
    two.begin(kept, inputs(model), 0.01)
    assert abs(two.V[4] - 1.0) < 1e-15


def test_a_wheel_turns_on():
    """The hinge's angle counts turns, at more than a radian a step."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("wheel", joint="hinge", axis=(0, 1, 0)).add_cylinder(0.2, 0.1, mass=1.0)
    model = scene.compile()
    state = model.state([0.0], [150.0])
    q, _ = run(MaximalCoordinates(model), state, 0.01, 0.5)
    assert all(abs(b - a - 1.5) < 1e-3 for a, b in pairwise(q[:, 0]))
