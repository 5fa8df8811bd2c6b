"""Mutated MJCF and URDF files: each is refused in a sentence, or loads and takes three steps by two methods."""

from __future__ import annotations

import random
import re
import shutil
import sys
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from mutate import mutated

import stickslip as ss
from stickslip.model.scene import BUNDLED

CORPUS = Path(__file__).parent / "corpus"
LIMIT = 10.0
METHODS = (
    "mujoco", "semi-implicit-euler", "coulomb/pgs", "variational", "expo", "relaxed", "bilateral", "stewart-trinkle",
)  # fmt: skip
"""A case uses two of them, or the default."""
LONGEST = 300


def sources() -> list[Path]:
    """The files that are mutated. Those of one's own come more often than the large robots."""
    own = sorted([*CORPUS.glob("*.xml"), *CORPUS.glob("*.urdf")])
    return own * 3 + sorted(BUNDLED.values())


def prepare() -> None:
    """Every whole file takes three steps by every method, so that no case has to wait for a compilation."""
    for path in sorted(set(sources())):
        for method in (None, *METHODS):
            with warnings.catch_warnings(), suppress(ss.StickslipError):
                warnings.simplefilter("ignore")
                scene = ss.Scene.from_file(path, package_dirs=[CORPUS], unreadable_meshes="replace", ignore="all")
                ss.Simulation(scene, method, dt=1e-3).step(3)


def make(rng: random.Random, folder: Path) -> dict[str, Any]:
    """A mutated file beside the whole ones that it may refer to."""
    shutil.copytree(CORPUS, folder, dirs_exist_ok=True)
    source = rng.choice(sources())
    text = re.sub(r"<!--.*?-->", "", source.read_text(), flags=re.DOTALL)
    name = source.name if rng.random() < 0.1 else f"case{source.suffix}"
    (folder / name).write_bytes(mutated(rng, text))
    return {
        "file": name, "floating_base": rng.random() < 0.2, "as_text": rng.random() < 0.2, "doctor": rng.random() < 0.2,
        "ignore": "all" if rng.random() < 0.3 else [], "meshes": rng.choice(("error", "replace", "drop")),
        "methods": rng.choice((["", METHODS[0]], rng.sample(METHODS, 2))), "mount": rng.random() < 0.1,
    }  # fmt: skip


def check(folder: Path, case: dict[str, Any]) -> tuple[str, str]:
    """Load the file and step; every message must be short."""
    path = folder / case["file"]
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            outcome, detail = "loaded", used(path, case)
        except ss.StickslipError as error:
            outcome, detail = "refused", f"{type(error).__name__}: {error}"
            if len(str(error)) >= LONGEST:
                outcome = "long message"
        except Exception:
            return "traceback", traceback.format_exc()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return "traceback", traceback.format_exc()
    if detail == "nan":
        return "nan", "the state is not finite after a step"
    for warning in raised:
        if issubclass(warning.category, RuntimeWarning):
            return "nan", f"{warning.filename}:{warning.lineno}: {warning.message}"
        if len(str(warning.message)) >= LONGEST:
            return "long message", str(warning.message)
    return outcome, detail


def used(path: Path, case: dict[str, Any]) -> str:
    """Three steps by each method; "nan" if the state is not finite although no error came."""
    options = {
        "floating_base": case["floating_base"], "ignore": case["ignore"], "unreadable_meshes": case["meshes"],
        "package_dirs": [path.parent],
    }  # fmt: skip
    if case["doctor"]:
        from stickslip.model.doctor import examine

        examine(path, **options).to_dict()
    if case["as_text"]:
        scene = ss.Scene.from_xml(path.read_bytes().decode("utf-8", "surrogateescape"))
    elif case["mount"]:
        scene = ss.Scene()
        scene.add_plane()
        scene.load(path, name="one", **options)
    else:
        scene = ss.Scene.from_file(path, **options)
    refused: ss.StickslipError | None = None
    for method in case["methods"]:
        try:
            sim = ss.Simulation(scene, method or None)
            sim.step(3)
        except ss.StickslipError as error:
            refused = error
            continue
        if not all(np.all(np.isfinite(x)) for x in (sim.state.q, sim.state.v, sim.state.act)):
            return "nan"
    if refused is not None:
        raise refused
    return "stepped"


if __name__ == "__main__":
    sys.exit("run this through run.py")
