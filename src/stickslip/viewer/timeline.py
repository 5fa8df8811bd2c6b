"""Timeline: plays, pauses and scrubs a simulation with its history, or recordings, which may still be growing."""

from __future__ import annotations

import numpy as np

from stickslip.viewer.live import Live
from stickslip.viewer.loop import Loop
from stickslip.viewer.moment import Moment
from stickslip.viewer.replay import Replay
from stickslip.viewer.watched import Watched

FOLLOW = 0.5
"""[s] between checks of files that are being written."""
NOWHERE = (np.nan, -1)


class Timeline:
    """One simulation, or recordings side by side, and a cursor [s]."""

    def __init__(self, live: Watched | None, replays: list[Replay]) -> None:
        self.live, self.replays = live, replays
        self.playing, self.speed = False, 1.0
        self.cursor = self.start
        self.factor = 0.0
        """Simulated seconds per real second."""
        self.trouble: list[str] = []
        """Messages on what went wrong, shown in the panel."""
        self._history: Replay | None = None
        self._next_look = 0.0
        self._shown = NOWHERE

    def forget(self) -> None:
        """Called when the history is discarded, to clear its curves."""

    @property
    def start(self) -> float:
        """First time that can be shown [s]."""
        return self.live.start if self.live else min(replay.start for replay in self.replays)

    @property
    def end(self) -> float:
        """Last time that can be shown [s]."""
        return self.live.time if self.live else max(replay.end for replay in self.replays)

    @property
    def running(self) -> bool:
        """Whether a recording is still being written."""
        return any(replay.running for replay in self.replays)

    @property
    def looks_back(self) -> bool:
        """Whether a past moment of a simulation is shown."""
        return self._history is not None and self.live is not None and self.cursor < self.live.time - 1e-12

    def toggle(self) -> None:
        """Play or pause. A recording at its end begins again; a simulation continues."""
        self.playing = not self.playing
        if self.playing:
            self.trouble = []
            if self.live is None and self.cursor >= self.end - 1e-9 and not self.running:
                self.cursor = self.start

    def step(self) -> None:
        """Advance by one time step of a simulation or one frame of a recording."""
        self.playing = False
        if self.live is None:
            self.cursor = min(replay.next_time(self.cursor) for replay in self.replays)
            return
        if self._history is not None and self.looks_back:
            self.cursor = self._history.next_time(self.cursor)
            return
        self._history = None
        self.live.step()
        self.cursor = self.live.time

    def restart(self) -> None:
        """Go to the beginning; a simulation starts again."""
        self.playing, self.trouble = False, []
        if isinstance(self.live, Live):
            self.live.reset()
            self._history = None
            self.forget()
        self.cursor, self._shown = self.start, NOWHERE

    def to_end(self) -> None:
        """Go to the present or to the last frame."""
        self._history, self.cursor = None, self.end

    def scrub(self, time: float) -> None:
        """Show another moment; a simulation pauses and shows its past."""
        if self.live is not None:
            self.playing = False
            self._history = self._history or self.live.history()
        self.cursor = float(np.clip(time, self.start, self.end))

    def go_back(self) -> None:
        """Continue the simulation from the moment that is shown."""
        if isinstance(self.live, Live) and self._history is not None:
            self.live.go_back(self.cursor)
            self._history = None
            self.forget()
            self.cursor, self._shown, self.trouble = self.live.time, NOWHERE, []

    def set_speed(self, speed: float) -> None:
        self.speed = speed

    def _sync(self) -> None:
        """Tell a loop of the user's what the buttons say, and show how far it is."""
        if isinstance(self.live, Loop):
            self.live.let_run(self.playing, self.speed)
            if self.live.restarted:
                self.live.restarted, self._history = False, None
                self.forget()
            if self._history is None:
                self.cursor = self.live.time

    def _follow(self, now: float) -> None:
        """Read what has been added to recordings that are being written."""
        if now < self._next_look:
            return
        self._next_look = now + FOLLOW
        at_end = self.cursor >= self.end - 1e-9
        for replay in self.replays:
            replay.refresh()
        if at_end and self.playing and self.running:
            self.cursor = max(self.cursor, self.end - 2 * FOLLOW * self.speed)

    def _play(self, elapsed: float, budget: float) -> None:
        """Advance by ``elapsed`` real seconds; a simulation may compute for ``budget`` [s]."""
        if self.live is not None:
            self._history = None
            try:
                done = self.live.advance(self.speed * elapsed, budget)
                self.factor += 0.1 * (done / max(elapsed, 1e-6) - self.factor)
            finally:
                self.cursor = self.live.time
            return
        self.cursor = min(self.cursor + self.speed * elapsed, self.end)
        if self.cursor >= self.end and not self.running:
            self.playing = False

    def _moments(self) -> list[Moment]:
        if self.live is None:
            return [replay.moment(self.cursor) for replay in self.replays]
        return [self._history.moment(self.cursor) if self._history else self.live.moment()]
