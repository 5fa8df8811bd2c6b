"""The rapid integrator of event-selected systems: Runge–Kutta between guards, projections through them.

    ẋ = f(x, b),  b the mask of crossed guards;  guard k is crossed where h_k(x) rises through 0

Far from all guards the integrator takes Dormand–Prince steps, cut short where a guard's neighbourhood N^ε is entered
(located on the dense output). Inside it applies the first-order impact map of the first candidate (``guards``):

    τ_k = −h_k/(∇h_k·f),  j = argmin τ_k,  x⁺ = x + τ_j·f,  t⁺ = t + τ_j,  b_j = 1, and what j arms: b_i = 0

It is exact for constant fields and plane guards, for any order and number of crossings; otherwise the error is O(ε²).
Cost: 6 evaluations of f and 2 of h per step; 2 of f and of Dh·f and 1 of h per projection, one less of f and of Dh·f if
``trust`` is infinite; O(m) work in either.

Anderson and Revzen, "Rapid integrator for a class of multi-contact systems", Sec. 3.
Differs from the paper in: its listing does not run; the region is the crossing mask, not the sign of h; candidates must
be approached; a guard reset matrix arms guards again (the paper's future work); no projection goes beyond the end;
entries are located on the dense output instead of at the ends of steps; a projection that misses its guard by more than
a fraction of ε (``trust``) is undone, and that guard is located exactly; each guard has its own ε, which by default
follows from its speed and from the tolerance (``guards.choose_widths``; Sec. 2.2 leaves the scale to the user).
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel, template
from stickslip.ess.arrays import (
    BROKEN,
    CROSSINGS,
    CULPRIT,
    FIELDS,
    FULL,
    GRAZING,
    GUARDS,
    NOT_FINITE,
    OK,
    PROJECTIONS,
    ROWS,
    STALE,
    STEP,
    STEPS,
    STOPPED,
    TIME,
    TOO_MANY,
    TOO_SMALL,
)  # fmt: skip
from stickslip.ess.dormand_prince import (
    SMALLEST,
    STAGES,
    C,
    dense_output,
    error_norm,
    factor,
    first_step,
    interpolate,
    stage,
    trial_step,
)  # fmt: skip
from stickslip.ess.guards import (
    ENTERED,
    NOTHING,
    TOO_LONG,
    choose_widths,
    cross,
    first_candidate,
    highest,
    inside,
    look,
    start,
    tangent,
    vertex,
    violated,
    wait_for_candidates,
)  # fmt: skip
from stickslip.math.linear import copy_to

LOCATED = 1e-2
"""Tolerance of the location of an entry into N^ε, as a fraction of ε."""
SOON = 0.05
"""Length of a projection near its guard, as a fraction of a step, below which it is not checked."""
EXACTLY = 1e-14
"""Tolerance of the location of h = 0, relative to the guard's distance at the beginning of the search."""


@template
def begin(guards, system, rules, flow):
    """Initialise ``flow`` from its state, time and mask."""
    guards(system, flow.x, flow.h)
    flow.counts[GUARDS] += 1
    flow.counts[CULPRIT] = -1
    start(rules, flow)


@template
def integrate(field, guards, slopes, arrive, system, rules, flow, trace, work, t_end):
    """Integrate from the current state of ``flow`` to ``t_end``; returns a status. Call ``begin`` once before.

    ``field(system, elapsed, x, crossed, dx)`` writes dx = f(x, b), with the time ``elapsed`` since the last accepted
    point; ``guards(system, x, h)`` writes h(x); ``slopes(system, x, dx, rates)`` writes rates = Dh(x)·dx.
    ``arrive(system, elapsed, x, crossed)`` is called at each accepted point and may project x back onto its manifold.
    """
    flow.counts[STALE] = 1
    while flow.clock[TIME] < t_end:
        status = allowed(rules, flow, trace)
        if status != OK:
            return status
        if flow.counts[STALE] != 0:
            field(system, 0.0, flow.x, flow.crossed, flow.dx)
            flow.counts[FIELDS] += 1
            flow.counts[STALE] = 0
            if not finite(flow.dx):
                return NOT_FINITE
        near, first, wait = inside(rules, flow), -1, np.inf
        if near < 0:
            return NOT_FINITE
        if near > 0:
            slopes(system, flow.x, flow.dx, work.rate)
            status, first, wait = first_candidate(rules, flow, trace, work.rate)
            if status != OK:
                return status
        if first >= 0 and flow.clock[TIME] + wait <= t_end:
            status = project(field, guards, slopes, arrive, system, rules, flow, trace, work, first, wait)
        else:
            most = wait
            if first >= 0:
                wait_for_candidates(flow)
                most = np.inf
            status = step(field, guards, arrive, system, rules, flow, trace, work, most, t_end)
        if status != OK:
            return status
    return OK if inside(rules, flow) >= 0 else NOT_FINITE


@template
def project(field, guards, slopes, arrive, system, rules, flow, trace, work, k, wait):
    """Project the state along the current field through guard k, unless the guard proves to be elsewhere."""
    x, x0 = flow.x, work.x0
    for i in range(x.shape[0]):
        x0[i] = x[i]
        x[i] += wait * flow.dx[i]
    guards(system, x, work.h1)
    flow.counts[GUARDS] += 1
    near = -flow.h[k] <= 2.0 * rules.trust * rules.eps[k] and wait <= SOON * flow.clock[STEP]
    if flow.level[k] < 0.0 and not near and rules.trust < np.inf:
        rate = work.rate[k]
        field(system, wait, x, flow.crossed, work.k[1])
        flow.counts[FIELDS] += 1
        slopes(system, x, work.k[1], work.rate)
        missed = abs(work.h1[k]) + 0.5 * wait * abs(work.rate[k] - rate)
        if not missed <= rules.trust * rules.eps[k]:
            for i in range(x.shape[0]):
                x[i] = x0[i]
            violated(flow, trace, k, work.rate[k])
            flow.level[k] = 0.0
            flow.ready[k] = True
            return OK
    arrive(system, wait, x, flow.crossed)
    for i in range(x.shape[0]):
        work.q[i, 0] = flow.dx[i]
        work.q[i, 1] = work.q[i, 2] = work.q[i, 3] = 0.0
    moved(flow, trace, work, wait, wait)
    flow.counts[PROJECTIONS] += 1
    flow.counts[STALE] = 1
    flow.counts[CULPRIT] = -1
    status = cross(rules, flow, trace, k)
    arrive(system, 0.0, x, flow.crossed)
    return status


@template
def step(field, guards, arrive, system, rules, flow, trace, work, most, t_end):
    """Take a Dormand–Prince step of acceptable error, at most ``most`` long, cut where a neighbourhood is entered."""
    t, m = flow.clock[TIME], flow.h.shape[0]
    size, status = flow.clock[STEP], TOO_SMALL
    if size == 0.0:
        guess = min(trial_step(flow.x, flow.dx, work.zero, rules.rtol, rules.atol), t_end - t)
        for i in range(flow.x.shape[0]):
            work.x1[i] = flow.x[i] + guess * flow.dx[i]
        field(system, guess, work.x1, flow.crossed, work.k[1])
        flow.counts[FIELDS] += 1
        size = first_step(flow.x, flow.dx, work.k[1], work.zero, guess, rules.rtol, rules.atol)
        if not size > 0.0:
            size = guess
    largest = np.inf
    while True:
        size = min(size, rules.longest)
        h = min(size, most, t_end - t)
        if not t + h > t:
            return status
        for i in range(flow.x.shape[0]):
            work.k[0, i] = flow.dx[i]
        for s in range(1, STAGES):
            stage(work.k, s, flow.x, h, work.x1)
            field(system, C[s] * h, work.x1, flow.crossed, work.k[s])
        flow.counts[FIELDS] += STAGES - 1
        error = error_norm(work.k, h, flow.x, work.x1, rules.rtol, rules.atol)
        if not error <= 1.0:
            status = TOO_SMALL if error < np.inf else NOT_FINITE
            size, largest = h * min(1.0, factor(error)), 1.0
            continue
        dense_output(work.k, work.q)
        what, theta, culprit = NOTHING, 1.0, -1
        if m > 0:
            what, theta, culprit = meets(guards, system, rules, flow, work, h)
        if what == TOO_LONG:
            flow.counts[CULPRIT] = culprit
            status, size = GRAZING, SMALLEST * h
            continue
        break
    longer = h * min(largest, factor(error))
    flow.clock[STEP] = max(size, longer) if h < size else longer  # a short step to t_end does not shorten the next one
    for i in range(flow.x.shape[0]):
        work.x0[i] = flow.x[i]
    if theta < 1.0:
        interpolate(work.x0, h, work.q, theta, flow.x)
        flow.counts[STALE] = 1
    else:
        for i in range(flow.x.shape[0]):
            flow.x[i], flow.dx[i] = work.x1[i], work.k[STAGES - 1, i]
    arrive(system, theta * h, flow.x, flow.crossed)
    moved(flow, trace, work, theta * h, h)
    if theta == 1.0 and h == t_end - t:
        flow.clock[TIME] = t_end
    flow.counts[STEPS] += 1
    flow.counts[CULPRIT] = culprit if culprit >= 0 and flow.level[culprit] == 0.0 else -1
    if what == GRAZING:
        violated(flow, trace, culprit, 0.0)
        return GRAZING
    return OK


@template
def meets(guards, system, rules, flow, work, h):
    """(result, where, guard) of the first guard that the step of length h to ``work.x1`` reaches. ``work.h1`` are the
    guards at its end."""
    guards(system, work.x1, work.h1)
    halfway(guards, system, flow, work, h)
    flow.counts[GUARDS] += 1
    choose_widths(rules, flow, work.k[STAGES - 1], work.middle, work.h1, h)
    what, low, high, k, where, peak = look(flow, flow.h, work.middle, work.h1, np.inf)
    if what == TOO_LONG:
        return TOO_LONG, 1.0, k
    while k >= 0:
        found, where = peaks(guards, system, flow, work, h, where, k)
        if found == GRAZING and what == NOTHING:
            copy_to(work.middle, work.h1)
            return GRAZING, where, k
        if found == ENTERED and where < high:
            what, low, high = ENTERED, 0.0, where
            break
        halfway(guards, system, flow, work, h)
        _, _, _, k, where, peak = look(flow, flow.h, work.middle, work.h1, peak)
    if what == NOTHING:
        return NOTHING, 1.0, -1
    where, k = locate(guards, system, rules, flow, work, h, low, high)
    return ENTERED, where, k


@template
def halfway(guards, system, flow, work, h):
    """``work.middle``: the guards in the middle of the step."""
    interpolate(flow.x, h, work.q, 0.5, work.x0)
    guards(system, work.x0, work.middle)
    flow.counts[GUARDS] += 1


@template
def peaks(guards, system, flow, work, h, theta, k):
    """(result, where) of guard k's largest value in a step, by parabolas. The result is ENTERED if the level is
    reached, GRAZING if the guard only touches 0, and otherwise NOTHING."""
    low, a, high, c = 0.0, flow.h[k] - flow.level[k], 1.0, work.h1[k] - flow.level[k]
    best, top = theta, -np.inf
    for _ in range(8):
        interpolate(flow.x, h, work.q, theta, work.x0)
        guards(system, work.x0, work.middle)
        flow.counts[GUARDS] += 1
        b = work.middle[k] - flow.level[k]
        if tangent(flow, k, b, flow.h, work.h1):
            return GRAZING, theta
        if b >= 0.0:
            return ENTERED, theta
        if b <= top + 1e-15:
            break
        best, top = theta, b
        where, _ = vertex(low, a, theta, b, high, c)
        if not (low < where < high) or abs(where - theta) < 1e-9:
            break
        if where > theta:
            low, a = theta, b
        else:
            high, c = theta, b
        theta = where
    return NOTHING, best


@template
def locate(guards, system, rules, flow, work, h, low, high):
    """(where, guard): where in the step, between its fractions ``low`` and ``high``, the first guard reaches its level.

    The search is regula falsi with the Illinois rule on the largest value above the levels; the result is never below.
    The guards' values at both ends are known: h, ``work.middle`` and ``work.h1``. Those at the result are written to
    ``work.h1``.
    """
    below, _ = highest(flow, flow.h if low == 0.0 else work.middle)
    if high < 1.0:
        copy_to(work.middle, work.h1)
    above, guard = highest(flow, work.h1)
    reach, rest, side = -below, above, 0
    for n in range(100):
        if rest <= max(LOCATED * -flow.level[guard], EXACTLY * reach):
            break
        theta = 0.5 * (low + high)
        if n < 40 or n % 2 == 0:
            theta = (low * above - high * below) / (above - below)
        if not low < theta < high:
            theta = 0.5 * (low + high)
            if not low < theta < high:
                break
        interpolate(flow.x, h, work.q, theta, work.x0)
        guards(system, work.x0, work.middle)
        flow.counts[GUARDS] += 1
        value, k = highest(flow, work.middle)
        if value < 0.0:
            low, below = theta, value
            if side < 0:
                above *= 0.5
            side = -1
        else:
            if side > 0:
                below *= 0.5
            high, above, rest, side, guard = theta, value, value, 1, k
            copy_to(work.middle, work.h1)
    return high, guard


@kernel
def allowed(rules, flow, trace):
    """OK, or the reason for which the loop must pause or end."""
    if flow.counts[CROSSINGS] >= rules.most_crossings:
        return STOPPED
    if flow.counts[STEPS] + flow.counts[PROJECTIONS] >= rules.most_steps:
        return TOO_MANY
    rows = trace.t.shape[0]
    full = trace.found[ROWS] >= rows or trace.found[BROKEN] + flow.h.shape[0] > trace.broken.shape[0]
    if rows > 0 and full:
        return FULL
    return OK


@kernel
def finite(values):
    good = True
    for i in range(values.shape[0]):
        good = good and abs(values[i]) < np.inf
    return good


@kernel
def moved(flow, trace, work, elapsed, length):
    """Accept the state ``flow.x`` after ``elapsed``, with the guards ``work.h1``, and record it."""
    flow.clock[TIME] += elapsed
    for k in range(flow.h.shape[0]):
        flow.h[k] = work.h1[k]
    keep(flow, trace, work, length)


@kernel
def keep(flow, trace, work, length):
    if trace.t.shape[0] == 0:
        return
    row = trace.found[ROWS]
    trace.found[ROWS] = row + 1
    trace.t[row], trace.length[row] = flow.clock[TIME], length
    for i in range(flow.x.shape[0]):
        trace.x[row, i] = flow.x[i]
        if trace.dense.shape[0] > 0:
            for p in range(4):
                trace.dense[row, i, p] = work.q[i, p]
