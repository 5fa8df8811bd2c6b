"""What a measurement must reach: figures, the smaller the better, each with its own limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Target(NamedTuple):
    """One figure against its limit."""

    name: str
    figure: float
    limit: float

    @property
    def met(self) -> bool:
        return self.figure <= self.limit

    def __str__(self) -> str:
        return f"{self.name}: {self.figure:.4g}, target ≤ {self.limit:g}: {'met' if self.met else 'MISSED'}"


def worst(targets: Sequence[Target]) -> Target:
    """The figure that is largest compared with its limit."""
    return max(targets, key=lambda target: target.figure / target.limit)
