"""What ``solve_ess`` returns: times and states like SciPy's ``solve_ivp``, crossings, dense output, violations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stickslip.errors import expected
from stickslip.ess import arrays
from stickslip.ess.arrays import Flow, Rules, Trace
from stickslip.ess.system import System

MESSAGES = {
    arrays.OK: "the end of t_span was reached",
    arrays.STOPPED: "stopped after max_crossings crossings",
    arrays.TOO_SMALL: "the step size fell below what numbers resolve at t = {t:g}; is f smooth in each region?",
    arrays.NOT_FINITE: "f, h or Dh is not finite (or, compiled, of the wrong length) at t = {t:g}, x = {x}",
    arrays.GRAZING: "guard {guard} is met without being crossed (∇h·f ≤ {c:g}) at t = {t:g}: the system is not live "
    "there, and what follows is not defined",
    arrays.ZENO: "guard {guard} is crossed again and again in no time at t = {t:g} (Zeno): f points to it from both "
    "sides, or guards arm each other in a circle",
    arrays.TOO_MANY: "max_steps was reached at t = {t:g}",
}


@dataclass(frozen=True)
class Crossings:
    """Crossings of guards in order of time."""

    guard: np.ndarray
    """(k,) guard."""
    t: np.ndarray
    """(k,) time."""
    x: np.ndarray
    """(k, n) state."""
    start: np.ndarray
    """(m,) crossing mask at the start."""
    rules: Rules

    @cached_property
    def after(self) -> np.ndarray:
        """(k, m) crossing mask after each crossing and the resets that it causes."""
        masks, mask = np.zeros((len(self.guard), len(self.start)), bool), self.start.copy()
        first, arms = self.rules.first, self.rules.arms
        for row, k in zip(masks, self.guard, strict=True):
            mask[k] = True
            mask[arms[first[k] : first[k + 1]]] = False
            row[:] = mask
        return masks

    @property
    def before(self) -> np.ndarray:
        """(k, m) crossing mask before each crossing."""
        return np.vstack([self.start, self.after])[:-1]

    def between(self, start: float, end: float) -> Crossings:
        """The crossings from one time to another."""
        first, last = np.searchsorted(self.t, start), np.searchsorted(self.t, end, side="right")
        mask = self.after[first - 1] if first else self.start
        return Crossings(self.guard[first:last], self.t[first:last], self.x[first:last], mask, self.rules)


class Violation(NamedTuple):
    """A violation of liveness: a guard was approached inside its neighbourhood but not crossed as a line would."""

    guard: int
    t: float
    x: np.ndarray
    """(n,) state."""
    rate: float
    """∇h·f there."""
    message: str


class DenseOutput:
    """x(t): the polynomial of each step, and straight lines through projections."""

    def __init__(self, t: np.ndarray, x: np.ndarray, length: np.ndarray, dense: np.ndarray) -> None:
        self.t, self._x, self._length, self._dense = t, x, length, dense
        self.t_min, self.t_max = float(t[0]), float(t[-1])

    def __call__(self, t) -> np.ndarray:
        """(n,) for a number, (n, k) for an array (k,)."""
        times = np.asarray(t, dtype=float)
        if times.ndim > 1:
            raise expected("t", "a number or an array (k,)", f"shape {times.shape}")
        flat = np.atleast_1d(times)
        slack = 1e-12 * max(1.0, abs(self.t_max))
        if not np.all((flat >= self.t_min - slack) & (flat <= self.t_max + slack)):
            raise expected("t", f"times from {self.t_min:g} to {self.t_max:g}", t)
        if len(self.t) == 1:
            return np.repeat(self._x.T, len(flat), axis=1)[:, 0] if times.ndim == 0 else self._x.T.repeat(len(flat), 1)
        row = np.clip(np.searchsorted(self.t, flat), 1, len(self.t) - 1)
        length = self._length[row]
        theta = np.where(length > 0.0, (flat - self.t[row - 1]) / np.where(length > 0.0, length, 1.0), 0.0)
        powers = theta[:, None] ** np.arange(1, 5)
        x = self._x[row - 1] + length[:, None] * np.einsum("knp,kp->kn", self._dense[row], powers)
        return x[0] if times.ndim == 0 else x.T


@dataclass(frozen=True)
class EssResult:
    """The solution of an event-selected system."""

    t: np.ndarray
    """(N,) ends of steps and projections, or t_eval."""
    y: np.ndarray
    """(n, N) states there."""
    sol: DenseOutput | None
    """x(t), if ``dense_output`` was requested."""
    crossings: Crossings
    crossed: np.ndarray
    """(m,) crossing mask at the end."""
    violations: list[Violation]
    status: int
    """0: the end of t_span was reached; 1: max_crossings was reached; negative: failure."""
    message: str
    success: bool
    nfev: int
    nhev: int
    nsteps: int
    """Accepted Runge–Kutta steps."""
    nprojections: int
    system: System
    """The user's functions, with NumPy arrays."""

    @property
    def x(self) -> np.ndarray:
        """(n,) the last of y."""
        return self.y[:, -1]

    @property
    def reset(self) -> np.ndarray:
        """(m, m) the guard reset matrix."""
        rules, m = self.crossings.rules, len(self.crossed)
        table = np.zeros((m, m), dtype=bool)
        table[np.repeat(np.arange(m), np.diff(rules.first)), rules.arms] = True
        return table


def violations(rules: Rules, trace: Trace) -> list[Violation]:
    found, c = [], rules.liveness
    for (guard, t, rate), x in zip(trace.broken[: trace.found[arrays.BROKEN]], trace.broken_x, strict=False):
        why = f"∇h·f = {rate:g} ≤ {c:g}" if rate <= c else f"∇h·f changes to {rate:g} on the straight way to it"
        message = f"guard {guard:.0f} is not crossed as it was approached, at t = {t:g}: {why}"
        found.append(Violation(int(guard), float(t), x.copy(), float(rate), message))
    return found


def make_result(
    system: System, rules: Rules, flow: Flow, trace: Trace, mask: np.ndarray, status: int, t_eval: np.ndarray | None,
    dense_output: bool,
) -> EssResult:  # fmt: skip
    rows, met, counts = trace.found[arrays.ROWS], trace.found[arrays.MET], flow.counts
    t, x = trace.t[:rows].copy(), trace.x[:rows].copy()
    sol = DenseOutput(t, x, trace.length[:rows], trace.dense[:rows]) if len(trace.dense) else None
    y = x.T
    if t_eval is not None and sol is not None:
        t = t_eval[t_eval <= sol.t_max]
        y = sol(t) if len(t) else np.zeros((len(flow.x), 0))
    words = {"t": flow.clock[arrays.TIME], "x": flow.x.tolist(), "guard": counts[arrays.CULPRIT], "c": rules.liveness}
    return EssResult(
        t=t,
        y=y,
        sol=sol if dense_output else None,
        crossings=Crossings(trace.guard[:met].copy(), trace.t[trace.row[:met]], trace.x[trace.row[:met]], mask, rules),
        crossed=flow.crossed.copy(),
        violations=violations(rules, trace),
        status=status,
        message=MESSAGES[status].format(**words),
        success=status >= 0,
        nfev=int(counts[arrays.FIELDS]),
        nhev=int(counts[arrays.GUARDS]),
        nsteps=int(counts[arrays.STEPS]),
        nprojections=int(counts[arrays.PROJECTIONS]),
        system=system,
    )
