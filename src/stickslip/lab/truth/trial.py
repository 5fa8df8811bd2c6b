"""A trial: one case by one method with one time step, simulated, measured and checked against the facts."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from stickslip.errors import InputError, NotHonouredWarning, StickslipError, StickslipWarning
from stickslip.lab.targets import Target
from stickslip.lab.truth.case import RUN, Case
from stickslip.lab.truth.facts import facts
from stickslip.record import Log
from stickslip.scenes.setup import Setup
from stickslip.simulation import Simulation

PASS, FAIL, NOT_APPLICABLE = "pass", "fail", "n/a"
REPLACED_BY_SPRINGS = "restitution"
"""Word in a warning that a case with ``bounces_by_springs`` may ignore."""


class Job(NamedTuple):
    """What a trial simulates."""

    case: str
    method: str
    dt: float
    """[s]."""


@dataclass(frozen=True)
class Trial:
    """The result of a trial."""

    case: str
    method: str
    dt: float
    """[s]."""
    outcome: str
    """PASS, FAIL or NOT_APPLICABLE."""
    findings: tuple[Target, ...] = ()
    """The measured quantities beside the facts; NaN where the simulation did not come to its end."""
    message: str = ""
    """Reason why it is not applicable, or how the simulation ended early."""
    lessons: tuple[str, ...] = ()
    """What the failures teach."""
    unexplained: tuple[str, ...] = ()
    """Quantities that fail without a lesson."""
    seconds: float = 0.0
    """[s] processor time, building and compiling included."""
    warnings: tuple[str, ...] = field(default=())

    @property
    def job(self) -> Job:
        return Job(self.case, self.method, self.dt)


class OutOfTimeError(StickslipError):
    """A simulation took longer than its case allows."""


class Patience:
    """``with patience: …`` limits the processor time that all simulations of a trial take together."""

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
    """Simulate, measure, check."""
    start = time.process_time()

    def trial(outcome: str, **rest: Any) -> Trial:
        return Trial(case.name, method, dt, outcome, seconds=time.process_time() - start, **rest)

    reason = case.reason_unsuited(method)
    if reason is not None:
        return trial(NOT_APPLICABLE, message=reason)
    own_name, options = case.setting(method)
    patience, logs = Patience(case.patience), dict[str, Log]()
    message, names = "", []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", StickslipWarning)
        try:
            for name, build in case.scenes.items():
                logs[name] = play(build(), own_name, dt, case.seconds, case.record_dt, patience, **options)
                refusal = _refusal(case, caught)
                if refusal:
                    return trial(NOT_APPLICABLE, message=refusal)
            measured = {name: float(figure) for name, figure in case.measure(logs).items()}
        except InputError as error:
            return trial(NOT_APPLICABLE, message=str(error))
        except Exception as error:  # also errors of NumPy or of a method from outside: the other trials go on
            refusal = _refusal(case, caught)
            if refusal:
                return trial(NOT_APPLICABLE, message=refusal)
            measured, message = {}, _first_line(error)
        names = list(dict.fromkeys(type(w.message).__name__ for w in caught))
    return check(case, method, dt, measured, message, tuple(names), time.process_time() - start)


def check(
    case: Case, method: str, dt: float, measured: dict[str, float], message: str = "", caught: tuple[str, ...] = (),
    seconds: float = 0.0,
) -> Trial:  # fmt: skip
    """Put measured quantities beside the facts; a ``message`` says that the simulation did not come to its end."""
    truths = facts()[case.name]
    if not message and set(measured) != {fact.quantity for fact in truths}:
        wanted, got = sorted(fact.quantity for fact in truths), sorted(measured)
        raise InputError(f"{case.name}: measure gives {got}, and facts.toml has {wanted}")
    findings = tuple(fact.target(measured.get(fact.quantity, nan), dt) for fact in truths)
    wrong = [RUN] if message else [finding.name for finding in findings if not finding.met]
    taught = {quantity: case.lesson(method, dt, quantity) for quantity in wrong}
    return Trial(
        case.name, method, dt, FAIL if wrong else PASS, findings, message,
        tuple(dict.fromkeys(text for text in taught.values() if text)),
        tuple(quantity for quantity, text in taught.items() if not text), seconds, caught,
    )  # fmt: skip


def _refusal(case: Case, caught: list[warnings.WarningMessage]) -> str:
    """The warning that makes a simulation's answer meaningless; "" if there is none."""
    for warning in caught:
        if isinstance(warning.message, NotHonouredWarning):
            text = str(warning.message)
            if not (case.bounces_by_springs and REPLACED_BY_SPRINGS in text):
                return text.split(". ")[0]  # without the advice
    return ""


def _first_line(error: Exception) -> str:
    """The first line of an error, with its type if it is not one of ours."""
    text = next(iter(str(error).splitlines()), "")
    text = text if isinstance(error, StickslipError) else f"{type(error).__name__}: {text}"
    return text if len(text) < 160 else text[:157] + "…"
