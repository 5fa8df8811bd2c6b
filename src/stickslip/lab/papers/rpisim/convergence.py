"""Fig. 9: how a solver converges, sampled over the collapse of a cube of spheres.

The natural merit is ‖min(z, A·z + b)‖∞ before each iteration. The paper shows the Fischer–Burmeister solver only; the
other iterative ones are run on the same stack beside it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.rpisim.setups import Sizes, build, simulation, thinned
from stickslip.lab.papers.store import Store
from stickslip.progress import Progress

SOLVERS = ("fischer-newton", "minmap-newton", "interior-point", "pgs")
RADIUS = 0.5


def collapse(solver: str, n: int, steps: int, samples: int) -> dict[str, Any]:
    """Residual histories of ``samples`` steps of the perturbed stack, and the deepest penetration of all steps."""
    sim = simulation(build("loose-sphere-stack", n=n), f"stewart-trinkle/{solver}", solver_options={"history": True})
    curves, counts, deepest, seconds = [], [], 0.0, []
    every = max(1, steps // samples)
    with Progress(f"{n}³ spheres by {solver}", steps, "steps") as bar:
        for k in range(steps):
            sim.step()
            result = sim.result
            assert result is not None
            seconds.append(result.seconds)
            counts.append(int(result.iterations))
            if k % every == 0:
                curves.append(thinned(result.history))
            gap = sim.contacts.arrays.gap[: len(sim.contacts)]
            deepest = max(deepest, -float(np.min(gap, initial=0.0)))
            bar.update(k + 1)
    return {
        "curves": curves, "iterations": counts, "unconverged": int(sim.stepper.unconverged), "depth": deepest,
        "seconds": float(np.median(seconds)),
    }  # fmt: skip


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    result = []
    for solver in SOLVERS:
        parameters = {"solver": solver, "n": sizes.stack, "steps": sizes.stack_steps, "samples": sizes.samples}
        with quiet():
            work = partial(collapse, solver, sizes.stack, sizes.stack_steps, sizes.samples)
            result.append(store.unit("convergence", parameters, work))
    return result
