"""Problem files: HDF5 files with a group ``mbs_frame%06d`` per captured time step.

    mbs_frame000001/timestep, bodies/…, contacts/…, constraints/…      the tables of ``problems.py``
    mbs_frame000001/solver_data/<name>/…                               residual histories of solvers

Every frame is flushed before it gets its name, so that a killed run leaves a readable file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

import numpy as np

from stickslip.errors import InputError, RecordingError
from stickslip.problem_files.problem_frame import GROUPS, ProblemFrame, columns
from stickslip.record.header import PACKAGES, versions
from stickslip.record.store import check_target

KIND = "multibody contact problems"
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
        import h5py

        self.path = check_target(path)
        there = os.path.exists(self.path) and os.path.getsize(self.path) > 0
        if there:
            ProblemFile(self.path).close()  # refuses to overwrite a file that is not a problem file
        try:
            # Later HDF5 formats mark an open file, and the mark would stay after a kill.
            self._file = h5py.File(self.path, "a" if append else "w", libver="earliest")
            attributes = {**CONVENTIONS, "versions": json.dumps(versions(PACKAGES)), "scene": scene, **provenance}
            for name, value in attributes.items():
                self._file.attrs[name] = value
            self.frames = max(frame_numbers(self._file), default=0)
            self._file.flush()
        except OSError as error:
            raise unwritable(self.path, error) from error

    def append(self, frame: ProblemFrame) -> int:
        """Write a frame; returns its number."""
        if not self._file:
            raise RecordingError(f"cannot write to {self.path!r}: expected an open writer, got a closed one")
        try:
            group = self._file.create_group(None)
            write_frame(group, frame)
            self._file.flush()
            self.frames += 1
            self._file[f"mbs_frame{self.frames:06d}"] = group
            self._file.flush()
        except (OSError, RuntimeError) as error:
            raise unwritable(self.path, error) from error
        return self.frames

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> ProblemWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        self.close()


class ProblemFile:
    """Reads frames: ``with ProblemFile("problems.h5") as file: frame = file.read(1)``."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = os.fspath(path)
        self._file = open_problems(self.path, "r")
        self.numbers = frame_numbers(self._file)
        """Numbers of the frames in ascending order."""
        self.attributes: dict[str, Any] = dict(self._file.attrs)
        if not self.numbers and self.attributes.get("kind") != KIND:
            self._file.close()
            raise RecordingError(
                f"cannot read {self.path!r}: expected a file of contact problems, got an HDF5 file without groups "
                "mbs_frame…; 'stickslip run SCENE --capture FILE' writes one"
            )

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
        name = _name(self._file, number)
        try:
            return read_frame(self._file[name])
        except InputError as error:
            raise RecordingError(f"cannot read {name} of {self.path!r}: {error}") from error
        except (KeyError, OSError, RuntimeError, AttributeError) as error:
            reason = " ".join(str(error).split())
            raise RecordingError(
                f"cannot read {name} of {self.path!r}: expected a whole frame, got {reason}"
            ) from error

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> ProblemFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        self.close()


def store_solver_data(path: str | os.PathLike, number: int, name: str, arrays: Mapping[str, Any], **attributes) -> None:
    """Store arrays of a solver (a residual history) in ``solver_data/<name>`` of a frame, replacing earlier ones."""
    with open_problems(os.fspath(path), "r+") as file:
        frame = file[_name(file, number)]
        place = frame.require_group("solver_data")
        if name in place:
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
    for name, part in group.get("solver_data", {}).items():
        data[name] = {column: part[column][()] for column in part}
    extras: dict[str, Any] = {name: value for name, value in data.pop(OURS, {}).items() if name in EXTRAS}
    timestep = np.asarray(_array(group, "timestep"), dtype=float)
    if timestep.size != 1:
        raise KeyError(f"a timestep of shape {timestep.shape}")
    return ProblemFrame(
        timestep=float(timestep.item()),
        **parts,
        **extras,
        solver_data=data,
        time=float(group.attrs.get("time", 0.0)),
        step=int(group.attrs.get("step", 0)),
    )


def _array(group: Any, path: str) -> Any:
    if path not in group:
        raise KeyError(f"none called {path}")
    return group[path][()]


def _name(file: Any, number: int) -> str:
    return next(name for name in file if (match := FRAME.match(name)) and int(match[1]) == number)


def open_problems(path: str, mode: str) -> Any:
    import h5py

    if os.path.isdir(path):
        raise RecordingError(f"cannot read {path!r}: expected a file, got a folder")
    if not os.path.exists(path):
        raise RecordingError(f"cannot read {path!r}: expected a file of contact problems, got no such file")
    try:
        if not h5py.is_hdf5(path):
            raise RecordingError(
                f"cannot read {path!r}: expected a file of contact problems, got one that is not HDF5; "
                "'stickslip run SCENE --capture FILE' writes one"
            )
        return h5py.File(path, mode)
    except RecordingError:
        raise
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())
        raise RecordingError(f"cannot read {path!r}: expected a whole HDF5 file, got {reason!r}") from error


def unwritable(path: str, error: Exception) -> RecordingError:
    reason = getattr(error, "strerror", None) or " ".join(str(error).split())
    return RecordingError(f"cannot write {path!r}: expected a working disk with space left, got {reason!r}")
