"""The largest step of a free-running simulation (Sec. VI-E, Table II).

Steps are the control step and its halves. *Stable* is what the authors call so: the state stays bounded (no NaN,
|v| ≤ 1e5). *Upright* is stricter: all the time the base is higher than half the ground truth's, and leans against it by
less than 45°. A controller that finds no torques any more ends a run as not stable.
"""

from __future__ import annotations

from math import cos, pi
from typing import Any

import numpy as np

from stickslip.errors import ControlError
from stickslip.lab.papers.expo.ground_truth import GroundTruth, ground_truth
from stickslip.lab.papers.expo.setups import (
    DAMPING,
    METHODS,
    TESTS,
    Method,
    Sizes,
    Test,
    advance,
    bundled,
    control_steps,
    simulation,
)
from stickslip.lab.papers.store import Store
from stickslip.progress import Progress

STEPPERS = ("expo", "euler", "implicit-euler", "semi-implicit-euler", "rk4")
MOST_HALVINGS = 10


def vertical(q: np.ndarray) -> np.ndarray:
    """(3,) the base's z axis in world axes; q begins with a free joint."""
    w, x, y, z = q[3:7]
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


def upright(q: np.ndarray, reference: np.ndarray) -> bool:
    return bool(q[2] > 0.5 * reference[2] and vertical(q) @ vertical(reference) > cos(pi / 4))


def free_run(test: Test, method: Method, dt: float, truth: GroundTruth) -> dict[str, Any]:
    """As long as the ground truth."""
    sim, controller, n = simulation(test, method, dt), bundled(test.name)[1], round(test.control_dt / dt)
    stands = True
    for k in range(len(truth)):
        ended = {"stable": False, "upright": False, "until": k * test.control_dt}
        try:
            sim.set_control(controller(k * test.control_dt, sim.state.q.copy(), sim.state.v.copy()))
        except ControlError:
            return {**ended, "why": "the controller found no torques"}
        if not advance(sim, n):
            return {**ended, "why": "the state is not bounded"}
        stands = stands and upright(sim.state.q, truth.q[k + 1])
    return {"stable": True, "upright": stands, "until": len(truth) * test.control_dt, "why": ""}


def damper_limit(test: Test) -> float:
    """[s] 2/(B·λ_max(Υ)) at the start: the longest step at which explicit Euler can stand the contacts' dampers."""
    sim = simulation(test, METHODS["euler"], 1e-5)
    sim.observe()
    c, n = sim.contacts.arrays, len(sim.contacts)
    W = sim.dynamics.delassus(sim.state.q, c.link1[:n], c.link2[:n], c.point[:n], c.axes[:n])
    return float(2.0 / (DAMPING * np.linalg.eigvalsh(W)[-1]))


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """For each test and method, from the control step down until the robot stays upright."""
    rows = []
    pairs = [(TESTS[name], METHODS[label]) for name in sizes.tests for label in STEPPERS if label in sizes.methods]
    with Progress("Table II: stability", len(pairs), "methods") as bar:
        for done, (test, method) in enumerate(pairs):
            bar.update(done)
            n = control_steps(test, sizes)
            for halvings in range(MOST_HALVINGS + 1):
                dt = test.control_dt / 2**halvings
                parameters = {
                    "test": test.name, "method": method.label, "dt": dt, "n": n, "control_dt": test.control_dt
                }  # fmt: skip

                def compute(test=test, method=method, dt=dt, n=n) -> dict[str, Any]:
                    return free_run(test, method, dt, ground_truth(store, test, METHODS["expo"], n))

                rows.append(store.unit("stability", parameters, compute))
                if rows[-1]["upright"]:
                    break
    return rows


def largest(rows: list[dict[str, Any]], test: str, method: str, what: str = "stable") -> float | None:
    """[s] the largest step with which a method is ``stable`` or ``upright``; None if there is none."""
    good = [row["dt"] for row in rows if row["test"] == test and row["method"] == method and row[what]]
    return max(good, default=None)
