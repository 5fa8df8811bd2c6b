"""``stickslip bench soak``: a million recorded steps of every compiled method, and whether its memory stays flat.

A motor shakes a table up and down under a ball and a box, so that contacts begin, slide and end all the time. The run
is recorded to a file. The memory of the process is read after every hundredth of the run; its growth is that of the
median over the last fifth against the median over the second fifth, when buffers have grown and kernels are compiled.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import nan, pi, sin
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from stickslip.errors import InputError, StickslipError, StickslipWarning
from stickslip.files import processors
from stickslip.lab.pool import DIED, Pool
from stickslip.lab.report import check_destinations, finish, terminal_table
from stickslip.lab.targets import Target
from stickslip.methods.registry import METHODS
from stickslip.model.scene import Scene
from stickslip.simulation import Recorder, Simulation

STEPS, QUICK_STEPS = 1_000_000, 20_000
PARTS = 100
"""How often memory is read."""
GROWTH = 0.01
"""Largest growth of memory, as a part of it."""
STATM = Path("/proc/self/statm")
"""Linux tells there how many pages of memory a process holds."""
IN_PYTHON = ("bilateral",)
"""Methods whose steps are Python over compiled kernels; a million of them take too long."""


@dataclass(frozen=True)
class Row:
    """One method."""

    method: str
    steps: int
    """Steps that were taken."""
    seconds: float
    frames: int
    """Frames in the recording."""
    memory: tuple[float, ...]
    """[MiB] after each part of the run."""
    error: str = ""
    """Why the run ended early."""

    @property
    def growth(self) -> float:
        """Growth of the memory from the second fifth of the run to the last, as a part of it."""
        fifth = PARTS // 5
        if len(self.memory) < PARTS:
            return nan
        return float(np.median(self.memory[-fifth:]) / np.median(self.memory[fifth : 2 * fifth]) - 1.0)


def shaken_table() -> Scene:
    """A ball and a box on a table that a motor shakes."""
    scene = Scene()
    table = scene.add_body("table", joint="slide", axis=(0, 0, 1), motor=True, damping=20.0)
    table.add_box((1.0, 1.0, 0.1), mass=5.0, friction=0.5)
    scene.add_sphere(0.1, pos=(-0.2, 0, 0.3), mass=0.5, friction=0.5)
    scene.add_box((0.1, 0.1, 0.1), pos=(0.2, 0, 0.3), mass=0.5, friction=0.5)
    return scene


def shake(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The motor's force [N]: a spring to a height that goes up and down, and the weight of all."""
    return np.array([6.0 * 9.81 + 2000.0 * (0.02 * sin(2.0 * pi * 2.0 * t) - q[0])])


def resident() -> float:
    """[MiB] of memory that this process holds."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def soak(folder: Path, method: str, steps: int) -> Row:
    """Record many steps of a method; an error of stickslip's ends them and is kept."""
    memory: list[float] = []
    begin, error, frames = time.perf_counter(), "", 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StickslipWarning)
        sim = Simulation(shaken_table(), method=method, dt=1e-4 if method in ("euler", "rk4") else None)
        sim.controller = shake
        try:
            with Recorder(sim, folder / f"{method}.h5", record_dt=100 * sim.dt) as recorder:
                for _ in range(PARTS):
                    sim.step(steps // PARTS)
                    memory.append(resident())
            frames = len(recorder.log().time)
        except StickslipError as problem:
            error = str(problem)
    return Row(method, sim.steps, time.perf_counter() - begin, frames, tuple(memory), error)


def table_of(rows: Sequence[Row]) -> Table:
    heads = ("method", "steps", "frames", "µs per step", "memory [MiB]", "growth", "")
    table = terminal_table("Memory of long recorded runs", heads)
    for row in rows:
        memory = f"{row.memory[-1]:.0f}" if row.memory else "–"
        cost = f"{1e6 * row.seconds / row.steps:.0f}" if row.steps else "–"
        table.add_row(row.method, f"{row.steps}", f"{row.frames}", cost, memory, f"{row.growth:+.2%}", row.error[:60])
    return table


def plot_rows(rows: Sequence[Row], ax: Any) -> None:
    for row in rows:
        ax.plot(np.arange(1, len(row.memory) + 1) * row.steps / max(1, len(row.memory)), row.memory, label=row.method)
    ax.set_xlabel("steps")
    ax.set_ylabel("memory [MiB]")
    ax.legend(fontsize=7)


def run_soak(quick: bool, json: Path | None, out: Path | None) -> bool:
    """Run every compiled method, print and write; True if no memory grows and no run ends early."""
    check_destinations(json, out)
    if not STATM.exists():
        raise InputError(
            "bench soak reads the memory of a process as Linux gives it, /proc/self/statm; run it on Linux"
        )
    steps = QUICK_STEPS if quick else STEPS
    methods = [name for name in METHODS if name not in IN_PYTHON]
    with tempfile.TemporaryDirectory(prefix="stickslip-soak-") as folder, Pool(Path(folder), processors()) as pool:
        rows = pool.map(
            soak, [(method, steps) for method in methods], "soak",
            lambda method, _: Row(method, 0, nan, 0, (), DIED),
        )  # fmt: skip
    aims = [Target(f"{row.method}: growth of memory", row.growth, GROWTH) for row in rows]
    numbers = {"rows": [{**asdict(row), "growth": row.growth} for row in rows]}
    return finish("soak", numbers, aims, [table_of(rows)], partial(plot_rows, rows), json, out)
