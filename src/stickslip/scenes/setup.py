"""Setup and Entry: a bundled scene with its controller, initial velocity and default method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickslip.methods.base import Stage
from stickslip.model.scene import Scene
from stickslip.simulation import Controller


class Setup(NamedTuple):
    """A scene with its controller and initial velocity."""

    scene: Scene
    controller: Controller | None = None
    velocity: np.ndarray | None = None
    """(nv,) initial velocity."""
    control_dt: float | None = None
    """[s] between controller calls; None for the default of Simulation.run."""
    user: Stage | None = None
    """The user stage of its simulation, for forces that no motor applies."""


@dataclass(frozen=True)
class Entry:
    """A bundled scene."""

    build: Callable[..., Setup]
    """Function that makes the scene; all its parameters have defaults: ``SCENES["sphere-stack"].build(n=3)``."""
    time: float
    """[s] duration in ``stickslip run``."""
    summary: str
    method: str = "semi-implicit-euler"
    """Default method of ``stickslip run``."""
    dt: float | None = None
    """[s] time step for that method; None for the method's default."""
