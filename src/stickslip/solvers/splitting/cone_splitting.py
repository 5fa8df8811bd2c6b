"""Projected Gauss–Seidel for contacts with circular cones, as a solver: ``cone_sweeps`` after elimination."""

from __future__ import annotations

import numpy as np

from stickslip.errors import InputError
from stickslip.solvers.base import Outcome
from stickslip.solvers.elimination import without_bilateral
from stickslip.solvers.problem import ConeProblem, FrictionProblem, NonlinearProblem, Problem
from stickslip.solvers.splitting.cone_sweeps import BEST, contacts_of, iterate, memory
from stickslip.solvers.splitting.sweeps import ended, rows_of


def refuse_functions(name: str, problem: Problem) -> None:
    """Methods on contacts need their matrix."""
    if isinstance(problem, NonlinearProblem):
        raise InputError(
            f"{name}: expected a linear problem or contacts, got a NonlinearProblem, which has no matrix: choose "
            "'fixed-point' or 'fischer-newton'"
        )


def sweep_contacts(
    problem: FrictionProblem | ConeProblem,
    p: np.ndarray,
    limit: float,
    sweeps: int,
    patience: int,
    step: float,
    depth: int,
    history: bool,
) -> Outcome:
    """From p until the natural residual is below ``limit``; bilateral rows are eliminated. ``step`` is the
    relaxation, 0 for an adaptive one, ``depth`` that of the acceleration."""
    alone, joints = without_bilateral(problem)
    n = alone.n
    impulses, u, curve = p[problem.bilateral :].copy(), np.empty(n), np.zeros(sweeps + 1 if history else 0)
    kept = memory(n, depth)
    code, done = iterate(
        rows_of(alone.W), contacts_of(alone), kept, impulses, u, curve, limit, sweeps, patience, step,
        isinstance(alone, FrictionProblem),
    )  # fmt: skip
    found = kept.last[BEST]
    z = found if joints is None else np.concatenate([joints.joints(found), found])
    return Outcome(z, ended(code, done, sweeps), int(done), curve[: done + 1])
