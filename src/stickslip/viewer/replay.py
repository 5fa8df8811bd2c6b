"""Replay: reads a recording moment by moment, and follows one that is still being written."""

from __future__ import annotations

import os

import numpy as np

from stickslip.errors import RecordingError
from stickslip.record import Contacts, Log, load
from stickslip.record.header import Header
from stickslip.record.layout import CONTACT, START, flat
from stickslip.viewer.moment import Moment, between

FORCE_SAMPLES = 24
"""Number of frames from which a typical force is found."""


class Replay:
    """A recording to show. Only the times are kept in memory; poses and contacts are read when they are shown."""

    def __init__(self, log: Log, label: str = "") -> None:
        self.log = log
        self.label = label or self.method
        if not len(log):
            raise RecordingError(f"cannot show {log.path or 'this log'!r}: expected at least one frame, got none")
        self._times = log.time

    @staticmethod
    def open(path: str | os.PathLike) -> Replay:
        return Replay(load(path))

    @staticmethod
    def again(other: Replay) -> Replay:
        """Open the recording once more, so that another thread can read it."""
        log = load(other.log.path) if other.log.path else other.log
        return Replay(log, other.label)

    @property
    def method(self) -> str:
        """Method and variant of the recording."""
        options = self.log.options
        name, variant = options.get("method", "?"), options.get("variant", options.get("law"))
        return f"{name}/{variant}" if variant else str(name)

    @property
    def header(self) -> Header:
        return self.log.header

    @property
    def start(self) -> float:
        """Time of the first frame [s]."""
        return float(self._times[0])

    @property
    def end(self) -> float:
        """Time of the last frame [s]."""
        return float(self._times[-1])

    @property
    def running(self) -> bool:
        return self.log.outcome == "running"

    @property
    def frames(self) -> int:
        return len(self._times)

    def refresh(self) -> bool:
        """Look for new frames and for the outcome; return whether anything is new."""
        if not self.running:
            return False
        before = self.frames
        self.log.refresh()
        self._times = self.log.time
        return self.frames != before or not self.running

    def frame_at(self, time: float) -> int:
        """The last frame that is not later, or the first one if all are."""
        return int(np.clip(np.searchsorted(self._times, time + 1e-9, side="right") - 1, 0, self.frames - 1))

    def next_time(self, time: float) -> float:
        """Time of the next frame [s]."""
        return float(self._times[min(self.frame_at(time) + 1, self.frames - 1)])

    def moment(self, time: float) -> Moment:
        """The moment at this time: poses are interpolated, all else is that of the frame before."""
        k = self.frame_at(time)
        time = float(np.clip(time, self.start, self.end))
        try:
            rows = self.log.dataset("pose")[k : k + 2]
            energy = np.append(self.log.dataset("energy")[k], self.log.dataset("contact_energy")[k])
            inputs = [self.log.dataset(name)[k] for name in ("control", "act", "sensor")]
            contacts = self.contacts(k)
        except (OSError, RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise RecordingError(
                f"cannot read frame {k} of {self.log.path!r}: expected a whole recording, got a damaged one "
                f"({reason}); record it again"
            ) from error
        if len(rows) < 2 or k + 1 >= self.frames:
            return Moment(time, rows[0], contacts, energy, *inputs)
        step = float(self._times[k + 1] - self._times[k])
        share = (time - float(self._times[k])) / step if step > 0.0 else 0.0
        pose = between(rows[0], rows[1], float(np.clip(share, 0.0, 1.0)))
        return Moment(time, pose, contacts, energy, *inputs)

    def contacts(self, k: int) -> Contacts:
        first, stop = (int(n) for n in self.log.dataset(START.name)[k : k + 2])
        return Contacts(*(self.log.dataset(flat(field.name))[first:stop] for field in CONTACT))

    def state(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) of the frame at this time."""
        k = self.frame_at(time)
        return self.log.dataset("q")[k], self.log.dataset("v")[k]

    def typical_force(self) -> float:
        """Median of the total normal force over frames with contact [N]; it scales the force arrows."""
        found = []
        for k in np.unique(np.linspace(0, self.frames - 1, FORCE_SAMPLES).astype(int)):
            total = float(self.contacts(int(k)).force[:, 0].sum())
            if total > 0.0:
                found.append(total)
        return float(np.median(found)) if found else 1.0
