"""The lecture's soft contact as k → ∞: which methods can take the step.

The block falls by a centimetre on springs of stiffness K, damped alike (ζ = 1/2). The figure is the largest energy of
the motion over the energy at the start: 1 where energy only falls, more where the step is too long for the method. The
lecture: soft contact is not relevant for k → ∞ without a stable integrator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.errors import DivergedError
from stickslip.lab.papers.lecture.setups import (
    DT,
    MARKERS,
    MASS,
    SIZE,
    G,
    Sizes,
    block,
    corner_gaps,
    finished,
    per_corner,
)
from stickslip.lab.papers.paper import Part, Results, grid, image, new_figure, table, units
from stickslip.lab.papers.rows import column, distinct, first, number, where
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.simulation import Simulation

FALL = 0.01
"""Height of the fall [m]."""
SECONDS = 0.2
METHODS = ("euler", "semi-implicit-euler", "rk4", "implicit-euler", "expo", "relaxed/pgs", "coulomb/pgs")
STABLE = ("implicit-euler", "expo", "relaxed/pgs", "coulomb/pgs")
BLOWN_UP = 1e6
"""Stands for a motion that ended in infinity."""


def fall(method: str, stiffness: float) -> dict[str, Any]:
    """Largest energy and deepest penetration."""
    model = block(FALL, stiffness=stiffness, damping=float(np.sqrt(stiffness * MASS / 4.0)))
    sim = Simulation(model, method=method, dt=DT, **per_corner(method))
    try:
        log = sim.run(SECONDS, record_dt=DT)
    except DivergedError:
        return {"energy": BLOWN_UP, "depth": None}
    gaps = corner_gaps(log.q)
    springs = 0.5 * stiffness * np.sum(np.minimum(gaps, 0.0) ** 2, axis=1) if method != "coulomb/pgs" else 0.0
    energy = log.energy[:, 0] + MASS * G * (log.q[:, 2] - SIZE[2] / 2) + springs
    start = MASS * G * FALL
    return {"energy": float(min(BLOWN_UP, energy.max() / start)), "depth": float(max(0.0, -gaps.min()))}


def study(store: Store, sizes: Sizes) -> Results:
    """One row per method and stiffness."""
    return {"stiffness": units(store, "stiffness", grid(method=METHODS, stiffness=sizes.stiffnesses), fall)}


def targets(results: Results) -> list[Target]:
    rows = results["stiffness"]
    worst = max((row for row in rows if row["method"] in STABLE), key=lambda row: row["energy"])
    explicit = max(row["energy"] for row in where(rows, method="euler"))
    return [
        Target(f"k → ∞: largest energy over the first of {worst['method']}", worst["energy"], 1.001),
        Target("k → ∞: 10 over the largest energy of explicit Euler, which is not stable", 10.0 / explicit, 1.0),
    ]


def draw(results: Results):
    """Energy and penetration over stiffness."""
    figure, axes = new_figure(1, 2, (12, 4.4))
    left, right = axes[0]
    for method, marker in zip(METHODS, MARKERS, strict=False):
        rows = where(results["stiffness"], method=method)
        left.loglog(column(rows, "stiffness"), column(rows, "energy"), marker + "-", label=method, alpha=0.8)
        deep = [(row["stiffness"], max(1e-12, row["depth"])) for row in rows if row["depth"] is not None]
        right.loglog(*zip(*deep, strict=True), marker + "-", alpha=0.8)
    left.set(ylabel="largest energy / energy at the start", title="energy (the upper edge: diverged)")
    right.set(ylabel="deepest penetration [m] (1e-12: none)", title="penetration")
    return finished(figure, axes, "stiffness of a contact [N/m], dt = 1 ms")


def section(results: Results) -> str:
    rows = results["stiffness"]
    columns = sorted(distinct(rows, "stiffness"))
    lines = [
        (method, *(number(first(rows, method=method, stiffness=K)["energy"]) for K in columns))
        for method in distinct(rows, "method")
    ]
    return "\n".join([
        "## Soft contact, stiffer and stiffer\n",
        image("stiffness_soft_contact", "A block falls by a centimetre on springs of stiffness K"),
        "**The lecture:** *not relevant to model a rigid interface (k → ∞), requires a stable integrator.* The table "
        "has the largest energy of the motion over the energy at the start; 1 is right, 1e+06 means that it "
        "diverged. The relaxed model has the same K and B and stays convex; the rigid one has none.\n",
        table(("method", *(f"K = {K:.0e}" for K in columns)), lines),
    ])  # fmt: skip


STIFFNESS_LIMIT = Part("stiffness", study, section, targets, {"stiffness_soft_contact": draw}, tables=("stiffness",))
