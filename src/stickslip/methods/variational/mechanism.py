"""A model as arrays of the variational step: constants, and the graph for any set of touching bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stickslip.maximal.graph import spanning_forest
from stickslip.maximal.joints import Joint
from stickslip.maximal.rows import body_rows, joint_errors, largest_per_joint
from stickslip.methods.variational.arrays import Linear, Mechanism, Motion
from stickslip.methods.variational.bodies import centred
from stickslip.methods.variational.graph.block_graph import symbolic
from stickslip.methods.variational.graph.elimination_order import BODY, JOINT
from stickslip.methods.variational.joints.coupling_nodes import build_coupling_nodes, tendons_with_nodes
from stickslip.methods.variational.joints.joint_nodes import JointNodes, build_joint_nodes
from stickslip.model.model import Model


def build_mechanism(model: Model, extra: Sequence[Joint] = ()) -> Mechanism:
    """Bodies, joints and their edges; every link needs mass and inertia."""
    bodies = centred(model)
    nodes = build_joint_nodes(model, bodies, extra)
    first = np.concatenate([[0], np.cumsum(nodes.size)]).astype(np.int64)
    links = np.stack([nodes.link1, nodes.link2], axis=1)
    edge = np.full(links.shape, -1, dtype=np.int64)
    edge[links > 0] = np.arange(np.count_nonzero(links > 0))
    nc = len(model.couplings) + len(tendons_with_nodes(model))
    edges, dry = int(np.count_nonzero(links > 0)), len(nodes.dry_soft)
    coupled, more = build_coupling_nodes(model, len(nodes.size) - nc, edges, dry)
    return Mechanism(bodies, nodes, first, in_loops(nodes, model.nlink), edge, coupled, more)


def in_loops(nodes: JointNodes, nlink: int) -> np.ndarray:
    """(nn,) 1 for joints that are part of a loop."""
    forest, looped = spanning_forest(nodes.joints, nlink), np.zeros(len(nodes.size), dtype=np.int64)
    for closing in forest.loops:
        looped[closing] = 1
        ways = []
        for link in (int(nodes.link1[closing]), int(nodes.link2[closing])):
            way = []
            while link and forest.joint[link] >= 0:
                way.append(int(forest.joint[link]))
                link = int(forest.parent[link])
            ways.append(way)
        looped[list(set(ways[0]) ^ set(ways[1]))] = 1
    return looped


def build_linear(mechanism: Mechanism, pairs: np.ndarray) -> Linear:
    """Newton's system if the links pairs (np, 2), lower one first, touch each other; their edges follow the joints'."""
    nodes, bodies = mechanism.nodes, len(mechanism.bodies.mass) - 1
    size = np.concatenate([np.full(bodies, 6), nodes.size]).astype(np.int64)
    kind = np.where(np.arange(len(size)) < bodies, BODY, JOINT)
    node, side = np.nonzero(mechanism.edge >= 0)
    links = np.stack([nodes.link1, nodes.link2], axis=1)[node, side]
    joints, coupled = np.stack([bodies + node, links - 1], axis=1), mechanism.coupled_edges + np.array([bodies, -1])
    edges = np.concatenate([joints, coupled, np.reshape(pairs, (-1, 2)) - 1])
    sym = symbolic(size, edges, kind)
    return Linear(sym, np.zeros(sym.length), np.zeros(sym.rows, dtype=np.int64), np.zeros(sym.rows))


def joint_violations(mechanism: Mechanism, motion: Motion) -> np.ndarray:
    """(nj, 2) the largest error of each joint in position [m or rad], and in velocity [m/s or rad/s]."""
    joints = mechanism.nodes.joints
    error, G, nu = np.zeros(len(joints.joint)), np.zeros((len(joints.joint), 12)), motion.nu
    joint_errors(joints, motion.pose, error)
    body_rows(joints, motion.pose, G)
    rate = np.einsum("rk,rk->r", G[:, :6], nu[joints.link1[joints.joint]])
    rate += np.einsum("rk,rk->r", G[:, 6:], nu[joints.link2[joints.joint]])
    out = np.zeros((len(joints.link1), 2))
    for column, values in enumerate((error, rate)):
        worst = np.zeros(len(out))
        largest_per_joint(joints, values, worst)
        out[:, column] = worst
    return out
