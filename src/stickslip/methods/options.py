"""Options of methods: a dataclass whose fields are keyword arguments of ``Simulation``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from stickslip.errors import InputError, one_of

ELSEWHERE = ("method", "dt", "seed", "user", "collision", "formulate", "solve", "integrate", "record")
"""Keywords of ``Simulation`` that are no options of methods."""


def option(default: Any, help: str) -> Any:
    """A field of ``Options``: its default, and what it chooses, in one line.

    Lists append the default to the line, unless the line speaks of it.
    """
    return field(default=default, metadata={"help": help})


@dataclass(kw_only=True)
class Options:
    """The options of a method. A subclass adds fields by ``option`` and checks their values in ``__post_init__``.

    >>> @dataclass(kw_only=True)
    ... class Options(Options):
    ...     sweeps: int = option(10, "largest number of sweeps")
    """

    @classmethod
    def help(cls) -> dict[str, str]:
        """What each option chooses, with its default."""
        lines = {}
        for each in fields(cls):
            text = each.metadata["help"]
            lines[each.name] = text if "(default" in text else f"{text} (default {each.default!r})"
        return lines

    @classmethod
    def check_names(cls, method: str, given: Mapping[str, Any], refused: Mapping[str, str]) -> None:
        """Raise an error that names an option which the method does not have."""
        known = [each.name for each in fields(cls)]
        for name in given:
            if name in refused:
                raise InputError(f"{name}: {method} has no such option: {refused[name]}; leave it out")
            one_of(f"option of {method}", name, [*known, *ELSEWHERE])
