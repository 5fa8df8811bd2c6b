"""Transmissions: lengths, rates and moment arms of all tendons and actuators at a state.

The length of a ball joint is gear·(rotation vector); of a free joint it is zero. Their gear is in the axes of the
child, or with JOINT_IN_PARENT in those of the parent (of the world, for a free joint).
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.tendon_paths import spatial_rows
from stickslip.math.quaternion import logarithm, to_matrix
from stickslip.model.arrays import FREE, HINGE, JOINT, JOINT_IN_PARENT, ON_JOINT, SLIDE, TENDON


@kernel
def transmit(drives, q, v):
    """Write length, rate and moment arms of every row at q (nq,) and v (nv,)."""
    t, a, nt = drives.tendons, drives.actuators, drives.tendons.limited.shape[0]
    if drives.links.shape[0] > 0:
        spatial_rows(drives, q)
    for k in range(nt):
        if t.kind[t.start[k]] == ON_JOINT:
            fixed_row(drives, k, q)
    for k in range(a.transmission.shape[0]):
        kind = a.transmission[k]
        if kind == JOINT or kind == JOINT_IN_PARENT:
            joint_row(drives, nt + k, k, q)
        elif kind == TENDON:
            follow_tendon(drives, nt + k, a.target[k], a.gear[k, 0])
    for r in range(drives.rate.shape[0]):
        rate = 0.0
        for i in range(drives.start[r], drives.start[r + 1]):
            rate += drives.value[i] * v[drives.column[i]]
        drives.rate[r] = rate


@kernel
def fixed_row(drives, t, q):
    """ℓ = Σ coefficient·q; a joint may be named twice."""
    tree, x, length = drives.tree, drives.tendons, 0.0
    for i in range(drives.start[t], drives.start[t + 1]):
        drives.value[i] = 0.0
    for e in range(x.start[t], x.start[t + 1]):
        j = x.on[e]
        length += x.number[e] * q[tree.joint_q[j]]
        for i in range(drives.start[t], drives.start[t + 1]):
            if drives.column[i] == tree.joint_v[j]:
                drives.value[i] += x.number[e]
    drives.length[t] = length


@kernel
def follow_tendon(drives, r, t, gear):
    drives.length[r] = gear * drives.length[t]
    shift = drives.start[r] - drives.start[t]
    for i in range(drives.start[t], drives.start[t + 1]):
        drives.value[i + shift] = gear * drives.value[i]


@kernel
def joint_row(drives, r, k, q):
    """An actuator on a joint."""
    tree = drives.tree
    a, j, first = drives.actuators, drives.actuators.target[k], drives.start[r]
    kind, i = tree.joint_type[j], tree.joint_q[j]
    if kind == HINGE or kind == SLIDE:
        drives.length[r] = a.gear[k, 0] * q[i]
        drives.value[first] = a.gear[k, 0]
        return
    drives.length[r], turn = 0.0, 0
    if kind == FREE:
        for m in range(3):
            drives.value[first + m] = a.gear[k, m]
        i, turn = i + 3, 3
    gx, gy, gz = a.gear[k, turn], a.gear[k, turn + 1], a.gear[k, turn + 2]
    if kind != FREE:
        x, y, z = logarithm(q[i], q[i + 1], q[i + 2], q[i + 3])
        drives.length[r] = gx * x + gy * y + gz * z
    if a.transmission[k] == JOINT_IN_PARENT:
        b0, b1, b2, b3, b4, b5, b6, b7, b8 = to_matrix(q[i], q[i + 1], q[i + 2], q[i + 3])
        gx, gy, gz = b0 * gx + b3 * gy + b6 * gz, b1 * gx + b4 * gy + b7 * gz, b2 * gx + b5 * gy + b8 * gz
    drives.value[first + turn] = gx
    drives.value[first + turn + 1] = gy
    drives.value[first + turn + 2] = gz
