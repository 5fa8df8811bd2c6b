"""What a reproduction is: the checklist for the next paper. Subclass ``Reproduction``, and the driver does the rest."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console

from stickslip.errors import StickslipWarning
from stickslip.lab.bench.targets import Target
from stickslip.lab.papers.store import Store

Results = dict[str, Any]
"""What studies found, by name; lists of rows (dicts of numbers and words) become CSV files if they are TABLES."""
Study = Callable[[Store, Any], Results]
"""``study(store, sizes)``."""


class Reproduction(ABC):
    """A paper's figures and tables. Its report is made of *parts* (fig2, table3, …), which the user may select."""

    name: ClassVar[str]
    """Of the command: ``stickslip reproduce NAME``."""
    title: ClassVar[str]
    """Heading of the report."""
    citation: ClassVar[str]
    quick_note: ClassVar[str]
    """What a quick slice leaves out."""
    studies: ClassVar[tuple[tuple[tuple[str, ...], Study], ...]]
    """Parts of the report, and the study that they are made from."""
    sections: ClassVar[Mapping[str, Callable[[Results], str]]]
    """The text of each part, in the order of the report."""
    tables: ClassVar[tuple[str, ...]]
    """Results with rows."""
    figure_patterns: ClassVar[tuple[str, ...]]
    """Names of figures that earlier runs may have left, without suffix."""
    drawings: ClassVar[tuple[tuple[str, Callable[[Any, Path], list[str]]], ...]]
    """Results, and functions that draw them into a folder; they return the names of their figures."""
    full: ClassVar[Any]
    """Sizes: how much is computed."""
    quick: ClassVar[Any]

    @classmethod
    def parts(cls) -> tuple[str, ...]:
        return tuple(cls.sections)

    @abstractmethod
    def targets(self, results: Results) -> list[Target]:
        """The paper's findings as figures with limits, of all that was computed."""

    def draw(self, results: Results, out: Path) -> list[str]:
        """Draw everything there is, as PNG and PDF; the names without suffix."""
        drawn = [function(results[key], out) for key, function in self.drawings if key in results]
        return [name for names in drawn for name in names]

    def preface(self, sizes: Any) -> str:
        """Between the targets and the parts."""
        return ""

    def show(self, results: Results, console: Console) -> None:  # noqa: B027 - most have nothing to show
        """Tables for the terminal, of the parts that were asked for."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """In Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def image(name: str, caption: str) -> str:
    """In Markdown, with a link to the PDF."""
    return f"![{caption}]({name}.png)\n\n{caption} ([PDF]({name}.pdf))\n"


def new_figure(rows: int, columns: int, size: tuple[float, float]):
    """(figure, its axes (rows, columns)); ``size`` in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


@contextmanager
def quiet() -> Iterator[None]:
    """What simulations warn of (unsolved steps, steps too long) is what is compared: counted, not announced."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StickslipWarning)
        yield


def save_figure(figure, folder: Path, name: str) -> str:
    """As PNG and PDF; the name."""
    for suffix in (".png", ".pdf"):
        figure.savefig(folder / f"{name}{suffix}", dpi=150)
    return name
