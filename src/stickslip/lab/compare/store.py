"""A comparison on disk: ``comparison.json`` in a folder, beside the recordings.

Recordings inside the folder are named relative to it, so that it may be moved. Numbers that are not (NaN, infinity) are
words, since JSON has none; what JSON cannot hold (functions among settings) is kept as text.
"""

from __future__ import annotations

import json
import os
from dataclasses import fields
from math import isfinite
from pathlib import Path
from typing import Any

from stickslip.errors import RecordingError
from stickslip.files import make_folder, write_json
from stickslip.lab.compare.comparison import Comparison, Entrant, Run

NAME = "comparison.json"
FORMAT = 1


def save(comparison: Comparison, folder: str | os.PathLike | None = None) -> Path:
    """Write ``comparison.json`` into a folder, by default the comparison's own; returns the file."""
    place = comparison.folder if folder is None else Path(folder)
    if place is None:
        raise RecordingError("a comparison that has no folder: give one, comparison.save(folder)")
    make_folder(place)
    place = place.absolute()
    content = _plain({field.name: getattr(comparison, field.name) for field in fields(comparison)}, place)
    del content["folder"]
    write_json(place / NAME, {"kind": "stickslip comparison", "format": FORMAT, **content})
    return place / NAME


def load_comparison(folder: str | os.PathLike) -> Comparison:
    """What ``Comparison.save`` wrote; ``folder`` may also be the file."""
    path = Path(folder)
    path = (path / NAME if path.is_dir() else path).absolute()
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise RecordingError(f"cannot read {str(path)!r}: expected a stored comparison, got {error}") from None
    if not isinstance(content, dict) or content.get("kind") != "stickslip comparison":
        raise RecordingError(f"cannot read {str(path)!r}: expected a stored comparison, got other JSON")
    if content["format"] != FORMAT:
        raise RecordingError(f"cannot read {str(path)!r}: expected format {FORMAT}, got {content['format']}")
    return Comparison(
        scene=content["scene"],
        seconds=content["seconds"],
        entrants=tuple(_entrant(entry, path.parent) for entry in content["entrants"]),
        reference=(content["reference"][0], float(content["reference"][1])),
        settings=content["settings"],
        versions=content["versions"],
        folder=path.parent,
        reference_recording=_place(content["reference_recording"], path.parent),
    )


def _plain(value: Any, place: Path) -> Any:
    if isinstance(value, Run | Entrant):
        return {field.name: _plain(getattr(value, field.name), place) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(entry, place) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, place) for entry in value]
    if isinstance(value, Path):
        whole = value.absolute()
        return whole.relative_to(place).as_posix() if whole.is_relative_to(place) else str(whole)
    if isinstance(value, bool | str) or value is None:
        return value
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return _plain(value.tolist(), place)
    if isinstance(value, int | float):
        return value if isfinite(value) else str(value)
    return str(value)


def _entrant(entry: dict[str, Any], place: Path) -> Entrant:
    numbers = {name: float(entry[name]) for name in ("default_dt", "order", "largest_stable_dt")}
    words = {name: tuple(entry[name]) for name in ("materials", "not_honoured")}
    runs = tuple(_run(run, place) for run in entry["runs"])
    return Entrant(**{**entry, **numbers, **words, "runs": runs})


def _run(entry: dict[str, Any], place: Path) -> Run:
    scores = {name: float(value) for name, value in entry["scores"].items()}
    own = {"dt": float(entry["dt"]), "recording": _place(entry["recording"], place), "scores": scores}
    return Run(**{**entry, **own, "warnings": tuple(entry["warnings"])})


def _place(name: str | None, folder: Path) -> Path | None:
    return None if name is None else folder / name
