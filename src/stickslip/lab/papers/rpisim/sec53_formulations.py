"""Sec. 5.3: the formulations beside each other, and what they owe to the tuning of tolerances.

*Inclusion.* The margin decides which contacts are handed to a formulation. For both pegs of Fig. 8 and a range of
margins: how far the peg ends from where it must be. The target: PEG does not depend on the margin, if that is not less
than what the peg falls in a step; contacts that are first seen from inside are too late for every method.

*Accuracy.* A block slides down a ramp; after one second it must have slid ½·g·(sin α − μ·cos α)·t². The errors of
these first-order methods are proportional to the step. The polygon of n friction directions is inscribed in the cone:
a block that slides along one of them feels all of the friction, halfway between two only cos(π/n) of it.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from math import cos, pi, sin

import numpy as np

from stickslip.lab.papers.paper import Part, Results, finish, grid, image, new_figure, quiet, units
from stickslip.lab.papers.rows import Rows, column, distinct, number, table_of, where
from stickslip.lab.papers.rpisim.fig8_peg import CASES, FALL_STEPS, SCALES, TRAVEL, G, fall, free_fall
from stickslip.lab.papers.rpisim.setups import MARKERS, RESTS, Sizes
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.model.scene import Scene
from stickslip.simulation import Simulation

SLOPE, FRICTION = pi / 12, 0.1
"""Inclination of the ramp [rad], and its friction coefficient."""
METHODS = ("stewart-trinkle", "anitescu-potra", "peg")
DIRECTIONS = (4, 6, 8, 16)
POLYGON = 1e-3
"""Limit of the relative error of the distance that a block slides between two friction directions."""
EXACT, WORST = 1e-12, 1e2
"""Smaller and larger distances are drawn there [m]."""


def missed(heights: list[float], scale: float, steps: int) -> float:
    """Distance of the peg's last height from the right one [m]; infinite where the run diverged."""
    if len(heights) <= steps:
        return float("inf")
    return abs(heights[-1] - (float(free_fall(steps)[-1]) if scale < 1.0 else (1.0 + scale) / 2))


def inclusion(store: Store, sizes: Sizes) -> Rows:
    """One row per clearance, method and margin."""
    rows = []
    for (name, scale), case, margin in product(SCALES.items(), CASES, sizes.margins):
        steps = FALL_STEPS if scale < 1.0 else sizes.peg_steps
        chosen = case._replace(options={**case.options, "margin": margin})
        parameters = {"label": case.label, "scale": scale, "steps": steps, "margin": margin}
        with quiet():
            unit = store.unit("inclusion", parameters, partial(fall, chosen, scale, steps))
        rows.append({
            "clearance": name, "method": case.label, "margin": margin,
            "error": missed(unit["heights"], scale, steps), "unconverged": unit["unconverged"],
        })  # fmt: skip
    return rows


def block_on_ramp(heading: float) -> Scene:
    """A block that slides along ``heading`` [rad] of a plane; gravity is tilted instead of the plane."""
    down = np.array([sin(SLOPE) * cos(heading), sin(SLOPE) * sin(heading), -cos(SLOPE)])
    scene = Scene(gravity=tuple(G * down), name="ramp")
    scene.add_plane(friction=FRICTION)
    scene.add_box((0.2, 0.2, 0.05), pos=(0, 0, 0.025), mass=1.0, friction=FRICTION)
    return scene


def slid(method: str, dt: float, directions: int, heading: float) -> float:
    """Distance that the block slides in one second [m]."""
    sim = Simulation(block_on_ramp(heading), method=f"{method}/lemke", dt=dt, directions=directions)
    start = sim.state.q[:3].copy()
    sim.step(round(1.0 / dt))
    return float(np.linalg.norm(sim.state.q[:3] - start))


def truth(friction: float = FRICTION) -> float:
    """The exact distance in one second [m]."""
    return 0.5 * G * (sin(SLOPE) - friction * cos(SLOPE))


def accuracy(store: Store, sizes: Sizes) -> Rows:
    """One row per method and step, and per method and number of directions, halfway between two of them."""
    cases = grid(method=METHODS, dt=sizes.steps, directions=[8], heading=[0.0])
    cases += [{**case, "heading": pi / case["directions"]}
              for case in grid(method=METHODS, dt=[min(sizes.steps)], directions=DIRECTIONS)]  # fmt: skip
    rows = units(store, "slide", cases, lambda **case: {"distance": slid(**case)})
    for row in rows:
        felt = FRICTION * (cos(row["heading"]) if row["heading"] else 1.0)
        row |= {"truth": truth(), "polygon": truth(felt), "error": abs(row["distance"] - truth())}
    return rows


def study(store: Store, sizes: Sizes) -> Results:
    return {"inclusion": inclusion(store, sizes), "accuracy": accuracy(store, sizes)}


def targets(results: Results) -> list[Target]:
    """PEG at any margin. First order: the error over the step, against a·t/2 of semi-implicit Euler; between two
    directions cos(π/n) of the friction, and the same error."""
    errors = [
        row["error"] for row in results.get("inclusion", []) if row["method"] == "PEG" and row["margin"] >= TRAVEL
    ]
    name = f"Sec. 5.3, PEG: off its place at any margin above {TRAVEL:.2g} m [m]"
    found = [Target(name, max(errors), RESTS)] if errors else []
    along = [row for row in results.get("accuracy", []) if row["heading"] == 0.0]
    between = [row for row in results.get("accuracy", []) if row["heading"] != 0.0]
    for method in distinct(along, "method"):
        worst = max(row["error"] / (row["dt"] * row["truth"]) for row in where(along, method=method))
        found.append(Target(f"Sec. 5.3, {method}: error of sliding / (dt·1 s·a/2)", worst, 1.05))
    for method in distinct(between, "method"):
        name = f"Sec. 5.3, {method}: sliding between directions, off (1 + dt)·truth with cos(π/n)·μ"
        off = (row["distance"] / ((1.0 + row["dt"]) * row["polygon"]) - 1.0 for row in where(between, method=method))
        found.append(Target(name, max(map(abs, off)), POLYGON))
    return found


def draw(results: Results):
    """Distance from the right place over the margin; methods a little beside each other, to be seen."""
    rows = results["inclusion"]
    names = distinct(rows, "clearance")
    figure, axes = new_figure(1, len(names), (14, 4.8))
    least = min(row["margin"] for row in rows) / 1.5
    for ax, name in zip(axes[0], names, strict=True):
        for k, method in enumerate(distinct(rows, "method")):
            chosen = where(rows, clearance=name, method=method)
            margins, errors = 1.05 ** (k - 2.5) * column(chosen, "margin"), column(chosen, "error")
            ax.loglog(margins, np.clip(errors, EXACT, WORST), MARKERS[k] + ":", label=method, linewidth=0.8)
        if least < TRAVEL:
            ax.axvspan(least, TRAVEL, color="grey", alpha=0.15, linewidth=0, label="margin < fall in one step")
        ax.set(title=name, ylabel="distance from the right place [m]")
        ax.set(ylim=(EXACT / 10, WORST * 10), xlim=(least, None))
    finish(axes, "margin [m]", legend=False)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper")
    return figure


def section(results: Results) -> str:
    along = where(results["accuracy"], heading=0.0)
    between = [row for row in results["accuracy"] if row["heading"] != 0.0]
    return "\n".join([
        "## Sec. 5.3: formulations\n",
        "**Finding:** *Anitescu–Potra and Stewart–Trinkle depend on the tuning of tolerances of contact "
        "identification; PEG is more robust.*\n",
        image("sec53_formulations", "Sec. 5.3: distance from the right place, for both pegs and a range of margins"),
        table_of(results["inclusion"], {
            "peg": "{clearance}", "method": "{method}", "margin [m]": "{margin:g}",
            "off its place [m]": lambda row: "diverged" if row["error"] == float("inf") else number(row["error"]),
            "steps not solved": "{unconverged}",
        }),
        f"The peg falls {TRAVEL:.3f} m in the step that brings it to the top. With a smaller margin the contact is "
        "first seen from inside, too late for every method: those rows are no fault of a formulation.\n",
        f"A block slides for one second on a ramp of {SLOPE:.4f} rad, μ = {FRICTION}, along a friction "
        "direction:\n",
        table_of(along, {"method": "{method}", "h [s]": "{dt:g}", "error of the distance [m]": "{error:.3g}"}),
        f"and halfway between two of n = {', '.join(map(str, DIRECTIONS))} directions, where only cos(π/n) of the "
        "friction is there:\n",
        table_of(between, {
            "method": "{method}", "n": "{directions}", "distance [m]": "{distance:.4f}",
            "expected of the polygon [m]": lambda row: f"{(1 + row['dt']) * row['polygon']:.4f}",
            "of the circular cone [m]": "{truth:.4f}",
        }),
        "Expected is ½·a·t²·(1 + h), what the step makes of the acceleration a under the friction that is there.\n",
    ])  # fmt: skip


SEC53 = Part("sec53", study, section, targets, {"sec53_formulations": draw}, tables=("inclusion", "accuracy"))
