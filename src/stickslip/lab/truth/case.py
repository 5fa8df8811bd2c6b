"""Case: scenes with a known answer, what is measured in their recordings, and what failures teach.

A case has one or more scenes (such as a block that must stick and one that must slide), which every method simulates
with every time step. ``measure`` computes quantities from the recordings; ``facts.toml`` has their true values. A new
case is a ``Case`` in a module of ``truth/cases``, a line of that module's CASES, and its facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import inf
from typing import Any

from stickslip.methods.registry import METHODS
from stickslip.record import Log
from stickslip.simulation.setup import Setup

RUN = "run"
"""Stands for the quantities if a simulation did not come to its end: it diverged, failed, or took too long."""
PATIENCE = 60.0
"""[s] processor time for one case, one method and one time step."""


def every_method() -> tuple[str, ...]:
    """All registered methods, each with its default variant."""
    return tuple(METHODS)


@dataclass(frozen=True)
class Lesson:
    """The reason for a failure, and which methods and quantities it concerns."""

    methods: tuple[str, ...]
    """Names or patterns, such as ``"coulomb*"``."""
    text: str
    """The reason, as measured, in one or two sentences."""
    quantities: tuple[str, ...] = ("*",)
    """Names or patterns of the failing quantities that it explains; "run" stands for a simulation that ended early."""
    shortest: float = 0.0
    """[s] shortest time step that it explains."""
    longest: float = inf
    """[s] longest time step that it explains."""

    def explains(self, method: str, dt: float, quantity: str) -> bool:
        return (
            any(fnmatchcase(method, pattern) for pattern in self.methods)
            and any(fnmatchcase(quantity, pattern) for pattern in self.quantities)
            and self.shortest * (1 - 1e-9) <= dt <= self.longest * (1 + 1e-9)
        )


@dataclass(frozen=True)
class Case:
    name: str
    """Name in facts.toml and in ``stickslip bench truth --scene NAME``."""
    title: str
    """What happens, in one line."""
    scenes: Mapping[str, Callable[[], Setup]]
    """The scenes by name; a single scene may have any name."""
    seconds: float
    """Simulated time [s]."""
    measure: Callable[[Mapping[str, Log]], Mapping[str, float]]
    """Computes every quantity of this case in facts.toml from the recordings of the scenes."""
    dts: tuple[float, ...] = (1e-2, 1e-3, 1e-4)
    """[s] time steps, the default first."""
    record_dt: float = 1e-3
    """[s] between frames, or one time step if that is longer."""
    methods: Callable[[], tuple[str, ...]] = every_method
    settings: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    """For names among ``methods`` that stand for a method with options: the method and the options."""
    lessons: tuple[Lesson, ...] = ()
    """Lessons; the first one that explains a failure is used."""
    unsuited: Mapping[str, str] = field(default_factory=dict)
    """Names or patterns of methods that cannot simulate this case, and why. Methods that refuse a scene by themselves
    need no entry."""
    bounces_by_springs: bool = False
    """Whether the scene's stiffness and damping give the same bounce as its restitution, so that either will do."""
    quick: bool = True
    """Whether the case is part of ``--quick``."""
    patience: float = PATIENCE
    """[s] processor time per method and time step, after which the method has failed."""

    def setting(self, method: str) -> tuple[str, Mapping[str, Any]]:
        """The method's own name, and its options."""
        return self.settings.get(method, (method, {}))

    def reason_unsuited(self, method: str) -> str | None:
        return next((why for pattern, why in self.unsuited.items() if fnmatchcase(method, pattern)), None)

    def lesson(self, method: str, dt: float, quantity: str) -> str | None:
        return next((x.text for x in self.lessons if x.explains(method, dt, quantity)), None)
