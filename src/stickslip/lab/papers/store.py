"""Results on disk, one small file per unit of work, so that a killed study continues where it stopped.

A unit is named by its kind and parameters. Its file carries a hash of both and of the source that computes numbers: a
changed setting, another processor or an edited method is another unit, computed anew. Files appear whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

import stickslip
from stickslip.errors import expected
from stickslip.files import make_folder
from stickslip.record.machine import machine

NO_NUMBERS = (
    "bench",
    "cli",
    "record",
    "figures.py",
    "drawing.py",
    "report.py",
    "sections.py",
    "claims.py",
    "driver.py",
)
"""Parts of the package whose edits leave stored numbers valid; what a bench says of the machine is hashed itself."""


def code_hash() -> str:
    """Of the source that decides numbers, and of the machine that decides times."""
    digest = hashlib.sha256(json.dumps(machine(), sort_keys=True).encode())
    package = Path(stickslip.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if not set(path.relative_to(package).parts) & set(NO_NUMBERS):
            digest.update(path.read_bytes())
    return digest.hexdigest()


MARK = ".stickslip"
"""A file in a folder of units: what lies beside it is ours."""


def check_folder(out: Path) -> None:
    """Refuse a folder with other things in it: a reproduction writes a README.md there, and may start over."""
    if out.is_dir() and any(out.iterdir()) and not (out / "data" / MARK).is_file():
        raise expected("--out", "a new or empty folder, or an earlier reproduction", str(out), "name another one")


class NotStoredError(Exception):
    """A unit that is not in its folder, or not up to date, where nothing is to be computed."""


class Store:
    """Units of work in a folder; ``computed`` and ``reused`` count them."""

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        self.folder = folder
        if fresh and (folder / MARK).is_file():
            shutil.rmtree(folder)
        make_folder(folder)
        (folder / MARK).touch()
        self.code = code_hash()
        self.computed = self.reused = 0
        self._computes = True

    @contextmanager
    def nothing_computed(self) -> Iterator[None]:
        """Inside, a unit that would have to be computed raises ``NotStoredError``."""
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

    def unit(self, kind: str, parameters: Mapping[str, Any], compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The parameters and the result of a unit, from its file or computed now; numbers, words and lists only."""
        path = self.path(kind, parameters, ".json")
        with suppress(OSError, ValueError):  # not there, or damaged: computed anew
            result = json.loads(path.read_text())
            self.reused += 1
            return result
        self._refuse_to_compute(path)
        result = {**parameters, **compute()}
        self._write(path, lambda part: part.write_text(json.dumps(result)))
        return result

    def arrays(
        self, kind: str, parameters: Mapping[str, Any], compute: Callable[[], dict[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """The same for arrays."""
        path = self.path(kind, parameters, ".npz")
        with suppress(OSError, ValueError, BadZipFile), np.load(path) as file:
            result = dict(file)
            self.reused += 1
            return result
        self._refuse_to_compute(path)
        result = compute()

        def write(part: Path) -> None:
            with part.open("wb") as file:
                np.savez_compressed(file, **result)  # type: ignore[arg-type]

        self._write(path, write)
        return result

    def _refuse_to_compute(self, path: Path) -> None:
        if not self._computes:
            raise NotStoredError(path.name)

    def _write(self, path: Path, write: Callable[[Path], Any]) -> None:
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        write(part)
        os.replace(part, path)
        self.computed += 1
