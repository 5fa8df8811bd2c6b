"""README.md of a reproduction: where it comes from, what was to be reached, and the sections of all parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stickslip.lab.bench.targets import Target, worst
from stickslip.lab.papers.paper import Reproduction, Results, table


@dataclass(frozen=True)
class Origin:
    """Where a report comes from, and what lies beside it."""

    paper: Reproduction
    quick: bool
    only: Sequence[str]
    """The parts that the last run was asked for; none: all."""
    parts: Sequence[str]
    """The parts that there are."""
    before: Sequence[str]
    """Those of them that the last run found stored and was not asked for."""
    tables: Sequence[str]
    """CSV files."""
    old: Sequence[str]
    """Figures and tables of parts that are not up to date."""

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


def readme(results: Results, origin: Origin, sizes: Any, targets: list[Target], machine: dict[str, str]) -> str:
    text = [f"# {origin.paper.title}\n", f"{origin.paper.citation}. {origin}\n"]
    if origin.quick:
        text.append(f"**A quick slice: {origin.paper.quick_note}; not for conclusions.**\n")
    text += [
        "Machine and versions: " + ", ".join(f"{key} {value}" for key, value in machine.items()) + ".\n",
        "## Targets\n",
    ]
    if targets:
        missed = [t for t in targets if not t.met]
        shown = [*missed, *sorted((t for t in targets if t.met), key=lambda t: -t.figure / t.limit)[:12]]
        rows = [(t.name, f"{t.figure:.4g}", f"≤ {t.limit:g}", "met" if t.met else "**missed**") for t in shown]
        text += [
            f"{len(targets) - len(missed)} of {len(targets)} met; shown are those missed and the narrowest of those "
            f"met. Worst: {worst(targets)}.\n",
            table(("figure", "value", "target", ""), rows),
        ]
    text.append(origin.paper.preface(sizes))
    text += [origin.paper.sections[part](results) for part in origin.parts]
    return "\n".join(text)
