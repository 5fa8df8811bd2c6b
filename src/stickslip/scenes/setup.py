"""What a bundled scene is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickslip.methods.base import Stage
from stickslip.model.scene import Scene
from stickslip.simulation import Controller


class Setup(NamedTuple):
    """A scene with what drives it and how it starts moving."""

    scene: Scene
    controller: Controller | None = None
    velocity: np.ndarray | None = None
    """(nv,) at the start."""
    control_dt: float | None = None
    """[s] between controller calls; None: the default of Simulation.run."""
    user: Stage | None = None
    """The user stage of its simulation, for what no motor can do."""


@dataclass(frozen=True)
class Entry:
    """A bundled scene."""

    build: Callable[..., Setup]
    """Its parameters have defaults: ``SCENES["sphere-stack"].build(n=3)``."""
    time: float
    """[s] for ``stickslip run``."""
    summary: str
    method: str = "semi-implicit-euler"
    """What ``stickslip run`` simulates it with unless it is told otherwise."""
    dt: float | None = None
    """[s] the time step that goes with that method; None: the method's default."""
