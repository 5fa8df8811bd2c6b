"""What one does with MuJoCo's Python bindings, there and here."""

import mujoco
import numpy as np

import stickslip as ss

NAME, TRIED = "MuJoCo", "4.0.0"
INTRODUCTION = """\
Your MJCF files work as they are: `ss.Simulation("robot.xml", "mujoco")` runs MuJoCo's own engine, and another name
runs the same scene by another method. Positions and velocities are laid out as qpos and qvel, quaternions are (w,
x, y, z), and units are SI. Three things differ:

- There is one object, the simulation. It answers by name, and what it answers is up to date: you call no
  `mj_forward`.
- Contacts are those of the last step, with the forces that moved the bodies, in world axes.
- A scene is checked. A feature of a file that is not simulated is an error that names it, not a silent omission.

[Models](../models.md) says what of MJCF is read, and [the method mujoco](../methods/mujoco.md) where it differs
from `mj_step`. [Many worlds](../worlds.md) run on processors and GPUs, as by MJX; gradients of
rollouts come with later versions.
"""
RUN = "the tests run, both sides"
GIVEN = "`robot.xml` is an arm with two motors over a floor with a box. Ten steps have been taken.\n"


def given_there():
    model = mujoco.MjModel.from_xml_path("robot.xml")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    mujoco.mj_step(model, data, 10)
    return locals()


def given_here():
    sim = ss.Simulation("robot.xml", "mujoco", cone="pyramidal")  # to the bit; or another method
    sim.step(10)
    return locals()


def simulate_there():
    """Load a file and simulate a second"""
    model = mujoco.MjModel.from_xml_path("robot.xml")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    while data.time < 1.0:
        mujoco.mj_step(model, data)
    return data.qpos


def simulate_here():
    sim = ss.Simulation("robot.xml", "mujoco")
    sim.run(1.0)
    return sim.state.q


def build_there():
    """Build a model in Python"""
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], friction=[0.5, 0.005, 0.0001])
    ball = spec.worldbody.add_body(name="ball", pos=[0, 0, 1])
    ball.add_freejoint()
    ball.add_geom(size=[0.1, 0, 0], mass=0.2)
    model = spec.compile()
    return model.nv


def build_here():
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_sphere(0.1, name="ball", pos=(0, 0, 1), mass=0.2)
    model = scene.compile()
    return model.nv


def combine_there():
    """Put two copies of a robot into one scene"""
    spec = mujoco.MjSpec()
    for name, x in (("left/", -1.0), ("right/", 1.0)):
        frame = spec.worldbody.add_frame(pos=[x, 0, 0])
        spec.attach(mujoco.MjSpec.from_file("arm.urdf"), frame=frame, prefix=name)
    return spec.compile().nv


def combine_here():
    scene = ss.Scene()
    scene.load("arm.urdf", name="left", pos=(-1, 0, 1))
    scene.load("arm.urdf", name="right", pos=(1, 0, 1))
    return scene.compile().nv


def joint_there(model, data):
    """Set the angle of a joint"""
    data.joint("elbow").qpos = 0.3
    mujoco.mj_forward(model, data)
    return data.qpos


def joint_here(sim):
    sim.joint("elbow").q = 0.3
    return sim.state.q


def control_there(model, data):
    """Apply a torque to an actuator by its name"""
    data.actuator("elbow").ctrl = 0.5
    mujoco.mj_step(model, data)
    return data.qvel


def control_here(sim):
    sim.set_control({"elbow": 0.5})
    sim.step()
    return sim.state.v


def controller_there(model, data):
    """Control in closed loop"""
    for _ in range(100):
        data.ctrl[:] = -20 * data.qpos[:2] - 0.5 * data.qvel[:2]
        mujoco.mj_step(model, data)
    return data.qpos


def controller_here(sim):
    sim.controller = lambda t, q, v: -20 * q[:2] - 0.5 * v[:2]
    sim.control_dt = sim.dt
    sim.step(100)
    return sim.state.q


def jacobian_there(model, data):
    """Jacobian of a site"""
    linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    mujoco.mj_forward(model, data)
    mujoco.mj_jacSite(model, data, linear, angular, model.site("tip").id)
    return np.vstack([linear, angular])


def jacobian_here(sim):
    return sim.body("tip").jacobian()


def contacts_there(model, data):
    """Sum of the contact forces on a body"""
    total, force = np.zeros(3), np.zeros(6)
    for i, contact in enumerate(data.contact):
        if model.geom("box").id in contact.geom:
            mujoco.mj_contactForce(model, data, i, force)
            sign = 1 if contact.geom[1] == model.geom("box").id else -1
            total += sign * contact.frame.reshape(3, 3).T @ force[:3]
    return total


def contacts_here(sim):
    return sim.contacts.force_on("box")


def push_there(model, data):
    """Push a body for 0.1 s"""
    data.body("box").xfrc_applied[:3] = 3.0, 0.0, 0.0
    mujoco.mj_step(model, data, 50)
    data.body("box").xfrc_applied[:] = 0.0
    return data.qpos


def push_here(sim):
    sim.push("box", force=(3, 0, 0), duration=0.1)
    sim.step(50)
    return sim.state.q


def sensor_there(model, data):
    """Read a sensor by its name"""
    mujoco.mj_forward(model, data)
    return data.sensor("gyro").data


def sensor_here(sim):
    return sim.sensor("gyro")


def keyframe_there(model, data):
    """Go to a keyframe"""
    mujoco.mj_resetDataKeyframe(model, data, model.key("up").id)
    return data.qpos


def keyframe_here(sim):
    sim.reset("up")
    return sim.state.q


def change_there(model, data):
    """Change mass and friction, and go on"""
    model.body("box").mass[:] *= 2
    model.body("box").inertia[:] *= 2
    model.geom("box").friction[0] = 0.2
    mujoco.mj_setConst(model, mujoco.MjData(model))
    mujoco.mj_step(model, data, 100)
    return data.qpos[:2]


def change_here(sim):
    sim.model.set_body("box", mass=1.0)
    sim.model.set_shape("box", friction=0.2)
    sim.step(100)
    return sim.state.q[:2]


def snapshot_there(model, data):
    """Save the state, simulate, go back"""
    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    mujoco.mj_step(model, data, 100)
    mujoco.mj_setState(model, data, state, kind)
    return data.qpos


def snapshot_here(sim):
    snapshot = sim.snapshot()
    sim.step(100)
    sim.restore(snapshot)
    return sim.state.q


def ray_there(model, data):
    """Cast a ray"""
    geom = np.zeros(1, dtype=np.int32)
    mujoco.mj_kinematics(model, data)
    distance = mujoco.mj_ray(model, data, np.array([0.6, 0, 1]), np.array([0, 0, -1.0]), None, 1, -1, geom)
    return distance


def ray_here(sim):
    return sim.ray((0.6, 0, 1), (0, 0, -1)).distance


def distance_there(model, data):
    """Distance between two bodies"""
    mujoco.mj_kinematics(model, data)
    return mujoco.mj_geomDistance(model, data, model.geom("box").id, model.geom("lower").id, 10.0, None)


def distance_here(sim):
    return sim.distance("box", "lower").distance


def record_there(model, data):
    """Record a motion to a file"""
    times, positions, velocities = [], [], []
    for _ in range(100):
        mujoco.mj_step(model, data)
        times.append(data.time)
        positions.append(data.qpos.copy())
        velocities.append(data.qvel.copy())
    np.savez("motion.npz", time=times, qpos=positions, qvel=velocities)


def record_here(sim):
    sim.run(0.2, record="motion.h5", record_dt=sim.dt)
