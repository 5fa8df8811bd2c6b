"""Checks of joints: dry friction against what can move the joint, and gravity compensation."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.errors import listed
from stickslip.model.doctor.finding import Finding
from stickslip.model.doctor.home import data_at, home_configuration
from stickslip.model.doctor.joint_drives import driven_otherwise, strongest_drive

MUCH = 10.0
"""Dry friction above this multiple of the moment of a joint's own weight is probably in a wrong unit."""
SCALAR = (int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE))


def dry_friction(mj: mujoco.MjModel) -> list[Finding]:
    """Find joints whose dry friction is more than their actuators can overcome, or far more than their weight."""
    findings, other = [], driven_otherwise(mj)
    reach = _weight_moments(mj) if mj.dof_frictionloss.any() else np.zeros(mj.njnt)
    for j in np.flatnonzero(np.isin(mj.jnt_type, SCALAR)):
        friction, most = float(mj.dof_frictionloss[mj.jnt_dofadr[j]]), strongest_drive(mj, int(j))
        unit = "N m" if mj.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE else "N"
        where = f"joint {mj.joint(j).name!r}"
        if friction <= 0.0:
            continue
        if most is not None and friction >= most and not other[j]:
            message = (
                f"dry friction of {friction:.3g} {unit} holds it, since its actuators give at most {most:.3g} {unit}"
            )
            remedy = "reduce frictionloss, check its unit, or raise the actuator's forcerange"
            findings.append(Finding("warning", "joint-friction", where, message, remedy))
        elif most is None and not other[j] and 0.0 < MUCH * reach[j] < friction:
            message = (
                f"dry friction of {friction:.3g} {unit} is {friction / reach[j]:.2g} times what the weight on it can "
                f"give ({reach[j]:.3g} {unit})"
            )
            remedy = f"check the unit of frictionloss ({unit})"
            findings.append(Finding("warning", "joint-friction", where, message, remedy))
    return findings


def _weight_moments(mj: mujoco.MjModel) -> np.ndarray:
    """(njnt,) an upper bound on the force or moment that gravity gives in a joint."""
    data, found = data_at(mj, home_configuration(mj)[1]), np.zeros(mj.njnt)
    weight = mj.body_mass * float(np.linalg.norm(mj.opt.gravity))
    for j in range(mj.njnt):
        inside = [int(mj.jnt_bodyid[j])]
        for b in range(inside[0] + 1, mj.nbody):
            if mj.body_parentid[b] in inside:
                inside.append(b)
        arms = np.linalg.norm(data.xipos[inside] - data.xanchor[j], axis=1)
        hinge = mj.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE
        found[j] = float(weight[inside] @ (arms if hinge else np.ones(len(inside))))
    return found


def gravity_compensation(mj: mujoco.MjModel) -> list[Finding]:
    """Find bodies that gravity compensation lifts, or makes heavier."""
    findings = []
    for wrong, what in (
        (mj.body_gravcomp > 1.0, "lifts it with more than its weight"),
        (mj.body_gravcomp < 0.0, "makes it heavier"),
    ):
        some = np.flatnonzero(wrong & (mj.body_mass > 0.0))
        if len(some):
            values = ", ".join(sorted({f"{x:g}" for x in mj.body_gravcomp[some]}))
            message = f"a gravcomp of {values} {what}"
            remedy = "1 compensates the whole weight; it is a fraction, not a percentage"
            where = listed(f"body {mj.body(int(b)).name!r}" for b in some)
            findings.append(Finding("warning", "gravcomp", where, message, remedy))
    return findings
