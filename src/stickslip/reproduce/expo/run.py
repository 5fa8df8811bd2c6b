"""``stickslip reproduce expo``: the driver."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stickslip.bench.machine import machine
from stickslip.errors import unknown
from stickslip.files import check_writable, make_folder, write_json
from stickslip.reproduce.expo import breakdown, claims, figures, forces, local_error, orders, stability, stiffness
from stickslip.reproduce.expo.report import PARTS, readme
from stickslip.reproduce.expo.setups import FULL, QUICK, Sizes
from stickslip.reproduce.store import Store, check_folder
from stickslip.reproduce.targets import Target, worst


def compute(store: Store, sizes: Sizes, parts: Sequence[str]) -> dict[str, Any]:
    """The results of the studies that the wanted parts need."""
    results: dict[str, Any] = {}
    if {"fig2", "fig3", "orders"} & set(parts):
        results["local_error"] = local_error.study(store, sizes)
        results["orders"] = orders.choose(results["local_error"])
    if "table2" in parts:
        results["stability"] = stability.study(store, sizes)
    if "fig4" in parts:
        results["stiffness"], results["depths"] = stiffness.study(store, sizes), stiffness.depths(store, sizes)
    if "fig5" in parts:
        results["predictions"] = forces.predictions(store)
    if "fig6" in parts:
        results["curves"] = forces.curves(store, sizes)
    if "table3" in parts:
        results["breakdown"] = breakdown.study(store, sizes)
    return results


def draw(results: dict[str, Any], parts: Sequence[str], out: Path) -> list[str]:
    names = []
    if {"fig2", "fig3"} & set(parts):
        names += figures.local_errors(results["local_error"], out)
    if "orders" in parts:
        names += figures.orders(results["local_error"], out)
    if "fig4" in parts:
        names += figures.stiffness(results["stiffness"], out)
    if "fig5" in parts:
        names += figures.predictions(results["predictions"], out)
    if "fig6" in parts:
        names += figures.curves(results["curves"], out)
    return names


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    if rows:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({key: "inf" if value is None else value for key, value in row.items()} for row in rows)


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
    """Compute, or take from ``out/data`` what is there already; write figures and README; True if targets are met."""
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
    results = compute(store, sizes, parts)
    targets = claims.targets(results)
    draw(results, parts, out)
    (out / "README.md").write_text(readme(results, parts, sizes, targets, machine(), quick))
    for name in ("local_error", "orders", "stability", "stiffness", "depths"):
        write_csv(out / f"{name}.csv", results.get(name, []))
    report = {
        "machine": machine(),
        "targets": [{**t._asdict(), "met": t.met} for t in targets],
        "met": all(t.met for t in targets),
        **results,
    }
    for path in (out / "results.json", json_path):
        if path is not None:
            write_json(path, finite(report))
    show(results, targets, console)
    console.print(f"{store.computed} units computed, {store.reused} taken from {out / 'data'}", highlight=False)
    console.print(f"figures, tables and data: {out / 'README.md'}", highlight=False, soft_wrap=True)
    if not targets:
        console.print("no targets in this selection")
        return True
    console.print(f"worst: {worst(targets)}", highlight=False, soft_wrap=True)
    return report["met"]


def finite(value: Any) -> Any:
    """JSON has no infinity: None."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and value in (float("inf"), float("-inf")) else value
