"""What is computed, as data: the paper's bodies, steps and tolerance, and how a run is judged.

Parameters are the text's. Its time steps, printed as 0.01 ms and 0.001 ms, are read as 0.01 s and 0.001 s, which the
authors' released code has; of the hopper's head, 1 kg in the text and 0.5 kg there, the text's is taken. Not in the
text, and ours: how bodies start (``scaling``), the motions of hopper and quadruped, and the friction under the
quadruped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stickslip.lab.papers.paper import quiet
from stickslip.lab.targets import Target
from stickslip.model.model import Model
from stickslip.record import Log
from stickslip.scenes import SCENES, Setup
from stickslip.simulation import Simulation

METHOD, ROUND = "variational/pyramid", "variational/circular"
"""With the paper's pyramid of four facets; with the circular cone."""
TOLERANCE = 1e-6
DT, STEPS = 1e-2, 100
"""Step [s] and number of steps of Figs. 4 and 5."""
ROBOT_DT = 1e-3
"""Step of Figs. 6 to 8 [s]."""
MANY = 100
"""Bodies or contacts of the largest system in the paper."""
DEEPEST = 1e-8
"""Limit of what counts as no penetration [m]."""
NONE = 0.5
"""Limit of a number that must be 0."""


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    contacts: tuple[int, ...] = (2, 4, 6, 8, 10, 14, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 400, 700, 1000)
    """Contact points of the cylinder, even numbers."""
    links: tuple[int, ...] = (2, 4, 6, 8, 10, 14, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 400, 700, 1000)
    """Links of the chain."""
    runs: int = 100
    """Number of runs, the best of which counts; a fifth of it for systems larger than the paper's."""
    walking: float = 3.0
    """Duration of the quadruped's walk [s]."""
    robots: tuple[str, ...] = ("solo12", "a1")
    agreeing: float = 0.9
    """Duration of the motion that all methods make [s]."""
    steps: tuple[float, ...] = (2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4)
    """Steps of that motion [s]."""
    finest: float = 1.5625e-5
    """Step of its reference [s]."""
    stiffnesses: tuple[float, ...] = (1e4, 1e5, 1e6, 1e7, 1e8)
    """Contact stiffnesses [N/m]."""
    linkage: float = 600.0
    """Duration of the four-bar linkage's motion [s]."""
    pendulum: float = 3600.0
    """Duration of the double pendulum's motion [s]."""
    energy_steps: tuple[float, ...] = (1e-2, 5e-3, 2.5e-3)
    """Steps of the double pendulum [s]."""
    counted: tuple[str, ...] = ("cube drop", "sliding cube", "chain landing", "hopper-turn", "a1-walk")
    """Motions whose iterations are counted."""
    share: float = 1.0
    """Part of their duration that is simulated."""


FULL = Sizes()
QUICK = Sizes(
    contacts=(2, 10, 30, 100, 300, 1000), links=(2, 10, 30, 100, 300), runs=10, walking=1.6, robots=("solo12",),
    agreeing=0.8, steps=(2e-3, 1e-3, 5e-4), finest=1.25e-4, stiffnesses=(1e4, 1e6, 1e8),
    linkage=60.0, pendulum=120.0, counted=("cube drop", "sliding cube", "chain landing", "a1-walk"), share=0.5,
)  # fmt: skip


class Motion(NamedTuple):
    """A bundled scene, simulated and recorded in every step."""

    setup: Setup
    sim: Simulation
    log: Log


def play(scene: str, method: str, dt: float, time: float | None = None, **parameters: Any) -> Motion:
    """``time`` [s] of it; None: as ``stickslip run`` has it."""
    entry = SCENES[scene]
    setup = entry.build(**parameters)
    options: dict[str, Any] = {"tolerance": TOLERANCE} if method.startswith("variational") else {}
    with quiet():
        sim = Simulation(setup.scene, method=method, dt=dt, user=setup.user, **options)
        log = sim.run(time or entry.time, controller=setup.controller, control_dt=setup.control_dt, record_dt=dt)
    return Motion(setup, sim, log)


def places(model: Model, pose: np.ndarray, points: Sequence[str]) -> np.ndarray:
    """(frames, points, 3) of named frames, from poses of links (frames, nl, 7) [m]."""
    where = [model.frame(name) for name in points]
    link, offset = model.frames.link[where], model.frames.pos[where]
    w, u = pose[:, link, 3:4], pose[:, link, 4:]
    across = 2.0 * np.cross(u, offset)
    return pose[:, link, :3] + offset + w * across + np.cross(u, across)


def judge(motion: Motion) -> dict[str, Any]:
    """How the steps of a run were solved."""
    log = motion.log
    return {
        "steps": len(log.time) - 1,
        "unconverged": int(motion.sim.stepper.unconverged),
        "iterations": float(log.iterations[1:].mean()),
        "most_iterations": int(log.iterations.max()),
        "residual": float(np.max(log.residual[1:])),
    }


SOLVED = {
    "method": "{method}", "steps": "{steps}", "unconverged": "{unconverged}",
    "iterations of a step": "{iterations:.1f}", "most": "{most_iterations}", "largest residual": "{residual:.3g}",
    "lowest φ [m]": "{lowest:.3g}",
}  # fmt: skip
"""Columns of a table of what ``judge`` found, and of the lowest contact point."""


def solved(what: str, row: dict[str, Any]) -> list[Target]:
    """Every step converged, and nothing penetrated."""
    return [
        Target(f"{what}: steps that did not converge", row["unconverged"], NONE),
        Target(f"{what}: deepest penetration [m]", max(0.0, -row["lowest"]), DEEPEST),
    ]


def thinned(values: np.ndarray, most: int = 1500) -> list[Any]:
    """Every so many of the rows, for files."""
    return np.asarray(values)[:: max(1, -(-len(values) // most))].tolist()
