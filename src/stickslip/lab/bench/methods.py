"""``stickslip bench methods``: which method when? Scenes with different demands, by the comparison's scorecard.

It writes the tables of docs/choosing.md, and a report for each scene.
"""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from stickslip.files import write_json, write_text
from stickslip.lab.compare import Comparison, compare
from stickslip.lab.compare.report import table
from stickslip.lab.report import check_destinations, markdown_table
from stickslip.lab.select import soft_methods
from stickslip.methods.registry import METHODS

LEFT_OUT = ("euler", "anitescu-potra", "peg", "bilateral", "mujoco")
"""Methods close to another one, or with contacts that most scenes do not have; mujoco is the peer of all."""
SPELLED = {"coulomb": ("coulomb/pgs", "coulomb/interior-point"), "relaxed": ("relaxed/pgs",)}
"""Methods that take part with these variants."""
SOFT = tuple(name for name in soft_methods() if name not in LEFT_OUT)
RIGID = tuple(spelled for name in METHODS if name not in (*SOFT, *LEFT_OUT) for spelled in SPELLED.get(name, (name,)))
PEER = ("mujoco",)


class Question(NamedTuple):
    """A scene, and the methods that are asked."""

    title: str
    scene: str
    seconds: float
    methods: tuple[str, ...]
    reference: str | None = None
    """The method that errors are measured against; None for the one of the highest order."""


QUESTIONS = (
    Question("A robot on stiff feet, under control", "solo12-squat", 1.0, (*SOFT, *RIGID, *PEER)),
    Question("A robot falls on its feet", "solo12-drop", 0.5, (*SOFT, *RIGID, *PEER)),
    Question("Sliding friction", "incline", 1.0, (*SOFT, *RIGID, *PEER)),
    Question("Bodies that bounce", "bouncing-ball", 1.0, (*RIGID, *PEER), "coulomb/interior-point"),
    Question("A pile of boxes", "box-pile", 1.0, (*RIGID, *PEER), "coulomb/interior-point"),
    Question("A tonne on a gram", "heavy-on-light", 0.5, (*RIGID, *PEER), "coulomb/interior-point"),
    Question("A closed loop", "four-bar", 0.5, ("bilateral", *RIGID, *PEER), "variational"),
)
QUICK = 3
"""Number of questions of ``--quick``, which has two time steps each and less time."""

COLUMNS = {
    "error_rms": ("error [mm]", 1e3),
    "real_time_factor": ("× real time", 1.0),
    "us_per_step": ("µs per step", 1.0),
    "penetration_max": ("deepest overlap [mm]", 1e3),
    "energy_gained": ("energy gained [J]", 1.0),
    "joint_drift": ("joint drift [m or rad]", 1.0),
    "creep": ("creep [mm/s]", 1e3),
    "unconverged": ("unconverged", 1.0),
}


def run_methods(quick: bool = False, json: Path | None = None, out: Path | None = None) -> bool:
    """Print the tables, write ``methods.md``, reports and numbers; True if every scene has a complete run."""
    check_destinations(json, out)
    console, pages, numbers = Console(), [], {}
    for question in QUESTIONS[:QUICK] if quick else QUESTIONS:
        folder = None if out is None else out / question.scene
        seconds = min(question.seconds, 0.2) if quick else question.seconds
        result = compare(
            question.scene, question.methods, time=seconds, runs=2 if quick else 4, reference=question.reference,
            out=folder,
        )  # fmt: skip
        console.print(f"\n[bold]{question.title}[/bold]")
        console.print(table(result))
        pages.append(markdown(question, result))
        numbers[question.scene] = rows(result)
        if folder is not None:
            result.save(folder)
            console.print(f"report  {result.report(folder / 'report.html')}")
    if out is not None:
        write_text(out / "methods.md", "\n".join(pages))
        console.print(f"tables  {out / 'methods.md'}")
    if json is not None:
        write_json(json, numbers)
    return all(any(row["outcome"] == "complete" for row in scene) for scene in numbers.values())


def rows(result: Comparison) -> list[dict[str, Any]]:
    """One row per method, at the step nearest its default."""
    found = []
    for candidate in result.candidates:
        run = candidate.typical() or candidate.runs[0]
        found.append({
            "method": candidate.label, "dt": run.dt, "outcome": run.outcome, "message": run.message,
            "order": candidate.order, "largest stable dt": candidate.largest_stable_dt,
            "stability": candidate.stability, "unlimited": candidate.unlimited, **run.scores,
        })  # fmt: skip
    return found


def markdown(question: Question, result: Comparison) -> str:
    """A section with one table; columns without positive figures are left out."""
    found = rows(result)
    shown = {
        name: column
        for name, column in COLUMNS.items()
        if any(row.get(name, 0.0) > 0.0 for row in found if row["outcome"] == "complete")
    }
    head = ["method", "dt", "order", "longest stable step", *(title for title, _ in shown.values())]
    lines = []
    for row in found:
        method = f"`{row['method']}`"
        if row["outcome"] != "complete":
            reason = row["message"].split(";")[0].replace("|", "/")
            lines.append([method, f"{row['outcome']}: {reason}", *[""] * (len(head) - 2)])
            continue
        longest = f"{'≥ ' if row['unlimited'] else ''}{_number(1e3 * row['largest stable dt'])} ms"
        figures = (_number(scale * row[name]) for name, (_, scale) in shown.items())
        lines.append([method, f"{_number(1e3 * row['dt'])} ms", _number(row["order"], 2), longest, *figures])
    against = f"errors against `{result.reference[0]}` at {_number(1e3 * result.reference[1])} ms."
    intro = f"`{question.scene}`, {result.seconds:g} s; {against}"
    return f"### {question.title}\n\n{intro}\n\n{markdown_table(head, lines)}"


def _number(value: float, digits: int = 3) -> str:
    if isnan(value):
        return "–"
    return f"{float(f'{value:.{digits}g}'):.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.{digits}g}"
