"""Facts: the known answers in ``facts.toml``, each with its tolerance, the reason for it, and its source.

A measured x agrees with the value a if |x − a| ≤ absolute + relative·|a| + per_second·dt. With ``bound = "≤"`` or "≥"
only that side is limited.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from stickslip.errors import InputError, expected, unknown
from stickslip.lab.targets import BOUNDS, Target

FILE = Path(__file__).with_name("facts.toml")


@dataclass(frozen=True)
class Fact:
    case: str
    quantity: str
    meaning: str
    """What is measured, in words."""
    value: float
    unit: str
    """Unit; "1" if there is none."""
    why: str
    """The reason for the tolerance."""
    source: str
    """A derivation or a citation."""
    bound: str = "="
    absolute: float = 0.0
    """[unit]."""
    relative: float = 0.0
    per_second: float = 0.0
    """[unit/s] Error that methods of first order may have, as a multiple of dt."""

    def tolerance(self, dt: float) -> float:
        """[unit] at a time step [s]."""
        return self.absolute + self.relative * abs(self.value) + self.per_second * dt

    def target(self, measured: float, dt: float) -> Target:
        """A measured figure beside the fact."""
        return Target(self.quantity, measured, self.value, self.bound, self.tolerance(dt), self.unit)


def read_facts(text: str) -> dict[str, tuple[Fact, ...]]:
    """Read and check the facts of every case from TOML with a table per quantity, ``[case.quantity]``."""
    return {case: tuple(_fact(case, name, entry) for name, entry in table.items())
            for case, table in tomllib.loads(text).items()}  # fmt: skip


def _fact(case: str, quantity: str, entry: Mapping[str, Any]) -> Fact:
    where, fields = f"{case}.{quantity}", Fact.__dataclass_fields__
    for name in entry:
        if name not in fields or name in ("case", "quantity"):
            raise unknown(f"field of {where}", name, fields)
    missing = [name for name in ("meaning", "value", "unit", "why", "source") if name not in entry]
    if missing:
        raise InputError(f"{where}: a fact needs {', '.join(missing)}")
    fact = Fact(case, quantity, **entry)
    for name in ("value", "absolute", "relative", "per_second"):
        figure = getattr(fact, name)
        if not isinstance(figure, int | float) or not isfinite(figure) or (name != "value" and figure < 0.0):
            raise expected(f"{where}.{name}", "a finite number" + (" ≥ 0" if name != "value" else ""), figure)
    if fact.bound not in BOUNDS:
        raise expected(f"{where}.bound", f"one of {', '.join(BOUNDS)}", fact.bound)
    return fact


@cache
def facts() -> dict[str, tuple[Fact, ...]]:
    return read_facts(FILE.read_text(encoding="utf-8"))
