"""Trials on disk: what was measured stays, and is judged anew when facts or lessons have changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stickslip.errors import RecordingError
from stickslip.files import write_json
from stickslip.lab.truth.cases import CASES
from stickslip.lab.truth.facts import facts
from stickslip.lab.truth.trial import NOT_APPLICABLE, Trial, judge
from stickslip.record.header import versions


def write_trials(path: Path, trials: Sequence[Trial], **more: Any) -> None:
    names = dict.fromkeys(trial.case for trial in trials)
    numbers = {
        "versions": versions(("stickslip", "numpy", "numba", "mujoco")),
        "facts": {name: [asdict(fact) for fact in facts()[name]] for name in names},
        "trials": [asdict(trial) for trial in trials],
        **more,
    }
    write_json(path, numbers)


def read_trials(path: Path) -> list[Trial]:
    """Of cases that still are, with the quantities that they have now; none if there is no such file."""
    if not path.is_file():
        return []
    try:
        entries: Iterable[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["trials"]
        return [trial for entry in entries if (trial := _judged(entry)) is not None]
    except (KeyError, TypeError, ValueError) as error:
        raise RecordingError(f"{str(path)!r} holds no trials of the truth suite ({error}); remove it") from None


def _judged(entry: dict[str, Any]) -> Trial | None:
    case = CASES.get(entry["case"])
    if case is None:
        return None
    method, dt, message = entry["method"], entry["dt"], entry["message"]
    if entry["outcome"] == NOT_APPLICABLE:
        return Trial(case.name, method, dt, NOT_APPLICABLE, message=message, seconds=entry["seconds"])
    measured = {finding["quantity"]: float(finding["measured"]) for finding in entry["findings"]}
    if set(measured) != {fact.quantity for fact in facts()[case.name]}:
        return None
    heard = tuple(entry["warnings"])
    return judge(case, method, dt, {} if message else measured, message, heard, entry["seconds"])
