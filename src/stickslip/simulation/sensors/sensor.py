"""Sensor: one sensor by MuJoCo's numbers, and the frames that it refers to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from stickslip.model.compile import Attachment
from stickslip.simulation.sensors.moment import Moment, multiplied

OBJ, GEOM = mujoco.mjtObj, mujoco.mjtGeom
SITE_KINDS = {
    GEOM.mjGEOM_SPHERE: "sphere", GEOM.mjGEOM_CAPSULE: "capsule", GEOM.mjGEOM_CYLINDER: "cylinder",
    GEOM.mjGEOM_BOX: "box", GEOM.mjGEOM_ELLIPSOID: "ellipsoid",
}  # fmt: skip


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
    """Number of its values."""
    start: int
    """Where they begin in MuJoCo's ``sensordata``."""
    choices: tuple[int, ...]
    """MuJoCo's ``sensor_intprm``: which data a contact sensor or rangefinder gives, and how contacts are reduced."""

    def frame(self, moment: Moment) -> Attachment:
        return attachment(moment, self.object_type, self.object)

    def reference_frame(self, moment: Moment) -> Attachment | None:
        return None if self.reference < 0 else attachment(moment, self.reference_type, self.reference)


Reader = Callable[[Sensor, Moment], object]
"""From a sensor and a moment to its values."""
