"""Sensors of the present configuration: joints, tendons, frames, centres of mass, potential energy, pictures."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.model.rays import ELLIPSOID, KINDS, ray_size
from stickslip.simulation.sensors.moment import Moment, multiplied
from stickslip.simulation.sensors.sensor import GEOM, OBJ, SITE_KINDS, Reader, Sensor, attachment, own_quaternion


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


def _ballquat(s: Sensor, m: Moment):
    quat = m.q[m.mj.jnt_qposadr[s.object] :][:4]
    return quat / np.linalg.norm(quat)


def limit_distances(m: Moment, s: Sensor) -> tuple[float, float]:
    """(distance within the margin, its rate) of the limit of a joint or tendon that is near; (inf, 0) if none is."""
    mj = m.mj
    if s.kind.startswith("tendon"):
        length, rate, _ = m.tendons
        t = s.object
        limited, margin, (low, high) = mj.tendon_limited[t], mj.tendon_margin[t], mj.tendon_range[t]
        x, v = float(length[t]), float(rate[t])
    else:
        j = s.object
        i, d = int(mj.jnt_qposadr[j]), int(mj.jnt_dofadr[j])
        limited, margin, (low, high) = mj.jnt_limited[j], mj.jnt_margin[j], mj.jnt_range[j]
        if mj.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
            turn = np.zeros(3)
            mujoco.mju_quat2Vel(turn, m.q[i : i + 4] / np.linalg.norm(m.q[i : i + 4]), 1.0)
            x = float(np.linalg.norm(turn))
            v = float(turn @ m.v[d : d + 3]) / x if x > 0.0 else 0.0
            low, high = -np.inf, max(low, high)
        else:
            x, v = float(m.q[i]), float(m.v[d])
    if limited:
        for distance, speed in ((x - low, v), (high - x, -v)):
            if distance < margin:
                return distance - margin, speed
    return np.inf, 0.0


def _limit(s: Sensor, m: Moment):
    distance, _ = limit_distances(m, s)
    return [distance if np.isfinite(distance) else 0.0]


def centre_of_mass(m: Moment, body: int) -> np.ndarray:
    """(3,) of a body and all that it carries [m]."""
    inside = m.subtree(body)
    mass = m.mj.body_mass[inside]
    if mass.sum() <= 0.0:
        return m.place(m.bodies[body])[0]
    return mass @ np.array([m.place(m.inertial(b))[0] for b in inside]) / max(float(mass.sum()), mujoco.mjMINVAL)


def inside_site(m: Moment, site: int, point: np.ndarray) -> bool:
    """Whether a point [m, world] is within the volume of a site."""
    (p, R), size = m.place(attachment(m, OBJ.mjOBJ_SITE, site)), m.mj.site_size[site]
    kind = SITE_KINDS[GEOM(m.mj.site_type[site])]
    x = np.abs(R.T @ (point - p))
    if KINDS[kind] == ELLIPSOID:
        return bool(np.linalg.norm(x / ray_size(kind, size)) < 1.0)
    if kind == "box":
        return bool(np.all(x < size))
    if kind == "cylinder":
        return bool(np.hypot(x[0], x[1]) < size[0] and x[2] < size[1])
    return bool(np.linalg.norm(x - (0, 0, min(x[2], size[1]))) < size[0])


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


POSITIONS: dict[str, Reader] = {
    "magnetometer": lambda s, m: m.place(s.frame(m))[1].T @ m.mj.opt.magnetic,
    "camprojection": _camprojection,
    "jointpos": lambda s, m: [m.q[m.mj.jnt_qposadr[s.object]]],
    "tendonpos": lambda s, m: [m.tendons[0][s.object]],
    "actuatorpos": lambda s, m: [m.actuator(s.object)[0]],
    "ballquat": _ballquat,
    "jointlimitpos": _limit,
    "tendonlimitpos": _limit,
    "framepos": _framepos,
    "framequat": _framequat,
    "framexaxis": _axis(0),
    "frameyaxis": _axis(1),
    "framezaxis": _axis(2),
    "subtreecom": lambda s, m: centre_of_mass(m, s.object),
    "insidesite": lambda s, m: [float(inside_site(m, s.reference, m.place(s.frame(m))[0]))],
    "e_potential": _potential,
    "clock": lambda s, m: [m.sim.time],
}
