"""Results on disk: one small file per unit of work, so that a killed study continues where it stopped.

A unit is identified by its kind, its parameters and a code. The file's name holds a hash of all three. By default the
code is a hash of the source that computes numbers and of the machine, so that a changed setting, another processor or
an edited method makes another unit, which is computed anew. Files appear whole or not at all.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from stickslip.errors import RecordingError, brief, expected
from stickslip.files import make_folder, write_whole
from stickslip.record.machine import machine

NO_NUMBERS = {
    *("bench", "cli", "record", "truth", "viewer"),
    *("drawing.py", "driver.py", "error_panels.py", "readme.py", "report.py", "reproduction.py", "targets.py"),
}
"""Folders and modules whose edits leave stored numbers valid."""
NO_NUMBERS_IN_PARTS = re.compile("draw|section|show|targets")
"""Beginnings of the names of functions in a paper's parts whose edits leave stored numbers valid."""
MARK = ".stickslip"
"""A file that marks a folder of units as ours."""


def code_hash() -> str:
    """Hash of the source that decides numbers and of the machine that decides times."""
    digest = hashlib.sha256(json.dumps(machine(), sort_keys=True).encode())
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).parts
        if not set(parts) & NO_NUMBERS:
            digest.update(_studies(path) if parts[:2] == ("lab", "papers") else path.read_bytes())
    return digest.hexdigest()


def _studies(path: Path) -> bytes:
    """The code of a paper's part without its drawings, text and targets, and without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.FunctionDef) and NO_NUMBERS_IN_PARTS.match(node.name))
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    return ast.dump(tree).encode()


def check_folder(out: Path) -> None:
    """Refuse a folder that holds other things, since a study writes a README.md there and may start over."""
    if out.is_dir() and any(out.iterdir()) and not (out / "data" / MARK).is_file():
        raise expected("--out", "a new or empty folder, or an earlier reproduction", str(out), "name another one")


class NotStoredError(Exception):
    """A unit is not stored, or not up to date, and nothing is to be computed."""


class Store:
    """Units of work in a folder; ``computed`` and ``reused`` count them."""

    def __init__(self, folder: Path, *, fresh: bool = False, code: str | None = None) -> None:
        """``fresh`` deletes what is stored; ``code`` replaces the hash of source and machine."""
        self.folder = folder
        if fresh and (folder / MARK).is_file():
            shutil.rmtree(folder)
        make_folder(folder)
        (folder / MARK).touch()
        self.code = code_hash() if code is None else code
        self.computed = self.reused = 0
        self.pool: Any = None
        """The pool that computes units which do not need each other; None for this process."""
        self._computes = True

    @contextmanager
    def nothing_computed(self) -> Iterator[None]:
        """Inside this context a unit that would have to be computed raises ``NotStoredError``."""
        self._computes = False
        try:
            yield
        finally:
            self._computes = True

    def path(self, kind: str, parameters: Mapping[str, Any], suffix: str) -> Path:
        text = json.dumps({"code": self.code, "kind": kind, **parameters}, sort_keys=True)
        words = [kind, *(f"{value:g}" if isinstance(value, float) else str(value) for value in parameters.values())]
        name = re.sub(r"[^\w.+-]+", "_", " ".join(words))[:100]
        return self.folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}{suffix}"

    @property
    def computes(self) -> bool:
        """Whether units that are missing are computed."""
        return self._computes

    def has(self, kind: str, parameters: Mapping[str, Any]) -> bool:
        """Whether there is a file of the unit."""
        return self.path(kind, parameters, ".json").is_file()

    def find(self, kind: str, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
        """The stored unit; None if there is none, or if its file is damaged."""
        with suppress(OSError, ValueError):
            result = json.loads(self.path(kind, parameters, ".json").read_text())
            self.reused += 1
            return result
        return None

    def keep(self, kind: str, parameters: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Store a unit: numbers, words, lists and dictionaries."""
        self._write(self.path(kind, parameters, ".json"), lambda part: part.write_text(json.dumps(result)))

    def unit(self, kind: str, parameters: Mapping[str, Any], compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The parameters and the result of a unit, from its file or computed now."""
        result = self.find(kind, parameters)
        if result is None:
            self._refuse_to_compute(kind)
            result = {**parameters, **compute()}
            self.keep(kind, parameters, result)
        return result

    def arrays(
        self, kind: str, parameters: Mapping[str, Any], compute: Callable[[], dict[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """The arrays of a unit, from its file or computed now."""
        path = self.path(kind, parameters, ".npz")
        with suppress(OSError, ValueError, BadZipFile), np.load(path) as file:
            result = dict(file)
            self.reused += 1
            return result
        self._refuse_to_compute(kind)
        result = compute()

        def write(part: Path) -> None:
            with part.open("wb") as file:
                np.savez_compressed(file, **result)  # type: ignore[arg-type]

        self._write(path, write)
        return result

    def _refuse_to_compute(self, kind: str) -> None:
        if not self._computes:
            raise NotStoredError(kind)

    def _write(self, path: Path, write: Callable[[Path], Any]) -> None:
        with write_whole(path) as part:
            write(part)
        self.computed += 1


def read_document(path: Path, kind: str, what: str, formats: Sequence[int]) -> dict[str, Any]:
    """A JSON file that says its ``kind`` and ``format``; trouble is one sentence, which calls the content ``what``."""
    name = brief(str(path), 120)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RecordingError(f"cannot read {name}: expected {what}, got {str(error)[:120]}") from None
    if not isinstance(content, dict) or content.get("kind") != kind:
        raise RecordingError(f"cannot read {name}: expected {what}, got other JSON")
    if content.get("format") not in formats:
        wanted = " or ".join(map(str, formats))
        raise RecordingError(f"cannot read {name}: expected format {wanted}, got {brief(content.get('format'))}")
    return content
