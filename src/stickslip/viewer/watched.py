"""Watched: a simulation that the viewer shows, with its history as a recording in memory."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip.collision.allowed import touching
from stickslip.model.shape import DEFAULT_FRICTION, DEFAULT_STIFFNESS
from stickslip.record import Contacts, Recorder
from stickslip.record.header import Header
from stickslip.simulation import Simulation
from stickslip.simulation.frame import contacts_of, frame_of
from stickslip.viewer.moment import Moment
from stickslip.viewer.pushes import ViewerPushes
from stickslip.viewer.replay import Replay

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


class Watched:
    """A simulation that is shown. Forces of the mouse and of the panel are among its pushes (``sim.push``)."""

    settings: Settings | None = None
    """What can be changed; None if it is not for the viewer to change."""
    notes: list[str]
    """Warnings of the simulation."""
    latest: Moment
    """The last moment that was kept."""

    def __init__(self, name: str, sim: Simulation) -> None:
        self.name, self.sim = name, sim
        self.pushes = ViewerPushes(sim.model, sim.pushes.pushes)
        sim.pushes = self.pushes
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        """Begin a new history at the present moment."""
        sim = self.sim
        options = {"method": sim.method, "variant": sim.variant, "dt": sim.dt, "watched": True}
        names = sim.instruments.value_names
        with self._lock:
            self._recorder = Recorder(None, sim.model, scene_xml=sim.model.to_xml(), options=options, sensors=names)
            self.header: Header = self._recorder.log().header
        self._start, self._last = sim.time, -1.0
        self._wall = clock.perf_counter()
        Watched.moment(self)

    def _noting(self) -> AbstractContextManager[None]:
        """Collect warnings within a block, if somebody shows them."""
        return nullcontext()

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

    def moment(self) -> Moment:
        """The present moment, which is also added to the history; contacts are those of the last step."""
        sim = self.sim
        with self._noting(), sim.present() as contact_energy:
            frame = frame_of(sim, contact_energy, clock.perf_counter() - self._wall)
        frame["joint_error"] = np.zeros((0, 2))  # its size depends on the method, which may change
        contacts = contacts_of(sim)
        if sim.time > self._last + 1e-12:
            if self._recorder.frames >= LONGEST_HISTORY:
                self._begin()
                return self.latest
            with self._lock:
                self._recorder.append(frame, contacts)
            self._last = sim.time
        copies = Contacts(*(contacts[name].copy() for name in Contacts._fields))
        energy = np.append(np.array(frame["energy"]), contact_energy)
        inputs = (np.array(frame[name], dtype=float) for name in ("control", "act", "sensor"))
        self.latest = Moment(sim.time, frame["pose"], copies, energy, *inputs)
        return self.latest

    def history(self) -> Replay:
        """The recording since the start, to scrub through, share or save; other threads may read it."""
        with self._lock:
            return Replay(self._recorder.copy(), f"{self.sim.method}/{self.sim.variant}")

    # -- what the viewer's buttons do ----------------------------------------------------------------------------

    def do(self, action: Callable[..., Any], *arguments: Any) -> None:
        """Call a function in the thread of the simulation, before the next step."""
        action(*arguments)

    def let_run(self, playing: bool, speed: float) -> None:
        """Called often with what the buttons say."""

    def advance(self, seconds: float, budget: float) -> float:
        """Simulate some seconds, but stop after ``budget`` [s] of computing; returns the simulated seconds."""
        raise NotImplementedError

    def step(self) -> None:
        """Simulate one time step."""
        raise NotImplementedError

    def close(self) -> None:
        """Called when the viewer is closed."""
