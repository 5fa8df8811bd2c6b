"""Springs, dampers, servos and limits of the variational method against ``coulomb``; spins that no step can turn."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError, StartWarning, UnconvergedError
from stickslip.model.model import compile_model
from stickslip.scenes.linkages import four_bar

JOINT = 'type="hinge" axis="0 1 0"'
MECHANISMS = {
    "plain": (f"<joint {JOINT}/>", f"<joint {JOINT}/>", ""),
    "springs": (f'<joint {JOINT} stiffness="30" springref="0.4"/>', '<joint type="ball" stiffness="1"/>', ""),
    "dampers": (f'<joint {JOINT} damping="2"/>', '<joint type="ball" damping="0.3"/>', ""),
    "rotors": (f'<joint {JOINT} armature="0.5"/>', '<joint type="slide" axis="1 0 0.2" armature="2"/>', ""),
    "rotors of balls": (f"<joint {JOINT}/>", '<joint type="ball" armature="0.5"/>', ""),
    "rotors of two": (f"<joint {JOINT}/>", f'<joint {JOINT} armature="0.5"/><joint type="hinge" armature="0.3"/>', ""),
    "servos": (
        f'<joint name="a" {JOINT}/>',
        f'<joint name="b" {JOINT} damping="0.1"/>',
        '<position joint="a" kp="300" kv="20"/><position joint="b" kp="60" forcerange="-4 4"/>',
    ),
    "limits": (
        f'<joint {JOINT} range="-0.2 0.3" limited="true"/>',
        f'<joint {JOINT} range="-1 0.1" limited="true"/>',
        "",
    ),
}


def mechanism(name):
    """Two boxes on one another, their centres of mass off axes and planes."""
    upper, lower, actuators = MECHANISMS[name]
    geom = '<geom type="box" size="0.05 0.1 0.25" pos="0.13 0.02 -0.3" mass="1" contype="0" conaffinity="0"/>'
    inner = f'<body pos="0 0 -0.6">{lower}{geom}</body>'
    xml = (
        f'<mujoco><compiler angle="radian"/><worldbody><body>{upper}{geom}{inner}</body></worldbody>'
        f"<actuator>{actuators}</actuator></mujoco>"
    )
    return compile_model(mujoco.MjModel.from_xml_string(xml))


def at_end(model, method, dt, time=0.25, **options):
    sim = ss.Simulation(model, method, dt=dt, **options)
    sim.inputs.control[:] = 0.7
    sim.set_state(v=np.linspace(0.5, -1.0, model.nv))
    sim.step(round(time / dt))
    return np.concatenate([sim.state.q, sim.state.v])


@pytest.mark.parametrize("coordinates", ["joint", "maximal"])
@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "limits"])
def test_forces_in_joints_are_those_of_coulomb(name, coordinates):
    """First order both: their difference halves with dt, and what both tend to (extrapolated) is the same."""
    model, ours, theirs = mechanism(name), [], []
    for dt in (1e-3, 5e-4):
        ours.append(at_end(model, "variational", dt, tolerance=1e-10))
        theirs.append(at_end(model, "coulomb", dt, coordinates=coordinates))
    assert np.abs(ours[1] - model.state().q.tolist()[0]).max() > 0.05
    apart = [np.abs(a - b).max() for a, b in zip(ours, theirs, strict=True)]
    assert apart[1] < 0.6 * apart[0] or apart[1] < 1e-4
    np.testing.assert_allclose(2 * ours[1] - ours[0], 2 * theirs[1] - theirs[0], atol=3e-4, rtol=3e-4)


def test_limits_are_never_passed_and_hold():
    """Both joints fall onto their stops and rest there, as with ``coulomb``."""
    model, dt = mechanism("limits"), 0.005
    limits = model.joint_forces.range
    sim = ss.Simulation(model, "variational", dt=dt)
    sim.set_state(v=[4.0, 4.0])
    gaps, energy = [], []
    for _ in range(600):
        sim.step()
        gaps.append(min((sim.state.q - limits[:, 0]).min(), (limits[:, 1] - sim.state.q).min()))
        energy.append(np.sum(sim.stepper.motion.nu**2))
    assert min(gaps) > -1e-9
    other = ss.Simulation(model, "coulomb", dt=dt)
    other.set_state(v=[4.0, 4.0])
    other.step(600)
    assert min(np.abs(sim.state.q - limits[:, 1]).min(), np.abs(sim.state.q - limits[:, 0]).min()) < 1e-6
    np.testing.assert_allclose(sim.state.q, other.state.q, atol=2e-2)


def test_a_hanging_ball_joint_stays_in_its_cone():
    scene = ss.Scene()
    body = scene.add_body("rod", joint="fixed")
    body.add_joint("ball", range=(0, 0.4))
    body.add_cylinder(0.05, 0.5, mass=1.0, pos=(0, 0, -0.25), collide=False)
    sim = ss.Simulation(scene, "variational", dt=0.005)
    sim.set_state(v=[3.0, 1.0, 0.0])
    largest = 0.0
    for _ in range(300):
        sim.step()
        largest = max(largest, 2.0 * np.arctan2(np.linalg.norm(sim.state.q[1:]), abs(sim.state.q[0])))
    assert 0.4 - 1e-6 < largest < 0.4 + 1e-9


def box(size=(0.2, 0.2, 0.2)):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box(size, mass=1.0, name="box")
    return scene


def test_half_a_turn_in_a_step_is_an_error():
    """|ω| ≥ 2/dt: no quaternion of a step has it."""
    sim = ss.Simulation(box(), "variational", dt=0.01)
    sim.set_state(v=[0, 0, 0, 0, 250.0, 0])
    with pytest.raises(InputError, match=r"'box'.*2/dt = 200 rad/s.*250 rad/s.*0\.004"):
        sim.step()
    sim.set_state(v=[0, 0, 0, 0, 100.0, 0])
    sim.step(10)
    np.testing.assert_allclose(sim.state.v[3:], [0, 100.0, 0], atol=1e-6)


def test_a_torque_that_no_spin_can_carry_is_told():
    """The momentum (dt/2)·s·J·ω of a cube is largest, J/dt, at |ω| = √2/dt, a quarter turn in a step."""
    sim = ss.Simulation(box(), "variational", dt=0.01, unconverged="raise")
    J = sim.model.inertia.inertia[1, 0]
    sim.set_state(v=[0, 0, 0, 0, 130.0, 0])
    sim.inputs.wrench[1, 4] = 0.5 * J / 0.01**2
    with pytest.raises(UnconvergedError, match=r"momenta miss by"):
        sim.step()


def test_open_loops_are_closed_and_told():
    sim = ss.Simulation(four_bar().scene, "variational", dt=0.01)
    q = sim.state.q.copy()
    q[1] += 0.05
    sim.set_state(q=q)
    with pytest.warns(StartWarning, match=r"open by up to 0\.0265.*moved by up to 0\.0511"):
        sim.step()
    assert sim.stepper.joint_error()[:, 0].max() < 1e-9
