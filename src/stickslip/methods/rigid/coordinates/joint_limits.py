"""Joint limits as unilateral rows with gap ψ ≥ 0 and rate ψ̇ = g·v.

    hinge, slide   ψ = q − lower, g = +1;   ψ = upper − q, g = −1
    ball           ψ = largest − |φ|, g = −φ/|φ|, φ the rotation vector of its quaternion (d|φ|/dt = ω·φ/|φ| exactly)

``angular`` says which gaps are angles, for all but those of slides.
A limit is near if the joint is within ``NEAR`` of its range from it, or would be within the step by its free velocity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.implicit_joint_forces import axis_and_angle
from stickslip.model.arrays import BALL, FREE, SLIDE

NEAR = 0.05
"""Part of a joint's range within which a limit is near."""


class Limits(NamedTuple):
    """Rows of the joint limits that are near, as ``near_limits`` writes them; room for two per joint."""

    start: np.ndarray
    column: np.ndarray
    value: np.ndarray
    gap: np.ndarray
    angular: np.ndarray


def make_limits(joints: int) -> Limits:
    n = 2 * joints
    start, column = np.zeros(n + 1, dtype=np.int64), np.zeros(3 * n, dtype=np.int64)
    return Limits(start, column, np.zeros(3 * n), np.zeros(n), np.zeros(n, dtype=np.bool_))


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
