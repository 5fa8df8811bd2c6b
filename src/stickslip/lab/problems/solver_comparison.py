"""SolverComparison: captured problems in every formulation and form, solved by every solver that can.

Residuals of each answer are computed by ``solvers.residuals``. Times are medians of ``repeat`` solutions; a first
solution, which compiles kernels and records the residuals, is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from stickslip.errors import InputError, StickslipError, expected, unknown
from stickslip.lab.problems.rebuild import matrices
from stickslip.lab.report import plain
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.formulations.registry import FORMULATIONS, make_formulation
from stickslip.problem_files.problem_frame import ProblemFrame
from stickslip.solvers.problem import LinearProblem, Problem
from stickslip.solvers.registry import SOLVERS, make_solver
from stickslip.solvers.residuals import Residuals, judge

FORMS = ("lcp", "reduced", "mlcp", "ncp", "cone")

JUDGED = ("merit_1", "signorini", "cone", "dissipation", "angle", "bilateral")
"""Residuals of circular cones, besides the natural residual."""


@dataclass(frozen=True)
class Trial:
    """One problem and one solver."""

    frame: int
    """Number of the frame in its file."""
    formulation: str
    form: str
    solver: str
    unknowns: int = 0
    residual: float = np.nan
    """Natural residual of the answer, ‖natural map‖∞ [N s or m/s]."""
    iterations: int = 0
    seconds: float = np.nan
    """Median computing time of a solution [s]."""
    success: bool = False
    status: str = ""
    """The solver's message."""
    why_not: str = ""
    """Reason why it was not tried; empty if it was."""
    limit: float = np.nan
    """Largest residual that counts as solved [N s or m/s]."""
    history: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)
    """Natural residual before each iteration and at the end."""
    impulses: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)
    """(nb + 3nc,) impulses in the rows of the frame's matrices [N s, N m s]."""
    residuals: Residuals | None = field(default=None, repr=False)
    """All residuals of the answer; None if it was not tried."""

    @property
    def tried(self) -> bool:
        return not self.why_not

    @property
    def name(self) -> str:
        return f"{self.formulation}-{self.form}-{self.solver}"

    def stored(self) -> dict[str, Any]:
        """What ``--write`` stores beside the history."""
        return {name: getattr(self, name) for name in ("residual", "iterations", "seconds", "unknowns", "status")}

    def numbers(self) -> dict[str, Any]:
        """All numbers without the arrays, for tables."""
        names = ("frame", "formulation", "form", "solver", "unknowns", "residual", "limit", "iterations",
                 "seconds", "success")  # fmt: skip
        values = {name: getattr(self, name) for name in names}
        said = dict.fromkeys(JUDGED) if self.residuals is None else self.residuals.numbers()
        values |= {name: said[name] for name in JUDGED}
        return plain({**values, "status": self.status or f"not tried: {self.why_not}"})


@dataclass
class SolverComparison:
    """What is compared; None stands for all formulations or solvers."""

    formulations: Sequence[str] | None = None
    forms: Sequence[str] = FORMS
    solvers: Sequence[str] | None = None
    directions: int | None = None
    """Directions of the friction polygon; None for each formulation's default."""
    repeat: int = 3
    options: dict[str, Any] = field(default_factory=dict)
    """Options of all solvers: ``tolerance``, ``max_iterations``."""

    def __post_init__(self) -> None:
        self.formulations = known_names("formulation", self.formulations, FORMULATIONS)
        every = {form for name in FORMULATIONS for form in FORMULATIONS[name].forms}
        self.forms = known_names("form", self.forms, every)
        for formulation in self.formulations:
            self._formulation(formulation, FORMULATIONS[formulation].forms[0])
        self.solvers, self.missing = choose_solvers(self.solvers, self.options, self.repeat)

    def size(self, frames: int) -> int:
        """Number of trials."""
        assert self.formulations is not None
        assert self.solvers is not None
        return frames * len(self.formulations) * len(self.forms) * len(self.solvers)

    def _formulation(self, name: str, form: str) -> Any:
        options = {} if self.directions is None else {"directions": self.directions}
        return make_formulation(name, form=form, **options)

    def trials(self, number: int, frame: ProblemFrame) -> Iterator[Trial]:
        """All trials of one frame."""
        assert self.formulations is not None
        step = matrices(frame)
        for name in self.formulations:
            for form in self.forms:
                yield from self._problem(number, step, name, form)

    def _problem(self, number: int, step: Matrices, name: str, form: str) -> Iterator[Trial]:
        assert self.solvers is not None
        if form not in FORMULATIONS[name].forms:
            why = f"{name} cannot be written as {form}; it can as {', '.join(FORMULATIONS[name].forms)}"
            yield from (Trial(number, name, form, solver, why_not=why) for solver in self.solvers)
            return
        if form == "reduced" and step.bilateral == 0 and "lcp" in self.forms:
            why = "without joints the form reduced is the lcp, which was tried"
            yield from (Trial(number, name, form, solver, why_not=why) for solver in self.solvers)
            return
        formulation = self._formulation(name, form)
        problem = formulation.formulate(step)
        for solver in self.solvers:
            why = self.missing.get(solver, "") or unsuited(solver, problem)
            about = {"frame": number, "formulation": name, "form": form, "solver": solver, "unknowns": problem.n}
            if why:
                yield Trial(**about, why_not=why)
            else:
                answer = partial(formulation.impulses, step, problem)
                yield try_solver(about, problem, answer, self.options, self.repeat)


def try_solver(
    about: dict[str, Any], problem: Problem, impulses: Callable, options: dict[str, Any], repeat: int
) -> Trial:
    """Solve a problem by ``about["solver"]``; ``impulses(z)`` computes the impulses of its answer."""
    solver = about["solver"]
    try:
        first = make_solver(solver, **{**options, "history": True}).solve(problem)
        plain = make_solver(solver, **options)
        seconds = [plain.solve(problem).seconds for _ in range(repeat)]
    except StickslipError as error:  # such as a licence that ends at 1000 unknowns
        return Trial(**about, why_not=str(error))
    return Trial(
        **about, residual=first.residual, limit=plain.limit(problem), iterations=first.iterations,
        seconds=median(seconds), success=first.success, status=first.message,
        history=np.asarray(first.history, dtype=float), impulses=impulses(first.z), residuals=judge(problem, first.z),
    )  # fmt: skip


def unsuited(solver: str, problem: Problem) -> str:
    """Reason why a solver cannot solve a kind of problem; empty if it can."""
    kinds = SOLVERS[solver].solves
    return "" if problem.kind in kinds else f"{solver} solves {', '.join(sorted(kinds))}, not {problem.kind}"


def unavailable(solver: str, options: dict[str, Any]) -> str:
    """Reason why a solver cannot be used on this machine, found by solving 0 ≤ z ⟂ z − 1 ≥ 0; empty if it can."""
    made = make_solver(solver, **options)
    if not made.solves & {"lcp", "mlcp"}:
        return ""
    lower = np.array([0.0 if "lcp" in made.solves else -np.inf])
    try:
        made.solve(LinearProblem(np.eye(1), -np.ones(1), lower))
    except StickslipError as error:
        return str(error)
    return ""


def choose_solvers(
    names: Sequence[str] | None, options: dict[str, Any], repeat: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The named solvers, or all, and the reasons why some of all cannot be used on this machine."""
    solvers = known_names("solver", names, SOLVERS)
    if not (isinstance(repeat, int) and repeat >= 1):
        raise expected("repeat", "a whole number ≥ 1", repeat)
    missing = {name: reason for name in solvers if (reason := unavailable(name, options))}
    if names is not None and missing:
        raise InputError("; ".join(missing.values()))
    return solvers, missing


def known_names(what: str, names: Sequence[str] | None, known: Iterable[str]) -> tuple[str, ...]:
    """The chosen names, or all; unknown ones are refused."""
    known = tuple(known)
    if names is None:
        return known
    for name in names:
        if name not in known:
            raise unknown(what, name, known)
    return tuple(dict.fromkeys(names))
