"""A picture of a world of a task: the scene from the task's camera, with the place that shall be reached."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from stickslip.errors import StickslipWarning

if TYPE_CHECKING:
    from stickslip.episodes.episodes import Episodes

MARK = 0.02
"""[m] Radius of the ball that marks a place."""
GREEN = (0.1, 0.45, 0.15)
"""Its colour."""


def draw(episodes: Episodes, world: int, size: Sequence[int]) -> np.ndarray:
    """(height, width, 3) uint8."""
    from stickslip.record.picture import Camera, Painter
    from stickslip.record.picture.shapes import Solid
    from stickslip.record.picture.solids import sphere
    from stickslip.simulation import Recorder

    task, worlds = episodes.task, episodes.worlds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StickslipWarning)  # they were given when the worlds were made
        with Recorder(worlds.simulation(world)) as recorder:
            log = recorder.log()
    camera = dict(task.camera)
    if task.followed is not None:
        place = worlds.link_poses()[0][world, worlds.model.link(task.followed)]
        camera["target"] = tuple((np.array(camera["target"]) + place * (1, 1, 0)).tolist())
    painter = Painter(log, size, Camera(**camera))  # type: ignore[arg-type]
    point = task.mark(episodes.goals[world])
    if point is not None:
        painter.solids.append(Solid(partial(sphere, radius=MARK), 0, point, np.eye(3), MARK, np.array(GREEN)))
    return painter.image(-1)
