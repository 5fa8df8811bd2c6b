"""The configuration in which a model starts, as the checks see it, and MuJoCo's quantities there."""

from __future__ import annotations

import mujoco
import numpy as np

ROUNDING = 1e-6
"""[m or rad] how far outside a range is not reported: keyframes are written with few digits."""


def home_keyframe(mj: mujoco.MjModel) -> int | None:
    """The keyframe ``home``, or the first one; None if there is none."""
    names = [mj.key(k).name for k in range(mj.nkey)]
    if not names:
        return None
    return names.index("home") if "home" in names else 0


def home_configuration(mj: mujoco.MjModel) -> tuple[str, np.ndarray]:
    """The keyframe ``home``, or the first one, or the reference configuration."""
    k = home_keyframe(mj)
    if k is None:
        return "the reference configuration", mj.qpos0.copy()
    return f"keyframe {mj.key(k).name or k!r}", mj.key_qpos[k].copy()


def data_at(mj: mujoco.MjModel, q: np.ndarray, key: int | None = None) -> mujoco.MjData:
    """MuJoCo's poses, tendon lengths, constraints and forces at rest in the configuration q, without controls; mocap
    bodies are where the keyframe ``key`` puts them."""
    data = mujoco.MjData(mj)
    data.qpos[:] = q
    if key is not None and mj.nmocap:
        data.mocap_pos[:], data.mocap_quat[:] = mj.key_mpos[key].reshape(-1, 3), mj.key_mquat[key].reshape(-1, 4)
    mujoco.mj_fwdPosition(mj, data)
    mujoco.mj_fwdVelocity(mj, data)
    return data


def joint_value(mj: mujoco.MjModel, q: np.ndarray, j: int) -> tuple[float, float, float]:
    """(coordinate, lower, upper limit) of a limited joint; of a ball joint the angle from its reference."""
    low, high = mj.jnt_range[j]
    i = mj.jnt_qposadr[j]
    if mj.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
        return 2.0 * float(np.arccos(np.clip(abs(q[i]), 0.0, 1.0))), 0.0, float(high)
    return float(q[i]), float(low), float(high)
