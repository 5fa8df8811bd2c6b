"""Trials on disk. What was measured is stored, and is checked again whenever facts or lessons have changed.

Each trial is a unit of work of the store while the suite runs; ``truth.json`` holds all trials in the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stickslip.errors import RecordingError
from stickslip.files import write_json
from stickslip.lab.store import Store
from stickslip.lab.truth.cases import CASES
from stickslip.lab.truth.facts import facts
from stickslip.lab.truth.trial import NOT_APPLICABLE, Job, Trial, check
from stickslip.record.header import versions


def find_trials(store: Store, path: Path, jobs: Iterable[Job]) -> dict[Job, Trial]:
    """The trials of ``truth.json``, if there is one, and those of the jobs that are in the store."""
    units = (store.find("trial", job._asdict()) for job in jobs)
    found = [trial for entry in units if entry is not None and (trial := _checked(entry)) is not None]
    return {trial.job: trial for trial in (*found, *read_trials(path))}


def write_trials(path: Path, trials: Sequence[Trial], **more: Any) -> None:
    names = dict.fromkeys(trial.case for trial in trials)
    numbers = {
        "versions": versions(("stickslip", "numpy", "numba", "mujoco")),
        "facts": {name: [asdict(fact) for fact in facts()[name]] for name in names},
        "trials": [entry_of(trial) for trial in trials],
        **more,
    }
    write_json(path, numbers)


def read_trials(path: Path) -> list[Trial]:
    """Trials of those cases and quantities that still exist; none if there is no such file."""
    if not path.is_file():
        return []
    try:
        entries: Iterable[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["trials"]
        return [trial for entry in entries if (trial := _checked(entry)) is not None]
    except (KeyError, TypeError, ValueError) as error:
        raise RecordingError(f"{str(path)!r} holds no trials of the truth suite ({error}); remove it") from None


def entry_of(trial: Trial) -> dict[str, Any]:
    """A trial as it is stored."""
    findings = [
        {"quantity": t.name, "measured": t.figure, "value": t.limit, "tolerance": t.tolerance, "bound": t.bound,
         "unit": t.unit, "agrees": t.met}
        for t in trial.findings
    ]  # fmt: skip
    return {**asdict(trial), "findings": findings}


def _checked(entry: dict[str, Any]) -> Trial | None:
    case = CASES.get(entry["case"])
    if case is None:
        return None
    method, dt, message = entry["method"], entry["dt"], entry["message"]
    if entry["outcome"] == NOT_APPLICABLE:
        return Trial(case.name, method, dt, NOT_APPLICABLE, message=message, seconds=entry["seconds"])
    measured = {finding["quantity"]: float(finding["measured"]) for finding in entry["findings"]}
    if set(measured) != {fact.quantity for fact in facts()[case.name]}:
        return None
    caught = tuple(entry["warnings"])
    return check(case, method, dt, {} if message else measured, message, caught, entry["seconds"])
