"""Checks of actuators: controls at the start, servos, muscles, delays, and forces against the weight."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.errors import listed
from stickslip.model.doctor.finding import Finding
from stickslip.model.doctor.home import data_at, home_configuration, home_keyframe
from stickslip.model.doctor.joint_drives import ON_JOINT, actuators_on, driven_otherwise, strongest_drive

GAIN, BIAS = mujoco.mjtGain, mujoco.mjtBias
LONG_DELAY = 1.0
"""[s] a longer delay is probably in milliseconds."""
SCALAR = (int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE))
AT_LIMIT = 1e-3
"""[rad or m] distance from a joint's limit within which the limit may hold the joint."""


def actuators(mj: mujoco.MjModel) -> list[Finding]:
    checks = (unlimited, controls, servos, muscles, delays, weak)
    return [finding for check in checks for finding in check(mj)] if mj.nu else []


def _named(mj: mujoco.MjModel, which: np.ndarray) -> str:
    return listed(f"actuator {mj.actuator(int(a)).name or int(a)!r}" for a in which)


def unlimited(mj: mujoco.MjModel) -> list[Finding]:
    held = mj.actuator_forcelimited.astype(bool) | mj.actuator_ctrllimited.astype(bool)
    on_joint = np.isin(mj.actuator_trntype, ON_JOINT)
    joint = np.where(on_joint, mj.actuator_trnid[:, 0], 0)
    held |= on_joint & (mj.jnt_actfrclimited[joint] != 0 if mj.njnt else False)
    free = np.flatnonzero(~held)
    if not len(free):
        return []
    message, remedy = "no force limit: it can push with any force", "set forcerange, or effort"
    return [Finding("note", "actuator-limits", _named(mj, free), message, remedy)]


def controls(mj: mujoco.MjModel) -> list[Finding]:
    """Compare the controls at the start with their ranges."""
    findings, k = [], home_keyframe(mj)
    start = np.zeros(mj.nu) if k is None else mj.key_ctrl[k]
    low, high = mj.actuator_ctrlrange[: mj.nu].T
    limited = mj.actuator_ctrllimited[: mj.nu] != 0
    empty = np.flatnonzero(limited & (low >= high))
    if len(empty):
        message, remedy = "the control range is empty: lower ≥ upper", "correct ctrlrange"
        findings.append(Finding("error", "control-range", _named(mj, empty), message, remedy))
    outside = limited & (low < high) & ((start < low) | (start > high))
    given = outside & (start != 0.0)
    for some, severity, message, remedy in (
        (given, "warning", "the keyframe's control is outside the control range and will be clipped", "correct either"),
        (outside & ~given, "note", "the control range does not contain 0, the control at the start: it begins at the "
         "nearer end", "give the controls in a keyframe 'home', or set them before the first step"),
    ):  # fmt: skip
        if some.any():
            where = _named(mj, np.flatnonzero(some))
            findings.append(Finding(severity, "control-range", where, message, remedy))  # type: ignore[arg-type]
    return findings


def servos(mj: mujoco.MjModel) -> list[Finding]:
    """Find position servos without any damping, and servos that push away from their target."""
    affine = mj.actuator_biastype == BIAS.mjBIAS_AFFINE
    bare = []
    for a in np.flatnonzero(affine & (mj.actuator_biasprm[:, 1] < 0.0) & np.isin(mj.actuator_trntype, ON_JOINT)):
        j = int(mj.actuator_trnid[a, 0])
        if int(mj.jnt_type[j]) not in SCALAR:
            continue
        d, own = mj.jnt_dofadr[j], actuators_on(mj, j)
        damped = mj.dof_damping[d] > 0.0 or mj.dof_frictionloss[d] > 0.0 or mj.dof_dampingpoly[d].any()
        damped |= bool((affine[own] & (mj.actuator_biasprm[own, 2] < 0.0)).any())
        if not (damped or mj.actuator_damping[own].any() or mj.actuator_dampingpoly[own].any()):
            bare.append(int(a))
    findings = []
    if bare:
        message = "a position servo without damping, on a joint without damping: it swings for ever"
        remedy = "set kv or dampratio of the servo, or damping of the joint"
        findings.append(Finding("warning", "servo-damping", _named(mj, np.array(bare)), message, remedy))
    for column, what, remedy in (
        (1, "its force grows with its length, which drives it away", "biasprm[1] should be −kp"),
        (2, "its force grows with its velocity, which feeds energy in", "biasprm[2] should be −kv"),
    ):
        wrong = np.flatnonzero(affine & (mj.actuator_biasprm[:, column] > 0.0))
        if len(wrong):
            findings.append(Finding("warning", "servo-sign", _named(mj, wrong), what, f"correct the sign: {remedy}"))
    return findings


def muscles(mj: mujoco.MjModel) -> list[Finding]:
    muscle = (mj.actuator_gaintype == GAIN.mjGAIN_MUSCLE) | (mj.actuator_biastype == BIAS.mjBIAS_MUSCLE)
    low, high = mj.actuator_lengthrange.T
    bare = np.flatnonzero(muscle & (low >= high))
    if not len(bare):
        return []
    message = "a muscle without a length range: its force is undefined"
    remedy = 'set lengthrange, or <lengthrange mode="muscle"/> in the compiler\'s options'
    return [Finding("error", "muscle", _named(mj, bare), message, remedy)]


def delays(mj: mujoco.MjModel) -> list[Finding]:
    findings, dt = [], float(mj.opt.timestep)
    long, short = mj.actuator_delay > LONG_DELAY, (mj.actuator_delay > 0.0) & (mj.actuator_delay < dt)
    if long.any():
        message = f"its control acts {mj.actuator_delay.max():.3g} s late"
        remedy = "delay is in seconds; divide it by 1000 if it was meant in milliseconds"
        findings.append(Finding("warning", "delay", _named(mj, np.flatnonzero(long)), message, remedy))
    if short.any():
        message = f"its delay is shorter than the file's time step of {dt:g} s, which cannot resolve it"
        remedy = "take a smaller dt, or leave the delay out"
        findings.append(Finding("note", "delay", _named(mj, np.flatnonzero(short)), message, remedy))
    return findings


def weak(mj: mujoco.MjModel) -> list[Finding]:
    """Find joints whose actuators cannot hold, at the start, the weight of the bodies that they carry. Robots that are
    free to move are left out, because the ground may carry them."""
    pose, q = home_configuration(mj)
    data, other, findings = data_at(mj, q), driven_otherwise(mj), []
    for j in np.flatnonzero(np.isin(mj.jnt_type, SCALAR) & ~other):
        d, most = mj.jnt_dofadr[j], strongest_drive(mj, int(j))
        root = mj.body_rootid[mj.jnt_bodyid[j]]
        if most is None or mj.jnt_type[mj.body_jntadr[root]] == mujoco.mjtJoint.mjJNT_FREE:
            continue
        needed = float(data.qfrc_bias[d] - data.qfrc_passive[d])
        x, (low, high) = q[mj.jnt_qposadr[j]], mj.jnt_range[j]
        stopped = mj.jnt_limited[j] and (x > high - AT_LIMIT if needed < 0.0 else x < low + AT_LIMIT)
        if abs(needed) > most + mj.dof_frictionloss[d] and not stopped:
            unit = "N m" if mj.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE else "N"
            message = (
                f"its actuators give at most {most:.3g} {unit}, but the weight of what it carries needs "
                f"{abs(needed):.3g} {unit} in {pose}"
            )
            remedy = "raise forcerange, ctrlrange or gear, or check masses and units"
            findings.append(Finding("warning", "too-weak", f"joint {mj.joint(j).name!r}", message, remedy))
    return findings
