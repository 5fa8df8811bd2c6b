"""What a run of a sweep does: call a function, or simulate a scene and measure it."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from stickslip.errors import DivergedError, InputError, StickslipWarning, called, expected, number, unknown
from stickslip.lab.compare.experiment import Experiment, experiment
from stickslip.lab.compare.scorecard import measurements
from stickslip.lab.compare.worker import energy_gain, reason
from stickslip.lab.pool import DIED
from stickslip.lab.sweep.points import fingerprint, seed_of
from stickslip.lab.sweep.table import COMPLETE, DIVERGED, FAILED, SweepRun
from stickslip.model.scene import Scene
from stickslip.scenes import SCENES, Setup
from stickslip.simulation import Simulation

OWN = ("method", "dt", "duration")
"""Names in the grid of a scene that are neither parameters of the scene nor options of the method."""


class Task(Protocol):
    """What a sweep runs."""

    identity: str
    """Says what it is, so that a file of other results is noticed."""

    @property
    def name(self) -> str: ...

    def check(self, points: Iterable[Mapping[str, Any]]) -> None:
        """Refuse parameters that it does not take."""

    def __call__(self, point: Mapping[str, Any], seed: int) -> Any: ...


class CallFunction:
    """A function of keyword arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.identity = fingerprint(function)
        self._signature: Signature | None = None
        with suppress(TypeError, ValueError):  # a builtin that does not say what it takes
            self._signature = signature(function)
        self._takes_seed = self._signature is not None and "seed" in self._signature.parameters

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", None) or type(self.function).__name__

    def check(self, points: Iterable[Mapping[str, Any]]) -> None:
        if self._signature is None:
            return
        known = [p.name for p in self._signature.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        anything = any(p.kind is Parameter.VAR_KEYWORD for p in self._signature.parameters.values())
        seen: set[tuple[str, ...]] = set()
        for point in points:
            if tuple(point) in seen:
                continue
            seen.add(tuple(point))
            for name in point:
                if name not in known and not anything:
                    raise unknown(f"parameter of {self.name}", name, known)
            try:
                self._signature.bind(**self._arguments(point, 0))
            except TypeError as error:
                wanted = f"the arguments of {called(self.function)}{self._signature}"
                raise expected("grid", wanted, list(point), str(error)) from None

    def _arguments(self, point: Mapping[str, Any], seed: int) -> dict[str, Any]:
        return {"seed": seed, **point} if self._takes_seed else dict(point)

    def __call__(self, point: Mapping[str, Any], seed: int) -> Any:
        return self.function(**self._arguments(point, seed))


@dataclass
class SimulateScene:
    """A scene, by every method, time step and option of the grid."""

    experiment: Experiment
    identity: str
    scene_parameters: tuple[str, ...] = ()
    """Parameters of a bundled scene."""

    @property
    def name(self) -> str:
        return self.experiment.name

    def _at(self, point: Mapping[str, Any]) -> Experiment:
        """The experiment of a point."""
        own = {name: value for name, value in point.items() if name in self.scene_parameters}
        chosen = self.experiment
        if own:
            chosen = replace(chosen, build=partial(SCENES[self.name].build, **own))
        if "duration" in point:
            wanted = "a positive number of seconds, at most 1e6"
            chosen = replace(chosen, seconds=number("duration", point["duration"], wanted, above=0.0, most=1e6))
        return chosen

    def _begin(self, chosen: Experiment, point: Mapping[str, Any], seed: int) -> tuple[Simulation, Setup]:
        setup = chosen.build()
        options = {n: value for n, value in point.items() if n not in (*OWN, *self.scene_parameters)}
        options = {"seed": seed % 2**32, **options}
        return Simulation(setup, point.get("method"), point.get("dt"), **options), setup

    def check(self, points: Iterable[Mapping[str, Any]]) -> None:
        """Make one simulation for every method and set of names, so that a wrong one is found before the work."""
        seen: set[tuple[str, tuple[str, ...]]] = set()
        for point in points:
            kind = (str(point.get("method")), tuple(point))
            if kind not in seen:
                seen.add(kind)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", StickslipWarning)
                    self._begin(self._at(point), point, 0)

    def __call__(self, point: Mapping[str, Any], seed: int) -> dict[str, Any]:
        chosen = self._at(point)
        sim, setup = self._begin(chosen, point, seed)
        sim.warm_up(setup.controller)
        log = sim.run(
            chosen.seconds, controller=setup.controller, control_dt=chosen.control_dt, failures=False, progress=False,
            record_dt=chosen.record_dt(sim.dt),
        )  # fmt: skip
        measured = {
            "q": sim.state.q.copy(),
            "v": sim.state.v.copy(),
            "steps": sim.steps,
            "time_per_step": float(log.wall[-1] - log.wall[0]) / max(sim.steps, 1),
            "energy_gained": energy_gain(measurements(log)),
            "unconverged": int(log.unconverged[-1]),
        }
        return {**{n: v for n, v in (("method", sim.method), ("dt", sim.dt)) if n not in point}, **measured}


def task_of(what: Any) -> Task:
    """The task of a function, or of a scene: a Scene, a Setup, a bundled scene's name or a model file."""
    if isinstance(what, str | Path | Scene | Setup):
        return _scene(what)
    if callable(what):
        return CallFunction(what)
    wanted = "a function, or a scene: a Scene, a Setup, a bundled scene's name or a model file"
    raise expected("sweep", wanted, what)


def _scene(what: str | Path | Scene | Setup) -> SimulateScene:
    chosen = experiment(what)
    if isinstance(what, str) and what in SCENES:
        return SimulateScene(chosen, f"scene {what}", tuple(signature(SCENES[what].make).parameters))
    setup = chosen.build()
    if not isinstance(setup.scene, Scene):
        raise expected("sweep", "a Setup of a Scene", type(setup.scene).__name__)
    parts = [setup.scene.to_xml(), str(setup.control_dt), str(setup.method), str(setup.dt)]
    parts += [fingerprint(each) for each in (setup.controller, setup.user) if each is not None]
    parts += [] if setup.velocity is None else [np.asarray(setup.velocity).tolist().__repr__()]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return SimulateScene(chosen, f"scene {chosen.name} {digest}")


def run_point(shared: tuple[Task, int], index: int, point: Mapping[str, Any]) -> SweepRun:
    """One run, in a worker process; what goes wrong in it becomes its message."""
    task, seed = shared
    own = seed_of(seed, index)
    run = SweepRun(index, point, COMPLETE, seed=own)
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", StickslipWarning)
        try:
            run = replace(run, values=measured(task(dict(point), own), point))
        except DivergedError as error:
            run = replace(run, outcome=DIVERGED, message=reason(error))
        except (Exception, SystemExit) as error:
            run = replace(run, outcome=FAILED, message=reason(error))
    said = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return replace(run, seconds=time.perf_counter() - begin, warnings=said)


def lost_point(seed: int, index: int, point: Mapping[str, Any]) -> SweepRun:
    return SweepRun(index, point, FAILED, message=DIED, seed=seed_of(seed, index))


def measured(result: Any, point: Mapping[str, Any]) -> dict[str, Any]:
    """What a function returned, as values by name: numbers, texts, arrays."""
    named = result if isinstance(result, Mapping) else {"value": result}
    values: dict[str, Any] = {}
    for name, value in named.items():
        if not isinstance(name, str) or not name:
            raise expected("name of a result", "a text", name)
        if name in point:
            raise InputError(f"result {name!r}: expected another name than that of a parameter; rename it")
        if value is None or isinstance(value, bool | int | float | str):
            values[name] = value
            continue
        array = np.asarray(value)
        if array.dtype.kind not in "biufc":
            raise expected(f"result {name!r}", "numbers, a text, or an array of numbers", value)
        values[name] = array if array.ndim else array.item()
    return values
