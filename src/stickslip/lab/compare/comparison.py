"""Comparison: the results of running one scene by several methods, for tables, reports and your own analysis."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isnan, log, nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickslip.errors import InputError, unknown
from stickslip.lab.compare.grid import NO_LIMIT
from stickslip.record import Log, load
from stickslip.summary import Summarised, Summary, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _said(run: Run) -> str:
    """Speed and error of a run, or why it is not complete."""
    if run.outcome != "complete":
        return f"{run.outcome}: {run.message}"
    speed, error = (run.scores.get(name, nan) for name in ("real_time_factor", "error_rms"))
    return f"{speed:.3g} × real time" + ("" if isnan(error) else f", error {error:.2g} m (rms)")


@dataclass(frozen=True)
class Run:
    """One method at one time step."""

    label: str
    dt: float
    """[s]."""
    outcome: str
    """One of: complete, diverged, failed (the run could not start, or an error ended it)."""
    message: str = ""
    """Reason why the run is not complete, in one line."""
    recording: Path | None = None
    """The HDF5 file that the scores are computed from."""
    scores: dict[str, float] = field(default_factory=dict)
    """Figures by their names in ``METRICS``; NaN where a figure has no meaning."""
    warnings: tuple[str, ...] = ()
    """The simulation's warnings."""

    def log(self) -> Log:
        if self.recording is None:
            raise InputError(f"{self.label} at dt = {self.dt:g} s left no recording: {self.message}")
        return load(self.recording)


@dataclass(frozen=True, repr=False)
class CandidateResult(Summarised):
    """One method: its runs from the longest time step to the shortest, and figures of all of them together."""

    label: str
    method: str
    variant: str
    options: dict[str, str]
    """Options by name, as text."""
    runs: tuple[Run, ...]
    materials: tuple[str, ...] = ()
    """How the method uses the scene's materials, one sentence each."""
    not_honoured: tuple[str, ...] = ()
    """What the scene asks for and the method cannot do, one sentence each."""
    citation: str = ""
    """BibTeX."""
    default_dt: float = nan
    """[s] step that Simulation chooses by default."""
    order: float = nan
    """Measured order of convergence towards its own run at the shortest step; NaN if there are too few runs, or if they
    do not converge."""
    largest_stable_dt: float = nan
    """[s] found by bisection; NaN if it was not searched."""
    stability: str = ""
    """What limits the step: the scene, or what went wrong at the next longer step."""

    def _summary(self) -> Summary:
        rows = {f"dt = {run.dt:g} s": _said(run) for run in self.runs}
        return Summary(f"{self.label}: {plural(len(self.runs), 'run')}", rows)

    @property
    def unlimited(self) -> bool:
        """Whether all steps up to the longest sensible one, ``largest_stable_dt``, are stable."""
        return self.stability == NO_LIMIT

    def best(self) -> Run | None:
        """The complete run with the shortest step."""
        good = [run for run in self.runs if run.outcome == "complete"]
        return min(good, key=lambda run: run.dt, default=None)

    def typical(self) -> Run | None:
        """The complete run whose step is nearest the default one (in ratio); without a default, the finest."""
        if isnan(self.default_dt):
            return self.best()
        good = [run for run in self.runs if run.outcome == "complete"]
        return min(good, key=lambda run: abs(log(run.dt / self.default_dt)), default=None)


@dataclass(frozen=True, repr=False)
class Comparison(Summarised):
    """The result of ``ss.compare(…)``: a result per candidate, and what they have in common."""

    scene: str
    seconds: float
    """Simulated time [s]."""
    candidates: tuple[CandidateResult, ...]
    reference: tuple[str, float]
    """(label, dt) of the run that errors are measured against."""
    settings: dict[str, Any]
    """The arguments of the comparison."""
    versions: dict[str, str]
    folder: Path | None = None
    """Folder of the recordings."""
    reference_recording: Path | None = None

    def _summary(self) -> Summary:
        rows = {}
        for candidate in self.candidates:
            run = candidate.typical()
            words = ", ".join(dict.fromkeys(run.outcome for run in candidate.runs)) or "not run"
            rows[candidate.label] = words if run is None else f"dt = {run.dt:g} s: {_said(run)}"
        against = f", errors against {self.reference[0]} at dt = {self.reference[1]:g} s" if self.reference[0] else ""
        methods = plural(len(self.candidates), "method")
        return Summary(f"Comparison of {self.scene!r}: {methods}, {self.seconds:g} s{against}", rows)

    def runs(self) -> Iterator[Run]:
        for candidate in self.candidates:
            yield from candidate.runs

    def candidate(self, label: str) -> CandidateResult:
        for candidate in self.candidates:
            if candidate.label == label:
                return candidate
        raise unknown("candidate", label, (candidate.label for candidate in self.candidates))

    @property
    def entrants(self) -> tuple[CandidateResult, ...]:
        """Former name of ``candidates``."""
        warnings.warn("Comparison.entrants is now called candidates", DeprecationWarning, stacklevel=2)
        return self.candidates

    def entrant(self, label: str) -> CandidateResult:
        """Former name of ``candidate``."""
        warnings.warn("Comparison.entrant is now called candidate", DeprecationWarning, stacklevel=2)
        return self.candidate(label)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw error against computing time, one line per method, and return the axes."""
        from stickslip.lab.compare.work_precision import plot

        return plot(self, ax)

    def save(self, folder: str | PathLike | None = None) -> Path:
        """Write ``comparison.json`` into a folder, by default that of the recordings; ``load_comparison`` reads it."""
        from stickslip.lab.compare.stored_comparison import save

        return save(self, folder)

    def report(self, path: str | PathLike) -> Path:
        """Write the HTML report, a single file that needs no network."""
        from stickslip.lab.compare.report import write_report

        return write_report(self, path)
