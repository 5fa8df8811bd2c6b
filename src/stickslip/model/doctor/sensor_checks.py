"""Checks of sensors: those that always read the same."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.model.doctor.finding import Finding
from stickslip.model.importers.features import colliding
from stickslip.model.sensors import sensor_kind

MOTION = ("accelerometer", "gyro", "velocimeter", "force", "torque")
LIMITS = ("jointlimitpos", "jointlimitvel", "jointlimitfrc")
TENDON_LIMITS = ("tendonlimitpos", "tendonlimitvel", "tendonlimitfrc")
DISTANCES = ("geomdist", "geomnormal", "geomfromto")


def sensors(mj: mujoco.MjModel) -> list[Finding]:
    findings = []
    for i in range(mj.nsensor):
        why = _why_constant(mj, i)
        if why is not None:
            message, remedy = why
            where = f"sensor {mj.sensor(i).name or i!r}"
            findings.append(Finding("warning", "sensor", where, f"it always reads the same, because {message}", remedy))
    return findings


def _why_constant(mj: mujoco.MjModel, i: int) -> tuple[str, str] | None:
    """Why sensor i cannot change, and what to do; None if it can."""
    kind, at = sensor_kind(mj, i), int(mj.sensor_objid[i])
    if kind == "touch":
        body = int(mj.site_bodyid[at])
        if not (colliding(mj) & (mj.geom_bodyid == body)).any() and not _contact_points(mj, body):
            return f"body {mj.body(body).name!r} has no shape that collides", "put its site on a body that touches"
    elif kind in MOTION:
        body = int(mj.site_bodyid[at])
        if mj.body_weldid[body] == 0 and kind not in ("force", "torque") and mj.body_mocapid[mj.body_rootid[body]] < 0:
            return f"site {mj.site(at).name!r} is fixed to the world", "put its site on a body that moves"
    elif kind in LIMITS and not mj.jnt_limited[at]:
        return f"joint {mj.joint(at).name!r} has no limits", "give the joint a range"
    elif kind in TENDON_LIMITS and not mj.tendon_limited[at]:
        return f"tendon {mj.tendon(at).name!r} has no limits", "give the tendon a range"
    elif kind in DISTANCES and mj.sensor_cutoff[i] <= 0.0:
        return "its cutoff is 0, so that it sees nothing that is apart", "set cutoff to the largest distance [m]"
    return None


def _contact_points(mj: mujoco.MjModel, body: int) -> bool:
    """Whether a body has contact points, which are marked sites."""
    return mj.nuser_site >= 1 and bool(np.any((mj.site_user[:, 0] == 1.0) & (mj.site_bodyid == body)))
