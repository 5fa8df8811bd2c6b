"""Take unsupported features out of a MuJoCo specification, and rewrite those that have an exact equivalent.

The functions edit an ``MjSpec`` that has just been compiled: the ``id`` of its elements are those of the ``MjModel``,
and attributes hold the values after defaults. The specification must have no keyframes: if one has the wrong size,
MuJoCo's ``delete`` silently does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import mujoco
import numpy as np

from stickslip.errors import listed
from stickslip.model.importers.features import (
    OBJ,
    colliding,
    drives_one_joint,
    element_name,
    feature_names,
    find_features,
)

UNSUPPORTED_SHAPES = (mujoco.mjtGeom.mjGEOM_SDF,)
Removal: TypeAlias = Callable[[mujoco.MjSpec, Iterable[int]], None]


def _pick(elements: Iterable, ids: Iterable[int]) -> list:
    wanted = set(ids)
    return [element for element in elements if element.id in wanted]


def _set(collection: str, **values) -> Removal:
    """A removal that resets attributes to a neutral value."""

    def reset(spec: mujoco.MjSpec, ids: Iterable[int]) -> None:
        for element in _pick(getattr(spec, collection), ids):
            for name, value in values.items():
                setattr(element, name, value)

    return reset


def _delete_sensors(spec: mujoco.MjSpec, gone: set[tuple[mujoco.mjtObj, str]]) -> None:
    """Delete the sensors of deleted objects, with which MuJoCo would not compile."""
    for sensor in list(spec.sensors):
        if gone & {(sensor.objtype, sensor.objname), (sensor.reftype, sensor.refname)}:
            spec.delete(sensor)


def delete_actuators(spec: mujoco.MjSpec, ids: Iterable[int]) -> None:
    """Delete actuators and their sensors."""
    doomed = _pick(spec.actuators, ids)
    _delete_sensors(spec, {(OBJ.mjOBJ_ACTUATOR, actuator.name) for actuator in doomed})
    for actuator in doomed:
        spec.delete(actuator)


def _delete(collection: str) -> Removal:
    def delete(spec: mujoco.MjSpec, ids: Iterable[int]) -> None:
        for element in _pick(getattr(spec, collection), ids):
            spec.delete(element)

    return delete


def _no_tendon_armature(spec: mujoco.MjSpec, ids: Iterable[int]) -> None:
    tendons = _pick(spec.tendons, ids)
    names = {tendon.name for tendon in tendons}
    for tendon in tendons:
        tendon.armature = 0.0
    for actuator in spec.actuators:
        if actuator.trntype == mujoco.mjtTrn.mjTRN_TENDON and actuator.target in names:
            actuator.armature = 0.0


def _drop_plugins(spec: mujoco.MjSpec, _: Iterable[int]) -> None:
    for element in (*spec.bodies, *spec.geoms):
        element.plugin.active = False
    delete_actuators(spec, [a.id for a in spec.actuators if a.plugin.active])


def _delete_geoms(spec: mujoco.MjSpec, ids: Iterable[int]) -> None:
    doomed = _pick(spec.geoms, ids)
    names = {geom.name for geom in doomed if geom.name}
    for pair in list(spec.pairs):
        if {pair.geomname1, pair.geomname2} & names:
            spec.delete(pair)
    _delete_sensors(spec, {(OBJ.mjOBJ_GEOM, name) for name in names})
    for geom in doomed:
        spec.delete(geom)


def _no_mocap(spec: mujoco.MjSpec, _: Iterable[int]) -> None:
    for body in spec.bodies:
        body.mocap = False


REMOVE: dict[str, Removal] = {
    "tendon armature": _no_tendon_armature,
    "yielding tendon": _set("tendons", springyield=0.0),
    "equality": _delete("equalities"),
    "flex": _delete("flexes"),
    "plugin": _drop_plugins,
    "actuator dynamics": delete_actuators,
    "transmission": delete_actuators,
    "actuator gain": delete_actuators,
    "yielding spring": _set("joints", springyield=0.0),
    "mocap joints": _no_mocap,
    "shape: sdf": _delete_geoms,
}


def freeze_inertia(spec: mujoco.MjSpec, mj: mujoco.MjModel) -> None:
    """Write the compiled inertias into the bodies, so that deleting a geom does not delete its mass."""
    for body in spec.bodies:
        if body.id > 0:
            body.explicitinertial, body.mass = True, mj.body_mass[body.id]
            body.inertia, body.fullinertia = mj.body_inertia[body.id], [np.nan] * 6
            body.ipos, body.iquat = mj.body_ipos[body.id], mj.body_iquat[body.id]
            body.ialt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO
    spec.compiler.settotalmass = -1.0


def remove_features(spec: mujoco.MjSpec, mj: mujoco.MjModel, ignore: Iterable[str] | str) -> list[str]:
    """Take the ignored features out of the specification, which ``mj`` was compiled from; add a note for each."""
    ignored = feature_names(ignore)
    used = [found for found in find_features(mj) if found.feature.name in ignored]
    notes = [f"ignored: {found.feature.name} ({found.feature.what}): {found.elements(mj)}" for found in used]
    if any(found.feature.name.startswith("shape: ") for found in used):
        freeze_inertia(spec, mj)
    for name in (found.feature.name for found in used):
        # Deleting renumbers the elements and may remove other features, so search again before each removal.
        for found in find_features(spec.compile()):
            if found.feature.name == name:
                REMOVE[name](spec, found.where)
    return notes


def drop_drawings(spec: mujoco.MjSpec, mj: mujoco.MjModel) -> list[str]:
    """Delete drawing shapes of kinds that stickslip does not have; their mass is kept."""
    drawn = np.flatnonzero(~colliding(mj) & np.isin(mj.geom_type, UNSUPPORTED_SHAPES))
    if not len(drawn):
        return []
    freeze_inertia(spec, mj)
    _delete_geoms(spec, drawn)
    names = listed(element_name(mj, OBJ.mjOBJ_GEOM, int(g)) for g in drawn)
    return [f"dropped: shapes for drawing only, of kinds that stickslip does not draw (mass kept): {names}"]


def translate(spec: mujoco.MjSpec, mj: mujoco.MjModel) -> list[str]:
    """Rewrite what has an exact equivalent: armature and damping of an actuator that drives one joint.

    Armature and damping of an actuator are those of its joint, times the (first) gear squared, about all of its axes.
    """
    notes = []
    joints = {joint.id: joint for joint in spec.joints}
    reflected, of_joints = [], drives_one_joint(mj)
    for actuator in (a for a in spec.actuators if of_joints[a.id]):
        i, j = actuator.id, int(mj.actuator_trnid[actuator.id, 0])
        gear, joint = float(mj.actuator_gear[i, 0]), joints[j]
        own = np.array([mj.actuator_damping[i], *mj.actuator_dampingpoly[i]])
        if mj.actuator_armature[i] or own.any():
            joint.armature += gear**2 * mj.actuator_armature[i]
            joint.damping = np.asarray(joint.damping) + gear**2 * own
            actuator.armature, actuator.damping = 0.0, [0.0, 0.0, 0.0]
            reflected.append(actuator.name)
    if reflected:
        names = listed(map(repr, reflected))
        notes.append(f"moved from actuator to joint (same motion): armature and damping of {names}")
    return notes
