"""Simulated seconds per second at equal error, for ``bench worlds``: a method's time steps, their errors, their speed.

The error is the root mean square, over worlds and coordinates, of q after the run less that of the method's own fine
reference, at a sixteenth of its smallest time step. Robots on stiff contacts with large random velocities are chaotic,
so that no time step would agree with a finer one; here velocities are small (0.05), and errors go down with dt.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from typing import Any

import numpy as np

from stickslip.lab.bench.timing import interleaved
from stickslip.lab.bench.world_steps import Rollouts, WarpSteps, has_warp, make_worlds, method_dt
from stickslip.progress import Progress

SPREAD = 0.05
"""[m/s, rad/s] of the random velocities."""
FINER = 16
"""The smallest time step of a method over that of its reference."""
LEVELS = (1e-2, 1e-3, 1e-4)
"""Errors at which throughputs are compared."""
PEER = "mujoco.rollout"
WARP = "MuJoCo Warp"
STEPS = {
    "semi-implicit-euler": (2e-4, 1e-4, 5e-5),
    "expo": (2e-2, 1e-2, 5e-3, 2e-3, 1e-3),
    "coulomb/pgs": (2e-2, 1e-2, 4e-3, 2e-3, 1e-3, 5e-4),
    "relaxed/pgs": (2e-2, 1e-2, 4e-3, 2e-3, 1e-3, 5e-4),
    "variational": (2e-2, 1e-2, 4e-3, 2e-3, 1e-3),
    PEER: (1e-2, 8e-3, 4e-3, 2e-3, 1e-3, 5e-4),
}
"""[s] Time steps of each method, largest first; of others twice, once, half and a quarter of their default.
At 20 ms MuJoCo's robots fly apart."""


@dataclass(frozen=True)
class Accuracy:
    """One time step of a method: its error, and how fast it is."""

    method: str
    dt: float
    """[s]"""
    error: float
    """Root mean square of q less the reference's; infinite if a world diverged."""
    speed: float
    """Simulated seconds, of all worlds together, per second."""


def time_steps(method: str) -> tuple[float, ...]:
    return STEPS[method] if method in STEPS else tuple(factor * method_dt(method) for factor in (2.0, 1.0, 0.5, 0.25))


def rms(q: np.ndarray, reference: np.ndarray, diverged: bool = False) -> float:
    error = float(np.sqrt(np.mean((q[: len(reference)] - reference) ** 2)))
    return inf if diverged or not np.isfinite(error) else error


@dataclass
class Run:
    """A run of our worlds from their start; each call returns the seconds per simulated second of one world."""

    method: str
    dt: float
    seconds: float
    n: int
    options: dict[str, Any]
    q: np.ndarray | None = None
    diverged: bool = False

    def __post_init__(self) -> None:
        self._worlds = make_worlds(self.n, self.method, self.dt, SPREAD, **self.options)
        self._start = np.array(self._worlds.q), np.array(self._worlds.v)

    def __call__(self) -> float:
        worlds, steps = self._worlds, round(self.seconds / self.dt)
        worlds.set_state(*self._start)
        worlds.step(1)  # what a method derives from a new state is not timed
        begin = time.perf_counter()
        worlds.step(steps - 1)
        took = time.perf_counter() - begin
        self.q, self.diverged = np.array(worlds.q), bool(worlds.diverged.any())
        return took / ((steps - 1) * self.dt * self.n)


@dataclass
class PeerRun:
    """A run of ``mujoco.rollout`` with one time step: its speed, and where the worlds end."""

    dt: float
    seconds: float
    n: int
    threads: int
    q: np.ndarray | None = None
    diverged: bool = False

    def __post_init__(self) -> None:
        self._rollouts = Rollouts(self.n, self.dt, self.threads, SPREAD)

    def __call__(self) -> float:
        begin = time.perf_counter()
        last = self._rollouts.after(self._rollouts.start, round(self.seconds / self.dt))
        took = time.perf_counter() - begin
        self.q = self._rollouts.q(last)
        return took / (self.seconds * self.n)


@dataclass
class WarpRun:
    """A run of MuJoCo Warp with one time step: its speed, and where the worlds end."""

    dt: float
    seconds: float
    n: int
    q: np.ndarray | None = None
    diverged: bool = False

    def __call__(self) -> float:
        steps = WarpSteps(self.n, self.dt, SPREAD, 1)
        begin = time.perf_counter()
        steps.step(round(self.seconds / self.dt))
        took = time.perf_counter() - begin
        self.q = steps.q
        return took / (self.seconds * self.n)


def measure_errors(
    methods: Sequence[str], seconds: float, judged: int, n: int, rounds: int, threads: int, options: dict[str, Any]
) -> list[Accuracy]:
    """Errors of the first ``judged`` worlds and speeds of n, for all time steps of all methods and of MuJoCo.

    References are made on the CPU in float64.
    """
    warp = options["device"] == "cuda"
    peers = [] if warp and not has_warp() else [WARP if warp else PEER]
    references: dict[str, np.ndarray] = {}
    with Progress("references", len(methods) + len(peers), "methods") as bar:
        for done, method in enumerate((*methods, *peers)):
            ours = method not in (PEER, WARP)
            dt = min(time_steps(method if ours else PEER)) / FINER
            run: Any = Run(method, dt, seconds, judged, {}) if ours else PeerRun(dt, seconds, judged, threads)
            run()
            references[method] = run.q
            bar.update(done + 1)
    runs: dict[tuple[str, float], Any] = {}
    for method in methods:
        runs |= {(method, dt): Run(method, dt, seconds, n, options) for dt in time_steps(method)}
    for method in peers:
        make: Callable[[float], Any] = (
            (lambda dt: WarpRun(dt, seconds, n)) if warp else (lambda dt: PeerRun(dt, seconds, n, threads))
        )
        runs |= {(method, dt): make(dt) for dt in time_steps(PEER)}
    median = interleaved(runs, rounds, "equal error")
    return [
        Accuracy(method, dt, rms(run.q, references[method], run.diverged), 1e6 / median[method, dt])
        for (method, dt), run in runs.items()
    ]


def speed_at(found: Sequence[Accuracy], level: float) -> tuple[float, str]:
    """(simulated seconds per second at an error, where it comes from) of one method's time steps.

    Between two time steps it is interpolated in the logarithms. The speed is that of the largest dt ("≥", since
    a larger one may do) if even its error is smaller, and 0 if no time step is as accurate.
    """
    rows = sorted(found, key=lambda a: -a.dt)
    for k, row in enumerate(rows):
        if row.error > level:
            continue
        if k == 0 or not np.isfinite(rows[k - 1].error) or row.error <= 0.0:
            return row.speed, "≥"
        before = rows[k - 1]
        part = log(level / row.error) / log(before.error / row.error)
        return exp(log(row.speed) + part * (log(before.speed) - log(row.speed))), ""
    return 0.0, ""
