"""The driver of ``stickslip reproduce``: studies, tables, figures and the report of any paper."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from stickslip.errors import unknown
from stickslip.files import check_writable, make_folder, write_json
from stickslip.lab.bench.targets import worst
from stickslip.lab.papers.paper import Reproduction, Results
from stickslip.lab.papers.report import Origin, readme
from stickslip.lab.papers.store import NotStoredError, Store, check_folder
from stickslip.record.machine import machine


class Collected(NamedTuple):
    """What a report can be made of."""

    wanted: Results
    everything: Results
    parts: list[str]
    before: list[str]
    """Parts that were stored, as a whole and up to date, without being wanted."""


def collect(paper: Reproduction, store: Store, sizes: Any, wanted: Sequence[str]) -> Collected:
    """The wanted parts, computed where they are not stored, and all others that are stored as a whole."""
    result = Collected({}, {}, [], [])
    for parts, study in paper.studies:
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


def write_tables(paper: Reproduction, results: Results, out: Path) -> list[str]:
    """One CSV file per study that has rows; their names."""
    names = []
    for study in paper.tables:
        if rows := results.get(study):
            names.append(f"{study}.csv")
            with (out / names[-1]).open("w", newline="") as file:
                columns = [key for key, value in rows[0].items() if not isinstance(value, list)]
                writer = csv.DictWriter(file, columns, extrasaction="ignore")
                writer.writeheader()
                writer.writerows({key: "inf" if value is None else value for key, value in row.items()} for row in rows)
    return names


def reproduce(
    paper: Reproduction, quick: bool = False, out: Path | None = None, json_path: Path | None = None,
    only: Sequence[str] = (), fresh: bool = False, *, sizes: Any = None,
) -> bool:  # fmt: skip
    """Compute the parts ``only`` (none: all), or take them from ``out/data``; True if their targets are met.

    Figures, tables and README are made of all parts that are stored and up to date.
    """
    for part in only:
        if part not in paper.parts():
            raise unknown("part", part, paper.parts())
    parts = [part for part in paper.parts() if part in only] or list(paper.parts())
    out = out or Path(f"reproduce-{paper.name}")
    check_writable(json_path)
    check_folder(out)
    make_folder(out)
    sizes = sizes or (paper.quick if quick else paper.full)
    store = Store(out / "data", fresh=fresh)
    console = Console()
    found = collect(paper, store, sizes, parts)
    results, targets, all_targets = found.everything, paper.targets(found.wanted), paper.targets(found.everything)
    tables, drawn = write_tables(paper, results, out), paper.draw(results, out)
    new = {*tables, *(f"{name}{suffix}" for name in drawn for suffix in (".png", ".pdf"))}
    possible = [f"{name}.csv" for name in paper.tables]
    possible += [f"{pattern}{suffix}" for pattern in paper.figure_patterns for suffix in (".png", ".pdf")]
    old = sorted({path.name for pattern in possible for path in out.glob(pattern)} - new)
    origin = Origin(paper, quick, parts if only else (), found.parts, found.before, tables, old)
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
    paper.show(found.wanted, console)
    for target in targets:
        if not target.met:
            console.print(f"missed: {target}", highlight=False, soft_wrap=True, markup=False, style="red")
    console.print(f"{store.computed} units computed, {store.reused} taken from {out / 'data'}", highlight=False)
    console.print(f"figures, tables and data: {out / 'README.md'}", highlight=False, soft_wrap=True)
    if not targets:
        console.print("no targets in this selection")
        return True
    console.print(f"worst: {worst(targets)}", highlight=False, soft_wrap=True, markup=False)  # "[m]" is a unit
    return all(t.met for t in targets)


def finite(value: Any) -> Any:
    """JSON has no infinity: None."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and value in (float("inf"), float("-inf")) else value
