"""Open recordings: finished, left by a killed process, or still being written."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from stickslip import file_lock
from stickslip.errors import RecordingError, expected
from stickslip.record.header import Header
from stickslip.record.layout import ADDED_LATER, FORMAT, Field, complete_frames, table

CHUNK_CACHE = 2**20
"""[bytes] chunk cache of each array. HDF5's default of 8 MiB would take 200 MiB in all, and little is read twice."""


class FileSource:
    """The source of a ``Log`` whose recording is a file."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = _existing(path)
        self._file = _open(self.path)
        try:
            _check_kind(self._file, self.path)
            self.header = Header.read(self._file)
            self.arrays: dict[str, Any] = {
                name: self._empty(field) if name in ADDED_LATER and name not in self._file else self._file[name]
                for name, field in table().items()
            }
            self._look()
        except RecordingError:
            self._file.close()
            raise
        except (OSError, KeyError, RuntimeError, ValueError) as error:
            self._file.close()
            raise _damaged(self.path, error) from error

    def _empty(self, field: Field) -> np.ndarray:
        """The value of a field that files of earlier versions lack."""
        return np.zeros((len(self._file["time"]), *field.shape(self.header.sizes)), field.dtype)

    def _look(self) -> None:
        # Read the outcome first: if it says that the run is over, no frames are added afterwards.
        stored = _text(self._file["outcome"])
        if stored == "running":
            stored = "running" if file_lock.is_held(self.path) else "killed"
        self.outcome = stored
        self.frames = complete_frames(self.arrays)

    @property
    def last_good(self) -> tuple[float, np.ndarray, np.ndarray] | None:
        group = self._file["last_good"]
        time = float(group["time"][()])
        return None if np.isnan(time) else (time, group["q"][()], group["v"][()])

    def read(self, name: str, rows: int) -> np.ndarray:
        """The first rows of a field."""
        return self.rows(name, 0, rows)

    def rows(self, name: str, first: int, stop: int) -> np.ndarray:
        """Some rows of a field."""
        if not self._file:
            raise RecordingError(f"cannot read {name!r}: expected an open log, got a closed one; load({self.path!r})")
        try:
            return self.arrays[name][first:stop]
        except (OSError, RuntimeError) as error:
            raise _damaged(self.path, error) from error

    def refresh(self) -> None:
        """Include what a running recorder has added."""
        if self._file.swmr_mode:
            for dataset in (self._file["outcome"], *self.arrays.values()):
                if not isinstance(dataset, np.ndarray):
                    dataset.refresh()
            self._look()

    def close(self) -> None:
        self._file.close()


def _text(dataset: Any) -> str:
    return bytes(dataset[()]).decode()


def _existing(path: str | os.PathLike) -> str:
    try:
        name = os.fspath(path)
    except TypeError:
        raise expected("load", "the path of a recording", path) from None
    if os.path.isdir(name):
        raise RecordingError(f"cannot load {name!r}: expected a file, got a folder; name a file in it")
    if not os.path.exists(name):
        folder = os.path.dirname(os.path.abspath(name))
        found = sorted(f for f in os.listdir(folder) if f.endswith(".h5"))[:5] if os.path.isdir(folder) else []
        near = f"that folder has {', '.join(found)}" if found else "check the name and the folder"
        raise RecordingError(f"cannot load {name!r}: expected a recording, got no such file; {near}")
    return os.path.realpath(name)


def _open(path: str) -> Any:
    import h5py

    try:
        if not h5py.is_hdf5(path):
            raise RecordingError(
                f"cannot load {path!r}: expected a stickslip recording, got a file that is not HDF5; "
                "use a file written by record=…"
            )
        # A killed process leaves the file flagged as being written, and only SWMR mode opens it then. Other files are
        # not opened in that mode, because on a damaged one it would wait forever for a writer to repair it.
        return h5py.File(path, "r", swmr=_flagged(path), rdcc_nbytes=CHUNK_CACHE)
    except PermissionError as error:
        raise RecordingError(f"cannot load {path!r}: expected a readable file, got {error.strerror!r}") from error
    except OSError as error:
        if isinstance(error, RecordingError):
            raise
        raise _damaged(path, error) from error


def _flagged(path: str) -> bool:
    """Whether the superblock (version 3, byte 11) says that a writer has the file open in SWMR mode."""
    with open(path, "rb") as file:
        superblock = file.read(12)
    return len(superblock) == 12 and superblock[8] >= 3 and bool(superblock[11] & 0b100)


def _check_kind(file: Any, path: str) -> None:
    if file.attrs.get("kind") != "stickslip recording":
        raise RecordingError(
            f"cannot load {path!r}: expected a stickslip recording, got another HDF5 file; "
            "use a file written by record=…"
        )
    if (found := int(file.attrs["format"])) > FORMAT:
        raise RecordingError(
            f"cannot load {path!r}: expected recording format {FORMAT} or older, got {found}; update stickslip"
        )


def _damaged(path: str, error: Exception) -> RecordingError:
    reason = " ".join(str(error).split())
    return RecordingError(
        f"cannot load {path!r}: expected a whole recording, got a damaged or locked file ({reason}); record it again"
    )
