"""Checks of tendons at the start: limits, slack springs, and paths that are straight, empty or constant."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.model import compile as build
from stickslip.model.doctor.finding import Finding
from stickslip.model.doctor.home import ROUNDING, data_at, home_configuration

WRAP = mujoco.mjtWrap
SHORT = 1e-9
"""[m] length below which the direction of a piece is undefined."""


def tendons(mj: mujoco.MjModel) -> list[Finding]:
    if not mj.ntendon:
        return []
    pose, q = home_configuration(mj)
    data, bodies = data_at(mj, q), build.attach_bodies(mj)[0]
    findings = []
    for t in range(mj.ntendon):
        where, length = f"tendon {mj.tendon(t).name!r}", float(data.ten_length[t])
        findings += _lengths(mj, t, where, length, pose)
        first = mj.tendon_adr[t]
        path = range(first, first + mj.tendon_num[t])
        if mj.wrap_type[first] != WRAP.mjWRAP_JOINT:
            findings += _path(mj, data, bodies, where, path, pose)
    return findings


def _lengths(mj: mujoco.MjModel, t: int, where: str, length: float, pose: str) -> list[Finding]:
    findings = []
    low, high = mj.tendon_range[t]
    if mj.tendon_limited[t] and not low - ROUNDING <= length <= high + ROUNDING:
        message = f"{pose} makes it {length:.4g} long, outside its range {low:.4g} … {high:.4g}"
        remedy = "start in another configuration, or correct the range"
        findings.append(Finding("warning", "tendon-limits", where, message, remedy))
    low, high = mj.tendon_lengthspring[t]
    if mj.tendon_stiffness[t] > 0.0 and low < high and low <= length <= high:
        message = (
            f"its spring is slack in {pose}: it is {length:.4g} long, and pulls only outside {low:.4g} … {high:.4g}"
        )
        findings.append(Finding("note", "tendon-slack", where, message, "correct springlength if it should be tight"))
    return findings


def _path(
    mj: mujoco.MjModel, data: mujoco.MjData, bodies: list[build.Attachment], where: str, path: range, pose: str
) -> list[Finding]:
    findings, links = [], set()
    for w in path:
        kind, i = mj.wrap_type[w], int(mj.wrap_objid[w])
        if kind == WRAP.mjWRAP_PULLEY:
            continue
        if kind == WRAP.mjWRAP_SITE:
            links.add(bodies[mj.site_bodyid[i]].link)
            nearer = w + 1 in path and mj.wrap_type[w + 1] == WRAP.mjWRAP_SITE
            if nearer and np.linalg.norm(data.site_xpos[i] - data.site_xpos[mj.wrap_objid[w + 1]]) < SHORT:
                k = int(mj.wrap_objid[w + 1])
                if bodies[mj.site_bodyid[i]].link != bodies[mj.site_bodyid[k]].link:
                    message = (
                        f"sites {mj.site(i).name!r} and {mj.site(k).name!r} of different bodies coincide in {pose}: "
                        "the direction of its force is undefined"
                    )
                    findings.append(Finding("warning", "tendon-path", where, message, "move one of the two sites"))
            continue
        links.add(bodies[mj.geom_bodyid[i]].link)
        for k in (w - 1, w + 1):
            site = int(mj.wrap_objid[k])
            x = data.geom_xmat[i].reshape(3, 3).T @ (data.site_xpos[site] - data.geom_xpos[i])
            reach = float(np.linalg.norm(x if kind == WRAP.mjWRAP_SPHERE else x[:2]))
            if reach < mj.geom_size[i, 0]:
                message = (
                    f"site {mj.site(site).name!r} is {1e3 * (mj.geom_size[i, 0] - reach):.3g} mm inside geom "
                    f"{mj.geom(i).name!r} in {pose}: the path goes straight through it"
                )
                remedy = "move the site outside, or make the geom smaller"
                findings.append(Finding("warning", "tendon-path", where, message, remedy))
    if len(links) == 1:
        message, remedy = "all of its path is on one link: its length never changes", "attach it to another body"
        findings.append(Finding("warning", "tendon-constant", where, message, remedy))
    return findings
