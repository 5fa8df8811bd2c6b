"""Every rigid-body algorithm against Pinocchio and MuJoCo, on the bundled robots and on random mechanisms.

How differences are scaled: an array (a vector of forces, a matrix) agrees when no entry differs by more than 1e-9
times the largest entry of the oracle's array. Arrays whose largest entry is below 0.01 (in SI units, where these
mechanisms have quantities of order 1 to 100) count as if it were 0.01, so that exact zeros can be compared.
"""

import copy
import sys
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from random_trees import build, mechanisms, random_contacts, random_state

from stickslip.dynamics import Dynamics
from stickslip.errors import ModelError
from stickslip.model import pinocchio as bridge
from stickslip.model.arrays import BALL, FREE
from stickslip.model.compile import rotation
from stickslip.model.model import compile_model

ROBOTS = Path(__file__).resolve().parents[2] / "src" / "stickslip" / "model" / "robots"
RTOL = 1e-9


def agree(ours, theirs, what):
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    assert ours.shape == theirs.shape, what
    error = np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), 0.01)
    assert error <= RTOL, f"{what}: differs by {error:.1e} of the largest entry"


class Case:
    """One model in one random state, in all three programs."""

    def __init__(self, model, seed):
        rng = np.random.default_rng(seed)
        self.model, self.dyn, self.rng = model, Dynamics(model), rng
        self.q, self.v = random_state(model, rng)
        self.a, self.tau = rng.normal(size=model.nv), rng.normal(size=model.nv)
        self.external = rng.normal(size=(model.nlink, 6))
        self.external[0] = 0.0

        self.mj = copy.copy(model.mj)
        off = mujoco.mjtDisableBit
        for flag in (off.mjDSBL_CONSTRAINT, off.mjDSBL_SPRING, off.mjDSBL_DAMPER, off.mjDSBL_ACTUATION):
            self.mj.opt.disableflags |= int(flag)
        self.mj.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        self.body = [mujoco.mj_name2id(self.mj, mujoco.mjtObj.mjOBJ_BODY, name) for name in model.link_names]
        self.data = mujoco.MjData(self.mj)
        self.data.qpos, self.data.qvel = self.q, self.v
        mujoco.mj_forward(self.mj, self.data)

        self.pin = bridge.to_pinocchio(model)
        self.pin_data = self.pin.createData()
        self.pin_q = bridge.q_to_pinocchio(model, self.q)
        self.pin_v = self.to_pin(self.v)
        self.X = np.array([self.to_pin(column) for column in np.eye(model.nv)]).T  # Pinocchio's velocity = X·ours
        self.carrier = bridge.link_carriers(model)

    def to_pin(self, v):
        return bridge.v_to_pinocchio(self.model, self.q, v)

    def pin_external(self):
        """The wrenches at the link origins in world axes, as Pinocchio wants them: at its joints in joint axes."""
        pin.forwardKinematics(self.pin, self.pin_data, self.pin_q)
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero() for _ in range(self.pin.njoints)])
        for b in range(1, self.model.nlink):
            joint = self.pin_data.oMi[int(self.carrier[b])]
            arm = self.data.xpos[self.body[b]] - joint.translation
            force, torque = self.external[b, :3], self.external[b, 3:] + np.cross(arm, self.external[b, :3])
            forces[int(self.carrier[b])] = pin.Force(joint.rotation.T @ force, joint.rotation.T @ torque)
        return forces

    def mujoco_external(self):
        """Jᵀf of the same wrenches by MuJoCo."""
        total = np.zeros(self.model.nv)
        for b in range(1, self.model.nlink):
            force, torque = self.external[b, :3].copy(), self.external[b, 3:].copy()
            mujoco.mj_applyFT(self.mj, self.data, force, torque, self.data.xpos[self.body[b]], self.body[b], total)
        return total

    def mujoco_mass_matrix(self):
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.mj, self.data, M)
        return M

    def pin_mass_matrix(self):
        upper = np.triu(pin.crba(self.pin, self.pin_data, self.pin_q))
        return self.X.T @ (upper + np.triu(upper, 1).T) @ self.X

    def mujoco_point_jacobian(self, link, point):
        """(6, nv) of the point of a link at a world position."""
        J = np.zeros((6, self.model.nv))
        mujoco.mj_jac(self.mj, self.data, J[:3], J[3:], point, self.body[link])
        return J

    def pin_point_jacobian(self, link, point):
        if link == 0:
            return np.zeros((6, self.model.nv))
        pin.computeJointJacobians(self.pin, self.pin_data, self.pin_q)
        joint = int(self.carrier[link])
        J = pin.getJointJacobian(self.pin, self.pin_data, joint, pin.LOCAL_WORLD_ALIGNED)
        J = J.reshape(6, -1).copy()  # with one velocity it comes as a vector
        J[:3] -= np.cross(point - self.pin_data.oMi[joint].translation, J[3:].T).T
        return J @ self.X


# -- what is compared --------------------------------------------------------------------------------------------------


def check_round_trip(case):
    m, q, v = case.model, case.q, case.v
    agree(bridge.q_from_pinocchio(m, case.pin_q), q, "q")
    agree(bridge.v_from_pinocchio(m, q, case.pin_v), v, "v")
    a = bridge.a_to_pinocchio(m, q, v, case.a)
    agree(bridge.a_from_pinocchio(m, q, v, a), case.a, "a")
    tau = bridge.tau_to_pinocchio(m, q, case.tau)
    agree(bridge.tau_from_pinocchio(m, q, tau), case.tau, "tau")
    agree(tau @ case.pin_v, case.tau @ v, "power")


def check_poses(case):
    poses = case.dyn.poses(case.q)
    pin.forwardKinematics(case.pin, case.pin_data, case.pin_q)
    for b in range(1, case.model.nlink):
        agree(poses[b, :3], case.data.xpos[case.body[b]], "link position: MuJoCo")
        agree(rotation(poses[b, 3:]), case.data.xmat[case.body[b]].reshape(3, 3), "link axes: MuJoCo")
        agree(rotation(poses[b, 3:]), case.pin_data.oMi[int(case.carrier[b])].rotation, "link axes: Pinocchio")
    pin.updateFramePlacements(case.pin, case.pin_data)
    for name, f in case.model.frame_index.items():
        position, axes = case.dyn.frame_pose(case.q, name)
        placed = case.pin_data.oMf[case.pin.getFrameId(name)]
        agree(position, placed.translation, f"frame {name}: Pinocchio")
        agree(axes, placed.rotation, f"axes of frame {name}: Pinocchio")
        site = f - case.mj.nbody
        agree(position, case.data.xpos[f] if site < 0 else case.data.site_xpos[site], f"frame {name}: MuJoCo")
        theirs = case.data.xmat[f] if site < 0 else case.data.site_xmat[site]
        agree(axes, theirs.reshape(3, 3), f"axes of frame {name}: MuJoCo")


def check_crba(case):
    M = case.dyn.crba(case.q)
    agree(M, case.mujoco_mass_matrix(), "M: MuJoCo")
    agree(M, case.pin_mass_matrix(), "M: Pinocchio")


def check_bias(case):
    b = case.dyn.bias(case.q, case.v)
    agree(b, case.data.qfrc_bias, "bias: MuJoCo")
    a = bridge.a_to_pinocchio(case.model, case.q, case.v, np.zeros(case.model.nv))
    agree(b, case.X.T @ pin.rnea(case.pin, case.pin_data, case.pin_q, case.pin_v, a), "bias: Pinocchio")


def check_rnea(case):
    tau = case.dyn.rnea(case.q, case.v, case.a)
    case.data.qacc = case.a
    mujoco.mj_inverse(case.mj, case.data)
    agree(tau, case.data.qfrc_inverse, "rnea: MuJoCo")
    a = bridge.a_to_pinocchio(case.model, case.q, case.v, case.a)
    agree(tau, case.X.T @ pin.rnea(case.pin, case.pin_data, case.pin_q, case.pin_v, a), "rnea: Pinocchio")

    tau = case.dyn.rnea(case.q, case.v, case.a, case.external)
    agree(tau, case.data.qfrc_inverse - case.mujoco_external(), "rnea with external forces: MuJoCo")
    theirs = pin.rnea(case.pin, case.pin_data, case.pin_q, case.pin_v, a, case.pin_external())
    agree(tau, case.X.T @ theirs, "rnea with external forces: Pinocchio")


def check_aba(case):
    m, q, v = case.model, case.q, case.v
    tau = bridge.tau_to_pinocchio(m, q, case.tau)

    def forward(xfrc):
        case.data.qfrc_applied, case.data.xfrc_applied = case.tau, xfrc
        mujoco.mj_forward(case.mj, case.data)
        return case.data.qacc_smooth.copy()

    a = case.dyn.aba(q, v, case.tau)
    xfrc = np.zeros((case.mj.nbody, 6))
    agree(a, forward(xfrc), "aba: MuJoCo")
    theirs = pin.aba(case.pin, case.pin_data, case.pin_q, case.pin_v, tau)
    agree(a, bridge.a_from_pinocchio(m, q, v, theirs), "aba: Pinocchio")

    a = case.dyn.aba(q, v, case.tau, case.external)
    for b in range(1, m.nlink):  # MuJoCo's external forces act at a body's centre of mass
        body = case.body[b]
        arm = case.data.xpos[body] - case.data.xipos[body]
        xfrc[body] = case.external[b]
        xfrc[body, 3:] += np.cross(arm, case.external[b, :3])
    agree(a, forward(xfrc), "aba with external forces: MuJoCo")
    theirs = pin.aba(case.pin, case.pin_data, case.pin_q, case.pin_v, tau, case.pin_external())
    agree(a, bridge.a_from_pinocchio(m, q, v, theirs), "aba with external forces: Pinocchio")


def check_solve(case):
    x = case.dyn.solve(case.q, case.tau)
    theirs = np.zeros((1, case.model.nv))
    mujoco.mj_solveM(case.mj, case.data, theirs, case.tau[None])
    agree(x, theirs[0], "solve: MuJoCo")
    pin.crba(case.pin, case.pin_data, case.pin_q)
    pin.cholesky.decompose(case.pin, case.pin_data)
    inverse = pin.cholesky.solve(case.pin, case.pin_data, case.to_pin(case.tau))
    agree(x, bridge.v_from_pinocchio(case.model, case.q, inverse), "solve: Pinocchio")


def check_frames(case):
    """Jacobians, velocities and accelerations of every frame; with a = 0 the last are J̇·v."""
    m, q, v = case.model, case.q, case.v
    pin.computeJointJacobians(case.pin, case.pin_data, case.pin_q)
    at_rest = bridge.a_to_pinocchio(m, q, v, np.zeros(m.nv))
    rates, moving = case.pin.createData(), case.pin.createData()
    pin.forwardKinematics(case.pin, rates, case.pin_q, case.pin_v, at_rest)
    pin.forwardKinematics(case.pin, moving, case.pin_q, case.pin_v, bridge.a_to_pinocchio(m, q, v, case.a))
    for name, f in m.frame_index.items():
        J = case.dyn.frame_jacobian(q, name)
        velocity = case.dyn.frame_velocity(q, v, name)
        drift = case.dyn.frame_acceleration(q, v, np.zeros(m.nv), name)
        acceleration = case.dyn.frame_acceleration(q, v, case.a, name)

        body = f if f < case.mj.nbody else case.mj.site_bodyid[f - case.mj.nbody]
        point = case.dyn.frame_pose(q, name)[0]
        theirs, rate = np.zeros((6, m.nv)), np.zeros((6, m.nv))
        mujoco.mj_jac(case.mj, case.data, theirs[:3], theirs[3:], point, body)
        mujoco.mj_jacDot(case.mj, case.data, rate[:3], rate[3:], point, body)
        agree(J, theirs, f"J of {name}: MuJoCo")
        agree(velocity, theirs @ v, f"velocity of {name}: MuJoCo")
        if not slide_after_ball(m):  # there mj_jacDot of MuJoCo 4.0 is not the derivative of mj_jac
            agree(drift, rate @ v, f"J̇·v of {name}: MuJoCo")
            agree(acceleration, theirs @ case.a + rate @ v, f"acceleration of {name}: MuJoCo")

        i, world = case.pin.getFrameId(name), pin.LOCAL_WORLD_ALIGNED
        theirs = pin.getFrameJacobian(case.pin, case.pin_data, i, world).reshape(6, -1)
        agree(J, theirs @ case.X, f"J of {name}: Pinocchio")
        agree(velocity, pin.getFrameVelocity(case.pin, rates, i, world).vector, f"velocity of {name}: Pinocchio")
        theirs = pin.getFrameClassicalAcceleration(case.pin, rates, i, world).vector
        agree(drift, theirs, f"J̇·v of {name}: Pinocchio")
        theirs = pin.getFrameClassicalAcceleration(case.pin, moving, i, world).vector
        agree(acceleration, theirs, f"acceleration of {name}: Pinocchio")


def slide_after_ball(model):
    """Whether some body has a ball joint and then another joint."""
    last = model.tree.joint_start[1:] - 1
    return any(j not in last for j in np.flatnonzero(model.tree.joint_type == BALL))


def check_delassus(case):
    link1, link2, point, axes = random_contacts(case.model, case.rng, 10)
    W = case.dyn.delassus(case.q, link1, link2, point, axes)
    by_blocks = case.dyn.delassus_sparse(case.q, link1, link2, point, axes).toarray()
    for name, jacobian, M in (
        ("MuJoCo", case.mujoco_point_jacobian, case.mujoco_mass_matrix()),
        ("Pinocchio", case.pin_point_jacobian, case.pin_mass_matrix()),
    ):
        rows = []
        for c in range(len(link1)):
            relative = jacobian(link2[c], point[c]) - jacobian(link1[c], point[c])
            rows.append(axes[c] @ relative[:3])
        J = np.concatenate(rows)
        theirs = J @ np.linalg.solve(M, J.T)
        agree(W, theirs, f"W: {name}")
        agree(by_blocks, theirs, f"W by blocks: {name}")


def check_energy(case):
    energy = case.dyn.energy(case.q, case.v)
    fixed = [b for b in range(case.mj.nbody) if case.model.frames.link[b] == 0]  # MuJoCo counts bodies that never move
    offset = -sum(case.mj.body_mass[b] * case.mj.opt.gravity @ case.data.xipos[b] for b in fixed)
    agree(energy.kinetic, case.data.energy[1], "kinetic energy: MuJoCo")
    agree(energy.potential, case.data.energy[0] - offset, "potential energy: MuJoCo")
    # Pinocchio 4.1 counts the rotors of every joint but those of hinges off the coordinate axes: add all of them here
    links_only = case.pin.copy()
    links_only.armature = np.zeros(case.model.nv)
    kinetic = pin.computeKineticEnergy(links_only, links_only.createData(), case.pin_q, case.pin_v)
    rotors = 0.5 * case.model.inertia.armature @ case.v**2
    agree(energy.kinetic, kinetic + rotors, "kinetic energy: Pinocchio")
    agree(energy.potential, pin.computePotentialEnergy(case.pin, case.pin_data, case.pin_q), "potential: Pinocchio")
    assert energy.elastic == 0.0


def check_momentum(case):
    com, momentum = case.dyn.center_of_mass(case.q), case.dyn.momentum(case.q, case.v)
    agree(com, pin.centerOfMass(case.pin, case.pin_data, case.pin_q), "centre of mass: Pinocchio")
    theirs = pin.computeCentroidalMomentum(case.pin, case.pin_data, case.pin_q, case.pin_v)
    agree(momentum, theirs.vector, "momentum: Pinocchio")
    J = case.dyn.center_of_mass_jacobian(case.q)
    agree(J @ case.v, momentum[:3] / case.model.inertia.mass.sum(), "velocity of the centre of mass: momentum")
    theirs = pin.jacobianCenterOfMass(case.pin, case.pin_data, case.pin_q).reshape(3, -1)
    agree(J, theirs @ case.X, "Jacobian of the centre of mass: Pinocchio")
    pin_a = bridge.a_to_pinocchio(case.model, case.q, case.v, case.a)
    pin.centerOfMass(case.pin, case.pin_data, case.pin_q, case.pin_v, pin_a)
    acceleration = case.dyn.center_of_mass_acceleration(case.q, case.v, case.a)
    agree(acceleration, case.pin_data.acom[0], "acceleration of the centre of mass: Pinocchio")

    mujoco.mj_subtreeVel(case.mj, case.data)
    roots = [case.body[b] for b in range(1, case.model.nlink) if case.model.tree.parent[b] == 0]
    masses = case.mj.body_subtreemass[roots]  # the trees alone: MuJoCo's world also counts bodies that never move
    agree(com, masses @ case.data.subtree_com[roots] / masses.sum(), "centre of mass: MuJoCo")
    mass = case.mj.body_subtreemass[0]
    linear, about_theirs = mass * case.data.subtree_linvel[0], case.data.subtree_com[0]
    agree(momentum[:3], linear, "linear momentum: MuJoCo")
    angular = case.dyn.momentum(case.q, case.v, about=about_theirs)[3:]
    agree(angular, case.data.subtree_angmom[0], "angular momentum: MuJoCo")


def check_configuration(case):
    m, tree, dt = case.model, case.model.tree, 0.3
    moved = case.dyn.integrate(case.q, case.v, dt)
    theirs = case.q.copy()
    mujoco.mj_integratePos(case.mj, theirs, case.v, dt)
    agree(moved, theirs, "integrate: MuJoCo")
    goal, _ = random_state(m, case.rng)
    way = case.dyn.difference(case.q, goal)
    theirs = np.zeros(m.nv)
    mujoco.mj_differentiatePos(case.mj, theirs, 1.0, case.q, goal)
    agree(way, theirs, "difference: MuJoCo")
    back = case.dyn.integrate(case.q, way)
    for _, i in m.quaternions():
        back[i : i + 4] *= np.sign(back[i : i + 4] @ goal[i : i + 4])
    agree(back, goal, "integrate and difference are inverse")

    # Pinocchio moves a free joint along a screw, we and MuJoCo along a straight line: compare all but its translation
    lines = [d + k for d in tree.joint_v[tree.joint_type == FREE] for k in range(3)]
    points = [i + k for i in tree.joint_q[tree.joint_type == FREE] for k in range(3)]
    theirs = bridge.q_from_pinocchio(m, pin.integrate(case.pin, case.pin_q, dt * case.pin_v))
    agree(np.delete(moved, points), np.delete(theirs, points), "integrate: Pinocchio")
    theirs = pin.difference(case.pin, case.pin_q, bridge.q_to_pinocchio(m, goal))
    agree(np.delete(way, lines), np.delete(theirs, lines), "difference: Pinocchio")


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]
everything = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))


@cache
def robot(name):
    return compile_model(mujoco.MjModel.from_xml_path(str(ROBOTS / f"{name}.xml")))


@pytest.mark.parametrize("name", ["solo12", "romeo", "a1"])
@everything
def test_bundled_robots(check, name):
    for seed in range(3):
        check(Case(robot(name), seed))


@everything
@settings(max_examples=60, derandomize=True, deadline=None)
@given(mechanism=mechanisms())
def test_random_mechanisms(check, mechanism):
    check(Case(build(mechanism), mechanism[1]))


def test_missing_pinocchio_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    with pytest.raises(ModelError, match=r"^Pinocchio is not installed; run: pip install stickslip\[bench\]$"):
        bridge.to_pinocchio(robot("solo12"))
