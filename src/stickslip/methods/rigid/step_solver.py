"""StepSolver: the solver of a time step, named or a Python function, and what happens if it does not converge."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from stickslip.errors import UnconvergedError, called, expected, mapping, one_of, unknown
from stickslip.errors import function as function_of
from stickslip.methods.complementarity import UnsolvedReport
from stickslip.methods.rigid.formulations.polygonal_cone import Layout
from stickslip.methods.rigid.formulations.working_set import solve_needed
from stickslip.solvers import residuals
from stickslip.solvers.base import Solver, SolverResult, Status
from stickslip.solvers.problem import LinearProblem, Problem
from stickslip.solvers.registry import SOLVERS, make_solver

UNCONVERGED = ("warn", "raise", "fallback")
TOLERANCE = 1e-6
"""Natural residual, relative to the largest |b| if that is above 1, up to which a Python function's answer counts as a
solution, whatever status it returns."""
IN_STEPS: dict[str, dict[str, Any]] = {"pgs": {"brief": True}}
"""Default options of solvers in time steps: where sweeps are slow, the next step goes on from there."""
FALLBACK = "interior-point"
"""Name of the second solver, unless another one is chosen."""


class StepSolver:
    """Solves one step's problem after another; ``result`` is the last one's."""

    def __init__(
        self, name: str, function: Callable | None, options: dict | None, unconverged: str, fallback: str | None
    ) -> None:
        if function is not None:
            function_of(
                "solver",
                function,
                "f(problem, z0) → z",
                "a solver by name is part of the method, such as 'coulomb/pgs'",
            )
        one_of("unconverged", unconverged, UNCONVERGED)
        if options is not None:
            mapping("solver_options", options, "options of the solver by name")
        if fallback is not None and fallback not in SOLVERS:
            raise unknown("fallback", str(fallback), SOLVERS)
        if fallback is not None and unconverged != "fallback":
            raise expected("fallback", "unconverged='fallback' with it", unconverged, "else it would never be asked")
        if function is not None and options is not None:
            raise expected("solver_options", "a named solver", "a function as solver", "give them to your function")
        self.function, self.policy, self.fallback = function, unconverged, fallback or FALLBACK
        self.named: Solver | None = None
        if function is None:
            self.named = make_solver(name, **IN_STEPS.get(name, {}) | (options or {}))
        self.second: Solver | None = make_solver(self.fallback) if unconverged == "fallback" else None
        self.result: SolverResult | None = None
        self.unconverged = 0
        self.report: UnsolvedReport | None = None
        """It is told of every problem that was not solved."""

    @property
    def warm(self) -> bool:
        """Whether the solver makes use of a start."""
        return self.named is None or self.named.iterative

    def solve(self, problem: Problem, start: np.ndarray | None, plan: Layout | None = None) -> SolverResult:
        """The solution of a problem; with the layout ``plan`` of a contact LCP, pivoting methods use a working set."""
        if self.named is None:
            result = self._call(problem, start)
        elif plan is not None and isinstance(problem, LinearProblem) and not self.named.iterative:
            result = solve_needed(self.named, problem, plan)
        else:
            result = self.named.solve(problem, start)
        if not result.success and self.second is not None:
            better = self.second.solve(problem, result.z)
            result = better if better.residual < result.residual else result
        if not result.success:
            self._count_unsolved(problem, result)
        self.result = result
        return result

    def reject(self, problem: Problem) -> None:
        """Count the last solution as none: the problem depends on its solution, and the two did not come together."""
        if self.result is not None and self.result.success:
            self.result = replace(self.result, status=Status.STALLED)
            self._count_unsolved(problem, self.result)

    def _count_unsolved(self, problem: Problem, result: SolverResult) -> None:
        """Count, keep and perhaps refuse a step whose problem was not solved."""
        self.unconverged += 1
        where = "" if self.report is None else self.report.keep(problem, result)
        if self.policy == "raise":
            raise UnconvergedError(
                f"{result.message}: natural residual {result.residual:.2g} with n = {problem.n}, expected at most "
                f"{self.limit(problem):.2g}; choose another solver or a smaller dt, unconverged='fallback' for a "
                f"second solver, or 'warn' to go on{where and '. ' + where}"
            )

    @property
    def final(self) -> bool:
        """Whether a step that the compiled loop has not solved is taken all the same: solvers that sweep would do no
        better from Python, where others try further ways."""
        return self.policy == "warn" and self.named is not None and self.named.splitting

    @property
    def only_counts(self) -> bool:
        """Whether such a step is taken and counted, and nobody wants to see its problem."""
        return self.final and (self.report is None or self.report.full)

    def count(self, steps: int, kept: bool) -> None:
        """Count steps that were taken although they were not solved; ``kept`` says whether ``report`` knows of them."""
        self.unconverged += steps
        if steps and self.report is not None and not kept:
            self.report.count_more(steps)

    def limit(self, problem: Problem) -> float:
        """The natural residual up to which a problem counts as solved."""
        if self.named is not None:
            return self.named.limit(problem)
        return TOLERANCE * max(1.0, float(np.abs(getattr(problem, "b", np.zeros(1))).max(initial=0.0)))

    def _call(self, problem: Problem, start: np.ndarray | None) -> SolverResult:
        begin = clock.perf_counter()
        assert self.function is not None
        answer: Any = self.function(problem, np.zeros(problem.n) if start is None else start)
        said = answer if isinstance(answer, SolverResult) else None
        z, iterations = answer if isinstance(answer, tuple) else (answer, 0)
        z = z if said is None else said.z
        if np.shape(z) != (problem.n,):
            wanted = f"z of shape ({problem.n},), (z, iterations) or a SolverResult"
            raise expected(f"solver {called(self.function)}", wanted, np.shape(z) or z)
        z = np.asarray(z, dtype=float)
        if said is None:
            said = SolverResult(z, Status.CONVERGED, int(iterations), np.inf, clock.perf_counter() - begin)
        residual = residuals.natural(problem, z)
        status = Status.INACCURATE if said.success else said.status
        if residual <= self.limit(problem):
            status = Status.CONVERGED
        return replace(said, z=z, status=status, residual=residual)
