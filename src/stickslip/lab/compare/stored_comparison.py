"""A comparison on disk: ``comparison.json`` in a folder, beside the recordings.

Recordings inside the folder are named relative to it, so that the folder may be moved.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from stickslip.errors import RecordingError
from stickslip.files import make_folder, write_json
from stickslip.lab.compare.comparison import CandidateResult, Comparison, Run
from stickslip.lab.report import plain
from stickslip.lab.store import read_document

NAME, KIND = "comparison.json", "stickslip comparison"
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
    content = read_document(path, KIND, "a stored comparison", (1, FORMAT))
    candidates = content["candidates" if content["format"] > 1 else "entrants"]
    return Comparison(
        scene=content["scene"],
        seconds=content["seconds"],
        candidates=tuple(_candidate(entry, path.parent) for entry in candidates),
        reference=(content["reference"][0], float(content["reference"][1])),
        settings=content["settings"],
        versions=content["versions"],
        folder=path.parent,
        reference_recording=_place(content["reference_recording"], path.parent),
    )


def _candidate(entry: dict[str, Any], place: Path) -> CandidateResult:
    numbers = {name: float(entry[name]) for name in ("default_dt", "order", "largest_stable_dt")}
    words = {name: tuple(entry[name]) for name in ("materials", "not_honoured")}
    runs = tuple(_run(run, place) for run in entry["runs"])
    return CandidateResult(**{**entry, **numbers, **words, "runs": runs})


def _run(entry: dict[str, Any], place: Path) -> Run:
    scores = {name: float(value) for name, value in entry["scores"].items()}
    own = {"dt": float(entry["dt"]), "recording": _place(entry["recording"], place), "scores": scores}
    return Run(**{**entry, **own, "warnings": tuple(entry["warnings"])})


def _place(name: str | None, folder: Path) -> Path | None:
    return None if name is None else folder / name
