"""Lengths and moment arms of some of a model's tendons, for rows of constraints: friction, limits and couplings.

    ℓ(q),    J = ∂ℓ/∂q,    bend = J̇·v = d(J·v)/ds at q ⊕ s·v, by a central difference of fourth order

``Paths`` are what ``drives.Drives`` are for forces, without actuators and with scratch of their own. The kernels of
``tendon_paths`` and ``transmission`` fill both.
Sizes: nt tendons, nnz velocities that can change them. Cost: links of the paths, and five times that for the bend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.drives import LinkPoses, above, tendon_columns
from stickslip.dynamics.kinematics import place_links
from stickslip.dynamics.tendon_paths import tendon_row
from stickslip.dynamics.transmission import fixed_row
from stickslip.model.arrays import ON_JOINT, PULLEY, Tree
from stickslip.model.model import Model

AHEAD = 2e-4
"""Largest motion of a joint for the difference that gives the bend [m or rad]."""


class Elements(NamedTuple):
    """What the paths of tendons run through; as in ``model.arrays.Tendons``."""

    start: np.ndarray
    kind: np.ndarray
    on: np.ndarray
    number: np.ndarray
    pos: np.ndarray
    rot: np.ndarray
    side: np.ndarray
    side_link: np.ndarray
    side_pos: np.ndarray


class Paths(NamedTuple):
    """Tendons with their lengths and moment arms, at the configuration of the last ``look_along``."""

    tree: Tree
    tendons: Elements
    links: np.ndarray
    """The links whose poses are needed, parents first."""
    link_dof: np.ndarray
    dof_parent: np.ndarray
    start: np.ndarray
    """(nt + 1,) where the moment arms of each tendon begin."""
    column: np.ndarray
    """(nnz,) their joint velocities, ascending in each tendon."""
    value: np.ndarray
    """(nnz,) J."""
    length: np.ndarray
    """(nt,) ℓ."""
    bend: np.ndarray
    """(nt,) J̇·v of the last ``bend_along``."""
    poses: LinkPoses
    arm: np.ndarray
    """(nv,) scratch, zero between tendons."""
    q: np.ndarray
    """(nq,) scratch."""


def make_paths(model: Model, which: Sequence[int]) -> Paths:
    """The tendons ``which`` of a model."""
    t, nl = model.tendons, model.nlink
    pick = [np.arange(t.start[k], t.start[k + 1]) for k in which]
    chosen = np.concatenate([np.zeros(0, dtype=np.int64), *pick])
    own = np.concatenate([[0], np.cumsum([len(p) for p in pick])]).astype(np.int64)
    elements = Elements(
        own, *(a[chosen] for a in (t.kind, t.on, t.number, t.pos, t.rot, t.side, t.side_link, t.side_pos))
    )
    spatial = (elements.kind != ON_JOINT) & (elements.kind != PULLEY)
    links = {*elements.on[spatial].tolist(), *elements.side_link[elements.side != 0].tolist()}
    rows = [tendon_columns(model, int(k)) for k in which]
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    rot = np.zeros((nl, 3, 3))
    rot[:] = np.eye(3)
    return Paths(
        model.tree, elements, above(model, links), model.support.link_dof, model.support.dof_parent, start,
        np.array([d for row in rows for d in row], dtype=np.int64), np.zeros(int(start[-1])), np.zeros(len(rows)),
        np.zeros(len(rows)), LinkPoses(np.zeros((nl, 3)), rot, np.zeros((nl, 3)), np.zeros((model.nv, 6))),
        np.zeros(model.nv), np.zeros(model.nq),
    )  # fmt: skip


@kernel(inline=False)
def look_along(paths, q):
    """Write lengths and moment arms at q (nq,)."""
    if paths.links.shape[0] > 0:
        place_links(paths.tree, paths.links, 0, q, paths.poses)
    for t in range(paths.length.shape[0]):
        if paths.tendons.kind[paths.tendons.start[t]] == ON_JOINT:
            fixed_row(paths, t, q)
        else:
            tendon_row(paths, t)


@kernel
def rate_along(paths, t, v):
    """J·v of tendon t."""
    rate = 0.0
    for i in range(paths.start[t], paths.start[t + 1]):
        rate += paths.value[i] * v[paths.column[i]]
    return rate


@kernel(inline=False)
def bend_along(paths, q, v):
    """Write J̇·v at q (nq,) and v (nv,), then lengths and moment arms at q."""
    fastest = 0.0
    for t in range(paths.bend.shape[0]):
        paths.bend[t] = 0.0
    for i in range(paths.column.shape[0]):
        fastest = max(fastest, abs(v[paths.column[i]]))
    if paths.links.shape[0] > 0 and fastest > 0.0:
        h = AHEAD / fastest
        for k in range(4):
            side = k - 2 if k < 2 else k - 1
            weight = (8.0 if abs(side) == 1 else -1.0) / (12.0 * h)
            integrate(paths.tree, q, v, side * h, paths.q)
            look_along(paths, paths.q)
            for t in range(paths.bend.shape[0]):
                paths.bend[t] += weight * (1.0 if side > 0 else -1.0) * rate_along(paths, t, v)
    look_along(paths, q)
