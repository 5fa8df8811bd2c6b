"""Not in the paper: what Mehrotra's predictor and warm starts save, in iterations of the interior point.

An iteration factors the system once; with the predictor it solves it twice, without it once, which is little beside the
evaluation and the factor. Motions: a cube (0.5 m, 1 kg) dropped from 0.6 m and sliding at 2 m/s, a chain of ten links
that lands, the hopper's jump, A1's walk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from stickslip.lab.papers.paper import Part, Results, grid, image, new_figure, table, units
from stickslip.lab.papers.rows import Rows, column, distinct, first, where
from stickslip.lab.papers.variational.setups import DT, NONE, ROBOT_DT, Sizes
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.methods.variational.interior_point import CENTRING
from stickslip.model.scene import Scene
from stickslip.scenes import SCENES, Setup
from stickslip.simulation import Simulation

CONES, TOLERANCES = ("pyramid", "circular"), (1e-6, 1e-10)


def cube(height: float, speed: float) -> Setup:
    scene = Scene(name="cube")
    scene.add_plane(friction=0.3)
    scene.add_box((0.5, 0.5, 0.5), mass=1.0, pos=(0.0, 0.0, height))
    return Setup(scene, velocity=np.array([speed, 0.0, 0.0, 0.0, 0.0, 0.0]))


class Case(NamedTuple):
    """A motion whose iterations are counted."""

    build: Callable[[], Setup]
    dt: float
    """Step [s]."""
    seconds: float


CASES = {
    "cube drop": Case(partial(cube, 0.6, 0.0), DT, 0.8),
    "sliding cube": Case(partial(cube, 0.25, 2.0), DT, 0.8),
    "chain landing": Case(partial(SCENES["chain"].build, height=0.1), DT, 1.0),
    "hopper-turn": Case(SCENES["hopper-turn"].build, ROBOT_DT, 2.8),
    "a1-walk": Case(SCENES["a1-walk"].build, ROBOT_DT, 0.6),
}


def count(case: str, cone: str, tolerance: float, warm: bool, predictor: bool, share: float) -> dict[str, Any]:
    build, dt, seconds = CASES[case]
    setup = build()
    sim = Simulation(
        setup.scene, method=f"variational/{cone}", dt=dt, user=setup.user, tolerance=tolerance, warm_start=warm,
        predictor=predictor,
    )  # fmt: skip
    if setup.velocity is not None:
        sim.set_state(v=setup.velocity)
    log = sim.run(
        round(share * seconds, 3), controller=setup.controller, control_dt=setup.control_dt, record_dt=dt,
        failures=False,
    )  # fmt: skip
    steps = log.iterations[1:]
    return {
        "steps": len(steps),
        "mean": float(steps.mean()),
        "largest": int(steps.max()),
        "unconverged": int(sim.stepper.unconverged),
    }


def study(store: Store, sizes: Sizes) -> Results:
    """One row per motion and way of solving."""
    cases = grid(case=sizes.counted, cone=CONES, tolerance=TOLERANCES, warm=(True, False), predictor=(True, False),
                 share=[sizes.share])  # fmt: skip
    return {"iterations": units(store, "iterations", cases, count)}


def saved(rows: Rows, cone: str, tolerance: float, warm: bool) -> tuple[float, float]:
    """Iterations of a step with and without the predictor, means of all motions."""
    chosen = where(rows, cone=cone, tolerance=tolerance, warm=warm)
    with_it, without = (column(where(chosen, predictor=used), "mean") for used in (True, False))
    return float(np.mean(with_it)), float(np.mean(without))


def ways(rows: Rows) -> list[tuple[str, float, bool]]:
    """(cone, tolerance, warm) of rows of iterations."""
    return list(dict.fromkeys((row["cone"], row["tolerance"], row["warm"]) for row in rows))


def targets(results: Results) -> list[Target]:
    rows, result = results["iterations"], []
    for cone, tolerance, warm in ways(rows):
        used, left_out = saved(rows, cone, tolerance, warm)
        name = f"Mehrotra, {cone}, {tolerance:g}, {start(warm)}: iterations over those without"
        result.append(Target(name, used / left_out, 1.0))
    for warm in (True, False):
        failed = sum(row["unconverged"] for row in where(rows, predictor=True, warm=warm))
        result.append(Target(f"Mehrotra, {start(warm)}: steps that did not converge", failed, NONE))
    return result


def start(warm: bool) -> str:
    return "warm" if warm else "cold"


def draw(results: Results):
    """Bars: a panel for each tolerance, motions beside each other."""
    rows = results["iterations"]
    tolerances, cases = distinct(rows, "tolerance"), distinct(rows, "case")
    figure, axes = new_figure(len(tolerances), 1, (13, 3.6 * len(tolerances)))
    for ax, tolerance in zip(axes[:, 0], tolerances, strict=True):
        chosen = [(cone, warm) for cone, eps, warm in ways(rows) if eps == tolerance]
        width = 0.8 / (2 * len(chosen))
        for k, ((cone, warm), predictor) in enumerate(product(chosen, (True, False))):
            means = column(where(rows, cone=cone, tolerance=tolerance, warm=warm, predictor=predictor), "mean")
            ax.bar(np.arange(len(cases)) + (k + 0.5) * width - 0.4, means, width, color=f"C{k // 2}",
                   alpha=1.0 if predictor else 0.4,
                   label=f"{cone}, {start(warm)}{'' if predictor else ', no predictor'}")  # fmt: skip
        ax.set_xticks(np.arange(len(cases)), cases)
        ax.set(ylabel="iterations of a step, mean", title=f"ε = {tolerance:g}")
        ax.grid(alpha=0.3, axis="y")
        ax.set_ylim(top=1.35 * ax.get_ylim()[1])  # room for the legend
        ax.legend(fontsize=8, ncols=4)
    return figure


def section(results: Results) -> str:
    rows, lines, more = results["iterations"], [], []
    for cone, tolerance, warm in ways(rows):
        chosen = where(rows, cone=cone, tolerance=tolerance, warm=warm)
        with_it, without = saved(rows, cone, tolerance, warm)
        for predictor in (True, False):
            cells = [
                f"{row['mean']:.2f} / {row['largest']}"
                + (f" ({row['unconverged']} unconverged)" if row["unconverged"] else "")
                for row in where(chosen, predictor=predictor)
            ]
            words = "yes" if predictor else "no", *cells, f"{with_it / without:.2f}" if predictor else ""
            lines.append((cone, f"{tolerance:g}", start(warm), *words))
        more += [
            f"{row['case']} ({cone}, {tolerance:g}, {start(warm)})"
            for row in where(chosen, predictor=True)
            if row["mean"] > first(chosen, case=row["case"], predictor=False)["mean"]
        ]
    worse = f"It takes more iterations in: {', '.join(more)}." if more else "It takes fewer everywhere."
    return "\n".join([
        "## Iterations of the interior point\n",
        image("iterations_of_a_step", "Mean iterations of a step with and without Mehrotra's predictor"),
        "Mean / largest iterations of a step, with warm and cold starts, with and without Mehrotra's predictor and "
        f"second-order terms (without: products are sent to {CENTRING:g} of their mean in every iteration); "
        f"last, the mean of all motions with it over that without it. {worse}\n",
        table(("cone", "ε", "start", "predictor", *distinct(rows, "case"), "with / without"), lines),
    ])  # fmt: skip


ITERATIONS = Part("iterations", study, section, targets, {"iterations_of_a_step": draw}, tables=("iterations",))
