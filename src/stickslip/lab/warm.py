"""Kernels of several methods compiled side by side, before they are needed.

Each method takes a step and records a frame in a process of its own, as many processes at a time as there are cores.
The compiled code stays in the cache, where every later process finds it.
"""

from __future__ import annotations

import inspect
import time as clock
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from stickslip.errors import StickslipError
from stickslip.lab.pool import DIED, Pool, available
from stickslip.methods.base import Method
from stickslip.methods.registry import METHODS, resolve
from stickslip.scenes import SCENES
from stickslip.simulation import Simulation

SCENE = "solo12-squat"
"""A robot on four feet: a scene that every method can simulate."""


def warm(
    methods: Sequence[str] | None = None, jobs: int | None = None, progress: bool | None = None
) -> dict[str, float | str]:
    """Compile the kernels of methods (default: of all); returns the seconds of each, or why it failed.

    Methods with more source begin first, since they take longest to compile.
    """
    names = list(METHODS) if methods is None else list(dict.fromkeys(methods))
    names.sort(key=lambda name: -source_size(name))
    with Pool(None, min(len(names), jobs or available())) as pool:
        answers = pool.map(_first_step, [(name,) for name in names], "compiling", lambda _: DIED, progress)
    return dict(zip(names, answers, strict=True))


def source_size(method: str | type[Method]) -> int:
    """Bytes of source in the folder of a method, which tell how long it compiles; 0 if there is no file."""
    with suppress(TypeError, OSError):
        folder = Path(inspect.getfile(resolve(method)[1])).parent
        return sum(path.stat().st_size for path in folder.rglob("*.py"))
    return 0


def _first_step(_: None, name: str) -> float | str:
    start = clock.perf_counter()
    setup = SCENES[SCENE].build()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Simulation(setup.scene, name).warm_up(setup.controller)
        except StickslipError as error:
            return str(error)
    return clock.perf_counter() - start
