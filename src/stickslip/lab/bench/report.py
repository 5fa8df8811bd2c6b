"""How a bench ends: JSON, a plot, tables, and one line that names the worst figure against its target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stickslip.files import check_writable, make_folder, write_json
from stickslip.lab.bench.targets import Target, worst
from stickslip.lab.bench.timing import Growth
from stickslip.record.machine import machine


def check_destinations(json_path: Path | None, out: Path | None) -> None:
    """Trouble comes before minutes of work."""
    check_writable(json_path)
    if out is not None:
        make_folder(out)


def growth_targets(growths: Sequence[Growth]) -> list[Target]:
    return [Target(f"slope of {g.name}", g.slope, g.target) for g in growths if g.target is not None]


def growth_table(growths: Sequence[Growth]) -> Table:
    table = Table(title="Growth: slope of log(time) over log(size)")
    solving = any(g.iterations is not None for g in growths)
    for heading in (
        "what",
        "sizes",
        "median µs",
        *(("iterations", "unconverged") if solving else ()),
        "slope",
        "target",
    ):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for g in growths:
        missed = g.target is not None and g.slope > g.target
        target = "for information" if g.target is None else f"≤ {g.target:g}"
        ends: tuple[str, ...] = (f"{g.sizes[0]} … {g.sizes[-1]}", f"{g.times[0]:.3g} … {g.times[-1]:.3g}")
        if solving:
            ends += ("", "") if not g.iterations else (" ".join(f"{k:g}" for k in g.iterations), f"{g.unconverged}")
        table.add_row(g.name, *ends, f"{g.slope:.2f}", target, style="red" if missed else "")
    return table


def finish(
    name: str,
    numbers: dict[str, Any],
    targets: Sequence[Target],
    tables: Sequence[Table],
    plot: Callable[[Path], None],
    json_path: Path | None,
    out: Path | None,
) -> bool:
    """Write ``json_path``, and ``name``.json and .png in the folder ``out``; print; True if every target is met."""
    last = worst(targets)
    report = {
        "machine": machine(),
        **numbers,
        "worst": {"name": last.name, "figure": last.figure, "target": last.limit},
        "met": last.met,
    }
    if out is not None:
        plot(out / f"{name}.png")
        write_json(out / f"{name}.json", report)
    if json_path is not None:
        write_json(json_path, report)
    console = Console()
    for table in tables:
        console.print(table)
    console.print(f"worst: {last}", highlight=False, soft_wrap=True, markup=False)  # "[m]" is a unit
    return last.met
