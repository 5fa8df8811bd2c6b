"""Candidate: a method that takes part in a comparison, with its options and a label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stickslip.errors import expected
from stickslip.methods.base import Method
from stickslip.methods.registry import resolve


@dataclass(frozen=True)
class Candidate:
    """A method under a label of its own: ``Candidate("stewart-trinkle", "my solver", {"solver": my_function})``.

    ``method`` is what ``Simulation`` takes: a name or a Method class. ``options`` are further keywords of
    ``Simulation``: options of the method, and stages such as ``collision``.
    """

    method: str | type[Method]
    label: str = ""
    """The method's name by default."""
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name, _, _ = resolve(self.method)
        if not isinstance(self.options, Mapping):
            raise expected(f"options of {name}", "keywords of Simulation by name", self.options)
        if not isinstance(self.label, str):
            raise expected(f"label of {name}", "a text", self.label, "options= comes after it")
        if not self.label:
            object.__setattr__(self, "label", self.method if isinstance(self.method, str) else name)


def candidate(method: str | type[Method] | Candidate) -> Candidate:
    return method if isinstance(method, Candidate) else Candidate(method)
