"""Live: a simulation that runs while it is watched, with its history as a recording in memory.

Method, time step, friction and stiffness can be changed while it runs: a new Simulation continues from the present
configuration and velocity. A change that is not possible leaves everything as it was and gives a message.
"""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from stickslip.collision.allowed import touching
from stickslip.methods.base import OK
from stickslip.model.importers.messages import compile_spec
from stickslip.model.model import Model, compile_model
from stickslip.model.scene import Scene
from stickslip.model.shape import DEFAULT_FRICTION, DEFAULT_STIFFNESS
from stickslip.record import Contacts, Recorder
from stickslip.record.header import Header
from stickslip.scenes import Setup
from stickslip.simulation import Simulation
from stickslip.simulation.frame import contacts_of, frame_of
from stickslip.viewer.moment import Moment
from stickslip.viewer.pushes import ViewerPushes
from stickslip.viewer.replay import Replay

PIECE = 2e-3
"""[s] time for which forces of the mouse are constant."""
LONGEST_HISTORY = 40_000
"""Largest number of frames in the history; after that it begins again."""


@dataclass(frozen=True)
class Settings:
    """Settings that can be changed while the simulation runs; None is the default of the method or the scene."""

    method: str
    dt: float | None = None
    """Time step [s]."""
    friction: float | None = None
    """μ of every contact."""
    stiffness: float | None = None
    """K of every contact [N/m]."""


class Live:
    """One simulated scene; ``notes`` are the warnings of the simulation."""

    def __init__(self, name: str, setup: Setup, settings: Settings) -> None:
        self.name, self.setup = name, setup
        self._own = setup.scene.compile()
        self.notes: list[str] = []
        self.pushes = ViewerPushes(self._own)
        self._added = np.zeros((self._own.nlink, 6))
        self._step_cost = 1e-4
        self.sim, self.settings = self._make(settings), settings
        if setup.velocity is not None:
            self.sim.set_state(v=setup.velocity)
        self._begin()

    # -- making simulations ------------------------------------------------------------------------------------

    def _make(self, settings: Settings) -> Simulation:
        model = with_materials(self._own, settings.friction, settings.stiffness)
        with self._noting():
            user = self._with_pushes if self.setup.user is not None else None
            setup = self.setup._replace(scene=cast(Scene, model), user=user)  # a simulation takes models, too
            sim = Simulation(setup, settings.method, settings.dt)
            self._every = sim.control_steps()
            sim.warm_up()
        return sim

    def change(self, settings: Settings) -> None:
        """Continue with other settings. If Simulation raises an error, so does this, and nothing changes."""
        before, every = self.sim, self._every
        controller = before.snapshot().controller
        try:
            sim = self._make(settings)
        except BaseException:
            self._every = every
            raise
        sim.set_state(before.state.q, before.state.v)
        sim.steps = round(before.time / sim.dt)
        sim.state.time = sim.steps * sim.dt
        sim.set_control(before.control)
        sim.restore_controller(controller)
        self._added[:] = 0.0
        self.sim, self.settings = sim, settings
        self.moment()

    @contextmanager
    def _noting(self) -> Iterator[None]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        self.notes += [str(w.message) for w in caught if str(w.message) not in self.notes]

    @property
    def header(self) -> Header:
        return self._recorder.log().header

    @property
    def time(self) -> float:
        """Present simulated time [s]."""
        return self.sim.time

    @property
    def start(self) -> float:
        """Time at which the history begins [s]."""
        return self._start

    def contact_material(self) -> tuple[float, float]:
        """(μ, K [N/m]) of the first pair of shapes that can collide."""
        for a, b in touching(self.sim.model):
            pair = self.sim.model.pair_material(a, b)
            return pair.friction, pair.stiffness
        return DEFAULT_FRICTION, DEFAULT_STIFFNESS

    # -- running -----------------------------------------------------------------------------------------------

    def advance(self, seconds: float, budget: float) -> float:
        """Simulate some seconds, but stop after ``budget`` [s] of computing; returns the simulated seconds."""
        sim, begin, started = self.sim, self.sim.steps, clock.perf_counter()
        end = begin + max(1, round(seconds / sim.dt))
        with self._noting():
            while sim.steps < end and clock.perf_counter() - started < budget:
                affordable = max(1, int(0.5 * budget / self._step_cost))
                before, at = clock.perf_counter(), sim.steps
                self._go(min(end, at + affordable))
                self._step_cost = max(1e-7, (clock.perf_counter() - before) / max(1, sim.steps - at))
        return (sim.steps - begin) * sim.dt

    def _go(self, end: int) -> None:
        """Simulate up to a step number, with controller calls at their instants and mouse forces in pieces."""
        sim = self.sim
        while sim.steps < end:
            if sim.controller is not None and sim.steps % self._every == 0:
                sim.set_control(sim.controller(sim.time, sim.state.q.copy(), sim.state.v.copy()))
            stop = end
            if sim.controller is not None:
                stop = min(stop, sim.steps - sim.steps % self._every + self._every)
            if self.pushes.active or self._added.any():
                stop = min(stop, sim.steps + max(1, round(PIECE / sim.dt)))
                if self.setup.user is None:
                    self._apply((stop - sim.steps) * sim.dt)
            sim.step(stop - sim.steps)

    def _apply(self, seconds: float) -> None:
        """Replace the last forces of the mouse by those of the next seconds; other forces on the same links stay."""
        pose = self.sim.dynamics.poses(self.sim.state.q)
        self.sim.inputs.wrench[:] -= self._added
        self._added = self.pushes.total(pose, self.sim.time, seconds)
        self.sim.inputs.wrench[:] += self._added

    def _with_pushes(self, sim: Simulation) -> None:
        """A user stage that runs the scene's own one and then adds our forces."""
        sim.inputs.wrench[:] -= self._added
        assert self.setup.user is not None
        self.setup.user(sim)
        self._added = self.pushes.total(sim.dynamics.poses(sim.state.q), sim.time, sim.dt)
        sim.inputs.wrench[:] += self._added

    def step(self) -> None:
        """Simulate one time step."""
        with self._noting():
            self._go(self.sim.steps + 1)

    def reset(self) -> None:
        """Return to the initial state of the scene."""
        self.pushes.clear()
        self.sim.reset()
        self._added[:] = 0.0
        if self.setup.velocity is not None:
            self.sim.set_state(v=self.setup.velocity)
        self.notes = []
        self._begin()

    def go_back(self, time: float) -> None:
        """Continue from a moment of the history; what came after it is discarded."""
        history = self.history()
        (q, v), at = history.state(time), float(history.log.time[history.frame_at(time)])
        self.pushes.clear()
        self.sim.inputs.wrench[:] -= self._added
        self._added[:] = 0.0
        self.sim.set_state(q, v)
        self.sim.steps = round(at / self.sim.dt)
        self.sim.state.time = self.sim.steps * self.sim.dt
        self.sim.status = OK
        self._begin()

    # -- history -----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        sim = self.sim
        options = {"method": sim.method, "variant": sim.variant, "dt": sim.dt, "watched": True}
        names = sim.instruments.value_names
        self._recorder = Recorder(None, sim.model, scene_xml=sim.model.to_xml(), options=options, sensors=names)
        self._start, self._last = sim.time, -1.0
        self._wall = clock.perf_counter()
        self.moment()

    def moment(self) -> Moment:
        """The present moment, which is also added to the history."""
        sim = self.sim
        with self._noting():
            contact_energy = sim.observe()
        frame = frame_of(sim, contact_energy, clock.perf_counter() - self._wall)
        frame["joint_error"] = np.zeros((0, 2))  # its size depends on the method, which may change
        contacts = contacts_of(sim)
        if sim.time > self._last + 1e-12:
            if self._recorder.frames >= LONGEST_HISTORY:
                self._begin()
            self._recorder.append(frame, contacts)
            self._last = sim.time
        copies = Contacts(*(contacts[name].copy() for name in Contacts._fields))
        energy = np.append(np.array(frame["energy"]), contact_energy)
        inputs = (np.array(frame[name], dtype=float) for name in ("control", "act", "sensor"))
        return Moment(sim.time, frame["pose"], copies, energy, *inputs)

    def history(self) -> Replay:
        """The recording since the start, to scrub through, share or save."""
        return Replay(self._recorder.log(), f"{self.sim.method}/{self.sim.variant}")


def with_materials(model: Model, friction: float | None, stiffness: float | None) -> Model:
    """The model with this material in every contact. Each surface gets 2·K, since surfaces are springs in series."""
    if model.spec is None or (friction is None and stiffness is None):
        return model
    spec = model.spec.copy()
    for geom in spec.geoms:
        user = np.zeros(5)
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
