"""``--plugin FILE.py``: a Python file that adds solvers, detectors, formulations, steppers or scenes by name."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from stickslip.errors import InputError, StickslipError, expected

Plugin = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin", help="a Python file that registers solvers, detectors, steppers or scenes of your own (repeatable)"
    ),
]
LOADED: list[Path] = []
"""The loaded files in order; new processes load them again."""


def load_plugin(path: str | Path) -> ModuleType:
    """Run a file that registers something (see ``stickslip.extend``); loading it again runs it again."""
    path = Path(path).absolute()
    if path.suffix != ".py" or not path.is_file():
        raise expected("--plugin", "a Python file", str(path), "see docs/extending.md")
    name = f"stickslip_plugin_{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    before = _registered()
    sys.modules[name] = module  # classes that it defines are pickled under this name
    sys.path.insert(0, str(path.parent))  # lets it import modules of its folder, as a script can
    try:
        spec.loader.exec_module(module)
    except StickslipError as error:
        raise InputError(f"plugin {str(path)!r}{_line(error, path)}: {error}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit, too: a plugin must not end the command without a word
        raise InputError(f"plugin {str(path)!r}{_line(error, path)}: {type(error).__name__}: {_said(error)}") from error
    finally:
        sys.path.remove(str(path.parent))
    if _registered() == before:
        wanted = "a file that registers something, by ss.extend.solver, detector, formulation or stepper"
        raise expected("--plugin", wanted, str(path), "see docs/extending.md")
    if path not in LOADED:
        LOADED.append(path)
    return module


def load_plugins(paths: Iterable[str | Path] | None) -> None:
    """Load all files of the repeatable option."""
    for path in paths or ():
        load_plugin(path)


def _registered() -> list[tuple[str, Any]]:
    from stickslip.collision.detectors import DETECTORS
    from stickslip.methods.registry import METHODS
    from stickslip.methods.rigid.formulations.registry import FORMULATIONS
    from stickslip.scenes import SCENES
    from stickslip.solvers.registry import SOLVERS

    registries: tuple[dict[str, Any], ...] = (SOLVERS, DETECTORS, FORMULATIONS, METHODS, SCENES)
    return [(name, id(thing)) for registry in registries for name, thing in registry.items()]


def _said(error: BaseException) -> str:
    """The message of an error of somebody else's, whatever its class does."""
    try:
        return str(error)
    except Exception:
        return "no message"


def _line(error: BaseException, path: Path) -> str:
    """The line of the file where the error happened, if known."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    found, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            found = f", line {trace.tb_lineno}"
        trace = trace.tb_next
    return found
