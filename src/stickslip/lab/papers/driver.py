"""The driver of ``stickslip reproduce``: it runs a paper's studies and writes tables, figures and README.md."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from stickslip.errors import unknown
from stickslip.files import check_writable, make_folder, write_text
from stickslip.lab.cluster import check_place, pool_on
from stickslip.lab.papers.paper import Reproduction, Results
from stickslip.lab.papers.readme import Origin, readme
from stickslip.lab.report import show_worst, write_csv, write_numbers
from stickslip.lab.store import NotStoredError, Store, check_folder


class Collected(NamedTuple):
    """Results that a report can be made of."""

    wanted: Results
    """Results of the parts that were asked for."""
    everything: Results
    """Results of all parts that are up to date."""
    parts: list[str]
    """Names of these parts."""
    before: list[str]
    """Parts among them that were stored already and not asked for."""


def collect(paper: Reproduction, store: Store, sizes: Any, wanted: Sequence[str]) -> Collected:
    """Compute the wanted parts unless they are stored, and read all others that are stored completely."""
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
    """Write a CSV file per table; returns the names of the files."""
    names = []
    for study in paper.tables:
        if rows := results.get(study):
            names.append(f"{study}.csv")
            write_csv(out / names[-1], rows, missing="inf")
    return names


def reproduce(
    paper: Reproduction, quick: bool = False, out: Path | None = None, json_path: Path | None = None,
    only: Sequence[str] = (), fresh: bool = False, *, sizes: Any = None, on: str | None = None,
) -> bool:  # fmt: skip
    """Compute the parts ``only`` (all if empty) unless they are stored in ``out/data``; True if their targets are met.

    Figures, tables and README.md show all parts that are stored and up to date. With ``on``, Ray computes the units of
    a part side by side; what a part computes in one piece is computed here.
    """
    for part in only:
        if part not in paper.parts():
            raise unknown("part", part, paper.parts())
    parts = [part for part in paper.parts() if part in only] or list(paper.parts())
    out = out or Path(f"reproduce-{paper.name}")
    check_place(on)
    check_writable(json_path)
    check_folder(out)
    make_folder(out)
    sizes = sizes or (paper.quick if quick else paper.full)
    store = Store(out / "data", fresh=fresh)
    console = Console()
    with nullcontext() if on is None else pool_on(on, None, None) as store.pool:
        found = collect(paper, store, sizes, parts)
    results, targets, all_targets = found.everything, paper.targets(found.wanted), paper.targets(found.everything)
    tables, drawn = write_tables(paper, results, out), paper.draw(results, out)
    new = {*tables, *(f"{name}{suffix}" for name in drawn for suffix in (".png", ".pdf"))}
    possible = [f"{name}.csv" for name in paper.tables]
    possible += [f"{name}{suffix}" for name in paper.figure_names for suffix in (".png", ".pdf")]
    old = sorted({path.name for pattern in possible for path in out.glob(pattern)} - new)
    origin = Origin(paper, quick, parts if only else (), found.parts, found.before, tables, old)
    write_text(out / "README.md", readme(results, origin, sizes, all_targets))
    judged = {"targets": [t.numbers() for t in all_targets], "met": all(t.met for t in all_targets)}
    write_numbers({**judged, **results}, out / "results.json", json_path)
    paper.show(found.wanted, console)
    for target in targets:
        if not target.met:
            console.print(f"missed: {target}", highlight=False, soft_wrap=True, markup=False, style="red")
    console.print(f"{store.computed} units computed, {store.reused} taken from {out / 'data'}", highlight=False)
    console.print(f"figures, tables and data: {out / 'README.md'}", highlight=False, soft_wrap=True)
    if not targets:
        console.print("no targets in this selection")
        return True
    return show_worst(console, targets)
