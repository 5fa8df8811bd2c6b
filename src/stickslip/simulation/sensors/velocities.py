"""Sensors of the present velocities: joint rates, velocities of frames, gyroscopes, momenta, kinetic energy."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.dynamics.energy import kinetic_energy
from stickslip.simulation.sensors.moment import Moment
from stickslip.simulation.sensors.positions import centre_of_mass, limit_distances
from stickslip.simulation.sensors.sensor import Reader, Sensor


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


def _mean_velocity(s: Sensor, m: Moment) -> np.ndarray:
    inside = m.subtree(s.object)
    mass = m.mj.body_mass[inside]
    v = np.array([m.velocity(m.inertial(b))[0] for b in inside])
    return mass @ v / max(float(mass.sum()), mujoco.mjMINVAL)


def _angular_momentum(s: Sensor, m: Moment) -> np.ndarray:
    com, mean, out = centre_of_mass(m, s.object), _mean_velocity(s, m), np.zeros(3)
    for b in m.subtree(s.object):
        at = m.inertial(b)
        (x, R), (u, spin) = m.place(at), m.velocity(at)
        out += R @ (m.mj.body_inertia[b] * (R.T @ spin)) + m.mj.body_mass[b] * np.cross(x - com, u - mean)
    return out


def _ball_velocity(s: Sensor, m: Moment):
    d = m.mj.jnt_dofadr[s.object]
    return m.v[d : d + 3]


VELOCITIES: dict[str, Reader] = {
    "velocimeter": lambda s, m: m.place(s.frame(m))[1].T @ m.velocity(s.frame(m))[0],
    "gyro": lambda s, m: m.place(s.frame(m))[1].T @ m.velocity(s.frame(m))[1],
    "jointvel": lambda s, m: [m.v[m.mj.jnt_dofadr[s.object]]],
    "tendonvel": lambda s, m: [m.tendons[1][s.object]],
    "actuatorvel": lambda s, m: [m.actuator(s.object)[1]],
    "ballangvel": _ball_velocity,
    "jointlimitvel": lambda s, m: [limit_distances(m, s)[1]],
    "tendonlimitvel": lambda s, m: [limit_distances(m, s)[1]],
    "framelinvel": _framevel(angular=False),
    "frameangvel": _framevel(angular=True),
    "subtreelinvel": _mean_velocity,
    "subtreeangmom": _angular_momentum,
    "e_kinetic": lambda s, m: [kinetic_energy(m.model.support, m.model.inertia, m.kin, m.v)],
}
