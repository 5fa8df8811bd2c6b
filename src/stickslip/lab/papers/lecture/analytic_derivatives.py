"""The lecture's analytical derivatives: how exact they are, what finite differences lose, and what each costs.

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
from stickslip.lab.papers.lecture.setups import MARKERS, Sizes, finished
from stickslip.lab.papers.paper import Part, Results, grid, image, new_figure, units
from stickslip.lab.papers.rows import column, distinct, number, table_of, where
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.model import pinocchio as bridge
from stickslip.model.model import Model
from stickslip.model.scene import Scene

ALGORITHMS = ("rnea", "aba")
STEPS = tuple(10.0**k for k in range(-12, -1))
"""Steps of finite differences [rad, m]."""
CALL_SECONDS = 2e-3
"""Length of one sample [s]."""


def robot_model(name: str) -> Model:
    scene = Scene()
    scene.add_robot(name)
    return scene.compile()


def random_state(model: Model, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    v, a = rng.normal(size=(2, model.nv))
    return Dynamics(model).integrate(model.state().q, 0.5 * rng.normal(size=model.nv)), v, a


def beside_pinocchio(robot: str) -> dict[str, Any]:
    """Largest differences, relative to the largest entry of a matrix."""
    model, pin = robot_model(robot), bridge.import_pinocchio()
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


def difference_errors(robot: str) -> dict[str, Any]:
    """Errors of ∂τ/∂q by one-sided and central differences, for every step."""
    model = robot_model(robot)
    dynamics, (q, v, a) = Dynamics(model), random_state(model)
    truth = dynamics.rnea_derivatives(q, v, a)[0]

    def torque(k: int, step: float) -> np.ndarray:
        return dynamics.rnea(dynamics.integrate(q, step * np.eye(model.nv)[k]), v, a)

    here = dynamics.rnea(q, v, a)
    one_sided, central = [], []
    for step in STEPS:
        ahead = np.stack([torque(k, step) for k in range(model.nv)], axis=1)
        behind = np.stack([torque(k, -step) for k in range(model.nv)], axis=1)
        one_sided.append(_relative((ahead - here[:, None]) / step, truth))
        central.append(_relative((ahead - behind) / (2 * step), truth))
    return {"one-sided": one_sided, "central": central}


def measure(robot: str, links: int | None, rounds: int) -> dict[str, Any]:
    """Medians [µs] of both algorithms, on a robot or on a chain of links."""
    model = robot_model(robot) if links is None else chain(links)
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


def study(store: Store, sizes: Sizes) -> Results:
    """Rows per robot and algorithm, per kind of difference and step, per model and algorithm."""
    errors = units(store, "accuracy", grid(robot=sizes.robots), beside_pinocchio)
    (lost,) = units(store, "differences", grid(robot=sizes.robots[-1:]), difference_errors)
    models: list[tuple[str, int | None]] = [(name, None) for name in sizes.robots]
    models += [(f"chain of {n}", n) for n in sizes.chains]
    cases = [{"robot": name, "links": links, "rounds": sizes.rounds} for name, links in models]
    times = units(store, "timing", cases, measure)
    return {
        "accuracy": [{"robot": e["robot"], "algorithm": a.upper(), "error": e[a]} for e in errors for a in ALGORITHMS],
        "differences": [
            {"robot": lost["robot"], "kind": kind, "step": step, "error": error}
            for kind in ("one-sided", "central")
            for step, error in zip(STEPS, lost[kind], strict=True)
        ],
        "timing": [
            {"robot": t["robot"], "links": t["links"], "algorithm": a.upper(), **t[a]}
            for t in times
            for a in ALGORITHMS
        ],
    }


def targets(results: Results) -> list[Target]:
    result = [
        Target(f"derivatives of {row['algorithm']} on {row['robot']} beside Pinocchio's, relative", row["error"], 1e-9)
        for row in results.get("accuracy", [])
    ]
    for row in where(results.get("timing", []), links=None):  # chains show how times grow
        name = f"derivatives of {row['algorithm']} on {row['robot']}"
        if row["pinocchio"] is not None:
            result.append(Target(f"{name}, time over Pinocchio's", row["analytic"] / row["pinocchio"], 1.0))
        result.append(Target(f"{name}, five times their time over finite differences'",
                             5.0 * row["analytic"] / row["differences"], 1.0))  # fmt: skip
    return result


def draw_differences(results: Results):
    """Errors of finite differences over their step."""
    figure, axes = new_figure(1, 1, (6.5, 4.4))
    rows = results["differences"]
    for kind, marker in zip(distinct(rows, "kind"), MARKERS, strict=False):
        chosen = where(rows, kind=kind)
        axes[0, 0].loglog(column(chosen, "step"), column(chosen, "error"), marker + "-", label=kind)
    axes[0, 0].set_ylabel("largest error of ∂τ/∂q, relative")
    axes[0, 0].set_title(f"finite differences of RNEA on {rows[0]['robot']}")
    return finished(figure, axes, "step of the difference [rad, m]")


def draw_timing(results: Results):
    """Bars by robot as on the slides, and growth over chains."""
    algorithms = distinct(results["timing"], "algorithm")
    figure, axes = new_figure(2, len(algorithms), (5.6 * len(algorithms), 8.4))
    series = {"analytic": "ours, analytic", "pinocchio": "Pinocchio, analytic",
              "differences": "ours, finite differences", "function": "ours, the function itself"}  # fmt: skip
    for (top, bottom), algorithm in zip(axes.T, algorithms, strict=True):
        rows = where(results["timing"], algorithm=algorithm)
        robots = where(rows, links=None)
        chains = [row for row in rows if row["links"] is not None]
        at = np.arange(len(robots))
        for k, (name, label) in enumerate(series.items()):
            top.bar(at + 0.2 * (k - 1.5), column(robots, name), 0.2, label=label)
            times = column(chains, name)
            if np.isfinite(times).any():
                bottom.loglog(column(chains, "links"), times, MARKERS[k] + "-", label=label)
        top.set(yscale="log", xlabel="robot", ylabel="median time [µs]", title=f"derivatives of {algorithm}")
        top.set_xticks(at, [row["robot"] for row in robots])
        bottom.set(xlabel="links of a chain", ylabel="median time [µs]")
    return finished(figure, axes)


def section(results: Results) -> str:
    return "\n".join([
        "## Analytical derivatives\n",
        image("derivative_benchmark", "Time of derivatives by robot, and over the links of a chain"),
        table_of(results["timing"], {
            "model": "{robot}", "algorithm": "{algorithm}", "itself [µs]": "{function:.2f}",
            "analytic [µs]": "{analytic:.2f}", "Pinocchio [µs]": lambda row: number(row["pinocchio"]),
            "finite differences [µs]": "{differences:.1f}",
            "differences / analytic": lambda row: f"{row['differences'] / row['analytic']:.1f}",
        }),
        "Targets are for robots, which branch. ABA's derivatives fill nv² numbers by solves along the tree: on a "
        "chain, where every link carries all others, that is n³, and for 64 links and more Pinocchio is faster.\n",
        "**The lecture:** *finite differences are not efficient, and sensitive to rounding errors.*\n",
        image("finite_differences", "Error of finite differences over their step; the analytic ones are the reference"),
        "Beside Pinocchio's, relative to the largest entry:\n",
        table_of(results["accuracy"], {"robot": "{robot}", "algorithm": "{algorithm}", "error": "{error:.3g}"}),
    ])  # fmt: skip


DERIVATIVES = Part(
    "derivatives", study, section, targets,
    {"finite_differences": draw_differences, "derivative_benchmark": draw_timing},
    tables=("accuracy", "differences", "timing"),
)  # fmt: skip
