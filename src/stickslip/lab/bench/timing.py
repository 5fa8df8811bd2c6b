"""Timing in turn, so that a busy machine slows everything alike; and the growth of times with size."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from rich.table import Table

from stickslip.lab.report import miss_style, terminal_table
from stickslip.lab.targets import Target
from stickslip.progress import Progress

SLOPE_TARGET = 1.1
"""Largest slope of log(time) over log(size) that counts as linear."""

Key = TypeVar("Key")


def seconds(work: Callable[[int], Any], calls: int) -> float:
    """Seconds per call of a loop; ``work`` takes the number of calls."""
    begin = time.perf_counter()
    work(calls)
    return (time.perf_counter() - begin) / calls


def interleaved(
    timed: Mapping[Key, Callable[[], float]],
    rounds: int,
    label: str,
    figure: Callable[[list[float]], float] = statistics.median,
) -> dict[Key, float]:
    """Median [µs], or another ``figure``, of the times [s] that the functions return; they are called in turn."""
    for work in timed.values():
        work()  # compiles
    samples: dict[Key, list[float]] = {key: [] for key in timed}
    with Progress(label, rounds, "rounds") as bar:
        for done in range(rounds):
            for key, work in timed.items():
                samples[key].append(1e6 * work())
            bar.update(done + 1)
    return {key: figure(values) for key, values in samples.items()}


@dataclass(frozen=True)
class Growth:
    """The times of one algorithm over the size of its problem."""

    name: str
    sizes: list[int]
    times: list[float]
    """Medians [µs]."""
    slope: float
    """Slope of log(time) over log(size); 1 is linear."""
    target: float | None
    """Largest slope allowed; None if there is no limit."""
    iterations: list[float] | None = None
    """Iterations of a solver, for each size."""
    unconverged: int | None = None
    """Number of sizes at which the solver did not reach its tolerance."""


def growth(name: str, times: Mapping[int, float], target: float | None) -> Growth:
    """Fit the slope to times [µs] by size."""
    slope = float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])
    return Growth(name, list(times), list(times.values()), slope, target)


def growth_targets(growths: Sequence[Growth]) -> list[Target]:
    return [Target(f"slope of {g.name}", g.slope, g.target) for g in growths if g.target is not None]


def growth_table(growths: Sequence[Growth]) -> Table:
    solving = any(g.iterations is not None for g in growths)
    of_solver = ("iterations", "unconverged") if solving else ()
    headings = ("what", "sizes", "median µs", *of_solver, "slope", "target")
    table = terminal_table("Growth: slope of log(time) over log(size)", headings)
    for g in growths:
        target = "for information" if g.target is None else f"≤ {g.target:g}"
        ends: tuple[str, ...] = (f"{g.sizes[0]} … {g.sizes[-1]}", f"{g.times[0]:.3g} … {g.times[-1]:.3g}")
        if solving:
            ends += ("", "") if not g.iterations else (" ".join(f"{k:g}" for k in g.iterations), f"{g.unconverged}")
        table.add_row(g.name, *ends, f"{g.slope:.2f}", target, style=miss_style(g.slope, g.target))
    return table
