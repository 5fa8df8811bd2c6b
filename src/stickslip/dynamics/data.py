"""Scratch memory of the rigid-body algorithms: allocated once by the caller, filled by the kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Kinematics(NamedTuple):
    """Poses, velocities and inertias in world axes; spatial vectors are taken at the tree's reference point O."""

    pos: np.ndarray
    """(nl, 3) link origins [m]."""
    rot: np.ndarray
    """(nl, 3, 3) link axes."""
    origin: np.ndarray
    """(nl, 3) the reference point O of the link's tree [m]."""
    S: np.ndarray
    """(nv, 6) motion subspace: spatial velocity per unit of joint velocity."""
    vel: np.ndarray
    """(nl, 6) spatial velocity (v, ω) [m/s, rad/s]."""
    acc: np.ndarray
    """(nl, 6) spatial acceleration at zero joint acceleration, without gravity: the Ṡ·v terms."""
    total: np.ndarray
    """(nl, 6) spatial acceleration with the joint accelerations, without gravity."""
    inertia: np.ndarray
    """(nl, 10) rigid-body inertia at O (see math.spatial)."""
    force: np.ndarray
    """(nl, 6) spatial force that the link passes to its parent."""
    path: np.ndarray
    """(nl,) scratch: the links on a path from the world."""
    q: np.ndarray
    """(nq,) the configuration of the last ``forward_kinematics``."""
    v: np.ndarray
    """(nv,) the velocity of the last ``forward_velocities``."""
    arm: np.ndarray
    """(nnz,) moment arms of tendons with armature (``cables``); ``cable`` (nv,) is scratch, zero between calls."""
    cable: np.ndarray


class Articulated(NamedTuple):
    """Scratch of the articulated-body algorithm."""

    inertia: np.ndarray
    """(nl, 6, 6) articulated-body inertia."""
    U: np.ndarray
    """(nv, 6) articulated inertia times S."""
    D: np.ndarray
    """(nv,) inverse of Sᵀ·U, armature included."""
    u: np.ndarray
    """(nv,) joint force minus the bias force, τ − Sᵀ·p."""
    acc: np.ndarray
    """(nl, 6) part of the spatial acceleration due to the joint accelerations."""


class MassMatrix(NamedTuple):
    """The joint-space inertia M, packed by rows along the tree (see model.arrays.Support), and its factor."""

    composite: np.ndarray
    """(nl, 10) composite inertia of the link and all its descendants."""
    M: np.ndarray
    """(nnz,) packed lower triangle."""
    L: np.ndarray
    """(nnz,) the factor of M = LᵀDL: row d holds D[d], then L[d, ancestors]."""


class Data(NamedTuple):
    """All scratch memory that the algorithms of this package need for one model."""

    kin: Kinematics
    art: Articulated
    mass: MassMatrix


def make_data(model) -> Data:
    """Allocate scratch memory for a model."""
    nl, nv, nnz = model.nlink, model.nv, len(model.support.column)
    rot = np.zeros((nl, 3, 3))
    rot[:] = np.eye(3)
    return Data(
        Kinematics(
            pos=np.zeros((nl, 3)),
            rot=rot,
            origin=np.zeros((nl, 3)),
            S=np.zeros((nv, 6)),
            vel=np.zeros((nl, 6)),
            acc=np.zeros((nl, 6)),
            total=np.zeros((nl, 6)),
            inertia=np.zeros((nl, 10)),
            force=np.zeros((nl, 6)),
            path=np.zeros(nl, dtype=np.int64),
            q=np.zeros(model.nq),
            v=np.zeros(nv),
            arm=np.zeros(len(model.inertia.cable_column)),
            cable=np.zeros(nv if len(model.inertia.cable_column) else 0),
        ),
        Articulated(
            inertia=np.zeros((nl, 6, 6)), U=np.zeros((nv, 6)), D=np.zeros(nv), u=np.zeros(nv), acc=np.zeros((nl, 6))
        ),
        MassMatrix(composite=np.zeros((nl, 10)), M=np.zeros(nnz), L=np.zeros(nnz)),
    )
