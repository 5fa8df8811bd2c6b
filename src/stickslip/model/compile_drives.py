"""From MuJoCo's compiled model to the arrays of tendons, actuators and activations."""

from __future__ import annotations

from collections.abc import Sequence, Sized

import mujoco
import numpy as np

from stickslip.errors import expected
from stickslip.model.arrays import (
    CYLINDER,
    INTEGRATOR,
    ON_JOINT,
    PULLEY,
    SITE,
    SPHERE,
    Activations,
    Actuators,
    Inertia,
    Support,
    Tendons,
    Tree,
)
from stickslip.model.arrays import JOINT_NV as NV
from stickslip.model.compile import Attachment, spring_of_solref

TRN, DYN, GAIN, BIAS = mujoco.mjtTrn, mujoco.mjtDyn, mujoco.mjtGain, mujoco.mjtBias
JOINT_NV = np.array(NV)
UNLIMITED = np.array([-np.inf, np.inf])


def _limits(limited: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(n, 2) ranges; ±inf where nothing is limited."""
    return np.where(limited.reshape(-1, 1) != 0, values.reshape(-1, 2), UNLIMITED).astype(float)


def disabled_actuators(mj: mujoco.MjModel) -> np.ndarray:
    """(nu,) whether the option ``actuatorgroupdisable`` switches the actuator off."""
    group = mj.actuator_group
    return (group >= 0) & (group <= 30) & ((mj.opt.disableactuator >> group.clip(0, 30)) & 1 != 0)


def tendon_armature(mj: mujoco.MjModel) -> np.ndarray:
    """(nt,) armature of tendons, and of the actuators that pull at them, times the gear squared."""
    armature = mj.tendon_armature.astype(float)
    for k in np.flatnonzero(mj.actuator_trntype == TRN.mjTRN_TENDON):
        armature[mj.actuator_trnid[k, 0]] += mj.actuator_gear[k, 0] ** 2 * mj.actuator_armature[k]
    return armature


def with_cables(inertia: Inertia, tendons: Tendons, tree: Tree, support: Support, names: Sequence[str]) -> Inertia:
    """The inertia with that of tendons, which must not join several branches of the tree."""
    which, rows = np.flatnonzero(tendons.armature > 0.0), []
    pick = [np.arange(tendons.start[t], tendons.start[t + 1]) for t in which]
    for t, own in zip(which, pick, strict=True):
        found: set[int] = set()
        for e in own:
            if tendons.kind[e] == PULLEY:
                continue
            on = int(tendons.on[e])
            d = int(tree.joint_v[on] if tendons.kind[e] == ON_JOINT else support.link_dof[on + 1] - 1 if on else -1)
            found |= {d} if tendons.kind[e] == ON_JOINT else set(support.column[_row(support, d)].tolist())
        if not found <= set(support.column[_row(support, max(found, default=-1))].tolist()):
            what = f"armature of tendon {names[int(t)]!r}"
            raise expected(what, "joints of which each carries the next", "several branches", "set it to 0")
        rows.append(sorted(found))
    chosen = np.concatenate([np.zeros(0, dtype=np.int64), *pick])
    on = tendons.on[chosen].copy()
    joints = tendons.kind[chosen] == ON_JOINT
    on[joints] = tree.joint_v[on[joints]]
    return inertia._replace(
        cable_armature=tendons.armature[which], cable_start=_starts(pick), cable_kind=tendons.kind[chosen], cable_on=on,
        cable_number=tendons.number[chosen], cable_pos=tendons.pos[chosen], cable_row=_starts(rows),
        cable_column=np.array([d for row in rows for d in row], dtype=np.int64),
    )  # fmt: skip


def _row(support: Support, d: int) -> slice:
    return slice(0, 0) if d < 0 else slice(support.start[d], support.start[d + 1])


def _starts(lists: Sequence[Sized]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(x) for x in lists])]).astype(np.int64)


def build_tendons(mj: mujoco.MjModel, bodies: list[Attachment]) -> Tendons:
    """Paths, springs, dampers and limits of the tendons.

    Damping of an actuator that pulls at a tendon is the tendon's, times the gear squared. A limit is a one-sided
    spring-damper with MuJoCo's solref time constant and the tendon's own inertia at the reference configuration.
    """
    nt, ne = mj.ntendon, mj.nwrap
    on, side, side_link = (np.zeros(ne, dtype=np.int64) for _ in range(3))
    pos, rot, side_pos = np.zeros((ne, 3)), np.tile(np.eye(3), (ne, 1, 1)), np.zeros((ne, 3))
    number = np.ones(ne)
    for e in range(ne):
        kind, i = int(mj.wrap_type[e]), int(mj.wrap_objid[e])
        if kind == ON_JOINT:
            on[e], number[e] = i, mj.wrap_prm[e]
        elif kind == PULLEY:
            number[e] = mj.wrap_prm[e]
        elif kind == SITE:
            on[e], pos[e], rot[e] = _site(mj, bodies, i)
        elif kind in (SPHERE, CYLINDER):
            on[e], pos[e], rot[e] = bodies[mj.geom_bodyid[i]].place(mj.geom_pos[i], mj.geom_quat[i])
            number[e] = mj.geom_size[i, 0]
            s = round(float(mj.wrap_prm[e]))
            if s >= 0:
                side[e] = 1
                side_link[e], side_pos[e], _ = _site(mj, bodies, s)
    stiffness = np.column_stack([mj.tendon_stiffness, mj.tendon_stiffnesspoly.reshape(nt, 2)])
    damping = np.column_stack([mj.tendon_damping, mj.tendon_dampingpoly.reshape(nt, 2)])
    for k in np.flatnonzero(mj.actuator_trntype == TRN.mjTRN_TENDON):
        own = np.array([mj.actuator_damping[k], *mj.actuator_dampingpoly[k]])
        damping[mj.actuator_trnid[k, 0]] += mj.actuator_gear[k, 0] ** 2 * own
    limit_stiffness, limit_damping = np.zeros(nt), np.zeros(nt)
    armature = tendon_armature(mj)
    for t in range(nt):
        inertia = 1.0 / max(float(mj.tendon_invweight0[t]), 1e-15)
        limit_stiffness[t], limit_damping[t] = spring_of_solref(
            mj.tendon_solref_lim[t], mj.tendon_solimp_lim[t], inertia
        )
    return Tendons(
        start=np.concatenate([mj.tendon_adr, [ne]]).astype(np.int64), kind=mj.wrap_type.astype(np.int64), on=on,
        number=number, pos=pos, rot=rot, side=side, side_link=side_link, side_pos=side_pos,
        stiffness=stiffness.astype(float), spring_range=mj.tendon_lengthspring.astype(float).reshape(nt, 2),
        damping=damping.astype(float), limited=mj.tendon_limited.astype(np.int64),
        range=mj.tendon_range.reshape(nt, 2) + np.outer(mj.tendon_margin, [1.0, -1.0]), limit_stiffness=limit_stiffness,
        limit_damping=limit_damping, frictionloss=mj.tendon_frictionloss.astype(float), armature=armature,
        force_range=_limits(mj.tendon_actfrclimited, mj.tendon_actfrcrange),
    )  # fmt: skip


def _site(mj: mujoco.MjModel, bodies: list[Attachment], s: int) -> tuple[int, np.ndarray, np.ndarray]:
    return bodies[mj.site_bodyid[s]].place(mj.site_pos[s], mj.site_quat[s])


def build_actuators(mj: mujoco.MjModel, bodies: list[Attachment]) -> Actuators:
    """Transmissions, gains and biases. Kinds that are not simulated were refused before."""
    nu, off = mj.nu, disabled_actuators(mj)
    gain, bias = np.zeros((nu, 9)), np.zeros((nu, 9))
    muscle_gain, muscle_bias = (
        (mj.actuator_gaintype == GAIN.mjGAIN_MUSCLE),
        (mj.actuator_biastype == BIAS.mjBIAS_MUSCLE),
    )
    site_link, site_pos = np.zeros((nu, 2), dtype=np.int64), np.zeros((nu, 2, 3))
    site_rot = np.tile(np.eye(3), (nu, 2, 1, 1))
    target = mj.actuator_trnid[:, 0].astype(np.int64)
    for k in np.flatnonzero(~off):
        count = {int(GAIN.mjGAIN_FIXED): 1, int(GAIN.mjGAIN_AFFINE): 3}.get(int(mj.actuator_gaintype[k]), 9)
        gain[k, :count] = mj.actuator_gainprm[k, :count]
        count = {int(BIAS.mjBIAS_NONE): 0, int(BIAS.mjBIAS_AFFINE): 3}.get(int(mj.actuator_biastype[k]), 9)
        bias[k, :count] = mj.actuator_biasprm[k, :count]
    for k in np.flatnonzero(np.isin(mj.actuator_trntype, (TRN.mjTRN_SITE, TRN.mjTRN_SLIDERCRANK))):
        for m, site in enumerate(mj.actuator_trnid[k].tolist()):
            if site >= 0:
                site_link[k, m], site_pos[k, m], site_rot[k, m] = _site(mj, bodies, site)
        target[k] = mj.actuator_trnid[k, 1] >= 0
    driven = mj.actuator_dyntype != DYN.mjDYN_NONE
    scalar = np.isin(mj.jnt_type, (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE))
    joint_range = np.tile(UNLIMITED, (mj.nv, 1))
    joint_range[mj.jnt_dofadr[scalar]] = _limits(mj.jnt_actfrclimited, mj.jnt_actfrcrange)[scalar]
    lifts = np.repeat(mj.jnt_actgravcomp, JOINT_NV[mj.jnt_type]) if mj.body_gravcomp.any() else np.zeros(mj.nv)
    if nu == 0:  # where there are no actuators, MuJoCo has nothing that compensates
        joint_range[lifts != 0] = 0.0
    return Actuators(
        transmission=mj.actuator_trntype.astype(np.int64), target=target, gear=mj.actuator_gear.astype(float),
        muscle_gain=(muscle_gain & ~off).astype(np.int64), gain=gain,
        muscle_bias=(muscle_bias & ~off).astype(np.int64), bias=bias,
        length_range=mj.actuator_lengthrange.astype(float), peak=mj.actuator_acc0.astype(float),
        site_link=site_link, site_pos=site_pos, site_rot=site_rot, rod=mj.actuator_cranklength.astype(float),
        control_range=_limits(mj.actuator_ctrllimited & ~driven, mj.actuator_ctrlrange),
        force_range=_limits(mj.actuator_forcelimited, mj.actuator_forcerange), joint_range=joint_range,
        lifts=lifts.astype(np.int64),
    )  # fmt: skip


def build_activations(mj: mujoco.MjModel) -> Activations:
    """The activations' dynamics; those of switched-off actuators stay as they are."""
    off = disabled_actuators(mj)
    control_range = _limits(mj.actuator_ctrllimited, mj.actuator_ctrlrange)
    control_range[off] = 0.0  # as integrators of nothing
    return Activations(
        place=mj.actuator_actadr.astype(np.int64), dynamics=np.where(off, INTEGRATOR, mj.actuator_dyntype),
        numbers=mj.actuator_dynprm[:, :3].astype(float), control_range=control_range,
        range=_limits(mj.actuator_actlimited, mj.actuator_actrange), early=mj.actuator_actearly.astype(np.int64),
        delay=mj.actuator_delay.astype(float), interpolation=mj.actuator_history[:, 1].astype(np.int64),
    )  # fmt: skip
