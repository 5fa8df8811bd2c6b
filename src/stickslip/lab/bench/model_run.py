"""One model of ``bench models``: loaded as a user would, and simulated by every method at its default time step.

Nothing is ignored: a file that uses a feature which is not simulated is refused, and that is its row. The simulation
begins with the keyframe ``home`` and its controls; a bundled scene brings its start velocity and controller. A method
that is slower than its share of real time ends early; its row says how far it came.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from stickslip.errors import DivergedError, StickslipError
from stickslip.lab.bench.robot_run import name_of
from stickslip.lab.report import quiet
from stickslip.scenes import SCENES
from stickslip.simulation import Simulation
from stickslip.simulation.setup import Setup, find

CHUNKS = 50
"""Number of parts of a run; after each one the speeds are looked at."""
RAN, DIVERGED, REFUSED, SLOW = "ran", "diverged", "refused", "slow"
DEFAULT = "default"
"""Stands for the method that a simulation chooses if none is named."""


@dataclass(frozen=True)
class Settings:
    """What is simulated, and for how long."""

    methods: tuple[str, ...]
    seconds: float = 1.0
    """[s] of simulated time."""
    limit: float = 60.0
    """[s] of real time to load a model, and for the run of one method."""


@dataclass
class Run:
    """How the run of one method on one model went."""

    outcome: str
    """RAN, DIVERGED, REFUSED or SLOW."""
    why: str = ""
    method: str = ""
    """The method's name, which ``default`` does not say."""
    dt: float = 0.0
    """[s]."""
    simulated: float = 0.0
    """[s]."""
    wall: float = 0.0
    """[s] of real time, without the first step, which may compile."""
    unsolved: int = 0
    """Steps whose solver did not reach its tolerance."""
    steps: int = 0
    fastest: float = 0.0
    """Largest joint velocity that was seen [m/s or rad/s]."""

    @property
    def real_time(self) -> float:
        """Simulated over real time; 0 if nothing ran."""
        return self.simulated / self.wall if self.wall > 0.0 else 0.0


@dataclass
class ModelRow:
    """What became of one file."""

    name: str
    path: str
    loaded: bool = False
    complete: bool = False
    doing: str = "before it was loaded"
    compiling: bool = False
    reason: str = ""
    """Why it was refused, or why its row is incomplete."""
    notes: tuple[str, ...] = ()
    links: int = 0
    dofs: int = 0
    load: float = 0.0
    """[s] to read the file and to compile the scene."""
    runs: dict[str, Run] = field(default_factory=dict)


def row_of(path: Path) -> ModelRow:
    """The empty row of a model file, or of a bundled scene."""
    return ModelRow(str(path) if str(path) in SCENES else name_of(path), str(path))


class Trial:
    """Loads one model, runs every method, and hands each new state of the row to ``send``."""

    def __init__(self, path: Path, settings: Settings, send: Callable[[ModelRow], None]) -> None:
        self.path, self.settings, self.send = path, settings, send
        self.row = row_of(path)

    def begin(self, doing: str, compiling: bool = False) -> None:
        self.row.doing, self.row.compiling = f"while {doing}", compiling
        self.send(self.row)

    def run(self) -> None:
        self.begin("loading")
        start = time.perf_counter()
        try:
            _, setup, _ = find(str(self.path))
            model = setup.scene.compile()
        except StickslipError as error:
            self.row.reason = str(error).splitlines()[0]
        else:
            self.row.load = time.perf_counter() - start
            self.row.loaded, self.row.notes = True, tuple(setup.scene.notes)
            self.row.links, self.row.dofs = model.nlink - 1, model.nv
            for method in self.settings.methods:
                self.begin(f"making {method}", compiling=True)
                self.row.runs[method] = self.simulate(setup, method)
        self.row.complete = True
        self.send(self.row)

    def simulate(self, setup: Setup, method: str) -> Run:
        try:
            sim = Simulation(setup, None if method == DEFAULT else method)
            run = Run(RAN, method=sim.method, dt=sim.dt)
            sim.warm_up()
        except DivergedError as error:
            return Run(DIVERGED, str(error).splitlines()[0])
        except StickslipError as error:
            return Run(REFUSED, str(error).splitlines()[0])
        self.begin(f"running {method}")
        steps, start = max(1, round(self.settings.seconds / sim.dt)), time.perf_counter()
        chunk = max(1, min(steps // CHUNKS, 1000))
        try:
            while sim.steps < steps and run.outcome == RAN:
                sim.step(min(chunk, steps - sim.steps))
                run.fastest = max(run.fastest, float(np.abs(sim.state.v).max(initial=0.0)))
                if time.perf_counter() - start > 0.8 * self.settings.limit and sim.steps < steps:
                    run.outcome, run.why = SLOW, f"{sim.time:.3g} s simulated in {time.perf_counter() - start:.3g} s"
        except StickslipError as error:
            run.outcome, run.why = DIVERGED, str(error).splitlines()[0]
        if run.outcome == RAN and not isfinite(run.fastest):
            run.outcome, run.why = DIVERGED, "a velocity is not a number"
        run.wall, run.simulated, run.steps = time.perf_counter() - start, sim.time, sim.steps
        run.unsolved = sim.stepper.unconverged
        return run


def run_trial(path: Path, settings: Settings, sender: Connection) -> None:
    """The main function of a model's process."""
    with quiet():
        Trial(path, settings, sender.send).run()
    sender.close()
