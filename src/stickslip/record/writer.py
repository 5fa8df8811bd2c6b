"""Recorder: takes frames one by one, buffers them and writes them in blocks."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.errors import DivergedError, RecordingError, expected, unknown
from stickslip.record.header import describe
from stickslip.record.layout import CONTACT, CONTACT_NAMES, FRAME, FRAME_NAMES, OUTCOMES, START, flat
from stickslip.record.log import Log, load
from stickslip.record.store import FileStore, MemoryStore

if TYPE_CHECKING:
    from stickslip.model.model import Model

FLUSH_SECONDS = 1.0
"""Longest wall time between flushes [s], and so the most that a killed process loses."""


NO_SENSORS = np.zeros(0)


class Recorder:
    """Records frames to ``path``, or to memory when ``path`` is None::

        with Recorder("run.h5", model, scene_xml=xml, options={"method": "expo", "dt": 0.01}) as recorder:
            recorder.append(frame, contacts)
        log = recorder.log()

    ``frame`` has every name of ``layout.FRAME`` and ``contacts`` every name of ``layout.CONTACT`` with one row per
    contact, or is empty. ``constraints`` names the joints whose errors are in the frames, ``sensors`` the sensor of
    each value in ``frame["sensor"]``, which may be missing if there are none. Values are copied. Leaving the block
    closes the recording: "complete", "diverged" after a ``DivergedError``, "interrupted" after any other exception.
    """

    def __init__(
        self,
        path: str | os.PathLike | None,
        model: Model,
        *,
        scene_xml: str = "",
        options: Mapping[str, Any] | None = None,
        constraints: Sequence[str] = (),
        sensors: Sequence[str] = (),
        capacity: int = 512,
    ) -> None:
        if capacity < 1:
            raise expected("capacity", "at least 1 frame", capacity)
        header = describe(model, scene_xml, dict(options or {}), constraints, sensors)
        self._store = MemoryStore(header) if path is None else FileStore(path, header)
        self.path = self._store.path
        self.frames = 0
        """Frames appended so far."""
        self.flushed = 0
        """Frames that are written and survive a kill."""
        self.closed = False

        self._sizes = sizes = header.sizes
        self._capacity = capacity
        self._frame = [_slot(f.name, capacity, f.shape(sizes), f.dtype) for f in FRAME]
        self._end = np.zeros(capacity, dtype=START.dtype)
        self._contact = [_slot(f.name, 4 * capacity, f.shape(sizes), f.dtype) for f in CONTACT]
        self._contact_capacity = 4 * capacity
        self._rows = self._contact_rows = 0  # in the buffers
        self._contacts_before = 0  # in blocks already handed over
        self._last_flush = time.monotonic()

    def append(self, frame: Mapping[str, Any], contacts: Mapping[str, Any] | None = None) -> None:
        """Copy one frame and its contacts; flush after ``capacity`` frames or a second of wall time."""
        if self.closed:
            raise RecordingError("cannot append: expected an open recorder, got a closed one; make a new Recorder")
        if "sensor" not in frame:
            frame = {**frame, "sensor": NO_SENSORS}
        if frame.keys() != FRAME_NAMES:
            raise _wrong_names("frame", frame, FRAME_NAMES)
        row = self._rows
        for name, shape, buffer in self._frame:
            value = frame[name]
            if getattr(value, "shape", ()) != shape and np.shape(value) != shape:
                raise expected(f"frame[{name!r}]", f"shape {shape}", np.shape(value))
            buffer[row] = value

        stop = self._contact_rows
        if contacts:
            stop = self._copy_contacts(contacts)
        # The frame is counted only now, so that an error above leaves the recording unchanged.
        self._contact_rows = stop
        self._end[row] = self._contacts_before + stop
        self._rows = row + 1
        self.frames += 1
        if self._rows == self._capacity or self.frames == 1:
            self.flush()
        else:
            self.flush_if_due()

    def flush_if_due(self) -> None:
        """Flush if the last flush was a second ago; to be called often, also between frames."""
        if self._rows and time.monotonic() - self._last_flush > FLUSH_SECONDS:
            self.flush()

    def _copy_contacts(self, contacts: Mapping[str, Any]) -> int:
        if contacts.keys() != CONTACT_NAMES:
            raise _wrong_names("contacts", contacts, CONTACT_NAMES)
        first, n = self._contact_rows, len(contacts["pair"])
        stop = first + n
        if stop > self._contact_capacity:
            self._contact_capacity = 2 * stop
            grow = self._contact_capacity
            self._contact = [
                (name, s, np.concatenate([b, np.zeros((grow - len(b), *s), b.dtype)])) for name, s, b in self._contact
            ]
        for name, shape, buffer in self._contact:
            value = contacts[name]
            if getattr(value, "shape", ()) != (n, *shape) and np.shape(value) != (n, *shape):
                raise expected(f"contacts[{name!r}]", f"shape {(n, *shape)}", np.shape(value))
            buffer[first:stop] = value
        return stop

    def flush(self) -> None:
        """Write the buffered frames; after that they survive a kill of this process."""
        if self._rows:
            block = {flat(name): buffer[: self._contact_rows] for name, _, buffer in self._contact}
            block[START.name] = self._end[: self._rows]
            block |= {name: buffer[: self._rows] for name, _, buffer in self._frame}
            self._store.write(block)
            self._contacts_before += self._contact_rows
            self._rows = self._contact_rows = 0
            self.flushed = self.frames
        self._last_flush = time.monotonic()

    def save_last_good(self, time: float, q: np.ndarray, v: np.ndarray) -> None:
        """Keep the last finite state of a run that diverged."""
        for name, value, size in (("q", q, self._sizes.nq), ("v", v, self._sizes.nv)):
            if np.shape(value) != (size,):
                raise expected(f"last good {name}", f"shape ({size},)", np.shape(value))
        self._store.save_last_good(time, q, v)

    def close(self, outcome: str = "complete") -> None:
        """Flush and store the outcome of the run; closing again does nothing."""
        if outcome not in OUTCOMES:
            raise unknown("outcome", outcome, OUTCOMES)
        if self.closed:
            return
        self.closed = True
        try:
            self.flush()
        finally:
            self._store.finish(outcome)

    def log(self) -> Log:
        """The recording so far; an open recording is flushed first."""
        if not self.closed:
            self.flush()
        if isinstance(self._store, MemoryStore):
            return Log(self._store)
        return load(self._store.path)

    def copy(self) -> Log:
        """The recording so far as a log in memory, which later frames do not change."""
        if not isinstance(self._store, MemoryStore):
            raise RecordingError("cannot copy: expected a recording in memory, got a file; load the file again")
        self.flush()
        return Log(self._store.copy())

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is None:
            self.close("complete")
        else:
            self.close("diverged" if issubclass(kind, DivergedError) else "interrupted")


def _slot(name: str, rows: int, shape: tuple[int, ...], dtype: str) -> tuple[str, tuple[int, ...], np.ndarray]:
    return name, shape, np.zeros((rows, *shape), dtype=dtype)


def _wrong_names(what: str, given: Mapping[str, Any], names: frozenset[str]) -> Exception:
    missing, extra = sorted(names - given.keys()), sorted(given.keys() - names)
    return expected(what, f"the names {', '.join(sorted(names))}", sorted(given), f"missing {missing}, unknown {extra}")
