"""The stages of a comparison: preview the candidates, search stable steps, run and score, measure orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from pathlib import Path
from typing import Any

from stickslip.lab.cluster import RayPool
from stickslip.lab.compare import worker
from stickslip.lab.compare.candidate import Candidate
from stickslip.lab.compare.citations import citation
from stickslip.lab.compare.comparison import CandidateResult, Run
from stickslip.lab.compare.grid import steps
from stickslip.lab.compare.scorecard import convergence_order
from stickslip.lab.compare.worker import Preview, Recorded, Work
from stickslip.lab.pool import DIED, Pool
from stickslip.lab.warm import folder_of, source_size
from stickslip.methods.registry import resolve
from stickslip.record import load
from stickslip.solvers.registry import SOLVERS


@dataclass
class UnfinishedResult:
    """What the stages have found out about one candidate so far."""

    which: int
    candidate: Candidate
    preview: Preview
    longest_stable: float = nan
    stability: str = ""
    dts: tuple[float, ...] = ()
    runs: dict[float, Run] = field(default_factory=dict)
    changes: list[tuple[float, float]] = field(default_factory=list)
    """(dt [s], distance [m] to the run at the shortest step)."""

    def complete(self) -> list[float]:
        """Steps of complete runs, the longest first."""
        return [dt for dt in self.dts if self.runs[dt].outcome == "complete"]

    def order(self) -> float:
        if not self.changes:
            return nan
        dts, errors = zip(*self.changes, strict=True)
        return convergence_order(dts, errors, finest=min(self.complete()))

    def result(self) -> CandidateResult:
        candidate, preview = self.candidate, self.preview
        nothing = Run(candidate.label, nan, "failed", preview.trouble or f"no stable step: {self.stability}")
        return CandidateResult(
            label=candidate.label, method=preview.method or resolve(candidate.method)[1].__name__,
            variant=preview.variant, options={key: _text(value) for key, value in candidate.options.items()},
            runs=tuple(self.runs.values()) or (nothing,), materials=preview.materials,
            not_honoured=preview.not_honoured, citation=citation(candidate.method), default_dt=preview.default_dt,
            order=self.order(), largest_stable_dt=self.longest_stable, stability=self.stability,
        )  # fmt: skip


class Stages:
    """The stages of a comparison; each of them treats all candidates, in parallel."""

    def __init__(self, pool: Pool | RayPool, work: Work, show: bool | None) -> None:
        self.pool, self.work, self.show = pool, work, show
        self.entries: list[UnfinishedResult] = []
        self.notes: list[str] = []
        """What the user should know about the reference."""

    def _map(
        self, function: Callable[..., Any], arguments: Sequence[tuple], what: str, lost: Callable[..., Any]
    ) -> list[Any]:
        return self.pool.map(function, arguments, f"{self.work.experiment.name}: {what}", lost, self.show)

    def preview(self) -> None:
        """Compile every method, side by side; those with more source begin first."""
        candidates = self.work.candidates
        order = sorted(range(len(candidates)), key=lambda k: -source_size(folder_of(candidates[k].method)))
        previews = self._map(worker.preview, [(k,) for k in order], "compiling", lambda which: Preview(trouble=DIED))
        found = dict(zip(order, previews, strict=True))
        self.entries = [UnfinishedResult(k, candidate, found[k]) for k, candidate in enumerate(candidates)]

    def search_stable_steps(self) -> None:
        longest = self.work.experiment.longest
        able = [entry for entry in self.entries if not entry.preview.trouble]
        arguments = [(entry.which, min(longest, 0.5 * entry.preview.limit)) for entry in able]
        found = self._map(worker.search, arguments, "longest stable steps", lambda which, start: (nan, DIED))
        for entry, (dt, why) in zip(able, found, strict=True):
            entry.longest_stable, entry.stability = dt, why

    def choose_steps(self, dts: Sequence[float] | None, runs: int) -> None:
        for entry in self.entries:
            if entry.preview.trouble or (entry.stability and isnan(entry.longest_stable)):
                continue
            limit = entry.preview.limit if isnan(entry.longest_stable) else entry.longest_stable
            if limit < self.work.experiment.longest:
                limit *= 0.5  # right at the limit the motion is not accurate
            entry.dts = tuple(dts) if dts else steps(self.work.experiment.longest, limit, runs)

    def run(self, reference: tuple[int, float] | None) -> tuple[tuple[str, float], Path | None]:
        """Run and score everything, the reference too; returns (label, dt) and recording of the reference."""
        tasks = [(entry.which, dt) for entry in self.entries for dt in entry.dts]
        extra = [] if reference is None or reference in tasks else [reference]
        order = sorted([*tasks, *extra], key=lambda task: task[1])  # the longest runs first
        recorded: list[Recorded] = self._map(worker.record, order, "running", self._lost_run)
        done = dict(zip(order, recorded, strict=True))
        complete = {task: p.run for task, p in done.items() if p.run.outcome == "complete"}
        if reference is not None and reference not in complete:  # take the best complete run instead
            failed = done[reference].run
            self.notes.append(f"{failed.label} at {failed.dt:g} s was to be the reference, but: {failed.message}")
            reference = max(complete, key=lambda task: (*_rank(self.work.candidates[task[0]]), -task[1]), default=None)
        against = None if reference is None else complete[reference]
        recording = None if against is None else against.recording
        if recording is not None and (share := _unconverged(recording)):
            self.notes.append(f"the reference did not converge in {share:.1%} of its steps: choose another one")
        scored = self._map(worker.score_run, [(done[task], recording) for task in tasks], "scoring", _lost_score)
        for (which, dt), run in zip(tasks, scored, strict=True):
            self.entries[which].runs[dt] = run
        return ("", nan) if against is None else (against.label, against.dt), recording

    def _lost_run(self, which: int, dt: float) -> Recorded:
        return Recorded(Run(self.work.candidates[which].label, dt, "failed", DIED))

    def measure_orders(self) -> None:
        """Measure how far each run is from the method's own run at the shortest step."""
        complete = [(entry, entry.complete()) for entry in self.entries if entry.complete()]
        pairs = [(entry, dt, dts[-1]) for entry, dts in complete for dt in dts[:-1]]
        recordings = [(e.runs[coarse].recording, e.runs[fine].recording) for e, coarse, fine in pairs]
        changes = self._map(worker.distance, recordings, "orders", lambda coarse, fine: nan)
        for (entry, coarse, _), change in zip(pairs, changes, strict=True):
            entry.changes.append((coarse, change))

    def reference(self, which: int | None, dt: float | None) -> tuple[int, float] | None:
        """(candidate, step) that errors are measured against: by default the best method at half its shortest step."""
        able = [entry for entry in self.entries if entry.dts]
        if which is None and able:
            which = max(able, key=lambda entry: (*_rank(entry.candidate), -entry.which)).which
        if which is None or not self.entries[which].dts:
            return None
        return which, dt or 0.5 * min(self.entries[which].dts)


def _rank(candidate: Candidate) -> tuple[int, bool]:
    """How suitable a method is as the reference: its order, if the time step decides its accuracy; then whether it is
    one of the package's own without options, which are tested."""
    _, stepper, variant = resolve(candidate.method)
    parts = [stepper] if variant not in SOLVERS else [stepper, SOLVERS[variant]]
    bundled = all(part.__module__.startswith("stickslip.") for part in parts) and not candidate.options
    return 0 if stepper.by_tolerance else stepper.capabilities.order, bundled


def _unconverged(recording: Path) -> float:
    """Fraction of steps that did not converge."""
    with load(recording) as log:
        return float(log.unconverged[-1]) / max(int(log.steps[-1]), 1)


def _lost_score(recorded: Recorded, reference: Path | None) -> Run:
    return replace(recorded.run, outcome="failed", message=f"scoring it: {DIED}")


def _text(value: object) -> str:
    return getattr(value, "__name__", None) or str(value)
