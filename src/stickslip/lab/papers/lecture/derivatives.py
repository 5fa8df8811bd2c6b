"""Analytical derivatives: how exact they are, what finite differences lose, and what each costs.

Times are medians of compiled loops over random states, in turn, round by round; of Pinocchio, called from Python, the
call itself and the copies of its matrices are subtracted (``lab.bench.dynamics``).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stickslip.dynamics import Dynamics
from stickslip.lab.bench.dynamics import matrix_copies, pinocchio_loops
from stickslip.lab.bench.loops import Loops
from stickslip.lab.bench.mechanisms import chain, one_joint
from stickslip.lab.bench.timing import interleaved, seconds
from stickslip.lab.papers.lecture.setups import Sizes
from stickslip.lab.papers.store import Store
from stickslip.model import pinocchio as bridge
from stickslip.model.model import Model
from stickslip.model.scene import Scene

ALGORITHMS = ("rnea", "aba")
STEPS = tuple(10.0**k for k in range(-12, -1))
"""[rad, m] of finite differences."""
CALL_SECONDS = 2e-3
"""Length of one sample [s]."""


def robot(name: str) -> Model:
    scene = Scene()
    scene.add_robot(name)
    return scene.compile()


def random_state(model: Model, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    v, a = rng.normal(size=(2, model.nv))
    return Dynamics(model).integrate(model.state().q, 0.5 * rng.normal(size=model.nv)), v, a


def beside_pinocchio(name: str) -> dict[str, Any]:
    """Largest differences, relative to the largest entry of a matrix."""
    model, pin = robot(name), bridge.import_pinocchio()
    dynamics, peer = Dynamics(model), bridge.to_pinocchio(model)
    data, (q, v, a) = peer.createData(), random_state(model)
    tau = dynamics.rnea(q, v, a)
    maps = bridge.tangent_maps(model, q, v, a, tau)
    state = (bridge.q_to_pinocchio(model, q), bridge.v_to_pinocchio(model, q, v))
    theirs = {
        "rnea": bridge.rnea_derivatives_from_pinocchio(
            maps, *pin.computeRNEADerivatives(peer, data, *state, bridge.a_to_pinocchio(model, q, v, a))
        ),
        "aba": bridge.aba_derivatives_from_pinocchio(
            maps, *pin.computeABADerivatives(peer, data, *state, bridge.tau_to_pinocchio(model, q, tau))
        ),
    }
    ours = {"rnea": dynamics.rnea_derivatives(q, v, a), "aba": dynamics.aba_derivatives(q, v, tau)}
    return {
        algorithm: max(_relative(mine, their) for mine, their in zip(ours[algorithm], theirs[algorithm], strict=True))
        for algorithm in ALGORITHMS
    }


def _relative(value: np.ndarray, truth: np.ndarray) -> float:
    return float(np.abs(value - truth).max() / np.abs(truth).max())


def accuracy(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per robot and algorithm."""
    result = []
    for name in sizes.robots:
        found = store.unit("accuracy", {"robot": name}, partial(beside_pinocchio, name))
        result += [{"robot": name, "algorithm": _title(a), "error": found[a]} for a in ALGORITHMS]
    return result


def difference_errors(name: str) -> dict[str, Any]:
    """Of ∂τ/∂q by one-sided and central differences, for every step."""
    model = robot(name)
    dynamics, (q, v, a) = Dynamics(model), random_state(model)
    truth = dynamics.rnea_derivatives(q, v, a)[0]

    def torque(k: int, step: float) -> np.ndarray:
        return dynamics.rnea(dynamics.integrate(q, step * np.eye(model.nv)[k]), v, a)

    here = dynamics.rnea(q, v, a)
    rows = []
    for step in STEPS:
        ahead = np.stack([torque(k, step) for k in range(model.nv)], axis=1)
        behind = np.stack([torque(k, -step) for k in range(model.nv)], axis=1)
        rows.append([_relative((ahead - here[:, None]) / step, truth), _relative((ahead - behind) / (2 * step), truth)])
    return {"one-sided": [row[0] for row in rows], "central": [row[1] for row in rows]}


def differences(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per kind of difference and step."""
    name = sizes.robots[-1]
    found = store.unit("differences", {"robot": name}, partial(difference_errors, name))
    return [
        {"robot": name, "kind": kind, "step": step, "error": error}
        for kind in ("one-sided", "central")
        for step, error in zip(STEPS, found[kind], strict=True)
    ]


def measure(model: Model, rounds: int) -> dict[str, Any]:
    """Medians [µs] of both algorithms."""
    ours, one = Loops(model), one_joint()
    peer, empty = pinocchio_loops(model, None, ours), pinocchio_loops(one, None, Loops(one))
    work: dict[Any, Any] = {"copies": matrix_copies(model.nv), "small copies": matrix_copies(one.nv)}
    for name in ALGORITHMS:
        work[name, "function"] = getattr(ours, name)
        work[name, "analytic"] = getattr(ours, f"{name}_derivatives")
        work[name, "differences"] = getattr(ours, f"{name}_differences")
        work[name, "pinocchio"] = peer[f"{name}_derivatives"][0]
        work[name, "call"] = empty[f"{name}_derivatives"][0]
    timed = {}
    for key, loop in work.items():
        loop(1)  # compiles
        timed[key] = partial(seconds, loop, max(1, int(CALL_SECONDS / max(seconds(loop, 3), 1e-9))))
    median = interleaved(timed, rounds, "derivatives")
    result = {}
    for name in ALGORITHMS:
        result[name] = {kind: median[name, kind] for kind in ("function", "analytic", "differences")}
        spent = median[name, "call"] + median["copies"] - median["small copies"]
        result[name]["pinocchio"] = max(median[name, "pinocchio"] - spent, 1e-3)
    return result


def timing(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per model and algorithm."""
    models: list[tuple[str, int | None]] = [(name, None) for name in sizes.robots]
    models += [(f"chain of {n}", n) for n in sizes.chains]
    result = []
    for name, links in models:
        parameters = {"robot": name, "links": links, "rounds": sizes.rounds}
        model = robot(name) if links is None else chain(links)
        found = store.unit("timing", parameters, partial(measure, model, sizes.rounds))
        for algorithm in ALGORITHMS:
            result.append({"robot": name, "links": links, "algorithm": _title(algorithm), **found[algorithm]})
    return result


def _title(algorithm: str) -> str:
    return algorithm.upper()
