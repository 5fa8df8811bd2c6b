"""Problem files: HDF5 files with a group ``mbs_frame%06d`` per captured time step.

    mbs_frame000001/timestep, bodies/…, contacts/…, constraints/…      the tables of ``problems.py``
    mbs_frame000001/solver_data/<name>/…                               residual histories of solvers

Frames are written in batches, at least one a second. HDF5 changes a file at several places when a frame is added, and
a kill between them would damage it. So there are two files while a writer is open: a batch is added to the one beside
the target, which then takes its place. The disk must have room for a batch before it is begun.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np

from stickslip.errors import InputError, RecordingError, brief
from stickslip.hdf5 import DAMAGE, Output, attribute, changed, check_target, has, member, open_checked, probe, reading
from stickslip.problem_files.problem_frame import GROUPS, ProblemFrame, columns
from stickslip.record.header import PACKAGES, versions

KIND = "multibody contact problems"
WHAT, REMEDY = "a file of contact problems", "'stickslip run SCENE --capture FILE' writes one"
FLUSH_SECONDS = 1.0
"""Longest wall time between flushes [s], and so the most that a killed process loses."""
BATCH = 50
"""Most frames that wait. Writing a frame takes longer than making a small one, and a kill loses what is not written."""
NORMALS = "from the first to the second body of a pair; gap > 0 apart; the impulse on the second body is along +normal"
CONVENTIONS = {
    "kind": KIND,
    "format": 1,
    "normal_convention": NORMALS,
    "quaternion_convention": "w, x, y, z; from body to world axes",
    "velocity_convention": "linear velocity of the centre of mass, angular velocity; world axes",
    "units": "SI",
}
FRAME = re.compile(r"mbs_frame(\d+)$")
OURS = "stickslip"
"""The name under ``solver_data`` for data that the convention does not define."""
EXTRAS = {
    "tangents": ("1", "first tangents, world axes; second tangent = normal x first tangent"),
    "restitution": ("1", "Newton's coefficients of restitution"),
    "groups": ("1", "group g has the subcontacts groups[g] ... groups[g + 1] - 1"),
}


class ProblemWriter:
    """Writes frames one after another; ``append=True`` adds to the frames of an earlier file::

    with ProblemWriter("problems.h5", scene="ball") as writer:
        writer.append(frame)
    """

    def __init__(self, path: str | os.PathLike, *, scene: str = "", append: bool = False, **provenance: Any) -> None:
        self.path = check_target(path)
        there = os.path.exists(self.path) and os.path.getsize(self.path) > 0
        if there:
            ProblemFile(self.path).close()  # refuses to overwrite a file that is not a problem file
        # Later HDF5 formats mark an open file, and the mark would stay after a kill.
        first = Output(path, "the problems ", append=append and there, libver="earliest")
        self._shown, self._hidden = first, first
        self._waiting: list[ProblemFrame] = []
        self._behind: list[ProblemFrame] = []  # frames that are in the target and not yet in the file beside it
        self._last_flush = -FLUSH_SECONDS
        try:
            self._hidden = Output(path, "the problems ", append=append and there, libver="earliest")
            attributes = {**CONVENTIONS, "versions": json.dumps(versions(PACKAGES)), "scene": scene, **provenance}
            for out in (self._shown, self._hidden):
                with out.disk():
                    for name, value in attributes.items():
                        out.file.attrs[name] = value
                    out.file.flush()
            self.frames = self.flushed = max(frame_numbers(first.file), default=0)
            """Frames appended so far, and those that survive a kill."""
            self._shown.settle()
        except BaseException:
            self._abandon()
            raise

    def append(self, frame: ProblemFrame) -> int:
        """Write a frame, at once or within a second; returns its number."""
        if not self._hidden.file:
            raise RecordingError(f"cannot write to {self.path!r}: expected an open writer, got a closed one")
        self._waiting.append(frame)
        self.frames += 1
        if len(self._waiting) >= BATCH:
            self.flush()
        else:
            self.flush_if_due()
        return self.frames

    def flush_if_due(self) -> None:
        """Flush if the last flush was a second ago; to be called often, also between frames."""
        if self._waiting and time.monotonic() - self._last_flush > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write the frames that wait; after that they survive a kill of this process."""
        if self._waiting:
            try:
                self._add()
                self._hidden.replace(self._shown)
            except RecordingError:
                self._abandon()
                raise
            self._shown, self._hidden = self._hidden, self._shown
            self._behind, self._waiting, self.flushed = self._waiting, [], self.frames
        self._last_flush = time.monotonic()

    def _add(self) -> None:
        """Bring the file beside the target up to date."""
        missing, out = self._behind + self._waiting, self._hidden
        with out.disk():
            out.reserve(2**16 + sum(2**9 + 2 * _bytes(frame) for frame in missing))
            for number, frame in enumerate(missing, self.frames - len(missing) + 1):
                name = f"mbs_frame{number:06d}"
                if has(out.file, name):  # Ctrl-C had come while it was being written.
                    del out.file[name]
                write_frame(out.file.create_group(name), frame)
            out.file.flush()

    def close(self) -> None:
        """Write what waits; the file is complete before it takes its place."""
        if not self._hidden.file:
            return
        try:
            if self._waiting or self._behind:
                self._add()
            self._hidden.close(self._shown)
        finally:
            self._abandon()
        self.flushed = self.frames

    def _abandon(self) -> None:
        """Close both files; the one that is not at the target is removed."""
        self._shown.abandon()
        self._hidden.abandon()

    def __enter__(self) -> ProblemWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        self.close()


class ProblemFile:
    """Reads frames: ``with ProblemFile("problems.h5") as file: frame = file.read(1)``."""

    def __init__(self, path: str | os.PathLike) -> None:
        self._file = open_checked(path, WHAT, REMEDY, deep=False)
        self.path: str = os.path.realpath(path)
        try:
            with reading(self.path, WHAT):
                self.numbers = frame_numbers(self._file)
                """Numbers of the frames in ascending order."""
                self.attributes: dict[str, Any] = {name: attribute(self._file, name) for name in self._file.attrs}
            if not self.numbers and str(self.attributes.get("kind")) != KIND:
                raise RecordingError(
                    f"cannot read {self.path!r}: expected {WHAT}, got an HDF5 file without groups mbs_frame…; {REMEDY}"
                )
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[ProblemFrame]:
        return (self.read(number) for number in self.numbers)

    @property
    def states_normals(self) -> bool:
        """Whether the file states the direction of its normals; if not, from body 1 to body 2 is assumed."""
        return "normal_convention" in self.attributes

    def read(self, number: int) -> ProblemFrame:
        """Read and check one frame."""
        if number not in self.numbers:
            span = f"{self.numbers[0]} … {self.numbers[-1]}" if self.numbers else "none at all"
            raise RecordingError(f"cannot read frame {number} of {self.path!r}: expected one of {span}")
        with reading(self.path, WHAT):
            name = _name(self._file, number)
            probe(self.path, WHAT, name)
            try:
                return read_frame(member(self._file, name))
            except InputError as error:
                raise RecordingError(f"cannot read {name} of {brief(self.path, 100)}: {error}") from error
            except DAMAGE as error:
                reason = " ".join(str(error).split())[:90]
                raise RecordingError(
                    f"cannot read {name} of {brief(self.path, 100)}: expected a whole frame, got {reason}"
                ) from error

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> ProblemFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        self.close()


@contextmanager
def changed_problems(path: str | os.PathLike) -> Iterator[Any]:
    """A file of problems to be changed, for ``store_solver_data``; it takes its place as a whole at the end."""
    with changed(os.fspath(path), WHAT, REMEDY) as file:
        yield file


def store_solver_data(file: Any, number: int, name: str, arrays: Mapping[str, Any], **attributes) -> None:
    """Store arrays of a solver (a residual history) in ``solver_data/<name>`` of a frame, replacing earlier ones."""
    frame = member(file, _name(file, number))
    place = member(frame, "solver_data") if has(frame, "solver_data") else frame.create_group("solver_data")
    if has(place, name):
        del place[name]
    group = place.create_group(name)
    for key, value in arrays.items():
        group[key] = value
    for key, value in attributes.items():
        group.attrs[key] = value


def frame_numbers(file: Any) -> list[int]:
    return sorted(int(match[1]) for name in file if (match := FRAME.match(name)))


def write_frame(group: Any, frame: ProblemFrame) -> None:
    """Write a frame into an empty HDF5 group."""
    group["timestep"] = float(frame.timestep)
    group["timestep"].attrs["units"] = "s"
    group.attrs["time"], group.attrs["step"] = frame.time, frame.step
    for name, kind in GROUPS.items():
        part = group.create_group(name)
        for column, about in columns(kind).items():
            part[column] = getattr(getattr(frame, name), column)
            part[column].attrs["units"], part[column].attrs["meaning"] = about.unit, about.meaning
    data = group.create_group("solver_data")
    extras = {name: getattr(frame, name) for name in EXTRAS if getattr(frame, name) is not None}
    for name, arrays in {**frame.solver_data, **({OURS: extras} if extras else {})}.items():
        part = data.create_group(name)
        for column, value in arrays.items():
            part[column] = value
    for name in extras:
        data[OURS][name].attrs["units"], data[OURS][name].attrs["meaning"] = EXTRAS[name]


def read_frame(group: Any) -> ProblemFrame:
    """Read a frame from its HDF5 group; raises ``KeyError`` or ``InputError`` if it is faulty."""
    parts: dict[str, Any] = {}
    for name, kind in GROUPS.items():
        parts[name] = kind(**{column: _array(group, f"{name}/{column}") for column in columns(kind)})
    data: dict[str, dict[str, np.ndarray]] = {}
    if has(group, "solver_data"):
        place = member(group, "solver_data")
        for name in place:
            part = member(place, name)
            data[name] = {column: member(part, column)[()] for column in part}
    extras: dict[str, Any] = {name: value for name, value in data.pop(OURS, {}).items() if name in EXTRAS}
    timestep = np.asarray(_array(group, "timestep"), dtype=float)
    if timestep.size != 1:
        raise KeyError(f"a timestep of shape {timestep.shape}")
    return ProblemFrame(
        timestep=float(timestep.item()),
        **parts,
        **extras,
        solver_data=data,
        time=float(attribute(group, "time")) if "time" in group.attrs else 0.0,
        step=int(attribute(group, "step")) if "step" in group.attrs else 0,
    )


def _array(group: Any, path: str) -> Any:
    try:
        found = member(group, path)
    except KeyError:
        raise KeyError(f"none called {path}") from None
    return found[()]


def _name(file: Any, number: int) -> str:
    return next(name for name in file if (match := FRAME.match(name)) and int(match[1]) == number)


def _bytes(frame: ProblemFrame) -> int:
    """About as many bytes as a frame takes in a file; most are the headers of its arrays."""
    arrays = [getattr(getattr(frame, name), column) for name, kind in GROUPS.items() for column in columns(kind)]
    arrays += [np.asarray(x) for x in (frame.tangents, frame.restitution, frame.groups) if x is not None]
    arrays += [np.asarray(x) for data in frame.solver_data.values() for x in data.values()]
    return 2**15 + sum(2**10 + array.nbytes for array in arrays)
