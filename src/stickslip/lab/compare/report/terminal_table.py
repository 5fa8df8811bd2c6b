"""The scorecard for the terminal, with one row per method; narrow terminals show fewer figures."""

from __future__ import annotations

from math import isfinite, nan

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stickslip.lab.compare.comparison import CandidateResult, Comparison
from stickslip.lab.compare.report.numbers import NOTHING, ROUND_OFF, column, plain, seconds
from stickslip.lab.compare.report.scores import best

COLUMNS = {
    "real_time_factor": ("× real\ntime", "1"),
    "error_rms": ("error\n\\[mm]", "m"),
    "penetration_max": ("depth\n\\[mm]", "m"),
    "energy_gained": ("energy\n+ \\[J]", "J"),
    "signorini": ("Signo-\nrini", "1"),
    "cone": ("cone", "1"),
}
"""Figures, with short headings and units; all of them fit into 100 columns."""
LEFT_OUT = ("cone", "signorini", "penetration_max", "energy_gained")
"""Figures that are dropped, in this order, if there is no room."""
LAST = {"order": lambda candidate: candidate.order, "longest\nstable dt": lambda candidate: candidate.largest_stable_dt}
"""Figures of all runs of a method; they are left out if no method has one."""
WIDEST_LABEL = 22


def table(comparison: Comparison, width: int | None = None) -> Table:
    """Every method at the complete run whose step is nearest its default, with the best figures in bold.

    The table has as many figures as fit into ``width`` columns, by default those of the terminal.
    """
    console = Console(width=width)
    names = list(COLUMNS)
    result = _table(comparison, names)
    for name in LEFT_OUT:
        if console.measure(result, options=console.options.update(max_width=500)).maximum <= console.width:
            break
        names.remove(name)
        result = _table(comparison, names)
    return result


def _table(comparison: Comparison, names: list[str]) -> Table:
    label, dt = comparison.reference
    scene, against = escape(comparison.scene), "no run ended well"
    title = f"{scene}: {comparison.seconds:g} s simulated, every method at the step nearest its default"
    if label:
        against = f"errors (rms) against {escape(label)} at dt = {seconds(dt)}; bold: best"
    result = Table(
        title=title, caption=against, title_justify="left", caption_justify="left", pad_edge=False, padding=(0, 1, 0, 0)
    )
    result.add_column("method", overflow="fold", max_width=WIDEST_LABEL)
    result.add_column("dt", justify="right", no_wrap=True)
    for name in names:
        result.add_column(COLUMNS[name][0], justify="right", no_wrap=True)
    last = [heading for heading, get in LAST.items() if any(isfinite(get(e)) for e in comparison.candidates)]
    for heading in last:
        result.add_column(heading, justify="right", no_wrap=True)
    typical = [run for candidate in comparison.candidates if (run := candidate.typical()) is not None]
    top = {name: best(comparison, typical, name) for name in names}
    for candidate in comparison.candidates:
        stable = ("≥ " if candidate.unlimited else "") + seconds(candidate.largest_stable_dt)
        ends = [plain(candidate.order, 2) if heading == "order" else stable for heading in last]
        result.add_row(*_row(candidate, top), *ends)
    return result


def _row(candidate: CandidateResult, top: dict[str, set[tuple[str, float]]]) -> list[str]:
    run = candidate.typical()
    if run is None:
        words = ", ".join(dict.fromkeys(run.outcome for run in candidate.runs)) or "not run"
        return [escape(candidate.label), f"[red]{words}[/red]", *[NOTHING] * len(top)]
    cells = []
    for name, winners in top.items():
        text = _short(run.scores.get(name, nan), COLUMNS[name][1])
        cells.append(f"[bold]{text}[/bold]" if (run.label, run.dt) in winners else text)
    return [escape(candidate.label), seconds(run.dt), *cells]


def _short(value: float, unit: str) -> str:
    """A figure in few characters: 1e-7 for 10⁻⁷, and 0 for rounding errors."""
    if abs(value) < ROUND_OFF:
        return "0"
    text = column(value, unit)
    return text if "·" not in text else f"{value * (1e3 if unit == 'm' else 1.0):.0e}".replace("e-0", "e-")
