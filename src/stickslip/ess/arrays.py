"""Arrays of the integrator's kernels: the options of an integration, its current state, its record, its scratch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stickslip.ess.dormand_prince import STAGES

OK, STOPPED, TOO_SMALL, NOT_FINITE, GRAZING, ZENO, TOO_MANY, FULL = 0, 1, -1, -2, -3, -4, -5, 2
"""Status of an integration; after FULL, the trace is grown and the integration continues."""
TIME, STEP = 0, 1
"""Indices of ``Flow.clock``."""
STEPS, PROJECTIONS, FIELDS, GUARDS, CROSSINGS, STALE, CULPRIT, LIVENESS, LATEST = range(9)
"""Indices of ``Flow.counts``."""
ROWS, MET, BROKEN = range(3)
"""Indices of ``Trace.found``."""


class Rules(NamedTuple):
    """Options, constant during an integration."""

    eps: np.ndarray
    """(m,) half-widths ε of the guards' neighbourhoods, in units of h."""
    chosen: np.ndarray
    """(m,) whether ε follows from the speed of the guard (``guards.choose_widths``); it begins with 0."""
    widest: np.ndarray
    """(m,) the largest ε so far."""
    first: np.ndarray
    """(m + 1,) crossing guard i arms the guards ``arms[first[i]:first[i + 1]]``."""
    arms: np.ndarray
    atol: np.ndarray
    """(n,) absolute tolerance of the integrator."""
    rtol: float
    longest: float
    """Largest step size."""
    liveness: float
    """c: a guard is approached if ∇h·f > c."""
    trust: float
    """Largest error of a projection at its guard, as a fraction of ε."""
    most_steps: float
    most_crossings: float


class Flow(NamedTuple):
    """Current state of the integration."""

    x: np.ndarray
    """(n,) state."""
    dx: np.ndarray
    """(n,) f at x, unless counts[STALE]."""
    h: np.ndarray
    """(m,) values of the guards at x."""
    crossed: np.ndarray
    """(m,) mask of crossed guards, which names the region; a guard that is not crossed is armed."""
    level: np.ndarray
    """(m,) value at which an armed guard is detected: −ε, or 0 if it was armed, or ceased to be approached, inside its
    neighbourhood."""
    ready: np.ndarray
    """(m,) whether an armed guard is below its level."""
    last: np.ndarray
    """(m,) time of the last crossing of each guard."""
    again: np.ndarray
    """(m,) number of further crossings since then without progress in time."""
    clock: np.ndarray
    """(2,) time, and the next step size (0: to be chosen)."""
    counts: np.ndarray
    """(9,) steps, projections, evaluations of f and h, crossings; whether dx is stale; the guard that ended the
    integration or was just located at 0, or −1; number of violations of liveness; the guard that was crossed last."""


class Trace(NamedTuple):
    """Record of the integration; with no rows, nothing is recorded."""

    found: np.ndarray
    """(3,) number of rows, crossings, violations."""
    t: np.ndarray
    """(rows,) ends of steps and projections, the start first."""
    x: np.ndarray
    """(rows, n) states there."""
    length: np.ndarray
    """(rows,) step size to which ``dense`` refers; the step itself may have been cut short."""
    dense: np.ndarray
    """(rows, n, 4) dense output between the previous row and this one; empty if not recorded."""
    guard: np.ndarray
    """(crossings,) the guard crossed."""
    row: np.ndarray
    """(crossings,) the row at which it was crossed."""
    broken: np.ndarray
    """(violations, 3) guard, time, rate ∇h·f."""
    broken_x: np.ndarray
    """(violations, n) states there."""


class Work(NamedTuple):
    """Scratch of a step."""

    k: np.ndarray
    """(7, n) stages."""
    q: np.ndarray
    """(n, 4) dense output."""
    x0: np.ndarray
    """(n,) state at the beginning of the step."""
    x1: np.ndarray
    """(n,) state at its end."""
    h1: np.ndarray
    """(m,) guards at its end."""
    middle: np.ndarray
    """(m,) guards in the middle of the step, later at the point of their last evaluation."""
    rate: np.ndarray
    """(m,) ∇h·f."""
    zero: np.ndarray
    """(n,) zeros."""


def make_rules(
    eps: np.ndarray, reset: np.ndarray | Sequence[Sequence[int]], atol: np.ndarray, *, rtol: float = 1e-6,
    longest: float = np.inf, liveness: float = 0.0, trust: float = 0.1, most_steps: float = np.inf,
    most_crossings: float = np.inf, chosen: np.ndarray | None = None,
) -> Rules:  # fmt: skip
    """``reset`` is a matrix (m, m) or, for each guard, a list of the guards that it arms. ``chosen`` (m,) says which ε
    follow from the speeds of the guards; these begin with 0."""
    if isinstance(reset, np.ndarray):
        rows, arms = np.divmod(np.flatnonzero(reset), max(1, len(reset)))
        sizes = np.bincount(rows, minlength=len(reset))
    else:
        arms = np.array([guard for row in reset for guard in row])
        sizes = np.array([len(row) for row in reset], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    limits = [float(value) for value in (rtol, longest, liveness, trust, most_steps, most_crossings)]
    chosen = np.zeros(len(eps), dtype=np.bool_) if chosen is None else np.array(chosen, dtype=np.bool_)
    widths = np.where(chosen, 0.0, eps).astype(float)
    return Rules(
        widths, chosen, widths.copy(), first, arms.astype(np.int64), np.ascontiguousarray(atol, float), *limits
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
        counts=np.zeros(9, dtype=np.int64),
    )


def make_trace(rows: int, n: int, m: int, dense: bool) -> Trace:
    """A record of up to ``rows`` rows and crossings, with room for a violation of every guard."""
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
    """A copy with twice the capacity."""
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
