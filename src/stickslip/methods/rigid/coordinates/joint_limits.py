"""Rows of joints and tendons: limits, unilateral with gap ψ ≥ 0 and rate ψ̇ = g·v, and dry friction.

    hinge, slide   ψ = q − lower, g = +1;   ψ = upper − q, g = −1
    tendon         the same of its length ℓ, g = ±∂ℓ/∂q at the beginning of the step
    ball           ψ = largest − |φ|, g = −φ/|φ|, φ the rotation vector of its quaternion (d|φ|/dt = ω·φ/|φ| exactly)

``angular`` says which gaps are angles, for all but those of slides.
A limit is near if the joint is within ``NEAR`` of its range from it, or would be within the step by its free velocity.

Dry friction of a joint velocity v_d with the force f is |λ| ≤ f·dt, with λ = −f·dt·sign(v_d) where the joint moves;
along a tendon it is the same with ∂ℓ/∂q·v. It
is a contact whose first tangent is that rate and whose normal is its own: the normal has no velocities, only
a mass, and an impulse that is f·dt by its offset (``dry_offset``). So every solver of contacts solves it, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.drives import tendon_columns
from stickslip.dynamics.implicit_joint_forces import axis_and_angle
from stickslip.dynamics.paths import Paths, look_along, make_paths, rate_along
from stickslip.model.arrays import BALL, FREE, ON_JOINT, SLIDE
from stickslip.model.model import Model

NEAR = 0.05
"""Part of a joint's range within which a limit is near."""


SHORTEST_ARM = 1e-9
"""Moment arms below this count as none [m or 1]."""


class TendonRows(NamedTuple):
    """The tendons with limits or dry friction; nt of them."""

    paths: Paths
    limited: np.ndarray
    """(nt,) 1 where the length has a range."""
    range: np.ndarray
    """(nt, 2) shortest and longest length [m or rad]."""
    friction: np.ndarray
    """(nt,) dry friction [N or N m]."""
    angular: np.ndarray
    """(nt,) whether the length is an angle: sums of hinges."""


class Limits(NamedTuple):
    """Rows of joints and tendons, as ``joint_rows`` writes them: near limits, then dry friction."""

    start: np.ndarray
    column: np.ndarray
    value: np.ndarray
    gap: np.ndarray
    angular: np.ndarray
    bound: np.ndarray
    """Largest impulse of dry friction [N s or N m s]; 0 for limits."""
    tendons: TendonRows


def make_limits(model: Model, tendons: bool = True) -> Limits:
    """Room for two limits per joint and tendon, and for dry friction; of tendons only if ``tendons``."""
    passive, along = model.joint_forces, make_tendon_rows(model, tendons)
    wide, ends = np.diff(along.paths.start), 2 * along.limited + (along.friction > 0.0)
    joints = 2 * len(passive.limited) + np.count_nonzero(passive.friction)
    n, size = joints + int(ends.sum()), 3 * joints + int(ends @ wide)
    start, column = np.zeros(n + 1, dtype=np.int64), np.zeros(size, dtype=np.int64)
    return Limits(start, column, np.zeros(size), np.zeros(n), np.zeros(n, dtype=np.bool_), np.zeros(n), along)


def make_tendon_rows(model: Model, tendons: bool) -> TendonRows:
    t = model.tendons
    moves = np.array([len(tendon_columns(model, k)) > 0 for k in range(len(t.limited))], dtype=bool)
    which = np.flatnonzero(((t.limited != 0) | (t.frictionloss > 0.0)) & moves & tendons)
    angular = [_is_angle(model, int(k)) for k in which]
    return TendonRows(
        make_paths(model, which.tolist()), t.limited[which], t.range[which], t.frictionloss[which],
        np.array(angular, dtype=np.bool_),
    )  # fmt: skip


def _is_angle(model: Model, t: int) -> bool:
    own = slice(model.tendons.start[t], model.tendons.start[t + 1])
    if np.any(model.tendons.kind[own] != ON_JOINT):
        return False
    return bool(np.all(model.tree.joint_type[model.tendons.on[own]] != SLIDE))


def widest(model: Model, limits: Limits) -> int:
    """The largest number of velocities in a row of a tendon, ancestors included."""
    paths, most, up = limits.tendons.paths, 0, model.support
    for t in range(len(paths.length)):
        own = paths.column[paths.start[t] : paths.start[t + 1]]
        most = max(most, len({int(e) for d in own for e in up.column[up.start[d] : up.start[d + 1]]}))
    return most


def joined_trees(model: Model, limits: Limits) -> np.ndarray:
    """(nl,) as ``Support.link_root_dof``, with one root for all trees that a tendon's row joins."""
    root, paths = model.support.link_root_dof.copy(), limits.tendons.paths
    for t in range(len(paths.length)):
        own = np.unique(root[model.support.dof_link[paths.column[paths.start[t] : paths.start[t + 1]]]])
        root[np.isin(root, own)] = own[0]
    return root


@kernel
def joint_rows(tree, passive, q, v, dt, limits):
    """Write the rows of near limits and of dry friction; returns how many there are of both, and of dry friction."""
    n = near_limits(
        tree, passive, q, v, dt, limits.start, limits.column, limits.value, limits.gap, limits.angular
    )  # fmt: skip
    along = limits.tendons
    if along.limited.shape[0] > 0:
        look_along(along.paths, q)
        n = near_tendon_limits(v, dt, limits, n)
    m, dry = limits.start[n], 0
    for i in range(n):
        limits.bound[i] = 0.0
    for d in range(passive.friction.shape[0]):
        if passive.friction[d] > 0.0:
            limits.value[m], limits.column[m], m = 1.0, d, m + 1
            limits.gap[n], limits.angular[n], limits.bound[n] = 0.0, True, dt * passive.friction[d]
            n, dry = n + 1, dry + 1
            limits.start[n] = m
    for t in range(along.friction.shape[0]):
        if along.friction[t] > 0.0 and moves(along.paths, t):
            limits.gap[n], limits.angular[n], limits.bound[n] = 0.0, True, dt * along.friction[t]
            tendon_entries(limits, t, 1.0, n)
            n, dry = n + 1, dry + 1
    return n, dry


@kernel
def moves(paths, t):
    """Whether some joint changes the length of tendon t; at a dead centre none does, and there is no row."""
    most = 0.0
    for k in range(paths.start[t], paths.start[t + 1]):
        most = max(most, abs(paths.value[k]))
    return most > SHORTEST_ARM


@kernel
def tendon_entries(limits, t, sign, n):
    """Row n = sign·∂ℓ/∂q of tendon t."""
    paths, m = limits.tendons.paths, limits.start[n]
    for k in range(paths.start[t], paths.start[t + 1]):
        limits.value[m], limits.column[m], m = sign * paths.value[k], paths.column[k], m + 1
    limits.start[n + 1] = m


@kernel
def near_tendon_limits(v, dt, limits, n):
    """Add the limits of tendons to n rows, as ``near_limits`` those of joints; returns how many there are then."""
    along = limits.tendons
    for t in range(along.limited.shape[0]):
        if along.limited[t] == 0 or not moves(along.paths, t):
            continue
        low, high, length = along.range[t, 0], along.range[t, 1], along.paths.length[t]
        near, rate = NEAR * (high - low), rate_along(along.paths, t, v)
        for side in range(2):
            sign = 1.0 - 2.0 * side
            distance = length - low if side == 0 else high - length
            if distance + dt * min(0.0, sign * rate) < near:
                tendon_entries(limits, t, sign, n)
                limits.gap[n], limits.angular[n] = distance, along.angular[t]
                n += 1
    return n


@kernel
def near_limits(tree, passive, q, v, dt, start, column, value, gap, angular):
    """Write CSR rows and gaps of the limits near q; returns how many.

    v (nv,) is the free velocity. The arrays need room for 2 limits per joint, with 3 entries each.
    """
    n, m = 0, 0
    start[0] = 0
    for j in range(tree.joint_type.shape[0]):
        kind, i, d = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j]
        if passive.limited[j] == 0 or kind == FREE:
            continue
        low, high = passive.range[j, 0], passive.range[j, 1]
        near = NEAR * (high - low)
        if kind == BALL:
            x, y, z, angle = axis_and_angle(q, i)
            rate = x * v[d] + y * v[d + 1] + z * v[d + 2]
            if high - angle - dt * max(0.0, rate) < near and angle > 0.0:
                value[m], value[m + 1], value[m + 2] = -x, -y, -z
                column[m], column[m + 1], column[m + 2] = d, d + 1, d + 2
                m += 3
                gap[n], angular[n] = high - angle, True
                n += 1
                start[n] = m
            continue
        for side in range(2):
            sign = 1.0 - 2.0 * side
            distance = q[i] - low if side == 0 else high - q[i]
            if distance + dt * min(0.0, sign * v[d]) < near:
                value[m], column[m] = sign, d
                m += 1
                gap[n], angular[n] = distance, kind != SLIDE
                n += 1
                start[n] = m
    return n


@kernel
def limit_rates(limits, n, rates, out):
    """out (n, 12): rows of n limits over the velocities of two free bodies, from the rates (nv, 12) of the joints."""
    for i in range(n):
        for m in range(12):
            out[i, m] = 0.0
            for k in range(limits.start[i], limits.start[i + 1]):
                out[i, m] += limits.value[k] * rates[limits.column[k], m]
