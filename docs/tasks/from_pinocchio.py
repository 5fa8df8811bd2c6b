"""What one does with Pinocchio, there and here."""

import numpy as np
import pinocchio as pin

import stickslip as ss

NAME, TRIED = "Pinocchio", "4.1.0"
INTRODUCTION = """\
`ss.Dynamics(model)` has the algorithms by the same names: `rnea`, `crba`, `aba` and their derivatives. They take q
and v and return arrays; scratch memory is inside, and frames are given by name. Two conventions differ:

- Quaternions are (w, x, y, z), as in MuJoCo; Pinocchio has (x, y, z, w).
- Velocities and Jacobians of frames are in world axes (Pinocchio's `LOCAL_WORLD_ALIGNED`), linear part first. The
  velocity of a free joint is linear in world axes, then angular in body axes.

Contacts need no code of yours: a `Simulation` of the same model has them, by [fourteen
methods](../methods/index.md). [Benchmarks](../benchmarks.md) compares speeds.
"""
RUN = "the tests run, both sides"
GIVEN = "`arm.urdf` is an arm with two joints and a frame `tip`. `dyn` is used on the right.\n"


def given_there():
    model = pin.buildModelFromUrdf("arm.urdf")
    data = model.createData()
    q, v, a = np.array([0.4, 0.3]), np.array([1.0, -0.5]), np.array([0.2, 0.1])
    return locals()


def given_here():
    model = ss.Scene.from_file("arm.urdf").compile()
    dyn = ss.Dynamics(model)
    q, v, a = np.array([0.4, 0.3]), np.array([1.0, -0.5]), np.array([0.2, 0.1])
    return locals()


def load_there():
    """Load a robot with a free base"""
    model = pin.buildModelFromUrdf("arm.urdf", pin.JointModelFreeFlyer())
    return model.nv


def load_here():
    model = ss.Scene.from_file("arm.urdf", floating_base=True).compile()
    return model.nv


def frame_there(model, data, q):
    """Forward kinematics of a frame"""
    pin.framesForwardKinematics(model, data, q)
    tip = data.oMf[model.getFrameId("tip")]
    return np.vstack([tip.translation, tip.rotation])


def frame_here(dyn, q):
    position, axes = dyn.frame_pose(q, "tip")
    return np.vstack([position, axes])


def jacobian_there(model, data, q):
    """Jacobian of a frame"""
    return pin.computeFrameJacobian(model, data, q, model.getFrameId("tip"), pin.LOCAL_WORLD_ALIGNED)


def jacobian_here(dyn, q):
    return dyn.frame_jacobian(q, "tip")


def mass_there(model, data, q):
    """Mass matrix"""
    M = pin.crba(model, data, q)
    return np.triu(M) + np.triu(M, 1).T


def mass_here(dyn, q):
    return dyn.crba(q)


def inverse_there(model, data, q, v, a):
    """Inverse dynamics"""
    return pin.rnea(model, data, q, v, a)


def inverse_here(dyn, q, v, a):
    return dyn.rnea(q, v, a)


def forward_there(model, data, q, v):
    """Forward dynamics"""
    return pin.aba(model, data, q, v, np.array([0.5, -0.2]))


def forward_here(dyn, q, v):
    return dyn.aba(q, v, np.array([0.5, -0.2]))


def derivatives_there(model, data, q, v):
    """Derivatives of forward dynamics"""
    pin.computeABADerivatives(model, data, q, v, np.zeros(model.nv))
    return data.ddq_dq, data.ddq_dv, data.Minv


def derivatives_here(model, dyn, q, v):
    return dyn.aba_derivatives(q, v, np.zeros(model.nv))


def center_there(model, data, q):
    """Centre of mass and its Jacobian"""
    J = pin.jacobianCenterOfMass(model, data, q)
    return np.column_stack([data.com[0], J])


def center_here(dyn, q):
    return np.column_stack([dyn.center_of_mass(q), dyn.center_of_mass_jacobian(q)])


def energy_there(model, data, q, v):
    """Kinetic and potential energy"""
    return pin.computeKineticEnergy(model, data, q, v), pin.computePotentialEnergy(model, data, q)


def energy_here(dyn, q, v):
    energy = dyn.energy(q, v)
    return energy.kinetic, energy.potential


def reach_there(model, data, q):
    """Inverse kinematics of a point"""
    target, tip = np.array([-0.5, 0, -0.4]), model.getFrameId("tip")
    for _ in range(50):
        pin.framesForwardKinematics(model, data, q)
        error = target - data.oMf[tip].translation
        J = pin.computeFrameJacobian(model, data, q, tip, pin.LOCAL_WORLD_ALIGNED)[:3]
        q = pin.integrate(model, q, np.linalg.pinv(J) @ error)
    return q


def reach_here(dyn, q):
    return ss.inverse_kinematics(dyn, {"tip": (-0.5, 0, -0.4)}, start=q).q


def integrate_there(model, q, v):
    """Move along a velocity on the configuration manifold, and back"""
    after = pin.integrate(model, q, 0.1 * v)
    return pin.difference(model, q, after)


def integrate_here(dyn, q, v):
    after = dyn.integrate(q, v, 0.1)
    return dyn.difference(q, after)
