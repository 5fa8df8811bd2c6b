"""Sensors of accelerations and forces: accelerometers, force, torque, touch, actuators, limits.

Accelerations contain −g, as those that instruments measure. Forces and torques are between a body and its parent, by
Newton–Euler over the bodies that it carries, less the forces of contacts, closed loops, spatial
tendons, pushes and ``inputs.wrench`` on them.
"""

from __future__ import annotations

import numpy as np

from stickslip.model.arrays import TENDON
from stickslip.model.rays import KINDS, ray_shape, ray_size
from stickslip.simulation.sensors.balance import balance
from stickslip.simulation.sensors.moment import Moment
from stickslip.simulation.sensors.sensor import GEOM, SITE_KINDS, Reader, Sensor
from stickslip.simulation.sensors.tendon_pushes import spatial, tendon_pushes


def interaction(s: Sensor, m: Moment) -> tuple[np.ndarray, np.ndarray]:
    """Force and torque at a site that its body needs from its parent, world axes."""
    mj, body = m.mj, int(m.mj.site_bodyid[s.object])
    origin = m.place(s.frame(m))[0]
    inside, force, torque = m.subtree(body), np.zeros(3), np.zeros(3)
    for b in inside:
        at = m.inertial(b)
        (p, R), (_, spin), (a, turn) = m.place(at), m.velocity(at), m.accelerations(at)
        inertia = R @ np.diag(mj.body_inertia[b]) @ R.T
        f = mj.body_mass[b] * a
        force += f
        torque += inertia @ turn + np.cross(spin, inertia @ spin) + np.cross(p - origin, f)
    pushes = [(m.body_of(t, 1), t.at, t.force, t.torque) for t in m.contacts]
    pushes += [(m.body_of(t, 0), t.at, -t.force, -t.torque) for t in m.contacts]
    pushes += [(b, m.kin.pos[i], *np.split(m.given[i], 2)) for i, b in enumerate(m.link_body) if i]
    if m.model.closed_loops:
        pushes += balance(m).loop_forces
    if spatial(m):
        pushes += tendon_pushes(m)
    for b, point, f, turning in pushes:
        if b in inside:
            force -= f
            torque -= turning + np.cross(point - origin, f)
    return force, torque


def _touch(s: Sensor, m: Moment):
    mj, site, total = m.mj, s.object, 0.0
    p, R = m.place(s.frame(m))
    kind = SITE_KINDS[GEOM(mj.site_type[site])]
    size, planes = ray_size(kind, mj.site_size[site]), np.zeros((0, 4))
    for t in m.contacts:
        for side, sign in ((0, -1.0), (1, 1.0)):
            if m.body_of(t, side) == mj.site_bodyid[site] and t.frame_force[0] > 0.0:
                x, d = R.T @ (t.at - p), R.T @ (sign * t.normal)
                if ray_shape(KINDS[kind], size, planes, 0, 0, *x, *d)[0] >= 0.0:
                    total += float(t.frame_force[0])
                break
    return [total]


def _tendon_actuators(s: Sensor, m: Moment):
    a = m.model.actuators
    return [float(m.drive[2][(a.transmission == TENDON) & (a.target == s.object)].sum())]


def _joint_actuator_force(s: Sensor, m: Moment):
    """Force of all actuators in a joint, with the gravity compensation that goes through them."""
    d = m.mj.jnt_dofadr[s.object]
    return [m.drive[3][d] + m.sim.dynamics.drives.lift[d]]


FORCES: dict[str, Reader] = {
    "touch": _touch,
    "accelerometer": lambda s, m: m.place(s.frame(m))[1].T @ m.accelerations(s.frame(m))[0],
    "force": lambda s, m: m.place(s.frame(m))[1].T @ interaction(s, m)[0],
    "torque": lambda s, m: m.place(s.frame(m))[1].T @ interaction(s, m)[1],
    "actuatorfrc": lambda s, m: [m.actuator(s.object)[2]],
    "jointactfrc": _joint_actuator_force,
    "tendonactfrc": _tendon_actuators,
    "jointlimitfrc": lambda s, m: [balance(m).joint_limits.get(s.object, 0.0)],
    "tendonlimitfrc": lambda s, m: [balance(m).tendon_limits.get(s.object, 0.0)],
    "framelinacc": lambda s, m: m.accelerations(s.frame(m))[0],
    "frameangacc": lambda s, m: m.accelerations(s.frame(m))[1],
}
