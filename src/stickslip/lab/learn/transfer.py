"""How well a policy carries over: its returns under other contact methods than the one it was learned with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip.episodes import Episodes, Task
from stickslip.errors import StickslipError
from stickslip.lab.learn.rollout import Returns, rollout
from stickslip.lab.report import quiet
from stickslip.progress import Progress

FIRST_SEED = 10**6
"""Seeds of the episodes that judge; no episode that a policy learned from or was chosen by has one of them."""
FEWEST = 4
"""Episodes without which there is no judgement."""


@dataclass(frozen=True)
class Judged:
    """The returns of a policy by one method."""

    method: str
    why_not: str = ""
    """Why the method could not run the task; empty if it did."""
    dt: float = np.nan
    """[s]."""
    episodes: int = 0
    mean: float = np.nan
    """Mean return."""
    deviation: float = np.nan
    """Standard deviation of the returns from episode to episode."""
    seconds: float = np.nan
    """[s] mean length of an episode."""
    failed: int = 0
    """Episodes that ended early, divergence included."""
    diverged: int = 0
    measured: float = np.nan
    """Mean of what the task measures at the end."""
    unconverged: float = 0.0
    """Share of the steps whose solver did not reach its tolerance."""
    wall: float = np.nan
    """[s] of computing, without compilation."""
    remark: str = ""
    """What is particular to this judgement."""

    @property
    def label(self) -> str:
        return f"{self.method}{self.remark}"


def judge(
    task: type[Task],
    policy: Callable[[np.ndarray], np.ndarray],
    methods: Sequence[str],
    *,
    episodes: int = 16,
    patience: float = 120.0,
    longest: float = np.inf,
    options: Mapping[str, Any] | None = None,
    show: bool | None = None,
) -> list[Judged]:
    """The returns of a policy by each method, at its default time step, but at most ``longest`` [s]. A method that
    would take longer than ``patience`` [s] gets fewer episodes, and none if not even four would end in that time."""
    found = []
    with Progress("judging by other methods", len(methods), "methods", show=show) as bar:
        for k, method in enumerate(methods):
            bar.update(k)
            with quiet():
                found.append(_judge(task, policy, method, episodes, patience, longest, dict(options or {})))
    return found


def _judge(
    task: type[Task],
    policy: Any,
    method: str,
    episodes: int,
    patience: float,
    longest: float,
    options: dict[str, Any],
) -> Judged:
    try:
        if Episodes(task(), 1, method=method, **options).worlds.dt > longest:
            options["dt"] = longest
        each = _seconds(task, policy, method, options)
        n = min(episodes, int(patience / each))
        if n < FEWEST:
            return Judged(method, f"an episode takes {each:.0f} s, so that {FEWEST} exceed {patience:g} s")
        made, began = Episodes(task(), n, method=method, **options), time.perf_counter()
        returns = rollout(made, policy, range(FIRST_SEED, FIRST_SEED + n))
    except StickslipError as error:  # by name: closed loops, a step that is too short to be usable, and the like
        return Judged(method, str(error))
    return summary(method, made, returns, time.perf_counter() - began)


def _seconds(task: type[Task], policy: Any, method: str, options: dict[str, Any]) -> float:
    """[s] An episode takes at most, compilation apart, from ten of its actions."""
    made = Episodes(task(), 1, method=method, **options)
    made.seed([0])
    seen = made.begin()
    seen = made.step(policy(seen)).observation  # compiles
    began, few = time.perf_counter(), 10
    for _ in range(few):
        seen = made.step(policy(seen)).observation
    return made.longest * (time.perf_counter() - began) / few


def summary(method: str, episodes: Episodes, returns: Returns, wall: float) -> Judged:
    worlds = episodes.worlds
    return Judged(
        method=method,
        dt=worlds.dt,
        episodes=episodes.n,
        mean=float(returns.total.mean()),
        deviation=float(returns.total.std()),
        seconds=float(returns.actions.mean() * episodes.control_dt),
        failed=int(returns.failed.sum()),
        diverged=int(returns.diverged.sum()),
        measured=float(returns.measured.mean()),
        unconverged=float(worlds.unconverged.sum() / max(1, int(worlds.steps.sum()))),
        wall=wall,
    )


def at_random(task: type[Task], method: str, episodes: int = 16, **options: Any) -> Judged:
    """The returns of random actions, each number uniform in ±1."""
    made, rng, began = (
        Episodes(task(), episodes, method=method, **options),
        np.random.default_rng(0),
        time.perf_counter(),
    )
    size = made.actions.shape
    returns = rollout(made, lambda seen: rng.uniform(-1.0, 1.0, size), range(FIRST_SEED, FIRST_SEED + episodes))
    return summary(method, made, returns, time.perf_counter() - began)
