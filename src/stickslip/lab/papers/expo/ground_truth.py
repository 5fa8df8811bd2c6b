"""The ground truth of a method: the method itself with a step of 1/64 ms, under the test's controller.

Explicit Euler, the least accurate, takes steps eight times finer, as in the authors' code; so does semi-implicit Euler.
Versions of Expo that differ in the matrix exponential only share one ground truth: their differences are the error that
is looked for. So do the changes that lead from the paper's algorithm to ours, where the contact law is the same. State,
contact memory (anchors) and control are kept at the beginning of every control step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stickslip.errors import ControlError
from stickslip.lab.papers.expo.setups import DAMPING, STIFFNESS, TRUTHS, Method, Test, advance, bundled, simulation
from stickslip.lab.store import Store


@dataclass(frozen=True)
class GroundTruth:
    """n control steps."""

    q: np.ndarray
    """(n + 1, nq)."""
    v: np.ndarray
    """(n + 1, nv)."""
    control: np.ndarray
    """(n, nu)."""
    memory: dict[str, np.ndarray]
    """(n + 1, …) of the contact law."""

    def __len__(self) -> int:
        return len(self.control)


def follow(test: Test, method: Method, n: int, stiffness: float, damping: float) -> dict[str, np.ndarray]:
    """Simulate n control steps, or as many as end well, with the finest step."""
    sim, controller = simulation(test, method, method.finest, stiffness, damping), bundled(test.name)[1]
    substeps = round(test.control_dt / method.finest)
    q, v, control = [sim.state.q.copy()], [sim.state.v.copy()], []
    memory = [{name: array.copy() for name, array in sim.stepper.memory().items()}]
    for k in range(n):
        try:
            sim.set_control(controller(k * test.control_dt, sim.state.q.copy(), sim.state.v.copy()))
        except ControlError:
            break
        if not advance(sim, substeps):
            break
        control.append(sim.control.copy())
        q.append(sim.state.q.copy())
        v.append(sim.state.v.copy())
        memory.append({name: array.copy() for name, array in sim.stepper.memory().items()})
    arrays = {f"memory_{name}": np.array([m[name] for m in memory]) for name in memory[0]}
    return {"q": np.array(q), "v": np.array(v), "control": np.array(control).reshape(-1, sim.model.nu), **arrays}


def ground_truth(
    store: Store, test: Test, method: Method, n: int, stiffness: float = STIFFNESS, damping: float = DAMPING
) -> GroundTruth:
    method = TRUTHS[method.truth or method.label]
    parameters = {
        "test": test.name, "method": method.label, "n": n, "control_dt": test.control_dt, "dt": method.finest,
        "stiffness": stiffness, "damping": damping,
    }  # fmt: skip
    arrays = store.arrays("truth", parameters, lambda: follow(test, method, n, stiffness, damping))
    memory = {name[len("memory_") :]: array for name, array in arrays.items() if name.startswith("memory_")}
    return GroundTruth(arrays["q"], arrays["v"], arrays["control"], memory)
