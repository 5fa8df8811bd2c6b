"""Checks of files that commands write, so that an error comes before the work and is one line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from stickslip.errors import RecordingError


def check_writable(path: Path | None) -> None:
    """Raise an error now for a file that could not be written later."""
    if path is None:
        return
    if path.is_dir():
        raise RecordingError(f"{str(path)!r} is a folder; give the name of a file in it")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise RecordingError(f"{str(path)!r} cannot be written: the folder {str(folder)!r} does not exist; create it")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise RecordingError(f"{str(path)!r} cannot be written: permission denied; give another path")


def make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(f"folder {str(path)!r} cannot be made: {error.strerror}; give another path") from None


def write_json(path: Path, content: Any) -> None:
    check_writable(path)
    path.write_text(json.dumps(content, indent=2) + "\n")
