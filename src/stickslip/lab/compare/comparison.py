"""Comparison: what came of running one scene by several methods; data for tables, reports and your own analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isnan, log, nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickslip.errors import InputError, unknown
from stickslip.lab.compare.grid import NO_LIMIT
from stickslip.record import Log, load

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Run:
    """One method at one time step."""

    label: str
    dt: float
    """[s]."""
    outcome: str
    """complete; diverged; failed (it could not start, or an error ended it)."""
    message: str = ""
    """Why it did not end well, in one line."""
    recording: Path | None = None
    """The HDF5 file that the scores are computed from."""
    scores: dict[str, float] = field(default_factory=dict)
    """By the names of ``scorecard.METRICS``; NaN where a figure has no meaning here."""
    warnings: tuple[str, ...] = ()
    """What the simulation warned of."""

    def log(self) -> Log:
        if self.recording is None:
            raise InputError(f"{self.label} at dt = {self.dt:g} s left no recording: {self.message}")
        return load(self.recording)


@dataclass(frozen=True)
class Entrant:
    """One method: its runs from the longest time step to the shortest, and what they say together."""

    label: str
    method: str
    variant: str
    options: dict[str, str]
    """As text."""
    runs: tuple[Run, ...]
    materials: tuple[str, ...] = ()
    """How the method reads the scene's materials, a sentence each."""
    not_honoured: tuple[str, ...] = ()
    """What the scene asks for and the method cannot give, a sentence each."""
    citation: str = ""
    """BibTeX."""
    default_dt: float = nan
    """[s] the step that Simulation chooses by itself."""
    order: float = nan
    """Of convergence towards its own run at the shortest step, measured; NaN: too few runs, or none converges."""
    largest_stable_dt: float = nan
    """[s] by bisection; NaN: not asked for."""
    stability: str = ""
    """What ended the search: the scene's own limit, or what went wrong at the next longer step."""

    @property
    def unlimited(self) -> bool:
        """Whether the search met no limit: ``largest_stable_dt`` is only where it ended."""
        return self.stability == NO_LIMIT

    def best(self) -> Run | None:
        """The complete run with the shortest step."""
        good = [run for run in self.runs if run.outcome == "complete"]
        return min(good, key=lambda run: run.dt, default=None)

    def typical(self) -> Run | None:
        """The complete run whose step is nearest the default one (in ratio); without a default the shortest."""
        if isnan(self.default_dt):
            return self.best()
        good = [run for run in self.runs if run.outcome == "complete"]
        return min(good, key=lambda run: abs(log(run.dt / self.default_dt)), default=None)


@dataclass(frozen=True)
class Comparison:
    """``ss.compare(…)``: the entrants, and what they have in common."""

    scene: str
    seconds: float
    """Simulated [s]."""
    entrants: tuple[Entrant, ...]
    reference: tuple[str, float]
    """(label, dt) of the run that errors are measured against."""
    settings: dict[str, Any]
    """What the comparison was asked for."""
    versions: dict[str, str]
    folder: Path | None = None
    """Where recordings are."""
    reference_recording: Path | None = None

    def runs(self) -> Iterator[Run]:
        for entrant in self.entrants:
            yield from entrant.runs

    def entrant(self, label: str) -> Entrant:
        for entrant in self.entrants:
            if entrant.label == label:
                return entrant
        raise unknown("contestant", label, (entrant.label for entrant in self.entrants))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw error against computing time, one line per method, and return the axes."""
        from stickslip.lab.compare.work_precision import plot

        return plot(self, ax)

    def save(self, folder: str | PathLike | None = None) -> Path:
        """Write ``comparison.json`` into a folder, by default that of the recordings; ``load_comparison`` reads it."""
        from stickslip.lab.compare.store import save

        return save(self, folder)

    def report(self, path: str | PathLike) -> Path:
        """Write the HTML page: one file, no network."""
        from stickslip.lab.compare.report import write_report

        return write_report(self, path)
