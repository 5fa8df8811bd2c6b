"""Sensors of a file: their names, and notes on those that are not read."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.errors import listed

TYPES = {int(kind): name.partition("_")[2].lower() for name, kind in mujoco.mjtSensor.__members__.items()}
"""Names of MuJoCo's types of sensors: ``framepos``, ``jointactfrc``, …"""
NOT_READ = {
    "plugin": "code of MuJoCo's own",
    "user": "callbacks of MuJoCo's own",
    "tactile": "taxels of a mesh",
    "contact": "lists of contacts; sim.contacts has them",
    "jointlimitfrc": "forces of joint limits, which not every method has",
    "tendonpos": "tendons", "tendonvel": "tendons", "tendonactfrc": "tendons", "tendonlimitpos": "tendons",
    "tendonlimitvel": "tendons", "tendonlimitfrc": "tendons",
    "depth": "pictures of rangefinders",
}  # fmt: skip
"""Kinds of sensors that cannot be read, and what they are."""


def sensor_kind(mj: mujoco.MjModel, i: int) -> str:
    """The type of sensor i; rangefinders with more than a distance are called ``depth``."""
    kind = TYPES[int(mj.sensor_type[i])]
    if kind == "rangefinder" and (mj.sensor_dim[i] != 1 or mj.sensor_objtype[i] != mujoco.mjtObj.mjOBJ_SITE):
        return "depth"
    return kind


def sensor_notes(mj: mujoco.MjModel) -> list[str]:
    """Notes on sensors that are not read, and on what is not simulated of the others."""
    notes, kinds = [], [sensor_kind(mj, i) for i in range(mj.nsensor)]
    for kind in sorted(set(kinds) & set(NOT_READ)):
        names = listed(repr(mj.sensor(i).name) for i in range(mj.nsensor) if kinds[i] == kind)
        notes.append(f"not read: {kind} sensor {names} ({NOT_READ[kind]})")
    for what, values in (
        ("noise", mj.sensor_noise),
        ("delay", mj.sensor_delay),
        ("interval", mj.sensor_interval[:, 0]),
    ):
        some = np.flatnonzero(values > 0.0)
        if len(some):
            notes.append(f"not simulated: {what} of sensor {listed(repr(mj.sensor(int(i)).name) for i in some)}")
    return notes
