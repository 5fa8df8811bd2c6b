"""Fig. 8: a peg over a hole that leaves 5 µm on each side, and one that is 5 µm too large on each side.

The first must fall as if nothing were there (v ← v − g·h, z ← z + v·h), the second must rest on top at z = 1.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import mujoco
import numpy as np

from stickslip.errors import DivergedError
from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.rpisim.setups import DT, Sizes, build, simulation
from stickslip.lab.papers.store import Store

G = 9.81
FALL_STEPS = 100
TRAVEL = G * DT**2 * 32
"""[m] what the peg falls in the step that brings it to the top, its 32nd: contacts with the top must be found that far
ahead."""
SCALES = {"5 µm clearance": 0.99999, "5 µm too large": 1.00001}


class Case(NamedTuple):
    """One way to simulate it."""

    label: str
    method: str
    options: dict[str, Any]


CASES = (
    Case("PEG", "peg/lemke", {}),
    Case("PEG, the original's primary", "peg/lemke", {"primary": "smallest"}),
    Case("Stewart–Trinkle, filtered contacts", "stewart-trinkle/lemke", {}),
    Case("Stewart–Trinkle, anticipated contacts", "stewart-trinkle/lemke", {"detector": "peg"}),
    Case("Anitescu–Potra, filtered contacts", "anitescu-potra/lemke", {}),
    Case("Anitescu–Potra, anticipated contacts", "anitescu-potra/lemke", {"detector": "peg"}),
)
MUJOCO = "MuJoCo (dt = 1 ms)"


def free_fall(steps: int, start: float = 1.5) -> np.ndarray:
    """(steps + 1,) heights by semi-implicit Euler."""
    k = np.arange(steps + 1)
    return start - G * DT**2 * k * (k + 1) / 2


def fall(case: Case, scale: float, steps: int) -> dict[str, Any]:
    """Heights after each step, and how the solver fared."""
    sim = simulation(build("peg-in-hole", scale=scale), case.method, **case.options)
    heights, worst = [float(sim.state.q[2])], 0.0
    try:
        for _ in range(steps):
            sim.step()
            heights.append(float(sim.state.q[2]))
            worst = max(worst, float(sim.stepper.residual))
    except DivergedError:
        pass
    return {"heights": heights, "unconverged": int(sim.stepper.unconverged), "residual": worst}


def fall_in_mujoco(scale: float, steps: int) -> dict[str, Any]:
    """The same scene in MuJoCo, whose contacts are soft, at a tenth of the step."""
    model = build("peg-in-hole", scale=scale).scene.compile().mj
    model.opt.timestep = DT / 10
    data = mujoco.MjData(model)
    data.qpos[:] = build("peg-in-hole", scale=scale).scene.compile().state().q
    heights = [float(data.qpos[2])]
    for _ in range(steps):
        mujoco.mj_step(model, data, 10)
        heights.append(float(data.qpos[2]))
    return {"heights": heights, "unconverged": 0, "residual": 0.0}


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One entry per clearance and method."""
    result = []
    for name, scale in SCALES.items():
        steps = FALL_STEPS if scale < 1.0 else sizes.peg_steps
        for case in CASES:
            parameters = {"label": case.label, "scale": scale, "steps": steps}
            with quiet():
                unit = store.unit("peg", parameters, partial(fall, case, scale, steps))
            result.append({"clearance": name, **unit, "z": unit["heights"][-1], "top": max(unit["heights"])})
        parameters = {"label": MUJOCO, "scale": scale, "steps": steps}
        unit = store.unit("peg", parameters, partial(fall_in_mujoco, scale, steps))
        result.append({"clearance": name, **unit, "z": unit["heights"][-1], "top": max(unit["heights"])})
    return result
