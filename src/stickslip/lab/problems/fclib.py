"""FCLibComparison: problems of FCLib's files, or their convex relaxations, solved by every solver that can.

A solution and guesses that a file contains get the same residuals as the solvers' answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from rich.table import Table

from stickslip.errors import number
from stickslip.lab.problems.solver_comparison import Trial, choose_solvers, try_solver, unsuited
from stickslip.lab.problems.solver_tables import MOST_ROWS, by_kind, milliseconds, plain_table
from stickslip.problem_files.fclib_problem import FCLibProblem
from stickslip.solvers.problem import ConeProblem, FrictionProblem
from stickslip.solvers.registry import SOLVERS
from stickslip.solvers.residuals import judge

STORED = "stored"
"""Name that stands for a solver in the trial of the file's own solution."""
SOLVED = 1e-8
"""Largest natural residual of a stored answer that counts as solved; relative to the largest |b| if that is above 1."""
UNITS = "natural and Signorini in N s or m/s, whichever is less; cone: N s; dissipation: J; MERIT_1: FCLib's, mixed"


@dataclass
class FCLibComparison:
    """What is compared; ``solvers`` None stands for all."""

    solvers: Sequence[str] | None = None
    repeat: int = 3
    options: dict[str, Any] = field(default_factory=dict)
    """Options of all solvers: ``tolerance``, ``max_iterations``."""
    relaxed: float | None = None
    """R [1/kg] of the convex relaxation; None for Coulomb's law."""

    def __post_init__(self) -> None:
        if self.relaxed is not None:
            self.relaxed = number("relaxed", self.relaxed, "a regularisation R ≥ 0 [1/kg]", least=0.0)
        self.solvers, self.missing = choose_solvers(self.solvers, self.options, self.repeat)

    def problem(self, file: FCLibProblem) -> FrictionProblem | ConeProblem:
        """The problem that the solvers get."""
        found = file.friction
        if self.relaxed is None:
            return found
        R = np.concatenate([np.zeros(found.bilateral), np.full(found.n - found.bilateral, self.relaxed)])
        return ConeProblem(found.W, found.b, found.friction, R, found.bilateral)

    def trials(self, at: int, name: str, file: FCLibProblem) -> Iterator[Trial]:
        """All trials of file number ``at``."""
        assert self.solvers is not None
        problem = self.problem(file)
        about: dict[str, Any] = {"frame": at, "formulation": name, "form": problem.kind, "unknowns": problem.n}
        stored = {} if file.solution is None else {STORED: file.solution}
        stored |= {f"guess {k + 1}": guess for k, guess in enumerate(file.guesses)}
        for label, answer in stored.items():
            yield self._check({**about, "solver": label}, problem, file.impulses(answer))
        for solver in self.solvers:
            why = self.missing.get(solver, "") or unsuited(solver, problem)
            if why:
                yield Trial(**about, solver=solver, why_not=why)
            else:
                yield try_solver({**about, "solver": solver}, problem, lambda z: z, self.options, self.repeat)

    def _check(self, about: dict[str, Any], problem: FrictionProblem | ConeProblem, p: np.ndarray) -> Trial:
        found = judge(problem, p)
        limit = self.options.get("tolerance", SOLVED) * max(1.0, float(np.abs(problem.b).max(initial=0.0)))
        solved = found.natural <= limit
        status = "a solution" if solved else "no solution to the tolerance"
        answer: dict[str, Any] = {"residual": found.natural, "residuals": found, "impulses": p}
        return Trial(**about, **answer, limit=limit, success=solved, status=status)


def computed(trials: Sequence[Trial]) -> list[Trial]:
    """Trials of solvers, without those that were not tried."""
    return [trial for trial in trials if trial.tried and trial.solver in SOLVERS]


def best(trials: Sequence[Trial]) -> Trial | None:
    """The solution with the smallest residual."""
    return min((trial for trial in computed(trials) if trial.success), key=lambda t: t.residual, default=None)


HEADINGS = ("natural", "MERIT_1", "Signorini", "cone", "dissip.", "iter.", "ms")


def fclib_tables(trials: Sequence[Trial], titles: dict[int, str]) -> list[Table]:
    """One table per file, with a row per solver; for many files one table, with a row for all."""
    tried = [trial for trial in trials if trial.tried]
    if len(tried) > MOST_ROWS:
        return [_summary(computed(trials))]
    made = []
    for at, title in titles.items():
        table = plain_table(title, ("solver", *HEADINGS), padding=0, show_edge=False)
        table.add_column("solved")
        for t in (t for t in tried if t.frame == at):
            work = (str(t.iterations), milliseconds(t.seconds)) if t.solver in SOLVERS else ("–", "–")
            said = "yes" if t.success else "no"
            table.add_row(t.solver, *_judged(t), *work, said, style="" if t.success else "red")
        made.append(table)
    return made


def not_solved(trials: Sequence[Trial]) -> list[str]:
    """One line per reason why solvers failed."""
    reasons: dict[str, list[str]] = {}
    for t in computed(trials):
        if not t.success:
            reasons.setdefault(t.status, []).append(t.solver)
    return [f"not solved by {', '.join(dict.fromkeys(names))}: {why}" for why, names in reasons.items()]


def _judged(t: Trial) -> tuple[str, ...]:
    assert t.residuals is not None
    v = t.residuals
    return tuple(f"{value:.1e}" for value in (v.natural, v.merit_1, v.signorini, v.cone, v.dissipation))


def _summary(trials: Sequence[Trial]) -> Table:
    files = len({trial.frame for trial in trials})
    title = f"{files} files: largest residuals, median iterations and times"
    made = plain_table(title, ("solver", "solved", *HEADINGS), padding=0, show_edge=False)
    for (_, _, solver), group in by_kind(trials).items():
        worst = np.max([[float(x) for x in _judged(t)] for t in group], axis=0)
        solved = sum(t.success for t in group)
        made.add_row(
            solver, f"{solved}/{len(group)}", *(f"{x:.1e}" for x in worst),
            f"{median(t.iterations for t in group):g}", milliseconds(median(t.seconds for t in group)),
            style="" if solved == len(group) else "red",
        )  # fmt: skip
    return made


def title(name: str, file: FCLibProblem) -> str:
    """Title of a file's table."""
    local = file.reduced
    kind = "global" if file.local is None else "local"
    sizes = f"{kind}, {len(local.mu)} contacts in {local.spacedim}D"
    sizes += f", {local.equations} equations" if local.equations else ""
    about = file.info.title
    return f"{name}: {sizes}" + (f" ({about})" if about else "")
