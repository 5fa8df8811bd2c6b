"""``stickslip reproduce expo``: the driver."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from stickslip.bench.machine import machine
from stickslip.bench.targets import Target, worst
from stickslip.errors import unknown
from stickslip.files import check_writable, make_folder, write_json
from stickslip.reproduce.expo import breakdown, claims, figures, forces, local_error, orders, stability, stiffness
from stickslip.reproduce.expo.report import PARTS, Origin, readme
from stickslip.reproduce.expo.setups import FULL, QUICK, Sizes
from stickslip.reproduce.store import NotStoredError, Store, check_folder

Results = dict[str, Any]
TABLES = ("local_error", "orders", "stability", "stiffness", "depths")
"""Studies with rows."""
WRITTEN = ("fig*.png", "fig*.pdf", "orders_*.png", "orders_*.pdf", *(f"{name}.csv" for name in TABLES))
"""What earlier runs may have left beside the report."""


def _local_errors(store: Store, sizes: Sizes) -> Results:
    rows = local_error.study(store, sizes)
    return {"local_error": rows, "orders": orders.choose(rows)}


STUDIES: tuple[tuple[tuple[str, ...], Callable[[Store, Sizes], Results]], ...] = (
    (("fig2", "fig3", "orders"), _local_errors),
    (("table2",), lambda store, sizes: {"stability": stability.study(store, sizes)}),
    (
        ("fig4",),
        lambda store, sizes: {"stiffness": stiffness.study(store, sizes), "depths": stiffness.depths(store, sizes)},
    ),
    (("fig5",), lambda store, _: {"predictions": forces.predictions(store)}),
    (("fig6",), lambda store, sizes: {"curves": forces.curves(store, sizes)}),
    (("table3",), lambda store, sizes: {"breakdown": breakdown.study(store, sizes)}),
)
"""Parts of the report, and the study that they are made from."""


class Collected(NamedTuple):
    """What a report can be made of."""

    wanted: Results
    everything: Results
    parts: list[str]
    before: list[str]
    """Parts that were stored, as a whole and up to date, without being wanted."""


def collect(store: Store, sizes: Sizes, wanted: Sequence[str]) -> Collected:
    """The wanted parts, computed where they are not stored, and all others that are stored as a whole."""
    result = Collected({}, {}, [], [])
    for parts, study in STUDIES:
        reused = store.reused
        try:
            if set(parts) & set(wanted):
                found = study(store, sizes)
                result.wanted.update(found)
            else:
                with store.nothing_computed():
                    found = study(store, sizes)
                result.before.extend(parts)
        except NotStoredError:
            store.reused = reused
            continue
        result.everything.update(found)
        result.parts.extend(parts)
    return result


def draw(results: Results, out: Path) -> list[str]:
    """Names of the figures of everything there is."""
    names = []
    for key, function in (
        ("local_error", figures.local_errors),
        ("local_error", figures.orders),
        ("stiffness", figures.stiffness),
        ("predictions", figures.predictions),
        ("curves", figures.curves),
    ):
        if key in results:
            names += function(results[key], out)
    return names


def write_tables(results: Results, out: Path) -> list[str]:
    """One CSV file per study that has rows; their names."""
    names = []
    for study in TABLES:
        if rows := results.get(study):
            names.append(f"{study}.csv")
            with (out / names[-1]).open("w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows({key: "inf" if value is None else value for key, value in row.items()} for row in rows)
    return names


def show(results: dict[str, Any], targets: list[Target], console: Console) -> None:
    if "stability" in results:
        rows = results["stability"]
        tests = list(dict.fromkeys(row["test"] for row in rows))
        grid = Table(title="Table II: largest stable (upright) step \\[ms]")
        for heading in ("method", *tests):
            grid.add_column(heading, no_wrap=True, min_width=len(heading))
        for label in dict.fromkeys(row["method"] for row in rows):
            cells = []
            for test in tests:
                pair = (stability.largest(rows, test, label, what) for what in ("stable", "upright"))
                stable, stands = ("none" if dt is None else f"{1e3 * dt:.3g}" for dt in pair)
                cells.append(f"{stable} ({stands})")
            grid.add_row(label, *cells)
        console.print(grid)
    if "breakdown" in results:
        times = results["breakdown"]["times"]
        grid = Table(title="Table III: time per step of the trot \\[µs]")
        for heading in ("operation", *times):
            grid.add_column(heading)
        for stage in ("step", *breakdown.STAGES):
            grid.add_row(stage, *(f"{t[stage]:.2f}" if stage in t else "" for t in times.values()))
        console.print(grid)
    for target in targets:
        if not target.met:
            console.print(f"missed: {target}", highlight=False, soft_wrap=True, style="red")


def run_expo(
    quick: bool = False, out: Path = Path("reproduce-expo"), json_path: Path | None = None,
    only: Sequence[str] = (), fresh: bool = False, *, sizes: Sizes | None = None,
) -> bool:  # fmt: skip
    """Compute the parts ``only`` (none: all), or take them from ``out/data``; True if their targets are met.

    Figures, tables and README are made of all parts that are stored and up to date.
    """
    for part in only:
        if part not in PARTS:
            raise unknown("part", part, PARTS)
    parts = [part for part in PARTS if part in only] or list(PARTS)
    check_writable(json_path)
    check_folder(out)
    make_folder(out)
    sizes = sizes or (QUICK if quick else FULL)
    store = Store(out / "data", fresh=fresh)
    console = Console()
    found = collect(store, sizes, parts)
    results, targets, all_targets = found.everything, claims.targets(found.wanted), claims.targets(found.everything)
    tables, drawn = write_tables(results, out), draw(results, out)
    new = {*tables, *(f"{name}{suffix}" for name in drawn for suffix in (".png", ".pdf"))}
    old = sorted({path.name for pattern in WRITTEN for path in out.glob(pattern)} - new)
    origin = Origin(quick, parts if only else (), found.parts, found.before, tables, old)
    (out / "README.md").write_text(readme(results, origin, sizes, all_targets, machine()))
    report = {
        "machine": machine(),
        "targets": [{**t._asdict(), "met": t.met} for t in all_targets],
        "met": all(t.met for t in all_targets),
        **results,
    }
    for path in (out / "results.json", json_path):
        if path is not None:
            write_json(path, finite(report))
    show(found.wanted, targets, console)
    console.print(f"{store.computed} units computed, {store.reused} taken from {out / 'data'}", highlight=False)
    console.print(f"figures, tables and data: {out / 'README.md'}", highlight=False, soft_wrap=True)
    if not targets:
        console.print("no targets in this selection")
        return True
    console.print(f"worst: {worst(targets)}", highlight=False, soft_wrap=True)
    return all(t.met for t in targets)


def finite(value: Any) -> Any:
    """JSON has no infinity: None."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and value in (float("inf"), float("-inf")) else value
