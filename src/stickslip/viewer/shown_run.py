"""ShownRun: a simulation or recording in the viewer, with its bodies, contacts and curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stickslip.lab.compare.report.colours import method_colours
from stickslip.viewer.body_meshes import BodyMeshes, extent
from stickslip.viewer.canvas import add_floors, look_at
from stickslip.viewer.following import ROOT, Following
from stickslip.viewer.instruments import Instruments
from stickslip.viewer.moment import Moment
from stickslip.viewer.overlays import Overlay
from stickslip.viewer.plots import Track
from stickslip.viewer.replay import Replay
from stickslip.viewer.tendon_lines import TendonLines
from stickslip.viewer.watched import Watched

GHOST = 0.5
"""Opacity of all but the first of several runs."""


@dataclass
class ShownRun:
    """A simulation or recording in the viewer."""

    label: str
    colour: tuple[int, int, int]
    bodies: BodyMeshes
    overlay: Overlay
    tendons: TendonLines
    instruments: Instruments
    replay: Replay | None
    """None for a live simulation."""
    following: Following | None = None
    """What lets the camera follow a body of the first run."""
    track: Track = field(default_factory=Track)
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Values of the sensors at the moment that is shown."""

    def show(self, moment: Moment) -> None:
        self.bodies.show(moment.pose)
        self.overlay.show(moment.contacts)
        self.tendons.show(moment)
        self.instruments.show(moment)
        self.values = moment.sensor
        if self.following is not None:
            self.following.show(moment.pose)


def make_runs(server: Any, sources: Sequence[Watched | Replay], follow: str | None = None) -> list[ShownRun]:
    """Set floors and camera and make the runs; the view may ``follow`` a body of the first. A single run has the
    colours of its shapes; each of several has one colour, that of its method in reports."""
    first = sources[0]
    moment = first.moment() if isinstance(first, Watched) else first.moment(min(source.start for source in sources))
    centre, size = extent(first.header, moment.pose)
    following = Following(server, first.header, moment.pose, follow)
    add_floors(server, first.header, moment.pose, size)
    look_at(server, centre, size)
    force = first.pushes.weight if isinstance(first, Watched) else first.typical_force()
    labels = [source.name if isinstance(source, Watched) else source.label for source in sources]
    colours = list(method_colours(labels).values())
    runs = []
    for k, source in enumerate(sources):
        colour = rgb(colours[k])
        tint = colour if len(sources) > 1 else None
        overlay = Overlay(server, f"{ROOT}/contacts{k}", size, force, tint)
        runs.append(
            ShownRun(
                label=labels[k],
                colour=colour,
                bodies=BodyMeshes(server, f"{ROOT}/run{k}", source.header, tint, GHOST if k else 1.0, 1.0 + 0.006 * k),
                overlay=overlay,
                tendons=TendonLines(server, f"{ROOT}/tendons{k}", source.header, size, tint),
                instruments=Instruments(
                    server, f"{ROOT}/instruments{k}", source.header, size, overlay.metres_per_newton
                ),
                replay=None if isinstance(source, Watched) else source,
                following=following if k == 0 else None,
            )
        )
    return runs


def rgb(colour: str) -> tuple[int, int, int]:
    """Parse ``#rrggbb``."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
