"""Rotor inertia, dampers, springs and servos of joints as soft rows: the same motion as in joint coordinates."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from mechanisms import inputs, random_state, random_tree

import stickslip as ss
from stickslip.maximal import Constraints, Joint, cut
from stickslip.methods.rigid.coordinates.joint_coordinates import JointCoordinates
from stickslip.methods.rigid.coordinates.maximal_coordinates import MaximalCoordinates
from stickslip.model.model import compile_model

METHOD = "stewart-trinkle/lemke"
DT = 0.01

BODY = '<geom type="box" size="0.05 0.1 0.25" pos="0.03 0.02 -0.3" mass="1"/>'
MECHANISMS = {
    "armature": ('<joint type="hinge" axis="0 1 0" armature="0.3"/>', ""),
    "damper": ('<joint type="hinge" axis="0 1 0" damping="200"/>', ""),  # explicit, it would diverge: dt·D = 2, I = 0.1
    "spring": ('<joint type="hinge" axis="0 1 0" stiffness="1e5" springref="0.4"/>', ""),
    "servo": ('<joint name="j" type="hinge" axis="0 1 0"/>', '<position joint="j" kp="3000" kv="100"/>'),
    "servo at its limit": (
        '<joint name="j" type="hinge" axis="0 1 0"/>',
        '<position joint="j" kp="3000" kv="10" forcerange="-1 1"/>',
    ),
    "all": (
        '<joint name="j" type="hinge" axis="0 1 0" armature="0.3" damping="2" stiffness="50"/>',
        '<position joint="j" kp="3000" kv="100" gear="2"/>',
    ),
    "slide": (
        '<joint name="j" type="slide" axis="1 0 1" armature="3" damping="2" stiffness="500"/>',
        '<position joint="j" kp="300" kv="100"/>',
    ),
    "ball": ('<joint type="ball" armature="0.3" damping="0.5" stiffness="40"/>', ""),
    "free": ('<joint type="free" armature="0.3" damping="200" stiffness="4000"/>', ""),
}


def mechanism(name):
    joint, actuator = MECHANISMS[name]
    xml = f"<mujoco><worldbody><body>{joint}{BODY}</body></worldbody><actuator>{actuator}</actuator></mujoco>"
    return compile_model(mujoco.MjModel.from_xml_string(xml.replace("<mujoco>", '<mujoco><compiler angle="radian"/>')))


@pytest.mark.parametrize("name", MECHANISMS)
def test_one_body_moves_as_in_joint_coordinates(name):
    """Its frame is at the joint, which holds the origin exactly: both coordinates take the same steps."""
    model, logs = mechanism(name), []
    rng = np.random.default_rng(1)
    v = rng.normal(size=model.nv)
    for coordinates in ("joint", "maximal"):
        sim = ss.Simulation(model, METHOD, dt=DT, coordinates=coordinates, bias="explicit")
        sim.set_state(v=v)
        sim.inputs.control[:] = 0.7
        logs.append(sim.run(0.5, record_dt=DT))
    assert np.ptp(logs[0].q, axis=0).max() > 1e-4  # something moves
    np.testing.assert_allclose(logs[1].q, logs[0].q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(logs[1].v, logs[0].v, rtol=0, atol=1e-8)


def soft_tree(seed):
    """Every kind of joint, with armature, dampers and springs in most of them."""
    model, rng = random_tree(seed), np.random.default_rng(seed)
    some = rng.random(model.nv) < 0.7
    return replace(
        model,
        inertia=model.inertia._replace(armature=some * rng.uniform(0.1, 1.0, model.nv)),
        joint_forces=model.joint_forces._replace(
            damping=some * rng.uniform(0.0, 50.0, model.nv),
            stiffness=rng.uniform(0.0, 1e3, len(model.joint_names)) * (rng.random(len(model.joint_names)) < 0.5),
        ),
    )


@pytest.mark.parametrize("seed", range(4))
def test_trees_at_rest_start_as_in_joint_coordinates(seed):
    """At rest there are no velocity products, in which the two differ by the order of the step."""
    model, rng = soft_tree(seed), np.random.default_rng(seed)
    state = random_state(model, rng, size=0.3)
    state.v[:] = 0.0
    given = inputs(model)
    given.applied[:] = rng.normal(size=model.nv)
    eliminated, bodies = JointCoordinates(model), MaximalCoordinates(model, stabilise=False)
    eliminated.begin(state, given, DT)
    bodies.begin(state, given, DT)
    rows, compliance, target = bodies.soft()
    constraints, free = bodies.constraints, bodies.free_velocity
    constraints.factorise(bodies.M)
    new = free + constraints.correct(-constraints.velocity_errors(free), target - rows @ free)
    impulse = constraints.impulse[len(constraints.violation) :]
    np.testing.assert_allclose(rows @ new + compliance * impulse, target, atol=1e-10)
    bodies.finish(state, new, 0.0)
    np.testing.assert_allclose(state.v, eliminated.free_velocity, rtol=1e-9, atol=1e-9)


def test_elimination_with_soft_rows_and_a_loop_solves_the_dense_system():
    model = soft_tree(3)
    closed = Joint("in-line", 4, 6)
    assert len(Constraints(model, cut(model), [closed]).forest.loops) == 1
    coordinates = MaximalCoordinates(model, extra_joints=[closed])
    rng = np.random.default_rng(0)
    coordinates.begin(model.state(), inputs(model), DT)
    constraints = coordinates.constraints
    constraints.factorise(coordinates.M)
    soft, compliance, _ = coordinates.soft()
    G = np.vstack([constraints.rows.toarray(), soft.toarray()])
    sim = ss.Simulation(model, METHOD, dt=DT, coordinates="maximal", extra_joints=[closed])
    sim.observe()
    M = sim.matrices.mass.toarray()
    W = G @ np.linalg.solve(M, G.T)
    W += np.diag(np.concatenate([np.zeros(len(constraints.violation)), compliance]))
    np.testing.assert_allclose(sim.matrices.delassus, W, rtol=1e-9, atol=1e-9)
    right = rng.normal(size=(len(G), 2))
    np.testing.assert_allclose(constraints.impulses(right), np.linalg.solve(W, right), rtol=1e-6, atol=1e-7)


def test_servos_at_their_limits_have_no_row():
    model = mechanism("servo at its limit")
    coordinates = MaximalCoordinates(model)
    for angle, rows in ((0.0, 1), (0.1, 0), (1e-4, 1)):
        coordinates.begin(model.state([angle]), inputs(model), DT)
        soft = coordinates.soft()
        assert (0 if soft is None else len(soft[1])) == rows


def finger():
    """A light finger on a slide with a heavy rotor and a servo presses a ball against a wall."""
    xml = """
    <mujoco><option gravity="0 0 0"/><worldbody>
      <geom type="box" size="0.1 1 1" pos="1.1 0 0" friction="0.5"/>
      <body name="arm"><joint name="turn" type="hinge" axis="0 1 0" armature="0.2" damping="5" stiffness="100"/>
        <geom type="box" size="0.02 0.02 0.3" mass="0.5" contype="0" conaffinity="0"/>
        <body pos="0.5 0 0"><joint name="j" type="slide" axis="1 0 0" armature="2"/>
          <geom type="sphere" size="0.1" mass="0.1" friction="0.5"/></body></body>
      <body pos="0.8 0.02 0.01"><joint type="free"/><geom type="sphere" size="0.19" mass="0.2" friction="0.5"/></body>
    </worldbody><actuator><position joint="j" kp="2000" kv="50"/></actuator></mujoco>"""
    return compile_model(mujoco.MjModel.from_xml_string(xml))


FORMS = [("lemke", "lcp"), ("pivot", "reduced"), ("pivot", "mlcp")]


def test_all_forms_take_the_same_step():
    model, states = finger(), []
    for solver, form in FORMS:
        sim = ss.Simulation(model, f"stewart-trinkle/{solver}", dt=DT, coordinates="maximal", form=form)
        sim.inputs.control[:] = 0.05
        for _ in range(15):
            sim.step()
        sim.observe()
        assert len(sim.contacts) == 2
        states.append(np.concatenate([sim.state.q, sim.state.v]))
    assert np.abs(sim.contacts.arrays.force[:2, 0]).min() > 1.0
    for state in states[1:]:
        np.testing.assert_allclose(state, states[0], rtol=0, atol=1e-7)
    joint = ss.Simulation(model, METHOD, dt=DT)
    joint.inputs.control[:] = 0.05
    joint.step(15)
    np.testing.assert_allclose(states[0][: model.nq], joint.state.q, rtol=0, atol=2e-4)


def test_the_circular_cone_sees_the_same_rows():
    """One step from rest with sticking contacts: the cone's shape does not matter."""
    states = []
    for solver, form in (("lemke", "lcp"), ("fischer-newton", "ncp")):
        sim = ss.Simulation(finger(), f"stewart-trinkle/{solver}", dt=DT, coordinates="maximal", form=form)
        sim.inputs.control[:] = 0.02
        sim.step()
        states.append(sim.state.v.copy())
    assert np.abs(states[0]).max() > 1e-2
    np.testing.assert_allclose(states[1], states[0], rtol=0, atol=1e-6)
