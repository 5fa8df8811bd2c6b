"""Plots that follow the cursor: energies and contact forces over time, of one run or of several."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

import numpy as np

from stickslip.errors import RecordingError
from stickslip.record.layout import START, flat
from stickslip.viewer.moment import Moment
from stickslip.viewer.replay import Replay

BLOCK = 4096
"""Number of frames that are read at once, so that the viewer stays responsive."""
AGAIN = 1.5
"""[s] after which charts are sent again, because a chart in a newly opened tab has no width at first."""
POINTS = 400
"""Number of points along the time axis."""
CURSOR = "#d33"
SPIKE = (-1.0, 2.0, -1.0)
"""The line of the cursor on its own scale from 0 to 1, outside which it is cut off."""
ENERGY_COLOURS = {"kinetic": "#2a78b5", "gravity": "#6a9f3b", "springs": "#b07aa1", "total": "#222222"}
FORCE_COLOUR = "#c8443c"
WINDOWS = {"everything": None, "last 10 s": 10.0, "last 2 s": 2.0}
"""Choices for the length of the time axis [s]."""


class Track:
    """Energies (n, 4) [J] and normal forces (n,) [N] of the frames so far; 48 bytes a frame."""

    def __init__(self) -> None:
        self._rows = np.empty((1024, 6))
        self.size = 0
        self._broken = False

    @property
    def time(self) -> np.ndarray:
        return self._rows[: self.size, 0]

    def add(self, moment: Moment) -> None:
        if self.size and moment.time <= self._rows[self.size - 1, 0]:
            return
        self._append(np.array([[moment.time, *moment.energy, moment.normal_force]]))

    def extend(self, replay: Replay) -> bool:
        """Read one more block; return whether there are others."""
        log, first = replay.log, self.size
        stop = min(replay.frames, first + BLOCK)
        if stop <= first or self._broken:
            return False
        try:
            start = log.dataset(START.name)[first : stop + 1]
            force = log.dataset(flat("force"))[int(start[0]) : int(start[-1]), 0]
            frame = np.repeat(np.arange(stop - first), np.diff(start))
            columns = [
                log.dataset("time")[first:stop],
                *log.dataset("energy")[first:stop].T,
                log.dataset("contact_energy")[first:stop],
                np.bincount(frame, weights=force, minlength=stop - first),
            ]
        except (OSError, RuntimeError, ValueError) as error:
            self._broken = True  # report it only once
            raise RecordingError(f"cannot read {log.path!r}: {' '.join(str(error).split())}") from error
        self._append(np.stack(columns, axis=1))
        return stop < replay.frames

    def _append(self, rows: np.ndarray) -> None:
        need = self.size + len(rows)
        if need > len(self._rows):
            larger = np.empty((max(need, 2 * len(self._rows)), 6))
            larger[: self.size] = self._rows[: self.size]
            self._rows = larger
        self._rows[self.size : need] = rows
        self.size = need

    def sample(self, grid: np.ndarray) -> np.ndarray:
        """(len(grid), 5) energies and force at these times; a run that has ended keeps its last values. Values that a
        method does not provide are 0, because charts cannot show NaN."""
        if not self.size:
            return np.zeros((len(grid), 5))
        columns = np.nan_to_num(self._rows[: self.size, 1:]).T
        return np.stack([np.interp(grid, self.time, column) for column in columns], axis=1)


class Plots:
    """Two charts in the panel."""

    def __init__(self, gui: Any, labels: Sequence[str], colours: Sequence[tuple[int, int, int]]) -> None:
        self._many = len(labels) > 1
        hexes = [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in colours]
        if self._many:
            energies = forces = dict(zip(labels, hexes, strict=True))
        else:
            energies, forces = ENERGY_COLOURS, {"normal force": FORCE_COLOUR}
        self.energy = _chart(gui, "Total energy [J]" if self._many else "Energy [J]", energies)
        self.force = _chart(gui, "Sum of normal forces [N]", forces)
        self._drawn: tuple | None = None
        self.window = gui.add_dropdown("Time axis", tuple(WINDOWS), initial_value="everything")

    def show(self, tracks: Sequence[Track], cursor: float) -> None:
        """Draw the curves and the cursor; if a window is chosen, the time axis ends at the cursor."""
        drawn = (cursor, self.window.value, int(monotonic() / AGAIN), *((id(track), track.size) for track in tracks))
        if drawn == self._drawn:
            return
        self._drawn = drawn
        begin = min((track.time[0] for track in tracks if track.size), default=0.0)
        end = max((track.time[-1] for track in tracks if track.size), default=0.0)
        window = WINDOWS[self.window.value]
        if window is not None:
            begin, end = max(begin, cursor - window), min(end, max(cursor, begin + window))
        grid = np.linspace(begin, max(end, begin + 1e-3), POINTS)
        at = int(np.searchsorted(grid, cursor))
        grid = np.insert(grid, at, (cursor,) * len(SPIKE))
        samples = [track.sample(grid) for track in tracks]
        if self._many:
            energy = [sample[:, :4].sum(axis=1) for sample in samples]
        else:
            kinetic, gravity, springs = samples[0][:, 0], samples[0][:, 1], samples[0][:, 2:4].sum(axis=1)
            energy = [kinetic, gravity, springs, kinetic + gravity + springs]
        mark = np.full(len(grid), SPIKE[0])
        mark[at : at + len(SPIKE)] = SPIKE
        self.energy.data = (grid, *energy, mark)
        self.force.data = (grid, *(sample[:, 4] for sample in samples), mark)


def _chart(gui: Any, title: str, colours: dict[str, str]) -> Any:
    lines = [{"label": name, "stroke": colour, "width": 1.5} for name, colour in colours.items()]
    cursor = {"label": "now", "stroke": CURSOR, "width": 1.5, "scale": "cursor"}
    x = np.linspace(0.0, 1.0, 4)
    return gui.add_uplot(
        (x, *(np.zeros(4) for _ in lines), np.full(4, SPIKE[0])), ({"label": "t [s]"}, *lines, cursor), title=title,
        scales={"x": {"time": False, "auto": True}, "y": {"auto": True}, "cursor": {"range": (0.0, 1.0)}},
        legend={"show": True, "live": False}, height=210, padding=(10, 24, 0, 0),
    )  # fmt: skip
