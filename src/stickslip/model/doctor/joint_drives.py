"""How strongly actuators can drive a single joint."""

from __future__ import annotations

import mujoco
import numpy as np

TRN, GAIN, BIAS = mujoco.mjtTrn, mujoco.mjtGain, mujoco.mjtBias
ON_JOINT = (TRN.mjTRN_JOINT, TRN.mjTRN_JOINTINPARENT)
LOOPS = (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD))


def strongest_force(mj: mujoco.MjModel, a: int) -> float:
    """The largest size of an actuator's force; ∞ if nothing limits it."""
    most = np.inf
    if mj.actuator_forcelimited[a]:
        most = float(np.abs(mj.actuator_forcerange[a]).max())
    plain = mj.actuator_gaintype[a] == GAIN.mjGAIN_FIXED and mj.actuator_biastype[a] == BIAS.mjBIAS_NONE
    if plain:
        ranges = []
        if mj.actuator_actadr[a] < 0 and mj.actuator_ctrllimited[a]:
            ranges.append(mj.actuator_ctrlrange[a])
        if mj.actuator_actadr[a] >= 0 and mj.actuator_actlimited[a]:
            ranges.append(mj.actuator_actrange[a])
        for values in ranges:
            most = min(most, abs(float(mj.actuator_gainprm[a, 0])) * float(np.abs(values).max()))
    return most


def actuators_on(mj: mujoco.MjModel, j: int) -> np.ndarray:
    """The actuators that act on joint j alone."""
    return np.flatnonzero(np.isin(mj.actuator_trntype, ON_JOINT) & (mj.actuator_trnid[:, 0] == j))


def strongest_drive(mj: mujoco.MjModel, j: int) -> float | None:
    """The largest force of all actuators of a hinge or slide together; None if it has none."""
    own = actuators_on(mj, j)
    if not len(own):
        return None
    most = sum(abs(float(mj.actuator_gear[a, 0])) * strongest_force(mj, int(a)) for a in own)
    if mj.jnt_actfrclimited[j]:
        most = min(most, float(np.abs(mj.jnt_actfrcrange[j]).max()))
    return float(most)


def driven_otherwise(mj: mujoco.MjModel) -> np.ndarray:
    """(njnt,) whether tendons, sites, couplings or closed loops may also act on a joint."""
    found = np.zeros(mj.njnt, dtype=bool)
    for t in range(mj.ntendon):
        for w in range(mj.tendon_adr[t], mj.tendon_adr[t] + mj.tendon_num[t]):
            if mj.wrap_type[w] == mujoco.mjtWrap.mjWRAP_JOINT:
                found[mj.wrap_objid[w]] = True
            elif mj.wrap_type[w] == mujoco.mjtWrap.mjWRAP_SITE:
                _mark_above(mj, int(mj.site_bodyid[mj.wrap_objid[w]]), found)
    for a in np.flatnonzero(np.isin(mj.actuator_trntype, (TRN.mjTRN_SITE, TRN.mjTRN_SLIDERCRANK))):
        _mark_above(mj, int(mj.site_bodyid[mj.actuator_trnid[a, 0]]), found)
    for e in range(mj.neq):
        one, two = int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])
        if mj.eq_type[e] == mujoco.mjtEq.mjEQ_JOINT:
            found[[j for j in (one, two) if j >= 0]] = True
        elif int(mj.eq_type[e]) in LOOPS:
            site = mj.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE
            for i in (one, two):
                _mark_above(mj, int(mj.site_bodyid[i]) if site else i, found)
    return found


def _mark_above(mj: mujoco.MjModel, body: int, found: np.ndarray) -> None:
    """Mark the joints between a body and the world."""
    while body > 0:
        found[mj.body_jntadr[body] : mj.body_jntadr[body] + mj.body_jntnum[body]] = True
        body = int(mj.body_parentid[body])
