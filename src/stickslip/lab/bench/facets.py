"""``stickslip bench facets``: what the number of friction directions costs, and what it does to sliding bodies.

* A plate slides on a floor in several directions; its way until it stops beside v²/(2·μ·g).
* With a file of tosses of a real cube: each is simulated from its first frame, and the mean distance of the cube's
  centre from the measured one, over all frames, is given in sides of the cube. The file is an ``npz`` with ``start``,
  ``position``, ``quaternion``, ``velocity`` and ``angular_velocity`` (Pfrommer, Halm and Posa, CoRL 2020); μ = 0.18,
  nothing is fitted.
* Processor time of a step of Solo12 on its four feet.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from stickslip.errors import InputError, StickslipWarning
from stickslip.lab.report import check_destinations, finish, terminal_table
from stickslip.lab.targets import Target
from stickslip.model.scene import Scene
from stickslip.progress import Progress
from stickslip.scenes import SCENES
from stickslip.simulation import Simulation

DIRECTIONS = (4, 6, 8, 12, 16)
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("stewart-trinkle", {"directions": n}) for n in DIRECTIONS),
    ("coulomb", {}),
    *(("variational/pyramid", {"facets": n}) for n in (4, 8, 16)),
    ("variational/circular", {}),
)
HEADINGS = (0.0, 11.25, 15.0, 22.5, 30.0, 45.0)
"""Directions of sliding [degrees]: along a direction of friction, and midway between two of each number of them."""
FRAME = 1.0 / 148.0
"""[s] between two frames of a toss."""
SIDE, MASS, FRICTION = 0.1048, 0.37, 0.18
"""The side [m], the mass [kg] and the friction of the cube are the middles of the published estimates."""
ROUND_LATE = 0.02
"""Largest excess of the way with a round cone, whose only error is that of the step."""
SUBSTEPS = 4
"""Steps in a frame."""


@dataclass(frozen=True)
class Row:
    """One method."""

    method: str
    cone: str
    latest: float
    """Largest relative excess of the way of a plate over v²/(2·μ·g)."""
    toss: float | None
    """Mean error of tosses, in sides."""
    step: float
    """[µs] of a step of Solo12."""


def stopping_excess(method: str, options: dict[str, Any], headings: Sequence[float] = HEADINGS) -> float:
    """Slide a plate in several directions; the largest relative excess of its way."""
    scene, speed, friction = Scene(), 1.0, 0.3
    scene.add_plane(friction=friction)
    scene.add_box((0.2, 0.2, 0.02), pos=(0, 0, 0.01), mass=1.0, friction=friction)
    way, worst = speed**2 / (2 * friction * 9.81), 0.0
    for angle in np.deg2rad(headings):
        sim = Simulation(scene, method=method, dt=2e-3, **options)
        sim.set_state(v=[speed * np.cos(angle), speed * np.sin(angle), 0, 0, 0, 0])
        sim.step(350)
        worst = max(worst, float(np.hypot(*sim.state.q[:2])) / way - 1.0)
    return worst


def toss_error(method: str, options: dict[str, Any], file: Path, most: int | None = None) -> float:
    """Mean distance between simulated and measured centres over all frames of all tosses, in sides of the cube."""
    data = read_tosses(file)
    scene = Scene()
    scene.add_plane(friction=FRICTION)
    scene.add_box((SIDE, SIDE, SIDE), mass=MASS, friction=FRICTION)
    start, errors = data["start"], []
    for k in range(len(start) - 1)[slice(most)]:
        rows = slice(start[k], start[k + 1])
        x, quaternion = data["position"][rows], data["quaternion"][rows]
        v, w = data["velocity"][rows], data["angular_velocity"][rows]
        sim = Simulation(scene, method=method, dt=FRAME / SUBSTEPS, **options)
        # velocities are backward differences: the mean of two is that of the frame between them
        sim.set_state(np.concatenate([x[0], quaternion[0]]), np.concatenate([v[0] + v[1], w[0] + w[1]]) / 2)
        off = [0.0]
        for frame in x[1:]:
            sim.step(SUBSTEPS)
            off.append(float(np.linalg.norm(sim.state.q[:3] - frame)))
        errors.append(np.mean(off) / SIDE)
    return float(np.mean(errors))


def read_tosses(file: Path) -> dict[str, np.ndarray]:
    needed = ("start", "position", "quaternion", "velocity", "angular_velocity")
    try:
        with np.load(file) as stored:
            return {name: stored[name] for name in needed}
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{file}: expected an npz file with {', '.join(needed)}, got {error}") from None


def step_time(method: str, options: dict[str, Any], rounds: int) -> float:
    """[µs] processor time of a step of Solo12 on four feet, the least of several rounds."""
    sim = Simulation(SCENES["solo12-stand"].build().scene, method=method, dt=1e-3, **options)
    sim.step(10)
    start, least = sim.snapshot(), np.inf
    for _ in range(rounds):
        begin = time.thread_time()
        sim.step(20)
        least = min(least, (time.thread_time() - begin) / 20)
        sim.restore(start)
    return 1e6 * float(least)


def measure(method: str, options: dict[str, Any], quick: bool, tosses: Path | None) -> Row:
    """One row of the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StickslipWarning)
        toss = None if tosses is None else toss_error(method, options, tosses, 10 if quick else None)
        latest = stopping_excess(method, options)
        step = step_time(method, options, 5 if quick else 50)
    cone = f"{next(iter(options.values()))} directions" if options else "round"
    return Row(method, cone, latest, toss, step)


def table_of(rows: list[Row]) -> Table:
    table = terminal_table("Friction directions", ("method", "cone", "stops late by", "tosses off by", "Solo12 [µs]"))
    for row in rows:
        toss = "–" if row.toss is None else f"{row.toss:.1%} of a side"
        table.add_row(row.method, row.cone, f"{row.latest:.1%}", toss, f"{row.step:.0f}")
    return table


def plot_rows(rows: list[Row], ax: Any) -> None:
    """Time of a step over the lateness of a sliding plate."""
    for row in rows:
        ax.plot(100 * row.latest, row.step, "o", label=f"{row.method}, {row.cone}")
    ax.set_xlabel("stops late by [%]")
    ax.set_ylabel("step of Solo12 [µs]")
    ax.set_yscale("log")
    ax.legend(fontsize=7)


def run_facets(quick: bool, json: Path | None, out: Path | None, tosses: Path | None = None) -> bool:
    """Measure, print and write; True if round cones are exact."""
    check_destinations(json, out)
    rows = []
    with Progress("friction directions", len(CASES), "methods") as bar:
        for k, (method, options) in enumerate(CASES):
            rows.append(measure(method, options, quick, tosses))
            bar.update(k + 1)
    numbers = {"rows": [asdict(row) for row in rows]}
    late = max(row.latest for row in rows if row.cone == "round")
    aims = [Target("a round cone stops a plate late by, at most", late, ROUND_LATE)]
    return finish("facets", numbers, aims, [table_of(rows)], partial(plot_rows, rows), json, out)
