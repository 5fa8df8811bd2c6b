"""The exceptions and warnings of stickslip: each message says what was expected, what came, and what to do."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from math import inf, isfinite
from typing import Any


class StickslipError(Exception):
    """Base of everything that stickslip raises on purpose; the command line prints it as one line."""


class InputError(StickslipError, ValueError):
    """A value that cannot be used: wrong type, shape, sign or name."""


class ModelError(StickslipError):
    """A model file or scene that cannot be turned into something to simulate."""


class UnsupportedFeatureError(ModelError):
    """A feature of a model file that stickslip does not simulate, refused by name."""


class RecordingError(StickslipError, OSError):
    """A recording that cannot be written or read."""


class DivergedError(StickslipError):
    """The simulation produced a number that is not finite; carries the last good state."""

    def __init__(self, message: str, *, snapshot: Any = None, saved_to: str | None = None) -> None:
        super().__init__(message)
        self.snapshot = snapshot
        self.saved_to = saved_to


class ControlError(StickslipError):
    """A controller that found no controls: its task, contacts and limits contradict each other."""


class UnconvergedError(StickslipError):
    """A step's problem was not solved to the tolerance, and the simulation was asked to stop then."""


class StickslipWarning(UserWarning):
    """Something that the user should know but that does not stop the run."""


class NotHonouredWarning(StickslipWarning):
    """The chosen method cannot honour something that the scene asks for; it is named."""


class StartWarning(StickslipWarning):
    """The simulation starts in a configuration that throws things about."""


class UnstableStepWarning(StickslipWarning):
    """The time step is longer than the method can bear in this scene."""


class UnconvergedWarning(StickslipWarning):
    """The solver of some steps did not reach its tolerance; they were taken all the same."""


class PainleveWarning(StickslipWarning):
    """A sliding contact is in Painlevé's paradox: no finite force keeps it sliding, or more than one motion does."""


def expected(what: str, wanted: str, got: Any, remedy: str = "") -> InputError:
    """``expected("dt", "a positive number of seconds", -1, "use 1e-3")`` as an exception to raise."""
    return InputError(f"{what}: expected {wanted}, got {got!r}" + (f"; {remedy}" if remedy else ""))


def number(
    what: str, value: Any, wanted: str = "a finite number", *, least: float = -inf, above: float = -inf
) -> float:
    """A finite float with ``value >= least`` and ``value > above``; anything else is refused by name."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise expected(what, wanted, value) from None
    if isinstance(value, str | bool) or not isfinite(result) or result < least or result <= above:
        raise expected(what, wanted, value)
    return result


def whole(what: str, value: Any, least: int) -> int:
    """A whole number ≥ ``least``; anything else is refused by name."""
    if number(what, value, f"a whole number ≥ {least}", least=least) != int(value):
        raise expected(what, f"a whole number ≥ {least}", value)
    return int(value)


def unknown(what: str, name: str, known: Iterable[str]) -> InputError:
    """An unknown name, with the nearest known ones first."""
    choices = sorted(known)
    near = get_close_matches(name, choices, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    return InputError(f"unknown {what} {name!r}: {hint}known: {', '.join(choices) or 'none'}")


def listed(names: Iterable[str], most: int = 4) -> str:
    """Names in a sentence: ``a, b, c, d and 3 more``."""
    every = list(names)
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")


def deprecated(old: str, new: str) -> None:
    """Say once per place that a spelling is old, and what to write instead."""
    warnings.warn(f"{old} is the old spelling, which works for this version; write {new}", DeprecationWarning, 3)
