"""Recorder: the recording of a simulation that ``run``, or a loop of one's own, steps."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from stickslip.errors import DivergedError, InputError, expected
from stickslip.record import Log
from stickslip.record import Recorder as RecordingWriter
from stickslip.simulation.observers import Every, Observer
from stickslip.simulation.periods import whole_steps
from stickslip.simulation.recording import make_recorder

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


class Recorder(Every):
    """Records a simulation while a loop of your own steps it.

        with ss.Recorder(sim, "drop.h5") as recorder:
            while sim.time < 1.0:
                sim.step()
        log = recorder.log()

    A frame is kept now, every ``record_dt`` [s] (default: 10 ms), and at the end; without a file they are in memory.
    Leaving the block closes the recording: "complete", "diverged" after a ``DivergedError``, "interrupted" after any
    other exception. Without a block, call ``close()``.
    """

    def __init__(
        self, sim: Simulation, path: str | Path | None = None, *, record_dt: float | None = None,
        control_dt: float | None = None,
    ) -> None:  # fmt: skip
        if not hasattr(sim, "stepper"):
            raise expected("Recorder", "a Simulation, and then the name of a file or nothing", sim)
        every = whole_steps("record_dt", record_dt, 1e-2, sim.dt)
        if path is not None and sim.stages.record is not None:
            raise InputError("record: expected a file or a record stage, got both; your stage does the recording")
        super().__init__(every, self.frame, sim.steps)
        self.sim = sim
        self.writer = make_recorder(sim, path, sim.control_steps(control_dt))
        self._last = -1
        sim.wall_start = clock.perf_counter()
        self.frame()
        sim.observers.append(self)

    @property
    def path(self) -> Path | None:
        """The file, or None of a recording in memory."""
        return None if self.writer.path is None else Path(self.writer.path)

    def frame(self) -> None:
        """Keep a frame of the present moment."""
        self._last = self.sim.steps
        self.sim.record_frame(self.writer)

    def before_steps(self, sim: Simulation) -> None:
        if sim.steps < self._last:
            raise InputError(
                f"Recorder: expected a time that goes on, got {sim.time:g} s after {self._last * sim.dt:g} s; "
                "close the recorder before sim.reset() or sim.restore(), and make another one then"
            )

    def after_steps(self, sim: Simulation) -> None:
        self.writer.flush_if_due()
        super().after_steps(sim)

    def close(self, outcome: str = "complete") -> None:
        """Keep the last frame and end the recording; closing again does nothing."""
        if self in self.sim.observers:
            self.sim.observers.remove(self)
        if self.writer.closed:
            return
        try:
            if outcome == "complete" and self._last < self.sim.steps:
                self.frame()
        finally:
            self.writer.close(outcome)

    def log(self) -> Log:
        """The recording so far."""
        return self.writer.log()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        outcome = "diverged" if kind is not None and issubclass(kind, DivergedError) else "interrupted"
        self.close("complete" if kind is None else outcome)


def recording_file(observers: Iterable[Observer]) -> RecordingWriter | None:
    """The writer of the first recording that goes to a file; None if there is none."""
    files = (each.writer for each in observers if isinstance(each, Recorder) and each.path is not None)
    return next(files, None)
