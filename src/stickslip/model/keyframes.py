"""Keyframes: named moments of a scene, with configuration, velocity, controls, activations and mocap poses.

A scene keeps them by the names of joints, actuators and mocap bodies (``NamedKeyframe``), because elements are
renumbered when files are attached; a model has them as arrays (``Keyframe``). ``home`` is where a simulation begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import mujoco
import numpy as np

from stickslip.model.arrays import JOINT_NQ, JOINT_NV

T = TypeVar("T")


class Keyframe(NamedTuple):
    """A named moment of a model."""

    q: np.ndarray
    """(nq,) configuration."""
    v: np.ndarray
    """(nv,) velocity."""
    control: np.ndarray
    """(nu,) controls."""
    act: np.ndarray
    """(na,) activations of MuJoCo's actuators."""
    mocap: np.ndarray
    """(nm, 7) position [m] and quaternion of each mocap body."""
    time: float = 0.0
    """[s]."""


@dataclass
class NamedKeyframe:
    """A keyframe by names; what it does not mention has its default: reference configuration, rest, no control."""

    joints: dict[str, np.ndarray] = field(default_factory=dict)
    """Joint → its coordinates in q."""
    velocities: dict[str, np.ndarray] = field(default_factory=dict)
    """Joint → its velocities in v."""
    controls: dict[str, float] = field(default_factory=dict)
    """Actuator → control."""
    activations: dict[str, np.ndarray] = field(default_factory=dict)
    """Actuator → its activations."""
    mocap: dict[str, np.ndarray] = field(default_factory=dict)
    """Mocap body → position [m] and quaternion (7,)."""
    time: float = 0.0

    def renamed(self, prefix: str) -> NamedKeyframe:
        """A copy in which all names have a prefix."""
        return NamedKeyframe(
            _renamed(prefix, self.joints),
            _renamed(prefix, self.velocities),
            _renamed(prefix, self.controls),
            _renamed(prefix, self.activations),
            _renamed(prefix, self.mocap),
            self.time,
        )

    def update(self, other: NamedKeyframe) -> None:
        """Take over what the other one mentions."""
        self.joints |= other.joints
        self.velocities |= other.velocities
        self.controls |= other.controls
        self.activations |= other.activations
        self.mocap |= other.mocap
        self.time = other.time or self.time

    def arrays(self, mj: mujoco.MjModel) -> Keyframe:
        """The arrays of a compiled model; names that it does not have are passed over."""
        frame = default_keyframe(mj)
        for j, name in _joints(mj):
            first, d, kind = mj.jnt_qposadr[j], mj.jnt_dofadr[j], mj.jnt_type[j]
            if name in self.joints:
                frame.q[first : first + JOINT_NQ[kind]] = self.joints[name]
            if name in self.velocities:
                frame.v[d : d + JOINT_NV[kind]] = self.velocities[name]
        for a in range(mj.nu):
            name, own = mj.actuator(a).name, _activations(mj, a)
            frame.control[a] = self.controls.get(name, 0.0)
            if name in self.activations and len(self.activations[name]) == own.stop - own.start:
                frame.act[own] = self.activations[name]
        for m, name in _mocap_bodies(mj):
            frame.mocap[m] = self.mocap.get(name, frame.mocap[m])
        return frame._replace(time=self.time)


def _renamed(prefix: str, part: dict[str, T]) -> dict[str, T]:
    return {prefix + name: value for name, value in part.items()}


def default_keyframe(mj: mujoco.MjModel) -> Keyframe:
    """The reference configuration at rest."""
    mocap = np.zeros((mj.nmocap, 7))
    for m, name in _mocap_bodies(mj):
        mocap[m] = [*mj.body(name).pos, *mj.body(name).quat]
    return Keyframe(mj.qpos0.astype(float).copy(), np.zeros(mj.nv), np.zeros(mj.nu), np.zeros(mj.na), mocap)


def read_keyframes(mj: mujoco.MjModel) -> dict[str, NamedKeyframe]:
    """All keyframes of a model, by name; one without a name is called by its number, ``key 0``."""
    keyframes = {}
    for k in range(mj.nkey):
        named = NamedKeyframe(time=float(mj.key_time[k]))
        for j, name in _joints(mj):
            first, d, kind = mj.jnt_qposadr[j], mj.jnt_dofadr[j], mj.jnt_type[j]
            named.joints[name] = mj.key_qpos[k, first : first + JOINT_NQ[kind]].copy()
            speed = mj.key_qvel[k, d : d + JOINT_NV[kind]].copy()
            if speed.any():
                named.velocities[name] = speed
        for a in range(mj.nu):
            name, act = mj.actuator(a).name, mj.key_act[k, _activations(mj, a)].copy()
            if mj.key_ctrl[k, a]:
                named.controls[name] = float(mj.key_ctrl[k, a])
            if act.any():
                named.activations[name] = act
        for m, name in _mocap_bodies(mj):
            pose = np.concatenate([mj.key_mpos[k, 3 * m : 3 * m + 3], mj.key_mquat[k, 4 * m : 4 * m + 4]])
            named.mocap[name] = pose
        keyframes[mj.key(k).name or f"key {k}"] = named
    return keyframes


def write_keyframes(spec: mujoco.MjSpec, keyframes: dict[str, Keyframe]) -> None:
    """Add keyframes to a specification; parts that are zero are left out."""
    for name, frame in keyframes.items():
        key = spec.add_key(name=name, qpos=frame.q, time=frame.time)
        for attribute, values in (("qvel", frame.v), ("ctrl", frame.control), ("act", frame.act)):
            if values.any():
                setattr(key, attribute, values)
        if len(frame.mocap):
            key.mpos, key.mquat = frame.mocap[:, :3].ravel(), frame.mocap[:, 3:].ravel()


def _joints(mj: mujoco.MjModel) -> Iterator[tuple[int, str]]:
    return ((j, mj.joint(j).name) for j in range(mj.njnt))


def _mocap_bodies(mj: mujoco.MjModel) -> Iterator[tuple[int, str]]:
    return ((int(mj.body_mocapid[b]), mj.body(b).name) for b in range(mj.nbody) if mj.body_mocapid[b] >= 0)


def _activations(mj: mujoco.MjModel, a: int) -> slice:
    """Where the activations of actuator a are; empty if it has none."""
    first = max(0, int(mj.actuator_actadr[a]))
    return slice(first, first + int(mj.actuator_actnum[a]))
