"""What workers do: look at a contestant, run it at a time step, score a run, search its longest stable step.

Every run builds its scene anew. All figures come from its recording; it is timed again without one.
"""

from __future__ import annotations

import re
import time as clock
import traceback
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from pathlib import Path

import numpy as np

from stickslip.errors import DivergedError, StickslipError
from stickslip.lab.compare.comparison import Run
from stickslip.lab.compare.contestant import Contestant
from stickslip.lab.compare.grid import largest_stable
from stickslip.lab.compare.scorecard import METRICS, Evidence, Timing, score
from stickslip.lab.compare.scorecard.balances import energy_balance
from stickslip.lab.compare.subject import Subject
from stickslip.model.model import Model
from stickslip.model.scene import Scene
from stickslip.record import Log, load
from stickslip.simulation import Controller, Simulation

REPEATS, ENOUGH = 3, 0.3
"""A run is timed so many times, or until so many seconds have passed; the shortest counts."""
GAIN = 0.05
"""A run that gains more energy than this share of the swing of kinetic and potential energy is not stable."""
SLIGHTEST_SWING = 0.01
"""[m] and the energy to lift everything by so much is the least swing."""


@dataclass(frozen=True)
class Contest:
    """What all workers know."""

    subject: Subject
    contestants: tuple[Contestant, ...]
    folder: Path
    """For recordings."""


@dataclass
class Looks:
    """A contestant before its first run."""

    method: str = ""
    variant: str = ""
    default_dt: float = nan
    """[s]."""
    limit: float = inf
    """[s] the longest stable step by the method's own estimate."""
    materials: tuple[str, ...] = ()
    not_honoured: tuple[str, ...] = ()
    trouble: str = ""
    """Why it cannot take part."""


@dataclass
class Performance:
    """A run before it is scored."""

    run: Run
    timing: Timing | None = None


def look(contest: Contest, which: int) -> Looks:
    """Compile, and find out what the method makes of the scene."""
    looks = Looks()
    with _caught():
        try:
            sim, setup = _fresh(contest, which, None)
            looks.method, looks.variant, looks.default_dt = sim.method, sim.variant, sim.dt
            looks.limit = sim.stepper.stable_dt(sim.state)
            looks.materials, looks.not_honoured = sim.stepper.materials(), sim.stepper.not_honoured()
            sim.warm_up(setup.controller)
        except Exception as error:
            looks.trouble = _reason(error)
    return looks


def perform(contest: Contest, which: int, dt: float) -> Performance:
    """Record a run, and time it where it ends well."""
    contestant = contest.contestants[which]
    path = contest.folder / f"{slug(contestant.label)}-{dt:.10g}.h5"
    path.unlink(missing_ok=True)  # of an earlier comparison
    run, timing = Run(contestant.label, dt, "complete"), None
    with _caught() as caught:
        try:
            sim, setup = _fresh(contest, which, dt)
            _run(contest, sim, setup.controller, contest.subject.record_dt(dt), path).close()
            timing = _time(contest, which, dt)
        except Exception as error:
            outcome = "diverged" if isinstance(error, DivergedError) else "failed"
            run = replace(run, outcome=outcome, message=_reason(error))
    told = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return Performance(replace(run, recording=path if path.exists() else None, warnings=told), timing)


def judge(contest: Contest, performance: Performance, reference: Path | None) -> Run:
    """A run with its scores, from the recording."""
    run = performance.run
    if run.recording is None:
        return run
    try:
        with load(run.recording) as log, ExitStack() as stack:
            against = None
            if reference is not None and reference != run.recording:  # nothing is said by a distance to itself
                against = stack.enter_context(load(reference))
            return replace(run, scores=score(log, reference=against, timing=performance.timing))
    except Exception as error:
        return replace(run, outcome="failed", message=run.message or f"it cannot be scored: {_reason(error)}")


def differ(contest: Contest, coarse: Path, fine: Path) -> float:
    """[m] how far a run is from a finer one; NaN where that cannot be said."""
    try:
        with load(coarse) as log, load(fine) as finer:
            return METRICS["error_rms"].compute(make_evidence(log, finer))
    except StickslipError:
        return nan


def search(contest: Contest, which: int, start: float) -> tuple[float, str]:
    """The longest stable step of a contestant, and what goes wrong beyond it."""
    swing = nan

    def stable(dt: float) -> str:
        nonlocal swing
        with _caught():
            try:
                sim, setup = _fresh(contest, which, dt)
                log = _run(contest, sim, setup.controller, contest.subject.record_dt(dt))
            except Exception as error:
                return _brief(_reason(error))
        if isnan(swing) or dt <= start:
            swing = energy_swing(log)
        gained = energy_gain(make_evidence(log))
        if gained > GAIN * swing:
            return f"it gains {gained:.3g} J, {gained / swing:.0%} of the swing of its energy"
        return ""

    return largest_stable(contest.subject.longest, start, stable)


def energy_gain(evidence: Evidence) -> float:
    """[J] more than before, at any time; more than at the start where it is not known what contacts store."""
    if np.isnan(evidence.log.contact_energy).any():
        balance = energy_balance(evidence)
        return float(balance.max() - balance[0])
    return METRICS["energy_gained"].compute(evidence)


def energy_swing(log: Log) -> float:
    """[J] of kinetic and potential energy in a run."""
    model = make_evidence(log).model
    weight = float(model.inertia.mass.sum() * np.linalg.norm(model.inertia.gravity))
    return max(float(np.ptp(log.energy[:, :2].sum(axis=1))), SLIGHTEST_SWING * weight)


def make_evidence(log: Log, reference: Log | None = None) -> Evidence:
    return Evidence(log, Scene.from_xml(log.scene_xml).compile(), reference)


def slug(label: str) -> str:
    """A label as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", label).strip("-") or "method"


class Stopwatch:
    """A controller, and the time that its calls take: it is the same for all methods, and none of theirs."""

    def __init__(self, controller: Controller) -> None:
        self.controller, self.seconds = controller, 0.0

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        start = clock.perf_counter()
        try:
            return self.controller(t, q, v)
        finally:
            self.seconds += clock.perf_counter() - start

    def bind(self, model: Model) -> None:
        if (bind := getattr(self.controller, "bind", None)) is not None:
            bind(model)


def _fresh(contest: Contest, which: int, dt: float | None):
    contestant, setup = contest.contestants[which], contest.subject.build()
    options = {"user": setup.user, **contestant.options}
    sim = Simulation(setup.scene, contestant.method, dt, **options)
    if setup.velocity is not None:
        sim.set_state(v=setup.velocity)
    return sim, setup


def _run(
    contest: Contest, sim: Simulation, controller: Controller | None, record_dt: float, record: Path | None = None
) -> Log:
    subject = contest.subject
    return sim.run(
        subject.seconds,
        controller=controller,
        control_dt=subject.control_dt,
        record=record,
        record_dt=record_dt,
        failures=False,
        progress=False,
    )


def _time(contest: Contest, which: int, dt: float) -> Timing:
    """The quickest of a few runs that record nothing on the way."""
    best, spent, repeats = inf, 0.0, 0
    while repeats < REPEATS and spent < ENOUGH:
        sim, setup = _fresh(contest, which, dt)
        controller = None if setup.controller is None else Stopwatch(setup.controller)
        sim.warm_up()
        log = _run(contest, sim, controller, dt * max(1, round(contest.subject.seconds / dt)))
        wall = float(log.wall[-1] - log.wall[0]) - (0.0 if controller is None else controller.seconds)
        best, spent, repeats = min(best, wall), spent + wall, repeats + 1
    return Timing(best, sim.steps, sim.time)


@contextmanager
def _caught() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def _brief(reason: str) -> str:
    """Without what it advises."""
    return re.split(r"; | \(", reason)[0]


def _reason(error: Exception) -> str:
    """One line; of an error that is not ours, where it came from."""
    text = " ".join(str(error).split())
    if isinstance(error, StickslipError):
        return re.sub(r" Last good state saved to \S+\.$", "", text)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} ({Path(last.filename).name}, line {last.lineno})"
