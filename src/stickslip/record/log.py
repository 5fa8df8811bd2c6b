"""Log: read access to a recording in memory or in a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from stickslip.attributes import IN_FRAMES, Named
from stickslip.errors import brief, check_options, expected, index, unknown
from stickslip.record import sums
from stickslip.record.header import Header
from stickslip.record.layout import CONTACT, CONTACT_NAMES, START, flat, table
from stickslip.record.reader import FileSource
from stickslip.summary import Summarised, Summary, counted, plural

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from stickslip.model.attach import Robot
    from stickslip.model.model import State
    from stickslip.record.export import Qpos


READ_WHOLE = 100_000
"""Largest number of contacts in a recording that are all read when those of one frame are asked for."""


class Contacts(NamedTuple):
    """The n contacts of one frame. Forces act on body 2; the world, if involved, is body 1."""

    pair: np.ndarray
    """(n,) pair of shapes."""
    link1: np.ndarray
    """(n,) body 1."""
    link2: np.ndarray
    """(n,) body 2."""
    point: np.ndarray
    """(n, 3) world [m]."""
    normal: np.ndarray
    """(n, 3) unit, from body 1 to body 2, world axes."""
    tangent: np.ndarray
    """(n, 3) tangent 1 in world axes; tangent 2 = normal × tangent 1."""
    gap: np.ndarray
    """(n,) negative when penetrating [m]."""
    force: np.ndarray
    """(n, 3) normal, tangent 1, tangent 2 [N]."""
    velocity: np.ndarray
    """(n, 3) velocity of body 2 relative to body 1: normal, tangent 1, tangent 2 [m/s]."""
    friction: np.ndarray
    """(n,) Coulomb coefficient μ."""


class Names(NamedTuple):
    links: tuple[str, ...]
    joints: tuple[str, ...]
    actuators: tuple[str, ...]
    constraints: tuple[str, ...]
    sensors: tuple[str, ...] = ()


IMAGE_OPTIONS = ("frame", "size", "camera", "contacts", "follow")
FILM_OPTIONS = ("path", "fps", "speed", *IMAGE_OPTIONS[1:])
"""Keywords of pictures and films."""


class Source(Protocol):
    """Where a log reads from: ``MemoryStore`` or ``FileSource``."""

    @property
    def header(self) -> Header: ...
    @property
    def path(self) -> str | None: ...
    @property
    def arrays(self) -> dict[str, Any]: ...
    @property
    def frames(self) -> int: ...
    @property
    def outcome(self) -> str: ...
    @property
    def last_good(self) -> tuple[float, np.ndarray, np.ndarray] | None: ...
    def check_open(self, what: str) -> None: ...
    def read(self, name: str, rows: int) -> np.ndarray: ...
    def rows(self, name: str, first: int, stop: int) -> np.ndarray: ...
    def refresh(self) -> None: ...
    def close(self) -> None: ...


def load(path: str | os.PathLike) -> Log:
    """Open a recording: finished, cut short by a kill, or still being written (then see ``Log.refresh``)."""
    return Log(FileSource(path))


class Log(Summarised, Named):
    """Arrays over the frames of a recording, read on first use and read-only; ``len(log)`` is the number of frames."""

    elsewhere = ("log", IN_FRAMES)

    def __init__(self, source: Source) -> None:
        self._source = source
        self._cache: dict[str, np.ndarray] = {}
        self._frames = source.frames

    def __reduce__(self) -> tuple:
        """A log of a file is pickled and copied as its path, one in memory as its arrays."""
        return (Log, (self._source,)) if self.path is None else (load, (self.path,))

    # The frames.

    @property
    def time(self) -> np.ndarray:
        """(frames,) simulated time [s]."""
        return self._array("time")

    @property
    def q(self) -> np.ndarray:
        """(frames, nq) joint coordinates."""
        return self._array("q")

    @property
    def v(self) -> np.ndarray:
        """(frames, nv) joint velocities."""
        return self._array("v")

    @property
    def control(self) -> np.ndarray:
        """(frames, nu) controls applied in the step that led to the frame."""
        return self._array("control")

    @property
    def act(self) -> np.ndarray:
        """(frames, na) activations of actuators with dynamics of their own (filters, integrators, muscles)."""
        return self._array("act")

    @property
    def pose(self) -> np.ndarray:
        """(frames, nl, 7) link frames in the world: position [m] and quaternion (w, x, y, z); link 0 is the world."""
        return self._array("pose")

    @property
    def energy(self) -> np.ndarray:
        """(frames, 3) kinetic, potential (gravity), elastic (springs of joints and tendons) [J]."""
        return self._array("energy")

    @property
    def contact_energy(self) -> np.ndarray:
        """(frames,) elastic energy in contact springs [J]."""
        return self._array("contact_energy")

    @property
    def steps(self) -> np.ndarray:
        """(frames,) steps taken since the start."""
        return self._array("steps")

    @property
    def wall(self) -> np.ndarray:
        """(frames,) computing time since the start [s]."""
        return self._array("wall")

    @property
    def status(self) -> np.ndarray:
        """(frames,) status code of the step; 0 is success."""
        return self._array("status")

    @property
    def iterations(self) -> np.ndarray:
        """(frames,) solver iterations of the step."""
        return self._array("iterations")

    @property
    def residual(self) -> np.ndarray:
        """(frames,) solver residual of the step."""
        return self._array("residual")

    @property
    def unconverged(self) -> np.ndarray:
        """(frames,) number of steps so far whose solver did not reach its tolerance."""
        return self._array("unconverged")

    @property
    def joint_error(self) -> np.ndarray:
        """(frames, nc, 2) position [m or rad] and velocity [m/s or rad/s] error of each joint that is a constraint, by
        ``names.constraints``; nc = 0 in joint coordinates."""
        return self._array("joint_error")

    def sensor(self, name: str) -> np.ndarray:
        """(frames, n) the values of a sensor, as ``sim.sensor(name)`` gives them."""
        names = self.header.sensor_names
        if name not in names:
            raise unknown("sensor", str(name), names)
        return self._array("sensor")[:, [k for k, other in enumerate(names) if other == name]]

    def dataset(self, name: str) -> Any:
        """The array in the file (or memory), for reading slices of it: ``dataset("pose")[::100]``.

        After a kill it may be longer than ``len(log)``; only the first ``len(log)`` frames are complete.
        """
        if name not in table():
            raise unknown("field", name, table())
        self._source.check_open(name)
        return self._source.arrays[name]

    def _array(self, name: str) -> np.ndarray:
        if name not in self._cache:
            if name == START.name:
                rows = self._frames + 1
            elif name.startswith("contact/"):
                rows = int(self.contact_start[-1])
            else:
                rows = self._frames
            values = self._source.read(name, rows).view()
            values.flags.writeable = False
            self._cache[name] = values
        return self._cache[name]

    # The contacts.

    @property
    def contact_start(self) -> np.ndarray:
        """(frames + 1,) frame i has the flat contacts contact_start[i] … contact_start[i + 1] − 1."""
        return self._array(START.name)

    def contact(self, name: str) -> np.ndarray:
        """One field of all contacts of all frames, one after another: ``log.contact("force")`` is (n, 3)."""
        if name not in CONTACT_NAMES:
            raise unknown("contact field", name, CONTACT_NAMES)
        return self._array(flat(name))

    def contact_frame(self) -> np.ndarray:
        """(n,) the frame of each flat contact."""
        return np.repeat(np.arange(len(self)), np.diff(self.contact_start))

    def contacts(self, frame: int) -> Contacts:
        """The contacts of one frame; −1 is the last."""
        first, stop = self.contact_start[index("frame", frame, len(self)) :][:2]
        return Contacts(*(self._contact_rows(flat(f.name), first, stop) for f in CONTACT))

    def _contact_rows(self, name: str, first: int, stop: int) -> np.ndarray:
        """One field of the contacts of one frame; a long array, which may have gigabytes, is not read as a whole."""
        if name in self._cache or self.contact_start[-1] <= READ_WHOLE:
            return self._array(name)[first:stop]
        values = self._source.rows(name, first, stop).view()
        values.flags.writeable = False
        return values

    def contact_count(self) -> np.ndarray:
        """(frames,) number of contacts."""
        return np.diff(self.contact_start)

    def contact_force(self, link: int | str | Robot | Sequence[int | str] | None = None) -> np.ndarray:
        """(frames,) sum of the normal forces [N]; with ``link``, only of the contacts of that link, of several links,
        or of a robot, as ``scene.load`` gave it."""
        return sums.normal_force(self, None if link is None else self._links(link))

    def net_contact_force(self, link: int | str | Robot | Sequence[int | str]) -> np.ndarray:
        """(frames, 3) total contact force on a link, on several, or on a robot, in world axes [N]."""
        return sums.net_force(self, self._links(link))

    def penetration(self) -> np.ndarray:
        """(frames,) depth of the deepest contact; 0 where nothing penetrates [m]."""
        return sums.penetration(self)

    # The header and the outcome.

    @property
    def header(self) -> Header:
        """The constant data: sizes, the tree, the place of each joint in q and v, shapes and mesh vertices."""
        return self._source.header

    @property
    def names(self) -> Names:
        h = self.header
        sensors = tuple(dict.fromkeys(h.sensor_names))
        return Names(h.link_names, h.joint_names, h.actuator_names, h.constraint_names, sensors)

    @property
    def options(self) -> dict[str, Any]:
        """Options of the run: method, dt, …"""
        return self.header.options

    @property
    def versions(self) -> dict[str, str]:
        """Versions of Python, stickslip and the packages that influence the numbers."""
        return self.header.versions

    @property
    def created(self) -> str:
        """When the run began, ISO 8601, UTC."""
        return self.header.created

    @property
    def scene_xml(self) -> str:
        return self.header.scene_xml

    @property
    def path(self) -> str | None:
        """The file; None in memory."""
        return self._source.path

    @property
    def outcome(self) -> str:
        """ "complete", "interrupted", "diverged", "killed" (the process died) or "running"."""
        return self._source.outcome

    @property
    def last_good(self) -> State | None:
        """The last finite state of a run that diverged."""
        from stickslip.model.model import State

        found = self._source.last_good
        return None if found is None else State(found[1], found[2], found[0])

    def link(self, name: int | str) -> int:
        """Index of a link by name; an index is checked."""
        links = self.names.links
        if isinstance(name, str):
            if name not in links:
                raise unknown("link", name, links)
            return links.index(name)
        if not isinstance(name, int | np.integer) or not 0 <= name < len(links):
            raise expected("link", f"a name, or a number from 0 to {len(links) - 1}", name)
        return int(name)

    def _links(self, which: int | str | Robot | Sequence[int | str]) -> list[int]:
        """Indices of a link, of several links, or of all links of a robot."""
        if joints := getattr(which, "joints", ()):
            missing = [name for name in joints if name not in self.names.joints]
            if missing:
                raise unknown(f"joint of {brief(which)}", missing[0], self.names.joints)
            return sorted({int(self.header.joint_link[self.names.joints.index(name)]) for name in joints})
        return [self.link(each) for each in (which if isinstance(which, list | tuple) else (which,))]

    def refresh(self) -> Log:
        """Include what a running recorder has written since; every array is read again."""
        self._source.refresh()
        self._frames = self._source.frames
        self._cache.clear()
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Write this log to a file; for a killed recording, this makes a clean copy."""
        from stickslip.record.store import FileStore

        store = FileStore(path, self.header)
        try:
            block = {name: self._array(name) for name in table()}
            store.write(block | {START.name: self.contact_start[1:]})
            if (good := self._source.last_good) is not None:
                store.save_last_good(*good)
        finally:
            store.finish("interrupted" if self.outcome in ("killed", "running") else self.outcome)

    def plot(self, what: str = "energy", ax: Axes | None = None, **options: Any) -> Axes:
        """Draw one of ``record.plot.PLOTS`` against time and return the axes."""
        from stickslip.record.plot import plot

        return plot(self, what, ax, **options)

    # For other programs.

    def to_qpos(self) -> Qpos:
        """Times, positions, velocities and controls as MuJoCo lays them out, and the scene's MJCF."""
        from stickslip.record.export import to_qpos

        return to_qpos(self)

    def to_csv(self, path: str | os.PathLike, what: str = "frames") -> Path:
        """A table with a row per frame, or with ``what="contacts"`` per contact."""
        from stickslip.record.export import to_csv

        return to_csv(self, os.fspath(path), what)

    def image(self, frame: int = -1, **options: Any) -> np.ndarray:
        """(height, width, 3) uint8: a picture of one frame. Options are ``size`` in pixels, ``camera``
        (``record.picture.Camera``), ``contacts`` (whether forces are drawn) and ``follow`` (a link to keep in view)."""
        from stickslip.record.picture import Painter

        check_options("image", options, IMAGE_OPTIONS)
        return Painter(self, **options).image(frame)

    def frames(self, folder: str | os.PathLike, *, fps: float = 30.0, speed: float = 1.0, **options: Any) -> list[Path]:
        """Write ``frame-00000.png`` and so on, ``fps`` pictures per second of film, which shows ``speed`` simulated
        seconds; further options are those of ``image``."""
        from stickslip.record.picture.video import write_frames

        check_options("frames", options, FILM_OPTIONS)
        return write_frames(self, os.fspath(folder), fps, speed, **options)

    def video(self, path: str | os.PathLike, *, fps: float = 30.0, speed: float = 1.0, **options: Any) -> Path:
        """Write a film: MP4, or GIF if the name ends in .gif. Where FFmpeg is missing, a GIF takes the place of an MP4,
        with a warning. Returns the path; further options are those of ``image``."""
        from stickslip.record.picture.video import write_video

        check_options("video", options, FILM_OPTIONS)
        return write_video(self, os.fspath(path), fps, speed, **options)

    def gif(self, path: str | os.PathLike, *, fps: float = 25.0, speed: float = 1.0, **options: Any) -> Path:
        """Write an animated GIF; further options are those of ``image``."""
        from stickslip.record.picture.video import write_gif

        check_options("gif", options, FILM_OPTIONS)
        return write_gif(self, os.fspath(path), fps, speed, **options)

    def close(self) -> None:
        """Close the file; arrays that were read remain available."""
        self._source.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._frames

    def _summary(self) -> Summary:
        from stickslip.record.plot import PLOTS

        span = "no frames"
        if len(self):
            first, last = (float(self._source.rows("time", k, k + 1)[0]) for k in (0, len(self) - 1))
            span = f"{plural(len(self), 'frame')}, {first:g} to {last:g} s"
        contacts = plural(int(self._source.rows(START.name, len(self), len(self) + 1)[0]), "contact")
        h = self.header
        rows = {
            "method": ", ".join(f"{key} = {brief(value, 40)}" for key, value in list(self.options.items())[:6]),
            "links": counted(h.link_names[1:]),
            "joints": counted(h.joint_names),
            "actuators": counted(h.actuator_names),
            "sensors": counted(self.names.sensors),
            "outcome": self.outcome,
            "created": self.created,
            "file": self.path or "in memory",
            "plots": ", ".join(PLOTS),
        }
        return Summary(f"Log: {span}, {contacts}, {self.outcome}, {self.path or 'in memory'}", rows)
