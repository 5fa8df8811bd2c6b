"""What is computed, as data: the scenes are the bundled ones, with the parameters of the paper and of its program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip.scenes import SCENES, Setup
from stickslip.simulation import Simulation

DT = 0.01
"""[s] the step of the paper's examples."""
DIRECTIONS = 4
"""Friction directions of a contact in the reproduction."""
CURVE = 200
"""Most points of a residual history that are kept."""
EPSILON = 1e-5
"""Bound of the paper's stabilised joint errors [m, rad, m/s or rad/s]."""
RESTS = 1e-4
"""Limit of the large peg's distance from the top [m]."""
LOST = 1e-3
"""Limit of the part of the problems that stay unsolved: none."""
MARKERS = "osv^Dx+*P"
FLOOR = 1e-17
"""Drawn in place of zero on logarithmic axes."""


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    pendulum_seconds: float = 5.0
    peg_steps: int = 300
    """Steps of the peg that is too large; the other falls for a second."""
    stack: int = 5
    """Spheres along an edge."""
    stack_steps: int = 400
    samples: int = 50
    """Number of steps whose convergence is kept, spread over all steps."""
    grasp_seconds: float | None = None
    """None: the whole grasp."""
    database: tuple[str, ...] = ("peg", "sphere-stack", "loose-sphere-stack", "box-pile", "cart")
    """Captured steps of these scenes, by the names of ``solvers.SOURCES``."""
    margins: tuple[float, ...] = (1e-3, 1e-2, 3e-2, 5e-2, 1e-1, 3e-1)
    """Margins in the comparison of formulations [m]."""
    steps: tuple[float, ...] = (0.02, 0.01, 0.005, 0.0025)
    """Steps in the comparison of formulations [s]."""


FULL = Sizes()
QUICK = Sizes(
    pendulum_seconds=1.0, peg_steps=120, stack=3, stack_steps=40, samples=10, grasp_seconds=1.0,
    database=("peg", "sphere-stack"), margins=(1e-2, 1e-1), steps=(0.02, 0.01),
)  # fmt: skip


def build(scene: str, **parameters) -> Setup:
    """A bundled scene with parameters."""
    return SCENES[scene].build(**parameters)


def simulation(setup: Setup, method: str, dt: float = DT, **options: Any) -> Simulation:
    """A simulation of a set-up, at its start, with ``DIRECTIONS``."""
    sim = Simulation(setup.scene, method=method, dt=dt, user=setup.user, directions=DIRECTIONS, **options)
    if setup.velocity is not None:
        sim.set_state(v=setup.velocity)
    return sim


def thinned(history: np.ndarray) -> list[list[float]]:
    """Pairs [iteration, residual] of a history: all, or as many as a curve over log(iteration) needs."""
    last = len(history) - 1
    at = np.arange(last + 1)
    if last >= CURVE:
        at = np.unique(np.r_[0, np.round(np.geomspace(1, last, CURVE))].astype(int))
    return [[int(k), float(history[k])] for k in at]
