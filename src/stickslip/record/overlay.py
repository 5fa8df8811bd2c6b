"""Several recordings in one picture: a colour for each run, a style for each curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickslip.errors import InputError, unknown
from stickslip.files import save_figure
from stickslip.record.log import Log
from stickslip.record.overview import PANELS, check_plot
from stickslip.record.plot import PLOTS, plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

STYLES: tuple[Any, ...] = ("-", "--", ":", "-.")
MOST_STYLES = 8
"""Largest number of curves per run that the legend names; with more it names only the runs."""


def run_handles(logs: Mapping[str, Log]) -> list[Line2D]:
    """Legend handles that show the colour of each run."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], color=f"C{k % 10}", linewidth=2.0, label=name) for k, name in enumerate(logs)]


def overlay(logs: Mapping[str, Log], what: str, ax: Axes, legend: bool = True) -> Axes:
    """Draw one of ``PLOTS`` of every log into the same axes; ``legend`` names the runs."""
    from matplotlib.lines import Line2D

    if what not in PLOTS:
        raise unknown("plot", what, PLOTS)
    if len(logs) == 1:
        return plot(next(iter(logs.values())), what, ax)
    styles: dict[str, Any] = {}
    for k, log in enumerate(logs.values()):
        before = len(ax.lines)
        plot(log, what, ax)
        for line in ax.lines[before:]:
            label = str(line.get_label())
            line.set_color(f"C{k % 10}")
            line.set_alpha(0.85)
            if line.get_linestyle() != "None" and not label.startswith("_"):
                line.set_linestyle(styles.setdefault(label, STYLES[len(styles) % len(STYLES)]))
    handles = [] if legend is False else run_handles(logs)
    if 1 < len(styles) <= MOST_STYLES:
        handles += [Line2D([], [], color="0.2", linestyle=style, label=label) for label, style in styles.items()]
    beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    ax.legend(handles=handles, fontsize="small", frameon=False, **beside)
    while len(ax.texts) > 1:  # show "no contacts" at most once, and not where another run has contacts
        ax.texts[-1].remove()
    if len(ax.texts) == 1 and len(ax.lines):
        ax.texts[0].remove()
    return ax


def save_plots(logs: Mapping[str, Log], names: Sequence[str], path: str | Path, title: str = "") -> None:
    """Write a picture with a panel for each plot (default: an overview); the file's ending chooses the format."""
    from matplotlib.figure import Figure

    check_plot(Path(path))
    if not logs:
        raise InputError("plot: expected at least one recording, got none")
    names = list(names) or list(PANELS)
    for name in names:
        if name not in PLOTS:
            raise unknown("plot", name, PLOTS)
    columns = 1 if len(names) < 3 else 2
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(9.0 if columns == 1 else 14.0, 3.6 * rows + 0.4), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for name, ax in zip(names, axes, strict=False):
        overlay(logs, name, ax, legend=False)
    for ax in axes[len(names) :]:
        ax.set_axis_off()
    if len(logs) > 1:
        figure.legend(handles=run_handles(logs), loc="outside upper center", ncols=2, frameon=False)
    if title:
        figure.suptitle(title)
    save_figure(figure, path, dpi=120)


def labels(logs: Sequence[Log]) -> list[str]:
    """Labels that distinguish the runs: method and time step, and the file where these are equal."""
    names = []
    for log in logs:
        method, variant, dt = (log.options.get(key) for key in ("method", "variant", "dt"))
        method = method if not variant or str(method).endswith(f"/{variant}") else f"{method}/{variant}"
        names.append(f"{method}, dt = {dt:g} s" if method and isinstance(dt, float) else Path(log.path or "run").stem)
    if len(set(names)) < len(names):
        names = [f"{Path(log.path or 'run').stem}: {name}" for log, name in zip(logs, names, strict=True)]
    return [name if names.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(names)]
