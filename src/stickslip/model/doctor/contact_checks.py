"""Checks of contact parameters: margins, priorities, explicit pairs, and coefficients that condim asks for."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.errors import listed
from stickslip.model.doctor.finding import Finding
from stickslip.model.importers.features import OBJ, colliding, element_name

PLANE, HFIELD = mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD


def contacts(mj: mujoco.MjModel) -> list[Finding]:
    return margins(mj) + ties(mj) + pairs(mj) + coefficients(mj)


def _named(mj: mujoco.MjModel, which: np.ndarray) -> str:
    return listed(element_name(mj, OBJ.mjOBJ_GEOM, int(g)) for g in which)


def margins(mj: mujoco.MjModel) -> list[Finding]:
    half = mj.geom_aabb[:, 3:].min(axis=1)
    solid = colliding(mj) & ~np.isin(mj.geom_type, (PLANE, HFIELD))
    wide = np.flatnonzero(solid & (mj.geom_margin > half))
    if not len(wide):
        return []
    message = f"a margin of {mj.geom_margin[wide].max():.3g} m inflates it by more than its own half width"
    return [Finding("warning", "margin", _named(mj, wide), message, "check the unit of margin (m)")]


def ties(mj: mujoco.MjModel) -> list[Finding]:
    """Find pairs that both claim priority, but say different things."""
    some = np.flatnonzero(colliding(mj) & (mj.geom_priority != 0))
    found = []
    for n, a in enumerate(some):
        for b in some[n + 1 :]:
            masks = (mj.geom_contype[a] & mj.geom_conaffinity[b]) | (mj.geom_contype[b] & mj.geom_conaffinity[a])
            apart = mj.body_weldid[mj.geom_bodyid[a]] != mj.body_weldid[mj.geom_bodyid[b]]
            differ = mj.geom_condim[a] != mj.geom_condim[b] or np.any(mj.geom_friction[a] != mj.geom_friction[b])
            if masks and apart and differ and mj.geom_priority[a] == mj.geom_priority[b]:
                found.append(_named(mj, np.array([a, b])))
    if not found:
        return []
    message = "both have the same priority: neither dictates, and the larger values count"
    return [Finding("note", "priority", listed(found, 2), message, "give one of the two a higher priority")]


def pairs(mj: mujoco.MjModel) -> list[Finding]:
    findings = []
    for p in range(mj.npair):
        g = np.array([mj.pair_geom1[p], mj.pair_geom2[p]])
        one, two = mj.body_weldid[mj.geom_bodyid[g]]
        if one == two:
            what = "both are fixed" if one == 0 else f"both are on body {mj.body(int(one)).name!r}"
            message = f"this pair can do nothing, because {what}"
            findings.append(Finding("warning", "pair", _named(mj, g), message, "remove it, or name another geom"))
    return findings


def coefficients(mj: mujoco.MjModel) -> list[Finding]:
    """Find contacts that ask for torsional or rolling friction but have no coefficients for it."""
    findings, shapes = [], colliding(mj)
    missing = ((mj.geom_condim >= 4) & (mj.geom_friction[:, 1] == 0.0)) | (
        (mj.geom_condim == 6) & (mj.geom_friction[:, 2] == 0.0)
    )
    some = np.flatnonzero(shapes & missing)
    message = "its condim asks for torsional or rolling friction, but the coefficient is 0"
    remedy = "set the second (torsional) and third (rolling) number of friction [m], or take condim 3"
    if len(some):
        findings.append(Finding("note", "condim", _named(mj, some), message, remedy))
    for p in range(mj.npair):
        _, _, spin, roll, _ = mj.pair_friction[p]
        if (mj.pair_dim[p] >= 4 and spin == 0.0) or (mj.pair_dim[p] == 6 and roll == 0.0):
            where = _named(mj, np.array([mj.pair_geom1[p], mj.pair_geom2[p]]))
            remedy = "set the third (torsional), fourth and fifth (rolling) number of friction [m], or take condim 3"
            findings.append(Finding("note", "condim", where, message, remedy))
    return findings
