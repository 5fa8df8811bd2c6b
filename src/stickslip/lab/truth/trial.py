"""A trial: one case by one method with one time step, simulated, measured and judged."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any

import numpy as np

from stickslip.errors import InputError, NotHonouredWarning, StickslipError, StickslipWarning
from stickslip.lab.truth.case import RUN, Case
from stickslip.lab.truth.facts import facts
from stickslip.record import Log
from stickslip.scenes.setup import Setup
from stickslip.simulation import Simulation

PASS, FAIL, NOT_APPLICABLE = "pass", "fail", "n/a"
REPLACED_BY_SPRINGS = "restitution"
"""What a warning names that a case with ``bounces_by_springs`` does without."""


@dataclass(frozen=True)
class Finding:
    """A quantity beside the truth."""

    quantity: str
    measured: float
    """NaN where the simulation did not come to its end."""
    value: float
    tolerance: float
    bound: str
    unit: str
    agrees: bool


@dataclass(frozen=True)
class Trial:
    """What came of it; plain data."""

    case: str
    method: str
    dt: float
    """[s]."""
    outcome: str
    """pass, fail or n/a."""
    findings: tuple[Finding, ...] = ()
    message: str = ""
    """Why it is n/a, or how a simulation ended before its time."""
    lessons: tuple[str, ...] = ()
    """What the failures teach."""
    unexplained: tuple[str, ...] = ()
    """Failing quantities without a lesson."""
    seconds: float = 0.0
    """Of the processor, building and compiling included [s]."""
    warnings: tuple[str, ...] = field(default=())


class OutOfTimeError(StickslipError):
    """A simulation took longer than its case has patience for."""


class Patience:
    """``with patience: …`` spends processor time of what a trial has, over all its simulations."""

    def __init__(self, seconds: float) -> None:
        self.left, self._end = seconds, inf

    def __enter__(self) -> Patience:
        self._end = time.process_time() + self.left
        return self

    def __exit__(self, *_: object) -> None:
        self.left, self._end = self._end - time.process_time(), inf

    def check(self, t: float) -> None:
        if time.process_time() > self._end:
            raise OutOfTimeError(f"took too long; it had come to t = {t:.3g} s")


class Watched:
    """A controller that also looks at the clock."""

    def __init__(self, controller: Any, controls: int, patience: Patience) -> None:
        self.controller, self.patience = controller, patience
        self._idle = np.zeros(controls)

    def bind(self, model: Any) -> None:
        bind = getattr(self.controller, "bind", None)
        if bind is not None:
            bind(model)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        self.patience.check(t)
        return self._idle if self.controller is None else self.controller(t, q, v)


def play(
    setup: Setup, method: str, dt: float, seconds: float, record_dt: float, patience: Patience, **options: Any
) -> Log:
    """Simulate a scene from its start; the recording, in memory."""
    sim = Simulation(setup.scene, method=method, dt=dt, user=setup.user, **options)
    if setup.velocity is not None:
        sim.set_state(v=setup.velocity)
    watched = Watched(setup.controller, sim.model.nu, patience)
    every = max(1, round(record_dt / dt)) * dt
    control_dt = setup.control_dt if setup.controller is not None else max(dt, round(1e-2 / dt) * dt)
    sim.warm_up()  # on a new installation compiling takes longer than all patience
    with patience:
        return sim.run(
            seconds, controller=watched, control_dt=control_dt, record_dt=every, failures=False, progress=False
        )  # fmt: skip


def try_case(case: Case, method: str, dt: float) -> Trial:
    """Simulate, measure, judge."""
    start = time.process_time()

    def trial(outcome: str, **rest: Any) -> Trial:
        return Trial(case.name, method, dt, outcome, seconds=time.process_time() - start, **rest)

    reason = case.reason_unsuited(method)
    if reason is not None:
        return trial(NOT_APPLICABLE, message=reason)
    own_name, options = case.setting(method)
    patience, logs = Patience(case.patience), dict[str, Log]()
    message, heard = "", []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", StickslipWarning)
        try:
            for name, build in case.variants.items():
                logs[name] = play(build(), own_name, dt, case.seconds, case.record_dt, patience, **options)
                refusal = _refusal(case, caught)
                if refusal:
                    return trial(NOT_APPLICABLE, message=refusal)
            measured = {name: float(figure) for name, figure in case.measure(logs).items()}
        except InputError as error:
            return trial(NOT_APPLICABLE, message=str(error))
        except Exception as error:  # of NumPy or a method from outside, too: the other trials go on
            refusal = _refusal(case, caught)
            if refusal:
                return trial(NOT_APPLICABLE, message=refusal)
            measured, message = {}, _first_line(error)
        heard = list(dict.fromkeys(type(w.message).__name__ for w in caught))
    return judge(case, method, dt, measured, message, tuple(heard), time.process_time() - start)


def judge(
    case: Case,
    method: str,
    dt: float,
    measured: dict[str, float],
    message: str = "",
    heard: tuple[str, ...] = (),
    seconds: float = 0.0,
) -> Trial:
    """Measured quantities beside the facts; a ``message`` says that the simulation did not come to its end."""
    truths = facts()[case.name]
    if not message and set(measured) != {fact.quantity for fact in truths}:
        wanted, got = sorted(fact.quantity for fact in truths), sorted(measured)
        raise InputError(f"{case.name}: measure gives {got}, and facts.toml has {wanted}")
    nan = float("nan")
    findings = tuple(
        Finding(f.quantity, x, f.value, f.tolerance(dt), f.bound, f.unit, isfinite(x) and f.agrees(x, dt))
        for f in truths
        for x in (measured.get(f.quantity, nan),)
    )
    wrong = [RUN] if message else [finding.quantity for finding in findings if not finding.agrees]
    taught = {quantity: case.lesson(method, dt, quantity) for quantity in wrong}
    return Trial(
        case.name,
        method,
        dt,
        FAIL if wrong else PASS,
        findings,
        message,
        tuple(dict.fromkeys(text for text in taught.values() if text)),
        tuple(quantity for quantity, text in taught.items() if not text),
        seconds,
        heard,
    )


def _refusal(case: Case, caught: list[warnings.WarningMessage]) -> str:
    """Why what a simulation could not honour makes its answer meaningless; "" where nothing does."""
    for warning in caught:
        if isinstance(warning.message, NotHonouredWarning):
            text = str(warning.message)
            if not (case.bounces_by_springs and REPLACED_BY_SPRINGS in text):
                return text.split(". ")[0]  # without the advice
    return ""


def _first_line(error: Exception) -> str:
    """With its kind where the error is not one of ours."""
    text = next(iter(str(error).splitlines()), "")
    text = text if isinstance(error, StickslipError) else f"{type(error).__name__}: {text}"
    return text if len(text) < 160 else text[:157] + "…"
