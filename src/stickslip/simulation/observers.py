"""Observers: what looks at a simulation between its steps, in ``step`` as in ``run``: recorders, captures, viewers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from stickslip.progress import Progress

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation

NEVER = sys.maxsize


class Observer:
    """Looks at a simulation between steps. ``sim.observers.append(observer)`` lets it take part."""

    def next_step(self, steps: int) -> int:
        """The number of the step after which it must be called, at the latest; ``steps`` have been taken."""
        return NEVER

    def before_steps(self, sim: Simulation) -> None:
        """Called before steps are taken."""

    def after_steps(self, sim: Simulation) -> None:
        """Called after one or more steps were taken."""


class Every(Observer):
    """Calls a function after every so many steps, counted from a step ``first``."""

    def __init__(self, every: int, function: Callable[[], None], first: int = 0) -> None:
        self.every, self.first, self._function = every, first, function

    def next_step(self, steps: int) -> int:
        return steps + self.every - (steps - self.first) % self.every

    def after_steps(self, sim: Simulation) -> None:
        if (sim.steps - self.first) % self.every == 0:
            self._function()


class Shown(Observer):
    """Moves a progress bar [s] on, from a step ``first``."""

    def __init__(self, bar: Progress, first: int) -> None:
        self._bar, self._first = bar, first

    def after_steps(self, sim: Simulation) -> None:
        self._bar.update((sim.steps - self._first) * sim.dt)
