"""Sensors of MJCF files, computed alike for every method from the state, the accelerations and the contacts.

    position stage      q and poses: joints, frames, centres of mass, rays, distances, clock, potential energy
    velocity stage      q and v: joint rates, frame velocities, gyroscopes, momenta, kinetic energy
    acceleration stage  also q̈ and contact forces: accelerometers, force, torque, touch, actuator forces

Positions and velocities are those of the present state. q̈ is ``sim.acceleration``, that of the last step, or of the
present state where a method computes it there; before the first step it follows from the forces at hand. Accelerations
contain −g, as those that instruments measure. Forces and torques are between a body and its parent, by Newton–Euler
over the bodies that it carries, less contact forces and ``inputs.wrench`` on them.

Sensors are in ``READERS`` by MuJoCo's type. Differs from MuJoCo in: forces of equality constraints are not subtracted
from force and torque sensors; noise, delays and intervals are not simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from stickslip.dynamics.data import Kinematics
from stickslip.dynamics.drive_forces import add_drive_forces, drive_forces
from stickslip.dynamics.drives import row_arms
from stickslip.dynamics.energy import kinetic_energy
from stickslip.dynamics.jacobian import point_acceleration, point_velocity
from stickslip.dynamics.kinematics import forward_accelerations, forward_motion
from stickslip.errors import unknown
from stickslip.model.compile import Attachment, attach_bodies
from stickslip.model.rays import ELLIPSOID, KINDS, ray_shape, ray_size
from stickslip.model.sensors import NOT_READ, sensor_kind

if TYPE_CHECKING:
    from stickslip.model.model import Model
    from stickslip.simulation.simulation import Simulation

OBJ, GEOM = mujoco.mjtObj, mujoco.mjtGeom
SITE_KINDS = {
    GEOM.mjGEOM_SPHERE: "sphere", GEOM.mjGEOM_CAPSULE: "capsule", GEOM.mjGEOM_CYLINDER: "cylinder",
    GEOM.mjGEOM_BOX: "box", GEOM.mjGEOM_ELLIPSOID: "ellipsoid",
}  # fmt: skip


class Touching(NamedTuple):
    """A contact as sensors see it; bodies are MuJoCo's."""

    body1: int
    body2: int
    point: np.ndarray
    normal: np.ndarray
    """From body 1 to body 2."""
    force: np.ndarray
    """(3,) on body 2, world axes [N]."""
    push: float
    """Its normal part."""


class Moment:
    """Everything that sensors read, at the present state of a simulation."""

    def __init__(self, sim: Simulation) -> None:
        self.sim: Simulation = sim
        self.model: Model = sim.model
        self.mj: mujoco.MjModel = sim.model.mj
        self.bodies = attach_bodies(self.mj)[0]
        self.q: np.ndarray = sim.state.q
        self.v: np.ndarray = sim.state.v
        self.kin: Kinematics = sim.dynamics.data.kin
        forward_motion(self.model.tree, self.model.inertia, self.q, self.v, self.kin)

    @cached_property
    def acceleration(self) -> np.ndarray:
        """(nv,) q̈; the links' accelerations are brought up to date with it."""
        m, sim = self.model, self.sim
        if sim.steps > 0 or sim.stepper.observes_acceleration:
            a = sim.acceleration.copy()
        else:
            wrench = sim.inputs.wrench.copy()
            tau = self.drive[3] + sim.inputs.applied + sim.dynamics.passive_forces(self.q, self.v)
            for touch, link2, link1 in self._contacts:
                for link, sign in ((link2, 1.0), (link1, -1.0)):
                    wrench[link, :3] += sign * touch.force
                    wrench[link, 3:] += sign * np.cross(touch.point - self.kin.pos[link], touch.force)
            wrench[0] = 0.0
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
    def contacts(self) -> list[Touching]:
        return [touch for touch, *_ in self._contacts]

    @cached_property
    def _contacts(self) -> list[tuple[Touching, int, int]]:
        c, found = self.sim.contacts.arrays, []
        for k in range(len(self.sim.contacts)):
            link1, link2, axes = int(c.link1[k]), int(c.link2[k]), c.axes[k]
            point, force = c.point[k].copy(), c.force[k, :3] @ axes
            if self.sim.stepper.forces_midway:
                point -= 0.5 * c.gap[k] * axes[0]
            bodies = (self._body(link1, point), self._body(link2, point))
            found.append((Touching(*bodies, point, axes[0].copy(), force, float(c.force[k, 0])), link2, link1))
        return found

    def _body(self, link: int, point: np.ndarray) -> int:
        """The body of a link whose shape is nearest to a point of contact."""
        shapes = [s for s in self.model.shapes if s.link == link and (s.group or s.mask)]
        if len({s.body for s in shapes}) <= 1:
            return shapes[0].body if shapes else int(attach_bodies(self.mj)[1][link])
        local = self.kin.rot[link].T @ (point - self.kin.pos[link])
        return min(shapes, key=lambda s: _outside(s, s.rot.T @ (local - s.pos))).body

    def subtree(self, body: int) -> list[int]:
        inside = [body]
        for b in range(body + 1, self.mj.nbody):
            if self.mj.body_parentid[b] in inside:
                inside.append(b)
        return inside

    def inertial(self, body: int) -> Attachment:
        return Attachment(*self.bodies[body].place(self.mj.body_ipos[body], self.mj.body_iquat[body]))

    def interaction(self, site: int) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque at a site that its body needs from its parent, world axes."""
        mj, body = self.mj, int(self.mj.site_bodyid[site])
        origin = self.place(Attachment(*self.bodies[body].place(mj.site_pos[site], mj.site_quat[site])))[0]
        inside, force, torque = self.subtree(body), np.zeros(3), np.zeros(3)
        for b in inside:
            at = self.inertial(b)
            (p, R), (_, spin), (a, turn) = self.place(at), self.velocity(at), self.accelerations(at)
            inertia = R @ np.diag(mj.body_inertia[b]) @ R.T
            f = mj.body_mass[b] * a
            force += f
            torque += inertia @ turn + np.cross(spin, inertia @ spin) + np.cross(p - origin, f)
        pushes = [(t.body2, t.point, t.force, 1.0) for t in self.contacts]
        pushes += [(t.body1, t.point, t.force, -1.0) for t in self.contacts]
        for b, point, f, sign in pushes:
            if b in inside:
                force -= sign * f
                torque -= sign * np.cross(point - origin, f)
        for link, b in enumerate(attach_bodies(mj)[1]):
            if link and b in inside:
                wrench = self.sim.inputs.wrench[link]
                force -= wrench[:3]
                torque -= wrench[3:] + np.cross(self.kin.pos[link] - origin, wrench[:3])
        return force, torque

    @cached_property
    def data(self) -> mujoco.MjData:
        """MuJoCo's poses, for distances between shapes."""
        data = mujoco.MjData(self.mj)
        data.qpos[:] = self.q
        mujoco.mj_kinematics(self.mj, data)
        mujoco.mj_comPos(self.mj, data)
        return data

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


def _outside(shape, p: np.ndarray) -> float:
    """How far a point is from a shape's surface [m], roughly outside of boxes and hulls."""
    if shape.kind in ("sphere", "point"):
        return abs(float(np.linalg.norm(p)) - shape.size[0])
    if shape.kind == "capsule":
        p = p - (0, 0, float(np.clip(p[2], -shape.size[1], shape.size[1])))
        return abs(float(np.linalg.norm(p)) - shape.size[0])
    if shape.kind == "cylinder":
        return abs(float(max(np.hypot(p[0], p[1]) - shape.size[0], abs(p[2]) - shape.size[1])))
    if shape.kind == "plane":
        return abs(float(p[2]))
    half = shape.size if shape.vertices is None else np.abs(shape.vertices).max(axis=0)
    return abs(float((np.abs(p) - half).max()))


def attachment(moment: Moment, kind: int, i: int) -> Attachment:
    """Where an object of a sensor is; a body is its inertial frame, an xbody its own."""
    mj = moment.mj
    if kind == OBJ.mjOBJ_BODY:
        return moment.inertial(i)
    if kind == OBJ.mjOBJ_XBODY:
        return moment.bodies[i]
    body, pos, quat = {
        OBJ.mjOBJ_GEOM: (mj.geom_bodyid, mj.geom_pos, mj.geom_quat),
        OBJ.mjOBJ_SITE: (mj.site_bodyid, mj.site_pos, mj.site_quat),
        OBJ.mjOBJ_CAMERA: (mj.cam_bodyid, mj.cam_pos, mj.cam_quat),
    }[OBJ(kind)]
    return Attachment(*moment.bodies[body[i]].place(pos[i], quat[i]))


def own_quaternion(moment: Moment, kind: int, i: int) -> np.ndarray:
    mj = moment.mj
    body, own = {
        OBJ.mjOBJ_BODY: (i, mj.body_iquat),
        OBJ.mjOBJ_XBODY: (i, None),
        OBJ.mjOBJ_GEOM: (mj.geom_bodyid[i] if kind == OBJ.mjOBJ_GEOM else 0, mj.geom_quat),
        OBJ.mjOBJ_SITE: (mj.site_bodyid[i] if kind == OBJ.mjOBJ_SITE else 0, mj.site_quat),
        OBJ.mjOBJ_CAMERA: (mj.cam_bodyid[i] if kind == OBJ.mjOBJ_CAMERA else 0, mj.cam_quat),
    }[OBJ(kind)]
    q = moment.quaternions[body]
    return q.copy() if own is None else multiplied(q, own[i])


@dataclass(frozen=True)
class Sensor:
    """A sensor by MuJoCo's numbers."""

    name: str
    kind: str
    object_type: int
    object: int
    reference_type: int
    reference: int
    cutoff: float
    positive: bool
    number: int

    def frame(self, moment: Moment) -> Attachment:
        return attachment(moment, self.object_type, self.object)

    def reference_frame(self, moment: Moment) -> Attachment | None:
        return None if self.reference < 0 else attachment(moment, self.reference_type, self.reference)


def _framepos(s: Sensor, m: Moment):
    p, ref = m.place(s.frame(m))[0], s.reference_frame(m)
    if ref is None:
        return p
    origin, axes = m.place(ref)
    return axes.T @ (p - origin)


def _framequat(s: Sensor, m: Moment):
    q = own_quaternion(m, s.object_type, s.object)
    if s.reference < 0:
        return q
    return multiplied(own_quaternion(m, s.reference_type, s.reference) * (1, -1, -1, -1), q)


def _axis(k: int) -> Reader:
    def read(s: Sensor, m: Moment):
        axis, ref = m.place(s.frame(m))[1][:, k], s.reference_frame(m)
        return axis if ref is None else m.place(ref)[1].T @ axis

    return read


def _framevel(angular: bool) -> Reader:
    def read(s: Sensor, m: Moment):
        at, ref = s.frame(m), s.reference_frame(m)
        velocity, spin = m.velocity(at)
        if ref is None:
            return spin if angular else velocity
        (origin, axes), (own, turn) = m.place(ref), m.velocity(ref)
        if angular:
            return axes.T @ (spin - turn)
        return axes.T @ (velocity - own - np.cross(turn, m.place(at)[0] - origin))

    return read


def _joint(part: str) -> Reader:
    def read(s: Sensor, m: Moment):
        j = s.object
        if part == "q":
            return [m.q[m.mj.jnt_qposadr[j]]]
        d = m.mj.jnt_dofadr[j]
        if part == "v":
            return [m.v[d]]
        if part == "w":
            return m.v[d : d + 3]
        quat = m.q[m.mj.jnt_qposadr[j] :][:4]
        return quat / np.linalg.norm(quat)

    return read


def _jointlimit(rate: bool) -> Reader:
    def read(s: Sensor, m: Moment):
        mj, j = m.mj, s.object
        i, d, margin, (low, high) = mj.jnt_qposadr[j], mj.jnt_dofadr[j], mj.jnt_margin[j], mj.jnt_range[j]
        if not mj.jnt_limited[j]:
            return [0.0]
        if mj.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
            turn = np.zeros(3)
            mujoco.mju_quat2Vel(turn, m.q[i : i + 4] / np.linalg.norm(m.q[i : i + 4]), 1.0)
            angle = float(np.linalg.norm(turn))
            distance = max(low, high) - angle
            speed = -float(turn @ m.v[d : d + 3]) / angle if angle > 0.0 else 0.0
            return [(speed if rate else distance - margin) if distance < margin else 0.0]
        for distance, speed in ((m.q[i] - low, m.v[d]), (high - m.q[i], -m.v[d])):
            if distance < margin:
                return [speed if rate else distance - margin]
        return [0.0]

    return read


def _subtree(part: str) -> Reader:
    def read(s: Sensor, m: Moment):
        inside = m.subtree(s.object)
        at = [m.inertial(b) for b in inside]
        mass = m.mj.body_mass[inside]
        p = np.array([m.place(a)[0] for a in at])
        total = max(float(mass.sum()), mujoco.mjMINVAL)
        com = mass @ p / total if mass.sum() > 0 else m.place(m.bodies[s.object])[0]
        if part == "com":
            return com
        v = np.array([m.velocity(a)[0] for a in at])
        mean = mass @ v / total
        if part == "linvel":
            return mean
        out = np.zeros(3)
        for b, a, x, u in zip(inside, at, p, v, strict=True):
            R, spin = m.place(a)[1], m.velocity(a)[1]
            out += R @ (m.mj.body_inertia[b] * (R.T @ spin)) + m.mj.body_mass[b] * np.cross(x - com, u - mean)
        return out

    return read


def _touch(s: Sensor, m: Moment):
    mj, site, total = m.mj, s.object, 0.0
    p, R = m.place(s.frame(m))
    kind = SITE_KINDS[GEOM(mj.site_type[site])]
    size, planes = ray_size(kind, mj.site_size[site]), np.zeros((0, 4))
    for t in m.contacts:
        for body, sign in ((t.body1, -1.0), (t.body2, 1.0)):
            if body == mj.site_bodyid[site] and t.push > 0.0:
                x, d = R.T @ (t.point - p), R.T @ (sign * t.normal)
                if ray_shape(KINDS[kind], size, planes, 0, 0, *x, *d)[0] >= 0.0:
                    total += t.push
                break
    return [total]


def _rangefinder(s: Sensor, m: Moment):
    p, R = m.place(s.frame(m))
    hit = m.sim.rays.cast(m.kin.pos, m.kin.rot, p, R[:, 2], (int(m.mj.site_bodyid[s.object]),))
    return [-1.0 if hit is None else hit.distance]


def _distance(part: str) -> Reader:
    def read(s: Sensor, m: Moment):
        def geoms(kind: int, i: int) -> range:
            if kind == OBJ.mjOBJ_GEOM:
                return range(i, i + 1)
            first = m.mj.body_geomadr[i]
            return range(first, first + m.mj.body_geomnum[i])

        best, ends = s.cutoff, np.zeros(6)
        for a in geoms(s.object_type, s.object):
            for b in geoms(s.reference_type, s.reference):
                fromto = np.zeros(6)
                distance = mujoco.mj_geomDistance(m.mj, m.data, a, b, s.cutoff, fromto)
                if distance < best:
                    best, ends = distance, fromto
        if part == "distance":
            return [best]
        if part == "fromto":
            return ends
        way = ends[3:] - ends[:3]
        size = np.linalg.norm(way)
        return np.zeros(3) if size == 0.0 else np.sign(best) * way / size if best != 0.0 else way / size

    return read


def _insidesite(s: Sensor, m: Moment):
    site = s.reference
    at = attachment(m, OBJ.mjOBJ_SITE, site)
    (p, R), size = m.place(at), m.mj.site_size[site]
    kind = SITE_KINDS[GEOM(m.mj.site_type[site])]
    x = np.abs(R.T @ (m.place(s.frame(m))[0] - p))
    if KINDS[kind] == ELLIPSOID:
        return [float(np.linalg.norm(x / ray_size(kind, size)) < 1.0)]
    if kind == "box":
        return [float(np.all(x < size))]
    if kind == "cylinder":
        return [float(np.hypot(x[0], x[1]) < size[0] and x[2] < size[1])]
    return [float(np.linalg.norm(x - (0, 0, min(x[2], size[1]))) < size[0])]


def _camprojection(s: Sensor, m: Moment):
    mj, cam = m.mj, s.reference
    p, R = m.place(attachment(m, OBJ.mjOBJ_CAMERA, cam))
    x, y, z = R.T @ (m.place(s.frame(m))[0] - p)
    width, height = mj.cam_resolution[cam]
    sensor = mj.cam_sensorsize[cam]
    if sensor[0] and sensor[1]:
        fx, fy, cx, cy = mj.cam_intrinsic[cam] / [*sensor, *sensor] * [width, height, width, height]
    else:
        fx = fy = 0.5 * height / np.tan(np.deg2rad(mj.cam_fovy[cam]) / 2.0)
        cx = cy = 0.0
    z = z if abs(z) > mujoco.mjMINVAL else mujoco.mjMINVAL
    return [width / 2.0 - cx - fx * x / z, height / 2.0 - cy + fy * y / z]


def _potential(s: Sensor, m: Moment):
    height = sum(m.mj.body_mass[b] * m.place(m.inertial(b))[0] for b in range(1, m.mj.nbody))
    return [m.sim.dynamics.elastic_energy(m.q) - float(m.model.inertia.gravity @ height) if m.mj.nbody > 1 else 0.0]


def _joint_actuator_force(s: Sensor, m: Moment):
    return [m.drive[3][m.mj.jnt_dofadr[s.object]]]


Reader = Callable[[Sensor, Moment], object]
READERS: dict[str, Reader] = {
    "touch": _touch,
    "accelerometer": lambda s, m: m.place(s.frame(m))[1].T @ m.accelerations(s.frame(m))[0],
    "velocimeter": lambda s, m: m.place(s.frame(m))[1].T @ m.velocity(s.frame(m))[0],
    "gyro": lambda s, m: m.place(s.frame(m))[1].T @ m.velocity(s.frame(m))[1],
    "force": lambda s, m: m.place(s.frame(m))[1].T @ m.interaction(s.object)[0],
    "torque": lambda s, m: m.place(s.frame(m))[1].T @ m.interaction(s.object)[1],
    "magnetometer": lambda s, m: m.place(s.frame(m))[1].T @ m.mj.opt.magnetic,
    "rangefinder": _rangefinder,
    "camprojection": _camprojection,
    "jointpos": _joint("q"),
    "jointvel": _joint("v"),
    "ballquat": _joint("quat"),
    "ballangvel": _joint("w"),
    "jointlimitpos": _jointlimit(rate=False),
    "jointlimitvel": _jointlimit(rate=True),
    "actuatorpos": lambda s, m: [m.actuator(s.object)[0]],
    "actuatorvel": lambda s, m: [m.actuator(s.object)[1]],
    "actuatorfrc": lambda s, m: [m.actuator(s.object)[2]],
    "jointactfrc": _joint_actuator_force,
    "framepos": _framepos,
    "framequat": _framequat,
    "framexaxis": _axis(0),
    "frameyaxis": _axis(1),
    "framezaxis": _axis(2),
    "framelinvel": _framevel(angular=False),
    "frameangvel": _framevel(angular=True),
    "framelinacc": lambda s, m: m.accelerations(s.frame(m))[0],
    "frameangacc": lambda s, m: m.accelerations(s.frame(m))[1],
    "subtreecom": _subtree("com"),
    "subtreelinvel": _subtree("linvel"),
    "subtreeangmom": _subtree("angmom"),
    "insidesite": _insidesite,
    "geomdist": _distance("distance"),
    "geomnormal": _distance("normal"),
    "geomfromto": _distance("fromto"),
    "e_potential": _potential,
    "e_kinetic": lambda s, m: [kinetic_energy(m.model.support, m.model.inertia, m.kin, m.v)],
    "clock": lambda s, m: [m.sim.time],
}
NEEDS_CONTACTS = frozenset({"touch", "accelerometer", "force", "torque", "framelinacc", "frameangacc"})


class Sensors:
    """The sensors of a model that can be read, by name."""

    def __init__(self, model: Model) -> None:
        mj, self.sensors = model.mj, dict[str, Sensor]()
        for i in range(mj.nsensor):
            kind = sensor_kind(mj, i)
            if kind in NOT_READ:
                continue
            name = mj.sensor(i).name or f"{kind} {i}"
            self.sensors[name] = Sensor(
                name, kind, int(mj.sensor_objtype[i]), int(mj.sensor_objid[i]), int(mj.sensor_reftype[i]),
                int(mj.sensor_refid[i]), float(mj.sensor_cutoff[i]),
                int(mj.sensor_datatype[i]) == int(mujoco.mjtDataType.mjDATATYPE_POSITIVE), int(mj.sensor_dim[i]),
            )  # fmt: skip

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.sensors)

    @property
    def value_names(self) -> tuple[str, ...]:
        """The sensor that each of the values of ``read_all`` belongs to."""
        return tuple(s.name for s in self.sensors.values() for _ in range(s.number))

    def needs_contacts(self, name: str) -> bool:
        """Whether contact forces at the present state are needed, before the sensor is read."""
        return self.check(name).kind in NEEDS_CONTACTS

    def check(self, name: str) -> Sensor:
        if name not in self.sensors:
            raise unknown("sensor", str(name), self.sensors)
        return self.sensors[name]

    def read(self, moment: Moment, name: str) -> np.ndarray:
        """The values of a sensor, within its cutoff."""
        sensor = self.check(name)
        values = np.array(READERS[sensor.kind](sensor, moment), dtype=float).ravel()
        if sensor.cutoff > 0.0 and sensor.kind not in ("geomfromto", "geomnormal", "framequat", "ballquat"):
            values = np.minimum(values, sensor.cutoff) if sensor.positive else np.clip(
                values, -sensor.cutoff, sensor.cutoff
            )  # fmt: skip
        return values

    def read_all(self, moment: Moment) -> np.ndarray:
        """The values of all sensors, one after another."""
        return np.concatenate([np.zeros(0), *(self.read(moment, name) for name in self.sensors)])
