"""sim.push: its impulse is force·duration under every method, whatever the time step."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError

MASS, SIZE = 2.0, (0.2, 0.3, 0.4)


def floating(method="semi-implicit-euler", dt=0.01, **body):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box(size=SIZE, pos=(0, 0, 1), mass=MASS, name="box", **body)
    return ss.Simulation(scene, method, dt)


@pytest.mark.parametrize("method", ss.METHODS)
def test_a_push_gives_its_impulse(method):
    """0.075 s are seven steps and a half; the second push acts for one step, and inputs.wrench is the user's."""
    sim = floating(method)
    sim.inputs.wrench[1, 2] = 1.0
    sim.push("box", force=(4.0, 0, 0), duration=0.075)
    sim.push("box", force=(0, 3.0, 0))
    sim.step(5)
    sim.step()
    log = sim.run(0.06)
    assert np.allclose(sim.state.v[:3], np.array([4.0 * 0.075, 3.0 * 0.01, 1.0 * 0.12]) / MASS, rtol=0, atol=1e-7)
    assert np.allclose(sim.state.v[3:], 0.0, atol=1e-9)  # through the centre of mass
    assert np.array_equal(sim.inputs.wrench[1], (0, 0, 1.0, 0, 0, 0))
    assert log.time[-1] == pytest.approx(0.12)


@pytest.mark.parametrize("method", ss.METHODS)
def test_a_push_beside_the_centre_and_a_torque_turn_the_body(method):
    sim = floating(method, 1e-3)
    sim.push("box", force=(1.0, 0, 0), at=(0, 0.15, 1), torque=(0, 0, 0.05), duration=0.01)
    sim.step(20)
    inertia = MASS / 12.0 * (SIZE[0] ** 2 + SIZE[1] ** 2)
    assert sim.state.v[5] == pytest.approx((-0.15 + 0.05) * 0.01 / inertia, rel=1e-3)
    assert sim.state.v[0] == pytest.approx(1.0 * 0.01 / MASS, rel=1e-9)


def test_the_point_moves_with_the_body():
    """A body that turns fast: a force through its centre of mass, which is not its origin, must not brake the spin."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("box").add_box(size=(0.2, 0.2, 0.2), pos=(0.5, 0, 0), mass=1.0)
    sim = ss.Simulation(scene, "rk4", dt=1e-3)
    sim.set_state(v=(0, 5.0, 0, 0, 0, 10.0))
    sim.push("box", force=(0, 0.5, 0), duration=1.0)
    sim.step(1000)
    assert sim.state.v[5] == pytest.approx(10.0, abs=0.05)  # an arm that stays would give 37 rad/s² more
    assert sim.dynamics.momentum(sim.state.q, sim.state.v)[1] == pytest.approx(10.5, rel=1e-9)


def test_pushes_end_with_reset_and_travel_in_snapshots():
    sim = floating()
    sim.push("box", force=(4.0, 0, 0), duration=0.1)
    sim.step(5)
    saved = sim.snapshot()
    sim.step(10)
    end = sim.state.v.copy()
    sim.restore(saved)
    sim.step(10)
    assert np.array_equal(sim.state.v, end)
    sim.restore(saved)
    sim.reset()
    sim.step(10)
    assert not sim.state.v.any()


def test_sensors_feel_a_push():
    """A force sensor in a joint that holds still carries the push."""
    scene = ss.Scene(gravity=(0, 0, 0))
    arm = scene.add_body("arm", joint="slide", axis=(1, 0, 0), damping=1e9)
    arm.add_box(size=SIZE, mass=MASS)
    arm.add_frame("tip")
    scene.add_sensor("force", site="tip", name="force")
    sim = ss.Simulation(scene, "semi-implicit-euler", 1e-3)
    sim.push("arm", force=(0, 0, 7.0), duration=1.0)
    sim.step(10)
    assert np.allclose(sim.sensor("force"), (0, 0, -7.0), atol=1e-6)


def test_bad_pushes():
    sim = floating()
    for arguments, message in (
        ({"body": "bx"}, "unknown .*'bx'.*did you mean 'box'"),
        ({"body": 3}, "body: expected a body of the scene or its name, got 3"),
        ({"body": "world"}, "body 'world': expected one that moves"),
        ({"body": "box", "force": (1, 2)}, "force: expected 3 finite numbers"),
        ({"body": "box", "force": (1, 2, np.nan)}, "force: expected 3 finite numbers"),
        ({"body": "box", "torque": 1.0}, "torque: expected 3 finite numbers"),
        ({"body": "box", "at": "here"}, "at: expected 3 finite numbers"),
        ({"body": "box", "duration": 0.0}, "duration: expected a number of seconds > 0"),
    ):
        with pytest.raises(InputError, match=message):
            sim.push(**arguments)
    assert not sim.pushes.active
