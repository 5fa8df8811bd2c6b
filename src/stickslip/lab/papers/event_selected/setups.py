"""What is computed, as data: the paper's systems with the numbers that it leaves open, and how much is computed.

Not in the text, and ours: the hopper's k/m = 200 1/s²; mass, length and time of the plate, width, stiffness and damping
of its bed. A bed has the same stiffness and damping in all, whatever the number of its springs, so that plates move
alike on every bed and times differ by the contacts alone; ``irregular`` also has beds of n times a spring's stiffness.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stickslip.lab.papers.event_selected.exact import Hop
from stickslip.lab.papers.event_selected.systems import GRAVITY

STIFFNESS = 200.0
"""k/m [1/s²], of the hopper's leg and of a whole bed."""
HOP = Hop(STIFFNESS, 2.0)
END = 2.0
"""Duration of the motions of hopper and plate [s]."""
DT = 2e-3
"""MuJoCo's step [s]."""
SAMPLES = 1000
"""Number of evenly spaced times at which an error is taken: the steps of MuJoCo."""
TABLE_START, TABLE_END = (-0.4, -0.15, 0.3), 0.5
"""Start and duration [s] of the order test."""
PLATE_LENGTH, BED_WIDTH = 6.0, 4.0
"""Length of the plate, a rod, and width of the bed, which is shorter [m]."""
DAMPING_RATIO = 0.1
"""Damping ratio of the plate on the whole bed."""
LEGS_START, LEGS_END = (1.2, 0.03, -0.02, 0.0, 0.0, 0.0), 0.8
"""Start, at rest and tilted [m, rad], and duration [s] of the hopper on three legs."""
SPRING_SHARE = 0.05
"""Stiffness and damping of a spring on beds of identical springs, in those of a whole bed of the others: MuJoCo's step
of 2 ms is then stable beyond 1000 of them."""
OURS, THEIRS = "C3", "C0"
"""Colours of our curves and of MuJoCo's, as in the paper: red and blue."""


class Legs(NamedTuple):
    """Three legs under a body of 1 kg: arguments of ``systems.legs_field``."""

    arms: np.ndarray
    """(3, 2) [m]."""
    inertia: float
    """Moment of inertia per kilogram [m²], the same for both tilts."""
    stiffness: float
    """Stiffness of a leg [1/s²], per kilogram."""
    preload: float
    """Preload of a leg [m/s²], per kilogram."""


def legs() -> Legs:
    """Feet at even angles on a circle of 0.15 m; preloads that would carry twice the weight."""
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    return Legs(0.15 * np.column_stack([np.cos(angles), np.sin(angles)]), 0.1, 500.0, 2.0 * GRAVITY / 3.0)


class Bed(NamedTuple):
    """Springs under a plate of 1 kg: arguments of ``systems.plate_field``."""

    tips: np.ndarray
    """(n,) [m]."""
    inertia: float
    """Moment of inertia per kilogram [m²]."""
    stiffness: float
    """Stiffness of one spring, per kilogram of the plate [1/s²]."""
    damping: float
    """Damping of one spring, per kilogram of the plate [1/s]."""


def bed(springs: int, share: float | None = None) -> Bed:
    """Evenly spaced; each with ``share`` of the whole stiffness and damping, None: 1 / springs."""
    share = 1.0 / springs if share is None else share
    return Bed(
        np.linspace(-0.5 * BED_WIDTH, 0.5 * BED_WIDTH, springs), PLATE_LENGTH**2 / 12.0,
        share * STIFFNESS, share * 2.0 * DAMPING_RATIO * np.sqrt(STIFFNESS),
    )  # fmt: skip


def plate_starts(number: int) -> np.ndarray:
    """(number, 6) at rest above the middle of the bed: z in (2, 3) m, θ in (−0.1, 0.1), the same for every bed."""
    rng = np.random.default_rng(20240517)
    result = np.zeros((number, 6))
    result[:, 1], result[:, 2] = rng.uniform(2.0, 3.0, number), rng.uniform(-0.1, 0.1, number)
    return result


def rms(difference: np.ndarray) -> float:
    """Root of the mean square over times and components."""
    return float(np.sqrt(np.mean(np.square(difference))))


def milliseconds(work: Callable[[], Any]) -> float:
    """Time of the second of two calls [ms]; the first one refills the caches after other work."""
    work()
    begin = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - begin)


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    order: int = 81
    """Values of ε in the order test."""
    hops: int = 1000
    """Number of hops of the endless hopper."""
    rounds: int = 200
    """Rounds in which the hopper's times are taken in turn."""
    precision: int = 9
    """Settings of each integrator in the hopper's diagram of time and error."""
    contacts: tuple[int, ...] = (2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100)
    beyond: tuple[int, ...] = (125, 150, 175, 200, 250, 300, 400, 500, 700, 1000)
    alike: tuple[int, ...] = (2, 10, 20, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1000)
    """Springs of the beds of Fig. 5.2 as in the paper."""
    identical: tuple[int, ...] = (10, 20, 50, 100, 125, 150, 175, 200, 250, 300, 400, 500, 700, 1000)
    """Springs of beds that become stiffer with their number."""
    starts: int = 120
    """Number of starts of the plate."""
    judged: int = 24
    """Number of starts whose errors are taken."""


FULL = Sizes()
QUICK = Sizes(
    order=25, hops=100, rounds=30, precision=5, contacts=(2, 20, 40, 60, 80, 100), beyond=(200, 1000),
    alike=(2, 25, 50, 75, 100, 300, 1000), identical=(50, 150, 400, 1000), starts=24, judged=4,
)  # fmt: skip
