"""Setup and Entry: a scene with its controller, initial velocity, method and time step; scenes by name or by file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stickslip.errors import InputError, expected, listed, unknown
from stickslip.methods.base import Stage
from stickslip.methods.registry import resolve
from stickslip.model.importers.read import POLICIES
from stickslip.model.model import Model
from stickslip.model.scene import BUNDLED, Scene
from stickslip.simulation.stages import Controller
from stickslip.summary import plural

SECONDS = 2.0
"""[s] duration of ``stickslip run`` with a model file."""


class Setup(NamedTuple):
    """A scene with what belongs to its simulation; ``Simulation(setup)`` takes all of it over."""

    scene: Scene
    controller: Controller | None = None
    velocity: np.ndarray | None = None
    """(nv,) initial velocity."""
    control_dt: float | None = None
    """[s] between controller calls; None for the default of Simulation.run."""
    user: Stage | None = None
    """The user stage of its simulation, for forces that no motor applies."""
    method: str | None = None
    """The method that suits it; None for the choice of Simulation."""
    dt: float | None = None
    """[s] time step for that method; None for the method's default."""

    def __repr__(self) -> str:
        given = {"controller": self.controller, "start velocity": self.velocity, "user stage": self.user}
        parts = [name for name, value in given.items() if value is not None]
        by = [] if self.method is None else [self.method if self.dt is None else f"{self.method}, dt = {self.dt:g} s"]
        return f"<Setup of {self.scene!r}{''.join(f', {part}' for part in parts + by)}>"


@dataclass(frozen=True)
class Entry:
    """A bundled scene."""

    make: Callable[..., Setup]
    """Function that makes the scene; all its parameters have defaults."""
    time: float
    """[s] duration in ``stickslip run``."""
    summary: str
    method: str = "semi-implicit-euler"
    """Its method if none is named."""
    dt: float | None = None
    """[s] time step for that method; None for the method's default."""

    @property
    def build(self) -> Callable[..., Setup]:
        """``make``, whose setup has method and dt of the entry: ``SCENES["sphere-stack"].build(n=3)``."""
        return update_wrapper(partial(_built, self), self.make)


def _built(entry: Entry, *args: Any, **parameters: Any) -> Setup:
    return entry.make(*args, **parameters)._replace(method=entry.method, dt=entry.dt)


class Scenes(dict[str, Entry]):
    """Bundled scenes; an unknown name is answered with those that may be meant."""

    def __missing__(self, name: str) -> Entry:
        raise unknown("scene", name, self)

    def __repr__(self) -> str:
        return f"<{plural(len(self), 'bundled scene')}: {listed(self)}>"

    def __str__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {entry.summary}" for name, entry in self.items())


SCENES = Scenes()
"""The bundled scenes by name; ``stickslip.scenes`` fills it, and plugins may add to it."""


def find(name_or_path: str, *, floor: float | None = None, **load_options) -> tuple[str, Setup, float]:
    """(name, setup, seconds) of a bundled scene, or of a model file, optionally with a floor at a height [m]."""
    if name_or_path in SCENES:
        asked = [name for name, value in load_options.items() if value and value != POLICIES[0]]
        if floor is not None or asked:
            option = (["floor", *asked] if floor is not None else asked)[0].replace("_", "-")
            raise InputError(f"--{option} is for model files; {name_or_path!r} is a bundled scene: leave it out")
        entry = SCENES[name_or_path]
        return name_or_path, entry.build(), entry.time
    path = Path(name_or_path)
    if path.suffix or os.path.exists(path):
        scene = Scene.from_file(path, **load_options)
        if floor is not None:
            scene.add_plane(pos=(0, 0, floor))
        return path.stem, Setup(scene), SECONDS
    if name_or_path in BUNDLED:
        raise InputError(f"{name_or_path!r} is a robot, not a scene; try {name_or_path + '-drop'!r}")
    raise unknown("scene", name_or_path, SCENES)


def setup_of(what: Any) -> tuple[Scene | Model, Setup | None]:
    """(scene or model, setup) of what a simulation is made of: a Scene, a Model, a Setup, a bundled scene's name, or a
    model file; of the first two there is no setup."""
    if isinstance(what, Scene | Model):
        return what, None
    if isinstance(what, str | os.PathLike):
        _, what, _ = find(os.fspath(what))
    scene = what.scene if isinstance(what, Setup) else what
    if isinstance(what, Setup) and isinstance(scene, Scene | Model):
        return scene, what
    wanted = "a Scene, a Model, a bundled scene's name or a model file"
    raise expected("scene", wanted, type(scene).__name__, "ss.SCENES lists the names")


def own_choice(setup: Setup, method: Any, dt: float | None) -> tuple[Any, float | None]:
    """(method, dt) with those of the setup where none is given; its dt is for its method, whatever the variant."""
    if method is None:
        method = setup.method
    elif setup.method is None or resolve(method)[0] != resolve(setup.method)[0]:
        return method, dt
    return method, setup.dt if dt is None else dt


def one_after_another(first: Stage | None, second: Stage | None) -> Stage | None:
    """The user stage of a setup, and after it that which the caller gave."""
    if first is None or second is None:
        return first or second
    return partial(_both, first, second)


def _both(first: Stage, second: Stage, sim: Any) -> None:
    first(sim)
    second(sim)
