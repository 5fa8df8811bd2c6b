"""Sensitivity to contact stiffness and damping (Sec. VI-D, Fig. 4), and how deep contacts sink in.

Local errors on the trot, each stiffness and damping with its own ground truth: Expo and implicit Euler with 2 ms,
explicit Euler with 1/2 ms. The damping ratio is B/(2√K) as the paper writes it, that is, of a unit mass (1 kg) on one
contact; for the mass m that a contact really carries it is smaller by √m.

At rest the springs bear the weight: K·Σ depth = weight. That is checked on Solo12 standing under PD control.
"""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from stickslip.control import PD
from stickslip.lab.papers.expo.local_error import local_error
from stickslip.lab.papers.expo.setups import (
    METHODS,
    STIFFNESS,
    TESTS,
    Sizes,
    advance,
    quiet_simulation,
    weight,
    with_contacts,
)
from stickslip.lab.papers.store import Store
from stickslip.progress import Progress
from stickslip.scenes import standing

STEPS = {"expo": 2e-3, "implicit-euler": 2e-3, "euler": 0.5e-3}
"""[s] Sec. VI-D."""
RATIO = 0.5
"""Damping ratio while the stiffness varies."""
REST = 2.0
"""[s] of standing before the depth is read."""


def damping(stiffness: float, ratio: float) -> float:
    """B [N s/m] = 2·ratio·√(K·1 kg)."""
    return 2.0 * ratio * sqrt(stiffness)


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """Rows of local errors with ``varied`` = "stiffness" or "damping"."""
    test = TESTS["solo12-trot"]
    n = max(3, round(sizes.stiffness_seconds / test.control_dt))
    pairs = [("stiffness", K, RATIO) for K in sizes.stiffness]
    pairs += [("damping", STIFFNESS, ratio) for ratio in sizes.damping_ratio]
    units = [(*pair, label) for pair in pairs for label in STEPS if label in sizes.methods]
    rows = []
    with Progress("Fig. 4: stiffness and damping", len(units), "units") as bar:
        for done, (varied, K, ratio, label) in enumerate(units):
            bar.update(done)
            row = local_error(
                store, test, METHODS[label], STEPS[label], n, sizes.repeats, stiffness=K, damping=damping(K, ratio)
            )
            rows.append({**row, "varied": varied, "damping_ratio": ratio})
    return rows


def rest_depth(stiffness: float) -> dict[str, Any]:
    """K·Σ depth / weight of Solo12 after it has come to rest; Expo with 2 ms."""
    scene = standing("stand", "solo12", 4)
    robot = PD(kp=10.0, kd=0.2)
    model = with_contacts(scene.compile(), stiffness, damping(stiffness, RATIO))
    robot.bind(model)
    sim = quiet_simulation(model, METHODS["expo"], 2e-3)
    start = sim.state.q.copy()
    start[2] += weight(model) / 4 * (1.0 / STIFFNESS - 1.0 / stiffness)
    sim.set_state(start)
    for k in range(round(REST / 2e-3)):
        sim.set_control(robot(2e-3 * k, sim.state.q.copy(), sim.state.v.copy()))
        if not advance(sim, 1):
            return {"depth": None, "ratio": None}
    sim.observe()
    depth = -sim.contacts.arrays.gap[: len(sim.contacts)]
    return {"depth": float(np.mean(depth)), "ratio": float(stiffness * depth.sum() / weight(model))}


def depths(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    rows = []
    with Progress("penetration", len(sizes.stiffness), "units") as bar:
        for done, K in enumerate(sizes.stiffness):
            bar.update(done)
            rows.append(store.unit("depth", {"stiffness": K, "ratio": RATIO}, partial(rest_depth, K)))
    return rows
