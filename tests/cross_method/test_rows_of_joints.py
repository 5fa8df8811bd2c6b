"""Dry friction and couplings of joints, torsional and rolling friction: closed forms, by every method that has them."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.methods.registry import METHODS

OURS = tuple(name for name in METHODS if name != "mujoco")
"""MuJoCo's own rows are soft."""
SMOOTH = ("event-selected",)
"""Friction is a steep smooth function there: joints creep."""
WHEEL = """<mujoco><worldbody><body>
<joint name="axle" axis="0 0 1" frictionloss="0.05" armature="0.01"/>
<geom type="sphere" size="0.1" mass="1" contype="0" conaffinity="0"/>
</body><body pos="1 0 0">
<joint name="arm" axis="0 1 0" frictionloss="3"/>
<geom type="sphere" size="0.1" pos="0.2 0 0" mass="1" contype="0" conaffinity="0"/>
</body></worldbody></mujoco>"""
GEARS = """<mujoco><worldbody>
<body><joint name="a" axis="0 1 0"/><geom type="box" size=".1 .05 .05" pos=".1 0 0" mass="1" contype="0"
 conaffinity="0"/></body>
<body pos="0 1 0"><joint name="b" axis="0 1 0"/><geom type="box" size=".1 .05 .05" pos=".05 0 0" mass=".5" contype="0"
 conaffinity="0"/></body>
</worldbody><equality><joint joint1="a" joint2="b" polycoef="0.1 -2 {} 0 0"/></equality></mujoco>"""
BALL = """<mujoco><worldbody><geom type="plane" size="5 5 1" condim="{0}" friction="0.8 0.02 0.01"/>
<body pos="0 0 {1}"><freejoint/><geom type="sphere" size="0.1" mass="1" condim="{0}" friction="0.8 0.02 0.01"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("method", OURS)
def test_dry_friction_stops_a_wheel_at_the_analytic_time_and_holds_an_arm(method):
    sim = ss.Simulation(ss.Scene.from_xml(WHEEL), method, dt=1e-3)
    inertia, friction, speed = 0.01 + 0.4 * 0.01, 0.05, 1.0
    time = inertia * speed / friction  # 0.28 s
    sim.set_state(v=[speed, 0.0])
    sim.step(140)
    np.testing.assert_allclose(sim.state.v[0], speed * 0.5, atol=1e-6)
    sim.step(160)
    np.testing.assert_allclose(sim.state.q[0], 0.5 * speed * time, atol=1e-3)
    held = sim.state.q.copy()
    sim.step(100)
    slack = 2e-4 if method in SMOOTH else 1e-7  # the arm's weight is 1.96 N m of the 3 N m that friction bears
    np.testing.assert_allclose(sim.state.q, held, atol=slack)
    np.testing.assert_allclose(held[1], 0.0, atol=10 * slack)
    assert sim.stepper.unconverged == 0


@pytest.mark.parametrize("bend", [0.0, 0.3])
@pytest.mark.parametrize("method", OURS)
def test_a_geared_pair_keeps_its_ratio(method, bend):
    sim = ss.Simulation(ss.Scene.from_xml(GEARS.format(bend)), method, dt=1e-3)
    sim.set_state(q=[0.1, 0.0], v=[-2.0, 1.0])
    for _ in range(10):
        sim.step(50)
        a, b = sim.state.q
        error = abs(a - 0.1 + 2.0 * b - bend * b**2)
        rigid = bend == 0.0 or METHODS[method].capabilities.stiff_loops
        # the stages of rk4 hold the coupling's force of the last step, and the feedback keeps the error bounded
        assert error < (1e-4 if not rigid else 1e-5 if method == "rk4" else 1e-9)
    assert sim.stepper.unconverged == 0


@pytest.mark.parametrize("method", [name for name in OURS if "torsion" in METHODS[name].capabilities.honours])
def test_a_ball_that_spins_on_its_spot_stops_at_the_analytic_time(method):
    """t = ω·2r²·m/(5·μ_t·m·g) = 0.1 s."""
    spin = 0.1 * 5.0 * 0.02 * 9.81 / (2.0 * 0.01)
    depth = 9.81 / 1e5 if "stiffness" in METHODS[method].capabilities.honours else 0.0
    sim = ss.Simulation(ss.Scene.from_xml(BALL.format(4, 0.1 - depth)), method, dt=1e-3)
    sim.set_state(v=[0, 0, 0, 0, 0, spin])
    sim.step(50)
    np.testing.assert_allclose(sim.state.v[5], 0.5 * spin, rtol=0.02)
    sim.step(70)
    np.testing.assert_allclose(sim.state.v[5], 0.0, atol=0.05)


@pytest.mark.parametrize("solver", ["coulomb/pgs", "relaxed", "stewart-trinkle/lemke", "anitescu-potra/pivot", "peg"])
def test_friction_that_holds_whatever_comes_hides_nothing_from_the_tolerance(solver):
    """Bounds far beyond all impulses: a locked joint, and balls that land on a floor on which nothing can roll."""
    scene = ss.Scene()
    scene.add_plane(friction=1.0, rolling=1e6, torsion=1e6)
    arm = scene.add_body("arm", joint="hinge", axis=(0, 1, 0), pos=(2, 0, 1))
    arm.add_box((0.1, 0.1, 0.1), pos=(0.2, 0, 0), mass=1.0)
    for k, r in enumerate((0.1, 0.002)):
        scene.add_sphere(r, pos=(0.5 * k, 0, r + 0.01), mass=1.0)
    model = scene.compile()
    model.set_joint(model.joint_names[0], friction=1e9)
    sim = ss.Simulation(model, solver, dt=0.01)
    sim.set_state(v=np.r_[0.0, [0.3, 0, 0, 0, 5, 50] * 2])
    sim.step(40)
    np.testing.assert_allclose(sim.state.q[[3, 10]], [0.1, 0.002], atol=3e-4)
    assert np.abs(sim.state.v).max() < 1e-4
    assert abs(sim.state.q[0]) < 1e-9
    assert sim.stepper.unconverged == 0


@pytest.mark.parametrize("method", ["coulomb/pgs", "stewart-trinkle", "variational"])
def test_a_rolling_ball_is_slowed_by_rolling_friction(method):
    """(I + m·r²)·α = μ_r·m·g: rolling without sliding slows down by 5·μ_r·g/(7·r)."""
    sim = ss.Simulation(ss.Scene.from_xml(BALL.format(6, 0.1)), method, dt=1e-3)
    sim.set_state(v=[1.0, 0, 0, 0, 10.0, 0])
    sim.step(200)
    np.testing.assert_allclose(sim.state.v[0], 1.0 - 0.2 * 5.0 * 0.01 * 9.81 / 0.7, rtol=1e-3)


@pytest.mark.parametrize("method", ["coulomb/pgs", "relaxed/pgs", "stewart-trinkle", "peg", "anitescu-potra"])
def test_the_stages_do_as_the_compiled_loop(method):
    """Dry, torsional and rolling friction, step by step in Python."""
    wheel = WHEEL[WHEEL.index("<body>") : WHEEL.index("</worldbody>")]
    text = BALL.format(6, 0.1).replace("</worldbody>", wheel + "</worldbody>")
    ends = []
    for formulate in (None, lambda sim: None):  # with a Python stage, all of them run
        sim = ss.Simulation(ss.Scene.from_xml(text), method, dt=1e-3, formulate=formulate)
        sim.set_state(v=[1.0, 0.2, 0, 1.0, 10.0, 3.0, 1.0, 0.0])
        sim.step(40)
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-6)
