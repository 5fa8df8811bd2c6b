"""A comparison of solvers as tables, a plot of convergence, and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from stickslip.files import save_figure, write_json
from stickslip.lab.problems.solver_comparison import Trial
from stickslip.lab.report import new_figure, plain, terminal_table, write_csv
from stickslip.solvers.registry import SOLVERS

MOST_ROWS = 60
"""Largest number of trials that have a row each; beyond it, one row stands for all frames."""
FLOOR = 1e-17
"""Height at which residuals of zero are drawn."""
MANY = 200
"""Number of iterations above which their axis is logarithmic."""
STYLES = ("-", "--", "-.", ":")


def tables(trials: Sequence[Trial]) -> list[Table]:
    """One table per problem, with a row per solver; for many problems one table, with a row for all frames."""
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
        ("solver", "residual", "iterations", "time, ms"),
    )
    made.add_column("status")
    for t in trials:
        numbers = (f"{t.residual:.2g}", str(t.iterations), milliseconds(t.seconds))
        made.add_row(t.solver, *numbers, "solved" if t.success else t.status, style="" if t.success else "red")
    return made


def milliseconds(seconds: float) -> str:
    """A time in milliseconds, with three digits."""
    return f"{1e3 * seconds:.3g}" if seconds < 1.0 else f"{1e3 * seconds:.0f}"


def plain_table(title: str, headings: Sequence[str], **options: Any) -> Table:
    """An empty table with few lines, whose columns do not wrap."""
    return terminal_table(
        title, headings, no_wrap=len(headings), title_justify="left", title_style="bold", box=SIMPLE_HEAD, **options
    )


def _summary(trials: Sequence[Trial]) -> Table:
    frames = len({trial.frame for trial in trials})
    made = plain_table(
        f"{frames} frames: n unknowns; largest residual, median iterations and time",
        ("formulation", "form", "solver", "n", "solved", "residual", "iter.", "ms"),
        words=3, padding=0, show_edge=False,  # the table must fit into 80 columns
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
    """Trials of all frames, grouped by formulation, form and solver."""
    groups: dict[tuple[str, str, str], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.formulation, trial.form, trial.solver), []).append(trial)
    return groups


MOST_REASONS = 4
"""Lines on what was not tried."""


def not_tried(trials: Sequence[Trial], most: int = MOST_REASONS) -> list[str]:
    """One line per reason why problems were not tried, and at most so many lines."""
    reasons: dict[str, list[str]] = {}
    for trial in trials:
        if not trial.tried:
            reasons.setdefault(trial.why_not, []).append(f"{trial.formulation}/{trial.form}")
    lines = []
    for why, where in reasons.items():
        kinds = list(dict.fromkeys(where))
        lines.append(f"not tried: {why} ({', '.join(kinds) if len(kinds) <= 4 else f'{len(kinds)} problems'})")
    if len(lines) > most:
        lines[most - 1 :] = [f"not tried: others, for {len(lines) - most + 1} further reasons (--json has them)"]
    return lines


def write_results(
    path: Path, trials: Sequence[Trial], title: str, json_path: Path | None, out: Path | None, **more: Any
) -> None:
    """Write all numbers and histories to ``json_path``, and to the folder ``out`` with a table and a plot; say so."""
    found = [{**trial.numbers(), "history": np.maximum(trial.history, 0.0).tolist()} for trial in trials]
    units = {"residual": "N s or m/s", "seconds": "s"}
    content = plain({"problems": str(path), "units": units, "trials": found, **more})
    if json_path is not None:
        write_json(json_path, content)
        Console().print(f"numbers    {json_path}")
    if out is not None:
        write_json(out / "solve.json", content)
        write_csv(out / "solve.csv", [trial.numbers() for trial in trials])
        plot(trials, out / "convergence.png", title)
        Console().print(f"results    {out}")


def plot(trials: Sequence[Trial], path: Path, title: str) -> None:
    """Draw residuals over iterations: a panel per formulation and form, a colour per solver, a line per frame."""
    shown = [trial for trial in trials if trial.tried and trial.solver in SOLVERS]  # not answers that were stored
    panels = list(dict.fromkeys((t.formulation, t.form) for t in shown))
    solvers = list(dict.fromkeys(t.solver for t in shown))
    columns = min(3, max(1, len(panels)))
    rows = max(1, -(-len(panels) // columns))
    figure, grid = new_figure(rows, columns, (5.0 * columns + 1.0, 3.8 * rows + 0.4))
    axes = grid.ravel()
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
    save_figure(figure, path, dpi=120)


def _curve(ax, trial: Trial, color: str, style: str, label: str | None) -> None:
    """Draw one history. Some solvers record only the first and the last residual."""
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
