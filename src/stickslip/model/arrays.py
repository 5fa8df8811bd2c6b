"""The constant arrays of a model, in small NamedTuples that the kernels read.

A *link* is a body that moves: it has at least one joint to its parent. Link 0 is the world. Bodies that are fixed to
a link (or to the world) are merged into it; they live on as frames. Links are numbered so that parents come first,
and joint coordinates are numbered in the same order, as in MuJoCo.

Sizes: nl links (world included), nj joints, nq coordinates, nv velocities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3  # MuJoCo's numbers
JOINT_NQ = (7, 4, 1, 1)
JOINT_NV = (6, 3, 1, 1)


class Tree(NamedTuple):
    """The kinematic tree: the parent of each link and the joints between them."""

    parent: np.ndarray
    """(nl,) parent link; parent[0] = 0."""
    root: np.ndarray
    """(nl,) the link of the same tree whose parent is the world; its origin is the tree's reference point O."""
    joint_start: np.ndarray
    """(nl + 1,) link b has the joints joint_start[b] … joint_start[b + 1] − 1."""
    joint_type: np.ndarray
    """(nj,) FREE, BALL, SLIDE or HINGE."""
    joint_q: np.ndarray
    """(nj,) first entry in q."""
    joint_v: np.ndarray
    """(nj,) first entry in v."""
    joint_pos: np.ndarray
    """(nj, 3) anchor in the link frame [m]."""
    joint_axis: np.ndarray
    """(nj, 3) unit axis in the link frame."""
    link_pos: np.ndarray
    """(nl, 3) link origin in the parent frame at q = q0 [m]."""
    link_rot: np.ndarray
    """(nl, 3, 3) link axes in the parent frame at q = q0."""
    aligned: np.ndarray
    """(nl,) 1 where link_rot is the identity, which saves a matrix product."""
    q0: np.ndarray
    """(nq,) reference configuration, subtracted from hinge and slide coordinates."""
    order: np.ndarray
    """(nl,) 0, 1, 2, …: all links, parents first."""


class Support(NamedTuple):
    """Which velocities move which link: the sparsity of Jacobians and of the mass matrix.

    Row d of the lower triangle of M has non-zeros only at d and its ancestors. They are stored one after another,
    from d up to the root: entry k of row d belongs to column ``column[start[d] + k]``.
    """

    link_dof: np.ndarray
    """(nl + 1,) link b owns the velocities link_dof[b] … link_dof[b + 1] − 1."""
    dof_link: np.ndarray
    """(nv,) the link that the velocity belongs to."""
    dof_parent: np.ndarray
    """(nv,) the next velocity on the way to the root; −1 at the root."""
    start: np.ndarray
    """(nv + 1,) where row d of the packed lower triangle begins."""
    column: np.ndarray
    """(nnz,) the columns of the packed entries: d, its parent, its grandparent, …"""
    link_root_dof: np.ndarray
    """(nl,) first velocity of the tree that link b belongs to; links of one tree share it; −1 for the world."""


class Inertia(NamedTuple):
    """Masses; com and inertia in the link frame, fixed bodies merged."""

    mass: np.ndarray
    """(nl,) [kg]."""
    com: np.ndarray
    """(nl, 3) centre of mass [m]."""
    inertia: np.ndarray
    """(nl, 6) about the centre of mass, (xx, yy, zz, xy, xz, yz) [kg m²]."""
    armature: np.ndarray
    """(nv,) rotor inertia added to the diagonal of M [kg m² or kg]."""
    gravity: np.ndarray
    """(3,) [m/s²]."""


class JointForces(NamedTuple):
    """Passive forces in the joints."""

    damping: np.ndarray
    """(nv,) [N m s/rad or N s/m]."""
    stiffness: np.ndarray
    """(nj,) spring towards q_spring [N m/rad or N/m]."""
    q_spring: np.ndarray
    """(nq,) rest configuration of the springs."""
    limited: np.ndarray
    """(nj,) 1 where the range is enforced."""
    range: np.ndarray
    """(nj, 2) lower and upper limit [rad or m]; for a ball joint (0, largest angle)."""
    limit_stiffness: np.ndarray
    """(nj,) stiffness of the one-sided limit spring [N m/rad or N/m]."""
    limit_damping: np.ndarray
    """(nj,) damping of the one-sided limit damper [N m s/rad or N s/m]."""
    friction: np.ndarray
    """(nv,) dry friction: the largest force that holds a joint still, and the force against its motion [N m or N]."""


class Actuators(NamedTuple):
    """Actuators on hinge and slide joints: force = gear·clip(gain·u + bias·(1, gear·q, gear·v))."""

    joint: np.ndarray
    """(nu,) the driven joint."""
    gear: np.ndarray
    """(nu,) transmission ratio."""
    gain: np.ndarray
    """(nu,) force per unit of control."""
    bias: np.ndarray
    """(nu, 3) constant, position and velocity terms."""
    control_range: np.ndarray
    """(nu, 2) the control is clipped to this; ±inf where unlimited."""
    force_range: np.ndarray
    """(nu, 2) the force is clipped to this [N or N m]; ±inf where unlimited."""


class Frames(NamedTuple):
    """Named frames (bodies, sites, shapes), each rigidly attached to a link."""

    link: np.ndarray
    """(nf,) the link that carries the frame."""
    pos: np.ndarray
    """(nf, 3) in the link frame [m]."""
    rot: np.ndarray
    """(nf, 3, 3) in the link frame."""


def build_support(tree: Tree, nv: int) -> Support:
    """The sparsity pattern of a tree, computed once per model."""
    nl = len(tree.parent)
    dof_link = np.zeros(nv, dtype=np.int64)
    dof_parent = np.full(nv, -1, dtype=np.int64)
    link_dof = np.zeros(nl + 1, dtype=np.int64)
    last = np.full(nl, -1, dtype=np.int64)  # the last velocity on the path from the root to a link
    link_root_dof = np.full(nl, -1, dtype=np.int64)
    d = 0
    for b in range(1, nl):
        link_dof[b] = d
        last[b] = last[tree.parent[b]]
        for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
            for _ in range(JOINT_NV[tree.joint_type[j]]):
                dof_link[d], dof_parent[d] = b, last[b]
                last[b] = d
                d += 1
        link_root_dof[b] = link_dof[tree.root[b]]
    link_dof[nl] = d

    depth = np.ones(nv, dtype=np.int64)
    for i in range(nv):
        if dof_parent[i] >= 0:
            depth[i] += depth[dof_parent[i]]
    start = np.concatenate([[0], np.cumsum(depth)]).astype(np.int64)
    column = np.empty(start[-1], dtype=np.int64)
    for i in range(nv):
        column[start[i]] = i
        if dof_parent[i] >= 0:
            p = dof_parent[i]
            column[start[i] + 1 : start[i + 1]] = column[start[p] : start[p + 1]]
    return Support(link_dof, dof_link, dof_parent, start, column, link_root_dof)
