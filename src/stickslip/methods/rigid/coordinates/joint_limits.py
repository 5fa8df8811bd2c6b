"""Rows of single joints: limits, unilateral with gap ψ ≥ 0 and rate ψ̇ = g·v, and dry friction.

    hinge, slide   ψ = q − lower, g = +1;   ψ = upper − q, g = −1
    ball           ψ = largest − |φ|, g = −φ/|φ|, φ the rotation vector of its quaternion (d|φ|/dt = ω·φ/|φ| exactly)

``angular`` says which gaps are angles, for all but those of slides.
A limit is near if the joint is within ``NEAR`` of its range from it, or would be within the step by its free velocity.

Dry friction of a joint velocity v_d with the force f is |λ| ≤ f·dt, with λ = −f·dt·sign(v_d) where the joint moves. It
is a contact whose first tangent is the joint velocity and whose normal is its own: the normal has no velocities, only
a mass, and an impulse that is f·dt by its offset (``dry_offset``). So every solver of contacts solves it, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.implicit_joint_forces import axis_and_angle
from stickslip.model.arrays import BALL, FREE, SLIDE, JointForces

NEAR = 0.05
"""Part of a joint's range within which a limit is near."""


class Limits(NamedTuple):
    """Rows of joints, as ``joint_rows`` writes them: near limits, then dry friction; room for two limits per joint."""

    start: np.ndarray
    column: np.ndarray
    value: np.ndarray
    gap: np.ndarray
    angular: np.ndarray
    bound: np.ndarray
    """Largest impulse of dry friction [N s or N m s]; 0 for limits."""


def make_limits(passive: JointForces) -> Limits:
    n = 2 * len(passive.limited) + np.count_nonzero(passive.friction)
    start, column = np.zeros(n + 1, dtype=np.int64), np.zeros(3 * n, dtype=np.int64)
    return Limits(start, column, np.zeros(3 * n), np.zeros(n), np.zeros(n, dtype=np.bool_), np.zeros(n))


@kernel
def joint_rows(tree, passive, q, v, dt, limits):
    """Write the rows of near limits and of dry friction; returns how many there are of both, and of dry friction."""
    n = near_limits(
        tree, passive, q, v, dt, limits.start, limits.column, limits.value, limits.gap, limits.angular
    )  # fmt: skip
    m, dry = limits.start[n], 0
    for i in range(n):
        limits.bound[i] = 0.0
    for d in range(passive.friction.shape[0]):
        if passive.friction[d] > 0.0:
            limits.value[m], limits.column[m], m = 1.0, d, m + 1
            limits.gap[n], limits.angular[n], limits.bound[n] = 0.0, True, dt * passive.friction[d]
            n, dry = n + 1, dry + 1
            limits.start[n] = m
    return n, dry


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
