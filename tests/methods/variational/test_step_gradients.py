"""Gradients of variational steps against differences of whole steps, in and out of contact."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from step_differences import SMALL, STENCIL, Bodies, make_inputs, simulation, stacked

import stickslip as ss
from stickslip.errors import InputError
from stickslip.maximal.rows import body_rows
from stickslip.model.builders import add_chain, add_hopper
from stickslip.model.model import compile_model
from stickslip.scenes.linkages import four_bar

CONES = ("variational/pyramid", "variational/circular")
TILT = Rotation.from_rotvec([0.05, -0.1, 0.0])
JOINTS = """<mujoco><compiler angle="radian"/><worldbody>
<body pos="0 0 2">
 <joint name="spring" type="hinge" axis="0 1 0" damping="0.3 0.2 0.1" armature="0.05" stiffness="4 2 3"/>
 <geom type="capsule" fromto="0 0 0 0.4 0.05 0" size="0.05" mass="1"/>
 <body pos="0.4 0 0"><joint name="ball" type="ball" stiffness="3 2 4" damping="0.2 0.3 0.1" armature="0.04"/>
  <geom type="capsule" fromto="0 0 0 0.4 0 0.05" size="0.05" mass="0.7"/>
  <body pos="0.4 0 0"><joint name="slide" type="slide" axis="1 0.2 0" range="-0.3 0.3" limited="true" armature="0.1"/>
   <geom type="capsule" fromto="0 0 0 0.4 0 0.05" size="0.05" mass="0.7"/>
   <body pos="0.4 0 0"><joint name="servo" type="hinge" axis="0 0 1" range="-1 1" limited="true" stiffness="2"/>
    <geom type="box" size="0.1 0.05 0.07" pos="0.1 0 0" mass="0.7"/></body></body></body></body>
<body pos="0 1 2" gravcomp="0.5"><joint type="free" stiffness="0 2 1" damping="0 0.2"/>
 <geom type="box" size="0.1 0.05 0.07" pos="0.1 0 0" mass="0.7"/>
 <body pos="0.2 0 0.1" gravcomp="2"><geom type="box" size="0.1 0.05 0.07" mass="0.3"/></body>
 <body pos="0.3 0 0"><joint name="one" type="hinge" axis="0 0 1" range="-1 1" limited="true"/>
  <joint name="two" type="hinge" axis="0 1 0" range="-0.5 0.5" limited="true" damping="0.1"/>
  <geom type="box" size="0.1 0.05 0.07" pos="0.1 0 0" mass="0.7"/></body>
 <body pos="0 0.3 0"><joint name="cone" type="ball" range="0 0.6" limited="true"/>
  <geom type="box" size="0.1 0.05 0.07" pos="0.1 0 0" mass="0.7"/></body></body>
</worldbody><actuator><motor joint="spring" gear="2"/><position joint="servo" kp="20" kv="1"/>
<velocity joint="slide" kv="3"/></actuator></mujoco>"""


def quat(rotation):
    return np.roll(rotation.as_quat(), 1)


def cube(height=0.0, friction=0.3):
    """On a tilted plane, so far above it."""
    scene, n = ss.Scene(), TILT.apply([0, 0, 1])
    scene.add_plane(normal=n, friction=friction)
    scene.add_box((0.5, 0.5, 0.5), mass=1.0, pos=(0.25 + height) * n, quat=quat(TILT), friction=friction)
    return scene.compile()


def balls():
    scene = ss.Scene()
    scene.add_sphere(0.3, mass=1.0, pos=(0, 0, 1), friction=0.4)
    scene.add_sphere(0.2, mass=0.5, pos=np.array([0.0, 0.0, 1.0]) + 0.501 * np.array([0.6, 0.64, 0.48]), friction=0.4)
    return scene.compile()


def hopper():
    scene = ss.Scene()
    scene.add_plane(friction=0.2)
    add_hopper(scene)
    return scene.compile()


def agree(sim, inputs, tolerance=1e-6):
    """The gradient of one step against differences; returns it."""
    bodies = Bodies(sim, inputs)
    bodies.step()
    gradient = sim.stepper.gradient(forces=True)
    exact = stacked(gradient)
    wanted, n = bodies.derivatives(exact.shape[1]), 6 * bodies.n
    for rows in (slice(0, n), slice(n, 2 * n)):
        scale = max(1.0, np.abs(wanted[rows]).max())
        np.testing.assert_allclose(exact[rows], wanted[rows], atol=tolerance * scale)
    return gradient


def test_free_flight():
    scene, rng = ss.Scene(), np.random.default_rng(0)
    body = scene.add_body(pos=(0, 0, 5))
    body.add_box((0.3, 0.2, 0.1), mass=1.0, pos=(0.1, 0.05, 0.02))
    sim = simulation(scene, v=3 * rng.normal(size=6))
    gradient = agree(sim, make_inputs(sim.model, rng, 5.0))
    np.testing.assert_allclose(gradient.dz_dnu[:3, :3], sim.dt * np.eye(3), atol=1e-12)
    np.testing.assert_allclose(gradient.dnu_dnu[:3, :3], np.eye(3), atol=1e-12)


def test_chain():
    scene, rng = ss.Scene(), np.random.default_rng(1)
    add_chain(scene, 4, pos=(0, 0, 5))
    model = scene.compile()
    sim = simulation(model, turn=0.3 * rng.normal(size=model.nv), v=2 * rng.normal(size=model.nv))
    agree(sim, make_inputs(model, rng, 2.0))


def at_limits():
    """Springs, dampers, rotors, a motor, servos, and five joints about to reach their limits."""
    rng, model = np.random.default_rng(2), compile_model(mujoco.MjModel.from_xml_string(JOINTS))
    place = {name: int(d) for name, d in zip(model.joint_names, model.tree.joint_v, strict=True)}
    turn, v = 0.2 * rng.normal(size=model.nv), rng.normal(size=model.nv)
    for name, angle, speed in (("slide", 0.298, 1), ("servo", -0.995, -1), ("one", 0.99, 2), ("two", -0.49, -1)):
        turn[place[name]], v[place[name]] = angle, speed
    cone = slice(place["cone"], place["cone"] + 3)
    turn[cone], v[cone] = 0.595 * np.array([0.6, 0.64, 0.48]), 1.0
    return simulation(model, "variational/none", turn, v), make_inputs(model, rng, 0.3, control=[0.5, 0.3, 0.2])


def test_joints_of_all_kinds_at_their_limits():
    sim, inputs = at_limits()
    agree(sim, inputs)
    assert np.abs(sim.stepper.motion.slack).min() < 1e-2


CONTACTS = {
    "sliding": (cube, (1e-3,), (2, 1, 0, 0.1, 0.2, 0.3)),
    "sticking": (cube, (1e-4,), (0.01, 0.005, 0, 0, 0, 0)),
    "landing": (cube, (0.02,), (0.5, 0.2, -3, 1.0, 0.2, 0.3)),
    "two balls": (balls, (), (0.3, 0, 1, 1, 2, 3, -1, -1, -0.5, 2, 1, -3)),
}


@pytest.mark.parametrize("method", CONES)
@pytest.mark.parametrize("case", CONTACTS)
def test_contacts(case, method):
    build, arguments, v = CONTACTS[case]
    sim = simulation(build(*arguments), method, v=v)
    agree(sim, make_inputs(sim.model, np.random.default_rng(3), 0.3))
    assert sim.stepper.touch.points.found[0] > 0


def test_hopper_pushes_off():
    model = hopper()
    sim = simulation(model, v=np.full(model.nv, 0.05))
    gradient = agree(sim, make_inputs(model, control=np.linspace(1.0, 5.0, model.nu)))
    assert np.abs(gradient.dnu_du).max() > 1e-3


@pytest.mark.parametrize("method", CONES)
@pytest.mark.parametrize("spin", [0.0, 2.0 / 0.3], ids=["slides", "rolls"])
def test_rigid_contact_has_the_derivative_of_its_active_set(method, spin):
    """Without relaxation, a ball that slides, or rolls and sticks."""
    scene = ss.Scene()
    scene.add_plane(friction=0.3)
    scene.add_sphere(0.3, mass=1.0, pos=(0, 0, 0.3), friction=0.3)
    sim = simulation(scene, method, v=(2, 0.3, 0, -0.15 * spin, spin, 0.5), relaxation=0.0)
    sim.step(2)
    gradient = agree(sim, make_inputs(sim.model))
    assert np.abs(gradient.dnu_dnu[2]).max() < 1e-6  # it stays on the floor


def test_four_bar_along_its_only_motion():
    """A loop has a redundant row, and other directions would open it."""
    sim = simulation(four_bar().scene.compile(), "variational/none")
    sim.step(3)
    bodies, joints = Bodies(sim, make_inputs(sim.model)), sim.stepper.mechanism.nodes.joints
    base, G = bodies.step(), np.zeros((len(joints.joint), 12))
    matrix = sim.stepper.gradient().matrix
    body_rows(joints, sim.stepper._before.pose, G)
    wide, rows = np.zeros((len(G), sim.model.nlink, 6)), np.arange(len(G))
    wide[rows, joints.link1[joints.joint]] += G[:, :6]
    wide[rows, joints.link2[joints.joint]] += G[:, 6:]
    _, size, directions = np.linalg.svd(wide[:, 1:].reshape(len(G), -1))
    (free,) = directions[np.count_nonzero(size > 1e-9) :]
    for change in (np.concatenate([free, 0 * free]), np.concatenate([0 * free, free])):
        wanted = sum(w * bodies.difference(bodies.step(m * SMALL * change), base) for m, w in STENCIL) / SMALL
        np.testing.assert_allclose(matrix @ change, wanted, atol=1e-6 * max(1.0, np.abs(wanted).max()))


def test_joint_coordinates_and_two_steps():
    """From (q, v, u) to (q⁺, v⁺), and two steps as the product of their matrices."""
    sim, _ = at_limits()
    model, dyn, start = sim.model, ss.Dynamics(sim.model), sim.state.copy()
    sim.set_control([0.5, 0.3, 0.2])
    control = sim.control.copy()

    def run(dq, dv, du, steps):
        sim.set_state(dyn.integrate(start.q, dq), start.v + dv)
        sim.set_control(control + du)
        sim.step(steps)
        return sim.state.q.copy(), sim.state.v.copy()

    zero, none = np.zeros(model.nv), np.zeros(model.nu)
    q, v = run(zero, zero, none, 1)
    gradient = sim.stepper.gradient()
    one = gradient.in_joints()
    matrix = gradient.matrix
    sim.step()
    matrix = sim.stepper.gradient().matrix @ matrix
    end = sim.stepper.gradient()
    to_joints = np.block([[end.q_z, np.zeros_like(end.q_z)], [end.v_z, end.q_z]])
    from_joints = np.block([[gradient.z_q, np.zeros_like(gradient.z_q)], [gradient.nu_q, gradient.z_q]])
    two = to_joints @ matrix @ from_joints
    exact = np.block([[one.dq_dq, one.dq_dv, one.dq_du], [one.dv_dq, one.dv_dv, one.dv_du]])
    rng = np.random.default_rng(5)
    for _ in range(3):
        dq, dv, du = rng.normal(size=model.nv), rng.normal(size=model.nv), rng.normal(size=model.nu)
        for steps, found in ((1, exact @ np.concatenate([dq, dv, du])), (2, two @ np.concatenate([dq, dv]))):
            wanted = 0.0
            base, u = (q, v) if steps == 1 else run(zero, zero, none, 2), du if steps == 1 else none
            for m, w in STENCIL:
                end_q, end_v = run(m * SMALL * dq, m * SMALL * dv, m * SMALL * u, steps)
                wanted = wanted + w * np.concatenate([dyn.difference(base[0], end_q), end_v - base[1]]) / SMALL
            np.testing.assert_allclose(found, wanted, atol=1e-6 * max(1.0, np.abs(wanted).max()))


def test_a_step_must_come_first():
    sim = simulation(cube())
    with pytest.raises(InputError, match="step first"):
        sim.stepper.gradient()
    sim.step()
    assert sim.stepper.gradient().dz_dz.shape == (6, 6)
    sim.reset()
    sim.stepper.take(sim.state)
    with pytest.raises(InputError, match="step first"):
        sim.stepper.gradient()
