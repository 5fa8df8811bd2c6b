"""Couplings, and friction and armature of tendons, as nodes of the graph: one row over all bodies that joints connect.

    coupling   e(z⁺) = y₁ − r₁ − Σ a_k·(y₂ − r₂)^k = 0,   impulse on the bodies λ·Σ_t w_t·r_t(z),  w_t = c_t or −a'·c_t
    tendon     λ + a·(u − u⁻) − dt·φ = 0, φ of ``dry_friction``,   the same impulse,   w_t = ∂ℓ/∂q_t at z

u = Σ_t w_t·r_t(z)·ν⁺ is the tendon's rate, u⁻ that of the last step with the rows of its own beginning, and a the
armature: its impulse is the change of the rate, as that of rotors (``joint_nodes``). y are sums of joint coordinates or
lengths of spatial tendons (``constraints.couplings``), at z⁺ by ``coordinate_rows``, or by ``to_joint_state`` where a
tendon is spatial; r_t are the rows of joint velocities.
Sizes: nc couplings, then nt tendons, with n terms; each has an edge to every body that one of its joints moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.constraints.couplings import (
    Couplings,
    coupling_slopes,
    error_at,
    look_at_tendons,
    make_couplings,
    term_weight,
)
from stickslip.dynamics.paths import look_along, rate_along
from stickslip.methods.variational.bodies import to_joint_state
from stickslip.methods.variational.joints.coordinate_rows import coordinate_row
from stickslip.model.model import Model


class CouplingNodes(NamedTuple):
    """Couplings and tendons with friction or armature as kernels see them, with scratch."""

    couplings: Couplings
    """Their ``paths`` begin with the tendons that have nodes."""
    node: np.ndarray
    """(nc + nt,) the node of each."""
    start: np.ndarray
    """(nc + nt + 1,) where its terms begin."""
    dof: np.ndarray
    """(n,) the joint velocity of each term, ``joint`` (n,) its joint, and ``link`` (n,) the link that it moves."""
    joint: np.ndarray
    link: np.ndarray
    parent: np.ndarray
    """(n,) the link on its other side."""
    edge: np.ndarray
    """(n, 2) the edges of the graph to ``parent`` and ``link``; −1 for the world."""
    q: np.ndarray
    """(nq,) coordinates of the terms' joints at z⁺."""
    rows: np.ndarray
    """(n, 12) ∂q/∂(x, θ) at z⁺, then ∂q/∂ν⁺; of couplings only."""
    weight: np.ndarray
    """(2, n) w at z and at z⁺."""
    error: np.ndarray
    """(nc,) e(z⁺) [m or rad]."""
    spatial: np.ndarray
    """(1,) 1 if a coupled tendon is spatial."""
    armature: np.ndarray
    """(nt,) a [kg or kg m²]."""
    rub: np.ndarray
    """(nt,) which friction is theirs, among those of ``JointNodes.dry_bound``; −1 if they have none."""
    rate: np.ndarray
    """(nt,) u⁻ [m/s or rad/s]."""
    rates: np.ndarray
    """(nv, 12) scratch: rows of joint velocities at z⁺; ``v`` (nv,) is scratch, too."""
    v: np.ndarray


def tendons_with_nodes(model: Model) -> list[int]:
    """The tendons with dry friction or armature."""
    return np.flatnonzero((model.tendons.frictionloss > 0.0) | (model.tendons.armature > 0.0)).tolist()


def build_coupling_nodes(model: Model, nodes: int, edges: int, dry: int) -> tuple[CouplingNodes, np.ndarray]:
    """The nodes, after ``nodes`` others, with edges after ``edges`` others and friction after that of ``dry`` joints;
    and these edges (k, 2) as (node, link)."""
    tendons = tendons_with_nodes(model)
    couplings = make_couplings(model, model.couplings, tendons)
    paths, nc, nt = couplings.paths, len(couplings.start) - 1, len(tendons)
    rubs = model.tendons.frictionloss[tendons] > 0.0
    dof = np.concatenate([couplings.dof, paths.column[: paths.start[nt]]])
    start = np.concatenate([couplings.start, couplings.start[-1] + paths.start[1 : nt + 1]])
    tree, link, n = model.tree, model.support.dof_link[dof], len(dof)
    joint = np.searchsorted(tree.joint_v, dof, side="right") - 1
    edge = np.full((n, 2), -1, dtype=np.int64)
    listed: list[tuple[int, int]] = []
    for c in range(nc + nt):
        known: dict[int, int] = {}
        for t in range(start[c], start[c + 1]):
            for side, b in enumerate((int(tree.parent[link[t]]), int(link[t]))):
                if b > 0:
                    if b not in known:
                        known[b] = edges + len(listed)
                        listed.append((nodes + c, b))
                    edge[t, side] = known[b]
    made = CouplingNodes(
        couplings, nodes + np.arange(nc + nt), start, dof, joint, link, tree.parent[link], edge, np.zeros(model.nq),
        np.zeros((n, 12)), np.zeros((2, n)), np.zeros(nc), np.array([np.any(couplings.tendon >= 0)], dtype=np.int64),
        model.tendons.armature[tendons], np.where(rubs, dry + np.cumsum(rubs) - 1, -1), np.zeros(nt),
        np.zeros((model.nv, 12)), np.zeros(model.nv),
    )  # fmt: skip
    return made, np.array(listed, dtype=np.int64).reshape(-1, 2)


@kernel
def weigh(coupled, q, out):
    """out (n,) = w at the configuration q (nq,)."""
    couplings = coupled.couplings
    look_at_tendons(couplings, q)
    for c in range(coupled.error.shape[0]):
        slope, _ = coupling_slopes(couplings, c, q)
        for t in range(couplings.start[c], couplings.start[c + 1]):
            out[t] = term_weight(couplings, t, slope)
    first = coupled.start[coupled.error.shape[0]]
    for t in range(first, out.shape[0]):
        out[t] = couplings.paths.value[t - first]


@kernel
def look_at_couplings(coupled, centred, pose, nu, q_near, R):
    """Write e, w and the rows at z⁺, which is ``pose`` with the velocities nu (nl, 6)."""
    couplings, q, terms = coupled.couplings, coupled.q, coupled.start[coupled.error.shape[0]]
    if coupled.spatial[0] != 0:
        to_joint_state(centred, pose, nu, q_near, coupled.rates, R, q, coupled.v)
        for t in range(terms):
            for k in range(12):
                coupled.rows[t, k] = coupled.rates[coupled.dof[t], k]
    else:
        for t in range(terms):
            j = coupled.joint[t]
            q[couplings.q[t]] = coordinate_row(centred.tree, pose, coupled.link[t], j, q_near, R, coupled.rows[t])
    if terms > 0:
        weigh(coupled, q, coupled.weight[1])
    for c in range(coupled.error.shape[0]):
        coupled.error[c] = error_at(couplings, q, c)


@kernel
def rates_before(coupled, centred, before, nu, q, R):
    """Write u⁻ of tendons: the rates at the poses ``before`` at which the last step began, with its velocities nu."""
    if coupled.rate.shape[0] == 0:
        return
    to_joint_state(centred, before, nu, q, coupled.rates, R, coupled.q, coupled.v)
    look_along(coupled.couplings.paths, coupled.q)
    for k in range(coupled.rate.shape[0]):
        coupled.rate[k] = rate_along(coupled.couplings.paths, k, coupled.v)


@kernel
def tendon_rate(coupled, joint_step, nu, k):
    """Rate u of the k-th tendon at the velocities nu (nl, 6) of the bodies, by the rows at z."""
    c, total = coupled.error.shape[0] + k, 0.0
    for t in range(coupled.start[c], coupled.start[c + 1]):
        row, a, b, part = joint_step.rates[coupled.dof[t]], coupled.parent[t], coupled.link[t], 0.0
        for m in range(6):
            part += row[m] * nu[a, m] + row[6 + m] * nu[b, m]
        total += coupled.weight[0, t] * part
    return total
