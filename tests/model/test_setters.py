"""Setters of a compiled model: every method goes on as a scene that was made with the changed value."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.simulation.sensors import Moment

INERTIA = (3e-3, 5e-3, 6e-3)
START = [0.5, 0, 0, 0, 0, 0.3, 0.2]
CHANGES = {
    "mass": (lambda m: m.set_body("box", mass=2.0), lambda m: m.set_body("box", mass=1.0)),
    "inertia": (
        lambda m: m.set_body("box", mass=2.0, inertia=INERTIA),
        lambda m: m.set_body("box", mass=1.0, inertia=(1 / 240, 1 / 240, 2 / 300)),
    ),
    "com": (lambda m: m.set_body("box", com=(0.01, 0, 0.02)), lambda m: m.set_body("box", com=(0, 0, 0))),
    "friction": (lambda m: m.set_shape("box", friction=0.6), lambda m: m.set_shape("box", friction=0.3)),
    "gravity": (lambda m: m.set_gravity((0, 0.3, -3)), lambda m: m.set_gravity((0, 0, -9.81))),
    "kp": (lambda m: m.set_actuator("arm", kp=30.0), lambda m: m.set_actuator("arm", kp=10.0)),
    "damping": (lambda m: m.set_joint("arm", damping=0.4), lambda m: m.set_joint("arm", damping=0.1)),
    "dry": (lambda m: m.set_joint("arm", friction=0.0), lambda m: m.set_joint("arm", friction=0.02)),
    "tool": (lambda m: m.set_body("tool", mass=0.3), lambda m: m.set_body("tool", mass=0.1)),
}


def scene(changed: str = "") -> ss.Scene:
    """A box that slides on the floor, and an arm with a servo, dry friction and a tool that is fixed to it."""
    gravity = (0, 0.3, -3) if changed == "gravity" else (0, 0, -9.81)
    made = ss.Scene(gravity=gravity)
    made.add_plane(friction=0.2)
    mass, friction = 2.0 if changed in ("mass", "inertia") else 1.0, 0.6 if changed == "friction" else 0.3
    box = made.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.0499), mass=mass, name="box", friction=friction)
    if changed == "inertia":
        box.set_inertia(mass, inertia=INERTIA)
    if changed == "com":
        box.set_inertia(mass, inertia=(1 / 240, 1 / 240, 2 / 300), com=(0.01, 0, 0.02))
    arm = made.add_body(
        "arm", joint="hinge", axis=(0, 1, 0), pos=(1, 0, 1), damping=0.4 if changed == "damping" else 0.1,
        friction=0.0 if changed == "dry" else 0.02, motor="position", kp=30.0 if changed == "kp" else 10.0, kv=0.5,
    )  # fmt: skip
    arm.add_capsule(0.03, 0.4, pos=(0, 0, -0.2), mass=0.5, collide=False)
    tool = arm.add_body("tool", pos=(0.05, 0, -0.4))
    tool.add_sphere(0.03, mass=0.3 if changed == "tool" else 0.1, collide=False)
    return made


def running(model, method: str) -> ss.Simulation:
    sim = ss.Simulation(model, method, dt=1e-3)
    sim.set_state(v=START)
    sim.set_control([0.4])
    return sim


@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
@pytest.mark.parametrize("method", list(ss.METHODS))
def test_a_change_in_mid_run_is_a_scene_with_the_value(method):
    """From the same q and v with cleared contact memory, to round-off; setting the old value restores all bits."""
    sim = running(scene(), method)
    sim.step(5)
    middle, fingerprint = sim.snapshot(), sim.model.fingerprint
    sim.step(3)
    after = sim.state.copy()
    for name, (change, back) in CHANGES.items():
        sim.restore(middle)
        change(sim.model)
        assert sim.model.fingerprint != fingerprint
        sim.step()  # with the memory of the step before
        warm = sim.state.v.copy()
        sim.set_state(middle.state.q, middle.state.v)
        fresh = running(scene(name), method)
        fresh.set_state(middle.state.q, middle.state.v)
        fresh.step()
        np.testing.assert_allclose(warm, fresh.state.v, atol=5e-3, err_msg=name)  # friction anchors begin anew there
        fresh.step(2)
        sim.step(3)
        np.testing.assert_allclose(sim.state.v, fresh.state.v, rtol=0, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(sim.state.q, fresh.state.q, rtol=0, atol=1e-14, err_msg=name)
        with pytest.raises(ss.InputError, match=r"before sim\.model was changed"):
            sim.restore(middle)
        back(sim.model)
        assert sim.model.fingerprint == fingerprint, name
        sim.restore(middle)
        sim.step(3)
        np.testing.assert_array_equal(sim.state.v, after.v, err_msg=name)
        np.testing.assert_array_equal(sim.state.q, after.q, err_msg=name)


def test_mujoco_s_model_and_the_xml_follow():
    model = scene().compile()
    before = {
        name: getattr(model.mj, name).copy() for name in dir(mujoco.MjModel) if name.startswith(("body_", "dof_"))
    }
    for change, _ in CHANGES.values():
        change(model)
    model.set_shape("box", torsion=0.01, restitution=0.2, stiffness=2e4)
    model.set_joint("arm", armature=0.01, stiffness=2.0)
    model.set_actuator("arm", kv=1.0, gear=2.0, force_range=(-3, 3), control_range=(-1, 1))
    read = ss.Scene.from_xml(model.to_xml()).compile()
    assert read.fingerprint == model.fingerprint
    assert read.shapes[1].material == model.shapes[1].material
    assert model.shapes[1].material.condim == 4
    for one, other in zip(model.parts, read.parts, strict=True):
        for mine, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    for _, back in CHANGES.values():
        back(model)
    model.set_joint("arm", armature=0.0, stiffness=0.0)
    for name, values in before.items():
        np.testing.assert_array_equal(getattr(model.mj, name), values, err_msg=name)
    assert model.mass_properties("tool").mass == 0.1


def test_all_simulations_and_dynamics_of_a_model_see_it_and_nobody_else_writes():
    model = scene().compile()
    one, two, dynamics = running(model, "mujoco"), running(model, "mujoco"), ss.Dynamics(model)
    force = dynamics.actuator_forces(model.state().q, np.zeros(7), [1.0])[0]
    one.step(2)
    model.set_actuator("arm", kp=20.0)
    model.set_gravity((0, 0, 0))
    np.testing.assert_allclose(dynamics.actuator_forces(model.state().q, np.zeros(7), [1.0])[0], 2.0 * force)
    np.testing.assert_allclose(Moment(one).actuator(0)[2], 20.0 * (0.4 - one.state.q[-1]) - 0.5 * one.state.v[-1])
    for sim in (one, two):
        sim.set_state(model.state().q, START)
        sim.step(3)
    np.testing.assert_array_equal(one.state.v, two.state.v)
    for part in (*model.parts, *model.keyframes.values()):
        for array in part:
            assert not (isinstance(array, np.ndarray) and array.flags.writeable)
    with pytest.raises(ValueError, match="read-only"):
        model.inertia.mass[1] = 3.0


def test_a_controller_may_change_the_model_while_it_runs():
    """Gravity halves in mid-run: a ball falls with g, then with g/2."""
    made = ss.Scene()
    made.add_sphere(0.1, name="ball", mass=1.0)
    sim = ss.Simulation(made, "mujoco", dt=1e-3)

    def controller(time, q, v):
        if time >= 0.5 and sim.model.version == 0:
            sim.model.set_gravity((0, 0, -9.81 / 2))
        return []

    log = sim.run(1.0, controller=controller, control_dt=0.1)
    np.testing.assert_allclose(log.v[-1, 2], -9.81 * 0.75, rtol=1e-9)
