"""What the integrator's kernels see: the rules of an integration, what lasts from step to step, what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stickslip.ess.dormand_prince import STAGES

OK, STOPPED, TOO_SMALL, NOT_FINITE, GRAZING, ZENO, TOO_MANY, FULL = 0, 1, -1, -2, -3, -4, -5, 2
"""How an integration ends; after FULL, the trace is grown, and it goes on."""
TIME, STEP = 0, 1
"""In ``Flow.clock``."""
STEPS, PROJECTIONS, FIELDS, GUARDS, CROSSINGS, STALE, CULPRIT, LIVENESS = range(8)
"""In ``Flow.counts``."""
ROWS, MET, BROKEN = range(3)
"""In ``Trace.found``."""


class Rules(NamedTuple):
    """Constant during an integration."""

    eps: np.ndarray
    """(m,) half-widths ε of the guards' neighbourhoods, in units of h."""
    first: np.ndarray
    """(m + 1,) crossing guard i arms the guards ``arms[first[i]:first[i + 1]]``."""
    arms: np.ndarray
    atol: np.ndarray
    """(n,)."""
    rtol: float
    longest: float
    """Step size."""
    liveness: float
    """c: a guard is approached where ∇h·f > c."""
    trust: float
    """A projection may miss its guard by this part of ε."""
    most_steps: float
    most_crossings: float


class Flow(NamedTuple):
    """Where the integration is: all that lasts from step to step."""

    x: np.ndarray
    """(n,) state."""
    dx: np.ndarray
    """(n,) f there, unless counts[STALE]."""
    h: np.ndarray
    """(m,) guards there."""
    crossed: np.ndarray
    """(m,) the region; a guard that is not crossed is armed."""
    level: np.ndarray
    """(m,) where an armed guard is noticed: −ε, or 0 if it stopped approaching, or began, inside its neighbourhood."""
    ready: np.ndarray
    """(m,) an armed guard is below its level."""
    last: np.ndarray
    """(m,) when a guard was last crossed."""
    again: np.ndarray
    """(m,) how often it has been crossed since without time having passed."""
    clock: np.ndarray
    """(2,) time, and the next step size (0: to be chosen)."""
    counts: np.ndarray
    """(8,) steps, projections, evaluations of f and h, crossings; whether dx is stale; the guard that ended the
    integration, or was just located at 0, or −1; times that a guard which had been approached was not any more."""


class Trace(NamedTuple):
    """What is kept; room for no rows: nothing is."""

    found: np.ndarray
    """(3,) rows, crossings, violations."""
    t: np.ndarray
    """(rows,) ends of steps and projections, the start first."""
    x: np.ndarray
    """(rows, n)."""
    length: np.ndarray
    """(rows,) the step size that ``dense`` counts in; the step may have been cut."""
    dense: np.ndarray
    """(rows, n, 4) between the row before and this one; none: not kept."""
    guard: np.ndarray
    """(crossings,)."""
    row: np.ndarray
    """(crossings,) the row at which it was crossed."""
    broken: np.ndarray
    """(violations, 3) guard, time, rate ∇h·f."""
    broken_x: np.ndarray
    """(violations, n)."""


class Work(NamedTuple):
    """Scratch of a step."""

    k: np.ndarray
    """(7, n) stages."""
    q: np.ndarray
    """(n, 4) dense output."""
    x0: np.ndarray
    """(n,) where the step began."""
    x1: np.ndarray
    """(n,) where it ends."""
    h1: np.ndarray
    """(m,) guards there."""
    middle: np.ndarray
    """(m,) guards in the middle of the step, then wherever they were last evaluated."""
    rate: np.ndarray
    """(m,) ∇h·f."""
    zero: np.ndarray
    """(n,) zeros."""


def make_rules(
    eps: np.ndarray, reset: np.ndarray | Sequence[Sequence[int]], atol: np.ndarray, *, rtol: float = 1e-6,
    longest: float = np.inf, liveness: float = 0.0, trust: float = 0.1, most_steps: float = np.inf,
    most_crossings: float = np.inf,
) -> Rules:  # fmt: skip
    """``reset`` is (m, m), or a list of guards to arm for each guard."""
    if isinstance(reset, np.ndarray):
        rows, arms = np.divmod(np.flatnonzero(reset), max(1, len(reset)))
        sizes = np.bincount(rows, minlength=len(reset))
    else:
        arms = np.array([guard for row in reset for guard in row])
        sizes = np.array([len(row) for row in reset], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    limits = [float(value) for value in (rtol, longest, liveness, trust, most_steps, most_crossings)]
    return Rules(
        np.ascontiguousarray(eps, float), first, arms.astype(np.int64), np.ascontiguousarray(atol, float), *limits
    )


def make_flow(n: int, m: int) -> Flow:
    return Flow(
        x=np.zeros(n),
        dx=np.zeros(n),
        h=np.zeros(m),
        crossed=np.zeros(m, dtype=np.bool_),
        level=np.zeros(m),
        ready=np.zeros(m, dtype=np.bool_),
        last=np.full(m, -np.inf),
        again=np.zeros(m, dtype=np.int64),
        clock=np.zeros(2),
        counts=np.zeros(8, dtype=np.int64),
    )


def make_trace(rows: int, n: int, m: int, dense: bool) -> Trace:
    """Room for as many crossings, and for violations of all guards at once."""
    violations = rows + m if rows else 0
    return Trace(
        found=np.zeros(3, dtype=np.int64),
        t=np.zeros(rows),
        x=np.zeros((rows, n)),
        length=np.zeros(rows),
        dense=np.zeros((rows if dense else 0, n, 4)),
        guard=np.zeros(rows, dtype=np.int64),
        row=np.zeros(rows, dtype=np.int64),
        broken=np.zeros((violations, 3)),
        broken_x=np.zeros((violations, n)),
    )


def grown(trace: Trace) -> Trace:
    """A copy with twice the room."""
    rows = len(trace.t)
    bigger = make_trace(2 * rows, trace.x.shape[1], len(trace.broken) - rows, len(trace.dense) > 0)
    for old, new in zip(trace, bigger, strict=True):
        new[: len(old)] = old
    return bigger


def make_work(n: int, m: int) -> Work:
    return Work(
        k=np.zeros((STAGES, n)),
        q=np.zeros((n, 4)),
        x0=np.zeros(n),
        x1=np.zeros(n),
        h1=np.zeros(m),
        middle=np.zeros(m),
        rate=np.zeros(m),
        zero=np.zeros(n),
    )
