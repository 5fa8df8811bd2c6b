"""The experiment of a comparison: a scene that every run builds anew, and the periods that all runs share."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from stickslip.errors import expected, number
from stickslip.model.scene import Scene
from stickslip.scenes import SCENES, Setup, find

LONGEST_STEP = 0.02
"""[s] longest time step that is tried in scenes that suggest none."""
MOST_FRAMES = 4000
"""Largest number of frames in a recording. Longer runs record every second, fourth, … step, at the same instants."""
CONTROL_STEP = 1e-3
"""[s] between calls of a controller whose scene does not say; it is the same for all methods."""


@dataclass(frozen=True)
class Experiment:
    """A scene with its duration. ``build()`` makes scene and controller anew, so that runs are independent."""

    name: str
    build: Callable[[], Setup]
    seconds: float
    """Simulated time [s]."""
    control_dt: float | None
    """[s] between calls of the controller; None without one."""
    longest: float
    """[s] longest time step that makes sense here."""

    def record_dt(self, dt: float) -> float:
        """[s] between frames at a time step dt.

        This is the step, doubled until the frames are few enough, but no longer than controls are held, because the
        work of actuators is computed from frame to frame.
        """
        every, longest = 1, self.control_dt or self.seconds
        while self.seconds / (every * dt) > MOST_FRAMES and 2 * every * dt <= longest * (1 + 1e-9):
            every *= 2
        return every * dt


def experiment(
    scene: str | Path | Scene | Setup, time: float | None = None, longest: float | None = None
) -> Experiment:
    """From a bundled scene's name, a model file, a Scene or a Setup; ``longest`` is the longest step asked for [s]."""
    own_dt, seconds = None, 2.0
    build: Callable[[], Setup]
    if isinstance(scene, str) and scene in SCENES:
        entry = SCENES[scene]
        name, build, seconds, own_dt = scene, entry.build, entry.time, entry.dt
    elif isinstance(scene, str | Path):
        name, setup, seconds = find(str(scene))
        build = _again(setup)
    elif isinstance(scene, Scene | Setup):
        setup = Setup(scene) if isinstance(scene, Scene) else scene
        name, build = setup.scene.name, _again(setup)
    else:
        raise expected("scene", "a bundled scene's name, a model file, a Scene or a Setup", scene)
    if time is not None:
        seconds = number("time", time, "a positive number of seconds, at most 1e6", above=0.0, most=1e6)
    setup = build()
    control_dt = None if setup.controller is None else setup.control_dt or max(CONTROL_STEP, longest or 0.0)
    sensible = max(longest or 0.0, 2.0 * own_dt if own_dt else LONGEST_STEP)
    return Experiment(name, build, seconds, control_dt, control_dt or sensible)


def _again(setup: Setup) -> Callable[[], Setup]:
    """A function that copies the controller, which may have a memory, for every run."""
    return lambda: setup._replace(controller=deepcopy(setup.controller))
