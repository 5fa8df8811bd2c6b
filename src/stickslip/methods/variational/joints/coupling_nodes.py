"""Coupled joints as nodes of the graph: one row each, over all bodies on both sides of their joints.

    e(z⁺) = y₁ − r₁ − Σ a_k·(y₂ − r₂)^k = 0,     impulse on the bodies: λ·Σ_t w_t·r_t(z),    w_t = c_t or −a'·c_t

y are sums of joint coordinates (``constraints.couplings``), at z⁺ by ``coordinate_rows``; r_t are the rows of joint
velocities. Sizes: nc couplings with n terms; a coupling has an edge to each body that one of its joints moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.constraints.couplings import Couplings, coupling_slopes, make_couplings, polynomial, sums, term_weight
from stickslip.methods.variational.joints.coordinate_rows import coordinate_row
from stickslip.model.model import Model


class CouplingNodes(NamedTuple):
    """Couplings as kernels see them, with scratch."""

    couplings: Couplings
    node: np.ndarray
    """(nc,) the node of each coupling."""
    joint: np.ndarray
    """(n,) the joint of each term, and ``link`` (n,) the link that it moves."""
    link: np.ndarray
    parent: np.ndarray
    """(n,) the link on its other side."""
    edge: np.ndarray
    """(n, 2) the edges of the graph to ``parent`` and ``link``; −1 for the world."""
    q: np.ndarray
    """(nq,) coordinates of the terms' joints at z⁺."""
    rows: np.ndarray
    """(n, 12) ∂q/∂(x, θ) at z⁺, then ∂q/∂ν⁺."""
    weight: np.ndarray
    """(2, n) w at z and at z⁺."""
    error: np.ndarray
    """(nc,) e(z⁺) [m or rad]."""


def build_coupling_nodes(model: Model, nodes: int, edges: int) -> tuple[CouplingNodes, np.ndarray]:
    """The nodes, after ``nodes`` others, with edges after ``edges`` others; and these edges (k, 2) as (node, link)."""
    couplings = make_couplings(model, model.couplings)
    nc, n = len(couplings.start) - 1, len(couplings.dof)
    tree, link = model.tree, model.support.dof_link[couplings.dof]
    joint = np.array([int(np.flatnonzero(tree.joint_v == d)[0]) for d in couplings.dof], dtype=np.int64)
    edge = np.full((n, 2), -1, dtype=np.int64)
    listed: list[tuple[int, int]] = []
    for c in range(nc):
        known: dict[int, int] = {}
        for t in range(couplings.start[c], couplings.start[c + 1]):
            for side, b in enumerate((int(tree.parent[link[t]]), int(link[t]))):
                if b > 0:
                    if b not in known:
                        known[b] = edges + len(listed)
                        listed.append((nodes + c, b))
                    edge[t, side] = known[b]
    made = CouplingNodes(
        couplings, nodes + np.arange(nc), joint, link, tree.parent[link], edge, np.zeros(model.nq), np.zeros((n, 12)),
        np.zeros((2, n)), np.zeros(nc),
    )  # fmt: skip
    return made, np.array(listed, dtype=np.int64).reshape(-1, 2)


@kernel
def weigh(coupled, q, out):
    """out (n,) = w at the configuration q (nq,)."""
    couplings = coupled.couplings
    for c in range(couplings.start.shape[0] - 1):
        slope, _ = coupling_slopes(couplings, c, q)
        for t in range(couplings.start[c], couplings.start[c + 1]):
            out[t] = term_weight(couplings, t, slope)


@kernel
def look_at_couplings(coupled, tree, pose, q_near, R):
    """Write e, w and the rows at z⁺."""
    couplings, q = coupled.couplings, coupled.q
    for t in range(coupled.joint.shape[0]):
        j = coupled.joint[t]
        q[couplings.q[t]] = coordinate_row(tree, pose, coupled.link[t], j, q_near, R, coupled.rows[t])
    for c in range(couplings.start.shape[0] - 1):
        one, two = sums(couplings, c, q, couplings.q)
        value, _, _ = polynomial(couplings, c, two - couplings.reference[c, 1])
        coupled.error[c] = one - couplings.reference[c, 0] - value
    weigh(coupled, q, coupled.weight[1])
