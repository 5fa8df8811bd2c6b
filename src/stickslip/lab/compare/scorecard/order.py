"""The order of convergence from errors at several time steps."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, nan

import numpy as np
from scipy.optimize import minimize_scalar

ROUND_OFF = 1e-13
"""[m] Smaller errors are rounding and are ignored."""
EXPLAINED = 0.9
"""Fraction of the variance of log e that the law must explain."""
HIGHEST = 8.0
"""Largest order that is looked for."""


def convergence_order(dts: Sequence[float], errors: Sequence[float], *, finest: float = 0.0) -> float:
    """p of the law e = C·(dt^p − finest^p) that fits best in logarithms.

    ``finest`` is the step of the run that errors are measured against, if that run is by the same method, since its own
    error is then missing from the others. The fit uses the longest sequence of errors above round-off that grow from
    step to step. The result is NaN if this sequence has fewer than three errors or no more than half of all, if no law
    fits, or if p < 0.1.
    """
    points = sorted((float(dt), float(error)) for dt, error in zip(dts, errors, strict=True) if dt > finest)
    points = [(dt, error) for dt, error in points if error > ROUND_OFF and np.isfinite(error)]
    row = _longest_rise(points)
    if len(row) < 3 or len(row) <= len(points) / 2:
        return nan
    step, error = np.log([dt for dt, _ in row]), np.log([error for _, error in row])

    def scatter(p: float) -> float:
        shape = p * step
        if finest > 0.0:
            shape = shape + np.log1p(-np.exp(p * (log(finest) - step)))
        return float(np.std(error - shape))

    found = minimize_scalar(scatter, bounds=(0.0 if finest == 0.0 else 1e-3, HIGHEST), method="bounded")
    explained = 1.0 - (found.fun / np.std(error)) ** 2
    return float(found.x) if explained >= EXPLAINED and 0.1 <= found.x < 0.99 * HIGHEST else nan


def _longest_rise(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    best: list[tuple[float, float]] = []
    start = 0
    for k in range(1, len(points) + 1):
        if k == len(points) or points[k][1] <= points[k - 1][1]:
            if k - start > len(best):
                best = points[start:k]
            start = k
    return best
