"""The variational stepper where things go wrong: no numbers, no solution, open joints, half turns."""

from contextlib import suppress

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import DivergedError, InputError, StartWarning, UnconvergedError, UnconvergedWarning
from stickslip.maximal import Joint
from stickslip.methods.base import DIVERGED
from stickslip.methods.variational.interior_point import STATUS
from stickslip.scenes.linkages import four_bar

DT = 0.01
both_cones = pytest.mark.parametrize("cone", ["pyramid", "circular"])


def cube(height=0.25, dt=DT, v=None, cone="pyramid", **options):
    scene = ss.Scene()
    scene.add_plane(friction=0.3)
    scene.add_box((0.5, 0.5, 0.5), mass=1.0, pos=(0, 0, height), name="cube")
    sim = ss.Simulation(scene, f"variational/{cone}", dt=dt, **options)
    if v is not None:
        sim.set_state(v=v)
    return sim


def pendulum(gravity=(0, 0, -9.81)):
    """With a motor, above a floor that it does not reach."""
    scene = ss.Scene(gravity=gravity)
    scene.add_plane()
    body = scene.add_body("rod", pos=(0, 0, 2), joint="fixed")
    body.add_joint("hinge", axis=(0, 1, 0), motor=True, name="motor")
    body.add_capsule(0.05, 0.5, pos=(0.1, 0, -0.3), mass=1.0)
    return ss.Simulation(scene, "variational", dt=DT)


def spinning_box(dt, **options):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box((0.2, 0.2, 0.2), mass=1.0, name="box")
    return ss.Simulation(scene, "variational", dt=dt, **options)


def everything(sim):
    """State and memory, as one array."""
    memory = sim.stepper.memory()
    return np.concatenate([sim.state.q, sim.state.v, *(memory[name].ravel() for name in sorted(memory))])


def own_collision(sim):
    """A Python collision stage that finds nothing: steps go stage by stage."""
    sim.contacts.clear()


# -- numbers that are none -------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", [None, own_collision], ids=["compiled", "staged"])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e20])
@pytest.mark.parametrize("place", [0, 4], ids=["force", "torque"])
def test_a_wrench_without_sense_diverges_and_leaves_the_state(stage, value, place):
    sim, twin = (cube(0.4, v=[0.1, 0, 0, 0, 0.2, 0], collision=stage) for _ in range(2))
    sim.step(3)
    before = everything(sim)
    sim.inputs.wrench[1, place] = value
    if np.isfinite(value):
        with pytest.raises((DivergedError, UnconvergedError)) as raised:
            sim.step(5)
        assert place == 4 or raised.type is DivergedError
    else:
        with pytest.raises(InputError, match=rf"sim.inputs.wrench\[1, {place}\] of body .* got {value}"):
            sim.step(5)
        with suppress(UnconvergedError):  # the method holds out by itself
            assert sim.stepper.advance(sim.state, sim.inputs, 5) == (DIVERGED, 0)
    assert value == 1e20 or sim.stepper.status != STATUS[0]  # 1e18 m/s is a solution, but nobody's
    assert (sim.steps, sim.time) == (3, 3 * DT)
    np.testing.assert_array_equal(everything(sim), before)
    sim.inputs.wrench[:] = 0.0
    sim.step(5)
    twin.step(8)
    np.testing.assert_array_equal(sim.state.q, twin.state.q)


@pytest.mark.parametrize("policy", ["warn", "raise"])
@pytest.mark.parametrize("given", ["control", "applied"])
@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (0, 0, 0)], ids=["swinging", "at rest"])
def test_controls_and_joint_forces_without_sense_diverge(given, gravity, policy):
    sim = pendulum(gravity)
    sim.stepper.policy = policy
    sim.step(2)
    before = everything(sim)
    getattr(sim.inputs, given)[0] = np.nan
    with pytest.raises(InputError, match=rf"sim.inputs.{given}\[0\] of (joint|actuator) .* got nan"):
        sim.step(3)
    assert sim.stepper.advance(sim.state, sim.inputs, 3) == (DIVERGED, 0)  # the method holds out by itself
    assert sim.stepper.status != STATUS[0]
    assert sim.steps == 2
    np.testing.assert_array_equal(everything(sim), before)


# -- steps that are not solved ---------------------------------------------------------------------------------


@both_cones
def test_a_step_that_is_not_solved_stops_a_run_where_it_is(cone):
    """Free fall needs one or two iterations, landing more: the cube is stopped in the air, and goes on from there."""
    sim, twin = (cube(0.6, v=[1, 0.5, 0, 1, 2, 0], cone=cone, unconverged="raise") for _ in range(2))
    sim.stepper.settings = sim.stepper.settings._replace(iterations=3)
    with pytest.raises(UnconvergedError, match=r"not solved within the iter.*momenta miss by.*unconverged='warn'"):
        sim.step(50)
    assert 10 < sim.steps < 50
    assert sim.time == pytest.approx(sim.steps * DT)
    assert sim.stepper.status == STATUS[1]
    twin.step(sim.steps)
    np.testing.assert_array_equal(everything(sim), everything(twin))
    with pytest.raises(UnconvergedError):
        sim.step(50)
    np.testing.assert_array_equal(everything(sim), everything(twin))
    sim.stepper.settings = twin.stepper.settings
    sim.step(20)
    twin.step(20)
    assert sim.stepper.unconverged == 0
    assert sim.stepper.status == STATUS[0]
    np.testing.assert_array_equal(everything(sim), everything(twin))


@both_cones
def test_unsolved_steps_are_counted_and_told(cone):
    sim = cube(0.3, cone=cone, iterations=1)
    with pytest.warns(UnconvergedWarning, match=r"\d+ of 15 steps") as told:
        sim.step(15)
    assert 0 < sim.stepper.unconverged <= 15
    assert f" {sim.stepper.unconverged} of 15 steps" in str(told[0].message)
    assert sim.steps == 15
    assert np.isfinite(sim.state.q).all()
    assert sim.stepper.status == STATUS[1]
    assert sim.stepper.residual > sim.stepper.settings.tolerance
    assert sim.stepper.iterations <= 2  # one with the last step's multipliers, one without


def test_the_status_of_a_solved_step_is_honest():
    sim = cube(v=[1, 0, 0, 0, 0, 0])
    for _ in range(20):
        sim.step()
        assert sim.stepper.status == STATUS[0]
        assert sim.stepper.residual <= 1e-6
        assert sim.stepper.report[3] <= 1e-10
        assert 1 <= sim.stepper.iterations <= 40


# -- spins -----------------------------------------------------------------------------------------------------


def test_half_a_turn_in_a_step_names_body_and_dt_and_leaves_what_was():
    sim, twin = spinning_box(DT), spinning_box(DT)
    for each in (sim, twin):
        each.set_state(v=[0, 0, 0, 1, 2, 3])
        each.step(3)
    v = sim.state.v.copy()
    sim.state.v[3:] = 0, 201.0, 0
    with pytest.raises(InputError, match=r"'box'.*2/dt = 200 rad/s.*201 rad/s.*choose dt below"):
        sim.step()
    sim.state.v[:] = v
    sim.step(3)
    twin.step(3)
    np.testing.assert_allclose(sim.state.q, twin.state.q, atol=1e-12)


def test_a_torque_that_turns_too_fast_is_told_and_a_smaller_step_bears_it():
    """J·ω̇ = τ: 150 rad/s after 0.1 s, where √2/dt is the most that a step carries, 141 at dt = 0.01."""
    sim = spinning_box(DT)
    J = sim.model.inertia.inertia[1, 0]
    sim.inputs.wrench[1, 4] = 1500.0 * J
    with pytest.raises(UnconvergedError, match=r"'box'.*2/dt = 200 rad/s"):
        sim.step(10)
    assert 5 <= sim.steps < 10
    assert np.isfinite(sim.state.q).all()
    small = spinning_box(DT / 10)
    small.inputs.wrench[1, 4] = 1500.0 * J
    small.step(100)
    assert small.state.v[4] == pytest.approx(150.0, rel=0.01)


# -- joints that are open --------------------------------------------------------------------------------------


def welded_boxes():
    """Two free boxes, held together by a fixed joint."""
    scene = ss.Scene(gravity=(0, 0, 0))
    for k in range(2):
        scene.add_box((0.2, 0.2, 0.2), mass=1.0, pos=(0.5 * k, 0, 0), name=f"box{k}")
    weld = Joint("fixed", "box0", "box1", anchor=(0.25, 0, 0))
    return ss.Simulation(scene, "variational", dt=DT, extra_joints=[weld])


def test_a_body_off_its_joint_is_brought_back_and_told():
    sim = welded_boxes()
    q = sim.state.q.copy()
    q[7] += 0.05
    sim.set_state(q)
    with pytest.warns(StartWarning, match=r"open by up to 0\.05 m.*moved by up to 0\.025 m"):
        sim.step()
    np.testing.assert_allclose(sim.state.q[[0, 7]], [0.025, 0.525], atol=1e-9)
    sim.observe()
    assert sim.stepper.joint_error()[:, 0].max() < 1e-9
    sim.step(5)


def test_velocities_that_open_a_joint_are_told():
    sim = welded_boxes()
    v = np.zeros(12)
    v[6] = 1.0
    sim.set_state(v=v)
    with pytest.warns(StartWarning, match=r"opened at up to 1 m/s"):
        sim.step()
    np.testing.assert_allclose(sim.state.v[[0, 6]], 0.5, atol=1e-9)


def test_an_open_four_bar_is_closed_and_stays_closed():
    sim = ss.Simulation(four_bar().scene, "variational", dt=DT)
    q = sim.state.q.copy()
    q[1] += 0.05
    sim.set_state(q)
    with pytest.warns(StartWarning, match=r"open by up to 0\.0265"):
        sim.observe()
    sim.step(20)
    sim.observe()
    assert sim.stepper.joint_error()[:, 0].max() < 1e-9


def test_closed_joints_are_not_talked_about():
    sim = welded_boxes()
    sim.set_state(v=np.tile([1.0, 2.0, 3.0, 0, 0, 0], 2))
    sim.step(3)
    sim = ss.Simulation(four_bar().scene, "variational", dt=DT)
    sim.step(30)
    sim.set_state(v=[1.0, 0, 0])
    with pytest.warns(StartWarning, match="opened at up to"):
        sim.observe()
    sim.set_state(sim.state.q, sim.state.v)  # which have been closed
    sim.step(30)


# -- gradients -------------------------------------------------------------------------------------------------


@both_cones
def test_gradients_belong_to_the_last_step(cone):
    sim = cube(0.25, v=[1, 0.2, 0, 0, 0, 0], cone=cone, relaxation=1e-4, unconverged="raise")
    with pytest.raises(InputError, match="step first"):
        sim.stepper.gradient()
    sim.step(3)
    after_step = sim.stepper.gradient()
    sim.observe()
    after_observing = sim.stepper.gradient()
    for name in ("dz_dz", "dz_dnu", "dnu_dz", "dnu_dnu"):
        np.testing.assert_allclose(getattr(after_step, name), getattr(after_observing, name), atol=1e-12)
    sim.set_state(v=[1, 0, 0, 0, 0, 0])
    with pytest.raises(InputError, match="step first"):
        sim.stepper.gradient()
    sim.run(0.05)
    assert np.isfinite(sim.stepper.gradient().dz_dz).all()
    sim.stepper.settings = sim.stepper.settings._replace(iterations=1)
    sim.inputs.wrench[1, 2] = 30.0
    with pytest.raises(UnconvergedError):
        sim.step()
    with pytest.raises(InputError, match="step first"):
        sim.stepper.gradient()
