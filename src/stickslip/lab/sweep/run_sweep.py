"""``ss.sweep``: a function or a scene over a grid of parameters, on this machine or on Ray, continued after a kill."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stickslip.errors import names_keywords, true_or_false, whole
from stickslip.files import processors
from stickslip.lab.cluster import check_place, pool_on
from stickslip.lab.sweep.points import check_same, points_of, written
from stickslip.lab.sweep.sweep_file import SweepFile, check_store, read_store, write_table
from stickslip.lab.sweep.table import COMPLETE, Sweep, SweepRun
from stickslip.lab.sweep.tasks import lost_point, run_point, task_of
from stickslip.model.scene import Scene
from stickslip.record.header import versions
from stickslip.scenes import Setup


@names_keywords
def sweep(
    function: Callable[..., Any] | str | Path | Scene | Setup,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    *,
    store: str | os.PathLike | None = None,
    workers: int | None = None,
    on: str | None = None,
    retries: int = 2,
    seed: int = 0,
    again: bool = False,
    progress: bool | Callable[[float], None] | None = None,
) -> Sweep:
    """Run a function, or a scene, at every point of a grid; returns the results as a table.

    ``function`` takes the names of the grid as keywords, and returns a number, an array, or a mapping of names to
    numbers, texts and arrays. If it has an argument ``seed``, every run gets one of its own, made of ``seed`` and its
    place in the grid. In place of a function it may be a scene: a Scene, a Setup, a bundled scene's name or a model
    file; then the grid may have ``method``, ``dt``, ``duration`` [s], parameters of a bundled scene and options of the
    method, and every run gives its final q and v, time_per_step [s], energy_gained [J], steps and unconverged steps.

    ``grid`` is a mapping of names to lists of values, of which all combinations are run, or a list of mappings, one
    for each run. Results are kept in the file ``store`` when they arrive: the same call computes only what is missing
    there, also after a kill. ``workers`` processes work side by side (default: one per core), or tasks on Ray with
    ``on="ray"`` or ``on="ray://host:port"``. A run whose process dies is tried ``retries`` times more. Runs that raise
    an error keep its message, and the others go on; ``again`` computes those that are in the store once more.

    >>> result = ss.sweep("ball", {"method": ["expo", "coulomb"], "dt": [1e-3, 2e-3, 5e-3]}, store="ball.h5")
    >>> print(result.column("energy_gained"))
    """
    task, points = task_of(function), points_of(grid)
    seed, retries = whole("seed", seed, 0), whole("retries", retries, 0, 100)
    jobs = None if workers is None else whole("workers", workers, 1, 10_000)
    true_or_false("again", again)
    check_place(on)
    path = None if store is None else check_store(store)
    about = {
        "name": task.name, "function": task.identity, "seed": seed, "version": versions(("stickslip",))["stickslip"],
        "points": [{name: written(value, f"grid[{name!r}]") for name, value in point.items()} for point in points],
    }  # fmt: skip
    found = {} if path is None or not path.exists() else _earlier(path, about, points, again)
    left = [(k, point) for k, point in enumerate(points) if k not in found]
    computed = len(left)
    if left:
        task.check(point for _, point in left)
        file = None if path is None else SweepFile(path, about, found.values())

        def arrived(run: SweepRun) -> None:
            found[run.number] = run
            if file is not None:
                file.add(run)

        def lost(index: int, point: Mapping[str, Any]) -> SweepRun:
            return lost_point(seed, index, point)

        if on is None:
            jobs = min(jobs or processors(), len(left))
        try:
            with pool_on(on, (task, seed), jobs, function) as pool:
                pool.map(run_point, left, f"sweep of {task.name}", lost, progress, arrived, retries)
        finally:
            if file is not None:
                file.close()
    result = Sweep(task.name, tuple(found[k] for k in range(len(points))), store=path, computed=computed)
    if path is not None and left:
        write_table(result)
    return result


def _earlier(
    path: Path, about: Mapping[str, Any], points: Sequence[Mapping[str, Any]], again: bool
) -> dict[int, SweepRun]:
    """The results of a store by their number, with the parameters as they are given now."""
    stored, runs = read_store(path)
    check_same(str(path), stored, about)
    return {
        run.number: SweepRun(**{**vars(run), "parameters": points[run.number]})
        for run in runs
        if run.outcome == COMPLETE or not again
    }
