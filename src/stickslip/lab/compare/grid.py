"""The time steps that a method is run at, and its longest stable step.

All methods share one grid, ``longest``·2⁻ᵏ, so that they have steps and instants in common. Each begins with its
longest stable step, found by bisection or else by its own estimate, and goes on to shorter ones.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, isfinite, log, nan

RUNS = 4
"""Number of time steps per method."""
PRECISION = 1.05
"""Factor to which the longest stable step is determined."""
NO_LIMIT = "no limit up to the longest step that makes sense here"
MOST_HALVINGS = 6
"""Largest number of halvings of a step that should be stable and is not."""


def steps(longest: float, limit: float, runs: int = RUNS) -> tuple[float, ...]:
    """[s] ``runs`` steps of the grid, from the longest one within ``limit``."""
    first = 0 if not isfinite(limit) or limit >= longest else ceil(log(longest / limit) / log(2.0) - 1e-9)
    return tuple(longest * 0.5**k for k in range(first, first + runs))


def largest_stable(longest: float, start: float, stable: Callable[[float], str]) -> tuple[float, str]:
    """The longest step longest/n, n whole, at which a method is stable [s], and what goes wrong beyond it.

    ``start`` is a step that should be stable; ``stable(dt)`` says what goes wrong, or "". The step is NaN if none is
    stable.
    """
    trouble = stable(longest)
    if not trouble:
        return longest, NO_LIMIT
    bad, good = 1, max(2, ceil(longest / start * (1 - 1e-9)))
    for _ in range(MOST_HALVINGS):
        what = stable(longest / good)
        if not what:
            break
        bad, good, trouble = good, 2 * good, what
    else:
        return nan, f"at {longest / bad:.4g} s: {trouble}"
    while good - bad > 1 and good / bad > PRECISION:
        middle = min(max(round(exp(0.5 * (log(bad) + log(good)))), bad + 1), good - 1)
        what = stable(longest / middle)
        if what:
            bad, trouble = middle, what
        else:
            good = middle
    return longest / good, f"at {longest / bad:.4g} s: {trouble}"
