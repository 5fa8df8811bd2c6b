"""The setter of an actuator's gains, gear and ranges.

Force = gain·u + bias with an affine bias b₀ + b₁·ℓ + b₂·ℓ̇. A position servo has gain = kp and bias (0, −kp, −kv), a
velocity servo gain = kv and bias (0, 0, −kv). What kind an actuator is, is decided when it is first set, so that gains
may pass through zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from stickslip.errors import expected, number, unknown
from stickslip.model.setters import LIMITED, element, refresh, something, vector

if TYPE_CHECKING:
    from stickslip.model.model import Model

GAIN, BIAS = mujoco.mjtGain, mujoco.mjtBias


def servo_kind(mj: mujoco.MjModel, a: int) -> str:
    """ "position", "velocity" or "" for anything else."""
    gain, bias = mj.actuator_gainprm[a, 0], mj.actuator_biasprm[a, :3]
    if mj.actuator_gaintype[a] != GAIN.mjGAIN_FIXED or mj.actuator_biastype[a] != BIAS.mjBIAS_AFFINE or bias[0] != 0.0:
        return ""
    if gain != 0.0 and bias[1] == -gain:
        return "position"
    return "velocity" if gain != 0.0 and bias[1] == 0.0 and bias[2] == -gain else ""


def numbers(what: str, value: Any, most: int, size: int) -> np.ndarray:
    """(size,) from a number or up to ``most`` of them; the others are 0."""
    try:
        array = np.atleast_1d(np.array(value, dtype=float))
    except (TypeError, ValueError, OverflowError):
        array = np.zeros(0)
    if array.ndim != 1 or not 1 <= len(array) <= most or not np.isfinite(array).all():
        raise expected(what, "a finite number" if most == 1 else f"1 to {most} finite numbers", value)
    return np.concatenate([array, np.zeros(size - len(array))])


def limits(what: str, value: Any) -> np.ndarray:
    """(2,) a range; ±inf where there is none."""
    found = vector(what, value, 2, infinite=True)
    if not found[0] < found[1]:
        raise expected(what, "lower < upper", value)
    if np.isinf(found).any() and not np.isinf(found).all():
        raise expected(what, "two finite limits, or (-inf, inf) for none", value)
    return found


def set_actuator(model: Model, name: str, **values: Any) -> None:
    """``Model.set_actuator``."""
    mj, given = model.mj, something("set_actuator", values)
    if name not in model.actuator_names:
        raise unknown("actuator", str(name), model.actuator_names)
    a, who = model.actuator_names.index(name), f"of actuator {name!r}"
    kind = model.edits.servos.setdefault(a, servo_kind(mj, a))
    gain, bias, gear = mj.actuator_gainprm[a].copy(), mj.actuator_biasprm[a].copy(), mj.actuator_gear[a].copy()
    for key in ("kp", "kv"):
        if key not in given:
            continue
        value = number(f"{key} {who}", given[key], "a number ≥ 0", least=0.0)
        if kind == "" or (key == "kp" and kind != "position"):
            wanted = "a position servo" if key == "kp" else "a position or velocity servo"
            raise expected(f"{key} {who}", wanted, kind or "another kind of actuator", "give gain and bias")
        if key == "kp":
            gain[0], bias[1] = value, -value
        else:
            bias[2] = -value
            gain[0] = value if kind == "velocity" else gain[0]
    if "gain" in given:
        if mj.actuator_gaintype[a] == GAIN.mjGAIN_MUSCLE:
            raise expected(f"gain {who}", "an actuator with a fixed or affine one", "a muscle")
        gain[:3] = numbers(f"gain {who}", given["gain"], 1 if mj.actuator_gaintype[a] == GAIN.mjGAIN_FIXED else 3, 3)
    if "bias" in given:
        if mj.actuator_biastype[a] == BIAS.mjBIAS_MUSCLE:
            raise expected(f"bias {who}", "an actuator without a bias or with an affine one", "a muscle")
        bias[:3] = numbers(f"bias {who}", given["bias"], 3, 3)
    if "gear" in given:
        gear = numbers(f"gear {who}", given["gear"], 6, 6)
    ranges = {key: limits(f"{key} {who}", given[key]) for key in ("control_range", "force_range") if key in given}
    mj.actuator_gainprm[a], mj.actuator_biasprm[a], mj.actuator_gear[a] = gain, bias, gear
    if "bias" in given:
        mj.actuator_biastype[a] = BIAS.mjBIAS_AFFINE
    spec = element(model, "actuators", a)
    if spec is not None:
        spec.gainprm, spec.biasprm, spec.gear = gain, bias, gear
        spec.biastype = BIAS(mj.actuator_biastype[a])
    for key, found in ranges.items():
        short, bounded = {"control_range": "ctrl", "force_range": "force"}[key], bool(np.isfinite(found).all())
        getattr(mj, f"actuator_{short}limited")[a] = bounded
        getattr(mj, f"actuator_{short}range")[a] = found if bounded else 0.0
        if spec is not None:
            setattr(spec, f"{short}limited", LIMITED.mjLIMITED_TRUE if bounded else LIMITED.mjLIMITED_FALSE)
            setattr(spec, f"{short}range", found if bounded else np.zeros(2))
    refresh(model)
