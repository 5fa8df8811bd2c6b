"""Sweep: the results of all runs as a table, with a row per run and a column per parameter and per measured value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from stickslip.errors import unknown
from stickslip.lab.report import write_csv
from stickslip.summary import Summarised, Summary, counted, plural

COMPLETE, DIVERGED, FAILED = "complete", "diverged", "failed"
SHOWN = 12
"""Number of rows that a notebook shows."""
ABOUT = ("outcome", "message", "seconds", "seed")
"""Columns that every sweep has, besides its parameters and values."""


@dataclass(frozen=True)
class SweepRun:
    """One run: a point of the grid and what came of it."""

    number: int
    """Its place in the grid, from 0."""
    parameters: Mapping[str, Any]
    """The point of the grid."""
    outcome: str
    """"complete", "diverged" (a simulation ended with a ``DivergedError``) or "failed" (any other error)."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What was measured, by name: numbers, texts and arrays; empty unless the outcome is "complete"."""
    message: str = ""
    """Reason why it is not complete."""
    seconds: float = nan
    """[s] that it took."""
    seed: int = 0
    """The seed of this run."""
    warnings: tuple[str, ...] = ()
    """Warnings of stickslip during the run."""

    def __getitem__(self, name: str) -> Any:
        """A parameter or a value."""
        for where in (self.values, self.parameters):
            if name in where:
                return where[name]
        raise unknown("column", name, [*self.parameters, *self.values])


class Sweep(Summarised):
    """The results of a sweep, in the order of its grid: ``sweep.column("rms")``, ``sweep[3]``, ``for run in sweep``."""

    def __init__(
        self, name: str, runs: tuple[SweepRun, ...], *, store: Path | None = None, computed: int = 0, missing: int = 0
    ) -> None:
        self.name, self.runs, self.store = name, runs, store
        self.computed = computed
        """Number of runs that this call has computed; the others were in the store."""
        self.missing = missing
        """Number of runs of the grid that a store does not have yet."""

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters."""
        return list(dict.fromkeys(name for run in self.runs for name in run.parameters))

    @property
    def values(self) -> list[str]:
        """Names of the measured values."""
        return list(dict.fromkeys(name for run in self.runs for name in run.values))

    @property
    def failed(self) -> list[SweepRun]:
        """The runs that are not complete."""
        return [run for run in self.runs if run.outcome != COMPLETE]

    def column(self, name: str) -> np.ndarray:
        """A parameter or value of all runs, in their order: numbers, stacked arrays, or objects if they are of several
        kinds or sizes. Where a run has none, it is NaN, or None among objects."""
        known = [*self.parameters, *self.values, *ABOUT]
        if name not in known:
            raise unknown("column", name, known)
        if name in ABOUT and name not in (*self.parameters, *self.values):
            return np.array([getattr(run, name) for run in self.runs])
        found = [run.values.get(name, run.parameters.get(name)) for run in self.runs]
        shapes = {np.shape(each) for each in found if each is not None}
        numbers = all(each is None or np.asarray(each).dtype.kind in "biufc" for each in found)
        if numbers and len(shapes) == 1:
            gap = np.full(shapes.pop(), nan)
            return np.array([gap if each is None else each for each in found])
        if all(isinstance(each, str) for each in found):
            return np.array(found)
        column = np.empty(len(found), dtype=object)
        column[:] = found
        return column

    def to_dict(self) -> dict[str, np.ndarray]:
        """All columns by name, as ``pandas.DataFrame`` takes them if no value is an array."""
        return {name: self.column(name) for name in dict.fromkeys((*self.parameters, *self.values, *ABOUT))}

    def to_csv(self, path: str | Path) -> None:
        """Write a line per run; arrays are left out."""
        names = list(dict.fromkeys((*self.parameters, *self.values, *ABOUT)))
        rows = [
            {
                name: getattr(run, name) if name in ABOUT else {**run.parameters, **run.values}.get(name)
                for name in names
            }
            for run in self.runs
        ]
        arrays = {name for row in rows for name, value in row.items() if isinstance(value, np.ndarray)}
        write_csv(Path(path), [{name: value for name, value in row.items() if name not in arrays} for row in rows])

    def where(self, **parameters: Any) -> Sweep:
        """The runs with these parameters: ``sweep.where(method="expo", dt=1e-3)``."""
        for name in parameters:
            if name not in self.parameters:
                raise unknown("parameter", name, self.parameters)
        chosen = [run for run in self.runs if all(run.parameters.get(n) == value for n, value in parameters.items())]
        return Sweep(self.name, tuple(chosen), store=self.store)

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[SweepRun]:
        return iter(self.runs)

    def __getitem__(self, number: int) -> SweepRun:
        return self.runs[number]

    def _summary(self) -> Summary:
        failed = self.failed
        reasons = dict.fromkeys(run.message.split(";")[0] for run in failed)
        rows = {
            "parameters": counted(self.parameters),
            "values": counted(self.values),
            "not complete": f"{len(failed)}: {' | '.join(list(reasons)[:3])}" if failed else "",
            "not there yet": plural(self.missing, "run") if self.missing else "",
            "store": str(self.store or ""),
        }
        return Summary(f"Sweep of {self.name}: {plural(len(self), 'run')}, {self.computed} computed now", rows)

    def _repr_html_(self) -> str:
        names = [*self.parameters, *self.values]
        lines = [
            "".join(f"<td>{escape(_short({**run.parameters, **run.values}.get(name)))}</td>" for name in names)
            + f"<td>{escape(run.message or run.outcome)}</td>"
            for run in self.runs[:SHOWN]
        ]
        head = "".join(f"<th>{escape(name)}</th>" for name in [*names, "outcome"])
        more = f"<p>and {len(self) - SHOWN} more</p>" if len(self) > SHOWN else ""
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"{super()._repr_html_()}<table><tr>{head}</tr>{body}</table>{more}"


def _short(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"array {value.shape}" if isinstance(value, np.ndarray) else str(value)
