"""Examine a model file for faults before it is simulated.

``examine`` checks the specification as far as the file can be read. If that compiles, with faulty inertias replaced so
that one fault does not hide the others, it checks MuJoCo's compiled model too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import mujoco

from stickslip.errors import ModelError, UnsupportedFeatureError, expected
from stickslip.model.doctor.finding import Finding
from stickslip.model.doctor.model_checks import check_model
from stickslip.model.doctor.spec_checks import check_spec
from stickslip.model.importers.features import feature_names, find_features
from stickslip.model.importers.leave_out import translate
from stickslip.model.importers.messages import mujoco_notes, one_line
from stickslip.model.importers.number_checks import check_numbers
from stickslip.model.importers.read import Parsed, parse
from stickslip.model.importers.visuals import compile_drawn
from stickslip.model.mjspec import copied
from stickslip.model.sensors import sensor_notes
from stickslip.model.shape import COMBINATION_RULE

COLOURS = {"error": "bold red", "warning": "yellow", "note": "dim"}


@dataclass
class Report:
    """What the doctor found."""

    origin: str
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Sentences on what loading dropped, replaced, ignored or merged."""
    summary: dict[str, Any] = field(default_factory=dict)
    """Counts and mass; empty when the model cannot be compiled at all."""

    def of(self, severity: Literal["error", "warning", "note"]) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == severity]

    @property
    def exit_code(self) -> int:
        """1 if there are errors, else 0."""
        return 1 if self.of("error") else 0

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data for ``--json``."""
        return {
            "origin": self.origin,
            "findings": [vars(finding) for finding in self.findings],
            "notes": self.notes,
            "summary": self.summary,
            "combination_rule": COMBINATION_RULE,
        }

    def print(self, console: Any = None) -> None:
        """Print the findings as a table, the notes, the friction rule and a summary."""
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table

        console = console or Console()
        if self.findings:
            table = Table(title=escape(self.origin), title_justify="left", show_lines=False)
            for heading in ("", "where", "what", "what to do"):
                table.add_column(heading, overflow="fold")
            for f in sorted(self.findings, key=lambda f: list(COLOURS).index(f.severity)):
                mark = f"[{COLOURS[f.severity]}]{f.severity}[/]\n[dim]{f.code}[/]"
                table.add_row(mark, escape(f.where), escape(f.message), escape(f.remedy))
            console.print(table)
        for note in self.notes:
            console.print(f"[dim]note[/] {escape(note)}", highlight=False)
        if self.summary:
            console.print(
                "summary: " + ", ".join(f"{key} {value}" for key, value in self.summary.items()), highlight=False
            )
        if self.summary:
            console.print(f"contact of two materials: {COMBINATION_RULE}", highlight=False)
        counts = ", ".join(
            f"{len(self.of(s))} {s}{'' if len(self.of(s)) == 1 else 's'}" for s in ("error", "warning", "note")
        )
        console.print(f"{escape(self.origin)}: {counts}", highlight=False)


def examine(
    subject: Any,
    *,
    floating_base: bool = False,
    package_dirs: Iterable[str | Path] = (),
    unreadable_meshes: str = "replace",
    ignore: Iterable[str] | str = (),
) -> Report:
    """Look for faults in a file, an ``MjSpec``, an ``MjModel``, a ``Model`` or a ``Scene``.

    The options are those of ``Scene.load`` and concern files.
    """
    options = {"floating_base": floating_base, "package_dirs": package_dirs}
    with mujoco_notes() as messages:
        report = _examine(subject, unreadable_meshes, feature_names(ignore), options)
    report.notes += messages
    return report


def _examine(subject: Any, unreadable_meshes: str, ignored: frozenset[str], options: dict) -> Report:
    if isinstance(subject, str | Path):
        report = Report(str(subject))
        parsed = _parse(report, Path(subject), unreadable_meshes, options)
        if parsed is not None:
            _examine_spec(report, parsed, ignored)
    elif isinstance(subject, mujoco.MjSpec):
        report = Report(subject.modelname or "spec")
        _examine_spec(report, Parsed(copied(subject), [], report.origin, urdf=False), ignored)
    else:
        mj = getattr(subject, "mj", None) or (subject.compile().mj if hasattr(subject, "compile") else subject)
        if not isinstance(mj, mujoco.MjModel):
            raise expected("examine", "a path, an MjSpec, an MjModel, a Model or a Scene", type(subject).__name__)
        report = Report(getattr(subject, "name", None) or mj.names.split(b"\0")[0].decode() or "model")
        report.notes += getattr(subject, "notes", None) or sensor_notes(mj)
        _examine_model(report, mj, ignored)
    return report


def _parse(report: Report, path: Path, policy: str, options: dict) -> Parsed | None:
    """Read the file. If something stops that, note an error and read it again with fewer demands, to check the rest."""
    for meshes in (policy, "drop"):
        try:
            parsed = parse(path, unreadable_meshes=meshes, **options)
            forced = () if meshes == policy else ("dropped:",)  # these have been reported as errors
            report.notes += [note for note in parsed.notes if not note.startswith(forced)]
            return parsed
        except ModelError as error:
            code = "feature" if isinstance(error, UnsupportedFeatureError) else "file"
            message, _, remedy = str(error).removeprefix(f"{path}: ").rpartition("; ")
            remedy = remedy.replace(", or run `stickslip doctor` on the file", "")
            finding = Finding("error", code, str(path), message or str(error), remedy)
            if finding not in report.findings:
                report.findings.append(finding)
    return None


def _examine_spec(report: Report, parsed: Parsed, ignored: frozenset[str]) -> None:
    spec = parsed.spec
    findings, notes = check_spec(spec, parsed.urdf)
    report.findings += findings
    report.notes += notes
    try:
        mj, undrawn = compile_drawn(spec, spec.compile) if parsed.urdf else (spec.compile(), [])
        report.notes += undrawn + translate(spec, mj)
        mj = spec.compile()
    except ValueError as error:
        remedy = "correct it; the rest was not examined"
        report.findings.append(Finding("error", "compile", report.origin, one_line(error), remedy))
        return
    _examine_model(report, mj, ignored)


def _examine_model(report: Report, mj: mujoco.MjModel, ignored: frozenset[str]) -> None:
    for found in find_features(mj):
        name, what, where = found.feature.name, found.feature.what, found.elements(mj)
        if name in ignored:
            report.notes.append(f"ignored: {name} ({what}): {where}")
        else:
            remedy = f'load with ignore=("{name}",) to leave it out'
            report.findings.append(
                Finding("error", "feature", where, f"stickslip does not simulate {name} ({what})", remedy)
            )
    try:
        check_numbers(mj, report.origin)
    except ModelError as error:  # MuJoCo's engine may fail on such a model
        where, _, message = str(error).removeprefix(f"{report.origin}: ").partition(": ")
        message, _, remedy = message.rpartition("; ")
        report.findings.append(Finding("error", "number", where, message, f"{remedy}; the rest was not examined"))
        return
    report.findings += check_model(mj)
    report.summary = {
        "bodies": mj.nbody - 1,
        "joints": mj.njnt,
        "nv": mj.nv,
        "actuators": mj.nactuator,
        "shapes": mj.ngeom,
        "mass": f"{float(mj.body_mass[1:].sum()):.4g} kg",
    }
