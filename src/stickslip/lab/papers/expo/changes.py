"""From the paper's algorithm to ours: what each change brings. Not in the paper.

``expo/paper`` is the first row; every further row makes one more change, and the last one is ``expo``. Local errors and
times are those of Figs. 2 and 3, at one step for each test. The ground truth of a row is the best integration of its
contact law, ``expo`` at 1/64 ms with the springs resting where the row lets them rest; that of the paper's law, whose
anchors slip with a velocity, is the paper's algorithm at 1/64 ms.

The motions of the paper, with μ = 1, hardly slip. So a block that slides to rest is added: a box of 1 kg with μ = 0.5,
whose distance v²/(2μg) is known, started with 1 m/s after it has come to rest on its springs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.lab.papers.expo.local_error import local_error
from stickslip.lab.papers.expo.setups import CHANGES, DAMPING, STIFFNESS, TESTS, Sizes, control_steps, ms, size
from stickslip.lab.papers.paper import Part, Results, grid, image, new_figure, quiet, table, units
from stickslip.lab.papers.rows import Row, Rows, distinct, where
from stickslip.lab.store import Store
from stickslip.model.scene import Scene
from stickslip.progress import Progress
from stickslip.simulation import Simulation

STEPS = {"solo12-squat": 5e-3, "solo12-jump": 5e-3, "solo12-trot": 2e-3, "romeo-walk": 5e-3}
"""One step for each test [s]."""
SLIDE_DT = 2e-3
"""Step of the sliding block [s]."""
SPEED, FRICTION, MASS, GRAVITY = 1.0, 0.5, 1.0, 9.81
"""The block slides off with SPEED [m/s] on a floor of this FRICTION; it has a MASS [kg] and GRAVITY [m/s²]."""


def slide(change: str, dt: float) -> dict[str, Any]:
    """How far the block slides [m], and what is wrong with that, relative to v²/(2μg)."""
    scene, method = Scene(gravity=(0.0, 0.0, -GRAVITY)), CHANGES[change]
    scene.add_plane(friction=FRICTION, stiffness=STIFFNESS, damping=DAMPING)
    scene.add_box((0.2, 0.2, 0.1), pos=(0.0, 0.0, 0.05), mass=MASS)
    with quiet():
        sim = Simulation(scene, method=method.stepper, dt=dt, **method.options)
    sim.step(round(0.3 / dt))
    start = float(sim.state.q[0])
    sim.set_state(sim.state.q, v=np.array([SPEED, 0.0, 0.0, 0.0, 0.0, 0.0]))
    sim.step(round(2.0 / dt))
    distance, exact = float(sim.state.q[0]) - start, SPEED**2 / (2.0 * FRICTION * GRAVITY)
    return {"distance": distance, "relative_error": abs(distance / exact - 1.0)}


def study(store: Store, sizes: Sizes) -> Results:
    cases = [(TESTS[name], change) for name in sizes.tests for change in CHANGES]
    rows: Rows = []
    with Progress("What each change brings", len(cases), "units") as bar:
        for test, change in cases:
            bar.update(len(rows))
            n = control_steps(test, sizes)
            row = local_error(store, test, CHANGES[change], STEPS[test.name], n, sizes.repeats)
            rows.append({**row, "change": change})
    slides = units(store, "slide", grid(change=CHANGES, dt=[SLIDE_DT]), slide, "Sliding block", "units")
    return {"changes": rows, "slides": slides}


def draw(results: Results):
    """Errors and times per step over the changes, a curve per test."""
    rows = results["changes"]
    labels = distinct(rows, "change")
    figure, panels = new_figure(1, 2, (12, 5))
    for axes, key, ylabel in zip(
        panels.flat, ("error", "step_us"), ("mean local error ‖(q, v)‖∞ [SI units]", "time per step [µs]"), strict=True
    ):
        for test, marker in zip(distinct(rows, "test"), "oX^s", strict=False):
            mine = {row["change"]: row[key] for row in where(rows, test=test)}
            heights = [np.nan if mine[label] is None else mine[label] for label in labels]
            name = f"{TESTS[test].paper_name}, {ms(STEPS[test])} ms"
            axes.plot(heights, np.arange(len(labels))[::-1], marker=marker, label=name)
        axes.set(xscale="log", xlabel=ylabel, yticks=np.arange(len(labels))[::-1])
        axes.grid(alpha=0.3, which="both", axis="x")
    panels[0, 0].set_yticklabels([("" if k == 0 else "+ ") + label for k, label in enumerate(labels)])
    panels[0, 1].set_yticklabels([])
    panels[0, 1].legend(fontsize="small")
    return figure


def section(results: Results) -> str:
    rows, slides = results["changes"], {row["change"]: row for row in results["slides"]}
    tests = distinct(rows, "test")
    by = {(row["test"], row["change"]): row for row in rows}

    def cell(row: Row) -> str:
        return f"{size(row['error'])}, {row['step_us']:.1f} µs" if row["step_us"] else size(row["error"])

    lines = [
        (
            ("" if k == 0 else "+ ") + label,
            *(cell(by[test, label]) for test in tests),
            f"{100 * slides[label]['relative_error']:.2g} %",
        )
        for k, label in enumerate(distinct(rows, "change"))
    ]
    headings = (f"{TESTS[test].paper_name}, {ms(STEPS[test])} ms" for test in tests)
    return "\n".join([
        "## What each change brings\n",
        image("changes", "From the paper's algorithm to ours, one change after another"),
        "Mean local error and time per step. Each row makes one more change; the last is `expo`. The first two rows "
        "differ in their anchors as far as errors go: the dense exponential and the one of half the size agree to "
        f"round-off. The last column is a block that slides to rest, at {ms(SLIDE_DT)} ms: how wrong its distance "
        "is.\n",
        table(("algorithm", *headings, "slide"), lines),
    ])  # fmt: skip


CHANGES_PART = Part("changes", study, section, figures={"changes": draw}, tables=("changes", "slides"))
