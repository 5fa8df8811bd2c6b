"""Actors: runs on the stage, each with its bodies, its contacts and its curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stickslip.lab.compare.report.colours import method_colours
from stickslip.viewer.figure import Figure, extent
from stickslip.viewer.live import Live
from stickslip.viewer.moment import Moment
from stickslip.viewer.overlays import Overlay
from stickslip.viewer.plots import Track
from stickslip.viewer.replay import Replay
from stickslip.viewer.stage import add_floors, look_at

GHOST = 0.5
"""Opacity of all but the first of several runs."""


@dataclass
class Actor:
    """One run on the stage."""

    label: str
    colour: tuple[int, int, int]
    figure: Figure
    overlay: Overlay
    replay: Replay | None
    """None of a live simulation."""
    track: Track = field(default_factory=Track)

    def show(self, moment: Moment) -> None:
        self.figure.show(moment.pose)
        self.overlay.show(moment.contacts)


def make_actors(server: Any, sources: Sequence[Live | Replay]) -> list[Actor]:
    """Floors, camera and actors; a single run has its own colours, several have one each, by method, as in
    reports."""
    first = sources[0]
    moment = first.moment() if isinstance(first, Live) else first.moment(min(source.start for source in sources))
    centre, size = extent(first.header, moment.pose)
    add_floors(server, first.header, moment.pose, size)
    look_at(server, centre, size)
    force = first.pushes.weight if isinstance(first, Live) else first.typical_force()
    labels = [source.name if isinstance(source, Live) else source.label for source in sources]
    colours = list(method_colours(labels).values())
    actors = []
    for k, source in enumerate(sources):
        colour = rgb(colours[k])
        tint = colour if len(sources) > 1 else None
        actors.append(
            Actor(
                label=labels[k],
                colour=colour,
                figure=Figure(server, f"/run{k}", source.header, tint, GHOST if k else 1.0, 1.0 + 0.006 * k),
                overlay=Overlay(server, f"/contacts{k}", size, force, tint),
                replay=None if isinstance(source, Live) else source,
            )
        )
    return actors


def rgb(colour: str) -> tuple[int, int, int]:
    """Of ``#rrggbb``."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
