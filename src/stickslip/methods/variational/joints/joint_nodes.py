"""Joints as nodes of the graph of bodies and joints: rigid rows, soft rows and limits of each, one after another.

A node connects two bodies. Its rows, in this order, with r(z) the row of a joint velocity (``velocity_rows``):

    held    g(z⁺) = 0                                                         rows of ``maximal.joint_types``
    soft    w·(r(z)·ν⁺ − q̇⁻) + λ − h·(τ − h·K·q̇⁻) = 0,  w = I_a + h·D + h²·K  armature, dampers, actuators, dry friction
    limits  0 ≤ gap(z⁺) ⟂ λ ≥ 0                                               ends of a joint's range

A rotor's impulse is I_a·(r(z)·ν⁺ − r(z⁻)·ν), z⁻ ⊕ h·ν = z: the change of the joint's rate, with each velocity projected
on the row of its own step. The difference I_a·(r(z) − r(z⁻))·ν is part of the impulse of the soft row.

λ [N s or N m s] is the impulse in the row; it acts on the bodies by the row's transpose at z. q̇⁻ = r(z)·ν; τ is the
force of actuators, springs, dampers and applied forces at z; K, D are the gains of dampers (by their slopes at q̇⁻) and
of servos that are not at their force limits. Springs of joints and tendons act with their force at z: they are part of
the Lagrangian, and the step stays symplectic (``springs`` has the longest stable step). Every row that may become soft
is present, so that nodes keep their sizes; with w = 0 a soft row is λ = h·τ.

Nodes are the joints of ``build_joints`` (tree, loops, extra ones) in their order, then one for each free joint with
armature or damping, which has no rigid rows and whose link 1 is the world, then one for each coupling and for each
tendon with dry friction or armature (``coupling_nodes``), whose links are not here.
Sizes: nn nodes, nb held (rigid) rows, ns soft rows, nlim limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.drive_forces import add_drive_forces, add_drive_gains, add_drive_lead, drive_forces
from stickslip.dynamics.drives import implicit_columns
from stickslip.dynamics.joint_forces import damper_force, damper_slope, spring_and_limit_forces
from stickslip.maximal.joints import Joint, Joints, build_joints
from stickslip.maximal.soft_rows import turning_rotors
from stickslip.methods.variational.bodies import Centred, Pose, joint_rates, make_pose, previous_pose, velocity_rows
from stickslip.methods.variational.joints.coordinate_rows import coordinate_row
from stickslip.methods.variational.joints.coupling_nodes import tendons_with_nodes
from stickslip.model.arrays import BALL, FREE, JointForces
from stickslip.model.model import Model


class JointNodes(NamedTuple):
    """The joints as kernels see them; a row's place counts from the beginning of its node."""

    joints: Joints
    """Held rows, anchors from the centres of mass; held row r is in node joints.joint[r] at r − joints.start[node]."""
    link1: np.ndarray
    """(nn,) the parent or the world."""
    link2: np.ndarray
    """(nn,) the child; the world only of couplings."""
    size: np.ndarray
    """(nn,) rows: held, soft and limits."""
    soft_dof: np.ndarray
    """(ns,) joint velocities with a soft row, ascending."""
    soft_node: np.ndarray
    """(ns,) node of each soft row."""
    soft_place: np.ndarray
    """(ns,) its place in the node."""
    dry_soft: np.ndarray
    """(nd,) the soft rows with dry friction."""
    dry_bound: np.ndarray
    """(nd + nt,) their largest friction f [N or N m], then that of tendons."""
    limit_joint: np.ndarray
    """(nlim,) joint of the model (0 … nj − 1)."""
    limit_side: np.ndarray
    """(nlim,) 0: lower end, gap = q − bound; 1: upper end (for a ball, of its angle), gap = bound − q."""
    limit_bound: np.ndarray
    """(nlim,) that end [rad or m]."""
    limit_node: np.ndarray
    """(nlim,) node of each limit."""
    limit_place: np.ndarray
    """(nlim,) its place in the node."""


class JointStep(NamedTuple):
    """Joint quantities at the beginning of a step; filled by ``joint_impulses``."""

    rates: np.ndarray
    """(nv, 12) r(z): rows of joint velocities over ν of the parent, then of the link."""
    rate: np.ndarray
    """(nv,) q̇⁻ = r(z)·ν [rad/s or m/s]."""
    weight: np.ndarray
    """(nv,) w = I_a + h·D + h²·K [kg m² or kg]; 0 if the velocity is not soft."""
    impulse: np.ndarray
    """(nv,) h·(τ − h·K·q̇⁻) with the rotors' term [N m s or N s]; 0 if the velocity is not soft."""
    push: np.ndarray
    """(nl, 6) impulses of joint forces that are not soft, h·rᵀ·τ, over ν of the bodies."""
    soft: np.ndarray
    """(nv,) 1 if the velocity has a soft row; constant."""
    rubbing: np.ndarray
    """(nv,) −∂φ/∂q̇⁺ of dry friction at the unknowns of the last Newton system [N s/m or N m s/rad]."""
    turning: np.ndarray
    """(nt,) joint velocities with a rotor whose rows turn with the bodies: all but single hinges; constant."""
    before: Pose
    """z⁻, the poses at which the last step began."""
    rates_before: np.ndarray
    """(nv, 12) r(z⁻)."""


def build_joint_nodes(model: Model, centred: Centred, extra: Sequence[Joint] = ()) -> JointNodes:
    """The nodes of a model's joints and of extra ones."""
    joints, _, _ = build_joints(model, extra)
    tree, com = model.tree, centred.com
    joints = joints._replace(pos1=joints.pos1 - com[joints.link1], pos2=joints.pos2 - com[joints.link2])
    link1, link2 = list(joints.link1), list(joints.link2)
    size = [int(n) for n in np.diff(joints.start)]
    node_of: dict[int, int] = {}
    for b in range(1, model.nlink):  # the tree's joints come first, by link
        if tree.joint_type[tree.joint_start[b]] != FREE:
            node_of[b] = len(node_of)
    passive, friction = model.joint_forces, model.joint_forces.friction
    soft = (model.inertia.armature > 0.0) | (passive.damping > 0.0) | (passive.damping_poly > 0.0).any(axis=1)
    soft |= implicit_columns(model) | (friction > 0.0)
    soft_dof = np.flatnonzero(soft)
    soft_node, soft_place = np.zeros(len(soft_dof), dtype=np.int64), np.zeros(len(soft_dof), dtype=np.int64)
    for k, d in enumerate(soft_dof):
        b = int(model.support.dof_link[d])
        if b not in node_of:
            node_of[b] = len(size)
            link1.append(0)
            link2.append(b)
            size.append(0)
        soft_node[k], soft_place[k] = node_of[b], size[node_of[b]]
        size[node_of[b]] += 1
    limits: list[tuple[int, int, int, int]] = []
    for b in range(1, model.nlink):
        for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
            if not model.joint_forces.limited[j] or tree.joint_type[j] == FREE:
                continue
            for side in (1,) if tree.joint_type[j] == BALL else (0, 1):
                limits.append((j, side, node_of[b], size[node_of[b]]))
                size[node_of[b]] += 1
    listed = np.array(limits, dtype=np.int64).reshape(-1, 4)
    along = model.tendons.frictionloss
    for _ in (*model.couplings, *tendons_with_nodes(model)):
        link1.append(0)
        link2.append(0)
        size.append(1)

    def whole(values) -> np.ndarray:
        return np.ascontiguousarray(values, dtype=np.int64)

    return JointNodes(
        joints=joints,
        link1=whole(link1),
        link2=whole(link2),
        size=whole(size),
        soft_dof=whole(soft_dof),
        soft_node=soft_node,
        soft_place=soft_place,
        dry_soft=whole(np.flatnonzero(friction[soft_dof] > 0.0)),
        dry_bound=np.concatenate([friction[soft_dof][friction[soft_dof] > 0.0], along[along > 0.0]]),
        limit_joint=whole(listed[:, 0]),
        limit_side=whole(listed[:, 1]),
        limit_bound=np.ascontiguousarray(model.joint_forces.range[listed[:, 0], listed[:, 1]], dtype=float),
        limit_node=whole(listed[:, 2]),
        limit_place=whole(listed[:, 3]),
    )


def free_rotors(model: Model) -> np.ndarray:
    """Linear velocities with armature of free joints, whose link's origin is not its centre of mass."""
    tree = model.tree
    first = tree.joint_v[tree.joint_type == FREE]
    dofs = (first[:, None] + np.arange(3)).ravel()
    return dofs[model.inertia.armature[dofs] > 0.0]


def make_joint_step(model: Model, nodes: JointNodes) -> JointStep:
    """Allocate a JointStep."""
    nv, soft = model.nv, np.zeros(model.nv, dtype=np.int64)
    soft[nodes.soft_dof] = 1
    return JointStep(
        rates=np.zeros((nv, 12)),
        rate=np.zeros(nv),
        weight=np.zeros(nv),
        impulse=np.zeros(nv),
        push=np.zeros((model.nlink, 6)),
        soft=soft,
        rubbing=np.zeros(nv),
        turning=np.concatenate([turning_rotors(model), free_rotors(model)]),
        before=make_pose(model.nlink),
        rates_before=np.zeros((nv, 12)),
    )


def without_limits(model: Model) -> JointForces:
    """The model's passive joint forces without limits, which are rows here."""
    return model.joint_forces._replace(limited=np.zeros_like(model.joint_forces.limited))


@kernel
def joint_impulses(centred, passive, actuators, armature, pose, nu, q, control, applied, dt, step):
    """Fill ``step`` (JointStep) at the beginning of a step, with the bodies at ``pose`` and velocities nu (nl, 6).

    q (nq,) are the joint coordinates there, ``passive`` is ``without_limits(model)``, ``actuators`` are the ``Drives``,
    ``armature`` (nv,) is ``model.inertia.armature``, ``control`` (nu,) are controls and ``applied`` (nv,) forces in the
    joints.
    """
    tree, rates, rate, weight, impulse = centred.tree, step.rates, step.rate, step.weight, step.impulse
    velocity_rows(centred, pose, rates)
    joint_rates(centred, rates, nu, rate)
    for d in range(rate.shape[0]):
        weight[d] = armature[d] + dt * max(0.0, damper_slope(passive, d, rate[d]))
        impulse[d] = applied[d] + damper_force(passive, d, rate[d])
    drive_forces(actuators, q, rate, control)
    add_drive_forces(actuators, impulse)
    servos = actuators.tendons.limited.shape[0]
    add_drive_lead(actuators, servos, dt, impulse)
    add_drive_gains(actuators, servos, dt * dt, dt, weight, weight)
    spring_and_limit_forces(tree, passive, q, rate, impulse)
    if step.turning.shape[0] > 0:
        previous_pose(pose, nu, dt, step.before)
        velocity_rows(centred, step.before, step.rates_before)
        for d in step.turning:
            b = centred.dof_link[d]
            p, turned = tree.parent[b], 0.0
            for k in range(6):
                turned += (rates[d, k] - step.rates_before[d, k]) * nu[p, k]
                turned += (rates[d, 6 + k] - step.rates_before[d, 6 + k]) * nu[b, k]
            impulse[d] -= armature[d] * turned / dt
    for b in range(step.push.shape[0]):
        for k in range(6):
            step.push[b, k] = 0.0
    for d in range(rate.shape[0]):
        impulse[d] *= dt
        if step.soft[d] == 0:
            b = centred.dof_link[d]
            p = tree.parent[b]
            for k in range(6):
                if p != 0:
                    step.push[p, k] += rates[d, k] * impulse[d]
                step.push[b, k] += rates[d, 6 + k] * impulse[d]
            weight[d], impulse[d] = 0.0, 0.0


@kernel
def limit_gaps(nodes, tree, pose, q_near, R, gap, rows):
    """gap (nlim,) [rad or m] and rows (nlim, 12) = ∂gap over δx, δθ of link 1, then of link 2 of the node, at any pose.
    ``tree`` is that of ``Centred``. Hinges are the turns nearest to ``q_near`` (nq,); R (3, 3) is scratch."""
    for n in range(nodes.limit_joint.shape[0]):
        j, row = nodes.limit_joint[n], rows[n]
        if n > 0 and nodes.limit_joint[n - 1] == j:
            value = nodes.limit_bound[n - 1] + gap[n - 1]
            for k in range(12):
                row[k] = rows[n - 1, k]
        else:
            value = coordinate_row(tree, pose, nodes.link2[nodes.limit_node[n]], j, q_near, R, row)
        if nodes.limit_side[n] == 0:
            gap[n] = value - nodes.limit_bound[n]
        else:
            gap[n] = nodes.limit_bound[n] - value
            for k in range(12):
                row[k] = -row[k]
