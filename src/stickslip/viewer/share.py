"""Share recordings as one HTML page that plays offline in any browser.

The page contains viser's client, the scene and its motion. It is made by playing the recordings on a separate server,
so that open viewers are not disturbed.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

import numpy as np

from stickslip.progress import Progress
from stickslip.viewer.canvas import make_server, stop_server
from stickslip.viewer.replay import Replay
from stickslip.viewer.shown_run import make_runs

RATE = 30.0
"""Frames per second."""
MOST = 1800
"""Largest number of frames of a page; a longer recording has fewer per second."""


def html(
    replays: Sequence[Replay], *, cones: bool = False, tendons: bool = True, sensors: bool = True,
    thrusters: bool = True, shadows: bool = True, follow: str | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> str:  # fmt: skip
    """The text of the page; the options say what is drawn, and ``progress`` is that of ``Progress``."""
    server = make_server("127.0.0.1", _free_port(), shadows)
    try:
        start, end = min(r.start for r in replays), max(r.end for r in replays)
        runs = make_runs(server, replays, follow)
        for run in runs:
            run.overlay.cones, run.tendons.wanted = cones, tendons
            run.instruments.sensors, run.instruments.thrusters = sensors, thrusters
        serializer = server.get_scene_serializer()
        frames = int(np.clip(round((end - start) * RATE) + 1, 2, MOST))
        step = (end - start) / (frames - 1)
        with Progress("sharing", frames, "pictures", show=progress) as bar:
            for k in range(frames):
                for run, replay in zip(runs, replays, strict=True):
                    run.show(replay.moment(start + k * step))
                serializer.insert_sleep(max(step, 1e-3))
                bar.update(k + 1)
        return serializer.as_html()
    finally:
        stop_server(server)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
