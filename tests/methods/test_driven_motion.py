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
        assert np.abs(sim.state.act - reference[2]).max() < 20 * sim.dt  # those of Euler's step
    assert errors[0] < 0.01
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize("method", ["semi-implicit-euler", "coulomb"])
def test_a_thruster_lifts_by_the_closed_form(method):
    """A filtered thrust u·(1 − exp(−t/τ)) along a tilted axis through the centre of mass: ẍ = F(t)/m·a + g."""
    u, tau, m, dt = 30.0, 0.1, 2.0, 1e-3
    scene = ss.Scene.from_xml(
        f'<mujoco><worldbody><body><freejoint/><geom size="0.1" mass="{m}"/><site name="s" euler="0 30 0"/></body>'
        f'</worldbody><actuator><general site="s" gear="0 0 1 0 0 0" dyntype="filterexact" dynprm="{tau}"/></actuator>'
        "</mujoco>"
    )
    sim = ss.Simulation(scene, method, dt=dt)
    sim.set_control([u])
    sim.step(400)
    t = sim.time
    axis = np.array([np.sin(np.pi / 6), 0.0, np.cos(np.pi / 6)])
    speed = u / m * (t - tau * (1 - np.exp(-t / tau))) * axis + [0.0, 0.0, -9.81 * t]
    way = u / m * (t**2 / 2 - tau * t + tau**2 * (1 - np.exp(-t / tau))) * axis + [0.0, 0.0, -9.81 * t**2 / 2]
    np.testing.assert_allclose(sim.state.act, u * (1 - np.exp(-t / tau)), rtol=1e-12)
    np.testing.assert_allclose(sim.state.v[:3], speed, atol=u / m * dt)
    np.testing.assert_allclose(sim.state.q[:3], way, atol=u / m * dt)
    np.testing.assert_allclose(sim.state.v[3:], 0.0, atol=1e-12)


@pytest.mark.parametrize("method", ["semi-implicit-euler", "coulomb", "mujoco"])
def test_activations_continue_from_snapshots_bit_by_bit_and_are_recorded(method, tmp_path):
    sim = driven(method, 5e-4)
    sim.set_state(act=[0.1, 0.2, 0.3])
    sim.set_control(CONTROL)
    sim.step(20)
    snapshot = sim.snapshot()
    log = sim.run(0.02, record=tmp_path / "run.h5", record_dt=5e-4)
    end = sim.state.copy()
    sim.set_state(act=np.zeros(3))
    sim.restore(snapshot)
    np.testing.assert_array_equal(sim.state.act, log.act[0])
    sim.step(40)
    for name in ("q", "v", "act"):
        np.testing.assert_array_equal(getattr(sim.state, name), getattr(end, name))
    assert log.act.shape == (41, 3)
    np.testing.assert_array_equal(log.act[-1], end.act)
    np.testing.assert_array_equal(ss.load(tmp_path / "run.h5").act, log.act)


def test_stages_and_the_compiled_loop_use_the_same_activations():
    ends = []
    for user in (None, lambda sim: None):
        sim = driven("semi-implicit-euler", 5e-4, user=user)
        sim.set_control(CONTROL)
        sim.step(50)
        ends.append(np.concatenate([sim.state.q, sim.state.v, sim.state.act]))
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-12)


GRIPPER = """<mujoco><compiler autolimits="true"/><worldbody>
<body name="left" pos="0 0.05 0"><joint name="left" axis="1 0 0" armature="0.005"/><geom size="0.01" pos="0 0 0.05"
 mass="0.02"/></body>
<body name="right" pos="0 -0.05 0"><joint name="right" axis="-1 0 0" armature="0.005"/><geom size="0.01" pos="0 0 0.05"
 mass="0.02"/></body></worldbody>
<tendon><fixed name="split"><joint joint="left" coef="0.5"/><joint joint="right" coef="0.5"/></fixed></tendon>
<actuator>
<general tendon="split" gainprm="1000" biastype="affine" biasprm="0 -1000 -50" forcerange="-200 200"/></actuator>
</mujoco>"""


@pytest.mark.parametrize("options", [{}, {"coordinates": "maximal"}], ids=["joint", "maximal"])
def test_a_strong_servo_at_a_tendon_is_stable_in_time_stepping(options):
    """Explicitly it would need dt < 0.2 ms."""
    sim = ss.Simulation(ss.Scene.from_xml(GRIPPER), "coulomb", dt=2e-3, **options)
    sim.set_control([0.4])
    sim.step(500)
    np.testing.assert_allclose(sim.dynamics.tendon_lengths(sim.state.q)[0], 0.4, atol=1e-3)
    assert np.abs(sim.state.v).max() < 1e-2


@pytest.mark.parametrize(("interp", "delay"), [("zoh", 0.025), ("linear", 0.025), ("cubic", 0.025), ("cubic", 0.005)])
def test_delayed_controls_act_as_in_mujoco(interp, delay):
    """The forces of delayed motors, one of them filtered, under controls that change in every step."""
    motor = f'delay="{delay}" nsample="8" interp="{interp}"'
    xml = (
        '<mujoco><option timestep="0.01"/><worldbody><body><joint name="a" type="slide"/><geom size="0.1"/></body>'
        f'</worldbody><actuator><general joint="a" {motor}/><general joint="a" dyntype="filter" dynprm="0.05" {motor}/>'
        '<motor joint="a"/></actuator></mujoco>'
    )
    mj = mujoco.MjModel.from_xml_string(xml)
    data, rng = mujoco.MjData(mj), np.random.default_rng(2)
    sims = [ss.Simulation(ss.Scene.from_xml(xml), name, dt=0.01) for name in ("semi-implicit-euler", "mujoco")]
    for k in range(30):
        control = rng.normal(size=3)
        data.ctrl[:] = control
        mujoco.mj_step(mj, data)
        for sim in sims:
            sim.set_control(control)
            if k == 20:
                snapshot = sim.snapshot()
                sim.step(1)
                sim.restore(snapshot)
            sim.step(1)
            np.testing.assert_allclose(sim.state.v, data.qvel, atol=1e-12)
            np.testing.assert_allclose(sim.state.act, data.act, atol=1e-12)
