"""What all reports of the laboratory are made of: tables for terminal and Markdown, CSV, JSON, figures, the machine."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stickslip import files
from stickslip.errors import StickslipWarning
from stickslip.files import check_writable, make_folder, write_json, write_whole
from stickslip.lab.targets import Target, worst
from stickslip.record.machine import machine

NARROWEST = 12
"""Number of met targets that a table of targets shows."""


def check_destinations(json_path: Path | None, out: Path | None) -> None:
    """Refuse files that cannot be written, before minutes of work."""
    check_writable(json_path)
    if out is not None:
        make_folder(out)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings of simulations (unsolved steps, steps too long), which studies count themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StickslipWarning)
        yield


# -- tables ------------------------------------------------------------------------------------------------------------


def terminal_table(title: str, headings: Sequence[str], *, words: int = 1, no_wrap: int = 0, **options: Any) -> Table:
    """An empty table. Its first ``words`` columns are aligned left, and its first ``no_wrap`` columns never wrap."""
    table = Table(title=title, **options)
    for k, heading in enumerate(headings):
        # Text, because rich would take a unit such as "[s]" for markup.
        table.add_column(Text(heading), justify="left" if k < words else "right", no_wrap=k < no_wrap)
    return table


def miss_style(figure: float, limit: float | None) -> str:
    """The style of a row: red if the figure is above its limit."""
    return "red" if limit is not None and figure > limit else ""


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def target_table(targets: Sequence[Target]) -> str:
    """Markdown: how many targets are met, the missed ones, and those of the others that are met most narrowly."""
    missed = [t for t in targets if not t.met]
    narrow = sorted((t for t in targets if t.met), key=lambda t: -t.strain)[:NARROWEST]
    rows = [(t.name, f"{t.figure:.4g}", t.wanted, "met" if t.met else "**missed**") for t in (*missed, *narrow)]
    return (
        f"{len(targets) - len(missed)} of {len(targets)} met; shown are those missed and the narrowest of those met. "
        f"Worst: {worst(targets)}.\n\n{markdown_table(('figure', 'value', 'target', ''), rows)}"
    )


def machine_line() -> str:
    """Processor and versions in one sentence."""
    return "Machine and versions: " + ", ".join(f"{key} {value}" for key, value in machine().items()) + "."


# -- files -------------------------------------------------------------------------------------------------------------


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], *, missing: Any = "") -> None:
    """The columns of the first row, without lists; ``missing`` stands for None."""
    columns = [key for key, value in rows[0].items() if not isinstance(value, list)] if rows else []
    with write_whole(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows({key: missing if value is None else value for key, value in row.items()} for row in rows)


def plain(value: Any, *, folder: Path | None = None, nonfinite: Callable[[float], Any] = lambda value: None) -> Any:
    """A value that JSON can hold; ``nonfinite`` replaces infinity and NaN, which JSON does not have.

    Dataclasses become dictionaries, paths inside a ``folder`` relative to it, and anything unknown becomes text.
    """

    def convert(item: Any) -> Any:
        if is_dataclass(item):
            return {field.name: convert(getattr(item, field.name)) for field in fields(item)}
        if isinstance(item, Mapping):
            return {str(key): convert(entry) for key, entry in item.items()}
        if isinstance(item, list | tuple):
            return [convert(entry) for entry in item]
        if isinstance(item, Path) and folder is not None:
            whole = item.absolute()
            return whole.relative_to(folder).as_posix() if whole.is_relative_to(folder) else str(whole)
        if hasattr(item, "tolist"):  # NumPy's numbers and arrays
            return convert(item.tolist())
        if isinstance(item, float):
            return item if isfinite(item) else nonfinite(item)
        return item if isinstance(item, bool | int | str) or item is None else str(item)

    return convert(value)


def write_numbers(content: Mapping[str, Any], *paths: Path | None) -> None:
    """Write the machine and the numbers as JSON, into each file that is given."""
    for path in paths:
        if path is not None:
            write_json(path, plain({"machine": machine(), **content}))


# -- figures -----------------------------------------------------------------------------------------------------------


def new_figure(rows: int, columns: int, size: tuple[float, float]):
    """(figure, array of its axes, rows × columns); ``size`` [inch] is that of the whole figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def save_figure(figure, folder: Path, name: str) -> str:
    """Write ``name``.png and ``name``.pdf; returns the name."""
    for suffix in (".png", ".pdf"):
        files.save_figure(figure, folder / f"{name}{suffix}")
    return name


def image(name: str, caption: str) -> str:
    """Markdown of a saved figure, with a link to the PDF."""
    return f"![{caption}]({name}.png)\n\n{caption} ([PDF]({name}.pdf))\n"


# -- the end of a bench ------------------------------------------------------------------------------------------------


def show_worst(console: Console, targets: Sequence[Target]) -> bool:
    """Print the worst target in one line; True if all are met."""
    console.print(f"worst: {worst(targets)}", highlight=False, soft_wrap=True, markup=False)  # "[m]" is a unit
    return all(target.met for target in targets)


def finish(
    name: str,
    numbers: Mapping[str, Any],
    targets: Sequence[Target],
    tables: Sequence[Table],
    plot: Callable[[Any], None],
    json_path: Path | None,
    out: Path | None,
    *,
    panels: int = 1,
    size: tuple[float, float] = (8.0, 5.0),
) -> bool:
    """Write ``json_path``, and ``name``.json and .png in the folder ``out``; print; True if every target is met.

    ``plot`` draws into the axes of a figure with ``panels`` side by side and a ``size`` [inch].
    """
    last = worst(targets)
    short = {"name": last.name, "figure": last.figure, "target": last.limit}
    report = {**numbers, "targets": [t.numbers() for t in targets], "worst": short, "met": last.met}
    write_numbers(report, json_path, out and out / f"{name}.json")
    if out is not None:
        figure, axes = new_figure(1, panels, size)
        plot(axes[0] if panels > 1 else axes[0, 0])
        files.save_figure(figure, out / f"{name}.png")
    console = Console()
    for table in tables:
        console.print(table)
    return show_worst(console, targets)
