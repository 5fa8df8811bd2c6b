"""Figs. 4 and 5: computation time over the number of contacts (cylinder) and of bodies and contacts (chain).

As in the paper, the time of 100 steps of 0.01 s, the best of many runs, all from the same start; the steps are one
compiled call. Newton iterations are counted in a run of their own, which also looks for the lowest contact point.

How bodies start is not in the text. A hard landing takes the more iterations the more points land at once, which would
bend T(c) without the linear algebra having any part in it. So both start nearly at rest on the floor, such that a step
has about as many iterations at every size: the cylinder tilted by 0.01 rad, its lowest point 5 mm above the floor; the
chain in a zigzag, level, 1 mm above it and sliding sideways. Beside the paper's time, that of one Newton iteration.

Sec. IV-A: "the O(c) complexity is clearly visible". The targets: times on a straight line, R² > 0.99, and a slope of
1 ± 0.1 on logarithmic axes from 10 to 1000; the same over n + c; of the time of the steps, and of that of a Newton
iteration.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from stickslip.lab.papers.paper import Part, Results, finish, image, new_figure, units
from stickslip.lab.papers.rows import Rows, column, line, slope, table_of
from stickslip.lab.papers.variational.setups import DT, MANY, METHOD, STEPS, TOLERANCE, Sizes, solved
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.model.model import Model
from stickslip.scenes import SCENES
from stickslip.simulation import Simulation

CASES = {"cylinder": "contacts", "chain": "links"}
"""Scene, and which of its parameters grows."""
ZIGZAG, SIDEWAYS = 0.4, 0.5
"""Angle of a link to either side in turn [rad]; speed of the chain [m/s]."""
LINEAR, SLOPE = 0.01, 0.1
"""Limits of 1 − R² and |slope − 1| of what is called linear."""
SMALLEST = 10
"""Size from which a time is one of contacts or bodies, and not of calling a step."""


def build(scene: str, size: int) -> tuple[Model, np.ndarray, np.ndarray]:
    """(model, q, v) of the start."""
    start = {"height": 0.06, "tilt": 0.01} if scene == "cylinder" else {"height": 1e-3}
    model = SCENES[scene].build(**{CASES[scene]: size}, **start).scene.compile()
    q, v = model.state().q.copy(), np.zeros(model.nv)
    if scene == "chain":
        v[1] = SIDEWAYS
        for i in range(size):
            angle = ZIGZAG if i == 0 else 2.0 * ZIGZAG * (-1.0) ** i
            place = 3 if i == 0 else 4 * i + 3
            q[place : place + 4] = np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle)
    return model, q, v


def measure(scene: str, size: int, runs: int) -> dict[str, Any]:
    """Best time of the steps, and what they were like."""
    model, q, v = build(scene, size)
    sim = Simulation(model, method=METHOD, dt=DT, tolerance=TOLERANCE)
    sim.set_state(q, v)
    sim.warm_up()
    start = sim.snapshot()
    iterations, lowest = count(sim)
    best = np.inf
    for _ in range(runs):
        sim.restore(start)
        begin = time.perf_counter()
        sim.step(STEPS)
        best = min(best, time.perf_counter() - begin)
    return {
        "contacts": size if scene == "cylinder" else size + 1,
        "bodies": model.nlink - 1,
        "milliseconds": 1e3 * best,
        "iterations": iterations / STEPS,
        "per_iteration": 1e6 * best / iterations,
        "lowest": lowest,
        "unconverged": int(sim.stepper.unconverged),
    }


def count(sim: Simulation) -> tuple[int, float]:
    """Newton iterations of all steps, and the lowest place of a contact point [m]."""
    links, offsets = sim.model.frames.link, sim.model.frames.pos
    total, lowest = 0, np.inf
    for _ in range(STEPS):
        sim.step()
        total += sim.stepper.iterations
        sim.observe()
        height = sim.kinematics.pos[links, 2] + np.sum(sim.kinematics.rot[links, 2] * offsets, axis=1)
        lowest = min(lowest, float(height.min()))
    return total, lowest


def study(scene: str, store: Store, sizes: Sizes) -> Results:
    """One row per size."""
    numbers = sizes.contacts if scene == "cylinder" else sizes.links
    cases = [{"scene": scene, "size": n, "runs": sizes.runs if n <= MANY else max(2, sizes.runs // 5)} for n in numbers]
    return {scene: units(store, "scaling", cases, measure, f"time of the {scene}")}


class Growth(NamedTuple):
    """Times over what grows."""

    what: str
    """c, or n + c."""
    size: np.ndarray
    """Its values."""
    times: np.ndarray
    small: np.ndarray
    """Which sizes the paper has."""
    large: np.ndarray
    """Which sizes a slope is fitted to."""


def growth(rows: Rows, key: str = "milliseconds") -> Growth:
    """The times are ``milliseconds`` of the steps, or ``per_iteration`` [µs]."""
    numbers, size = column(rows, "size"), column(rows, "contacts")
    what = "c"
    if rows[0]["scene"] == "chain":
        what, size = "n + c", size + column(rows, "bodies")
    return Growth(what, size, column(rows, key), numbers <= MANY, numbers >= SMALLEST)


def targets(scene: str, results: Results) -> list[Target]:
    rows, result = results[scene], []
    numbers = [row["size"] for row in rows]
    for key, T in (("milliseconds", "T"), ("per_iteration", "T/iterations")):
        what, size, times, small, large = growth(rows, key)
        if np.sum(small) > 2:
            r2, most = line(size[small], times[small]).r2, max(n for n in numbers if n <= MANY)
            result.append(Target(f"{scene}: 1 − R² of {T}({what}) up to {most}", 1.0 - r2, LINEAR))
        if max(numbers) > MANY:
            r2 = line(size, times).r2
            result.append(Target(f"{scene}: 1 − R² of {T}({what}) up to {max(numbers)}", 1.0 - r2, LINEAR))
        if np.sum(large) > 2:
            off, span = abs(slope(size[large], times[large]) - 1.0), f"from {SMALLEST} to {max(numbers)}"
            result.append(Target(f"{scene}: |slope − 1| of log {T}({what}) {span}", off, SLOPE))
    for row in rows:
        result += solved(f"{scene}, {row['size']}", row)
    return result


def draw(scene: str, results: Results):
    """Times up to the paper's size, and on logarithmic axes up to ours; iterations and their time."""
    rows = results[scene]
    what, size, times, small, large = growth(rows)
    figure, axes = new_figure(1, 3, (15, 4.4))
    left, middle, right = axes[0]
    left.plot(size[small], times[small], "o", color="C0", label=f"best time of {STEPS} steps")
    if np.sum(small) > 2:
        fit = line(size[small], times[small])
        left.plot(size[small], fit.start + fit.each * size[small], "k-", linewidth=1,
                  label=f"{fit.start:.3g} + {fit.each:.3g}·({what}) ms, R² = {fit.r2:.4f}")  # fmt: skip
    left.set_title("Fig. 4: cylinder on c points" if scene == "cylinder" else "Fig. 5: chain of n links")
    middle.loglog(size, times, "o", color="C0")
    if np.sum(large) > 2:
        through = np.exp(np.mean(np.log(times[large] / size[large])))
        middle.loglog(size[large], through * size[large], "k-", linewidth=1, label="proportional")
        steep = slope(size[large], times[large])
        middle.set_title(f"slope {steep:.3f} from {SMALLEST} to {max(row['size'] for row in rows)}")
    iterations = column(rows, "iterations")
    right.semilogx(size, iterations, "o-", color="C1", label="Newton iterations of a step")
    right.set(ylim=(0.0, 1.4 * iterations.max()), ylabel="iterations")
    each = right.twinx()
    each.plot(size, column(rows, "per_iteration") / size, "s--", color="C2", label=f"time / iterations / ({what})")
    each.set(ylim=(0.0, 1.4 * each.get_ylim()[1]), ylabel="[µs]")
    for ax in (left, middle):
        ax.set_ylabel(f"time of {STEPS} steps [ms]")
    finish(axes, {"c": "contact points c", "n + c": "bodies and contact points n + c"}[what], 9)
    handles = [*right.get_legend_handles_labels()[0], *each.get_legend_handles_labels()[0]]
    right.legend(handles, [h.get_label() for h in handles], fontsize=8)
    return figure


STARTS = {
    "cylinder": "It starts tilted by 0.01 rad, its lowest point 5 mm above the floor, and comes to rest.",
    "chain": "It starts level, in a zigzag 1 mm above the floor, and slides sideways at 0.5 m/s.",
}


def section(scene: str, figure: str, heading: str, words: str, results: Results) -> str:
    rows = results[scene]
    what, size, times, small, large = growth(rows)
    most, found = max(row["size"] for row in rows), []
    if np.sum(small) > 2:
        fit = line(size[small], times[small])
        found.append(f"T = {fit.start:.3g} + {fit.each:.3g}·({what}) ms with R² = {fit.r2:.5f} up to {MANY}")
    if most > MANY:
        found.append(f"R² = {line(size, times).r2:.5f} up to {most}")
    if np.sum(large) > 2:
        found.append(f"a slope of {slope(size[large], times[large]):.3f} on logarithmic axes from {SMALLEST} on")
        one = column(rows, "per_iteration")
        found.append(
            f"of one Newton iteration R² = {line(size, one).r2:.5f}, slope {slope(size[large], one[large]):.3f}"
        )
    return "\n".join([
        f"## {heading}\n",
        image(figure, f"Time of {STEPS} steps over {what}; iterations, and their time"),
        f"**The paper:** *{words}* **Here:** {'; '.join(found)}. Times are of whole steps, detection of contacts "
        f"included. {STARTS[scene]} The harder bodies land, and the more points at once, the more iterations a step "
        "takes; so they start where it has about as many at every size, and the time of an iteration stands beside.\n",
        table_of(rows, {
            "size": "{size}", "bodies": "{bodies}", "contacts": "{contacts}",
            f"time of {STEPS} steps [ms]": "{milliseconds:.3f}", "iterations of a step": "{iterations:.1f}",
            "time / iterations [µs]": "{per_iteration:.2f}", "lowest contact point [m]": "{lowest:.3g}",
            "unconverged": "{unconverged}",
        }),
    ])  # fmt: skip


def part(name: str, scene: str, heading: str, words: str) -> Part:
    figure = f"{name}_{scene}_time"
    return Part(
        name, partial(study, scene), partial(section, scene, figure, heading, words), partial(targets, scene),
        {figure: partial(draw, scene)}, tables=(scene,),
    )  # fmt: skip


FIG4 = part(
    "fig4", "cylinder", "Fig. 4: one body, many contacts",
    "The O(c) computational complexity is clearly visible (2 to 100 contact points).",
)  # fmt: skip
FIG5 = part(
    "fig5", "chain", "Fig. 5: many bodies, each with a contact",
    "The O(n + c) computational complexity can be clearly seen (2 to 100 links).",
)  # fmt: skip
