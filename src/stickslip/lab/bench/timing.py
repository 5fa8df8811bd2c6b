"""Timing in turn, so that a busy machine slows all alike; and the growth of times with size."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from stickslip.progress import Progress

SLOPE_TARGET = 1.1
"""Of what is called linear."""

Key = TypeVar("Key")


def seconds(work: Callable[[int], Any], calls: int) -> float:
    """Per call, of a loop that takes the number of calls."""
    begin = time.perf_counter()
    work(calls)
    return (time.perf_counter() - begin) / calls


def interleaved(
    timed: Mapping[Key, Callable[[], float]],
    rounds: int,
    label: str,
    figure: Callable[[list[float]], float] = statistics.median,
) -> dict[Key, float]:
    """Median, or another ``figure``, [µs] of what each function returns [s], called in turn, round by round."""
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
    """One algorithm over the size of what it works on."""

    name: str
    sizes: list[int]
    times: list[float]
    """[µs] medians."""
    slope: float
    """Of log(time) over log(size); 1 is linear."""
    target: float | None
    """Of the slope; None: for information."""
    iterations: list[float] | None = None
    """Of a solver, by size."""
    unconverged: int | None = None
    """Calls in which the solver did not reach its tolerance, of one of each size."""


def growth(name: str, times: Mapping[int, float], target: float | None) -> Growth:
    """From times [µs] by size."""
    slope = float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])
    return Growth(name, list(times), list(times.values()), slope, target)
