"""Live: a simulation that the viewer runs while it is watched.

Method, time step, friction and stiffness can be changed while it runs: a new Simulation continues from the present
configuration and velocity. A change that is not possible leaves everything as it was and gives a message.
"""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

import numpy as np

from stickslip.methods.base import OK
from stickslip.model.importers.messages import compile_spec
from stickslip.model.model import Model, compile_model
from stickslip.model.scene import Scene
from stickslip.model.shape import USER
from stickslip.scenes import Setup
from stickslip.simulation import Simulation
from stickslip.viewer.watched import Settings, Watched


class Live(Watched):
    """One simulated scene; ``notes`` are the warnings of the simulation."""

    settings: Settings

    def __init__(self, name: str, setup: Setup, settings: Settings) -> None:
        self.setup, self._own = setup, setup.scene.compile()
        self.notes: list[str] = []
        self._step_cost = 1e-4
        self.settings = settings
        super().__init__(name, self._make(settings))

    def _make(self, settings: Settings) -> Simulation:
        model = with_materials(self._own, settings.friction, settings.stiffness)
        with self._noting():
            setup = self.setup._replace(scene=cast(Scene, model))  # a simulation takes models, too
            sim = Simulation(setup, settings.method, settings.dt)
            sim.warm_up()
        return sim

    def change(self, settings: Settings) -> None:
        """Continue with other settings. If Simulation raises an error, so does this, and nothing changes."""
        before = self.sim
        controller = before.snapshot().controller
        sim = self._make(settings)
        sim.set_state(before.state.q, before.state.v)
        sim.steps = round(before.time / sim.dt)
        sim.state.time = sim.steps * sim.dt
        sim.set_control(before.control)
        sim.restore_controller(controller)
        sim.pushes = self.pushes
        self.sim, self.settings = sim, settings
        self.moment()

    @contextmanager
    def _noting(self) -> Iterator[None]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        self.notes += [str(w.message) for w in caught if str(w.message) not in self.notes]

    def advance(self, seconds: float, budget: float) -> float:
        """Simulate some seconds, but stop after ``budget`` [s] of computing; returns the simulated seconds."""
        sim, begin, started = self.sim, self.sim.steps, clock.perf_counter()
        end = begin + max(1, round(seconds / sim.dt))
        with self._noting():
            while sim.steps < end and clock.perf_counter() - started < budget:
                affordable = max(1, int(0.5 * budget / self._step_cost))
                before, at = clock.perf_counter(), sim.steps
                sim.step(min(end - at, affordable))
                self._step_cost = max(1e-7, (clock.perf_counter() - before) / max(1, sim.steps - at))
        return (sim.steps - begin) * sim.dt

    def step(self) -> None:
        """Simulate one time step."""
        with self._noting():
            self.sim.step()

    def reset(self) -> None:
        """Return to the initial state of the scene."""
        self.sim.reset()
        self.notes = []
        self._begin()

    def go_back(self, time: float) -> None:
        """Continue from a moment of the history; what came after it is discarded."""
        history = self.history()
        (q, v), at = history.state(time), float(history.log.time[history.frame_at(time)])
        self.pushes.clear()
        self.sim.set_state(q, v)
        self.sim.steps = round(at / self.sim.dt)
        self.sim.state.time = self.sim.steps * self.sim.dt
        self.sim.status = OK
        self._begin()


def with_materials(model: Model, friction: float | None, stiffness: float | None) -> Model:
    """The model with this material in every contact. Each surface gets 2·K, since surfaces are springs in series."""
    if model.spec is None or (friction is None and stiffness is None):
        return model
    spec = model.spec.copy()
    for geom in spec.geoms:
        user = np.zeros(USER)
        user[: len(geom.userdata)] = geom.userdata
        if friction is not None:
            geom.friction = [friction, *geom.friction[1:]]
            geom.condim = max(int(geom.condim), 3)
            user[3] = 0.0
        if stiffness is not None:
            user[0] = 2.0 * stiffness
        geom.userdata = user
    made = compile_model(compile_spec(spec, "the scene with other materials"))
    return replace(made, keyframes=model.keyframes, spec=spec)
