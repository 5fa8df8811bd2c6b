"""Guards: which are near, which is crossed first, and which a step may have reached.

A guard k is *armed* until it is crossed. An armed guard is a *candidate* if the state is inside its neighbourhood,
h_k ≥ −ε_k, and approaches it, ∇h_k·f > c. A guard whose neighbourhood contains the state but which is not approached is
*waited for*: until the state has left the neighbourhood, its level is 0, and its crossing is located exactly. It may
have been armed just now, like the lift-off guard of a hopper that has just touched down, or the state may be turning
away. Region and candidates follow from the crossing mask, never from the sign of h, which is ± rounding after a
projection.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from stickslip._jit import kernel
from stickslip.ess.arrays import (
    BROKEN,
    CROSSINGS,
    CULPRIT,
    GRAZING,
    LATEST,
    LIVENESS,
    MET,
    NOT_FINITE,
    OK,
    ROWS,
    TIME,
    ZENO,
)  # fmt: skip

NOTHING, ENTERED, TOO_LONG = 0, 1, 2
"""Results of ``look``: the step reaches no guard; it enters a neighbourhood; it is too long to tell."""
QUICK = 1e-14
"""Interval, relative to the time, below which two crossings of a guard count as simultaneous."""
BEHIND = 1e-12
"""Largest value of h, by rounding, of a guard that was just crossed."""
MOST_AGAIN = 10
"""Number of crossings of one guard without progress in time that counts as Zeno behaviour."""
STRAIGHT = 0.1
"""Error of a projection along a straight line, as a fraction of the tolerance, for which an ε is chosen."""
TANGENT = 1e-9
"""Distance of a guard's largest value in a step from 0, relative to its change, below which the guard is grazed."""


@kernel
def start(rules, flow):
    """Set the levels of the armed guards from ``flow.h`` and ``flow.crossed``."""
    for k in range(flow.h.shape[0]):
        arm(rules, flow, k, flow.h[k])


@kernel
def arm(rules, flow, k, h):
    flow.level[k] = -rules.eps[k]
    flow.ready[k] = h < -rules.eps[k]


@kernel
def inside(rules, flow):
    """1 if an armed guard is at its level or above, −1 if one is not a number, else 0. The level of a guard whose
    neighbourhood the state has left is −ε again; a guard that is waited for is ready again once it is below 0."""
    found = 0
    for k in range(flow.h.shape[0]):
        h = flow.h[k]
        if not abs(h) < np.inf:
            flow.counts[CULPRIT] = k
            return -1
        if flow.crossed[k]:
            continue
        if h < -rules.eps[k]:
            flow.level[k] = -rules.eps[k]
            flow.ready[k] = True
        elif flow.level[k] == 0.0 and h < 0.0:
            flow.ready[k] = True
        elif h >= flow.level[k]:
            found = 1
    return found


@kernel
def first_candidate(rules, flow, trace, rate):
    """(status, candidate that is crossed first or −1, time until then), to first order.

    If a guard outside its neighbourhood would be crossed before any candidate, the candidate is −1, and the time is
    that of the step to that guard. Guards inside that are not approached are waited for.
    """
    first, wait, outside = -1, np.inf, np.inf
    moment = QUICK * abs(flow.clock[TIME])
    for k in range(flow.h.shape[0]):
        if flow.crossed[k]:
            continue
        if flow.h[k] < flow.level[k] and not -flow.h[k] <= moment * rate[k]:
            if rate[k] > rules.liveness:
                outside = min(outside, -flow.h[k] / rate[k])
            continue
        if not abs(rate[k]) < np.inf:
            flow.counts[CULPRIT] = k
            return NOT_FINITE, -1, 0.0
        if not flow.ready[k] and flow.h[k] > max(rules.eps[k], BEHIND):  # beyond its neighbourhood; must return first
            flow.level[k] = 0.0
            continue
        if rate[k] > rules.liveness:
            tau = max(0.0, -flow.h[k] / rate[k])
            if tau < wait:
                first, wait = k, tau
            continue
        if flow.ready[k]:
            violated(flow, trace, k, rate[k])
            if flow.counts[CULPRIT] == k:  # located at 0
                return GRAZING, -1, 0.0
        flow.level[k] = 0.0
        flow.ready[k] = flow.h[k] < 0.0
    if outside < wait:
        return OK, -1, max(outside, moment)
    return OK, first, wait


@kernel
def wait_for_candidates(flow):
    """Wait for all candidates: a projection would end after t_end, so they are located exactly if they are reached."""
    for k in range(flow.h.shape[0]):
        if not flow.crossed[k] and flow.h[k] >= flow.level[k]:
            flow.level[k] = 0.0
            flow.ready[k] = flow.h[k] < 0.0


@kernel
def violated(flow, trace, k, rate):
    """Record that guard k was approached but is not any more, or not as a straight line would."""
    flow.counts[LIVENESS] += 1
    v = trace.found[BROKEN]
    if v < trace.broken.shape[0]:
        trace.found[BROKEN] = v + 1
        trace.broken[v, 0], trace.broken[v, 1], trace.broken[v, 2] = k, flow.clock[TIME], rate
        for i in range(flow.x.shape[0]):
            trace.broken_x[v, i] = flow.x[i]


@kernel
def cross(rules, flow, trace, k):
    """Mark guard k as crossed now and arm the guards that it arms."""
    flow.crossed[k] = True
    for a in range(rules.first[k], rules.first[k + 1]):
        other = rules.arms[a]
        flow.crossed[other] = False
        arm(rules, flow, other, flow.h[other])
    flow.counts[CROSSINGS] += 1
    flow.counts[LATEST] = k
    if trace.t.shape[0] > 0:
        c = trace.found[MET]
        trace.found[MET] = c + 1
        trace.guard[c], trace.row[c] = k, trace.found[ROWS] - 1
    t = flow.clock[TIME]
    flow.again[k] = flow.again[k] + 1 if t - flow.last[k] <= QUICK * abs(t) else 0
    flow.last[k] = t
    if flow.again[k] >= MOST_AGAIN:
        flow.counts[CULPRIT] = k
        return ZENO
    return OK


@kernel
def look(flow, h0, middle, h1, ceiling):
    """(result, from, to, guard, where, peak): what a step reaches, and between which fractions of it.

    A guard that begins at or above 0 and recedes may have gone below and returned: the step is TOO_LONG. A guard whose
    parabola through three values peaks near its level, below ``ceiling``, may have reached it; the highest of these is
    ``guard``, or −1.
    """
    what, low, high, guard, where, nearest = NOTHING, 0.0, 1.0, -1, 0.0, -np.inf
    for k in range(h0.shape[0]):
        if flow.crossed[k]:
            continue
        a, b, c = h0[k] - flow.level[k], middle[k] - flow.level[k], h1[k] - flow.level[k]
        if not flow.ready[k]:
            if c >= 0.0:
                theta, depth = vertex(0.0, -a, 0.5, -b, 1.0, -c)
                if b < 0.0 or (0.0 < theta < 1.0 and depth > TANGENT * (abs(a) + abs(b) + abs(c))):
                    return TOO_LONG, 0.0, 1.0, k, 0.0, 0.0
        elif a >= 0.0:
            continue
        elif b >= 0.0:
            what, low, high = ENTERED, 0.0, 0.5
        elif c >= 0.0:
            if what == NOTHING:
                what, low = ENTERED, 0.5
        elif 4.0 * b > 3.0 * a + c and 4.0 * b > a + 3.0 * c:  # rises at the beginning and falls at the end
            theta, peak = vertex(0.0, a, 0.5, b, 1.0, c)
            if peak > -0.1 * (peak - min(a, c)) and nearest < peak < ceiling:
                guard, where, nearest = k, theta, peak
    return what, low, high, guard, where, nearest


@kernel
def choose_widths(rules, flow, dx1, middle, h1, length):
    """ε of the guards in ``rules.chosen``, from a step of ``length`` to the field ``dx1`` and the guards ``h1``.

        ε_k = μ_k·τ,   μ_k = 2·max(|h_½ − h_0|, |h_1 − h_½|)/length,   τ = √(2·STRAIGHT/N),   N = ‖(f_1 − f_0)/length‖

    μ_k is the speed of the guard (Sec. 2.2), and τ the time in which a straight line departs from the trajectory by
    STRAIGHT of the tolerance, in whose norm N is. So all guards are crossed in the same time at most.
    """
    bend, n = 0.0, flow.x.shape[0]
    for i in range(n):
        off = (dx1[i] - flow.dx[i]) / (length * (rules.atol[i] + rules.rtol * abs(flow.x[i])))
        bend += off * off
    bend = sqrt(bend / n)
    time = length
    if bend * length * length > 2.0 * STRAIGHT:
        time = sqrt(2.0 * STRAIGHT / bend)
    for k in range(flow.h.shape[0]):
        if rules.chosen[k]:
            way = 2.0 * max(abs(middle[k] - flow.h[k]), abs(h1[k] - middle[k]))
            rules.eps[k] = way / length * time
            rules.widest[k] = max(rules.widest[k], rules.eps[k])
            if flow.ready[k] and flow.h[k] < -rules.eps[k]:
                flow.level[k] = -rules.eps[k]


@kernel
def vertex(t0, a, t1, b, t2, c):
    """(where, value) of the maximum of a parabola through three points; where = −1 if it has none."""
    slope = (b - a) / (t1 - t0)
    bend = ((c - b) / (t2 - t1) - slope) / (t2 - t0)
    if not bend < 0.0:
        return -1.0, -np.inf
    where = 0.5 * (t0 + t1 - slope / bend)
    return where, a + (where - t0) * (slope + bend * (where - t1))


@kernel
def highest(flow, h):
    """(value above its level, guard) of the highest guard among those below their levels when the step began."""
    most, guard = -np.inf, -1
    for k in range(h.shape[0]):
        above = h[k] - flow.level[k]
        if above > most and flow.ready[k] and not flow.crossed[k] and flow.h[k] < flow.level[k]:
            most, guard = above, k
    return most, guard


@kernel
def tangent(flow, k, peak, h0, h1):
    """Whether guard k, whose maximum in a step is ``peak`` above its level, only touches 0 there."""
    change = abs(peak - (h0[k] - flow.level[k])) + abs(peak - (h1[k] - flow.level[k]))
    return flow.level[k] == 0.0 and abs(peak) <= TANGENT * change
