"""Tasks that people do with other simulators, in their code and in ours: collected, counted, run.

``python docs/tasks/tasks.py`` counts lines; ``python docs/tasks/tasks.py from_drake`` runs Drake's code, in an
environment that has Drake and stickslip. The tests run ours, MuJoCo's and Pinocchio's. The modules beside this one
hold the code: ``NAME_there`` and ``NAME_here`` are the two ways of one task, and the first docstring is its title.
Their arguments are what ``given_there`` and ``given_here`` make. Both return the same value, or nothing.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
MODULES = ("from_mujoco", "from_pinocchio", "from_drake", "from_gymnasium", "from_brax")
FILES = ("robot.xml", "arm.urdf", "pendulum.xml")
"""Models that the tasks load, from the working directory."""


@dataclass(frozen=True)
class Task:
    """One task: a title, the function of the other simulator, and ours, or why there is none yet."""

    title: str
    there: Callable[..., Any]
    here: Callable[..., Any] | str


def module(name: str) -> ModuleType:
    """One of the modules with tasks."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return importlib.import_module(name)


def tasks(of: ModuleType) -> Iterator[Task]:
    """The tasks of a module, in its order."""
    for name, function in vars(of).items():
        if name.endswith("_there") and name != "given_there":
            yield Task(inspect.getdoc(function) or "", function, getattr(of, name.replace("_there", "_here")))


def code(function: Callable[..., Any]) -> str:
    """The body of a function as one would write it in a script: without docstring, and with its last value as such."""
    source = textwrap.dedent(inspect.getsource(function))
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    first = definition.body[1 if ast.get_docstring(definition) else 0]
    lines = textwrap.dedent("\n".join(source.splitlines()[first.lineno - 1 :])).splitlines()
    if lines[-1] == "return locals()":
        lines.pop()
    elif lines[-1].startswith("return "):
        lines[-1] = lines[-1].removeprefix("return ")
    text = "\n".join(lines).strip() + "\n"
    text = re.sub(r"\n\n(?=(def|class) )", "\n\n\n", text)  # as ruff has it at the top of a file
    return re.sub(r"(\n +.*\n)\n(?=\S)", r"\1\n\n", text)


def count(function: Callable[..., Any]) -> int:
    """Lines of code, without imports, comments and blank lines."""
    text = code(function)
    imports = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom)]
    imported = {k for node in imports for k in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    lines = enumerate(text.splitlines(), start=1)
    return sum(bool(line.strip()) and not line.strip().startswith("#") and k not in imported for k, line in lines)


def run(function: Callable[..., Any], given: Callable[[], dict[str, Any]]) -> Any:
    """What a function returns, with fresh arguments."""
    wanted = inspect.signature(function).parameters
    made = given() if wanted else {}
    return function(**{name: made[name] for name in wanted})


def main(names: list[str]) -> None:
    """Run the code of other simulators in the named modules, in an empty folder, or count the lines of all."""
    if names:
        folder = Path(tempfile.mkdtemp())
        for file in FILES:
            shutil.copy(HERE / file, folder)
        os.chdir(folder)
    for name in names or MODULES:
        of = module(name)
        for task in tasks(of):
            here = task.here if isinstance(task.here, str) else f"{count(task.here)} lines here"
            print(f"{of.NAME}: {task.title}: {count(task.there)} lines there, {here}", flush=True)
            if names:
                print(run(task.there, of.given_there), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
