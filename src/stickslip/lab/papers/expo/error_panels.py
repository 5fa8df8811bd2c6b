"""Curves of local errors, drawn alike in Figs. 2, 3 and 4."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stickslip.lab.papers.expo.setups import FIXED_ORDERS, PAPER_VERSIONS, RIVALS, TESTS
from stickslip.lab.papers.paper import new_figure
from stickslip.lab.papers.rows import Row, Rows, distinct, where

COLORS = {
    "expo": "black",
    "expo pade": "tab:purple",
    "expo/paper": "tab:cyan",
    "rk4": "tab:green",
    "implicit-euler": "tab:red",
    "semi-implicit-euler": "tab:brown",
    "euler": "tab:blue",
}
MARKERS = {
    "expo": "o",
    "expo pade": "s",
    "expo/paper": "p",
    "rk4": "D",
    "implicit-euler": "v",
    "semi-implicit-euler": "P",
    "euler": "X",
}
WORST = 1e2
"""Errors beyond it, and those of runs that diverged, are drawn as triangles on the upper edge."""
SHOWN = ("expo", "expo pade", *FIXED_ORDERS[:5], *PAPER_VERSIONS, *RIVALS)
"""Curves of Figs. 2 and 3."""


def _style(label: str) -> dict[str, Any]:
    if label in FIXED_ORDERS:
        order = FIXED_ORDERS.index(label)
        color = (1.0, 0.35 + 0.07 * order, 0.1)
        return {"color": color, "marker": f"${order}$", "linewidth": 1.0, "linestyle": "--", "markersize": 6}
    if label in PAPER_VERSIONS[1:]:
        order = PAPER_VERSIONS.index(label) - 1
        color = (0.0, 0.45 + 0.1 * order, 0.65 + 0.08 * order)
        return {"color": color, "marker": f"${order}$", "linewidth": 1.0, "linestyle": ":", "markersize": 6}
    return {
        "color": COLORS[label],
        "marker": MARKERS[label],
        "linewidth": 2.2 if label in ("expo", "expo/paper") else 1.4,
        "markersize": 5,
        "zorder": 3 if label == "expo" else 2,
    }


def curve(axes, rows: Rows, x: Callable[[Row], float], label: str) -> None:
    """One method; points off the scale are open triangles on the upper edge."""
    points = sorted((x(row), row["error"]) for row in rows if row["error"] is not None and row["error"] <= WORST)
    style = _style(label)
    axes.plot([p[0] for p in points], [p[1] for p in points], label=label, **style)
    lost = [x(row) for row in rows if row["error"] is None or row["error"] > WORST]
    if lost:
        axes.plot(
            lost, [WORST] * len(lost), linestyle="none", marker="^", markerfacecolor="none",
            color=style["color"], markersize=8, clip_on=False,
        )  # fmt: skip


def log_scales(axes) -> None:
    """After all curves, so that the lower limit suits them all."""
    axes.set(xscale="log", yscale="log", ylabel="mean local error ‖(q, v)‖∞ [SI units]")
    if axes.dataLim.y1 >= WORST:
        axes.set_ylim(top=WORST)


def panels(rows: Rows, labels: Sequence[str], x: Callable[[Row], float], xlabel: str):
    """A panel per test, a curve per method."""
    from matplotlib.ticker import NullFormatter

    tests = distinct(rows, "test")
    across = min(2, len(tests))
    down = -(-len(tests) // across)
    figure, grid = new_figure(down, across, (5.6 * across + 1.6, 4.2 * down + 0.4))
    for axes, test in zip(grid.flat, tests, strict=False):
        for label in labels:
            if mine := [row for row in where(rows, test=test, method=label) if row["seconds"]]:
                curve(axes, mine, x, label)
        log_scales(axes)
        axes.set(title=TESTS[test].paper_name, xlabel=xlabel)
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(alpha=0.3, which="both", axis="x")
        axes.grid(alpha=0.3, axis="y")
    for axes in grid.flat[len(tests) :]:
        axes.axis("off")
    handles, names = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right upper", fontsize="small", title="△: diverged or > 100")
    return figure
