"""Sharing: recordings as one page that plays in any browser, offline.

The page is viser's client with the scene and its motion inside. A stage of its own is played through and written down,
so that nobody who watches meanwhile sees it.
"""

from __future__ import annotations

import io
import socket
from collections.abc import Sequence
from contextlib import redirect_stdout

import numpy as np

from stickslip.viewer.actor import make_actors
from stickslip.viewer.replay import Replay
from stickslip.viewer.stage import make_server

RATE = 30.0
"""Frames a second."""
MOST = 1800
"""Frames of a page; a longer recording has fewer a second."""


def html(replays: Sequence[Replay], *, cones: bool = False, shadows: bool = True) -> str:
    """The page."""
    server = make_server("127.0.0.1", _free_port(), shadows)
    try:
        start, end = min(r.start for r in replays), max(r.end for r in replays)
        actors = make_actors(server, replays)
        for actor in actors:
            actor.overlay.cones = cones
        serializer = server.get_scene_serializer()
        frames = int(np.clip(round((end - start) * RATE) + 1, 2, MOST))
        step = (end - start) / (frames - 1)
        for k in range(frames):
            for actor, replay in zip(actors, replays, strict=True):
                actor.show(replay.moment(start + k * step))
            serializer.insert_sleep(max(step, 1e-3))
        return serializer.as_html()
    finally:
        with redirect_stdout(io.StringIO()):
            server.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
