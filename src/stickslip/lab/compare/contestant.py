"""Contestant: a method that takes part in a comparison, with its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stickslip.errors import expected
from stickslip.methods.base import Method
from stickslip.methods.registry import resolve


@dataclass(frozen=True)
class Contestant:
    """A method under a name of its own: ``Contestant("stewart-trinkle", "my solver", {"solver": my_function})``.

    ``method`` is what ``Simulation`` takes, a name or a Method class; ``options`` are further keywords of
    ``Simulation``: options of the method, and stages such as ``collision``.
    """

    method: str | type[Method]
    label: str = ""
    """By default the method's name."""
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name, _, _ = resolve(self.method)
        if not isinstance(self.options, Mapping):
            raise expected(f"options of {name}", "keywords of Simulation by name", self.options)
        if not self.label:
            object.__setattr__(self, "label", self.method if isinstance(self.method, str) else name)

    @property
    def stepper(self) -> type[Method]:
        return resolve(self.method)[1]


def contestant(method: str | type[Method] | Contestant) -> Contestant:
    return method if isinstance(method, Contestant) else Contestant(method)
