"""The lecture's bilateral constraints: independent, redundant, and contradicting each other.

Points of one rigid block are held: by three of them its six degrees of freedom are gone, more are redundant. If it
spins, its points accelerate towards the axis, each differently, and no acceleration of the block stops all of them.
The reference is the pseudo-inverse of the Delassus matrix: least squares, smallest forces. Redundant constraints must
leave the motion as it is, conflicting ones have a least-squares answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stickslip.constraints.bilateral import Bilateral
from stickslip.lab.papers.lecture.setups import MASS, SIZE, Sizes, block
from stickslip.lab.papers.paper import Part, Results, grid, units
from stickslip.lab.papers.rows import table_of, where
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.model.loops import Constraint

SPIN = (0.3, -0.2, 2.0)
"""Angular velocity of the spinning block [rad/s]."""


class Case(NamedTuple):
    """Points of the block that are held."""

    points: int
    spinning: bool = False


CASES = {
    "one point": Case(1),
    "three points": Case(3),
    "12 points on one foot": Case(12),
    "12 points of a spinning foot": Case(12, spinning=True),
}


def hold(case: str) -> dict[str, Any]:
    """Accelerations and forces beside those of the pseudo-inverse."""
    points, spinning = CASES[case]
    model = block()
    angle = 2.0 * np.pi * np.arange(points) / points
    feet = [
        Constraint("connect", 0, 1, pos1=np.array([x, y, 0.0]), pos2=np.array([x, y, -SIZE[2] / 2]))
        for x, y in 0.08 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ]
    state, tau = model.state(), np.array([3.0, 1.0, 0.0, 0.2, 0.1, 0.3])
    v = np.array([0.0, 0.0, 0.0, *(SPIN if spinning else (0.0, 0.0, 0.0))])
    bilateral = Bilateral(model, feet)
    found = bilateral.solve(state.q, v, tau)
    J = bilateral.jacobian
    free = J @ found.free_acceleration + bilateral.gamma
    force = -np.linalg.pinv(bilateral.delassus, rcond=1e-10, hermitian=True) @ free
    inertia = np.concatenate([np.full(3, MASS), model.mj.body_inertia[1]])
    truth = found.free_acceleration + (J.T @ force) / inertia
    return {
        "rows": len(force),
        "rank": int(np.linalg.matrix_rank(J)),
        "residual": float(found.residual),
        "iterations": int(found.iterations),
        "change": float(np.abs(found.acceleration - truth).max() / np.abs(found.free_acceleration).max()),
        "force": float(np.abs(found.force - force).max()),
        "status": found.status,
        "conflicting": spinning,
    }


def study(store: Store, sizes: Sizes) -> Results:
    """One row per case."""
    return {"ranks": units(store, "ranks", grid(case=CASES), hold)}


def targets(results: Results) -> list[Target]:
    rows = results["ranks"]
    return [
        *(Target(f"bilateral, {row['case']}: change of the motion, relative", row["change"], 1e-8) for row in rows),
        *(
            Target(f"bilateral, {row['case']}: residual [m/s²]", row["residual"], 1e-8)
            for row in where(rows, conflicting=False)
        ),
    ]


def section(results: Results) -> str:
    return "\n".join([
        "## Bilateral contact: one solution, many, or none\n",
        "**The lecture:** *there might be one, redundant solutions or no solution at all*, as J has full rank, has "
        "not, or γ is outside its range. Proximal iterations answer all three; *change* is the largest difference "
        "of the accelerations from those of the pseudo-inverse, relative to those without constraints.\n",
        table_of(results["ranks"], {
            "case": "{case}", "rows": "{rows}", "rank of J": "{rank}", "residual [m/s²]": "{residual:.3g}",
            "iterations": "{iterations}", "change": "{change:.3g}",
        }),
    ])  # fmt: skip


BILATERAL = Part("bilateral", study, section, targets, tables=("ranks",))
