"""Coupled joints: rows, errors and rates of e = y₁ − r₁ − Σ a_k·(y₂ − r₂)^k, y = Σ c_j·q_j over hinges and slides.

    J = ∂y₁/∂q − a'·∂y₂/∂q,    ė = J·v,    J̇·v = −a''·ẏ₂²,    a' = Σ k·a_k·(y₂ − r₂)^(k−1),  a'' its derivative

Sizes: nc couplings with n terms in all. Cost: terms of a coupling, and the ancestors of its joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
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
    polynomial: np.ndarray
    """(nc, 5) a₀ … a₄."""
    reference: np.ndarray
    """(nc, 2) r₁ and r₂."""
    support_start: np.ndarray
    """(nc + 1,) the velocities of coupling c and their ancestors, in descending order, are
    support[support_start[c]:support_start[c + 1]]."""
    support: np.ndarray


def make_couplings(model: Model, couplings: Sequence[Coupling]) -> Couplings:
    start, second, joint, factor, supports = [0], [], [], [], [np.zeros(0, dtype=np.int64)]
    for c in couplings:
        second += [0] * len(c.joints1) + [1] * len(c.joints2)
        joint += [*c.joints1, *c.joints2]
        factor += [*c.factors1, *c.factors2]
        start.append(len(joint))
        ancestors: set[int] = set()
        for j in (*c.joints1, *c.joints2):
            d = int(model.tree.joint_v[j])
            ancestors |= set(map(int, model.support.column[model.support.start[d] : model.support.start[d + 1]]))
        supports.append(np.array(sorted(ancestors, reverse=True), dtype=np.int64))
    joints = np.array(joint, dtype=np.int64)
    return Couplings(
        np.array(start, dtype=np.int64), np.array(second, dtype=np.int64), model.tree.joint_q[joints],
        model.tree.joint_v[joints], np.array(factor, dtype=float),
        np.array([c.polynomial for c in couplings], dtype=float).reshape(-1, 5),
        np.array([c.reference for c in couplings], dtype=float).reshape(-1, 2),
        np.cumsum([len(s) for s in supports]).astype(np.int64), np.concatenate(supports),
    )  # fmt: skip


def widest(couplings: Couplings) -> int:
    """The largest number of velocities in a row, ancestors included."""
    return int(np.max(np.diff(couplings.support_start), initial=0))


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
def polynomial(couplings, c, x):
    """The polynomial at x = y₂ − r₂, its first and its second derivative."""
    a = couplings.polynomial[c]
    value = a[0] + x * (a[1] + x * (a[2] + x * (a[3] + x * a[4])))
    slope = a[1] + x * (2.0 * a[2] + x * (3.0 * a[3] + x * 4.0 * a[4]))
    return value, slope, 2.0 * a[2] + x * (6.0 * a[3] + x * 12.0 * a[4])


@kernel
def coupling_slopes(couplings, c, q):
    """(a', a'') at the configuration q."""
    _, two = sums(couplings, c, q, couplings.q)
    _, slope, bend = polynomial(couplings, c, two - couplings.reference[c, 1])
    return slope, bend


@kernel
def term_weight(couplings, t, slope):
    """Entry of J for term t of a coupling whose a' is ``slope``: c_j, or −a'·c_j of y₂."""
    return couplings.factor[t] * (1.0 if couplings.second[t] == 0 else -slope)


@kernel
def coupling_error(couplings, kin, c):
    """e at the configuration of ``kin`` [m or rad]."""
    one, two = sums(couplings, c, kin.q, couplings.q)
    value, _, _ = polynomial(couplings, c, two - couplings.reference[c, 1])
    return one - couplings.reference[c, 0] - value


@kernel
def coupling_rate(couplings, kin, c):
    """(ė, J̇·v) at the configuration and velocity of ``kin``."""
    slope, bend = coupling_slopes(couplings, c, kin.q)
    one, two = sums(couplings, c, kin.v, couplings.dof)
    return one - slope * two, -bend * two * two


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
