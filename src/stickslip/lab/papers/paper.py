"""Reproduction, the checklist for a paper: subclass it, and the driver does the rest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console

from stickslip.lab.report import image, new_figure, quiet, save_figure
from stickslip.lab.report import markdown_table as table
from stickslip.lab.store import Store
from stickslip.lab.targets import Target

__all__ = ["Reproduction", "Results", "Study", "image", "new_figure", "quiet", "save_figure", "table"]

Results = dict[str, Any]
"""Results of the studies by name. A list of rows (dictionaries of numbers and words) can become a CSV file."""
Study = Callable[[Store, Any], Results]
"""``study(store, sizes)`` computes results, or takes them from the store."""


class Reproduction(ABC):
    """A paper's figures and tables. The report has *parts* (fig2, table3, …), of which the user may select some."""

    name: ClassVar[str]
    """Name of the command: ``stickslip reproduce NAME``."""
    title: ClassVar[str]
    """Heading of the report."""
    citation: ClassVar[str]
    quick_note: ClassVar[str]
    """What ``--quick`` leaves out."""
    studies: ClassVar[tuple[tuple[tuple[str, ...], Study], ...]]
    """Pairs of parts and the study that they are made from."""
    sections: ClassVar[Mapping[str, Callable[[Results], str]]]
    """The text of each part, in the order of the report."""
    tables: ClassVar[tuple[str, ...]]
    """Names of the results that become CSV files."""
    figure_patterns: ClassVar[tuple[str, ...]]
    """Patterns for the names of all figures, without suffix; they find figures of earlier runs."""
    drawings: ClassVar[tuple[tuple[str, Callable[[Any, Path], list[str]]], ...]]
    """Names of results, and functions that draw them into a folder and return the names of the figures."""
    full: ClassVar[Any]
    """Sizes of the whole study."""
    quick: ClassVar[Any]
    """Sizes of ``--quick``."""

    @classmethod
    def parts(cls) -> tuple[str, ...]:
        return tuple(cls.sections)

    @abstractmethod
    def targets(self, results: Results) -> list[Target]:
        """The paper's findings as targets, for those results that there are."""

    def draw(self, results: Results, out: Path) -> list[str]:
        """Draw every result that there is, as PNG and PDF; returns the names without suffix."""
        drawn = [function(results[key], out) for key, function in self.drawings if key in results]
        return [name for names in drawn for name in names]

    def preface(self, sizes: Any) -> str:
        """Text between the targets and the parts."""
        return ""

    def show(self, results: Results, console: Console) -> None:  # noqa: B027 - most have nothing to show
        """Print tables of the parts that were asked for."""
