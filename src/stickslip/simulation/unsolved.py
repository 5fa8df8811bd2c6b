"""Steps whose solver did not reach its tolerance: their problems are kept, in memory or as FCLib's files.

What is kept is the step with Coulomb's exact cone, whatever form was solved, since that is what FCLib's files hold:
``Formulation.friction_problem``. The solver's best impulses come with it as a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np

from stickslip.errors import RecordingError
from stickslip.files import make_folder
from stickslip.methods.complementarity import ComplementaritySteps
from stickslip.problem_files.fclib import write_fclib
from stickslip.problem_files.fclib_problem import FCLibInfo
from stickslip.solvers.base import SolverResult
from stickslip.solvers.problem import FrictionProblem, Problem

IN_MEMORY = 20
"""Problems of a run that are kept without a folder; those that follow are counted."""
MEMORY = 256 * 2**20
"""[bytes] of the matrices of those that are kept without a folder."""
TOO_LARGE = "Their problems are too large to be kept in memory: sim.run(…, failures='FOLDER') writes them to files."
WHAT = "Rows (normal, tangent 1, tangent 2) per contact; u in m/s, r in N s, W in 1/kg."


@dataclass(frozen=True, eq=False)
class UnsolvedStep:
    """One step's problem, and how far its solver came."""

    step: int
    """Number of the step, from 0."""
    time: float
    """[s] at its beginning."""
    dt: float
    """[s]."""
    problem: FrictionProblem
    """Coulomb's law for the contacts of the step."""
    impulses: np.ndarray | None
    """(n,) the solver's best [N s, N m s]; None where they are not finite or not impulses."""
    residual: float
    """Natural residual of the problem that was solved [N s or m/s]."""
    limit: float
    """The residual that would have counted as solved."""
    message: str
    method: str
    """Method, solver and form."""
    scene: str = ""

    def write(self, path: str | Path) -> None:
        """As a file of FCLib's, with the solver's best as a guess; 'stickslip solve' reads it."""
        info = FCLibInfo(
            title=f"{self.scene or 'scene'}, step {self.step}",
            description=f"{self.method}, t = {self.time:.9g} s, dt = {self.dt:g} s. {WHAT}",
            math_info=f"not solved: {self.message}; natural residual {self.residual:.3g}, wanted {self.limit:.3g}",
            attributes={"step": self.step, "time": self.time, "timestep": self.dt},
        )
        guesses = [] if self.impulses is None else [self.impulses]
        write_fclib(path, self.problem, guesses=guesses, info=info)


class UnsolvedSteps(Sequence[UnsolvedStep]):
    """The unsolved steps of a run: with a ``folder``, all of them as files; else the first ``IN_MEMORY`` in memory,
    while their matrices take less than ``MEMORY``."""

    def __init__(self, steps: ComplementaritySteps) -> None:
        self._steps = steps
        self.folder: Path | None = None
        self.begin(None)
        self._paused = False

    def begin(self, folder: Path | None, keep: bool = True) -> None:
        """Forget the steps of an earlier run; the folder is made when the first step needs it."""
        self.wanted, self.wanting, self.folder = folder, keep, None
        self.total, self.written, self.trouble = 0, 0, ""
        self._kept: list[UnsolvedStep] = []
        self._size = 0
        """[bytes] of the matrices of those that are kept."""

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Steps that are taken back do not count."""
        self._paused = True
        try:
            yield
        finally:
            self._paused = False

    @property
    def full(self) -> bool:
        """Whether no further problem is kept."""
        if not self.wanting or self._paused:
            return True
        return not self._to_folder and len(self._kept) >= IN_MEMORY

    def fits(self, unknowns: int) -> bool:
        """Whether a problem of this size is kept: as a file, or because its matrix fits into what is left of the
        memory."""
        return self._to_folder or self._size + 8 * unknowns**2 <= MEMORY

    @property
    def _to_folder(self) -> bool:
        return self.wanted is not None and not self.trouble

    def count_more(self, steps: int) -> None:
        """Count steps whose problems are not kept."""
        if self.wanting and not self._paused:
            self.total += steps

    def keep(self, problem: Problem, result: SolverResult) -> str:
        """Keep the problem of the step at hand, which was not solved; returns a sentence that says where."""
        if self.wanting and not self._paused and not self.fits(problem.n):
            self.total += 1
        elif self.wanting and not self._paused:
            friction, rows = self._steps.friction_problem()
            if len(friction.friction):  # else there are joints only, and no friction-contact problem
                self._add(_unsolved(self._steps, result, friction, rows))
        return self.where()

    def _add(self, step: UnsolvedStep) -> None:
        self.total += 1
        if self._to_folder:
            self._write(step)
        elif len(self._kept) < IN_MEMORY:
            self._kept.append(step)
            self._size += 8 * step.problem.n**2

    def _write(self, step: UnsolvedStep) -> None:
        assert self.wanted is not None
        try:
            if self.folder is None:
                self.folder = _free(self.wanted)
                make_folder(self.folder)
            step.write(self.folder / f"step-{step.step:06d}.hdf5")
            self.written += 1
        except RecordingError as error:  # a run must not end because its failures cannot be written
            self.trouble = str(error)
            self._kept.append(step)

    def where(self) -> str:
        """A sentence that says where they are; empty without any."""
        parts = []
        if self.written:
            files = "1 file" if self.written == 1 else f"{self.written} files"
            parts.append(f"{str(self.folder)!r} ({files} of FCLib's format, for 'stickslip solve')")
        if self._kept:
            parts.append("sim.failures")
        if not parts:
            return TOO_LARGE if self.total else ""
        text = f"Their problems are in {' and '.join(parts)}"
        missing = self.total - self.written - len(self._kept)
        if missing and not self.trouble:
            text += f"; those of {missing} more are not kept: sim.run(…, failures='FOLDER') keeps all"
        return text + (f"; {self.trouble}" if self.trouble else "") + "."

    @overload
    def __getitem__(self, at: int) -> UnsolvedStep: ...
    @overload
    def __getitem__(self, at: slice) -> list[UnsolvedStep]: ...
    def __getitem__(self, at):
        return self._kept[at]

    def __len__(self) -> int:
        return len(self._kept)


def _unsolved(
    steps: ComplementaritySteps, result: SolverResult, friction: FrictionProblem, rows: np.ndarray
) -> UnsolvedStep:
    impulses = None
    if steps.velocity_of is None and np.all(np.isfinite(result.z)):
        impulses = steps.impulses(result.z)[rows]
    spec = steps.model.spec
    return UnsolvedStep(
        step=steps.step, time=steps.step * steps.dt, dt=steps.dt, problem=friction, impulses=impulses,
        residual=result.residual, limit=steps.residual_limit(), message=result.message, method=steps.title,
        scene="" if spec is None else spec.modelname,
    )  # fmt: skip


def _free(folder: Path) -> Path:
    """A folder without files of an earlier run: the name itself, or with -2, -3, …"""
    candidate, k = folder, 1
    while candidate.exists() and (not candidate.is_dir() or any(candidate.glob("step-*.hdf5"))):
        k += 1
        candidate = folder.with_name(f"{folder.name}-{k}")
    return candidate
