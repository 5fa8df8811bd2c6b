"""Figs. 4 and 5: computation time over the number of contacts and of bodies.

As in the paper, the time of 100 steps of 0.01 s, the best of many runs, all from the same start; the steps are one
compiled call. Newton iterations are counted in a run of their own, which also looks for the lowest contact point.

How bodies start is not in the text. A hard landing takes the more iterations the more points land at once, which would
bend T(c) without the linear algebra having any part in it. So both start nearly at rest on the floor, such that a step
has about as many iterations at every size: the cylinder tilted by 0.01 rad, its lowest point 5 mm above the floor; the
chain in a zigzag, level, 1 mm above it and sliding sideways. Beside the paper's time, that of one Newton iteration.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.store import Store
from stickslip.lab.papers.variational.setups import DT, MANY, METHOD, STEPS, TOLERANCE, Sizes
from stickslip.model.model import Model
from stickslip.progress import Progress
from stickslip.scenes import SCENES
from stickslip.simulation import Simulation

CASES = {"cylinder": "contacts", "chain": "links"}
"""Scene, and which of its parameters grows."""
ZIGZAG, SIDEWAYS = 0.4, 0.5
"""[rad] to either side in turn; [m/s]."""


def build(scene: str, size: int) -> tuple[Model, np.ndarray, np.ndarray]:
    """(model, q, v) of the start."""
    start = {"height": 0.06, "tilt": 0.01} if scene == "cylinder" else {"height": 1e-3}
    model = SCENES[scene].build(**{CASES[scene]: size}, **start).scene.compile()
    q, v = model.state().q.copy(), np.zeros(model.nv)
    if scene == "chain":
        v[1] = SIDEWAYS
        for i in range(size):
            angle = ZIGZAG if i == 0 else 2.0 * ZIGZAG * (-1.0) ** i
            place = 3 if i == 0 else 4 * i + 3
            q[place : place + 4] = np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle)
    return model, q, v


def measure(scene: str, size: int, runs: int) -> dict[str, Any]:
    """Best time of the steps, and what they were like."""
    model, q, v = build(scene, size)
    with quiet():
        sim = Simulation(model, method=METHOD, dt=DT, tolerance=TOLERANCE)
        sim.set_state(q, v)
        sim.warm_up()
        start = sim.snapshot()
        iterations, lowest = count(sim)
        best = np.inf
        for _ in range(runs):
            sim.restore(start)
            begin = time.perf_counter()
            sim.step(STEPS)
            best = min(best, time.perf_counter() - begin)
    return {
        "contacts": size if scene == "cylinder" else size + 1,
        "bodies": model.nlink - 1,
        "milliseconds": 1e3 * best,
        "iterations": iterations / STEPS,
        "per_iteration": 1e6 * best / iterations,
        "lowest": lowest,
        "unconverged": int(sim.stepper.unconverged),
    }


def count(sim: Simulation) -> tuple[int, float]:
    """Newton iterations of all steps, and the lowest place of a contact point [m]."""
    links, offsets = sim.model.frames.link, sim.model.frames.pos
    total, lowest = 0, np.inf
    for _ in range(STEPS):
        sim.step()
        total += sim.stepper.iterations
        sim.observe()
        height = sim.kinematics.pos[links, 2] + np.sum(sim.kinematics.rot[links, 2] * offsets, axis=1)
        lowest = min(lowest, float(height.min()))
    return total, lowest


def study(store: Store, sizes: Sizes, scene: str) -> list[dict[str, Any]]:
    """One row per size."""
    result: list[dict[str, Any]] = []
    numbers = sizes.contacts if scene == "cylinder" else sizes.links
    with Progress(f"time of the {scene}", len(numbers)) as bar:
        for size in numbers:
            runs = sizes.runs if size <= MANY else max(2, sizes.runs // 5)
            parameters = {"scene": scene, "size": size, "runs": runs}
            result.append(store.unit("scaling", parameters, partial(measure, scene, size, runs)))
            bar.update(len(result))
    return result
