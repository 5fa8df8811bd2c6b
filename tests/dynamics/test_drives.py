"""Tendons, transmissions and actuators against MuJoCo's ``mj_forward``."""

import mujoco
import numpy as np
import pytest

from stickslip import Dynamics, Scene
from stickslip.dynamics.tendon_points import Paths, path_pieces
from stickslip.record.picture.shapes import link_frames

WRAP = """<mujoco><compiler autolimits="true"/>
<worldbody>
  <site name="anchor" pos="0 0.3 0.9"/> <site name="rail" pos="0.6 0.1 0" euler="20 80 10"/>
  <body name="free" pos="0 0 0.1"><freejoint/><geom size="0.08" mass="1"/>
    <site name="nose" pos="0.1 0.02 0.03" euler="30 -40 70"/></body>
  <body name="upper" pos="0 0 0.5"><joint name="shoulder" type="ball" pos="0 0 0.05"/>
    <geom type="capsule" size="0.04 0.15" pos="0.2 0 0" euler="0 90 0" mass="1"/>
    <site name="u1" pos="0.05 0.02 0.06"/> <site name="u2" pos="0.3 -0.02 0.07"/>
    <geom name="elbow" type="cylinder" size="0.05 0.1" pos="0.4 0 0" euler="85 10 0" contype="0" conaffinity="0"/>
    <site name="over" pos="0.4 0 0.1"/> <site name="core" pos="0.401 0.002 0.003"/>
    <body name="lower" pos="0.4 0 0"><joint name="hinge" axis="0 1 0.1" range="-2 2"/>
      <geom type="capsule" size="0.03 0.1" pos="0.15 0 0" euler="0 90 0" mass="0.5"/>
      <site name="l1" pos="0.15 0.01 0.05" euler="10 20 30"/> <site name="l2" pos="0.28 0 0"/>
      <geom name="wrist" type="sphere" size="0.06" pos="0.3 0 0.02" contype="0" conaffinity="0"/>
      <site name="side" pos="0.3 0.03 0.12"/>
      <body name="hand" pos="0.35 0 0"><joint name="slide" type="slide" axis="1 0.2 0.1"/>
        <joint name="turn" axis="0 0 1" pos="0.01 0 0"/>
        <geom type="box" size="0.03 0.02 0.02" mass="0.2"/> <site name="h1" pos="0.05 0.02 0.03"/></body>
    </body></body>
</worldbody>
<tendon>
  <fixed name="fixed" stiffness="20 3 1" damping="0.4 0.2 0.1" springlength="0.05 0.2">
    <joint joint="hinge" coef="0.7"/><joint joint="slide" coef="-2"/></fixed>
  <spatial name="plain" stiffness="30" damping="2"><site site="anchor"/><site site="u1"/><site site="l2"/></spatial>
  <spatial name="over" stiffness="30 5 0" springlength="0.1 0.3">
    <site site="anchor"/><site site="u2"/><geom geom="elbow" sidesite="over"/><site site="l1"/></spatial>
  <spatial name="around" damping="1 2 3"><site site="u1"/><geom geom="elbow"/><site site="l2"/>
    <geom geom="wrist" sidesite="side"/><site site="h1"/></spatial>
  <spatial name="pulleys" stiffness="5"><site site="anchor"/><site site="u2"/><pulley divisor="2"/>
    <site site="u2"/><geom geom="wrist"/><site site="h1"/><pulley divisor="3"/>
    <site site="u1"/><site site="nose"/></spatial>
  <spatial name="inside"><site site="u1"/><geom geom="elbow" sidesite="core"/><site site="h1"/></spatial>
</tendon>
<actuator>
  <motor joint="hinge" gear="3" ctrlrange="-1 1"/>
  <position joint="slide" kp="100" kv="3" forcerange="-5 5"/>
  <motor joint="shoulder" gear="1 2 3"/>
  <general jointinparent="shoulder" gear="1 -2 0.5" biastype="affine" biasprm="0.1 -3 -0.2"/>
  <motor jointinparent="turn" gear="2"/>
  <position tendon="fixed" kp="40" kv="1" gear="0.5"/>
  <general tendon="over" gaintype="affine" gainprm="2 3 0.5" biastype="affine" biasprm="1 -2 -0.3" gear="1.5"/>
  <muscle name="muscle" tendon="around" lengthrange="0.2 0.9"/>
  <muscle tendon="plain" lengthrange="0.3 1.2" force="60" tausmooth="0.2" timeconst="0.02 0.06" gear="-1"/>
  <general site="nose" gear="1 2 3 0.4 0.5 0.6"/>
  <general site="h1" refsite="u1" gear="1 2 3 0.4 0.5 0.6" biastype="affine" biasprm="0 -5 -1"/>
  <general cranksite="h1" slidersite="rail" cranklength="1.5" gear="2" biastype="affine" biasprm="0 -5 -1"/>
  <general cranksite="h1" slidersite="rail" cranklength="0.05"/>
  <general joint="hinge" dyntype="integrator" actrange="-1 1"/>
  <general joint="hinge" dyntype="filter" dynprm="0.1" ctrlrange="-1 1"/>
  <general joint="turn" dyntype="filterexact" dynprm="0.03" group="3"/>
</actuator></mujoco>"""
WRAP_ONLY = """<mujoco><worldbody>
  <geom name="ball" type="sphere" size="0.1" euler="10 20 30"/>
  <geom name="rod" type="cylinder" size="0.1 0.2" euler="40 50 60"/>
  <site name="side" pos="0.1 0.15 0.05"/><site name="core" pos="0.01 -0.02 0.03"/>
  <body name="a"><joint name="ax" type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
    <joint type="slide" axis="0 0 1"/><geom size="0.01" contype="0" conaffinity="0"/><site name="a"/></body>
  <body name="b"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
    <joint type="slide" axis="0 0 1"/><geom size="0.01" contype="0" conaffinity="0"/><site name="b"/></body>
</worldbody><tendon>
  <spatial name="ball"><site site="a"/><geom geom="ball"/><site site="b"/></spatial>
  <spatial name="ball, side"><site site="a"/><geom geom="ball" sidesite="side"/><site site="b"/></spatial>
  <spatial name="through ball"><site site="a"/><geom geom="ball" sidesite="core"/><site site="b"/></spatial>
  <spatial name="rod"><site site="a"/><geom geom="rod"/><site site="b"/></spatial>
  <spatial name="rod, side"><site site="a"/><geom geom="rod" sidesite="side"/><site site="b"/></spatial>
  <spatial name="through rod"><site site="a"/><geom geom="rod" sidesite="core"/><site site="b"/></spatial>
</tendon></mujoco>"""
FREE_MOTORS = """<mujoco><worldbody><body name="ship"><freejoint name="root"/><geom size="0.1"/></body></worldbody>
<actuator><motor joint="root" gear="1 2 3 4 5 6"/>
<motor jointinparent="root" gear="1 2 3 4 5 6"/></actuator></mujoco>"""
LIMITS = """<mujoco><option actuatorgroupdisable="2"/><compiler autolimits="true"/><worldbody>
<body><joint name="a" actuatorfrcrange="-2 1"/><geom size="0.1"/><body pos="1 0 0"><joint name="b"/><geom size="0.1"/>
</body></body></worldbody>
<tendon><fixed name="t" actuatorfrcrange="-1 1.5"><joint joint="a" coef="2"/>
<joint joint="b" coef="3"/></fixed></tendon>
<actuator><motor tendon="t" gear="2"/><motor tendon="t" damping="1 2 3" gear="0.5"/>
<motor joint="a" gear="0.5"/>
<position joint="a" kp="3"/><motor joint="b" group="2"/></actuator></mujoco>"""


def random_state(model, rng, spread=1.0):
    q, v = model.tree.q0 + spread * rng.normal(size=model.nq), rng.normal(size=model.nv)
    for _, first in model.quaternions():
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return q, v


def dense(rows, nv, number, first, column, value):
    J = np.zeros((rows, nv))
    for r in range(rows):
        at = slice(first[r], first[r] + number[r])
        J[r, column[at]] = value[at]
    return J


@pytest.mark.parametrize("xml", [WRAP, FREE_MOTORS, LIMITS], ids=["wrap", "free", "limits"])
def test_lengths_forces_and_rates_are_those_of_mujoco(xml):
    model = Scene.from_xml(xml).compile()
    mj, dyn, rng = model.mj, Dynamics(model), np.random.default_rng(1)
    data = mujoco.MjData(mj)
    for _ in range(200):
        q, v = random_state(model, rng, 0.6)
        control, act = 2.0 * rng.normal(size=model.nu), rng.uniform(size=model.na)
        data.qpos[:], data.qvel[:], data.ctrl[:], data.act[:] = q, v, control, act
        mujoco.mj_forward(mj, data)
        lengths, arms = dyn.tendon_lengths(q)
        np.testing.assert_allclose(lengths, data.ten_length, atol=1e-9)
        theirs = dense(mj.ntendon, mj.nv, mj.ten_J_rownnz, mj.ten_J_rowadr, mj.ten_J_colind, data.ten_J)
        through = [model.tendon_names.index("inside")] if "inside" in model.tendon_names else []
        np.testing.assert_allclose(np.delete(arms, through, 0), np.delete(theirs, through, 0), atol=1e-9)
        # MuJoCo ends its search of the touching point at 1e-6; the length, which is smallest there, is exact.
        np.testing.assert_allclose(arms[through], theirs[through], atol=2e-6)
        lengths, arms = dyn.actuator_lengths(q)
        np.testing.assert_allclose(lengths, data.actuator_length, atol=1e-9)
        moment = data.moment_rownnz, data.moment_rowadr, data.moment_colind, data.actuator_moment
        np.testing.assert_allclose(arms, dense(mj.nu, mj.nv, *moment), atol=1e-9)
        force, total = dyn.actuator_forces(q, v, control, act)
        np.testing.assert_allclose(force, data.actuator_force, atol=1e-9, rtol=1e-9)
        np.testing.assert_allclose(total, data.qfrc_actuator, atol=1e-9, rtol=1e-9)
        passive = dyn.tendon_lengths(q)[1].T @ dyn.tendon_forces(q, v)
        np.testing.assert_allclose(passive, data.qfrc_passive, atol=1e-9, rtol=1e-9)
        np.testing.assert_allclose(dyn.activation_rates(control, act), data.act_dot, atol=1e-9)


def test_wrapping_over_random_configurations():
    """10⁴ configurations of a sphere and a cylinder, with and without side sites. For the path through a ring, where
    MuJoCo ends its search at 1e-6, moment arms are also held to differences of lengths."""
    model = Scene.from_xml(WRAP_ONLY).compile()
    mj, dyn, rng = model.mj, Dynamics(model), np.random.default_rng(7)
    data, worst, ring_error, wrapped = mujoco.MjData(mj), np.zeros(2), 0.0, np.zeros(mj.ntendon, dtype=int)
    ring, step = np.array([name.startswith("through") for name in model.tendon_names]), 1e-6
    for k in range(10_000):
        q = rng.uniform(-0.3, 0.3, size=model.nq)
        data.qpos[:] = q
        mujoco.mj_fwdPosition(mj, data)
        lengths, arms = dyn.tendon_lengths(q)
        theirs = dense(mj.ntendon, mj.nv, mj.ten_J_rownnz, mj.ten_J_rowadr, mj.ten_J_colind, data.ten_J)
        wrapped += data.ten_wrapnum > 2
        worst[0] = max(worst[0], np.abs(lengths - data.ten_length).max())
        worst[1] = max(worst[1], np.abs(arms - theirs)[~ring].max())
        ring_error = max(ring_error, np.abs(arms - theirs)[ring].max())
        if k < 200:
            for d in range(model.nv):
                ahead, behind = (dyn.tendon_lengths(q + sign * step * np.eye(model.nv)[d])[0] for sign in (1, -1))
                np.testing.assert_allclose(arms[ring, d], (ahead - behind)[ring] / (2 * step), atol=1e-8)
    assert worst.max() < 1e-9
    assert ring_error < 1e-4
    assert wrapped.min() > 500


def test_drawn_paths_are_as_long_as_mujocos_and_stay_outside():
    """A chord of the arc of angle θ/12 is shorter than it by at most 1 % (θ < 2π); pieces follow one another."""
    model = Scene.from_xml(WRAP_ONLY).compile()
    data, rng, wrapped = mujoco.MjData(model.mj), np.random.default_rng(5), 0
    paths, dynamics = Paths.of(model.tendons), Dynamics(model)
    for _ in range(300):
        data.qpos[:] = 0.2 * rng.normal(size=6)
        mujoco.mj_kinematics(model.mj, data)
        mujoco.mj_comPos(model.mj, data)
        mujoco.mj_tendon(model.mj, data)
        poses = dynamics.poses(data.qpos)
        pieces, owner = path_pieces(paths, *link_frames(poses))
        for t in range(model.mj.ntendon):
            own = pieces[owner == t]
            assert np.array_equal(own[:-1, 1], own[1:, 0])
            assert own[0, 0] == pytest.approx(poses[1, :3])
            assert own[-1, 1] == pytest.approx(poses[2, :3])
            length = np.linalg.norm(own[:, 1] - own[:, 0], axis=1).sum()
            assert 0.99 * data.ten_length[t] - 1e-9 <= length <= data.ten_length[t] + 1e-6
            if len(own) > 3:
                wrapped += 1
                g = 0 if t < 3 else 1
                x = (own[1:, 0] - data.geom_xpos[g]) @ data.geom_xmat[g].reshape(3, 3)
                reach = np.linalg.norm(x if g == 0 else x[:, :2], axis=1)
                assert reach == pytest.approx(np.full(len(x), 0.1), abs=1e-9)
    assert wrapped > 200
