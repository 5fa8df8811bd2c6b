"""Tendons, transmissions and activations in motion: every method moves a driven mechanism as MuJoCo does."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.methods.registry import METHODS

DRIVEN = """<mujoco><option gravity="0 0 -9.81"/><compiler autolimits="true"/>
<worldbody>
  <site name="anchor" pos="-0.1 0 0.35"/>
  <body name="upper" pos="0 0 0.3"><joint name="shoulder" axis="0 1 0" damping="0.02"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0" mass="0.4" contype="0" conaffinity="0"/>
    <site name="u" pos="0.08 0 0.04"/>
    <geom name="pulley" type="cylinder" size="0.03 0.02" pos="0.2 0 0" euler="90 0 0" contype="0" conaffinity="0"
     mass="0.05"/>
    <body name="lower" pos="0.2 0 0"><joint name="elbow" axis="0 1 0" damping="0.01"/>
      <geom type="capsule" size="0.015" fromto="0 0 0 0.15 0 0" mass="0.2" contype="0" conaffinity="0"/>
      <site name="l" pos="0.1 0 0.03"/><site name="tip" pos="0.15 0 0"/></body></body>
  <body name="drone" pos="1 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.02" mass="1"/>
    <site name="rotor" pos="0.1 0 0.02"/></body>
</worldbody>
<tendon>
  <spatial name="cable" stiffness="150" damping="2" springlength="0.3">
    <site site="anchor"/><site site="u"/><geom geom="pulley"/><site site="l"/></spatial>
  <fixed name="sum"><joint joint="shoulder" coef="0.5"/><joint joint="elbow" coef="-0.5"/></fixed>
</tendon>
<actuator>
  <general tendon="sum" dyntype="filterexact" dynprm="0.05" gainprm="20" biastype="affine" biasprm="0 -20 -1"/>
  <muscle tendon="cable" lengthrange="0.15 0.5" force="20"/>
  <general site="rotor" gear="0 0 1 0 0 0.1" dyntype="filter" dynprm="0.1"/>
  <general site="tip" refsite="anchor" gear="0 0 1 0 0 0" gainprm="5" biastype="affine" biasprm="0 -5 -0.5"/>
</actuator></mujoco>"""
CONTROL = np.array([0.3, 0.5, 9.0, -0.2])
TIME = 0.2
STEPS = {"rk4": 1e-3, "mujoco": 2e-4, "event-selected": 2e-3}
"""dt where it is not 5e-4 s."""


def truth() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and activations at the end, by MuJoCo with steps of 5 µs."""
    mj = mujoco.MjModel.from_xml_string(DRIVEN)
    mj.opt.timestep = 5e-6
    data = mujoco.MjData(mj)
    data.ctrl[:] = CONTROL
    mujoco.mj_step(mj, data, round(TIME / mj.opt.timestep))
    return data.qpos.copy(), data.qvel.copy(), data.act.copy()


@pytest.fixture(scope="module")
def reference():
    return truth()


def driven(method, dt, **options):
    return ss.Simulation(ss.Scene.from_xml(DRIVEN), method, dt=dt, **options)


@pytest.mark.parametrize("method", [*METHODS, "coulomb maximal"])
def test_a_driven_mechanism_moves_as_in_mujoco(method, reference):
    """First-order methods are off by what dt = 0.5 ms explains; halving it halves the error."""
    name, *maximal = method.split()
    dt, options = STEPS.get(name, 5e-4), {"coordinates": "maximal"} if maximal else {}
    errors = []
    for fraction in (1, 2):
        sim = driven(name, dt / fraction, **options)
        sim.set_control(CONTROL)
        sim.step(round(TIME / sim.dt))
        errors.append(np.abs(sim.state.q - reference[0]).max())
        assert np.abs(sim.state.act - reference[2]).max() < 10 * sim.dt  # those of Euler's step
    assert errors[0] < 0.01
    assert errors[1] < 0.6 * errors[0]
