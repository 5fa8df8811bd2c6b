"""PD control that holds between its calls: gains at which joints shake, and the warning of them."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.control import PD, Sum

MASS, LENGTH = 0.2, 0.3


def arm() -> ss.Scene:
    """A motor turns a thin rod about its end; without gravity."""
    scene = ss.Scene(gravity=(0, 0, 0))
    body = scene.add_body("arm", joint="hinge", axis=(0, 1, 0), motor=True)
    body.add_box((1e-3, 1e-3, LENGTH), mass=MASS, pos=(0, 0, -0.5 * LENGTH))
    return scene


INERTIA = MASS * LENGTH**2 / 3


@pytest.mark.parametrize("share", [0.9, 1.1])
@pytest.mark.parametrize("gain", ["kd", "kp"])
def test_the_longest_period_is_where_a_joint_begins_to_shake(gain, share):
    """A force that holds for T: velocities turn around if T·kd > 2·I, and swings grow if T²·kp > 4·I."""
    period = 0.01
    kd, kp = (2.0 * INERTIA / period, 0.0) if gain == "kd" else (0.0, 4.0 * INERTIA / period**2)
    if gain == "kp":  # undamped, a force that holds makes every swing grow a little: compare with the joint's own rule
        sim = ss.Simulation(arm(), "coulomb", dt=period)
        sim.controller = PD(kp=share * kp, kd=0.0)
        assert sim.controller.longest_period(sim.model, sim.state.q) == pytest.approx(period / share**0.5, rel=1e-3)
        return
    sim = ss.Simulation(arm(), "coulomb", dt=1e-3)
    sim.controller = Sum(PD(kp=0.0, kd=share * kd), lambda t, q, v: [0.0])
    sim.control_dt = period
    assert sim.controller.longest_period(sim.model, sim.state.q) == pytest.approx(period / share, rel=1e-3)
    sim.set_state(v=[1e-3])
    if share > 1.0:
        with pytest.warns(ss.UnstableStepWarning, match=r"hold for at most 0.0091 s; take dt and control_dt = 0.002 s"):
            sim.step(300)
        assert np.abs(sim.state.v[0]) > 0.1
    else:
        sim.step(300)
        assert np.abs(sim.state.v[0]) < 1e-4
