"""Expo: contacts that stick, slip and open within a step, and what is of second order."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError

G = 9.81
K = 1e5


def box(v, size=(0.2, 0.2, 0.1), friction=0.3, mass=1.0, **options) -> ss.Simulation:
    """A box that slides on a floor, at rest along the normal."""
    scene = ss.Scene()
    scene.add_plane(friction=friction, stiffness=K)
    scene.add_box(size, pos=(0, 0, size[2] / 2 - mass * G / (4 * K)), mass=mass, friction=friction)
    sim = ss.Simulation(scene, method="expo", **options)
    sim.set_state(v=v)
    return sim


def turning(dt: float, time: float = 0.1, **options) -> np.ndarray:
    """Where a box is that slides and turns."""
    sim = box([1.2, 0.3, 0, 0, 0, 8.0], dt=dt, **options)
    sim.step(round(time / dt))
    return np.concatenate([sim.state.q, sim.state.v])


def test_slides_are_of_second_order():
    """A box whose corners all slip in their own directions; the reference is expo's own."""
    fine = turning(6.25e-5)
    errors = [np.abs(turning(dt) - fine).max() for dt in (4e-3, 2e-3, 1e-3)]
    assert errors[0] > 3.0 * errors[1] > 9.0 * errors[2]
    assert errors[2] < 1e-4


@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_sliding_and_rolling_ball(dt):
    """From sliding to rolling at 5/7 of the speed; the slip ends within a step."""
    scene = ss.Scene()
    scene.add_plane(friction=0.3, stiffness=K)
    scene.add_sphere(0.1, pos=(0, 0, 0.1 - G / K), mass=1.0, friction=0.3)
    sim = ss.Simulation(scene, method="expo", dt=dt)
    sim.set_state(v=[1.0, 0, 0, 0, 0, 0])
    sim.step(round(0.5 / dt))
    assert sim.state.v[0] == pytest.approx(5 / 7, rel=1e-3)
    assert 0.1 * sim.state.v[4] == pytest.approx(sim.state.v[0], abs=1e-4)
    until = 2 / (7 * 0.3 * G)  # slip ends here
    way = until - 0.5 * 0.3 * G * until**2 + 5 / 7 * (0.5 - until)
    assert sim.state.q[0] == pytest.approx(way, abs=2e-3 * dt / 1e-2)


@pytest.mark.parametrize("options", [{}, {"events": "touchdown"}, {"matmuls": "pade"}], ids=str)
def test_the_order_of_contacts_does_not_matter(options):
    """Feet that stick, slip and lift off, as they come and in another order."""
    feet = [(0.1, 0.12), (-0.11, 0.1), (-0.1, -0.13), (0.12, -0.1), (0.02, 0.15)]
    ends = []
    for order in ((0, 1, 2, 3, 4), (3, 0, 4, 2, 1)):
        scene = ss.Scene()
        scene.add_plane(friction=0.4, stiffness=K)
        body = scene.add_body("table", pos=(0, 0, 0.06))
        body.set_inertia(2.0, inertia=(0.02, 0.03, 0.04))
        for k in order:
            body.add_sphere(0.02, pos=(*feet[k], -0.04), mass=0.0, friction=0.2 + 0.1 * k)
        sim = ss.Simulation(scene, method="expo", dt=5e-3, **options)
        sim.set_state(v=[0.5, 0.2, -0.1, 0.4, -0.3, 3.0])
        sim.step(20)
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-12)


def test_a_wedge_that_slips_out_of_its_jaws():
    """Eight corners slip while they bounce on their springs, whose period is that of the step; the wedge stays upright
    and has the acceleration of ``scenes.textbook.wedge``."""
    angle, force = 0.35, 10.0
    mu = 0.9 * np.tan(angle)
    out = np.sin(angle) - mu * np.cos(angle)
    normal = force / (np.cos(angle) + mu * np.sin(angle) + 2.0 * np.tan(angle) * out)
    sim = ss.Simulation(ss.SCENES["wedge"].build(angle, friction=mu), method="expo", dt=1e-2)
    speeds = []
    for _ in range(20):
        sim.set_control([force, force])
        sim.step(1)
        speeds.append(sim.state.v[2])
    np.testing.assert_allclose(np.diff(speeds[9:]) / 1e-2, 2.0 * normal * out, rtol=1e-3)
    assert np.abs(np.delete(sim.state.v[:6], 2)).max() < 1e-6


def test_a_contact_that_others_bring_about_begins_in_time():
    """A rod falls on one end, which throws the other one down within the same step of 10 ms. If it were found a step
    later, its spring would be tense without work done on it."""
    scene = ss.Scene()
    scene.add_plane(stiffness=1e6, damping=0.0, friction=0.0)
    rod = scene.add_body("rod", pos=(0, 0, 0.06), quat=(np.cos(0.05), 0, np.sin(0.05), 0))
    rod.set_inertia(1.0, inertia=(0.01, 0.01, 0.01))
    for x in (-0.3, 0.3):
        rod.add_sphere(0.02, pos=(x, 0, 0), mass=0.0, stiffness=1e6, damping=0.0, friction=0.0)
    sim = ss.Simulation(scene, method="expo", dt=1e-2)
    sim.set_state(v=[0, 0, -1.0, 0, 0, 0])
    energy = sum(sim.energy())
    for _ in range(50):
        sim.step(1)
        sim.observe()
        assert sum(sim.energy()) + sim.stepper.contact_energy() < 1.05 * energy


def test_contacts_whose_frames_turn_are_of_second_order():
    """A ball rolls over a box that tumbles with it; the reference is expo's own."""

    def end(dt):
        scene = ss.Scene()
        scene.add_box((0.6, 0.5, 0.1), mass=3.0, friction=1.0, stiffness=K, damping=300.0)
        scene.add_sphere(0.1, pos=(0, 0, 0.15 - 1e-5), mass=1.0, friction=0.8, stiffness=K, damping=300.0)
        sim = ss.Simulation(scene, method="expo", dt=dt)
        sim.set_state(v=[0, 0, 0.5, 0.3, 0.6, 0.8, 0.3, 0, 0.5, 0, 3.0, 0])
        sim.step(round(0.1 / dt))
        return np.concatenate([sim.state.q, sim.state.v])

    fine = end(6.25e-5)
    errors = [np.abs(end(dt) - fine).max() for dt in (1e-3, 5e-4)]
    assert errors[0] > 3.0 * errors[1]


@pytest.mark.parametrize("stiffness", [1e8, 1e12])
def test_nothing_is_thrown_up_without_damping(stiffness):
    """A box falls on its corners at 10 ms, each impact some microseconds long."""
    scene = ss.Scene()
    scene.add_plane(stiffness=stiffness, damping=0.0, friction=0.5)
    scene.add_box(
        (0.2, 0.15, 0.1), pos=(0, 0, 0.3), quat=(0.98, 0.1, 0.15, 0.05), mass=1.0, friction=0.5,
        stiffness=stiffness, damping=0.0,
    )  # fmt: skip
    sim = ss.Simulation(scene, method="expo", dt=1e-2)
    energy = sum(sim.energy())
    for _ in range(100):
        sim.step(1)
        sim.observe()
        now = sum(sim.energy()) + sim.stepper.contact_energy()
        assert now <= energy + 1e-9
        energy = now
    assert energy < 0.5 * 0.3 * G


def test_soft_feet_beside_stiff_ones_stand_still():
    scene = ss.Scene()
    scene.add_plane(friction=0.6, stiffness=None)
    body = scene.add_body("table", pos=(0, 0, 0.06))
    body.set_inertia(2.0, inertia=(0.02, 0.03, 0.04))
    for x, y, stiffness in ((0.1, 0.1, 1e3), (-0.1, 0.1, 1e7), (0.1, -0.1, 1e7), (-0.1, -0.1, 1e3)):
        body.add_sphere(0.02, pos=(x, y, -0.04), mass=0.0, stiffness=stiffness, damping=2 * np.sqrt(0.5 * stiffness))
    sim = ss.Simulation(scene, method="expo", dt=1e-2)
    sim.step(400)
    assert np.abs(sim.state.v).max() < 1e-9
    assert sim.state.q[2] < 0.06


@pytest.mark.parametrize("dt", [1e-3, 4e-3, 2e-2])
def test_a_tumbling_body_keeps_energy_and_momentum(dt):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box((0.1, 0.2, 0.4), pos=(0, 0, 1), mass=1.0)
    sim = ss.Simulation(scene, method="expo", dt=dt)
    sim.set_state(v=[0, 0, 0, 0.01, 5.0, 0.02])
    about, energy = np.array([0, 0, 1.0]), sum(sim.energy())
    momentum = sim.dynamics.momentum(sim.state.q, sim.state.v, about)
    sim.step(round(5.0 / dt))
    assert sum(sim.energy()) == pytest.approx(energy, rel=1e-10)
    np.testing.assert_allclose(sim.dynamics.momentum(sim.state.q, sim.state.v, about), momentum, rtol=0, atol=1e-10)
    assert abs(sim.state.v[3]) + abs(sim.state.v[5]) > 1e-2  # it has begun to tumble


PENDULUM = """<mujoco><compiler angle="radian"/><worldbody><body pos="0 0 2">
  <joint name="a" type="hinge" axis="0 1 0" damping="0.3" stiffness="2"/>
  <inertial pos="0.2 0 0.1" mass="1" diaginertia="0.01 0.02 0.03"/>
  <body pos="0.4 0 0"><joint name="b" type="hinge" axis="1 0 0.3" damping="0.05"/>
  <inertial pos="0.1 0.1 0" mass="0.5" diaginertia="0.01 0.02 0.01"/></body></body></worldbody>
  <actuator><position joint="b" kp="3" kv="0.1"/></actuator></mujoco>"""


@pytest.mark.parametrize(("order", "least", "most"), [(1, 1.6, 2.6), (2, 3.3, 4.8)])
def test_order_of_smooth_motion(order, least, most):
    """Coriolis forces, joint dampers and springs, and a servo, beside rk4."""

    def end(method, dt, **options):
        sim = ss.Simulation(ss.Scene.from_xml(PENDULUM), method=method, dt=dt, **options)
        sim.set_state(v=[4.0, -6.0])
        sim.step(round(0.4 / dt))
        return np.concatenate([sim.state.q, sim.state.v])

    exact = end("rk4", 1e-4)
    errors = [np.abs(end("expo", dt, order=order) - exact).max() for dt in (4e-3, 2e-3)]
    assert least < errors[0] / errors[1] < most


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"events": "some"}, "events"),
        ({"events": "all", "slip": "project"}, "slip='project'"),
        ({"events": "all", "matmuls": 3}, "matmuls='auto'"),
        ({"order": 3}, "order"),
    ],
)
def test_options_that_do_not_go_together(options, says):
    with pytest.raises(InputError, match=says):
        box(np.zeros(6), dt=1e-3, **options)


def test_an_acceleration_is_forgotten_when_the_velocity_is_set():
    """The motion after set_state does not depend on what was before."""
    ends = []
    for before in (0, 7):
        sim = ss.Simulation(ss.Scene.from_xml(PENDULUM), method="expo", dt=1e-3)
        sim.step(before)
        sim.set_state(q=[0.1, 0.2], v=[4.0, -6.0])
        sim.step(10)
        ends.append(sim.state.q.copy())
    assert np.array_equal(*ends)
