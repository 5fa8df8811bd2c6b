"""``stickslip bench models FILE…``: which model files load as they are, and by which methods they run.

Names of bundled scenes stand beside files, and ``scenes`` means all of them. Each file is loaded without ``ignore`` and
simulated by every method at the time step that the method chooses (``model_run``). A row says how much faster than real
time each method is, or what became of it. Targets: at least 95 % of the files load, every method reaches the end on all
models that are loaded, and the median model runs in real time or faster by the default method.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stickslip.errors import expected, number
from stickslip.lab.bench.model_run import DEFAULT, RAN, ModelRow, Run, Settings, row_of, run_trial
from stickslip.lab.bench.robots import in_own_process, model_files
from stickslip.lab.report import check_destinations, finish, terminal_table
from stickslip.lab.targets import Target
from stickslip.methods.registry import resolve
from stickslip.progress import Progress
from stickslip.scenes import SCENES

LOADED_TARGET = 0.95
COLUMNS = 5
"""Number of methods that a table shows side by side."""
ALL_SCENES = "scenes"
"""Stands for the names of all bundled scenes."""


def measure(files: Sequence[Path], settings: Settings) -> list[ModelRow]:
    rows = []
    with Progress("models", len(files), "models") as bar:
        for done, path in enumerate(files):
            rows.append(in_own_process(run_trial, path, settings, row_of(path)))
            bar.update(done + 1)
    return rows


def targets(rows: Sequence[ModelRow], methods: Sequence[str]) -> list[Target]:
    """The share of files that load, the share of models that each method brings to the end, and their speed."""
    loaded = [row for row in rows if row.loaded]
    aims = [Target(f"loaded, of {len(rows)} files", len(loaded) / len(rows), LOADED_TARGET, "≥")]
    for method in methods:
        ended = sum(method in row.runs and row.runs[method].outcome == RAN for row in loaded)
        aims.append(Target(f"{method} reaches the end, of {len(loaded)}", ended / max(1, len(loaded)), 1.0, "≥"))
    if DEFAULT in methods and loaded:
        speeds = [row.runs[DEFAULT].real_time if DEFAULT in row.runs else 0.0 for row in loaded]
        aims.append(Target("median real-time factor, default method", statistics.median(speeds), 1.0, "≥"))
    return aims


def _cell(run: Run | None) -> str:
    if run is None:
        return ""
    if run.outcome != RAN:
        return run.outcome
    unsolved = f" ({100.0 * run.unsolved / run.steps:.0f} %)" if run.unsolved else ""
    return f"{run.real_time:.3g}{unsolved}"


def _table(rows: Sequence[ModelRow], methods: Sequence[str], seconds: float) -> Table:
    title = f"{seconds:g} s of each model: simulated over real time (unsolved steps)"
    table = terminal_table(title, ("model", "links", "dofs", "notes", *methods))
    for row in rows:
        if row.loaded:
            cells = (_cell(row.runs.get(method)) for method in methods)
            table.add_row(row.name, f"{row.links}", f"{row.dofs}", f"{len(row.notes)}", *cells)
    return table


def _summary(rows: Sequence[ModelRow], settings: Settings) -> Table:
    table = terminal_table("Outcomes", ("method", "ran", "diverged", "refused", "slow", "median × real time", "dt [s]"))
    for method in settings.methods:
        runs = [row.runs[method] for row in rows if method in row.runs]
        count = Counter(run.outcome for run in runs)
        speeds = [run.real_time for run in runs if run.outcome == RAN]
        steps = sorted({run.dt for run in runs if run.dt > 0.0})
        span = f"{steps[0]:g} … {steps[-1]:g}" if steps else ""
        counts = (f"{count[outcome]}" for outcome in ("ran", "diverged", "refused", "slow"))
        table.add_row(method, *counts, f"{statistics.median(speeds):.3g}" if speeds else "–", span)
    return table


def _reasons(rows: Sequence[ModelRow]) -> list[str]:
    """One line for each file that was refused, and for each method that did not reach the end."""
    lines = [f"{row.name}: {row.reason}" for row in rows if row.reason]
    lines += [
        f"{row.name}, {method}: {run.outcome}: {run.why}"
        for row in rows
        for method, run in row.runs.items()
        if run.outcome != RAN
    ]
    return lines


def _plot(rows: Sequence[ModelRow], methods: Sequence[str], axes: Any) -> None:
    shown = [row for row in rows if row.loaded]
    for method in methods:
        speeds = [
            row.runs[method].real_time if method in row.runs and row.runs[method].outcome == RAN else float("nan")
            for row in shown
        ]
        axes.semilogy(range(len(shown)), speeds, "o", markersize=4, label=method)
    axes.axhline(1.0, color="0.6", linewidth=0.8)
    axes.set_xticks(range(len(shown)), [row.name for row in shown], rotation=90, fontsize=6)
    axes.set_ylabel("simulated over real time")
    axes.grid(alpha=0.3)
    axes.legend()


def run_models(given: Sequence[Path], settings: Settings, json_path: Path | None, out: Path | None) -> bool:
    """Load and run, print tables, reasons and targets; True if every target is met."""
    named = [Path(name) for path in given for name in (SCENES if str(path) == ALL_SCENES else (path,))]
    files = model_files(named)
    check_destinations(json_path, out)
    for what in ("seconds", "limit"):
        number(what, getattr(settings, what), "a positive number of seconds from 1e-9 to 1e6", least=1e-9, most=1e6)
    if not settings.methods:
        raise expected("--methods", "names of methods with commas between", "none")
    for method in settings.methods:
        if method != DEFAULT:
            resolve(method)
    rows = measure(files, settings)
    aims = targets(rows, settings.methods)
    numbers = {"settings": settings, "models": rows}
    plot = partial(_plot, rows, settings.methods)
    parts = [settings.methods[k : k + COLUMNS] for k in range(0, len(settings.methods), COLUMNS)]
    tables = [*(_table(rows, methods, settings.seconds) for methods in parts), _summary(rows, settings)]
    met = finish("models", numbers, aims, tables, plot, json_path, out, size=(14.0, 6.0))
    console = Console()
    for line in (*_reasons(rows), *(str(aim) for aim in aims)):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    return met
