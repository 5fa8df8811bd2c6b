"""PATH of Dirkse and Ferris, which Williams et al. use, through the GAMS system inside ``gamspy``.

PATH finds a zero of the normal map F(π(x)) + x − π(x), π the projection onto the box, by Newton's method whose linear
mixed complementarity problems are solved by pivoting. It is not part of stickslip: ``pip install stickslip[path]``
brings it with a demonstration licence for at most 1000 variables; option ``licence`` names a file with another one.

The problem is written as a GAMS model with all digits into a temporary folder, solved by GAMS without any network,
read back exactly, and the folder removed.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from stickslip.errors import InputError, expected, number
from stickslip.solvers import residuals
from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.problem import LinearProblem

MODEL = """$offListing
$onEmpty
option limRow=0, limCol=0, solPrint=off, sysOut=off, solveLink=5, mcp=path, resLim={seconds!r};
Set i /1*{n}/; Alias(i, j);
Parameters A(i,j) {A}, b(i) {b}, lo(i) {lower}, up(i) {upper}, start(i) {start};
Variable z(i); Equation f(i);
f(i).. sum(j$A(i,j), A(i,j)*z(j)) + b(i) =n= 0;
z.lo(i) = lo(i); z.up(i) = up(i); z.l(i) = start(i);
Model m / f.z /; m.optFile = 1;
solve m using mcp;
Scalars found, ended, used; found = m.modelStat; ended = m.solveStat; used = m.iterUsd;
execute_unload 'answer.gdx', z, found, ended, used;
"""

SOLVED = (1, 2, 7, 8)
"""Values of GAMS' model status that mean a solution."""
STOPPED_EARLY = (2, 3)
"""Values of GAMS' solver status at the limit of iterations or time."""
LICENCE_ERROR = 7
"""Exit status of GAMS if its licence forbids the run."""


def _directory() -> Path:
    """The folder of GAMS."""
    try:
        import gamspy_base
    except ImportError:
        raise InputError(
            "path: the solver PATH is not installed; pip install stickslip[path], or choose 'pivot' or 'lemke'"
        ) from None
    return Path(gamspy_base.directory)


def _number(value: float) -> str:
    if np.isinf(value):
        return "inf" if value > 0.0 else "-inf"
    return repr(float(value))


def _vector(values: np.ndarray) -> str:
    """Only what is not zero, which is GAMS' default."""
    entries = [f"{i + 1} {_number(value)}" for i, value in enumerate(values.tolist()) if value != 0.0]
    return "/\n" + "\n".join(entries) + "\n/" if entries else "/ /"


def _matrix(A) -> str:
    matrix = sp.coo_array(A)
    matrix.eliminate_zeros()
    entries = zip((matrix.row + 1).tolist(), (matrix.col + 1).tolist(), matrix.data.tolist(), strict=True)
    lines = [f"{i}.{j} {value!r}" for i, j, value in entries]
    used = [np.bincount(side, minlength=matrix.shape[0]) > 0 for side in (matrix.row, matrix.col)]
    # GAMS refuses equations without variables and variables without equations; its EPS is a zero that is stored
    lines += [f"{i}.{i} eps" for i in (np.flatnonzero(~(used[0] & used[1])) + 1).tolist()]
    return "/\n" + "\n".join(lines) + "\n/"


def _read(directory: Path, folder: str, symbol: str) -> list[list[str]]:
    """The records of a symbol in the answer, numbers in hexadecimal, without loss."""
    command = [
        str(directory / "gdxdump"),
        "answer.gdx",
        f"Symb={symbol}",
        "Format=csv",
        "dFormat=hexponential",
        "NoHeader",
    ]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return [line.replace('"', "").split(",") for line in run.stdout.splitlines() if line]


def _value(text: str) -> float:
    return 0.0 if text.lower() == "eps" else float.fromhex(text) if "x" in text.lower() else float(text)


def _complain(returned: int, output: str, n: int) -> InputError:
    """What GAMS says, as what to do."""
    said = [line.strip("* ").strip() for line in output.splitlines() if line.startswith("***")]
    limit = re.search(r"of more than (\d+) rows", output)
    if limit:
        return InputError(
            f"path: the licence of PATH is for at most {limit.group(1)} variables, this problem has {n}; choose "
            "'lemke', 'pivot' or 'pgs', or give licence=FILE, a GAMS licence without that limit"
        )
    if returned == LICENCE_ERROR or re.search(r"licen[cs]e", " ".join(said), re.IGNORECASE):
        return InputError(
            f"path: GAMS refuses its licence ({'; '.join(said) or 'no reason given'}); upgrade with "
            "'pip install -U gamspy', which renews the demonstration licence, or give licence=FILE"
        )
    return InputError(f"path: GAMS failed with status {returned}: {'; '.join(said) or output[-300:].strip()}")


@dataclass
class PathSolver(Solver):
    """PATH as an external program."""

    licence: str | None = None
    """A GAMS licence file; None: the demonstration licence of gamspy."""
    seconds: float = 300.0
    """Time limit [s]."""

    summary: ClassVar[str] = "PATH of Dirkse and Ferris through gamspy; at most 1000 variables with its demo licence"
    reference: ClassVar[str] = "Dirkse and Ferris 1995; Ferris and Munson 1999"
    bibtex: ClassVar[tuple[str, ...]] = ("dirkse1995", "ferris1999")
    page: ClassVar[str] = "docs/solvers.md#path"
    solves: ClassVar[frozenset[str]] = frozenset({"lcp", "mlcp"})

    def __post_init__(self) -> None:
        super().__post_init__()
        self.seconds = number("seconds", self.seconds, "a positive number of seconds", above=0.0)
        if self.licence is not None and not Path(self.licence).is_file():
            raise expected("licence", "a GAMS licence file", str(self.licence))

    def _solve(self, problem: LinearProblem, z: np.ndarray) -> Outcome:
        directory = _directory()
        start = np.clip(z, problem.lower, problem.upper)
        with tempfile.TemporaryDirectory(prefix="stickslip-path-") as folder:
            self._write(problem, start, Path(folder))
            command = [str(directory / "gams"), "problem.gms", "logOption=3", "pageSize=0"]
            if self.licence is not None:
                command.append(f"license={Path(self.licence).resolve()}")
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if run.returncode or not (Path(folder) / "answer.gdx").exists():
                raise _complain(run.returncode, run.stdout + run.stderr, problem.n)
            answer = np.zeros(problem.n)
            for label, level, *_ in _read(directory, folder, "z"):
                answer[int(label) - 1] = _value(level)
            found, ended, used = (
                int(_value(_read(directory, folder, name)[0][0])) for name in ("found", "ended", "used")
            )
        if found in SOLVED:
            status = Status.CONVERGED
        else:
            status = Status.MAX_ITERATIONS if ended in STOPPED_EARLY else Status.REFUSED
        ends = [residuals.natural(problem, start), residuals.natural(problem, answer)] if self.history else []
        return Outcome(answer, status, used, np.array(ends))

    def _write(self, problem: LinearProblem, start: np.ndarray, folder: Path) -> None:
        options = [f"convergence_tolerance {0.01 * self.limit(problem)!r}"]
        if self.max_iterations is not None:
            options.append(f"major_iteration_limit {self.max_iterations}")
        (folder / "path.opt").write_text("\n".join(options) + "\n")
        (folder / "problem.gms").write_text(
            MODEL.format(
                n=problem.n,
                seconds=self.seconds,
                A=_matrix(problem.A),
                b=_vector(problem.b),
                lower=_vector(problem.lower),
                upper=_vector(problem.upper),
                start=_vector(start),
            )
        )
