"""README.md of a reproduction: its origin, its targets, and the sections of all parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stickslip.lab.papers.paper import Reproduction, Results
from stickslip.lab.report import machine_line, target_table
from stickslip.lab.targets import Target


@dataclass(frozen=True)
class Origin:
    """How a report was made, and the files beside it."""

    paper: Reproduction
    quick: bool
    only: Sequence[str]
    """Parts that the last run was asked for; empty if all."""
    parts: Sequence[str]
    """Parts that are in the report."""
    before: Sequence[str]
    """Parts among them that an earlier run computed."""
    tables: Sequence[str]
    """Names of the CSV files."""
    old: Sequence[str]
    """Figures and tables in the folder that are not up to date."""

    def __str__(self) -> str:
        missing = [part for part in self.paper.parts() if part not in self.parts]
        text = f"Made by `{self.command(self.only)}`"
        if self.before:
            text += f"; {', '.join(self.before)} from units of work that were stored before"
        text += f". All data: {_files('results.json', *self.tables)}; `data/` holds the units of work, from which "
        text += "a run continues."
        if missing:
            text += f" Not here yet: {', '.join(missing)} (`{self.command(missing)}`)."
        if self.old:
            text += f" Of other settings or another version, and not part of this report: {_files(*self.old)}."
        return text

    def command(self, only: Sequence[str]) -> str:
        options = " --quick" * self.quick + (f" --only {','.join(only)}" if only else "")
        return f"stickslip reproduce {self.paper.name}{options}"


def _files(*names: str) -> str:
    return ", ".join(f"`{name}`" for name in names)


def readme(results: Results, origin: Origin, sizes: Any, targets: list[Target]) -> str:
    text = [f"# {origin.paper.title}\n", f"{origin.paper.citation}. {origin}\n"]
    if origin.quick:
        text.append(f"**A quick slice: {origin.paper.quick_note}; not for conclusions.**\n")
    text += [machine_line() + "\n", "## Targets\n"]
    if targets:
        text.append(target_table(targets))
    text.append(origin.paper.preface(sizes))
    text += [origin.paper.sections[part](results) for part in origin.parts]
    return "\n".join(text)
