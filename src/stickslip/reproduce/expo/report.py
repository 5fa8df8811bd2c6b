"""README.md of a reproduction: where it comes from, what was to be reached, and the sections of all parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from stickslip.bench.targets import Target, worst
from stickslip.reproduce.expo.sections import SECTIONS, setups, table
from stickslip.reproduce.expo.setups import Sizes

PAPER = (
    'Hammoud, Olivieri, Righetti, Carpentier, Del Prete: "Exponential Integration for Efficient and Accurate '
    'Multi-Body Simulation with Stiff Viscoelastic Contacts"'
)
PARTS = tuple(SECTIONS)


class Origin(NamedTuple):
    """Where a report comes from, and what lies beside it."""

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
        missing = [part for part in PARTS if part not in self.parts]
        text = f"Made by `{command(self.quick, self.only)}`"
        if self.before:
            text += f"; {', '.join(self.before)} from units of work that were stored before"
        text += f". All data: {_files('results.json', *self.tables)}; `data/` holds the units of work, from which "
        text += "a run continues."
        if missing:
            text += f" Not here yet: {', '.join(missing)} (`{command(self.quick, missing)}`)."
        if self.old:
            text += f" Of other settings or another version, and not part of this report: {_files(*self.old)}."
        return text


def _files(*names: str) -> str:
    return ", ".join(f"`{name}`" for name in names)


def command(quick: bool, only: Sequence[str]) -> str:
    return "stickslip reproduce expo" + " --quick" * quick + (f" --only {','.join(only)}" if only else "")


def readme(
    results: dict[str, Any], origin: Origin, sizes: Sizes, targets: list[Target], machine: dict[str, str]
) -> str:
    text = [
        "# Exponential integration of stiff contacts: the paper's figures and tables, with stickslip\n",
        f"{PAPER}. {origin}\n",
    ]
    if origin.quick:
        text.append("**A quick slice: a few control steps and step sizes; not for conclusions.**\n")
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
    text.append(setups(sizes))
    text += [SECTIONS[part](results) for part in origin.parts]
    return "\n".join(text)
