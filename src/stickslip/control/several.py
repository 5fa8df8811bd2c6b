"""Several controllers as one: a simulation asks one function for all controls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stickslip.errors import expected, function
from stickslip.model.model import Model


class Sum:
    """Several controllers as one, such as those of two robots in one scene: the controls are the sum of theirs.

    >>> sim.controller = Sum(PD(robot, kp=10, kd=0.0), lambda t, q, v: -0.2 * v[6:])
    """

    def __init__(self, *controllers: Callable[[float, np.ndarray, np.ndarray], Any]) -> None:
        if not controllers:
            raise expected("Sum", "controllers, one after the other", "none", "such as Sum(first, second)")
        self.controllers = tuple(function("Sum", each, "f(t, q, v) → controls") for each in controllers)

    def bind(self, model: Model) -> None:
        """Show the model to those controllers that want to see it."""
        for each in self.controllers:
            if bind := getattr(each, "bind", None):
                bind(model)

    def longest_period(self, model: Model, q: np.ndarray) -> float:
        """[s] Above it, joints shake at the configuration q (nq,): the shortest that one of the controllers knows."""
        known = [each.longest_period(model, q) for each in self.controllers if hasattr(each, "longest_period")]
        return min(known, default=np.inf)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        total = np.asarray(self.controllers[0](t, q, v))
        for each in self.controllers[1:]:
            total = total + np.asarray(each(t, q, v))
        return total

    def get_state(self) -> tuple:
        """What snapshots keep of the controllers."""
        return tuple(each.get_state() if hasattr(each, "get_state") else None for each in self.controllers)

    def set_state(self, state: tuple) -> None:
        for each, its in zip(self.controllers, state, strict=True):
            if its is not None:
                each.set_state(its)
