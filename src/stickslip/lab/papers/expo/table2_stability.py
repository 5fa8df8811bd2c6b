"""Table II: the largest step of a free-running simulation (Sec. VI-E).

Steps are the control step and its halves. *Stable* is what the authors call so: the state stays bounded (no NaN,
|v| ≤ 1e5). *Upright* is stricter: all the time the base is higher than half the ground truth's, and leans against it by
less than 45°. A controller that finds no torques any more ends a run as not stable. The targets: Expo and the
paper's algorithm stay stable at the paper's steps (paper's step / ours ≤ 1).
"""

from __future__ import annotations

from math import cos, pi
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as RichTable

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
    ms,
    simulation,
)
from stickslip.lab.papers.paper import Part, Results, table
from stickslip.lab.papers.rows import Rows, distinct, number, where
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.progress import Progress

STEPPERS = ("expo", "expo/paper", "euler", "implicit-euler", "semi-implicit-euler", "rk4")
MOST_HALVINGS = 10
PAPER = {
    "solo12-squat": {"expo": 40.0, "euler": 40 / 512, "implicit-euler": 20.0},
    "solo12-jump": {"expo": 10.0, "euler": 10 / 64, "implicit-euler": 5.0},
    "solo12-trot": {"expo": 2.0, "euler": 2 / 16, "implicit-euler": 2.0},
    "romeo-walk": {"expo": 5.0, "euler": 1.25, "implicit-euler": 10.0},
}
"""The paper's largest stable steps [ms]; those of its Expo stand beside ``expo/paper``, too."""


def vertical(q: np.ndarray) -> np.ndarray:
    """(3,) the base's z axis in world axes; q begins with a free joint."""
    w, x, y, z = q[3:7]
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


def upright(q: np.ndarray, reference: np.ndarray) -> bool:
    return bool(q[2] > 0.5 * reference[2] and vertical(q) @ vertical(reference) > cos(pi / 4))


def free_run(test: Test, method: Method, dt: float, truth: GroundTruth) -> dict[str, Any]:
    """A run with the test's controller, as long as the ground truth."""
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
    """2/(B·λ_max(Υ)) at the start: the longest step [s] at which explicit Euler is stable with the dampers."""
    sim = simulation(test, METHODS["euler"], 1e-5)
    sim.observe()
    c, n = sim.contacts.arrays, len(sim.contacts)
    W = sim.dynamics.delassus(sim.state.q, c.link1[:n], c.link2[:n], c.point[:n], c.axes[:n])
    return float(2.0 / (DAMPING * np.linalg.eigvalsh(W)[-1]))


def study(store: Store, sizes: Sizes) -> Results:
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
    return {"stability": rows}


def largest(rows: Rows, test: str, method: str, what: str = "stable") -> float | None:
    """The largest step [s] with which a method is ``stable`` or ``upright``; None if there is none."""
    return max((row["dt"] for row in where(rows, test=test, method=method) if row[what]), default=None)


def targets(results: Results) -> list[Target]:
    """Expo, and the paper's algorithm, are stable at the paper's steps."""
    found, rows = [], results["stability"]
    for label in (label for label in ("expo", "expo/paper") if label in distinct(rows, "method")):
        for test in distinct(rows, "test"):
            ours = largest(rows, test, label)
            ratio = PAPER[test]["expo"] * 1e-3 / ours if ours else float("inf")
            found.append(Target(f"Table II, {test}, {label}: paper's step / ours", ratio, 1.0))
    return found


def show(results: Results, console: Console) -> None:
    """The table in the terminal."""
    rows = results["stability"]
    tests = distinct(rows, "test")
    grid = RichTable(title="Table II: largest stable (upright) step \\[ms]")
    for heading in ("method", *tests):
        grid.add_column(heading, no_wrap=True, min_width=len(heading))
    for label in distinct(rows, "method"):
        pairs = ([ms(largest(rows, test, label, what)) for what in ("stable", "upright")] for test in tests)
        grid.add_row(label, *(f"{stable} ({stands})" for stable, stands in pairs))
    console.print(grid)


def section(results: Results) -> str:
    rows, lines, notes = results["stability"], [], []
    for test in distinct(rows, "test"):
        name = TESTS[test].paper_name
        for label in (label for label in STEPPERS if label in distinct(rows, "method")):
            stable, stands = (ms(largest(rows, test, label, what)) for what in ("stable", "upright"))
            lines.append((name, label, stable, stands, number(PAPER[test].get(label.removesuffix("/paper")))))
        euler, limit = largest(rows, test, "euler", "upright"), damper_limit(TESTS[test])
        notes.append(f"{name} {ms(euler)} ms, limit {ms(limit)} ms")
    return "\n".join([
        "## Table II: largest stable steps\n",
        "Free-running, [ms]. Stable: no NaN and |v| ≤ 1e5, as in the paper, and the controller still finds torques; "
        "upright: besides, the base keeps half its height and leans by less than 45° against the ground truth.\n",
        table(("test", "method", "stable", "upright", "paper"), lines),
        "*Differences from the paper.* What limits explicit Euler are the dampers, dt < 2/(B·λ_max(Υ)), so that the "
        f"inertia of our legs decides. It stays upright up to, and the limit in the stance of the start is: "
        f"{'; '.join(notes)}. Ours counts a run as lost as "
        "soon as its controller finds no torques; the paper's only when the state is not bounded. Implicit Euler "
        "depends on the Newton iteration: ours divides a step that does not converge.\n",
    ])  # fmt: skip


TABLE2 = Part("table2", study, section, targets, tables=("stability",), show=show)
