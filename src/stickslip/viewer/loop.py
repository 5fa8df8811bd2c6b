"""Loop: a simulation that its user's own loop steps, shown while it runs.

Only the user's thread touches the simulation: as an observer it keeps a moment for the viewer 30 times a second, takes
what the buttons ask for, and waits while the viewer is paused or where the simulation is ahead of the clock.
"""

from __future__ import annotations

import threading
import time as clock
from collections import deque
from collections.abc import Callable
from typing import Any

from stickslip.simulation import Simulation
from stickslip.simulation.observers import Observer
from stickslip.simulation.pushes import Pushes
from stickslip.viewer.moment import Moment
from stickslip.viewer.watched import Watched

PERIOD = 1 / 30
"""[s] between moments that are shown."""
PIECE = 5e-3
"""[s] of simulated time between looks at the buttons."""
BEHIND = 0.25
"""[s] behind the clock after which the simulation no longer catches up."""
SLICE = 0.05
"""[s] of sleep after which buttons and Ctrl-C are heard."""


class Loop(Watched, Observer):
    """A simulation between the steps of its user's loop; with ``realtime`` it waits for the clock."""

    def __init__(self, name: str, sim: Simulation, realtime: bool = True) -> None:
        self.realtime, self.notes = realtime, []
        self._changed = threading.Condition()
        self._asked: deque[tuple[Callable, tuple]] = deque()
        self._playing, self._speed, self._single, self._closed = False, 1.0, 0, False
        self._looked = 0.0
        self._pace: tuple[float, float, float] | None = None
        """Clock [s], simulated time [s] and speed from which the pace is counted."""
        self._advanced = 0.0
        self.restarted = False
        """Whether the loop has gone back in time since the viewer last cleared this."""
        super().__init__(name, sim)
        self._seen = self._advanced = sim.time
        sim.observers.append(self)

    # -- in the user's thread ------------------------------------------------------------------------------------

    def next_step(self, steps: int) -> int:
        return steps + (1 if self._single else max(1, round(PIECE / self.sim.dt)))

    def before_steps(self, sim: Simulation) -> None:
        if not self._playing:
            self._wait()
        while self._asked:
            action, arguments = self._asked.popleft()
            action(*arguments)

    def after_steps(self, sim: Simulation) -> None:
        if sim.time < self._seen:
            self._begin()
            self.restarted, self._pace = True, None
        self._seen = sim.time
        now = clock.perf_counter()
        if now - self._looked >= PERIOD or not self._playing:
            self._looked = now
            super().moment()
        if self.realtime:
            self._keep_pace(now)

    def show_end(self) -> None:
        """Show the present moment after the last step; called in the user's thread."""
        super().moment()

    def _wait(self) -> None:
        """Wait until the viewer plays, asks for one step, or is closed."""
        if self.sim.time != self._last:
            super().moment()
        with self._changed:
            while not (self._playing or self._single or self._closed):
                self._changed.wait(SLICE)
            self._single = max(0, self._single - 1)
        self._pace = None

    def _keep_pace(self, now: float) -> None:
        time = self.sim.time
        if self._pace is None or self._pace[2] != self._speed:
            self._pace = (now, time, self._speed)
        begin, start, speed = self._pace
        due = begin + (time - start) / speed
        if now - due > BEHIND:
            self._pace = None
        while now < due and self._playing and not self._closed and speed == self._speed:
            clock.sleep(min(due - now, SLICE))
            now = clock.perf_counter()

    # -- in the viewer's thread ----------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Time of the moment that is shown [s]."""
        return self.latest.time

    def moment(self) -> Moment:
        return self.latest

    def do(self, action: Callable[..., Any], *arguments: Any) -> None:
        self._asked.append((action, arguments))

    def let_run(self, playing: bool, speed: float) -> None:
        if (playing, speed) != (self._playing, self._speed):
            with self._changed:
                self._playing, self._speed = playing, speed
                self._changed.notify_all()

    def advance(self, seconds: float, budget: float) -> float:
        before, self._advanced = self._advanced, self.latest.time
        return max(0.0, self._advanced - before)

    def step(self) -> None:
        with self._changed:
            self._single += 1
            self._changed.notify_all()

    def close(self) -> None:
        """Let the loop go on without the viewer."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        sim = self.sim
        if self in sim.observers:
            sim.observers.remove(self)
        if sim.pushes is self.pushes:
            left, sim.pushes = self.pushes.pushes, Pushes(sim.model.nlink)
            sim.pushes.pushes = left
