"""Tendons and actuators as rows: lengths ℓ(q) with moment arms J = ∂ℓ/∂q, along which forces act, τ += Jᵀ·f.

Row t < nt is tendon t, row nt + k is the transmission of actuator k, its gear included. A row's moment arms are stored
for those velocities only that can change it, which are constant: those of the joints of a fixed tendon, or of all links
that a path, a site or a slider-crank is attached to. So 100 tendons of a humanoid cost what their own links cost.

``Drives`` belongs to one method or one ``Dynamics``: it holds the model's constants and its own scratch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from stickslip._jit import prepare
from stickslip.dynamics.tendon_paths import spatial_rows
from stickslip.model.arrays import (
    AT_SITE,
    HINGE,
    JOINT,
    JOINT_IN_PARENT,
    JOINT_NV,
    ON_BODY,
    ON_JOINT,
    PULLEY,
    SLIDE,
    SLIDER_CRANK,
    TENDON,
    Actuators,
    Inertia,
    Tendons,
    Tree,
)
from stickslip.model.model import Model


class LinkPoses(NamedTuple):
    """Poses and motion subspaces of the links that tendons, sites and slider-cranks are attached to."""

    pos: np.ndarray
    """(nl, 3) as in ``Kinematics``, and so are the others."""
    rot: np.ndarray
    """(nl, 3, 3)."""
    origin: np.ndarray
    """(nl, 3)."""
    S: np.ndarray
    """(nv, 6)."""


class Drives(NamedTuple):
    """Constants and scratch of nr = nt + nu rows."""

    tree: Tree
    tendons: Tendons
    actuators: Actuators
    links: np.ndarray
    """The links whose poses are needed, parents first; empty if joint coordinates are enough."""
    link_dof: np.ndarray
    """(nl + 1,) and dof_parent (nv,): those of ``Support``."""
    dof_parent: np.ndarray
    start: np.ndarray
    """(nr + 1,) where each row begins."""
    column: np.ndarray
    """(nnz,) joint velocities of the rows, ascending in each."""
    value: np.ndarray
    """(nnz,) moment arms J, at the configuration of the last ``transmit``, as all that follows."""
    length: np.ndarray
    """(nr,) ℓ."""
    rate: np.ndarray
    """(nr,) J·v."""
    force: np.ndarray
    """(nr,) f: of tendons without those of their actuators."""
    stiffness: np.ndarray
    """(nr,) −∂f/∂ℓ; 0 where the force is clipped."""
    damping: np.ndarray
    """(nr,) −∂f/∂ℓ̇; 0 where the force is clipped."""
    by_control: np.ndarray
    """(nr,) ∂f/∂u of actuators; 0 where the control or the force is clipped."""
    shared: np.ndarray
    """(1,) 1 if the sum of the actuators' forces is limited in some joint."""
    poses: LinkPoses
    arm: np.ndarray
    """(nv,) scratch, zero between rows."""
    tau: np.ndarray
    """(nv,) scratch: the sum of the actuators' forces."""
    inertia: Inertia
    lift: np.ndarray
    """(nv,) gravity compensation by actuators [N or N m], 0 in joints that have none."""


def make_drives(model: Model) -> Drives:
    """The drives of a model, with scratch of their own."""
    nt, nu, nl, nv = len(model.tendons.limited), model.nu, model.nlink, model.nv
    rows = [tendon_columns(model, t) for t in range(nt)]
    rows += [_actuator_columns(model, k, rows) for k in range(nu)]
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    column = np.array([d for row in rows for d in row], dtype=np.int64)
    rot = np.zeros((nl, 3, 3))
    rot[:] = np.eye(3)
    drives = Drives(
        tree=model.tree, tendons=model.tendons, actuators=model.actuators, links=_needed_links(model),
        link_dof=model.support.link_dof, dof_parent=model.support.dof_parent, start=start, column=column,
        value=np.zeros(len(column)), length=np.zeros(nt + nu), rate=np.zeros(nt + nu), force=np.zeros(nt + nu),
        stiffness=np.zeros(nt + nu), damping=np.zeros(nt + nu), by_control=np.zeros(nt + nu),
        shared=np.array([np.isfinite(model.actuators.joint_range).any()], dtype=np.int64),
        poses=LinkPoses(np.zeros((nl, 3)), rot, np.zeros((nl, 3)), np.zeros((nv, 6))),
        arm=np.zeros(nv), tau=np.zeros(nv), inertia=model.inertia, lift=np.zeros(nv),
    )  # fmt: skip
    if len(drives.links):
        prepare(spatial_rows, drives, model.tree.q0)
    return drives


def row_arms(drives: Drives, first: int, count: int) -> np.ndarray:
    """(count, nv) moment arms of rows, dense."""
    J = np.zeros((count, len(drives.arm)))
    for r in range(count):
        at = slice(drives.start[first + r], drives.start[first + r + 1])
        J[r, drives.column[at]] = drives.value[at]
    return J


def on_one_joint(model: Model) -> np.ndarray:
    """(nu,) whether the actuator acts on a single hinge or slide joint."""
    a = model.actuators
    joint = (a.transmission == JOINT) | (a.transmission == JOINT_IN_PARENT)
    kind = model.tree.joint_type[np.where(joint, a.target, 0)] if len(model.tree.joint_type) else np.zeros(model.nu)
    return joint & ((kind == HINGE) | (kind == SLIDE))


def implicit_columns(model: Model) -> np.ndarray:
    """(nv,) whether servos and dampers may act in a joint velocity, for methods that treat them implicitly.

    These are actuators on single joints, those whose force depends on length or rate, and tendons with a damper or a
    limit.
    """
    a, t, drives = model.actuators, model.tendons, make_drives(model)
    affine = a.gain[:, 1:3].any(axis=1) | a.bias[:, 1:3].any(axis=1)
    servo = on_one_joint(model) | affine | (a.muscle_gain != 0) | (a.muscle_bias != 0)
    damped = t.damping.any(axis=1) | (t.limited != 0)
    found = np.zeros(model.nv, dtype=bool)
    for r in np.flatnonzero(np.concatenate([damped, servo])):
        found[drives.column[drives.start[r] : drives.start[r + 1]]] = True
    return found


def _link_columns(model: Model, link: int) -> set[int]:
    """The joint velocities that move a link."""
    if link == 0:
        return set()
    d, found = int(model.support.link_dof[link + 1]) - 1, set()
    while d >= 0:
        found.add(d)
        d = int(model.support.dof_parent[d])
    return found


def _joint_columns(model: Model, j: int) -> set[int]:
    first = int(model.tree.joint_v[j])
    return set(range(first, first + JOINT_NV[model.tree.joint_type[j]]))


def tendon_columns(model: Model, t: int) -> list[int]:
    """The joint velocities that can change the length of a tendon, ascending."""
    found: set[int] = set()
    for e in range(model.tendons.start[t], model.tendons.start[t + 1]):
        if model.tendons.kind[e] == ON_JOINT:
            found |= _joint_columns(model, int(model.tendons.on[e]))
        elif model.tendons.kind[e] != PULLEY:
            found |= _link_columns(model, int(model.tendons.on[e]))
    return sorted(found)


def _actuator_columns(model: Model, k: int, tendon_rows: list[list[int]]) -> list[int]:
    a = model.actuators
    if a.transmission[k] == TENDON:
        return tendon_rows[a.target[k]]
    if a.transmission[k] == ON_BODY:
        return []  # it pulls at contacts, which are not known here
    if a.transmission[k] not in (AT_SITE, SLIDER_CRANK):
        return sorted(_joint_columns(model, int(a.target[k])))
    found = _link_columns(model, int(a.site_link[k, 0]))
    if a.transmission[k] == AT_SITE and a.target[k] == 0:
        return sorted(found)
    other = _link_columns(model, int(a.site_link[k, 1]))
    return sorted(found ^ other if a.transmission[k] == AT_SITE else found | other)


def _needed_links(model: Model) -> np.ndarray:
    t, a = model.tendons, model.actuators
    spatial = (t.kind != ON_JOINT) & (t.kind != PULLEY)
    sites = (a.transmission == AT_SITE) | (a.transmission == SLIDER_CRANK)
    links = {*t.on[spatial].tolist(), *t.side_link[t.side != 0].tolist(), *a.site_link[sites].ravel().tolist()}
    if np.any(a.lifts):
        links |= set(np.flatnonzero(model.inertia.lifted_mass).tolist())
    return above(model, links)


def above(model: Model, links: Iterable[int]) -> np.ndarray:
    """These links and all that carry them, parents first, without the world."""
    found: set[int] = set()
    for link in links:
        while link != 0:
            found.add(int(link))
            link = int(model.tree.parent[link])
    return np.array(sorted(found), dtype=np.int64)
