"""The stages of a step that users can replace, and the type of controllers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stickslip.errors import InputError, function
from stickslip.methods.base import Method, Stage

Controller = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
"""``controller(t, q, v)`` returns the controls (nu,). A method ``bind(model)``, if any, is called first."""
CONTROLLER = "f(t, q, v) → controls"
"""The form of a controller in messages."""

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

    def __setattr__(self, name: str, value: Stage | None) -> None:
        if value is not None and name in STAGES:
            function(name, value, "f(sim)")
        object.__setattr__(self, name, value)

    @property
    def whole(self) -> bool:
        """Whether no stage but the user function is replaced, so that the step itself is compiled."""
        return all(getattr(self, name) is None for name in STAGES if name not in ("user", "record"))

    @property
    def compiled(self) -> bool:
        """Whether a whole step can run without Python."""
        return (
            self.user is None
            and self.collision is None
            and self.formulate is None
            and self.solve is None
            and self.integrate is None
        )


def check_replaceable(stages: Stages, stepper: Method, method: str) -> None:
    """Raise an error for replaced stages that the method has only inside its compiled step."""
    for name in STAGES:
        if getattr(stages, name) is not None and name not in stepper.replaceable:
            possible = ", ".join(stage for stage in STAGES if stage in stepper.replaceable)
            raise InputError(
                f"{name}: {method} does this inside its compiled step; functions are possible for {possible}"
            )
