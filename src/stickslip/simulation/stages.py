"""The stages of a step that users may replace, and what a controller is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stickslip.steppers.base import Stage

Controller = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
"""``controller(t, q, v)`` returns the controls (nu,). One with a method ``bind(model)`` is told the model first."""

STAGES = ("user", "collision", "formulate", "solve", "integrate", "record")


@dataclass(slots=True)
class Stages:
    """User functions in place of the built-in stages; ``None`` keeps the built-in one."""

    user: Stage | None = None
    collision: Stage | None = None
    formulate: Stage | None = None
    solve: Stage | None = None
    integrate: Stage | None = None
    record: Stage | None = None

    @property
    def compiled(self) -> bool:
        """Whether a whole step can run without Python."""
        return all(getattr(self, name) is None for name in STAGES if name != "record")
