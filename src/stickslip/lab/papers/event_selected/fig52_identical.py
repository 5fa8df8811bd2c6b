"""Sec. 5.2, Fig. 5.2 as in the paper: identical springs on every bed, one ε for all, Dh given; ours stands beside it.

ε is that of the hopper of Sec. 5.1 at MuJoCo's error, as in the paper, and no projection is undone (``trust`` is
infinite). A spring has the same stiffness and damping on every bed, so that a bed of n is n times as stiff and errors
change with n; ``fig52_plate`` has beds of the same stiffness and equal errors instead. Both errors are those against
the reference, in which every crossing is located. Times are taken as in ``fig52_plate``.

Differs from the paper in: stiffness and damping, which it does not give; steps as long as the tolerance allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.lab.papers.event_selected import mujoco_models, ours, systems
from stickslip.lab.papers.event_selected.fig52_plate import FEWER, MARGINAL, fit, spent
from stickslip.lab.papers.event_selected.setups import (
    END,
    OURS,
    SPRING_SHARE,
    THEIRS,
    Sizes,
    bed,
    plate_starts,
    rms,
)
from stickslip.lab.papers.event_selected.table51_hopper import mujoco_error
from stickslip.lab.papers.event_selected.table51_hopper import our_error as hopper_error
from stickslip.lab.papers.paper import Part, Results, finish, image, new_figure, units
from stickslip.lab.papers.rows import Rows, column, number, table_of
from stickslip.lab.store import Store
from stickslip.lab.targets import Target

PAPER = 100
"""Springs of the paper's largest bed."""
MOST_STEPS = 200_000
"""Before a run counts as one that does not reach its end: stiff beds take many steps."""


def calibrated() -> dict[str, Any]:
    """ε' of the hopper, with an error as large as MuJoCo's."""
    return {"eps": ours.calibrate(hopper_error, mujoco_error())[0]}


def measure(contacts: int, number: int, judged: int, eps: float) -> dict[str, Any]:
    springs, starts, reset = bed(contacts, SPRING_SHARE), plate_starts(number), systems.opposite(contacts)
    model = mujoco_models.plate(springs)
    options: dict[str, Any] = {"eps": eps, "trust": np.inf, "max_steps": MOST_STEPS}
    mine, theirs, left_out = [], [], 0
    for start in starts[:judged]:
        exact = ours.plate(springs, start, reset, t_eval=ours.TIMES, max_steps=MOST_STEPS, **ours.REFERENCE)
        found = ours.plate(springs, start, reset, matrix=True, t_eval=ours.TIMES, **options)
        if not (exact.success and found.success):
            left_out += 1
            continue
        mine.append(found.y - exact.y)
        theirs.append(mujoco_models.trajectory(model, start, END) - exact.y)
    return {
        "rms": rms(np.array(mine)) if mine else None,
        "mujoco_rms": rms(np.array(theirs)) if theirs else None,
        "left_out": left_out,
        **spent(springs, model, starts, reset, **options),
    }


def study(store: Store, sizes: Sizes) -> Results:
    eps = store.unit("epsilon", {}, calibrated)["eps"]
    cases = [
        {"contacts": n, "number": sizes.starts, "judged": sizes.judged if n <= FEWER else max(2, sizes.judged // 4),
         "eps": eps}
        for n in sizes.alike
    ]  # fmt: skip
    return {"alike": units(store, "alike", cases, measure, "identical springs")}


def in_paper(rows: Rows) -> Rows:
    """The rows of beds that are no larger than the paper's."""
    return [row for row in rows if row["contacts"] <= PAPER]


def ratio(rows: Rows) -> float:
    """Time per contact of ours, with Dh, over MuJoCo's."""
    return fit(rows, "ours_matrix").each / fit(rows, "mujoco").each


def targets(results: Results) -> list[Target]:
    rows, name = results["alike"], "identical springs, one ε, Dh given"
    found = [Target(f"{name}, 2 to {PAPER}: time per contact over MuJoCo's", ratio(in_paper(rows)), MARGINAL)]
    largest = rows[-1]["contacts"]
    if largest > PAPER:
        found.append(Target(f"{name}, 2 to {largest}: time per contact over MuJoCo's", ratio(rows), MARGINAL))
    unfinished = sum(row["failed"] for row in in_paper(rows))
    return [*found, Target(f"{name}, 2 to {PAPER}: runs that did not reach their end", unfinished, 1e-9)]


def draw(results: Results):
    """The paper's Fig. 5.2, its continuation, and the same figure for beds of the same stiffness at equal errors."""
    rows = results["alike"]
    figure, axes = new_figure(1, 3, (16, 4.4))
    plots = [
        (axes[0, 0], in_paper(rows), f"Fig. 5.2 as in the paper, ε = {rows[0]['eps']:.2g} m"),
        (axes[0, 1], rows, "its beds to the largest one"),
        (axes[0, 2], results.get("plate", []), "ours: beds of the same stiffness, equal errors"),
    ]
    for ax, chosen, title in plots:
        ax.set_title(title)
        if len(chosen) < 2:
            ax.text(0.5, 0.5, "made together with the part fig52", transform=ax.transAxes, ha="center")
            continue
        contacts = column(chosen, "contacts")
        for key, name, colour, style in (
            ("mujoco", "MuJoCo", THEIRS, "--"), ("ours_matrix", "ours, with Dh", OURS, "-"),
        ):  # fmt: skip
            through = fit(chosen, key)
            ax.plot(contacts, column(chosen, key), "o", color=colour, markersize=4)
            ax.plot(contacts, through.start + through.each * contacts, style, color=colour, linewidth=1,
                    label=f"{name}: {1e3 * through.each:.1f} µs per contact")  # fmt: skip
        ax.set_ylabel("median time of 2 s [ms]")
        ax.text(0.97, 0.05, f"ratio {ratio(chosen):.2f}", transform=ax.transAxes, ha="right")
    finish(axes, "springs n")
    return figure


def section(results: Results) -> str:
    rows = results["alike"]
    theirs, mine = (1e3 * fit(in_paper(rows), key).each for key in ("mujoco", "ours_matrix"))
    text = [
        "## Fig. 5.2 as in the paper\n",
        image("fig52_identical", "Identical springs, one ε, Dh given; beds to the largest; ours at equal errors"),
        f"Identical springs on beds of 2 to {PAPER}, Dh as a matrix, one ε = {rows[0]['eps']:.3g} m from the hopper, "
        f"and projections that are never undone: {mine:.1f} µs per contact beside MuJoCo's {theirs:.1f} µs, "
        f"{mine / theirs:.3f} of it (the paper: roughly the same). The errors are those that this ε gives.\n",
    ]
    if rows[-1]["contacts"] > PAPER:
        text.append(
            f"To {rows[-1]['contacts']} springs the ratio is {ratio(rows):.2f}: each touchdown is a projection, and "
            "each projection evaluates all rows of Dh, so that our time grows as n², MuJoCo's as n. Beds of hundreds "
            "are so stiff that the plate sinks into them by less than this ε, and some runs are not live there: the "
            "paper saw irregular behaviour above 150.\n"
        )
    columns: dict[str, Any] = {
        "springs": "{contacts}", "MuJoCo [ms]": "{mujoco:.2f}", "ours, with Dh [ms]": "{ours_matrix:.2f}",
        "without Dh [ms]": "{ours:.2f}", "error of MuJoCo": lambda row: number(row["mujoco_rms"], 2),
        "ours": lambda row: number(row["rms"], 2), "our steps": "{steps:.0f}",
        "projections": "{projections:.0f}", "unfinished": "{failed:.2f}",
    }  # fmt: skip
    return "\n".join([*text, table_of(rows, columns)])


ALIKE = Part("identical", study, section, targets, {"fig52_identical": draw}, tables=("alike",))
