"""Passive forces against MuJoCo's: polynomial springs and dampers, gravity compensation, margins of limits, flags."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.methods.registry import METHODS
from stickslip.model.importers.read import read_spec

ARM = """<mujoco>
  <option {option}>{flag}</option>
  <worldbody>
    <body name="base" pos="0 0 1" gravcomp="0.4">
      <joint name="root" type="free" stiffness="3 2 5" damping="0.1 0.2 0.3"/>
      <geom type="box" size=".1 .2 .3"/>
      <body pos=".4 0 .1" euler="20 30 0">
        <joint name="ball" type="ball" stiffness="2 3 5" damping=".1 .5 .25" range="0 170" limited="true" margin=".05"/>
        <geom type="capsule" size=".05 .2"/>
        <body name="fixed" pos="0 .1 .2" gravcomp="1.5"><geom size=".1"/></body>
        <body pos="0 0 .5" gravcomp="1">
          <joint name="hinge" axis="0 0 1" stiffness="2 -3 5" damping="1 .5 .25" springref="20" armature=".01"/>
          <joint name="slide" type="slide" axis="0 0 1" stiffness="20 10" damping="0 2" range="-.5 .4" margin=".05"/>
          <geom type="box" size=".1 .05 .3"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><position joint="hinge" kp="2" ctrlrange="-1 1"/></actuator>
</mujoco>"""
FLAGS = ("spring", "damper", "limit", "gravity", "actuation", "clampctrl", "contact", "constraint")


def arm(option="", flag=""):
    xml = ARM.format(option=option, flag=flag and "<flag " + " ".join(f'{f}="disable"' for f in flag.split()) + "/>")
    return mujoco.MjModel.from_xml_string(xml), ss.Scene.from_xml(xml).compile()


def states(mj, number=20):
    rng = np.random.default_rng(4)
    for _ in range(number):
        d = mujoco.MjData(mj)
        d.qvel[:] = rng.normal(size=mj.nv)
        mujoco.mj_integratePos(mj, d.qpos, rng.normal(size=mj.nv) * 0.3, 1.0)
        d.ctrl[:] = 2.0 * rng.normal(size=mj.nu)
        mujoco.mj_forward(mj, d)
        yield d


@pytest.mark.parametrize("flag", ["", "spring", "damper", "spring damper", "gravity"])
def test_they_are_mujoco_s(flag):
    mj, model = arm(flag=flag)
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT  # which are constraints there
    limited = np.zeros_like(model.joint_forces.limited)
    dynamics = Dynamics(replace(model, joint_forces=model.joint_forces._replace(limited=limited)))
    for d in states(mj):
        np.testing.assert_allclose(dynamics.passive_forces(d.qpos, d.qvel), d.qfrc_passive, rtol=1e-9, atol=1e-9)


def test_energy_of_springs_is_mujoco_s_and_of_gravity_what_is_not_compensated():
    mj, model = arm('gravity="0 0 0"')
    dynamics = Dynamics(model)
    mj.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    for d in states(mj):
        energy = dynamics.energy(d.qpos, d.qvel)
        np.testing.assert_allclose([energy.potential + energy.elastic, energy.kinetic], d.energy, rtol=1e-9)
    mj, model = arm(flag="spring damper")  # which switch compensation off, too
    lifted = arm()[1]
    for d in states(mj, 3):
        work = np.zeros(2)
        for k, one in enumerate((model, lifted)):
            work[k] = Dynamics(one).energy(d.qpos, d.qvel).potential
        weight = mj.body_mass * mj.body_gravcomp @ d.xipos[:, 2] * 9.81
        np.testing.assert_allclose(work[0] - work[1], weight, rtol=1e-9)


def test_a_limit_acts_from_its_margin_on():
    _, model = arm()
    slide, ball = model.joint("slide"), model.joint("ball")
    np.testing.assert_allclose(model.joint_forces.range[slide], [-0.45, 0.35])
    np.testing.assert_allclose(model.joint_forces.range[ball], [0, np.deg2rad(170) - 0.05])
    tight = ARM.replace('range="-.5 .4" margin=".05"', 'range="-.5 .4" margin="2"')
    model = ss.Scene.from_xml(tight.format(option="", flag="")).compile()
    np.testing.assert_allclose(model.joint_forces.range[slide], [-0.05, -0.05])


@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_is_taken_into_the_elements_and_gives_the_same_motion(flag):
    mj, model = arm(flag=flag)
    again = ss.Scene.from_xml(model.to_xml()).compile()
    assert again.fingerprint == model.fingerprint
    if flag != "gravity":
        loaded = read_spec(xml=ARM.format(option="", flag=f'<flag {flag}="disable"/>'))
        assert loaded.notes == [f'taken into the elements (same motion): flag {flag}="disable"']
    for theirs in states(mj, 5):
        ours = mujoco.MjData(model.mj)
        ours.qpos[:], ours.qvel[:], ours.ctrl[:] = theirs.qpos, theirs.qvel, theirs.ctrl
        mujoco.mj_forward(model.mj, ours)
        np.testing.assert_allclose(ours.qacc, theirs.qacc, rtol=1e-9, atol=1e-9)


LIFTED = """<mujoco><worldbody>
  <body gravcomp=".5"><joint name="a" axis="0 1 0" actuatorgravcomp="true" {limit}/><geom size=".1" pos=".5 0 0"/>
    <body pos="1 0 0" gravcomp="1"><joint name="b" axis="0 1 0"/><geom size=".1" pos=".5 0 0"/>
      <body pos="1 0 0" gravcomp="1.5"><joint name="c" type="ball" actuatorgravcomp="true"/>
        <geom size=".1" pos=".5 0 0"/>
  </body></body></body></worldbody><actuator>{actuator}</actuator></mujoco>"""


@pytest.mark.parametrize("limit", ["", 'actuatorfrcrange="-20 10"'], ids=["unlimited", "limited"])
@pytest.mark.parametrize("actuator", ["", '<motor joint="a" gear="2"/>'], ids=["no actuator", "motor"])
def test_gravity_compensation_by_actuators_is_within_the_limit_of_the_joint(limit, actuator):
    """It is part of the force that the limit clips; without actuators there is none, as in MuJoCo."""
    xml = LIFTED.format(limit=limit, actuator=actuator)
    mj, model = mujoco.MjModel.from_xml_string(xml), ss.Scene.from_xml(xml).compile()
    assert ss.Scene.from_xml(model.to_xml()).compile().fingerprint == model.fingerprint
    dynamics = Dynamics(model)
    for d in states(mj):
        d.ctrl[:] *= 20.0
        mujoco.mj_forward(mj, d)
        tau = dynamics.actuator_forces(d.qpos, d.qvel, d.ctrl)[1]
        np.testing.assert_allclose(tau + dynamics.drives.lift, d.qfrc_actuator, rtol=1e-9, atol=1e-9)
        total = tau + dynamics.passive_forces(d.qpos, d.qvel)
        np.testing.assert_allclose(total, d.qfrc_actuator + d.qfrc_passive, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("joint", ["ball", "free", "hinge"])
def test_damping_and_armature_of_an_actuator_are_the_joint_s(joint):
    """About all axes of a ball or free joint, times the square of the first gear."""
    xml = f"""<mujoco><worldbody><body><joint name="j" type="{joint}" damping=".1"/><geom type="box" size=".1 .2 .3"/>
      </body></worldbody><actuator><motor joint="j" gear="3 2 1" damping=".2 .3 .4" armature=".5"/></actuator>
      </mujoco>"""
    mj, model = mujoco.MjModel.from_xml_string(xml), ss.Scene.from_xml(xml).compile()
    assert ss.Scene.from_xml(model.to_xml()).compile().fingerprint == model.fingerprint
    dynamics = Dynamics(model)
    for d in states(mj, 3):
        np.testing.assert_allclose(dynamics.passive_forces(d.qpos, d.qvel), d.qfrc_passive, rtol=1e-9)
        np.testing.assert_allclose(dynamics.solve(d.qpos, d.qfrc_smooth), d.qacc_smooth, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", [*METHODS, "coulomb in maximal coordinates"])
@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
def test_every_method_moves_by_them(method):
    """A quarter of a second of the arm; the truth is MuJoCo's by steps of 10 µs."""
    mj, model = arm("timestep='1e-5' integrator='RK4'", "limit")
    d = next(states(mj, 1))
    d.ctrl[:] = 0.0
    q, v = d.qpos.copy(), d.qvel.copy()
    for _ in range(25):
        mujoco.mj_step(mj, d, 1000)
    error, (name, *coordinates) = [], method.split(" in ")
    options = {"coordinates": "maximal"} if coordinates else {}
    name += "/none" if "none" in METHODS[name].capabilities.variants else ""
    for dt in (1e-3, 2.5e-4):
        sim = ss.Simulation(model, name, dt=dt, **options)
        sim.set_state(q, v)
        sim.step(round(0.25 / dt))
        error.append(np.abs(np.concatenate([sim.dynamics.difference(d.qpos, sim.state.q), sim.state.v - d.qvel])).max())
    assert error[1] < 5e-3
    assert error[1] < 0.3 * error[0] or error[1] < 1e-6
