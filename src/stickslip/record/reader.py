"""Open recordings: finished, left by a killed process, or still being written."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from stickslip import file_lock
from stickslip.errors import RecordingError, expected
from stickslip.hdf5 import attribute, has, member, numbers, open_checked, reading, text
from stickslip.record.header import Header
from stickslip.record.layout import ADDED_LATER, FORMAT, OUTCOMES, START, Field, complete_frames, table

CHUNK_CACHE = 2**20
"""[bytes] chunk cache of each array. HDF5's default of 8 MiB would take 200 MiB in all, and little is read twice."""
WHAT, REMEDY = "a stickslip recording", "use a file written by record=…"
LATEST = 1e15
"""[s] Times of frames are below it."""


class StoredArray:
    """An array of a file, for reading slices of it. A damaged part is a ``RecordingError`` when it is read."""

    def __init__(self, path: str, file: Any, name: str, found: Any, within: tuple[float, float] | None) -> None:
        self._path, self._file, self._name, self._found, self._within = path, file, name, found, within

    def __getitem__(self, where: Any) -> Any:
        check_open(self._file, self._path, self._name)
        with reading(self._path, WHAT):
            part = self._found[where]
            if self._within is not None and np.size(part):
                least, most = self._within
                if not least <= np.min(part) <= np.max(part) <= most:
                    raise expected(self._name, f"numbers from {least:g} to {most:g}", np.ravel(part)[:8].tolist())
            return part

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype)

    def __len__(self) -> int:
        return len(self._found)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._found.shape

    @property
    def dtype(self) -> np.dtype:
        return self._found.dtype

    def refresh(self) -> None:
        """See what a running recorder has added."""
        if not isinstance(self._found, np.ndarray):
            self._found.refresh()


def check_open(file: Any, path: str, what: str) -> None:
    """Refuse to read ``what`` from a file that was closed."""
    if not file:
        raise RecordingError(f"cannot read {what!r}: expected an open log, got a closed one; load({path!r})")


class FileSource:
    """The source of a ``Log`` whose recording is a file."""

    def __init__(self, path: str | os.PathLike) -> None:
        self._file = open_checked(path, WHAT, REMEDY, rdcc_nbytes=CHUNK_CACHE)
        self.path = os.path.realpath(path)
        try:
            with reading(self.path, WHAT):
                _check_kind(self._file, self.path)
                self.header = Header.read(self._file)
                self.arrays = {name: self._array(name, field) for name, field in table().items()}
                self._look()
        except BaseException:
            self._file.close()
            raise

    def _array(self, name: str, field: Field) -> StoredArray:
        """An array of the file; of a field that files of earlier versions lack, its value."""
        shape = field.shape(self.header.sizes)
        if name in ADDED_LATER and not has(self._file, name):
            found = np.zeros((len(member(self._file, "time")), *shape), field.dtype)
        else:
            found = member(self._file, name)
        if found.dtype != field.dtype or found.shape[1:] != shape or not len(found.shape):
            raise expected(name, f"rows of shape {shape} and type {field.dtype}", f"{found.shape} {found.dtype}")
        links = (0, self.header.sizes.nl - 1)
        within = {"time": (-LATEST, LATEST), "contact/link1": links, "contact/link2": links}.get(name)
        return StoredArray(self.path, self._file, name, found, within)

    def _look(self) -> None:
        # Read the outcome first: if it says that the run is over, no frames are added afterwards.
        stored = text(self._file, "outcome")
        if stored not in (*OUTCOMES, "running"):
            raise expected("outcome", f"one of {', '.join(OUTCOMES)}", stored)
        if stored == "running":
            stored = "running" if file_lock.is_held(self.path) else "killed"
        self.outcome = stored
        self.frames = complete_frames(self.arrays)
        starts = np.asarray(self.arrays[START.name][: self.frames + 1])
        if len(starts) != self.frames + 1 or starts[0] != 0 or np.any(np.diff(starts) < 0):
            raise expected(START.name, "numbers that rise from 0", starts[:8].tolist())

    @property
    def last_good(self) -> tuple[float, np.ndarray, np.ndarray] | None:
        self.check_open("last_good")
        with reading(self.path, WHAT):
            time, q, v = (numbers(self._file, f"last_good/{name}", "f") for name in ("time", "q", "v"))
            n = self.header.sizes
            if time.shape != () or q.shape != (n.nq,) or v.shape != (n.nv,):
                raise expected("last_good", f"{n.nq} coordinates and {n.nv} velocities", (q.shape, v.shape))
            return None if np.isnan(time) else (float(time), q, v)

    def check_open(self, what: str) -> None:
        check_open(self._file, self.path, what)

    def read(self, name: str, rows: int) -> np.ndarray:
        """The first rows of a field."""
        return self.rows(name, 0, rows)

    def rows(self, name: str, first: int, stop: int) -> np.ndarray:
        """Some rows of a field."""
        return self.arrays[name][first:stop]

    def refresh(self) -> None:
        """Include what a running recorder has added."""
        if self._file.swmr_mode:
            with reading(self.path, WHAT):
                for array in (self._file["outcome"], *self.arrays.values()):
                    array.refresh()
                self._look()

    def close(self) -> None:
        self._file.close()


def _check_kind(file: Any, path: str) -> None:
    if "kind" not in file.attrs or attribute(file, "kind") != "stickslip recording":
        raise RecordingError(f"cannot read {path!r}: expected {WHAT}, got another HDF5 file; {REMEDY}")
    if (found := int(attribute(file, "format"))) > FORMAT:
        raise RecordingError(
            f"cannot read {path!r}: expected recording format {FORMAT} or older, got {found}; update stickslip"
        )
