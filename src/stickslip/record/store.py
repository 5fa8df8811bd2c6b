"""Stores for blocks of frames: memory, or an HDF5 file that stays readable if its process is killed.

A block is a dict path → array with all fields of the layout; its ``contact/start`` holds the *end* of each new frame.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from stickslip.errors import expected
from stickslip.hdf5 import Output
from stickslip.record.header import Header
from stickslip.record.layout import FRAME_NAMES, START, complete_frames, table

Block = dict[str, np.ndarray]
RECORDING = "the recording "

# Rows per chunk. A chunk that is flushed before it is full is written again later. The space of the old copy is lost,
# because readers may use it, so small chunks keep the files of slow runs small. At 10 frames per flush, 64 rows take
# 3.5 times the space of a fast run and 512 rows 20 times; a fast run loses 4 % by the small chunks.
FRAME_CHUNK, CONTACT_CHUNK = 64, 256


class MemoryStore:
    """A recording in memory, which is also the source of its ``Log``."""

    path = None

    def __init__(self, header: Header) -> None:
        self.header = header
        self.outcome = "running"
        self.last_good: tuple[float, np.ndarray, np.ndarray] | None = None
        self._blocks: list[Block] = [_empty(header)]

    def write(self, block: Block) -> None:
        self._blocks.append({path: rows.copy() for path, rows in block.items()})

    def save_last_good(self, time: float, q: np.ndarray, v: np.ndarray) -> None:
        self.last_good = (float(time), np.array(q), np.array(v))

    def finish(self, outcome: str) -> None:
        self.outcome = outcome

    def copy(self) -> MemoryStore:
        """Return a copy of the recording. Frames that are written to one of them later are not in the other."""
        other = MemoryStore(self.header)
        other.outcome, other.last_good, other._blocks = self.outcome, self.last_good, [self.arrays]
        return other

    @property
    def arrays(self) -> Block:
        """All blocks joined into one, on first use."""
        if len(self._blocks) > 1:
            self._blocks = [{path: np.concatenate([b[path] for b in self._blocks]) for path in self._blocks[0]}]
        return self._blocks[0]

    @property
    def frames(self) -> int:
        return complete_frames(self.arrays)

    def check_open(self, what: str) -> None:
        """Nothing to check: it is open as long as it is there."""

    def read(self, name: str, rows: int) -> np.ndarray:
        return self.arrays[name][:rows]

    def rows(self, name: str, first: int, stop: int) -> np.ndarray:
        return self.arrays[name][first:stop]

    def refresh(self) -> None:
        """Nothing to do: ``arrays`` always holds what was written."""

    def close(self) -> None:
        """Nothing to do: there is no file."""


OTHER_FORMATS = {
    **dict.fromkeys((".mp4", ".avi", ".mov", ".webm"), "log.video"),
    ".gif": "log.gif",
    ".csv": "log.to_csv",
    ".npz": "log.to_qpos",
    **dict.fromkeys((".png", ".pdf", ".svg"), "log.plot"),
}
"""Endings of files that people mean something else by → what makes them."""


class FileStore:
    """An HDF5 file in single-writer/multiple-reader mode: readable at any time, also after SIGKILL."""

    def __init__(self, path: str | os.PathLike, header: Header) -> None:
        if not isinstance(path, str | os.PathLike):
            raise expected("record", "the path of a file (.h5)", path)
        other = OTHER_FORMATS.get(Path(path).suffix.lower())
        if other is not None:
            raise expected(
                "record", "a name that ends in .h5", os.fspath(path), f"{other} makes such a file of the log"
            )
        self._length = dict.fromkeys(table(), 0) | {START.name: 1}
        self._out = Output(path, RECORDING, space=_space(header), libver="latest")
        self.path, self._file = self._out.path, self._out.file
        try:
            with self._out.disk():
                self._create(header)
                self._file.swmr_mode = True  # no dataset can be created from here on
            self._out.settle()
        except BaseException:
            self._out.abandon()
            raise

    def _create(self, header: Header) -> None:
        file = self._file
        header.write(file)
        file.create_dataset("outcome", data=np.bytes_("running"), dtype="S16")
        for path, (name, shape_of, dtype, unit, meaning) in table().items():
            shape = shape_of(header.sizes)
            width = tuple(max(n, 1) for n in shape)  # HDF5 allows no empty chunks
            rows = FRAME_CHUNK if name in FRAME_NAMES else CONTACT_CHUNK
            dataset = file.create_dataset(
                path, shape=(self._length[path], *shape), maxshape=(None, *width), chunks=(rows, *width), dtype=dtype,
                compression="gzip", compression_opts=1, shuffle=True,
            )  # fmt: skip
            dataset.attrs["units"], dataset.attrs["meaning"] = unit, meaning
            if name in ("time", "q", "v"):
                good = file.create_dataset(f"last_good/{name}", data=np.full(shape, np.nan))
                good.attrs["units"] = unit
                good.attrs["meaning"] = f"{meaning}; the last finite state of a run that diverged, else NaN"
        file["pose"].attrs["links"] = "row 0 is the world; names in the attribute link_names of the file"

    def write(self, block: Block) -> None:
        """Add rows and push them to the operating system, ``time`` last.

        The lengths are updated only after everything is written, so that a block interrupted by Ctrl-C can be written
        again.
        """
        with self._out.disk():
            for path in self._length:
                rows, first = block[path], self._length[path]
                if len(rows):
                    dataset = self._file[path]
                    dataset.resize(first + len(rows), axis=0)
                    if rows.size:
                        dataset[first : first + len(rows)] = rows
                    dataset.flush()
            for path in self._length:
                self._length[path] += len(block[path])

    def save_last_good(self, time: float, q: np.ndarray, v: np.ndarray) -> None:
        with self._out.disk():
            for name, value in (("q", q), ("v", v), ("time", time)):
                dataset = self._file[f"last_good/{name}"]
                if dataset.size:
                    dataset[...] = value
                dataset.flush()

    def finish(self, outcome: str) -> None:
        """Say how the run ended and close the file; after a disk error there is nothing left to do."""
        if not self._out.failed:
            with self._out.disk():
                self._file["outcome"][()] = np.bytes_(outcome)
                self._file["outcome"].flush()
            self._out.close()


def _empty(header: Header) -> Block:
    block = {path: np.zeros((0, *f.shape(header.sizes)), dtype=f.dtype) for path, f in table().items()}
    block[START.name] = np.zeros(1, dtype=START.dtype)
    return block


def _space(header: Header) -> int:
    """[bytes] that a new file needs."""
    meshes = [*header.vertices.values(), *(array for surface in header.surfaces.values() for array in surface)]
    return 2**18 + 2 * len(header.scene_xml) + 512 * len(header.shapes) + sum(array.nbytes for array in meshes)
