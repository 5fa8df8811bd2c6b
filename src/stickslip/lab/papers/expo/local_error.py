"""Local integration error against time (Sec. VI-A), from which Figs. 2, 3 and 4 are made.

    e = mean over control steps of ‖x(t) ⊖ x̂(t; t − δt_c, x(t − δt_c))‖∞,    x = (q, v)

Every control step starts from the ground truth, contact memory included, and is integrated under the recorded control.
A control step that diverges has an infinite error, and so has the mean then.

Time is measured around the compiled call, less that of an empty one (no steps) right before it, since entering compiled
code from Python costs as much as a step. Every control step is repeated, short ones more often, and its shortest times
count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from stickslip.dynamics import Dynamics
from stickslip.lab.papers.expo.best_order import choose
from stickslip.lab.papers.expo.ground_truth import GroundTruth, ground_truth
from stickslip.lab.papers.expo.setups import (
    DAMPING,
    METHODS,
    STIFFNESS,
    TESTS,
    TRUTHS,
    Method,
    Sizes,
    Test,
    advance,
    control_steps,
    simulation,
    steps,
)
from stickslip.lab.papers.paper import Results
from stickslip.lab.papers.rows import Rows
from stickslip.lab.store import Store
from stickslip.progress import Progress
from stickslip.simulation import Simulation

LONG, SHORT = 5e-3, 2e-4
"""A control step that takes longer than LONG [s] is not repeated; one below SHORT [s], four times as often."""


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def put_back(sim: Simulation, truth: GroundTruth, k: int) -> None:
    """The ground truth at the beginning of control step k."""
    sim.state.q[:], sim.state.v[:] = truth.q[k], truth.v[k]
    sim.inputs.control[:] = truth.control[k]
    sim.stepper.remember({name: array[k] for name, array in truth.memory.items()})


def difference(dynamics: Dynamics, truth: GroundTruth, k: int, sim: Simulation) -> float:
    """‖x ⊖ x̂‖∞ at the end of control step k."""
    dq = dynamics.difference(sim.state.q, truth.q[k + 1])
    return float(max(np.abs(dq).max(), np.abs(truth.v[k + 1] - sim.state.v).max()))


def measure(
    truth: GroundTruth, test: Test, method: Method, dt: float, repeats: int, stiffness: float, damping: float
) -> dict[str, Any]:
    """Mean local error and time of one method with one step."""
    sim, n = simulation(test, method, dt, stiffness, damping), round(test.control_dt / dt)
    put_back(sim, truth, 0)
    advance(sim, n)  # compiles
    error, seconds, empty = (np.full(len(truth), np.inf) for _ in range(3))
    taken, failed = 0, sim.stepper.unconverged
    for k in range(len(truth)):
        done, most, well = 0, repeats, False
        while done < most:
            put_back(sim, truth, k)
            nothing, _ = timed(lambda: sim.stepper.advance(sim.state, sim.inputs, 0))
            something, well = timed(lambda: advance(sim, n))
            empty[k], seconds[k] = min(empty[k], nothing), min(seconds[k], something)
            done, taken = done + 1, taken + n
            most = 1 if something > LONG else 4 * repeats if something < SHORT else repeats
        if well:
            error[k] = difference(sim.dynamics, truth, k, sim)
    finite = np.isfinite(error)
    per_control_step = max(float((seconds - empty).mean()), 1e-9)
    return {
        "error": float(error.mean()) if finite.all() else None,
        "median": float(np.median(error)) if np.isfinite(np.median(error)) else None,
        "diverged": int((~finite).sum()),
        "unconverged": (sim.stepper.unconverged - failed) / taken,
        "control_steps": len(truth),
        "seconds": per_control_step,
        "real_time_factor": test.control_dt / per_control_step,
        "step_us": 1e6 * per_control_step / n,
    }


def local_error(
    store: Store, test: Test, method: Method, dt: float, n: int, repeats: int,
    stiffness: float = STIFFNESS, damping: float = DAMPING, truth: Callable[[], GroundTruth] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """A unit of work; ``error`` is None where it is infinite, or where the ground truth itself fell short."""
    parameters = {
        "test": test.name, "method": method.label, "dt": dt, "n": n, "control_dt": test.control_dt,
        "finest": TRUTHS[method.truth or method.label].finest, "repeats": repeats,
        "stiffness": stiffness, "damping": damping,
    }  # fmt: skip

    def compute() -> dict[str, Any]:
        reference = truth() if truth else ground_truth(store, test, method, n, stiffness, damping)
        if len(reference) < n:
            nothing = {"error": None, "median": None, "seconds": None, "real_time_factor": None, "step_us": None}
            return {**nothing, "unconverged": None, "diverged": n - len(reference), "control_steps": len(reference)}
        return measure(reference, test, method, dt, repeats, stiffness, damping)

    return store.unit("local", parameters, compute)


def study(store: Store, sizes: Sizes) -> Results:
    """All tests, methods and steps; and the best number of matrix products."""
    cases = [
        (TESTS[name], METHODS[label], dt)
        for name in sizes.tests
        for label in sizes.methods
        for dt in steps(TESTS[name], METHODS[label], sizes.stride)
    ]
    rows: Rows = []
    with Progress("Figs. 2 and 3: local errors", len(cases), "units") as bar:
        for test, method, dt in cases:
            bar.update(len(rows))
            rows.append(local_error(store, test, method, dt, control_steps(test, sizes), sizes.repeats))
    return {"local_error": rows, "orders": choose(rows)}
