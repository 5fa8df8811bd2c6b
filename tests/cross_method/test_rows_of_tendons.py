"""Friction, limits, couplings and armature of tendons, and limits of ball joints: closed forms, by every method."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError, UnsupportedFeatureError
from stickslip.methods.registry import METHODS
from stickslip.model.mjspec import exact_xml

OURS = tuple(name for name in METHODS if name != "mujoco")
"""MuJoCo's own rows are soft."""
G, LIGHT, HEAVY = 9.81, 1.0, 1.2
LINK = '<geom type="capsule" size=".02" contype="0" conaffinity="0" '
DIFFERENTIAL = f"""<mujoco><worldbody><site name="w1" pos=".2 0 .3"/><site name="w2" pos=".8 .1 .3"/>
<geom name="reel" size=".04" pos=".05 .02 .02" contype="0" conaffinity="0"/>
<body><joint axis="0 1 0"/>{LINK} fromto="0 0 0 0 0 -.3"/><site name="s1" pos=".05 .02 -.25"/>
<body pos="0 0 -.3"><joint axis="0 1 0"/>{LINK} fromto="0 0 0 .1 0 -.2"/><site name="s2" pos=".12 0 -.2"/></body></body>
<body pos="1 0 0"><joint axis="0 1 0"/>{LINK} fromto="0 0 0 -.2 0 -.1"/><site name="s3" pos="-.25 0 -.1"/></body>
</worldbody><tendon><spatial name="t1"><site site="w1"/><geom geom="reel"/><site site="s1"/><site site="s2"/></spatial>
<spatial name="t2" frictionloss="FRICTION"><site site="w2"/><site site="s3"/></spatial></tendon>
<equality><tendon tendon1="t1" tendon2="t2" polycoef="0 -.8 .3 0 0"/></equality></mujoco>"""
MASSIVE = f"""<mujoco><worldbody><site name="w" pos=".3 0 .2"/>
<body><joint name="a" axis="0 1 0"/>{LINK} fromto="0 0 0 0 0 -.3"/><site name="s" pos=".02 0 -.2"/>
<body pos="0 0 -.3"><joint name="b" axis="0 1 0"/>{LINK} fromto="0 0 0 0 0 -.3"/><site name="t" pos=".02 .03 -.2"/>
</body>
</body></worldbody><tendon>
<spatial name="rope" armature="2"><site site="w"/><site site="s"/><pulley divisor="2"/><site site="s"/><site site="t"/>
</spatial><fixed name="sum" armature=".1"><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed></tendon>
</mujoco>"""
EXACT = {"variational": {"relaxation": 0.0, "tolerance": 1e-10}}
"""Options for tests at 1e-8."""


def pulleys(friction: float, limits: tuple[float, float] | None = None) -> ss.Scene:
    """Two weights on a string over two pulleys: its two ends are tendons of opposite rates, one of which rubs."""
    scene = ss.Scene()
    for name, x, mass in (("light", 0.0, LIGHT), ("heavy", 1.0, HEAVY)):
        body = scene.add_body(name, joint="slide", axis=(0, 0, 1), pos=(x, 0, 0))
        body.add_sphere(0.02, mass=mass, collide=False)
        body.add_frame(f"{name} hook")
        scene.world.add_frame(f"{name} pulley", pos=(x, 0, 1))
    scene.add_tendon("left", path=["light pulley", "light hook"], friction=friction, range=limits)
    scene.add_tendon("right", path=["heavy pulley", "heavy hook"])
    scene.couple("left", "right", ratio=-1.0)
    return scene


@pytest.mark.parametrize("method", OURS)
@pytest.mark.parametrize("friction", [1.0, 1.9, 2.1])
def test_a_string_over_two_pulleys_slips_beyond_its_friction(method, friction):
    """(m₁ + m₂)·a = (m₂ − m₁)·g − f, and nothing moves where f is larger than the difference of the weights."""
    sim = ss.Simulation(pulleys(friction), method, dt=1e-3, **EXACT.get(method, {}))
    sim.step(20)
    force = max(0.0, (HEAVY - LIGHT) * G - friction)
    speed = 0.02 * force / (HEAVY + LIGHT)
    creep = 5e-3 if method == "event-selected" else 1e-8  # a smooth friction law
    np.testing.assert_allclose(sim.state.v, [speed, -speed], atol=creep)
    np.testing.assert_allclose(sim.state.q[0] + sim.state.q[1], 0.0, atol=1e-9)
    assert sim.stepper.unconverged == 0


@pytest.mark.parametrize("method", OURS)
def test_coupled_spatial_tendons_keep_their_ratio(method):
    """A differential: one tendon runs over two joints and around a sphere, the other one over a lever."""
    model = ss.Scene.from_xml(DIFFERENTIAL.replace("FRICTION", ".3")).compile()
    sim, dynamics = ss.Simulation(model, method, dt=1e-3), ss.Dynamics(model)
    start, _ = dynamics.tendon_lengths(sim.state.q)
    for _ in range(4):
        sim.step(5)
        change, arms = dynamics.tendon_lengths(sim.state.q)
        (one, two), rates = change - start, arms @ sim.state.v
        assert abs(one + 0.8 * two - 0.3 * two**2) < (1e-8 if METHODS[method].capabilities.stiff_loops else 1e-6)
        assert abs(rates[0] + (0.8 - 0.6 * two) * rates[1]) < 1e-5  # rows are those of the beginning of the step
    assert abs(rates).max() > 1e-3
    sim = ss.Simulation(ss.Scene.from_xml(DIFFERENTIAL.replace("FRICTION", "50")), method, dt=1e-3)
    sim.step(10)
    np.testing.assert_allclose(sim.state.q[2], 0.0, atol=1e-5 if method == "event-selected" else 1e-7)
    assert sim.stepper.unconverged == 0


@pytest.mark.parametrize("method", OURS)
def test_a_tendon_with_armature_moves_as_in_mujoco(method):
    ends = []
    for name in (method, "mujoco"):
        sim = ss.Simulation(ss.Scene.from_xml(MASSIVE), name, dt=2e-4)
        sim.set_state(q=[0.5, -0.3], v=[1.0, -2.0])
        sim.step(20)
        ends.append(sim.state.v.copy())
    np.testing.assert_allclose(ends[0], ends[1], atol=3e-5)
    assert abs(ends[0] - [1.0, -2.0]).max() > 0.01


@pytest.mark.parametrize("method", ["coulomb/pgs", "stewart-trinkle", "relaxed/pgs"])
def test_limits_of_tendons_are_rows(method):
    """The string's end catches the weights at once, without overshoot, and bears them."""
    sim = ss.Simulation(pulleys(0.0, (0.95, 2.0)), method, dt=1e-3)
    sim.set_state(v=[0.4, -0.4])
    sim.step(400)
    np.testing.assert_allclose(sim.state.q, [0.05, -0.05], atol=1e-6)
    np.testing.assert_allclose(sim.state.v, 0.0, atol=1e-6)


@pytest.mark.parametrize("method", OURS)
def test_the_limits_of_a_ball_and_a_hinge_bear_a_weight(method):
    """Two pendula, which their limits of 0.5 rad, narrowed by a margin of 0.1, hold at 0.4 rad."""
    scene = ss.Scene.from_xml(
        """<mujoco><compiler angle="radian"/><option gravity="9.81 0 0"/><worldbody><body>
        <joint type="ball" range="0 .5" margin=".1" damping=".2" limited="true"/>
        <geom type="box" size=".3 .3 .01" pos="0 0 -.3" mass="1" contype="0" conaffinity="0"/></body><body pos="0 1 0">
        <joint axis="0 1 0" range="-.5 .5" margin=".1" damping=".2" limited="true"/>
        <geom type="box" size=".3 .3 .01" pos="0 0 -.3" mass="1" contype="0" conaffinity="0"/></body>
        </worldbody></mujoco>"""
    )
    sim = ss.Simulation(scene, method, dt=1e-3)
    sim.step(800)
    angles = np.array([2.0 * np.arccos(min(1.0, abs(sim.state.q[0]))), abs(sim.state.q[4])])
    load, k = 0.3 * G * np.cos(angles), scene.compile().joint_forces.limit_stiffness
    soft = not METHODS[method].capabilities.stiff_loops or method == "bilateral"
    np.testing.assert_allclose(angles, 0.4 + (load / k if soft else 0.0), atol=1e-4 if soft else 2e-6)
    np.testing.assert_allclose(sim.state.v, 0.0, atol=1e-4)


def test_mass_matrix_and_bias_with_tendon_armature_are_mujocos():
    text = MASSIVE.replace("<body><joint", '<body name="base"><freejoint/><geom size=".1"/><body><joint', 1)
    text = text.replace("</body></worldbody>", "</body></body></worldbody>")
    text = text.replace(
        '<joint name="a" axis="0 1 0"/>', '<joint name="a" axis="0 1 0"/><joint type="ball" pos="0 0 .1"/>'
    )
    drive = '<actuator><motor tendon="sum" gear="3" armature=".05"/></actuator></mujoco>'
    mj = mujoco.MjModel.from_xml_string(text.replace("</mujoco>", drive))
    model = ss.Scene.from_xml(text.replace("</mujoco>", drive)).compile()
    data, dynamics, rng = mujoco.MjData(mj), ss.Dynamics(model), np.random.default_rng(1)
    for _ in range(20):
        data.qpos[:], data.qvel[:] = 0.5 * rng.normal(size=mj.nq), rng.normal(size=mj.nv)
        mujoco.mj_normalizeQuat(mj, data.qpos)
        mujoco.mj_forward(mj, data)
        M = np.zeros((mj.nv, mj.nv))
        mujoco.mj_fullM(mj, data, M)
        q, v = data.qpos.copy(), data.qvel.copy()
        np.testing.assert_allclose(dynamics.crba(q), M, atol=1e-9)
        np.testing.assert_allclose(dynamics.bias(q, v), data.qfrc_bias, atol=1e-9)
        np.testing.assert_allclose(dynamics.rnea(q, v, dynamics.aba(q, v, v)), v, atol=1e-9)
        np.testing.assert_allclose(dynamics.energy(q, v).kinetic, 0.5 * v @ M @ v, atol=1e-9)


def test_friction_armature_and_couplings_of_tendons_are_saved(tmp_path):
    scene = pulleys(0.7)
    scene.add_tendon("loaded", joints={"heavy": 2.0}, armature=0.3, friction=0.1)
    scene.save(tmp_path / "scene.xml")
    one, two = scene.compile(), ss.Scene.from_file(tmp_path / "scene.xml").compile()
    np.testing.assert_array_equal(two.tendons.frictionloss, [0.7, 0.0, 0.1])
    np.testing.assert_array_equal(two.tendons.armature, [0.0, 0.0, 0.3])
    assert one.couplings[0].tendons == two.couplings[0].tendons == (0, 1)
    assert one.fingerprint == two.fingerprint


def test_what_tendons_cannot_have_is_refused_by_name():
    scene = pulleys(0.7)
    with pytest.raises(InputError, match="friction of tendon 'x': expected a number ≥ 0"):
        scene.add_tendon("x", joints={"heavy": 1.0}, friction=-1.0)
    with pytest.raises(InputError, match="armature of tendon 'x'"):
        scene.add_tendon("x", joints={"heavy": 1.0}, armature=float("nan"))
    with pytest.raises(InputError, match="unknown tendon 'heavy'"):
        scene.couple("left", "heavy")
    with pytest.raises(InputError, match=r"dry friction of tendons .'left'. exist"):
        ss.Simulation(pulleys_alone(), "coulomb", coordinates="maximal")
    scene.add_tendon("wide", joints={"light": 1.0, "heavy": 1.0}, armature=0.1)
    with pytest.raises(InputError, match="armature of tendon 'wide': expected joints of which each carries the next"):
        scene.compile()
    with pytest.raises(UnsupportedFeatureError, match=r"tendon armature .*'wide'"):
        ss.Scene.from_xml(exact_xml(scene.spec))


def pulleys_alone() -> ss.Scene:
    scene = pulleys(0.7)
    scene.spec.delete(scene.spec.equalities[0])
    return scene
