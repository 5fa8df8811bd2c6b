"""Stiffer and stiffer: which methods can take the step, as k → ∞.

The block falls by a centimetre on springs of stiffness K, damped alike (ζ = 1/2). The figure is the largest energy of
the motion over the energy at the start: 1 where energy only falls, more where the step is too long for the method.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stickslip.errors import DivergedError
from stickslip.lab.papers.lecture.setups import DT, MASS, SIZE, G, Sizes, block, corner_gaps
from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.store import Store
from stickslip.progress import Progress
from stickslip.simulation import Simulation

FALL = 0.01
"""[m]."""
SECONDS = 0.2
METHODS = ("euler", "semi-implicit-euler", "rk4", "implicit-euler", "expo", "relaxed/pgs", "coulomb/pgs")
BLOWN_UP = 1e6
"""Stands for a motion that ended in infinity."""


def fall(method: str, stiffness: float) -> dict[str, Any]:
    """Largest energy and deepest penetration."""
    model = block(FALL, stiffness=stiffness, damping=float(np.sqrt(stiffness * MASS / 4.0)))
    with quiet():
        sim = Simulation(model, method=method, dt=DT)
        try:
            log = sim.run(SECONDS, record_dt=DT)
        except DivergedError:
            return {"energy": BLOWN_UP, "depth": None}
    gaps = corner_gaps(log.q)
    springs = 0.5 * stiffness * np.sum(np.minimum(gaps, 0.0) ** 2, axis=1) if method != "coulomb/pgs" else 0.0
    energy = log.energy[:, 0] + MASS * G * (log.q[:, 2] - SIZE[2] / 2) + springs
    start = MASS * G * FALL
    return {"energy": float(min(BLOWN_UP, energy.max() / start)), "depth": float(max(0.0, -gaps.min()))}


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per method and stiffness."""
    result = []
    with Progress("stiffness", len(METHODS) * len(sizes.stiffnesses)) as bar:
        for method in METHODS:
            for stiffness in sizes.stiffnesses:
                parameters = {"method": method, "stiffness": stiffness}
                result.append(store.unit("stiffness", parameters, partial(fall, method, stiffness)))
                bar.update(len(result))
    return result
