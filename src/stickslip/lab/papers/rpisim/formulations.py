"""Sec. 5.3: the formulations beside each other, and what they owe to the tuning of tolerances.

*Inclusion.* The margin decides which contacts are handed to a formulation. For both pegs of Fig. 8 and a range of
margins: how far the peg ends from where it must be.

*Accuracy.* A block slides down a ramp; after one second it must have slid ½·g·(sin α − μ·cos α)·t². The errors of
these first-order methods are proportional to the step. The polygon of n friction directions is inscribed in the cone:
a block that slides along one of them feels all of the friction, halfway between two only cos(π/n) of it.
"""

from __future__ import annotations

from functools import partial
from math import cos, pi, sin
from typing import Any

import numpy as np

from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.rpisim.peg import CASES, FALL_STEPS, SCALES, Case, fall, free_fall
from stickslip.lab.papers.rpisim.setups import Sizes
from stickslip.lab.papers.store import Store
from stickslip.model.scene import Scene
from stickslip.simulation import Simulation

SLOPE, FRICTION, G = pi / 12, 0.1, 9.81
METHODS = ("stewart-trinkle", "anitescu-potra", "peg")
DIRECTIONS = (4, 6, 8, 16)


def missed(heights: list[float], scale: float, steps: int) -> float:
    """[m] from where the peg must be at the end; infinite where the run diverged."""
    if len(heights) <= steps:
        return float("inf")
    return abs(heights[-1] - (float(free_fall(steps)[-1]) if scale < 1.0 else (1.0 + scale) / 2))


def inclusion(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per clearance, method and margin."""
    result = []
    for name, scale in SCALES.items():
        steps = FALL_STEPS if scale < 1.0 else sizes.peg_steps
        for case in CASES:
            for margin in sizes.margins:
                chosen = Case(case.label, case.method, {**case.options, "margin": margin})
                parameters = {"label": case.label, "scale": scale, "steps": steps, "margin": margin}
                with quiet():
                    unit = store.unit("inclusion", parameters, partial(fall, chosen, scale, steps))
                result.append({
                    "clearance": name, "method": case.label, "margin": margin,
                    "error": missed(unit["heights"], scale, steps), "unconverged": unit["unconverged"],
                })  # fmt: skip
    return result


def block_on_ramp(heading: float) -> Scene:
    """A block that slides along ``heading`` [rad] of a plane; gravity is tilted instead of the plane."""
    down = np.array([sin(SLOPE) * cos(heading), sin(SLOPE) * sin(heading), -cos(SLOPE)])
    scene = Scene(gravity=tuple(G * down), name="ramp")
    scene.add_plane(friction=FRICTION)
    scene.add_box((0.2, 0.2, 0.05), pos=(0, 0, 0.025), mass=1.0, friction=FRICTION)
    return scene


def slid(method: str, dt: float, directions: int, heading: float) -> float:
    """[m] in one second."""
    sim = Simulation(block_on_ramp(heading), method=f"{method}/lemke", dt=dt, directions=directions)
    start = sim.state.q[:3].copy()
    sim.step(round(1.0 / dt))
    return float(np.linalg.norm(sim.state.q[:3] - start))


def slide(parameters: dict[str, Any]) -> dict[str, Any]:
    return {"distance": slid(**parameters)}


def truth(friction: float = FRICTION) -> float:
    """[m] in one second."""
    return 0.5 * G * (sin(SLOPE) - friction * cos(SLOPE))


def accuracy(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per method and step, and per method and number of directions, halfway between two of them."""
    result = []
    cases = [(m, dt, 8, 0.0) for m in METHODS for dt in sizes.steps]
    cases += [(m, min(sizes.steps), n, pi / n) for m in METHODS for n in DIRECTIONS]
    for method, dt, directions, heading in cases:
        parameters = {"method": method, "dt": dt, "directions": directions, "heading": heading}
        with quiet():
            unit = store.unit("slide", parameters, partial(slide, parameters))
        felt = FRICTION * (cos(heading) if heading else 1.0)
        result.append({
            **unit, "truth": truth(), "polygon": truth(felt), "error": abs(unit["distance"] - truth()),
        })  # fmt: skip
    return result
