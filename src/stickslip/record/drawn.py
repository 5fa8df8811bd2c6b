"""What is drawn besides shapes: paths of tendons, frames of sensors, and thrusters.

The header of a recording keeps it as plain numbers, so that it is shown without the files of the scene:

    tendons    names, widths and colours of all tendons, the arrays of ``Paths``, and ``pulled_by``: the actuators that
               pull at them
    sensors    sites that sensors are attached to: the link, the place on it, and the names and kinds of the sensors
    thrusters  actuators whose wrench at a site depends on their control or activation alone
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from stickslip.dynamics.tendon_points import Paths
from stickslip.model.arrays import AT_SITE, TENDON
from stickslip.model.compile import attach_bodies
from stickslip.model.sensors import sensor_kind

if TYPE_CHECKING:
    from stickslip.model.model import Model


def drawn_of(model: Model) -> dict[str, Any]:
    """The entries above; those of which the model has none are missing."""
    found = {"tendons": _tendons(model), "sensors": _sensors(model), "thrusters": _thrusters(model)}
    return {name: entry for name, entry in found.items() if entry}


def _tendons(model: Model) -> dict[str, Any]:
    mj, paths, a = model.mj, Paths.of(model.tendons), model.actuators
    if not any(paths.is_spatial(t) for t in range(mj.ntendon)):
        return {}
    pulled = [
        {"tendon": int(a.target[k]), **_input(model, int(k))} for k in np.flatnonzero(a.transmission == TENDON)
    ]  # fmt: skip
    return {
        "names": list(model.tendon_names), "width": mj.tendon_width.tolist(), "rgba": mj.tendon_rgba.tolist(),
        "paths": paths._asdict(), "pulled_by": pulled,
    }  # fmt: skip


def paths_of(tendons: dict[str, Any]) -> Paths:
    """The arrays of the paths, from an entry ``tendons``."""
    arrays = {name: np.array(value) for name, value in tendons["paths"].items()}
    n = len(arrays["kind"])
    shapes = {"pos": (n, 3), "rot": (n, 3, 3), "side_pos": (n, 3), "number": (n,)}
    return Paths(**{
        name: value.astype(float).reshape(shapes[name]) if name in shapes else value.astype(np.int64)
        for name, value in arrays.items()
    })  # fmt: skip


def _input(model: Model, k: int) -> dict[str, Any]:
    """Where the input of actuator k is: its control, or its activation where it has one, and its range."""
    place = int(model.activations.place[k])
    limits = model.activations.range[k] if place >= 0 else model.activations.control_range[k]
    low, high = (float(x) if np.isfinite(x) else None for x in limits)
    return {"actuator": k, "activation": place, "low": low, "high": high}


def input_of(entry: dict[str, Any], control: np.ndarray, act: np.ndarray) -> float:
    """The input of an actuator, within its range."""
    place = entry["activation"]
    return clipped(float(control[entry["actuator"]] if place < 0 else act[place]), entry["low"], entry["high"])


def clipped(value: float, low: float | None, high: float | None) -> float:
    """The value within limits; None is no limit."""
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)


def _sensors(model: Model) -> list[dict[str, Any]]:
    mj, bodies, found = model.mj, attach_bodies(model.mj)[0], dict[int, dict[str, Any]]()
    for i in np.flatnonzero(mj.sensor_objtype == mujoco.mjtObj.mjOBJ_SITE):
        site, kind = int(mj.sensor_objid[i]), sensor_kind(mj, int(i))
        if site not in found:
            link, pos, rot = bodies[mj.site_bodyid[site]].place(mj.site_pos[site], mj.site_quat[site])
            found[site] = {"site": mj.site(site).name, "link": link, "pos": pos, "rot": rot, "names": [], "kinds": []}
        found[site]["names"].append(mj.sensor(i).name or f"{kind} {i}")
        found[site]["kinds"].append(kind)
    return list(found.values())


def _thrusters(model: Model) -> list[dict[str, Any]]:
    a, found = model.actuators, []
    for k in np.flatnonzero(a.transmission == AT_SITE):
        own = np.delete(a.gain[k], 0).any() or a.bias[k].any() or a.muscle_gain[k]
        m = int(a.target[k])  # 1 where the wrench is in the axes of a reference site
        if own or not a.gear[k, :3].any():
            continue
        least, most = (float(x) if np.isfinite(x) else None for x in a.force_range[k])
        found.append({
            "name": model.actuator_names[k], **_input(model, int(k)), "gain": float(a.gain[k, 0]), "least": least,
            "most": most, "link": int(a.site_link[k, 0]), "pos": a.site_pos[k, 0],
            "axes_link": int(a.site_link[k, m]), "axis": a.site_rot[k, m] @ a.gear[k, :3],
        })  # fmt: skip
    return found


def thrust(entry: dict[str, Any], control: np.ndarray, act: np.ndarray) -> np.ndarray:
    """(3,) force of a thruster [N] in the axes of the link ``axes_link``."""
    value = clipped(entry["gain"] * input_of(entry, control, act), entry["least"], entry["most"])
    return value * np.array(entry["axis"], dtype=float)
