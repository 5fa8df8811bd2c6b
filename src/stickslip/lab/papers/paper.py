"""What a reproduction of a paper is made of: parts, one for each figure, table or section.

A module per part holds, top to bottom, the study, the targets, the drawings and the section, and declares its ``Part``
at the end. The reproduction of a paper is the list of its parts, in the order of the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console

from stickslip.errors import StickslipError, brief
from stickslip.lab.pool import DIED
from stickslip.lab.report import image, new_figure, quiet, save_figure
from stickslip.lab.report import markdown_table as table
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.progress import Progress

__all__ = [
    "Part", "Reproduction", "Results", "Study", "finish", "grid", "image", "new_figure", "quiet", "save_figure",
    "table", "units",
]  # fmt: skip

Results = dict[str, Any]
"""Results of the studies by name. A list of rows (dictionaries of numbers and words) can become a CSV file."""
Study = Callable[[Store, Any], Results]
"""``study(store, sizes)`` computes results, or takes them from the store."""


def nothing(*_: Any) -> list[Any]:
    """A part without targets, or with nothing to show in the terminal."""
    return []


@dataclass(frozen=True)
class Part:
    """One figure, table or section of a paper. Its functions are called where its results are present."""

    name: str
    """What the user selects: ``stickslip reproduce PAPER --only NAME``."""
    study: Study
    """Computes the results. It is called once for all parts that share it."""
    section: Callable[[Results], str]
    """The text of the report."""
    targets: Callable[[Results], list[Target]] = nothing
    """The paper's findings, as figures with limits."""
    figures: Mapping[str, Callable[[Results], Any]] = field(default_factory=dict)
    """Name of a file without suffix → function that draws the figure and returns it."""
    tables: tuple[str, ...] = ()
    """Results with rows. Each becomes a CSV file."""
    data: tuple[str, ...] = ()
    """The other results that this part needs."""
    show: Callable[[Results, Console], Any] = nothing
    """Prints to the terminal."""


class Reproduction:
    """A paper's figures and tables. Subclass it, list the parts in ``contents``, and the driver does the rest."""

    name: ClassVar[str]
    """Name of the command: ``stickslip reproduce NAME``."""
    title: ClassVar[str]
    """Heading of the report."""
    citation: ClassVar[str]
    quick_note: ClassVar[str]
    """What ``--quick`` leaves out."""
    contents: ClassVar[tuple[Part, ...]]
    """The parts, in the order of the report."""
    full: ClassVar[Any]
    """Sizes of the whole study."""
    quick: ClassVar[Any]
    """Sizes of ``--quick``."""

    def __init_subclass__(cls) -> None:
        studies = dict.fromkeys(part.study for part in cls.contents)
        cls.studies = tuple((tuple(p.name for p in cls.contents if p.study is study), study) for study in studies)
        cls.sections = {part.name: part.section for part in cls.contents}
        cls.tables = tuple(name for part in cls.contents for name in part.tables)
        cls.figure_names = tuple(name for part in cls.contents for name in part.figures)

    studies: ClassVar[tuple[tuple[tuple[str, ...], Study], ...]]
    """Pairs of parts and the study that they are made from."""
    sections: ClassVar[Mapping[str, Callable[[Results], str]]]
    """The text of each part, in the order of the report."""
    tables: ClassVar[tuple[str, ...]]
    """Names of the results that become CSV files."""
    figure_names: ClassVar[tuple[str, ...]]
    """Names of all figures, without suffix."""

    @classmethod
    def parts(cls) -> tuple[str, ...]:
        return tuple(cls.sections)

    def found(self, results: Results) -> list[Part]:
        """The parts that have some of their results."""
        return [part for part in self.contents if not results.keys().isdisjoint((*part.tables, *part.data))]

    def targets(self, results: Results) -> list[Target]:
        """The paper's findings as targets, for those results that there are."""
        return [target for part in self.found(results) for target in part.targets(results)]

    def draw(self, results: Results, out: Path) -> list[str]:
        """Draw every figure that has results, as PNG and PDF; returns the names without suffix."""
        drawings = [item for part in self.found(results) for item in part.figures.items()]
        return [save_figure(draw(results), out, name) for name, draw in drawings]

    def preface(self, sizes: Any) -> str:
        """Text between the targets and the parts."""
        return ""

    def show(self, results: Results, console: Console) -> None:
        """Print tables of the parts that were asked for."""
        for part in self.found(results):
            part.show(results, console)


def grid(**values: Iterable[Any]) -> list[dict[str, Any]]:
    """All combinations of values, as parameters by name; the last name varies fastest."""
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def units(
    store: Store, kind: str, cases: Sequence[Mapping[str, Any]], compute: Callable[..., dict[str, Any]],
    title: str = "", unit: str = "",
) -> list[dict[str, Any]]:  # fmt: skip
    """One unit of work per case, ``compute(**case)``, with progress; the rows (parameters and results).

    Where the store has a pool, it computes those that are missing, side by side.
    """
    if store.pool is not None:
        _side_by_side(store, kind, cases, compute, title or kind)
    rows: list[dict[str, Any]] = []
    with Progress(title or kind, len(cases), unit) as bar, quiet():
        for case in cases:
            rows.append(store.unit(kind, case, partial(compute, **case)))
            bar.update(len(rows))
    return rows


def _side_by_side(
    store: Store, kind: str, cases: Sequence[Mapping[str, Any]], compute: Callable[..., dict[str, Any]], title: str
) -> None:
    """Let the store's pool compute the units that are missing, and keep each as soon as it is there."""
    missing = [(case,) for case in cases if not store.has(kind, case)]
    if not missing or not store.computes:
        return

    def keep(found: tuple[Mapping[str, Any], dict[str, Any] | None]) -> None:
        case, result = found
        if result is not None:
            store.keep(kind, case, {**case, **result})

    found = store.pool.map(partial(_unit, compute), missing, title, lambda case: (case, None), arrived=keep)
    store.reused -= len(found)  # they are read from their files next
    lost = [case for case, result in found if result is None]
    if lost:
        raise StickslipError(f"{kind} {brief(lost[0])}: {DIED}; the same command goes on with what is missing")


def _unit(compute: Callable[..., dict[str, Any]], _: None, case: Mapping[str, Any]) -> tuple[Mapping[str, Any], Any]:
    with quiet():
        return case, compute(**case)


def finish(axes, xlabel: str = "", fontsize: float = 8, *, legend: bool = True, which: str = "major") -> None:
    """Add a grid to all ``axes``, a legend where curves have labels, and a label of x where there is none."""
    for ax in axes.flat:
        ax.set_xlabel(ax.get_xlabel() or xlabel)
        ax.grid(alpha=0.3, which=which)
        if legend and ax.get_legend_handles_labels()[0]:
            ax.legend(fontsize=fontsize)
