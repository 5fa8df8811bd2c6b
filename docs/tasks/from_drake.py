"""What one does with Drake's Python bindings, there and here."""

import matplotlib.pyplot as plt
import numpy as np

import stickslip as ss

NAME, TRIED = "Drake", "1.51.1"
INTRODUCTION = """\
A `Scene` is what a plant is before `Finalize`, a `Model` what it is after it, and a `Simulation` holds context and
simulator. There are no diagrams: a controller is a function of time, positions and velocities, and logs, plots and
viewers need no wiring. Quaternions are (w, x, y, z) in both. Two things differ:

- Positions of a free body are its place first and then its quaternion; velocities are linear first, then angular.
- The contact model is the method's: Drake's `kSap` is nearest to [relaxed](../methods/relaxed.md). Hydroelastic
  contact is not here.
"""
RUN = "was tried with this version"
GIVEN = "`arm.urdf` is an arm with two joints and a frame `tip`.\n"


def given_there():
    from pydrake.all import AddMultibodyPlantSceneGraph, DiagramBuilder, Parser, Simulator

    builder = DiagramBuilder()
    plant, scene_graph = AddMultibodyPlantSceneGraph(builder, time_step=0.001)
    Parser(plant).AddModels("arm.urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    context = plant.GetMyContextFromRoot(simulator.get_mutable_context())
    plant.get_actuation_input_port().FixValue(context, [0, 0])
    plant.SetPositions(context, [0.4, 0.3])
    return locals()


def given_here():
    sim = ss.Simulation("arm.urdf", dt=1e-3)
    sim.set_state(q=[0.4, 0.3])
    return locals()


def simulate_there():
    """Load a URDF file and simulate a second"""
    from pydrake.all import AddMultibodyPlantSceneGraph, DiagramBuilder, Parser, Simulator

    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=0.001)
    Parser(plant).AddModels("arm.urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.Finalize()
    simulator = Simulator(builder.Build())
    context = plant.GetMyContextFromRoot(simulator.get_mutable_context())
    plant.get_actuation_input_port().FixValue(context, [0, 0])
    plant.SetPositions(context, [0.4, 0.3])
    simulator.AdvanceTo(1.0)
    return plant.GetPositions(context)


def simulate_here():
    sim = ss.Simulation("arm.urdf", dt=1e-3)
    sim.set_state(q=[0.4, 0.3])
    sim.run(1.0)
    return sim.state.q


def build_there():
    """A floor with friction, and a box that falls on it"""
    from pydrake.all import (
        AddMultibodyPlantSceneGraph,
        Box,
        CoulombFriction,
        DiagramBuilder,
        HalfSpace,
        RigidTransform,
        Simulator,
        SpatialInertia,
    )

    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=0.001)
    surface = CoulombFriction(0.5, 0.5)
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "floor", surface)
    box = plant.AddRigidBody("box", SpatialInertia.SolidBoxWithMass(0.5, 0.1, 0.1, 0.1))
    plant.RegisterCollisionGeometry(box, RigidTransform(), Box(0.1, 0.1, 0.1), "box", surface)
    plant.Finalize()
    simulator = Simulator(builder.Build())
    context = plant.GetMyContextFromRoot(simulator.get_mutable_context())
    plant.SetFreeBodyPose(context, box, RigidTransform([0, 0, 0.2]))
    simulator.AdvanceTo(0.5)
    return plant.EvalBodyPoseInWorld(context, box).translation()[2]


def build_here():
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_box((0.1, 0.1, 0.1), name="box", pos=(0, 0, 0.2), mass=0.5, friction=0.5)
    sim = ss.Simulation(scene, "coulomb", dt=1e-3)
    sim.run(0.5)
    return sim.body("box").pos[2]


def floating_there():
    """Load a robot with a free base, at a height"""
    from pydrake.all import AddMultibodyPlantSceneGraph, DiagramBuilder, Parser, RigidTransform

    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=0.001)
    Parser(plant).AddModels("arm.urdf")
    plant.Finalize()
    diagram = builder.Build()
    context = plant.GetMyContextFromRoot(diagram.CreateDefaultContext())
    plant.SetFreeBodyPose(context, plant.GetBodyByName("base"), RigidTransform([0, 0, 2]))
    return plant.GetPositions(context)[6]


def floating_here():
    scene = ss.Scene()
    scene.load("arm.urdf", floating_base=True, pos=(0, 0, 2))
    sim = ss.Simulation(scene)
    return sim.state.q[2]


def pose_there(plant, context):
    """Pose of a frame"""
    pose = plant.GetFrameByName("tip").CalcPoseInWorld(context)
    return np.vstack([pose.translation(), pose.rotation().matrix()])


def pose_here(sim):
    tip = sim.body("tip")
    return np.vstack([tip.pos, tip.rotation])


def jacobian_there(plant, context):
    """Jacobian of a frame"""
    from pydrake.all import JacobianWrtVariable

    tip, world = plant.GetFrameByName("tip"), plant.world_frame()
    J = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, tip, np.zeros(3), world, world)
    return np.vstack([J[3:], J[:3]])


def jacobian_here(sim):
    return sim.body("tip").jacobian()


def equations_there(plant, context):
    """Mass matrix, gravity and velocity terms of the equations of motion"""
    M = plant.CalcMassMatrix(context)
    bias = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
    return np.column_stack([M, bias])


def equations_here(sim):
    arm = sim.robot("arm")
    return np.column_stack([arm.mass_matrix, arm.bias])


def controller_there():
    """PD control of all joints, with a target"""
    from pydrake.all import (
        AddMultibodyPlantSceneGraph,
        ConstantVectorSource,
        DiagramBuilder,
        Parser,
        PidController,
        Simulator,
    )

    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=0.001)
    Parser(plant).AddModels("arm.urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.Finalize()
    pid = builder.AddSystem(PidController(kp=[20, 20], ki=[0, 0], kd=[1, 1]))
    target = builder.AddSystem(ConstantVectorSource([0.5, 0.5, 0, 0]))
    builder.Connect(plant.get_state_output_port(), pid.get_input_port_estimated_state())
    builder.Connect(target.get_output_port(), pid.get_input_port_desired_state())
    builder.Connect(pid.get_output_port(), plant.get_actuation_input_port())
    simulator = Simulator(builder.Build())
    simulator.AdvanceTo(1.0)


def controller_here():
    sim = ss.Simulation("arm.urdf", dt=1e-3)
    sim.run(1.0, controller=ss.control.PD(kp=20, kd=1, target=np.array([0.5, 0.5])))


def push_there(plant, context, simulator):
    """Push a body for 0.1 s"""
    from pydrake.all import ExternallyAppliedSpatialForce, SpatialForce

    push = ExternallyAppliedSpatialForce()
    push.body_index = plant.GetBodyByName("lower").index()
    push.p_BoBq_B = np.array([0, 0, -0.2])
    push.F_Bq_W = SpatialForce(np.zeros(3), np.array([1.0, 0, 0]))
    port = plant.get_applied_spatial_force_input_port().FixValue(context, [push])
    simulator.AdvanceTo(0.1)
    port.GetMutableData().set_value([])
    return plant.GetPositions(context)


def push_here(sim):
    sim.push("lower", force=(1, 0, 0), duration=0.1)
    sim.step(100)
    return sim.state.q


def plot_there():
    """Log the joint angles and plot them"""
    from pydrake.all import AddMultibodyPlantSceneGraph, DiagramBuilder, LogVectorOutput, Parser, Simulator

    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=0.001)
    Parser(plant).AddModels("arm.urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.Finalize()
    logger = LogVectorOutput(plant.get_state_output_port(), builder)
    simulator = Simulator(builder.Build())
    context = simulator.get_mutable_context()
    plant.get_actuation_input_port().FixValue(plant.GetMyContextFromRoot(context), [0, 0])
    simulator.AdvanceTo(0.5)
    log = logger.FindLog(context)
    plt.plot(log.sample_times(), log.data()[:2].T)


def plot_here(sim):
    log = sim.run(0.5)
    log.plot("joint")


def snapshot_there(plant, context, simulator):
    """Save the state, simulate, go back"""
    saved = simulator.get_context().Clone()
    simulator.AdvanceTo(0.1)
    simulator.reset_context(saved)
    context = plant.GetMyContextFromRoot(simulator.get_context())
    return plant.GetPositions(context)


def snapshot_here(sim):
    snapshot = sim.snapshot()
    sim.step(100)
    sim.restore(snapshot)
    return sim.state.q
