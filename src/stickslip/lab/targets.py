"""Targets: measured figures beside their limits, for benches, the findings of papers, and the truth suite."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import Any, NamedTuple

MARKS = {True: "✓", False: "✗"}
"""Target met or missed, in a matrix."""
BOUNDS = ("=", "≤", "≥")


class Target(NamedTuple):
    """One figure and its limit: figure ≤ limit, figure ≥ limit or figure = limit, each within a tolerance."""

    name: str
    figure: float
    """NaN or infinity if it could not be measured; then the target is missed."""
    limit: float
    bound: str = "≤"
    """One of ``BOUNDS``."""
    tolerance: float = 0.0
    unit: str = ""

    @property
    def met(self) -> bool:
        off = self.figure - self.limit
        excess = abs(off) if self.bound == "=" else off if self.bound == "≤" else -off
        return isfinite(self.figure) and excess <= self.tolerance

    @property
    def strain(self) -> float:
        """Figure over limit, or limit over figure if the bound is "≥"; with a limit of 0, such as for a count of
        failures, 0 if it is met and infinity if not."""
        if self.bound == "≥" and self.limit:
            return self.limit / self.figure if self.figure else inf
        if self.limit:
            return self.figure / self.limit
        return 0.0 if self.met else inf

    @property
    def wanted(self) -> str:
        """The limit in words, such as "≤ 1"."""
        tolerance = f" ± {self.tolerance:g}" if self.tolerance else ""
        return f"{self.bound} {self.limit:g}{tolerance}"

    def numbers(self) -> dict[str, Any]:
        """The target as an entry of a JSON file."""
        return {"name": self.name, "figure": self.figure, "limit": self.limit, "met": self.met}

    def __str__(self) -> str:
        return f"{self.name}: {self.figure:.4g}, target {self.wanted}: {'met' if self.met else 'MISSED'}"


def worst(targets: Sequence[Target]) -> Target:
    """The target whose figure is largest compared with its limit."""
    return max(targets, key=lambda target: target.strain)
