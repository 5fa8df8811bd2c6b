"""Export recordings as MuJoCo's qpos arrays or as CSV tables. Numbers keep all their digits."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stickslip.errors import RecordingError, expected
from stickslip.files import write_whole
from stickslip.model.arrays import BALL, FREE
from stickslip.record.layout import CONTACT, START, flat

if TYPE_CHECKING:
    from stickslip.record.header import Header
    from stickslip.record.log import Log

BLOCK = 2000
"""Number of frames that are read at once, so that a long recording is never in memory as a whole."""


class Qpos(NamedTuple):
    """A recording in MuJoCo's layout: ``data.qpos[:] = qpos[i]; mujoco.mj_forward(model, data)`` shows frame i."""

    time: np.ndarray
    """(frames,) [s]."""
    qpos: np.ndarray
    """(frames, nq)."""
    qvel: np.ndarray
    """(frames, nv)."""
    ctrl: np.ndarray
    """(frames, nu) applied in the step that led to the frame."""
    xml: str
    """MJCF of the scene, with all digits: ``mujoco.MjModel.from_xml_string(xml)``."""

    def save(self, path: str | Path) -> Path:
        """Save as a NumPy archive: ``np.load(path)["qpos"]``; ``str(np.load(path)["xml"])``."""
        path = Path(path)
        if path.suffix.lower() != ".npz":
            raise expected("qpos", "a name that ends in .npz", str(path))
        with write_whole(path) as part, part.open("wb") as file:
            np.savez_compressed(file, **self._asdict())
        return path


def to_qpos(log: Log) -> Qpos:
    """Positions, velocities and controls as MuJoCo lays them out, and the scene's MJCF."""
    if not log.scene_xml:
        where = log.path or "this log"
        raise RecordingError(f"{where}: expected a recording that holds its scene as MJCF, got one without")
    return Qpos(log.time, log.q, log.v, log.control, log.scene_xml)


def to_csv(log: Log, path: str | Path, what: str = "frames") -> Path:
    """Write a row per frame (coordinates, velocities, controls, poses, energies, solver statistics), or with
    ``what="contacts"`` a row per contact. The first row names the columns, with units in brackets."""
    if what not in ("frames", "contacts"):
        raise expected("what", "'frames' or 'contacts'", what)
    path = Path(path)
    rows = _frame_rows(log) if what == "frames" else _contact_rows(log)
    with write_whole(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def _numbered(names: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Each name with the number of times that it came before."""
    return ((names[:k].count(name), name) for k, name in enumerate(names))


def _frame_rows(log: Log) -> Iterator[list]:
    h = log.header
    axes = ("x [m]", "y [m]", "z [m]", "qw", "qx", "qy", "qz")
    poses = [f"pose {link} {axis}" for link in h.link_names[1:] for axis in axes]
    fields = {
        "time": ["time [s]"], "steps": ["steps"], "q": [f"q {name}" for name in coordinates(h)],
        "v": [f"v {name}" for name in velocities(h)], "control": [f"control {name}" for name in h.actuator_names],
        "act": [f"activation {i}" for i in range(h.sizes.na)], "pose": poses,
        "energy": ["kinetic energy [J]", "potential energy [J]", "joint spring energy [J]"],
        "contact_energy": ["contact spring energy [J]"], "iterations": ["iterations"], "residual": ["residual"],
        "joint_error": [f"{what} {name}" for name in h.constraint_names for what in ("joint error", "its rate")],
        "sensor": [f"sensor {name} {k}" for k, name in _numbered(h.sensor_names)],
        "status": ["status"], "wall": ["wall [s]"],
    }  # fmt: skip
    yield [name for names in fields.values() for name in names]
    for first in range(0, len(log), BLOCK):
        stop = min(first + BLOCK, len(log))
        parts = []
        for name in fields:
            values = np.asarray(log.dataset(name)[first:stop])
            parts.append((values[:, 1:] if name == "pose" else values).reshape(stop - first, -1).tolist())
        for row in zip(*parts, strict=True):
            yield [number for part in row for number in part]


def _contact_rows(log: Log) -> Iterator[list]:
    links = log.header.link_names
    columns = {
        "pair": ["pair"], "link1": ["link 1"], "link2": ["link 2"], "point": [f"point {axis} [m]" for axis in "xyz"],
        "normal": [f"normal {axis}" for axis in "xyz"], "tangent": [f"tangent 1 {axis}" for axis in "xyz"],
        "gap": ["gap [m]"], "force": [f"force {axis} [N]" for axis in ("normal", "tangent 1", "tangent 2")],
        "velocity": [f"velocity {axis} [m/s]" for axis in ("normal", "tangent 1", "tangent 2")],
        "friction": ["friction"],
    }  # fmt: skip
    names = [field.name for field in CONTACT]
    yield ["frame", "time [s]", *(column for name in names for column in columns[name])]
    for first in range(0, len(log), BLOCK):
        stop = min(first + BLOCK, len(log))
        start = np.asarray(log.dataset(START.name)[first : stop + 1])
        frame = np.repeat(np.arange(first, stop), np.diff(start)).tolist()
        if not frame:
            continue
        time = np.repeat(np.asarray(log.dataset("time")[first:stop]), np.diff(start)).tolist()
        parts = []
        for name in names:
            values = np.asarray(log.dataset(flat(name))[start[0] : start[-1]])
            rows = values.reshape(len(frame), -1).tolist()
            parts.append([[links[b]] for (b,) in rows] if name in ("link1", "link2") else rows)
        for k, row in enumerate(zip(*parts, strict=True)):
            yield [frame[k], time[k], *(number for part in row for number in part)]


def coordinates(header: Header) -> list[str]:
    """(nq,) the names of the coordinates: joint names, with a suffix where a joint has several coordinates."""
    return _parts(header, {FREE: ("x", "y", "z", "qw", "qx", "qy", "qz"), BALL: ("qw", "qx", "qy", "qz")})


def velocities(header: Header) -> list[str]:
    """(nv,) the names of v."""
    return _parts(header, {FREE: ("x", "y", "z", "wx", "wy", "wz"), BALL: ("wx", "wy", "wz")})


def _parts(header: Header, parts: dict[int, tuple[str, ...]]) -> list[str]:
    found: list[str] = []
    for name, kind in zip(header.joint_names, header.joint_type, strict=True):
        found += [f"{name} {part}" for part in parts[int(kind)]] if int(kind) in parts else [name]
    return found
