"""Moment: everything that sensors read, at the present state of a simulation."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from stickslip.dynamics.data import Kinematics
from stickslip.dynamics.drive_forces import add_drive_forces, drive_forces
from stickslip.dynamics.drives import row_arms
from stickslip.dynamics.jacobian import point_acceleration, point_velocity
from stickslip.dynamics.kinematics import forward_accelerations, forward_motion
from stickslip.dynamics.transmission import transmit
from stickslip.model.compile import Attachment, attach_bodies
from stickslip.model.mjspec import collected_warnings
from stickslip.simulation.contacts import Contact

if TYPE_CHECKING:
    from stickslip.model.model import Model
    from stickslip.simulation.simulation import Simulation


class Moment:
    """Everything that sensors read, at the present state of a simulation."""

    def __init__(self, sim: Simulation) -> None:
        self.sim: Simulation = sim
        self.model: Model = sim.model
        self.mj: mujoco.MjModel = sim.model.mj
        self.bodies = attach_bodies(self.mj)[0]
        self.balanced: Any = None
        """The balance of forces (``balance.py``), once it is asked for."""
        self.q: np.ndarray = sim.state.q
        self.v: np.ndarray = sim.state.v
        self.given: np.ndarray = sim.acting.wrench
        """(nl, 6) ``inputs.wrench`` with the pushes."""
        self.kin: Kinematics = sim.dynamics.data.kin
        forward_motion(self.model.tree, self.model.inertia, self.q, self.v, self.kin)

    @cached_property
    def acceleration(self) -> np.ndarray:
        """(nv,) q̈; the links' accelerations are brought up to date with it."""
        m, sim = self.model, self.sim
        if sim.steps > 0 or sim.stepper.observes_acceleration:
            a = sim.acceleration.copy()
        else:
            wrench = self.wrench
            tau = self.drive[3] + sim.inputs.applied + sim.dynamics.passive_forces(self.q, self.v)
            a = sim.dynamics.aba(self.q, self.v, tau, wrench)
            forward_motion(m.tree, m.inertia, self.q, self.v, self.kin)
        forward_accelerations(m.tree, m.support, a, self.kin)
        return a

    def place(self, at: Attachment) -> tuple[np.ndarray, np.ndarray]:
        """World position (3,) and axes (3, 3)."""
        return self.kin.pos[at.link] + self.kin.rot[at.link] @ at.pos, self.kin.rot[at.link] @ at.rot

    def velocity(self, at: Attachment) -> tuple[np.ndarray, np.ndarray]:
        """Linear and angular velocity, world axes."""
        if at.link == 0:
            return np.zeros(3), np.zeros(3)
        return np.array(point_velocity(self.kin, at.link, *self.place(at)[0])), self.kin.vel[at.link, 3:].copy()

    def accelerations(self, at: Attachment) -> tuple[np.ndarray, np.ndarray]:
        """Linear acceleration less gravity, and angular acceleration, world axes."""
        gravity = self.model.inertia.gravity
        if at.link == 0:
            return -gravity, np.zeros(3)
        _ = self.acceleration
        linear = np.array(point_acceleration(self.kin, self.kin.total, at.link, *self.place(at)[0]))
        return linear - gravity, self.kin.total[at.link, 3:].copy()

    @cached_property
    def quaternions(self) -> np.ndarray:
        """(nbody, 4) orientations of bodies, with the signs of MuJoCo's products."""
        mj, out = self.mj, np.zeros((self.mj.nbody, 4))
        out[0, 0] = 1.0
        for b in range(1, mj.nbody):
            x = multiplied(out[mj.body_parentid[b]], mj.body_quat[b])
            for j in range(mj.body_jntadr[b], mj.body_jntadr[b] + mj.body_jntnum[b]):
                i, kind = mj.jnt_qposadr[j], mj.jnt_type[j]
                if kind == mujoco.mjtJoint.mjJNT_FREE:
                    x = self.q[i + 3 : i + 7]
                elif kind == mujoco.mjtJoint.mjJNT_BALL:
                    x = multiplied(x, self.q[i : i + 4])
                elif kind == mujoco.mjtJoint.mjJNT_HINGE:
                    half = 0.5 * (self.q[i] - mj.qpos0[i])
                    x = multiplied(x, np.concatenate([[np.cos(half)], np.sin(half) * mj.jnt_axis[j]]))
            out[b] = x / np.linalg.norm(x)
        return out

    @cached_property
    def contacts(self) -> tuple[Contact, ...]:
        """The contacts that sim.contacts shows."""
        return self.sim.contacts.members

    def body_of(self, contact: Contact, side: int) -> int:
        """MuJoCo's body of a contact's side, 0 or 1."""
        shape = contact.shapes[side]
        return int(self.link_body[contact.links[side]]) if shape is None else shape.body

    @cached_property
    def link_body(self) -> list[int]:
        """(nl,) MuJoCo's body that defines the frame of each link."""
        return attach_bodies(self.mj)[1]

    @cached_property
    def wrench(self) -> np.ndarray:
        """(nl, 6) force and torque of contacts, ``inputs.wrench`` and pushes on the links, world axes, at their
        origins."""
        wrench = self.given.copy()
        for t in self.contacts:
            for link, sign in zip(t.links, (-1.0, 1.0), strict=True):
                force, torque = sign * t.force, sign * t.torque
                wrench[link, :3] += force
                wrench[link, 3:] += torque + np.cross(t.at - self.kin.pos[link], force)
        wrench[0] = 0.0
        return wrench

    def subtree(self, body: int) -> list[int]:
        inside = [body]
        for b in range(body + 1, self.mj.nbody):
            if self.mj.body_parentid[b] in inside:
                inside.append(b)
        return inside

    def inertial(self, body: int) -> Attachment:
        return Attachment(*self.bodies[body].place(self.mj.body_ipos[body], self.mj.body_iquat[body]))

    @cached_property
    def data(self) -> mujoco.MjData:
        """MuJoCo's poses and contacts, for distances between shapes and for taxels."""
        data = mujoco.MjData(self.mj)
        data.qpos[:], data.qvel[:] = self.q, self.v
        with collected_warnings():
            mujoco.mj_forward(self.mj, data)
        return data

    @cached_property
    def tendons(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(nt,) lengths and rates of the tendons, and (nt, nv) their moment arms."""
        drives, nt = self.sim.dynamics.drives, len(self.model.tendons.limited)
        transmit(drives, self.q, self.v)
        return drives.length[:nt].copy(), drives.rate[:nt].copy(), row_arms(drives, 0, nt)

    @cached_property
    def drive(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(nu,) lengths, rates and forces of the actuators, and (nv,) the sum of their forces in the joints."""
        drives, nt, tau = self.sim.dynamics.drives, len(self.model.tendons.limited), np.zeros(self.model.nv)
        drive_forces(drives, self.q, self.v, self.sim.acting.control)
        add_drive_forces(drives, tau)
        tau -= row_arms(drives, 0, nt).T @ drives.force[:nt]
        return drives.length[nt:].copy(), drives.rate[nt:].copy(), drives.force[nt:].copy(), tau

    def actuator(self, a: int) -> tuple[float, float, float]:
        """Length, velocity and force of an actuator."""
        length, rate, force, _ = self.drive
        return float(length[a]), float(rate[a]), float(force[a])


def multiplied(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.zeros(4)
    mujoco.mju_mulQuat(out, np.ascontiguousarray(a, dtype=float), np.ascontiguousarray(b, dtype=float))
    return out
