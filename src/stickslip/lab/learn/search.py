"""Augmented random search: a policy from nothing but the returns of episodes.

In each iteration the weights W are changed by ν·δ_k and −ν·δ_k along N random directions δ_k, an episode is run with
each of the 2·N policies, both of a direction from the same start, and W is moved along the b best directions:

    W ← W + α/(b·σ)·Σ_k (R(W + ν·δ_k) − R(W − ν·δ_k))·δ_k

σ is the standard deviation of the 2·b returns that are used. Observations are normalised by all that was seen so far.
H. Mania, A. Guy, B. Recht, "Simple random search of static policies is competitive for reinforcement learning" (NeurIPS
2018), Algorithm 2, V2-t. Differs from the paper in: both policies of a direction have the same start; actions are
bounded; the policy has a constant term; the best of the policies that are judged on the way is returned.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stickslip.episodes import Episodes
from stickslip.lab.learn.policy import Policy
from stickslip.lab.learn.rollout import rollout
from stickslip.progress import Progress

NARROWEST = 1e-2
"""Smallest spread by which an observation is divided."""
JUDGED = 16
"""Episodes by which a policy is judged on the way."""


@dataclass(frozen=True)
class SearchSettings:
    """How a policy is searched for."""

    iterations: int = 250
    directions: int = 32
    """N; two worlds for each."""
    best: int = 16
    """b."""
    noise: float = 0.2
    """ν."""
    step: float = 0.2
    """α."""
    every: int = 10
    """Iterations from one judgement to the next."""
    seed: int = 0


@dataclass(frozen=True)
class Point:
    """A point of the learning curve."""

    iteration: int
    actions: int
    """Actions that were taken until then, in all worlds."""
    seconds: float
    """[s] of computing until then."""
    mean: float
    """Return of the policy, over ``JUDGED`` episodes whose starts are always the same."""
    deviation: float
    """Its standard deviation from episode to episode."""


class Seen:
    """Mean and spread of all that was observed (T. Chan, G. Golub, R. LeVeque, 1979, for parts that are joined)."""

    def __init__(self, size: int) -> None:
        self.count, self.mean, self.squares = 0, np.zeros(size), np.zeros(size)

    def add(self, rows: np.ndarray) -> None:
        if not len(rows):
            return
        count, mean = self.count + len(rows), rows.mean(axis=0)
        off = mean - self.mean
        self.squares += ((rows - mean) ** 2).sum(axis=0) + off**2 * (self.count * len(rows) / count)
        self.mean = self.mean + off * (len(rows) / count)
        self.count = count

    @property
    def spread(self) -> np.ndarray:
        if self.count == 0:
            return np.ones_like(self.mean)
        return np.maximum(np.sqrt(self.squares / self.count), NARROWEST)


def search(
    make: Callable[[int], Episodes], settings: SearchSettings, *, show: bool | None = None, what: str = "learning"
) -> tuple[Policy, list[Point]]:
    """The best policy that was found, and the learning curve; ``make(n)`` makes the task in n worlds."""
    s = settings
    episodes, judged = make(2 * s.directions), make(JUDGED)
    rng, began = np.random.default_rng(s.seed), time.perf_counter()
    seen, taken = Seen(episodes.observations), 0
    weights = np.zeros((episodes.actions.shape[1], episodes.observations + 1))
    best, curve = Policy(weights, seen.mean, seen.spread), list[Point]()
    with Progress(what, s.iterations, "iterations", show=show) as bar:
        for iteration in range(s.iterations + 1):
            if iteration % s.every == 0 or iteration == s.iterations:
                policy = Policy(weights.copy(), seen.mean, seen.spread)
                found = rollout(judged, policy, range(JUDGED)).total
                if not curve or found.mean() > max(point.mean for point in curve):
                    best = policy
                now = time.perf_counter() - began
                curve.append(Point(iteration, taken, now, float(found.mean()), float(found.std())))
            if iteration == s.iterations:
                break
            delta = rng.standard_normal((s.directions, *weights.shape))
            tried = Policy(
                np.concatenate([weights + s.noise * delta, weights - s.noise * delta]), seen.mean, seen.spread
            )
            starts = JUDGED + rng.integers(2**31, size=s.directions)
            returns = rollout(episodes, tried, [*starts, *starts], seen.add)
            taken += int(returns.actions.sum())
            weights = weights + s.step * _direction(returns.total, delta, s.best)
            bar.update(iteration + 1)
    return best, curve


def _direction(returns: np.ndarray, delta: np.ndarray, best: int) -> np.ndarray:
    """The mean of the best directions, each by how much better it is than its opposite, over the returns' σ."""
    plus, minus = np.split(returns, 2)
    order = np.argsort(-np.maximum(plus, minus), kind="stable")[:best]
    deviation = np.concatenate([plus[order], minus[order]]).std()
    if deviation == 0.0:
        return np.zeros_like(delta[0])
    return np.tensordot((plus - minus)[order], delta[order], axes=1) / (len(order) * deviation)
