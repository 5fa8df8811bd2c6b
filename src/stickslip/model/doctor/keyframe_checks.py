"""Checks of keyframes, and of loops and couplings at the start."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.errors import listed
from stickslip.model.doctor.finding import Finding
from stickslip.model.doctor.home import ROUNDING, data_at, home_configuration, home_keyframe, joint_value

OPEN = 1e-3
"""[m or rad] error of a loop or coupling that is reported."""
DEEP = 1e-3
"""[m] overlap in a keyframe that is reported."""
UNIT = 1e-6
"""Deviation of a quaternion's norm from 1 that is reported."""
MOST_KEYFRAMES = 20
"""Keyframes that are examined."""


def keyframes(mj: mujoco.MjModel) -> list[Finding]:
    """Examine the start, whose limits and overlaps have checks of their own, and all other keyframes."""
    pose, q = home_configuration(mj)
    home = home_keyframe(mj)
    findings = _quaternions(mj, pose, q) + _open(mj, data_at(mj, q, home), pose)
    for k in range(min(mj.nkey, MOST_KEYFRAMES)):
        if k != home:
            name, q = f"keyframe {mj.key(k).name or k!r}", mj.key_qpos[k]
            data = data_at(mj, q, k)
            findings += _quaternions(mj, name, q) + _outside(mj, name, q) + _open(mj, data, name)
            findings += _overlaps(mj, data, name)
    return findings


def _quaternions(mj: mujoco.MjModel, name: str, q: np.ndarray) -> list[Finding]:
    bad = []
    for j in range(mj.njnt):
        first = {mujoco.mjtJoint.mjJNT_FREE: 3, mujoco.mjtJoint.mjJNT_BALL: 0}.get(mujoco.mjtJoint(mj.jnt_type[j]))
        if first is not None:
            i = mj.jnt_qposadr[j] + first
            if abs(float(np.linalg.norm(q[i : i + 4])) - 1.0) > UNIT:
                bad.append(f"joint {mj.joint(j).name!r}")
    if not bad:
        return []
    message = f"the quaternion of {listed(bad)} is not of unit length"
    return [Finding("warning", "keyframe", name, message, "divide it by its norm; (1, 0, 0, 0) is no rotation")]


def _outside(mj: mujoco.MjModel, name: str, q: np.ndarray) -> list[Finding]:
    found = []
    for j in np.flatnonzero(mj.jnt_limited):
        value, low, high = joint_value(mj, q, int(j))
        if not low - ROUNDING <= value <= high + ROUNDING:
            found.append(f"joint {mj.joint(j).name!r} at {value:.4g} ({low:.4g} … {high:.4g})")
    if not found:
        return []
    message = f"puts joints outside their range: {listed(found)}"
    return [Finding("warning", "keyframe", name, message, "correct the keyframe or the range")]


def _open(mj: mujoco.MjModel, data: mujoco.MjData, pose: str) -> list[Finding]:
    """Find loops and couplings that are not closed."""
    worst: dict[int, float] = {}
    for r in range(data.nefc):
        if data.efc_type[r] == mujoco.mjtConstraint.mjCNSTR_EQUALITY:
            e = int(data.efc_id[r])
            worst[e] = max(worst.get(e, 0.0), abs(float(data.efc_pos[r])))
    findings = []
    for e, error in worst.items():
        if error > OPEN:
            kind = mujoco.mjtEq(mj.eq_type[e]).name.removeprefix("mjEQ_").lower()
            message = f"{pose} violates it by {error:.3g} m or rad"
            remedy = "correct the configuration; the first steps will pull it together"
            where = f"equality {mj.equality(e).name!r} ({kind})" if mj.equality(e).name else f"equality {e} ({kind})"
            findings.append(Finding("warning", "keyframe-open", where, message, remedy))
    return findings


def _overlaps(mj: mujoco.MjModel, data: mujoco.MjData, name: str) -> list[Finding]:
    deepest = min(data.contact[: data.ncon], key=lambda c: c.dist, default=None)
    if deepest is None or deepest.dist > -DEEP or min(deepest.geom) < 0:
        return []
    a, b = (mj.body(int(mj.geom_bodyid[g])).name for g in deepest.geom)
    message = f"bodies {a!r} and {b!r} overlap by {-1e3 * deepest.dist:.3g} mm, the deepest of its overlaps"
    return [Finding("note", "keyframe", name, message, "move them apart if simulations shall begin there")]
