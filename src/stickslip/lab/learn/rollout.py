"""One episode in each world, from its start to its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stickslip.episodes import Episodes


@dataclass(frozen=True)
class Returns:
    """How the episodes went, an entry for each world."""

    total: np.ndarray
    """Sum of all rewards."""
    actions: np.ndarray
    """Actions until the end."""
    failed: np.ndarray
    diverged: np.ndarray
    measured: np.ndarray
    """What the task measures at the end."""


def rollout(
    episodes: Episodes,
    policy: Callable[[np.ndarray], np.ndarray],
    seeds: Sequence[int],
    watch: Callable[[np.ndarray], None] | None = None,
) -> Returns:
    """Let a policy act in all worlds until all episodes have ended; ``watch`` is given all that is observed."""
    n = episodes.n
    episodes.seed(seeds)
    seen, total, alive = episodes.begin(), np.zeros(n), np.ones(n, dtype=bool)
    for _ in range(episodes.longest):
        if watch is not None:
            watch(seen[alive])
        outcome = episodes.step(policy(seen), alive)
        total[alive] += outcome.reward[alive]
        alive &= ~outcome.failed
        seen = outcome.observation
        if not alive.any():
            break
    now = episodes.moment
    diverged = episodes.worlds.diverged.copy()
    return Returns(total, episodes.taken.copy(), ~alive, diverged, episodes.task.measure(now))
