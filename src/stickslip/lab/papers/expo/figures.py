"""The figures of the paper, as PNG and PDF."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from stickslip.lab.papers.expo.setups import FIXED_ORDERS, RIVALS, TESTS
from stickslip.lab.papers.paper import save_figure

COLORS = {
    "expo": "black",
    "expo pade": "tab:purple",
    "rk4": "tab:green",
    "implicit-euler": "tab:red",
    "semi-implicit-euler": "tab:brown",
    "euler": "tab:blue",
}
MARKERS = {"expo": "o", "expo pade": "s", "rk4": "D", "implicit-euler": "v", "semi-implicit-euler": "P", "euler": "X"}
WORST = 1e2
"""Errors beyond it, and those of runs that diverged, are drawn as triangles on the upper edge."""


def _style(label: str) -> dict[str, Any]:
    if label in FIXED_ORDERS:
        order = FIXED_ORDERS.index(label)
        color = (1.0, 0.35 + 0.07 * order, 0.1)
        return {"color": color, "marker": f"${order}$", "linewidth": 1.0, "linestyle": "--", "markersize": 6}
    return {
        "color": COLORS[label],
        "marker": MARKERS[label],
        "linewidth": 2.2 if label == "expo" else 1.4,
        "markersize": 5,
        "zorder": 3 if label == "expo" else 2,
    }


def _curve(axes, rows: list[dict[str, Any]], x: Callable[[dict[str, Any]], float], label: str) -> None:
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


def _log_scales(axes) -> None:
    """After all curves, so that the lower limit suits them all."""
    axes.set(xscale="log", yscale="log")
    if axes.dataLim.y1 >= WORST:
        axes.set_ylim(top=WORST)


def _panels(rows: list[dict[str, Any]], labels: list[str], x: Callable[[dict[str, Any]], float], xlabel: str):
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    tests = list(dict.fromkeys(row["test"] for row in rows))
    across = min(2, len(tests))
    down = -(-len(tests) // across)
    figure = Figure(figsize=(5.6 * across + 1.6, 4.2 * down + 0.4), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    for axes, test in zip(grid.flat, tests, strict=False):
        for label in labels:
            mine = [row for row in rows if row["test"] == test and row["method"] == label and row["seconds"]]
            if mine:
                _curve(axes, mine, x, label)
        _log_scales(axes)
        axes.set(title=TESTS[test].paper_name, xlabel=xlabel)
        axes.set_ylabel("mean local error ‖(q, v)‖∞ [SI units]")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(alpha=0.3, which="both", axis="x")
        axes.grid(alpha=0.3, axis="y")
    for axes in list(grid.flat)[len(tests) :]:
        axes.axis("off")
    handles, names = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right upper", fontsize="small", title="△: diverged or > 100")
    return figure


def local_errors(rows: list[dict[str, Any]], folder: Path) -> list[str]:
    """Figs. 2 and 3."""
    shown = ["expo", "expo pade", *(label for label in FIXED_ORDERS[:5]), *RIVALS]
    factor = _panels(rows, shown, lambda row: row["real_time_factor"], "real-time factor")
    step = _panels(rows, shown, lambda row: 1e3 * row["dt"], "integration step δt [ms]")
    return [
        save_figure(factor, folder, "fig2_local_error_vs_real_time_factor"),
        save_figure(step, folder, "fig3_local_error_vs_step"),
    ]


def orders(rows: list[dict[str, Any]], folder: Path) -> list[str]:
    """Error against time per step of all versions of Expo."""
    shown = ["expo", "expo pade", *FIXED_ORDERS]
    figure = _panels(rows, shown, lambda row: 1e3 * row["seconds"], "time per control step [ms]")
    return [save_figure(figure, folder, "orders_error_vs_time")]


def stiffness(rows: list[dict[str, Any]], folder: Path) -> list[str]:
    """Fig. 4."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes, varied, key in ((left, "stiffness", "stiffness"), (right, "damping", "damping_ratio")):
        for label in dict.fromkeys(row["method"] for row in rows):
            mine = [row for row in rows if row["varied"] == varied and row["method"] == label]
            if mine:
                _curve(axes, mine, itemgetter(key), label)
        _log_scales(axes)
        axes.set_ylabel("mean local error ‖(q, v)‖∞ [SI units]")
        axes.grid(alpha=0.3)
    left.set_xlabel("contact stiffness K [N/m], damping ratio 0.5")
    right.set_xlabel("damping ratio B/(2√K) of a unit mass, K = 1e5 N/m")
    left.set_title("(a) stiffness")
    right.set_title("(b) damping")
    names = {"expo": "expo, 2 ms", "implicit-euler": "implicit-euler, 2 ms", "euler": "euler, 1/2 ms"}
    handles, labels = left.get_legend_handles_labels()
    left.legend(handles, [names.get(label, label) for label in labels], title="△: diverged or > 100")
    return [save_figure(figure, folder, "fig4_stiffness_and_damping")]


def predictions(rows: list[dict[str, Any]], folder: Path) -> list[str]:
    """Fig. 5."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    for axes, row, letter in zip(figure.subplots(1, len(rows), squeeze=False).flat, rows, "ab", strict=False):
        t = 1e3 * np.array(row["time"])
        axes.plot(t, row["simulated"], color="tab:blue", linewidth=3, alpha=0.6, label="simulated, δt = 1/64 ms")
        axes.plot(t, row["predicted"], "k--", label="predicted, A and b constant")
        axes.set(xlabel="time [ms]", ylabel="normal force at one foot [N]")
        axes.set_title(f"({letter}) contact velocity at impact: {row['speed']:g} m/s")
        axes.grid(alpha=0.3)
        axes.legend()
    return [save_figure(figure, folder, "fig5_force_prediction")]


def curves(rows: list[dict[str, Any]], folder: Path) -> list[str]:
    """Fig. 6."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    for axes, row, letter in zip(figure.subplots(1, len(rows), squeeze=False).flat, rows, "ab", strict=False):
        axes.plot(row["time"], row["force"], color="tab:blue", linewidth=1)
        axes.set(xlabel="time [s]", ylabel=f"normal force at {row['foot']} [N]")
        axes.set_title(f"({letter}) {TESTS[row['test']].paper_name}")
        axes.grid(alpha=0.3)
    return [save_figure(figure, folder, "fig6_contact_forces")]
