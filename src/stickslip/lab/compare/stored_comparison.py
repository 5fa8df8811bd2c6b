"""A comparison on disk: ``comparison.json`` in a folder, beside the recordings.

Recordings inside the folder are named relative to it, so that the folder may be moved.
"""

from __future__ import annotations

import os
from math import isfinite, isnan
from pathlib import Path
from typing import Any

from stickslip.errors import RecordingError, expected
from stickslip.files import make_folder, write_json
from stickslip.hdf5 import reading, whole_text
from stickslip.lab.compare.comparison import CandidateResult, Comparison, Run
from stickslip.lab.report import plain
from stickslip.lab.store import read_document

NAME, KIND = "comparison.json", "stickslip comparison"
WHAT = "a stored comparison"
OUTCOMES = ("complete", "diverged", "failed")
FORMAT = 2
"""Format 1 calls the candidates entrants; it can still be read."""


def save(comparison: Comparison, folder: str | os.PathLike | None = None) -> Path:
    """Write ``comparison.json`` into a folder, by default the comparison's own; returns the file."""
    place = comparison.folder if folder is None else Path(folder)
    if place is None:
        raise RecordingError("a comparison that has no folder: give one, comparison.save(folder)")
    make_folder(place)
    place = place.absolute()
    content = plain(comparison, folder=place, nonfinite=str)
    del content["folder"]
    write_json(place / NAME, {"kind": KIND, "format": FORMAT, **content})
    return place / NAME


def load_comparison(folder: str | os.PathLike) -> Comparison:
    """Read what ``Comparison.save`` wrote; ``folder`` may also be the file."""
    path = Path(folder)
    path = (path / NAME if path.is_dir() else path).absolute()
    content = read_document(path, KIND, WHAT, (1, FORMAT))
    with reading(str(path), WHAT):
        candidates = content["candidates" if content["format"] > 1 else "entrants"]
        label, dt = content["reference"]
        return Comparison(
            scene=_text(content["scene"]),
            seconds=_seconds(content["seconds"]),
            candidates=tuple(_candidate(entry, path.parent) for entry in _a(list, candidates)),
            reference=(_text(label), _number(dt)),
            settings=_a(dict, content["settings"]),
            versions={name: _text(value) for name, value in _a(dict, content["versions"]).items()},
            folder=path.parent,
            reference_recording=_place(content["reference_recording"], path.parent),
        )


def _candidate(entry: dict[str, Any], place: Path) -> CandidateResult:
    own: dict[str, Any] = {name: _number(entry[name]) for name in ("order", "largest_stable_dt")}
    own |= {name: tuple(map(_text, _a(list, entry[name]))) for name in ("materials", "not_honoured")}
    own |= {name: _text(entry[name]) for name in ("label", "method", "variant", "citation", "stability")}
    own["default_dt"] = _seconds(entry["default_dt"])
    own["options"] = {name: _text(value) for name, value in _a(dict, entry["options"]).items()}
    own["runs"] = tuple(_run(run, place) for run in _a(list, entry["runs"]))
    if strange := {run.label for run in own["runs"]} - {own["label"]}:
        raise expected("label", f"that of its candidate, {own['label']!r}, in every run", sorted(strange)[0])
    return CandidateResult(**{**entry, **own})


def _run(entry: dict[str, Any], place: Path) -> Run:
    own: dict[str, Any] = {name: _text(entry[name]) for name in ("label", "outcome", "message")}
    own["dt"] = _seconds(entry["dt"])
    own["recording"] = _place(entry["recording"], place)
    own["scores"] = {name: _number(value) for name, value in _a(dict, entry["scores"]).items()}
    own["warnings"] = tuple(map(_text, _a(list, entry["warnings"])))
    if own["outcome"] not in OUTCOMES or (own["outcome"] == "complete" and not isfinite(own["dt"])):
        raise expected("outcome", f"one of {', '.join(OUTCOMES)}, with its dt", own["outcome"])
    return Run(**{**entry, **own})


def _place(name: str | None, folder: Path) -> Path | None:
    return None if name is None else folder / _text(name)


def _text(value: Any) -> str:
    return whole_text(_a(str, value))


def _number(value: Any) -> float:
    """A number that can be drawn, or one of the words for those that JSON does not have."""
    found = float(value)
    if isfinite(found) and abs(found) > 1e100:
        raise expected("a number", "at most 1e100", found)
    return found


def _seconds(value: Any) -> float:
    """A positive time, or NaN."""
    found = float(value)
    if not (isnan(found) or 1e-15 < found < 1e15):
        raise expected("a time", "a positive number of seconds", found)
    return found


def _a(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise expected("a value", f"a {kind.__name__}", value)
    return value
