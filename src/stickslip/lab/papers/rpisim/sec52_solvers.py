"""Sec. 5.2: a database of captured steps, every formulation, every solver that fits.

``problems.h5`` beside the report holds the steps; ``stickslip solve`` reads it. Contacts are captured without
subcontacts: those of the peg are 176, most of them inside the other body, and as Stewart–Trinkle contacts all at once
they ask the peg to be outside every plane (Lemke's method ends on a ray). The targets: every solver that says that it
converged is right, and some solver solves each problem.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from stickslip.lab.papers.paper import Part, Results, finish, image, new_figure, quiet, table
from stickslip.lab.papers.rows import column, distinct, number, table_of, where
from stickslip.lab.papers.rpisim.setups import DIRECTIONS, FLOOR, LOST, MARKERS, Sizes, build, simulation, thinned
from stickslip.lab.problems.solver_comparison import SolverComparison
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.problem_files.problem_file import ProblemWriter
from stickslip.progress import Progress
from stickslip.simulation.captured_frame import capture

FILE = "problems.h5"
FORMULATIONS = ("stewart-trinkle", "anitescu-potra", "peg")
"""The paper's."""


class Source(NamedTuple):
    """Where a step was captured."""

    scene: str
    parameters: dict[str, Any]
    steps: int
    method: str = "stewart-trinkle/lemke"


SOURCES = {
    "peg": Source("peg-in-hole", {"scale": 1.00001}, 60),
    "sphere-stack": Source("sphere-stack", {"n": 3}, 5),
    "loose-sphere-stack": Source("loose-sphere-stack", {"n": 3}, 30),
    "box-pile": Source("box-pile", {}, 60),
    "cart": Source("cart", {}, 20),
}


def compare(name: str, number: int, path: Path) -> dict[str, Any]:
    """Capture a step into the file, and try all solvers on it."""
    source = SOURCES[name]
    sim = simulation(build(source.scene, **source.parameters), source.method)
    sim.step(source.steps)
    frame = capture(sim)
    with ProblemWriter(path, append=number > 1 and path.exists()) as writer:
        writer.append(frame)
    comparison = SolverComparison(
        FORMULATIONS, forms=("lcp", "reduced", "mlcp", "ncp"), directions=DIRECTIONS, repeat=1
    )
    rows = []
    with Progress(f"solvers on {name}", comparison.size(1), "problems × solvers") as bar:
        for k, trial in enumerate(comparison.trials(number, frame)):
            if trial.tried:
                rows.append({**trial.numbers(), "history": thinned(trial.history)})
            bar.update(k + 1)
    return {"rows": rows}


def study(store: Store, sizes: Sizes) -> Results:
    """One row per captured step, formulation, form and solver."""
    path, rows = store.folder.parent / FILE, []
    for k, name in enumerate(sizes.database, 1):
        with quiet():
            unit = store.unit("solvers", {"scene": name, "number": k}, partial(compare, name, k, path))
        rows += [{"scene": name, **row} for row in unit["rows"]]
    return {"solvers": rows}


def targets(results: Results) -> list[Target]:
    rows = results["solvers"]
    problems = {(row["scene"], row["formulation"], row["form"]) for row in rows}
    solved = {(row["scene"], row["formulation"], row["form"]) for row in rows if row["success"]}
    worst = max((row["residual"] / row["limit"] for row in rows if row["success"]), default=0.0)
    return [
        Target("Sec. 5.2: part of the problems that no solver solves", 1.0 - len(solved) / len(problems), LOST),
        Target("Sec. 5.2: largest residual / limit of answers that are called solutions", worst, 1.0),
    ]


def draw(results: Results):
    """Time and merit of every solver, and convergence on the largest Stewart–Trinkle LCP."""
    rows = results["solvers"]
    figure, axes = new_figure(1, 2, (14, 5))
    left, right = axes[0]
    solvers = distinct(rows, "solver")
    for k, solver in enumerate(solvers):
        chosen = [row for row in where(rows, solver=solver) if None not in (row["seconds"], row["residual"])]
        merit = np.maximum(column(chosen, "residual"), FLOOR)
        marker = MARKERS[k % len(MARKERS)]
        left.loglog(1e3 * column(chosen, "seconds"), merit, marker, label=solver, alpha=0.6)
    left.set(xlabel="time [ms]", ylabel="natural merit [mixed units]")
    left.set_title("every captured step, formulation and form")
    lcps = where(rows, formulation="stewart-trinkle", form="lcp")
    largest = max(lcps, key=lambda row: row["unknowns"])
    for row in (row for row in where(lcps, scene=largest["scene"]) if len(row["history"]) > 2):
        at, residual = np.array(row["history"]).T
        k = solvers.index(row["solver"])
        right.loglog(
            at + 1, np.maximum(residual, FLOOR), color=f"C{k % 10}", linestyle=("-", "--", "-.", ":")[k % 4],
            linewidth=1.0 + 0.3 * (len(solvers) - k),
        )  # fmt: skip
    right.set(xlabel="iteration, from 1", ylabel="natural merit [mixed units]")
    right.set_title(f"Stewart–Trinkle LCP of {largest['scene']}, n = {largest['unknowns']}")
    finish(axes, legend=False)
    figure.legend(*left.get_legend_handles_labels(), loc="outside right upper")
    return figure


def section(results: Results) -> str:
    rows, groups = results["solvers"], []
    for form, solver in dict.fromkeys((row["form"], row["solver"]) for row in rows):
        tried = where(rows, form=form, solver=solver)
        seconds = [row["seconds"] for row in tried if row["seconds"] is not None]
        merits = [float("inf") if row["residual"] is None else row["residual"] for row in tried]
        groups.append(
            (form, solver, f"{sum(row['success'] for row in tried)} of {len(tried)}", number(max(merits)),
             f"{median(row['iterations'] for row in tried):g}", f"{1e3 * median(seconds):.3g}" if seconds else "–")
        )  # fmt: skip
    text = [
        "## Sec. 5.2: solvers on stored problems\n",
        image("sec52_solvers", "Sec. 5.2: time and natural merit of every solver on captured steps"),
        "Steps of several scenes were captured in `problems.h5`, rebuilt by every formulation and handed to every "
        "solver that fits; `stickslip solve problems.h5` does the same. The merit is judged "
        "independently of the solver.\n",
        table(("form", "solver", "solved", "worst merit", "iterations, median", "ms, median"), groups),
    ]
    if unsolved := [row for row in rows if not row["success"]]:
        text += ["Not solved:\n", table_of(unsolved, {
            "scene": "{scene}", "formulation": "{formulation}", "form": "{form}", "solver": "{solver}",
            "merit": lambda row: number(row["residual"]), "status": "{status}",
        })]  # fmt: skip
    text.append(
        "All of them, one by one, are in `solvers.csv`. Contacts were captured without subcontacts, so that PEG is "
        "Stewart–Trinkle here; where all contacts touch, so is Anitescu–Potra.\n"
    )
    return "\n".join(text)


SEC52 = Part("sec52", study, section, targets, {"sec52_solvers": draw}, tables=("solvers",))
