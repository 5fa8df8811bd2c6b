"""Recovery: how fast a step undoes what should never have been, an overlap or a joint outside its range.

A law asks for a normal velocity u_n ≥ −b, b < 0 where bodies overlap. Deep overlaps (of a start, mostly) would be left
at a speed that grows with their depth over dt, and bodies that something else holds together (joint limits, other
bodies) cannot part at all: then no impulses solve the problem, and solvers answer with any number. Hence

    u_n + R·p_n ≥ (1 + YIELD·w)·min(−b, s),    R = YIELD·w·W,    w = (min(−b/s, 1) − SHALLOW)/(1 − SHALLOW), or 0

with s the fastest recovery: the typical radius of the links per ``recovery_time`` [m/s], or a radian in it [rad/s].
W is W_nn, and at least the inverse of the mass of all bodies. Bodies that are free part at s. A blocked overlap pushes
with at most 1 + 1/YIELD times the impulse s/W that would part it if nothing held it; R > 0 makes the problem solvable,
and the larger it is, the faster iterations converge. Rigid contacts have u_t + R·p_t in the place of u_t, too, because
several contacts between two bodies may hold them more than once. Overlaps below SHALLOW·s·dt, which steps leave of
themselves, are treated as if there was no bound, unless no impulse can part them (W_nn is below HELD of that inverse
mass, as between a hip and the base that bears it): then w = 1. With ``recovery_time`` = 0 there is no bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.errors import number
from stickslip.methods.options import option

RECOVERY_TIME = 0.2
"""Default time in which an overlap of a typical radius, or a radian, is undone [s]."""
YIELD = 0.1
"""R of a deep overlap, as a fraction of its own W."""
HELD = 1e-6
"""Part of the inverse of all mass below which W_nn counts as that of a contact that no impulse can move."""
SHALLOW = 0.02
"""Part of the fastest recovery up to which nothing yields."""


class Recovery(NamedTuple):
    """The fastest recovery."""

    speed: float = np.inf
    """Fastest recovery of contacts and slides [m/s]."""
    rate: float = np.inf
    """Fastest recovery of hinges and ball joints [rad/s]."""
    least: float = 0.0
    """Inverse of the mass of all bodies, the least W of contacts [1/kg]."""


UNBOUNDED = Recovery()


def make_recovery(time: float, radius: np.ndarray, mass: np.ndarray) -> Recovery:
    """The fastest recovery for links of these masses (nl,) [kg], with shapes of these radii (nl,) [m], the world first;
    zero: no shape."""
    time = number("recovery_time", time, "a time ≥ 0 [s], 0 for no bound", least=0.0)
    if time == 0.0:
        return UNBOUNDED
    sizes = radius[1:][radius[1:] > 0.0]
    total = float(mass[1:].sum())
    speed = (float(np.median(sizes)) if len(sizes) else 1.0) / time
    return Recovery(speed, 1.0 / time, 1.0 / total if total > 0.0 else 0.0)


def recovery_option() -> float:
    """The field of options by which users choose ``recovery_time``."""
    text = "time [s] in which an overlap of a typical body's radius, or a radian outside a joint's range, is undone"
    return option(RECOVERY_TIME, f"{text}; 0: at once")


def pushed_out(recovery: Recovery, part: str = "") -> str:
    """What becomes of bodies that start inside others, for warnings; ``part`` says how much of it a step undoes."""
    if np.isinf(recovery.speed):
        return f"it is pushed out {part or 'within the first step'}, and keeps the speed that this takes"
    return f"it is pushed out {part and part + ', '}at up to {recovery.speed:.3g} m/s (option 'recovery_time')"


def put_back(recovery: Recovery, part: str = "") -> str:
    """What becomes of joints that start outside their range."""
    if np.isinf(recovery.rate):
        return f"it is put back {part or 'within the first step'}, and keeps the speed that this takes"
    speeds = f"{recovery.rate:.3g} rad/s or {recovery.speed:.3g} m/s"
    return f"it is put back {part and part + ', '}at up to {speeds} (option 'recovery_time')"


@kernel
def recover(offset, most, own, least):
    """(bounded offset [m/s], R [1/kg]) of one contact or limit, whose W_nn is ``own`` [1/kg].

    ``least`` is the least W of contacts, and zero for limits.
    """
    held = own < HELD * least and offset < 0.0
    if offset >= -SHALLOW * most and not held:
        return offset, 0.0
    part = 1.0 if held else (min(-offset / most, 1.0) - SHALLOW) / (1.0 - SHALLOW)
    return max(offset, -most) * (1.0 + YIELD * part), YIELD * part * max(own, least)


@kernel
def recoveries(offset, angular, speed, rate, least, diagonal, first, R):
    """``recover`` of contacts ``first`` and later, in place, and R (nc,) of all; the last of them are limits, angles or
    not (``angular``)."""
    nc, nl = offset.shape[0], angular.shape[0]
    for c in range(nc):
        R[c] = 0.0
    for c in range(first, nc):
        limit = c >= nc - nl
        most = rate if limit and angular[c - nc + nl] else speed
        offset[c], R[c] = recover(offset[c], most, diagonal[c], 0.0 if limit else least)


@kernel
def group_recoveries(groups, offset, R):
    """Treat the subcontacts of a group alike, in place: their offsets rise by as much as the largest, and R is that of
    the largest. ``offset`` (2, nc): as the law demands it, and bounded contact by contact."""
    for g in range(groups.shape[0] - 1):
        best = groups[g]
        for c in range(groups[g] + 1, groups[g + 1]):
            if offset[0, c] > offset[0, best]:
                best = c
        lift = offset[1, best] - offset[0, best]
        for c in range(groups[g], groups[g + 1]):
            offset[1, c], R[c] = offset[0, c] + lift, R[best]
