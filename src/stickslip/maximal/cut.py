"""The cut model, in which every link is a free body, so that the rigid-body kernels work in maximal coordinates.

Links keep their numbers, names, masses, shapes and frames; nq = 7·(nl − 1), nv = 6·(nl − 1). Link b has the coordinates
7(b − 1) … and the velocities 6(b − 1) …: position and quaternion of its frame, world-linear and body-angular velocity.
The tree becomes a star around the world, so that M is block-diagonal with 6×6 blocks.

The cut model contains neither joints and closed loops (``maximal.joints``) nor the forces in them (``maximal.rates``).
Rotor inertia (armature) belongs to a joint's rate, not to a body, and is part of ``maximal.soft_rows``; only that of a
free joint remains here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from stickslip.maximal.conversion import to_bodies
from stickslip.model.arrays import FREE, Activations, Actuators, Inertia, JointForces, Tendons, Tree, build_support
from stickslip.model.keyframes import Keyframe
from stickslip.model.model import Model


def cut(model: Model) -> Model:
    """The model of the same links as free bodies, without joints."""
    n, nl = model.nlink - 1, model.nlink
    Q0, _ = to_bodies(model, model.tree.q0, np.zeros(model.nv))
    bodies = np.arange(n, dtype=np.int64)
    links = np.arange(nl, dtype=np.int64)
    tree = Tree(
        parent=np.zeros(nl, dtype=np.int64),
        root=links.copy(),
        joint_start=np.concatenate([[0], links]),
        joint_type=np.full(n, FREE, dtype=np.int64),
        joint_q=7 * bodies,
        joint_v=6 * bodies,
        joint_pos=np.zeros((n, 3)),
        joint_axis=np.tile([0.0, 0.0, 1.0], (n, 1)),
        link_pos=np.zeros((nl, 3)),
        link_rot=np.tile(np.eye(3), (nl, 1, 1)),
        aligned=np.ones(nl, dtype=np.int64),
        q0=Q0,
        order=links,
    )
    return replace(
        model,
        tree=tree,
        support=build_support(tree, 6 * n),
        inertia=Inertia(*model.inertia[: Inertia._fields.index("cable_armature")])._replace(armature=_armature(model)),
        joint_forces=JointForces(
            damping=np.zeros(6 * n),
            damping_poly=np.zeros((6 * n, 2)),
            stiffness=np.zeros(n),
            stiffness_poly=np.zeros((n, 2)),
            q_spring=Q0.copy(),
            limited=np.zeros(n, dtype=np.int64),
            range=np.zeros((n, 2)),
            limit_stiffness=np.zeros(n),
            limit_damping=np.zeros(n),
            friction=np.zeros(6 * n),
        ),
        **no_drives(model, 6 * n),
        joint_names=model.link_names[1:],
        keyframes={name: _cut_keyframe(model, key) for name, key in model.keyframes.items()},
        loops=(),
        spec=None,
    )


def no_drives(model: Model, nv: int) -> dict[str, Any]:
    """What a model of nv velocities without tendons and actuators has in their places."""
    tendons = Tendons(*(array[:0] for array in model.tendons))
    actuators = Actuators(*(array[:0] for array in model.actuators))
    return {
        "tendons": tendons._replace(start=np.zeros(1, dtype=np.int64)),
        "actuators": actuators._replace(
            joint_range=np.tile([-np.inf, np.inf], (nv, 1)), lifts=np.zeros(nv, dtype=np.int64)
        ),
        "activations": Activations(*(array[:0] for array in model.activations)),
        "tendon_names": (), "actuator_names": (),
    }  # fmt: skip


def _cut_keyframe(model: Model, key: Keyframe) -> Keyframe:
    Q, V = to_bodies(model, key.q, key.v)
    return key._replace(q=Q, v=V, control=key.control[:0], act=key.act[:0])


def _armature(model: Model) -> np.ndarray:
    """(6(nl − 1),) armature of free joints."""
    tree, armature = model.tree, np.zeros(6 * (model.nlink - 1))
    for b in range(1, model.nlink):
        if tree.joint_type[tree.joint_start[b]] == FREE:
            own = slice(model.support.link_dof[b], model.support.link_dof[b + 1])
            armature[6 * (b - 1) : 6 * b] = model.inertia.armature[own]
    return armature
