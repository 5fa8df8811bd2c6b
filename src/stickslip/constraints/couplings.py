"""Coupled joints and tendons: rows, errors and rates of e = y₁ − r₁ − Σ a_k·(y₂ − r₂)^k.

    y = Σ c_j·q_j over hinges and slides, or the length ℓ(q) of a spatial tendon, whose c_j are its moment arms
    J = ∂y₁/∂q − a'·∂y₂/∂q,    ė = J·v,    J̇·v = b₁ − a'·b₂ − a''·ẏ₂²,    b the bends of tendons (``dynamics.paths``)

a' = Σ k·a_k·(y₂ − r₂)^(k−1), a'' is its derivative. ``look_at_tendons`` brings lengths and moment arms up to date; it
comes before all others.
Sizes: nc couplings with n terms in all. Cost: terms of a coupling, and the ancestors of its joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.paths import Paths, bend_along, look_along, make_paths
from stickslip.model.loops import Coupling
from stickslip.model.model import Model


class Couplings(NamedTuple):
    """Couplings as arrays."""

    start: np.ndarray
    """(nc + 1,) coupling c has the terms start[c] … start[c + 1] − 1."""
    second: np.ndarray
    """(n,) 1 where a term is of y₂."""
    q: np.ndarray
    """(n,) its coordinate in q, and ``dof`` (n,) its velocity in v."""
    dof: np.ndarray
    factor: np.ndarray
    """(n,) c_j."""
    arm: np.ndarray
    """(n,) where c_j is among the moment arms of ``paths``; −1 for constants."""
    tendon: np.ndarray
    """(nc, 2) the tendons of ``paths`` that y₁ and y₂ are; −1 for sums of joint coordinates."""
    paths: Paths
    polynomial: np.ndarray
    """(nc, 5) a₀ … a₄."""
    reference: np.ndarray
    """(nc, 2) r₁ and r₂."""
    support_start: np.ndarray
    """(nc + 1,) the velocities of coupling c and their ancestors, in descending order, are
    support[support_start[c]:support_start[c + 1]]."""
    support: np.ndarray


def make_couplings(model: Model, couplings: Sequence[Coupling], tendons: Sequence[int] = ()) -> Couplings:
    """The arrays of these couplings; ``paths`` begins with the given tendons, whatever they are for."""
    spatial = [t for c in couplings for t in c.tendons if t >= 0]
    paths = make_paths(model, [*tendons, *spatial])
    own = np.full((len(couplings), 2), -1, dtype=np.int64)
    start, second, place, dof, factor, arm = [0], [], [], [], [], []  # type: ignore[var-annotated]
    supports, used = [np.zeros(0, dtype=np.int64)], len(tendons)
    for i, c in enumerate(couplings):
        for side, (joints, factors) in enumerate(((c.joints1, c.factors1), (c.joints2, c.factors2))):
            terms = [
                (int(model.tree.joint_q[j]), int(model.tree.joint_v[j]), x, -1)
                for j, x in zip(joints, factors, strict=True)
            ]
            if c.tendons[side] >= 0:
                own[i, side], at = used, range(paths.start[used], paths.start[used + 1])
                terms, used = [(0, int(paths.column[k]), 0.0, k) for k in at], used + 1
            for q, d, x, k in terms:
                second, place, dof = [*second, side], [*place, q], [*dof, d]
                factor, arm = [*factor, x], [*arm, k]
        start.append(len(dof))
        ancestors: set[int] = set()
        for d in dof[start[-2] :]:
            ancestors |= set(map(int, model.support.column[model.support.start[d] : model.support.start[d + 1]]))
        supports.append(np.array(sorted(ancestors, reverse=True), dtype=np.int64))

    def whole(values) -> np.ndarray:
        return np.array(values, dtype=np.int64)

    return Couplings(
        whole(start), whole(second), whole(place), whole(dof), np.array(factor, dtype=float), whole(arm), own, paths,
        np.array([c.polynomial for c in couplings], dtype=float).reshape(-1, 5),
        np.array([c.reference for c in couplings], dtype=float).reshape(-1, 2),
        np.cumsum([len(s) for s in supports]).astype(np.int64), np.concatenate(supports),
    )  # fmt: skip


def widest(couplings: Couplings) -> int:
    """The largest number of velocities in a row, ancestors included."""
    return int(np.max(np.diff(couplings.support_start), initial=0))


@kernel
def look_at_tendons(couplings, q):
    """Bring lengths and moment arms of tendons up to date, at the configuration q (nq,)."""
    if couplings.paths.length.shape[0] > 0:
        look_along(couplings.paths, q)
        take_arms(couplings)


@kernel
def bend_tendons(couplings, q, v):
    """``look_at_tendons``, and the bends at the velocity v (nv,)."""
    if couplings.paths.length.shape[0] > 0:
        bend_along(couplings.paths, q, v)
        take_arms(couplings)


@kernel
def take_arms(couplings):
    """Write the moment arms of tendons into the factors of their terms."""
    for k in range(couplings.arm.shape[0]):
        if couplings.arm[k] >= 0:
            couplings.factor[k] = couplings.paths.value[couplings.arm[k]]


@kernel
def sums(couplings, c, x, places):
    """Σ c_j·x of y₁ and of y₂; ``places`` (n,) says where the terms are in x."""
    one, two = 0.0, 0.0
    for k in range(couplings.start[c], couplings.start[c + 1]):
        part = couplings.factor[k] * x[places[k]]
        if couplings.second[k] == 0:
            one += part
        else:
            two += part
    return one, two


@kernel
def coordinates(couplings, c, q):
    """(y₁, y₂) at the configuration q."""
    one, two = sums(couplings, c, q, couplings.q)
    if couplings.tendon[c, 0] >= 0:
        one = couplings.paths.length[couplings.tendon[c, 0]]
    if couplings.tendon[c, 1] >= 0:
        two = couplings.paths.length[couplings.tendon[c, 1]]
    return one, two


@kernel
def polynomial(couplings, c, x):
    """The polynomial at x = y₂ − r₂, its first and its second derivative."""
    a = couplings.polynomial[c]
    value = a[0] + x * (a[1] + x * (a[2] + x * (a[3] + x * a[4])))
    slope = a[1] + x * (2.0 * a[2] + x * (3.0 * a[3] + x * 4.0 * a[4]))
    return value, slope, 2.0 * a[2] + x * (6.0 * a[3] + x * 12.0 * a[4])


@kernel
def coupling_slopes(couplings, c, q):
    """(a', a'') at the configuration q."""
    _, two = coordinates(couplings, c, q)
    _, slope, bend = polynomial(couplings, c, two - couplings.reference[c, 1])
    return slope, bend


@kernel
def term_weight(couplings, t, slope):
    """Entry of J for term t of a coupling whose a' is ``slope``: c_j, or −a'·c_j of y₂."""
    return couplings.factor[t] * (1.0 if couplings.second[t] == 0 else -slope)


@kernel
def error_at(couplings, q, c):
    """e at the configuration q (nq,) [m or rad]."""
    one, two = coordinates(couplings, c, q)
    value, _, _ = polynomial(couplings, c, two - couplings.reference[c, 1])
    return one - couplings.reference[c, 0] - value


@kernel
def coupling_error(couplings, kin, c):
    """e at the configuration of ``kin`` [m or rad]."""
    return error_at(couplings, kin.q, c)


@kernel
def coupling_rate(couplings, kin, c):
    """(ė, J̇·v) at the configuration and velocity of ``kin``, after ``bend_tendons``."""
    slope, bend = coupling_slopes(couplings, c, kin.q)
    one, two = sums(couplings, c, kin.v, couplings.dof)
    turn = -bend * two * two
    if couplings.tendon[c, 0] >= 0:
        turn += couplings.paths.bend[couplings.tendon[c, 0]]
    if couplings.tendon[c, 1] >= 0:
        turn -= slope * couplings.paths.bend[couplings.tendon[c, 1]]
    return one - slope * two, turn


@kernel
def coupling_row(couplings, kin, c, g, rows):
    """Fill group g of ``rows`` (dynamics.delassus.ContactRows): J, then two empty rows."""
    slope, _ = coupling_slopes(couplings, c, kin.q)
    first = couplings.support_start[c]
    n = couplings.support_start[c + 1] - first
    for k in range(n):
        rows.dofs[g, k] = couplings.support[first + k]
        rows.J[g, k, 0] = rows.J[g, k, 1] = rows.J[g, k, 2] = 0.0
    for t in range(couplings.start[c], couplings.start[c + 1]):
        weight = term_weight(couplings, t, slope)
        for k in range(n):
            if rows.dofs[g, k] == couplings.dof[t]:
                rows.J[g, k, 0] += weight
    rows.length[g] = n
