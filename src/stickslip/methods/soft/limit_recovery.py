"""Recovery of joint limits that are springs: a start outside a joint's range is undone at a bounded speed.

A joint that starts outside its range by more than r·b/k has a wider range for a while, up to where it starts. The range
then narrows with the speed r of ``methods.recovery`` (``rate`` of hinges and ball joints, ``speed`` of slides) until it
is the joint's own. From r·b/k, with k and b the stiffness and damping of the limit, its spring itself pushes with at
most r. Kernels of joint forces see the present range and know nothing of this. Cost: a comparison per step, or a loop
over the joints while one of them recovers.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.quaternion import logarithm
from stickslip.methods.recovery import Recovery
from stickslip.model.arrays import BALL, HINGE, SLIDE, JointForces
from stickslip.model.model import Model

NOT_BEGUN, INSIDE, RECOVERS = 0, 1, 2
"""Values of ``Limits.phase``."""


class Limits(NamedTuple):
    """The ranges of joints, and by how much they are wider at present."""

    range: np.ndarray
    """(nj, 2) the joints' own ranges [m or rad]; constant."""
    speed: np.ndarray
    """(nj,) the fastest recovery [m/s or rad/s]; infinite if there is no bound; constant."""
    beyond: np.ndarray
    """(nj, 2) by how much the present range goes beyond at both ends [m or rad]; part of the memory."""
    phase: np.ndarray
    """(1,) NOT_BEGUN, INSIDE or RECOVERS; part of the memory."""


def make_limits(model: Model, recovery: Recovery) -> Limits:
    slides = model.tree.joint_type == SLIDE
    own = model.joint_forces.range
    return Limits(
        range=own,
        speed=np.where(slides, recovery.speed, recovery.rate),
        beyond=np.zeros_like(own),
        phase=np.zeros(1, dtype=np.int64),
    )


def limits_memory(limits: Limits) -> dict[str, np.ndarray]:
    """What the future depends on, for ``Method.memory``."""
    return {"beyond": limits.beyond, "limits": limits.phase}


def put_ranges(passive: JointForces, limits: Limits) -> None:
    """Bring the ranges that joint forces see up to date with the memory."""
    passive.range[:] = limits.range + limits.beyond * (-1.0, 1.0)


@kernel
def begin_limits(tree, passive, limits, q):
    """At the first step from q: widen the ranges of joints that start outside. ``passive.range`` is the range that
    forces see; the later calls do nothing."""
    if limits.phase[0] != NOT_BEGUN:
        return
    limits.phase[0] = INSIDE
    for j in range(tree.joint_type.shape[0]):
        low, high = 0.0, 0.0
        i, kind = tree.joint_q[j], tree.joint_type[j]
        if passive.limited[j] != 0 and (kind == HINGE or kind == SLIDE):
            low, high = limits.range[j, 0] - q[i], q[i] - limits.range[j, 1]
        elif passive.limited[j] != 0 and kind == BALL:
            x, y, z = logarithm(q[i], q[i + 1], q[i + 2], q[i + 3])
            high = sqrt(x * x + y * y + z * z) - limits.range[j, 1]
        bearable = limits.speed[j] * passive.limit_damping[j]
        stiffness = passive.limit_stiffness[j]
        limits.beyond[j, 0] = low if stiffness * max(0.0, low) > bearable else 0.0
        limits.beyond[j, 1] = high if stiffness * max(0.0, high) > bearable else 0.0
        if limits.beyond[j, 0] > 0.0 or limits.beyond[j, 1] > 0.0:
            limits.phase[0] = RECOVERS
        put_range(passive, limits, j)


@kernel
def put_range(passive, limits, j):
    passive.range[j, 0] = limits.range[j, 0] - limits.beyond[j, 0]
    passive.range[j, 1] = limits.range[j, 1] + limits.beyond[j, 1]


@kernel
def narrow_limits(passive, limits, dt):
    """After a step of dt [s]: narrow the ranges that are still wider than the joints' own."""
    if limits.phase[0] != RECOVERS:
        return
    limits.phase[0] = INSIDE
    for j in range(limits.speed.shape[0]):
        for side in range(2):
            if limits.beyond[j, side] > 0.0:
                limits.beyond[j, side] = max(0.0, limits.beyond[j, side] - limits.speed[j] * dt)
                limits.phase[0] = RECOVERS
        put_range(passive, limits, j)
