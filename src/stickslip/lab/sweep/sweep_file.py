"""The file of a sweep: every result is added when it arrives, and stays when the process is killed.

The file is HDF5 in single-writer/multiple-reader mode, as recordings are. ``content`` holds the results one after
another, each as a line of JSON and then the bytes of its arrays. ``entries`` has a row for each: its number in the grid
+ 1, the end of its bytes in ``content``, and their checksum. The row is written after the bytes, so that a result is
there wholly or not at all. When all are there, ``table`` has the columns that are numbers or texts, for other programs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from stickslip.errors import RecordingError, brief, expected
from stickslip.hdf5 import Output, changed, numbers, open_checked, reading, text
from stickslip.lab.sweep.table import Sweep, SweepRun

WHAT, REMEDY = "the store of a sweep", "use a file written by ss.sweep(…, store=…)"
KIND, FORMAT = "stickslip sweep", 1
ROWS, BYTES = 64, 2**16
"""Rows and bytes in a chunk of the file."""


class SweepFile:
    """A store that results are added to; ``earlier`` are those that it begins with."""

    def __init__(self, path: str | os.PathLike, about: Mapping[str, Any], earlier: Iterable[SweepRun]) -> None:
        self._out = Output(path, "the store ", libver="latest")
        self.path, self._end, self._count = self._out.path, 0, 0
        try:
            with self._out.disk():
                file = self._out.file
                file.create_dataset("about", data=np.bytes_(json.dumps({"kind": KIND, "format": FORMAT, **about})))
                self._content = file.create_dataset("content", (0,), np.uint8, maxshape=(None,), chunks=(BYTES,))
                self._entries = file.create_dataset("entries", (0, 3), np.int64, maxshape=(None, 3), chunks=(ROWS, 3))
                file.swmr_mode = True  # no array can be created from here on
            self.add(*earlier)
            self._out.settle()
        except BaseException:
            self._out.abandon()
            raise

    def add(self, *runs: SweepRun) -> None:
        """Add results and push them to the operating system: the bytes first, then the rows."""
        blocks = [packed(run) for run in runs]
        ends = self._end + np.cumsum([len(block) for block in blocks], dtype=np.int64)
        rows = [(run.number + 1, end, crc32(block)) for run, end, block in zip(runs, ends, blocks, strict=True)]
        if not rows:
            return
        with self._out.disk():
            self._content.resize(int(ends[-1]), axis=0)
            self._content[self._end :] = np.frombuffer(b"".join(blocks), np.uint8)
            self._content.flush()
            self._entries.resize(self._count + len(rows), axis=0)
            self._entries[self._count :] = np.array(rows, dtype=np.int64)
            self._entries.flush()
        self._end, self._count = int(ends[-1]), self._count + len(rows)

    def close(self) -> None:
        self._out.close()


def packed(run: SweepRun) -> bytes:
    """A result as a line of JSON, and the bytes of its arrays after it."""
    arrays, values = [], {}
    for name, value in run.values.items():
        if isinstance(value, np.ndarray):
            arrays.append(np.ascontiguousarray(value).tobytes())
            values[name] = {"dtype": value.dtype.str, "shape": value.shape}
        else:
            values[name] = value
    fields = {name: value for name, value in vars(run).items() if name not in ("parameters", "values")}
    return json.dumps({**fields, "values": values}).encode() + b"\n" + b"".join(arrays)


def unpacked(block: bytes, points: list[dict[str, Any]]) -> SweepRun:
    line, _, rest = block.partition(b"\n")
    fields, values, start = json.loads(line), {}, 0
    for name, value in fields.pop("values").items():
        if isinstance(value, dict):
            kind, shape = np.dtype(value["dtype"]), tuple(value["shape"])
            size = int(np.prod(shape)) * kind.itemsize
            value = np.frombuffer(rest[start : start + size], kind).reshape(shape).copy()
            start += size
        values[name] = value
    fields["warnings"] = tuple(fields["warnings"])
    return SweepRun(parameters=points[fields["number"]], values=values, **fields)


def read_store(path: str | os.PathLike) -> tuple[dict[str, Any], list[SweepRun]]:
    """What a store was made for, and the results that it has; a row that a kill has left unfinished does not count."""
    with open_checked(path, WHAT, REMEDY) as file, reading(os.fspath(path), WHAT):
        about = json.loads(text(file, "about"))
        if about.get("kind") != KIND or about.get("format") != FORMAT:
            raise expected("format", f"{KIND} {FORMAT}", [about.get("kind"), about.get("format")])
        entries = numbers(file, "entries", "i", dims=2)
        content = numbers(file, "content", "u", dims=1).tobytes()
        runs: dict[int, SweepRun] = {}
        start = 0
        for row, end, check in entries.tolist():
            block = content[start:end]
            if not 1 <= row <= len(about["points"]) or end <= start or crc32(block) != check:
                break
            if row - 1 in runs:
                raise expected("entries", "every run once", f"run {row - 1} twice")
            runs[row - 1] = unpacked(block, about["points"])
            start = end
        return about, [runs[number] for number in sorted(runs)]


def load_sweep(path: str | os.PathLike) -> Sweep:
    """The results in a store, also while a sweep writes them; parameters are as the file holds them."""
    about, runs = read_store(path)
    return Sweep(about["name"], tuple(runs), store=Path(path), missing=len(about["points"]) - len(runs))


def write_table(sweep: Sweep) -> None:
    """Add the columns that are numbers or texts to the store of a sweep that has all its results."""
    with changed(str(sweep.store), WHAT, REMEDY) as file:
        if "table" in file:
            del file["table"]
        group = file.create_group("table")
        for name, column in sweep.to_dict().items():
            if column.dtype.kind in "biufc":
                group[name.replace("/", "|")] = column
            elif column.dtype.kind == "U":
                group[name.replace("/", "|")] = np.char.encode(column, "utf-8")


def check_store(path: Any) -> Path:
    """A path where a store can be written."""
    if not isinstance(path, str | os.PathLike) or isinstance(path, bytes):
        raise expected("store", "the path of a file, such as 'sweep.h5'", path)
    found = Path(path)
    if found.suffix not in (".h5", ".hdf5"):
        raise RecordingError(f"store: expected a name that ends in .h5, got {brief(str(path))}; rename it")
    return found
