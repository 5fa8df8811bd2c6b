"""Case: a scene with a known answer, what is measured of its recordings, and what failures teach.

A case is one or more scenes (``variants``: a block that must stick and one that must slide), simulated by every method
with every time step. ``measure`` reads quantities off the recordings; what they should be stands in ``facts.toml``. A
new case is a ``Case`` in a module of ``truth/cases``, a line of that module's CASES, and its facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import inf
from typing import Any

from stickslip.methods.registry import METHODS
from stickslip.record import Log
from stickslip.scenes.setup import Setup

RUN = "run"
"""Takes the place of a quantity where a simulation did not come to its end: it diverged, failed, or took too long."""
PATIENCE = 60.0
"""[s] of processor time for one case, one method and one time step."""


def every_method() -> tuple[str, ...]:
    """All registered steppers, each with its first law or solver."""
    return tuple(METHODS)


@dataclass(frozen=True)
class Lesson:
    """What a failure teaches, and whose."""

    methods: tuple[str, ...]
    """Names or patterns, such as ``"coulomb*"``."""
    text: str
    """One or two sentences; the reason, as measured."""
    quantities: tuple[str, ...] = ("*",)
    """The failing quantities that it explains, names or patterns; "run" is a simulation that did not end well."""
    shortest: float = 0.0
    """[s] it holds for time steps from here"""
    longest: float = inf
    """[s] to here."""

    def explains(self, method: str, dt: float, quantity: str) -> bool:
        return (
            any(fnmatchcase(method, pattern) for pattern in self.methods)
            and any(fnmatchcase(quantity, pattern) for pattern in self.quantities)
            and self.shortest * (1 - 1e-9) <= dt <= self.longest * (1 + 1e-9)
        )


@dataclass(frozen=True)
class Case:
    name: str
    """As in facts.toml and ``stickslip bench truth --scene NAME``."""
    title: str
    """What happens in it, in a line."""
    variants: Mapping[str, Callable[[], Setup]]
    """The scenes by name; one that is alone may be called by anything."""
    seconds: float
    """To simulate [s]."""
    measure: Callable[[Mapping[str, Log]], Mapping[str, float]]
    """From the recordings of the variants to every quantity that facts.toml has of this case."""
    dts: tuple[float, ...] = (1e-2, 1e-3, 1e-4)
    """[s] the time steps, the default first."""
    record_dt: float = 1e-3
    """[s] between frames; a time step that is longer is recorded at every step."""
    methods: Callable[[], tuple[str, ...]] = every_method
    settings: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    """Names among ``methods`` that are a method with options: the method, and the options."""
    lessons: tuple[Lesson, ...] = ()
    """The first that explains a failure counts."""
    unsuited: Mapping[str, str] = field(default_factory=dict)
    """Methods (names or patterns) that cannot play this case, and why; those that refuse a scene, or would let its
    shapes pass through each other, need no entry."""
    bounces_by_springs: bool = False
    """The scene's stiffness and damping give the same bounce as its restitution: methods may honour either."""
    quick: bool = True
    """Part of ``--quick``."""
    patience: float = PATIENCE
    """[s] of processor time per method and time step; beyond it the method has failed."""

    def setting(self, method: str) -> tuple[str, Mapping[str, Any]]:
        """The method's own name, and its options."""
        return self.settings.get(method, (method, {}))

    def reason_unsuited(self, method: str) -> str | None:
        return next((why for pattern, why in self.unsuited.items() if fnmatchcase(method, pattern)), None)

    def lesson(self, method: str, dt: float, quantity: str) -> str | None:
        return next((x.text for x in self.lessons if x.explains(method, dt, quantity)), None)
