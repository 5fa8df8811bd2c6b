"""Sec. 5.2: a database of captured steps, every formulation, every solver that fits.

``problems.h5`` beside the report holds the steps; ``stickslip solve`` reads it. Contacts are captured without
subcontacts: those of the peg are 176, most of them inside the other body, and as Stewart–Trinkle contacts all at once
they ask the peg to be outside every plane (Lemke's method ends on a ray).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.rpisim.setups import Sizes, build, simulation, thinned
from stickslip.lab.papers.store import Store
from stickslip.lab.problems.compare import Comparison
from stickslip.problem_files.problem_file import ProblemWriter
from stickslip.progress import Progress
from stickslip.simulation.capture import capture

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
    comparison = Comparison(FORMULATIONS, forms=("lcp", "reduced", "mlcp", "ncp"), repeat=1)
    rows = []
    with Progress(f"solvers on {name}", comparison.size(1), "problems × solvers") as bar:
        for k, trial in enumerate(comparison.trials(number, frame)):
            if trial.tried:
                rows.append({**trial.numbers(), "history": thinned(trial.history)})
            bar.update(k + 1)
    return {"rows": rows}


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per captured step, formulation, form and solver."""
    path = store.folder.parent / FILE
    result = []
    for number, name in enumerate(sizes.database, 1):
        parameters = {"scene": name, "number": number}
        with quiet():
            unit = store.unit("solvers", parameters, partial(compare, name, number, path))
        result += [{"scene": name, **row} for row in unit["rows"]]
    return result
