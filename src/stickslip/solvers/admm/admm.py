"""ADMM for contacts with circular cones, by Coulomb's law or relaxed, with a proximal term and an adaptive penalty.

In scaled impulses, x (n,) obeys the equations and z lies in the cones; with the multiplier ρ·y and De Saxcé's shift s,

    x ← (W + ρ + η)⁻¹·(ρ·(z − y) − b − s + η·x)                      x̂ = α·x + (1 − α)·z   (over-relaxation)
    z ← Π_K(x̂ + y),   y ← y + x̂ − z,   s_n ← μ·|ρ·y_t|              (s = 0 in the relaxed problem, whose W has R in it)

At rest, x = z and −ρ·y = W·z + b + s is in K* and ⟂ z. The relaxed problem is convex and the iteration converges; s
makes Coulomb's not monotone, and no proof exists. ρ starts at √(λ_max·λ_min) of W, or ``START`` if W is large, and is
multiplied by √(relative primal residual/relative dual residual) where that is above 5 or below 1/5, ever more rarely.
η > 0 and ρ > 0 make singular W (redundant contacts) harmless. W is scaled to a mean diagonal of 1 per contact, the same
for its three rows: mass ratios of 10⁶ cost some more iterations only. Bilateral rows are eliminated first. An iteration
that stalls from a warm start begins anew from zero with the iterations that are left.
Cost: an inverse, n³, per ρ and n² per iteration, compiled; CSR: a sparse factor per ρ. Small matrices are not given to
LAPACK, because on a busy machine its threads wait for each other much longer than the work takes.
J. Carpentier, Q. Le Lidec, L. Montaut, "From compliant to rigid contact simulation", RSS 2024; A. Tasora, D. Mangoni,
S. Benatti, R. Garziera, "Solving variational inequalities and cone complementarity problems in nonsmooth dynamics
using the alternating direction method of multipliers", IJNME 122, 2021.
Differs from them in: ρ by the balance of residuals after a spectral start, over-relaxation, the end by the natural map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from stickslip.errors import number
from stickslip.math.eigen import make_eigenbasis
from stickslip.solvers.admm.admm_core import LONGER, START, WAIT, admm_contacts, admm_room
from stickslip.solvers.admm.cone_admm import (
    BEST,
    DONE,
    GOING,
    LOST,
    RESCALE,
    RIGHT,
    SHIFT,
    SPEED,
    X,
    Y,
    Z,
    imbalance,
    invert,
    iterate,
    judge,
    multiply,
    natural_residual,
    project_and_update,
    right_side,
    spectrum,
)
from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.core import AIM, Core
from stickslip.solvers.elimination import without_bilateral
from stickslip.solvers.problem import ConeProblem, FrictionProblem
from stickslip.solvers.residuals import natural

ITERATIONS = 20_000
"""Default of ``max_iterations``."""
SPECTRUM = 300
"""Largest number of rows for which the spectrum of W is computed."""
SMALL = 150
"""Largest number of rows that our own inverse takes; above it, LAPACK's does."""
DENSE = 400
"""Largest number of rows of a CSR matrix that is made dense."""


@dataclass
class ADMM(Solver):
    """The alternating direction method of multipliers."""

    relaxation: float = 1.6
    """α, above 0 and below 2."""
    penalty: float | None = None
    """ρ in units of W's mean diagonal; None: adaptive."""
    proximal: float = 1e-9
    """η in the same units."""

    summary: ClassVar[str] = "ADMM with an adaptive penalty on circular cones; mass ratios, redundant contacts"
    reference: ClassVar[str] = "Carpentier, Le Lidec, Montaut 2024; Tasora et al. 2021"
    bibtex: ClassVar[tuple[str, ...]] = ("carpentier2024", "tasora2021")
    page: ClassVar[str] = "docs/solvers.md#admm"
    solves: ClassVar[frozenset[str]] = frozenset({"ncp", "cone"})
    functions: ClassVar[bool] = False
    prefers_cones: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.relaxation = number("relaxation", self.relaxation, "a number above 0 and below 2", above=0.0, below=2.0)
        if self.penalty is not None:
            self.penalty = number("penalty", self.penalty, "a positive number", above=0.0)
        self.proximal = number("proximal", self.proximal, "a number ≥ 0", least=0.0)

    def core(self, kind: str) -> Core | None:
        own = (self.relaxation, self.penalty or 0.0, self.proximal)
        return Core(admm_contacts, kind, self.max_iterations or ITERATIONS, own, admm_room) if kind == "cones" else None

    def _solve(self, problem: Any, z: np.ndarray) -> Outcome:
        alone, joints = without_bilateral(problem)
        start, limit, left = z[problem.bilateral :], AIM * self.limit(problem), self.max_iterations or ITERATIONS
        outcome = self._contacts(alone, start, limit, left)
        left -= outcome.iterations
        if outcome.status is Status.STALLED and np.any(start) and left > 0:
            again = self._contacts(alone, np.zeros(alone.n), limit, left)
            better = natural(alone, again.z) < natural(alone, outcome.z)
            outcome = Outcome(
                again.z if better else outcome.z,
                again.status,
                outcome.iterations + again.iterations,
                np.concatenate([outcome.history, again.history[1:]]),
            )
        if joints is None:
            return outcome
        return outcome._replace(z=np.concatenate([joints.joints(outcome.z), outcome.z]))

    def _contacts(self, problem: FrictionProblem | ConeProblem, p: np.ndarray, limit: float, sweeps: int) -> Outcome:
        coulomb = isinstance(problem, FrictionProblem)
        if problem.n == 0:
            return Outcome(p, Status.CONVERGED, 0, np.zeros(1))
        W, b, scale = _scaled(problem)
        state, history = np.zeros((7, problem.n)), np.zeros(sweeps + 1 if self.history else 0)
        state[X] = state[Z] = state[BEST] = p / scale
        if sp.issparse(W):
            state[SPEED] = W @ state[Z]
        else:
            multiply(W, state[Z], state[SPEED])
        size = natural_residual(b, problem.friction, scale, state, coulomb)
        history[:1] = size
        if size <= limit:
            return Outcome(p, Status.CONVERGED, 0, history[:1])
        penalty = self.penalty or _first_penalty(W)
        _first_multipliers(problem.friction, state, penalty, coulomb)
        watch, done, wait = np.array([size, size, 0.0]), 0, WAIT
        numbers = np.array([self.relaxation, self.proximal, limit, float(self.penalty is None)])
        arguments = (W, b, problem.friction, scale, state, watch, history)
        run = _sparse if sp.issparse(W) else _dense
        while True:
            code, done, size, factor = run(*arguments, penalty, numbers, coulomb, done, sweeps, wait)
            if code != RESCALE:
                break
            penalty *= factor
            state[Y] /= factor
            wait = int(LONGER * wait)
        best = state[Z] if code == DONE else state[BEST]
        status = {DONE: Status.CONVERGED, GOING: Status.MAX_ITERATIONS, LOST: Status.STALLED}[code]
        return Outcome(scale * best, status, int(done), history[: done + 1])


def _scaled(problem: FrictionProblem | ConeProblem) -> tuple[Any, np.ndarray, np.ndarray]:
    """W (with R) and b in units in which the mean diagonal of each contact's block is 1, and those units."""
    W = problem.matrix() if isinstance(problem, ConeProblem) else problem.W
    if sp.issparse(W) and problem.n <= DENSE:
        W = W.toarray()
    mean = W.diagonal().reshape(-1, 3).mean(axis=1)
    scale = np.repeat(1.0 / np.sqrt(np.where(mean > 0.0, mean, 1.0)), 3)
    if sp.issparse(W):
        D = sp.diags_array(scale)
        return sp.csc_array(D @ W @ D), scale * problem.b, scale
    return scale[:, None] * W * scale, scale * problem.b, scale


def _first_penalty(W: Any) -> float:
    if sp.issparse(W) or W.shape[0] > SPECTRUM:
        return START
    n = len(W)
    basis = make_eigenbasis(n)
    if not spectrum(W.copy(), basis, np.zeros((3, n))):
        return START
    largest = float(np.max(basis.value))
    if largest <= 0.0:
        return 1.0
    return float(np.sqrt(largest * max(np.min(basis.value[basis.value > 1e-10 * largest]), 1e-8 * largest)))


def _first_multipliers(friction: np.ndarray, state: np.ndarray, penalty: float, coulomb: bool) -> None:
    """Set the multipliers from the velocities at the start, so that a start that is a solution stays as it is."""
    velocity = state[SPEED].reshape(-1, 3)
    if coulomb:
        state[SHIFT][::3] = friction * np.hypot(velocity[:, 1], velocity[:, 2])
    state[Y] = -(state[SPEED] + state[SHIFT]) / penalty


def _dense(W, b, friction, scale, state, watch, history, penalty, numbers, coulomb, first, last, wait):
    inverse = W + (penalty + numbers[1]) * np.eye(len(b))
    if len(b) <= SMALL:
        invert(inverse)
    else:
        factor = la.cho_factor(inverse, lower=True, check_finite=False)
        inverse = la.cho_solve(factor, np.eye(len(b)), check_finite=False)
    inverse = 0.5 * (inverse + inverse.T)
    return iterate(
        inverse, W, b, friction, scale, state, watch, history, penalty, numbers, coulomb, first, last, wait
    )  # fmt: skip


def _sparse(W, b, friction, scale, state, watch, history, penalty, numbers, coulomb, first, last, wait):
    """The same iteration as ``cone_admm.iterate``, with a sparse factor."""
    shifted = sp.csc_array(W + (penalty + numbers[1]) * sp.eye_array(len(b)))
    options = {"SymmetricMode": True}
    solve: Callable = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve
    relaxation, proximal, limit, adaptive = numbers
    size = watch[1]
    for done in range(first + 1, last + 1):
        right_side(b, state, penalty, proximal)
        state[X] = solve(state[RIGHT])
        primal, dual = project_and_update(friction, state, penalty, relaxation, coulomb)
        if len(history) or done % 5 == 0 or done == last:
            state[SPEED] = W @ state[Z]
            size = natural_residual(b, friction, scale, state, coulomb)
            if len(history):
                history[done] = size
            code = judge(size, state, watch, done)
            if size <= limit:
                return DONE, done, size, 1.0
            if code != GOING:
                return code, done, size, 1.0
        if adaptive > 0.0 and done - first >= wait:
            factor = imbalance(b, state, primal, dual)
            if factor > 5.0 or factor < 0.2:
                return RESCALE, done, size, factor
    return GOING, last, size, 1.0
