"""How a comparison of solvers is shown: tables, a plot of convergence, CSV and JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from stickslip.lab.problems.compare import Trial

MOST_ROWS = 60
"""Above this the table has one row for all frames."""
FLOOR = 1e-17
"""Where residuals of zero are drawn."""
MANY = 200
"""Iterations above which their axis is logarithmic."""
STYLES = ("-", "--", "-.", ":")


def tables(trials: Sequence[Trial]) -> list[Table]:
    """One per problem with a row per solver; of many, a single one with a row for all frames."""
    tried = [trial for trial in trials if trial.tried]
    if len(tried) > MOST_ROWS:
        return [_summary(tried)]
    problems: dict[tuple[int, str, str], list[Trial]] = {}
    for trial in tried:
        problems.setdefault((trial.frame, trial.formulation, trial.form), []).append(trial)
    return [_problem(group) for group in problems.values()]


def _problem(trials: Sequence[Trial]) -> Table:
    first = trials[0]
    made = plain_table(
        f"frame {first.frame}: {first.formulation} as {first.form}, {first.unknowns} unknowns",
        {"solver": "left", "residual": "right", "iterations": "right", "time, ms": "right"},
    )
    made.add_column("status")
    for t in trials:
        numbers = (f"{t.residual:.2g}", str(t.iterations), milliseconds(t.seconds))
        made.add_row(t.solver, *numbers, "solved" if t.success else t.status, style="" if t.success else "red")
    return made


def milliseconds(seconds: float) -> str:
    """Three digits."""
    return f"{1e3 * seconds:.3g}" if seconds < 1.0 else f"{1e3 * seconds:.0f}"


def plain_table(title: str, headings: dict[str, Any], **options: Any) -> Table:
    """Columns by heading, which says where their entries stand."""
    made = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, **options)
    for heading, justify in headings.items():
        made.add_column(heading, justify=justify, no_wrap=True)
    return made


def _summary(trials: Sequence[Trial]) -> Table:
    frames = len({trial.frame for trial in trials})
    words = {"formulation": "left", "form": "left", "solver": "left"}
    made = plain_table(
        f"{frames} frames: n unknowns; largest residual, median iterations and time",
        {**words, **dict.fromkeys(("n", "solved", "residual", "iter.", "ms"), "right")},
        padding=0, show_edge=False,  # 80 columns must do
    )  # fmt: skip
    for (formulation, form, solver), group in by_kind(trials).items():
        solved = sum(t.success for t in group)
        made.add_row(
            formulation, form, solver, _range(t.unknowns for t in group),
            f"{solved}/{len(group)}", f"{max(t.residual for t in group):.1e}",
            f"{median(t.iterations for t in group):g}", milliseconds(median(t.seconds for t in group)),
            style="" if solved == len(group) else "red",
        )  # fmt: skip
    return made


def _range(numbers: Iterable[int]) -> str:
    found = sorted(numbers)
    return f"{found[0]}–{found[-1]}" if found[0] != found[-1] else str(found[0])


def by_kind(trials: Sequence[Trial]) -> dict[tuple[str, str, str], list[Trial]]:
    """Trials of all frames by formulation, form and solver."""
    groups: dict[tuple[str, str, str], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.formulation, trial.form, trial.solver), []).append(trial)
    return groups


def not_tried(trials: Sequence[Trial]) -> list[str]:
    """One line per reason: what it concerns, and the reason."""
    reasons: dict[str, list[str]] = {}
    for trial in trials:
        if not trial.tried:
            reasons.setdefault(trial.why_not, []).append(f"{trial.formulation}/{trial.form}")
    lines = []
    for why, where in reasons.items():
        kinds = list(dict.fromkeys(where))
        lines.append(f"not tried: {why} ({', '.join(kinds) if len(kinds) <= 4 else f'{len(kinds)} problems'})")
    return lines


def write_csv(path: Path, trials: Sequence[Trial]) -> None:
    rows = [trial.numbers() for trial in trials]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else ["frame"])
        writer.writeheader()
        writer.writerows(rows)


def as_json(path: Path, trials: Sequence[Trial]) -> dict[str, Any]:
    """What ``--json`` holds: the numbers and histories of all trials."""
    found = [{**trial.numbers(), "history": np.maximum(trial.history, 0.0).tolist()} for trial in trials]
    for entry in found:
        entry["history"] = [value if np.isfinite(value) else None for value in entry["history"]]
    return {"problems": str(path), "units": {"residual": "N s or m/s", "seconds": "s"}, "trials": found}


def plot(trials: Sequence[Trial], path: Path, title: str) -> None:
    """Residual over iteration, a panel per formulation and form, a colour per solver, a line per frame."""
    from matplotlib.figure import Figure

    shown = [trial for trial in trials if trial.tried]
    panels = list(dict.fromkeys((t.formulation, t.form) for t in shown))
    solvers = list(dict.fromkeys(t.solver for t in shown))
    columns = min(3, max(1, len(panels)))
    rows = max(1, -(-len(panels) // columns))
    figure = Figure(figsize=(5.0 * columns + 1.0, 3.8 * rows + 0.4), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    for ax, panel in zip(axes, panels, strict=False):
        inside = [t for t in shown if (t.formulation, t.form) == panel]
        for k, solver in enumerate(solvers):
            for i, t in enumerate(t for t in inside if t.solver == solver):
                _curve(ax, t, f"C{k % 10}", STYLES[k % len(STYLES)], solver if i == 0 else None)
        ax.set_yscale("log")
        if max(t.iterations for t in inside) > MANY:
            ax.set_xscale("symlog", linthresh=10)
            ax.set_xlim(left=-0.5)
        ax.set_title(f"{panel[0]}, {panel[1]}")
        ax.set_xlabel("iteration or pivot [1]")
        ax.set_ylabel("natural residual [N s or m/s]")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    figure.suptitle(title)
    figure.savefig(path, dpi=120)


def _curve(ax, trial: Trial, color: str, style: str, label: str | None) -> None:
    """The history, which of some solvers has only a beginning and an end."""
    values = trial.history if len(trial.history) > 1 else np.array([trial.residual])
    if len(values) == trial.iterations + 1:
        at = np.arange(len(values), dtype=float)
    else:
        at = np.linspace(0.0 if len(values) > 1 else trial.iterations, trial.iterations, len(values))
    marker = "o" if len(values) <= 2 else ""
    ax.plot(
        at, np.maximum(values, FLOOR), style, marker=marker, color=color, alpha=0.8, linewidth=1.3, markersize=4,
        label=label,
    )  # fmt: skip
