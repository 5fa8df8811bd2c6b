"""The work of one process in a comparison: preview a candidate, run it, score a run, search its longest stable step.

Every run builds its scene anew. All figures come from the run's recording, except its time, which is that of another
run without a recording.
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
from stickslip.lab.compare.candidate import Candidate
from stickslip.lab.compare.comparison import Run
from stickslip.lab.compare.experiment import Experiment
from stickslip.lab.compare.grid import largest_stable
from stickslip.lab.compare.scorecard import METRICS, Measurements, Timing, measurements, score
from stickslip.lab.compare.scorecard.balances import energy_balance
from stickslip.model.model import Model
from stickslip.record import Log, load
from stickslip.simulation import Controller, Simulation
from stickslip.simulation.energy_watch import GAIN, LEAST_LIFT

REPEATS, ENOUGH = 3, 0.3
"""Largest number of timed runs, and [s] after which no further one starts; the shortest time counts."""


@dataclass(frozen=True)
class Work:
    """What all worker processes share."""

    experiment: Experiment
    candidates: tuple[Candidate, ...]
    folder: Path
    """Folder of the recordings."""


@dataclass
class Preview:
    """What is known of a candidate before its first run."""

    method: str = ""
    variant: str = ""
    default_dt: float = nan
    """[s]."""
    limit: float = inf
    """[s] longest stable step by the method's own estimate."""
    materials: tuple[str, ...] = ()
    not_honoured: tuple[str, ...] = ()
    trouble: str = ""
    """Reason why it cannot take part."""


@dataclass
class Recorded:
    """A run before it is scored."""

    run: Run
    timing: Timing | None = None


def preview(work: Work, which: int) -> Preview:
    """Compile the method, and ask it how it reads the scene."""
    found = Preview()
    with _caught():
        try:
            sim, setup = _fresh(work, which, None)
            found.method, found.variant, found.default_dt = sim.method, sim.variant, sim.dt
            found.limit = sim.stepper.stable_dt(sim.state)
            found.materials, found.not_honoured = sim.stepper.materials(), sim.stepper.not_honoured()
            sim.warm_up(setup.controller)
        except Exception as error:
            found.trouble = reason(error)
    return found


def record(work: Work, which: int, dt: float) -> Recorded:
    """Record a run, and time it if it is complete."""
    candidate = work.candidates[which]
    path = work.folder / f"{slug(candidate.label)}-{dt:.10g}.h5"
    path.unlink(missing_ok=True)  # left by an earlier comparison
    run, timing = Run(candidate.label, dt, "complete"), None
    with _caught() as caught:
        try:
            sim, setup = _fresh(work, which, dt)
            _run(work, sim, setup.controller, work.experiment.record_dt(dt), path).close()
            timing = _time(work, which, dt)
        except Exception as error:
            outcome = "diverged" if isinstance(error, DivergedError) else "failed"
            run = replace(run, outcome=outcome, message=reason(error))
    warned = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return Recorded(replace(run, recording=path if path.exists() else None, warnings=warned), timing)


def score_run(work: Work, recorded: Recorded, reference: Path | None) -> Run:
    """The run with the scores of its recording."""
    run = recorded.run
    if run.recording is None:
        return run
    try:
        with load(run.recording) as log, ExitStack() as stack:
            against = None
            if reference is not None and reference != run.recording:
                against = stack.enter_context(load(reference))
            return replace(run, scores=score(log, reference=against, timing=recorded.timing))
    except Exception as error:
        return replace(run, outcome="failed", message=run.message or f"it cannot be scored: {reason(error)}")


def distance(work: Work, coarse: Path, fine: Path) -> float:
    """[m] between a run and a finer one of the same method; NaN if it cannot be computed."""
    try:
        with load(coarse) as log, load(fine) as finer:
            return METRICS["error_rms"].compute(measurements(log, reference=finer))
    except StickslipError:
        return nan


def search(work: Work, which: int, start: float) -> tuple[float, str]:
    """The longest stable step of a candidate [s], and what goes wrong beyond it."""
    energy_range = nan

    def stable(dt: float) -> str:
        nonlocal energy_range
        with _caught():
            try:
                sim, setup = _fresh(work, which, dt)
                log = _run(work, sim, setup.controller, work.experiment.record_dt(dt))
            except Exception as error:
                return _brief(reason(error))
        if isnan(energy_range) or dt <= start:
            energy_range = range_of_energy(log)
        gained = energy_gain(measurements(log))
        if gained > GAIN * energy_range:
            return f"it gains {gained:.3g} J, {gained / energy_range:.0%} of the swing of its energy"
        return ""

    return largest_stable(work.experiment.longest, start, stable)


def energy_gain(run: Measurements) -> float:
    """[J] largest rise of energy; counted from the start if the method does not say what its contacts store."""
    if np.isnan(run.log.contact_energy).any():
        balance = energy_balance(run)
        return float(balance.max() - balance[0])
    return METRICS["energy_gained"].compute(run)


def range_of_energy(log: Log) -> float:
    """[J] range of kinetic plus potential energy in a run."""
    model = measurements(log).model
    weight = float(model.inertia.mass.sum() * np.linalg.norm(model.inertia.gravity))
    return max(float(np.ptp(log.energy[:, :2].sum(axis=1))), LEAST_LIFT * weight)


def slug(label: str) -> str:
    """A label as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", label).strip("-") or "method"


class Stopwatch:
    """A controller that measures the time of its own calls, which is not the method's."""

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


def _fresh(work: Work, which: int, dt: float | None):
    candidate, setup = work.candidates[which], work.experiment.build()
    options = {"user": setup.user, **candidate.options}
    sim = Simulation(setup.scene, candidate.method, dt, **options)
    if setup.velocity is not None:
        sim.set_state(v=setup.velocity)
    return sim, setup


def _run(
    work: Work, sim: Simulation, controller: Controller | None, record_dt: float, record: Path | None = None
) -> Log:
    experiment = work.experiment
    return sim.run(
        experiment.seconds, controller=controller, control_dt=experiment.control_dt, record=record, record_dt=record_dt,
        failures=False, progress=False,
    )  # fmt: skip


def _time(work: Work, which: int, dt: float) -> Timing:
    """The shortest of a few runs that record only their end."""
    best, spent, repeats = inf, 0.0, 0
    while repeats < REPEATS and spent < ENOUGH:
        sim, setup = _fresh(work, which, dt)
        controller = None if setup.controller is None else Stopwatch(setup.controller)
        sim.warm_up()
        log = _run(work, sim, controller, dt * max(1, round(work.experiment.seconds / dt)))
        wall = float(log.wall[-1] - log.wall[0]) - (0.0 if controller is None else controller.seconds)
        best, spent, repeats = min(best, wall), spent + wall, repeats + 1
    return Timing(best, sim.steps, sim.time)


@contextmanager
def _caught() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def _brief(reason: str) -> str:
    """A message without the advice at its end."""
    return re.split(r"; | \(", reason)[0]


def reason(error: BaseException) -> str:
    """The error in one line; an error that is not ours also says where it was raised."""
    text = " ".join(str(error).split())
    if isinstance(error, StickslipError):
        return re.sub(r" Last finite state saved to \S+\.$", "", text)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} ({Path(last.filename).name}, line {last.lineno})"
