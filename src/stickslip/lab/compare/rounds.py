"""The rounds of a comparison, each over all contestants at once: look, search, run and judge, differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from pathlib import Path
from typing import Any

from stickslip.lab.compare import contest as work
from stickslip.lab.compare.citations import citation
from stickslip.lab.compare.comparison import Entrant, Run
from stickslip.lab.compare.contest import Contest, Looks, Performance
from stickslip.lab.compare.contestant import Contestant
from stickslip.lab.compare.grid import steps
from stickslip.lab.compare.pool import DIED, Pool
from stickslip.lab.compare.scorecard import convergence_order
from stickslip.methods.registry import resolve
from stickslip.record import load
from stickslip.solvers.registry import SOLVERS


@dataclass
class Candidate:
    """A contestant on its way through the rounds."""

    which: int
    contestant: Contestant
    looks: Looks
    longest_stable: float = nan
    stability: str = ""
    dts: tuple[float, ...] = ()
    runs: dict[float, Run] = field(default_factory=dict)
    changes: list[tuple[float, float]] = field(default_factory=list)
    """(dt, distance to the run at the shortest step)."""

    def complete(self) -> list[float]:
        """Steps of runs that ended well, the longest first."""
        return [dt for dt in self.dts if self.runs[dt].outcome == "complete"]

    def order(self) -> float:
        if not self.changes:
            return nan
        dts, errors = zip(*self.changes, strict=True)
        return convergence_order(dts, errors, finest=min(self.complete()))

    def entrant(self) -> Entrant:
        contestant, looks = self.contestant, self.looks
        nothing = Run(contestant.label, nan, "failed", looks.trouble or f"no stable step: {self.stability}")
        return Entrant(
            label=contestant.label,
            method=looks.method or contestant.stepper.__name__,
            variant=looks.variant,
            options={key: _text(value) for key, value in contestant.options.items()},
            runs=tuple(self.runs.values()) or (nothing,),
            materials=looks.materials,
            not_honoured=looks.not_honoured,
            citation=citation(contestant.method),
            default_dt=looks.default_dt,
            order=self.order(),
            largest_stable_dt=self.longest_stable,
            stability=self.stability,
        )


class Rounds:
    """The rounds of a comparison, each of them over all contestants at once."""

    def __init__(self, pool: Pool, contest: Contest, show: bool | None) -> None:
        self.pool, self.contest, self.show = pool, contest, show
        self.entries: list[Candidate] = []
        self.notes: list[str] = []
        """What the user should know of the reference."""

    def _map(
        self, function: Callable[..., Any], arguments: Sequence[tuple], what: str, lost: Callable[..., Any]
    ) -> list[Any]:
        return self.pool.map(function, arguments, f"{self.contest.subject.name}: {what}", lost, self.show)

    def look(self) -> None:
        contestants = self.contest.contestants
        arguments = [(k,) for k in range(len(contestants))]
        looks = self._map(work.look, arguments, "compiling", lambda which: Looks(trouble=DIED))
        self.entries = [Candidate(k, c, look) for k, (c, look) in enumerate(zip(contestants, looks, strict=True))]

    def search(self) -> None:
        longest = self.contest.subject.longest
        able = [entry for entry in self.entries if not entry.looks.trouble]
        arguments = [(entry.which, min(longest, 0.5 * entry.looks.limit)) for entry in able]
        found = self._map(work.search, arguments, "longest stable steps", lambda which, start: (nan, DIED))
        for entry, (dt, why) in zip(able, found, strict=True):
            entry.longest_stable, entry.stability = dt, why

    def choose_steps(self, dts: Sequence[float] | None, runs: int) -> None:
        for entry in self.entries:
            if entry.looks.trouble or (entry.stability and isnan(entry.longest_stable)):
                continue
            limit = entry.looks.limit if isnan(entry.longest_stable) else entry.longest_stable
            if limit < self.contest.subject.longest:
                limit *= 0.5  # close to the limit is no motion to learn from
            entry.dts = tuple(dts) if dts else steps(self.contest.subject.longest, limit, runs)

    def run(self, reference: tuple[int, float] | None) -> tuple[tuple[str, float], Path | None]:
        """All runs, and the reference's; returns that one: (label, dt) and recording."""
        tasks = [(entry.which, dt) for entry in self.entries for dt in entry.dts]
        extra = [] if reference is None or reference in tasks else [reference]
        order = sorted([*tasks, *extra], key=lambda task: task[1])  # the longest work first
        performed: list[Performance] = self._map(work.perform, order, "running", self._lost_run)
        done = dict(zip(order, performed, strict=True))
        complete = {task: p.run for task, p in done.items() if p.run.outcome == "complete"}
        if reference is not None and reference not in complete:  # it failed: the best of those that did not
            failed = done[reference].run
            self.notes.append(f"{failed.label} at {failed.dt:g} s was to be the reference, but: {failed.message}")
            reference = max(
                complete, key=lambda task: (*_rank(self.contest.contestants[task[0]]), -task[1]), default=None
            )
        against = None if reference is None else complete[reference]
        recording = None if against is None else against.recording
        if recording is not None and (share := _unconverged(recording)):
            self.notes.append(f"the reference did not converge in {share:.1%} of its steps: choose another one")
        judged = self._map(work.judge, [(done[task], recording) for task in tasks], "scoring", _lost_judgement)
        for (which, dt), run in zip(tasks, judged, strict=True):
            self.entries[which].runs[dt] = run
        return ("", nan) if against is None else (against.label, against.dt), recording

    def _lost_run(self, which: int, dt: float) -> Performance:
        return Performance(Run(self.contest.contestants[which].label, dt, "failed", DIED))

    def differ(self) -> None:
        """How far each run is from the method's own at the shortest step."""
        complete = [(entry, entry.complete()) for entry in self.entries if entry.complete()]
        pairs = [(entry, dt, dts[-1]) for entry, dts in complete for dt in dts[:-1]]
        recordings = [(e.runs[coarse].recording, e.runs[fine].recording) for e, coarse, fine in pairs]
        changes = self._map(work.differ, recordings, "orders", lambda coarse, fine: nan)
        for (entry, coarse, _), change in zip(pairs, changes, strict=True):
            entry.changes.append((coarse, change))

    def reference(self, which: int | None, dt: float | None) -> tuple[int, float] | None:
        """(contestant, step) that errors are measured against: what is asked for, else the finest of the best."""
        able = [entry for entry in self.entries if entry.dts]
        if which is None and able:
            which = max(able, key=lambda entry: (*_rank(entry.contestant), -entry.which)).which
        if which is None or not self.entries[which].dts:
            return None
        return which, dt or 0.5 * min(self.entries[which].dts)


def _rank(contestant: Contestant) -> tuple[int, bool]:
    """For a reference: the order, if the time step decides the accuracy; then what is tested, before what is tried."""
    _, stepper, variant = resolve(contestant.method)
    parts = [stepper] if variant not in SOLVERS else [stepper, SOLVERS[variant]]
    bundled = all(part.__module__.startswith("stickslip.") for part in parts) and not contestant.options
    return 0 if stepper.by_tolerance else stepper.capabilities.order, bundled


def _unconverged(recording: Path) -> float:
    """As a share of all steps."""
    with load(recording) as log:
        return float(log.unconverged[-1]) / max(int(log.steps[-1]), 1)


def _lost_judgement(performance: Performance, reference: Path | None) -> Run:
    return replace(performance.run, outcome="failed", message=f"scoring it: {DIED}")


def _text(value: object) -> str:
    return getattr(value, "__name__", None) or str(value)
