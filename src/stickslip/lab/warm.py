"""Kernels of several methods compiled side by side, before they are needed.

Each method takes a step and records a frame in a process of its own, as many processes at a time as there are cores.
The compiled code stays in the cache, where every later process finds it.
"""

from __future__ import annotations

import inspect
import time as clock
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path

from stickslip.errors import StickslipError
from stickslip.files import processors
from stickslip.lab.pool import DIED, Pool
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

    Methods with more source begin first, since they take longest to compile. Methods of one folder share most kernels,
    so that the first of every folder begins before the second of any: no two processes compile the same.
    """
    names = in_order(METHODS if methods is None else dict.fromkeys(methods))
    with Pool(None, min(len(names), jobs or processors())) as pool:
        answers = pool.map(_first_step, [(name,) for name in names], "compiling", lambda _: DIED, progress)
    return dict(zip(names, answers, strict=True))


def in_order(methods: Iterable[str]) -> list[str]:
    """The methods in the order in which they are compiled."""
    folders: dict[Path | None, list[str]] = {}
    for name in methods:
        folders.setdefault(folder_of(name), []).append(name)
    largest_first = sorted(folders, key=lambda folder: -source_size(folder))
    rounds = zip_longest(*(folders[folder] for folder in largest_first))
    return [name for each in rounds for name in each if name is not None]


def folder_of(method: str | type[Method]) -> Path | None:
    """The folder of a method's source; None if there is no file."""
    with suppress(TypeError, OSError):
        return Path(inspect.getfile(resolve(method)[1])).parent
    return None


def source_size(folder: Path | None) -> int:
    """Bytes of source in a folder, which tell how long its methods compile."""
    return 0 if folder is None else sum(path.stat().st_size for path in folder.rglob("*.py"))


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
