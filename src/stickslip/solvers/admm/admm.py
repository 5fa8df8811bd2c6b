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
from stickslip.solvers.admm.admm_core import (
    DONE,
    FACTOR,
    PROXIMAL,
    RHO,
    Scratch,
    admm_contacts,
    admm_room,
    begin,
    finish,
    proceed,
)
from stickslip.solvers.admm.cone_admm import RIGHT, X
from stickslip.solvers.base import CODES, Outcome, Solver
from stickslip.solvers.core import COULOMB, LIMIT, Core, fits, run_core
from stickslip.solvers.elimination import without_bilateral
from stickslip.solvers.problem import ConeProblem, FrictionProblem
from stickslip.solvers.splitting.sweeps import rows_of

ITERATIONS = 20_000
"""Default of ``max_iterations``."""
SPECTRUM = 300
"""Largest number of rows for which the spectrum of W is computed."""
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
        return self._core() if kind == "cones" else None

    def _core(self) -> Core:
        own = (self.relaxation, self.penalty or 0.0, self.proximal)
        return Core(admm_contacts, "cones", self.max_iterations or ITERATIONS, own, admm_room)

    def _solve(self, problem: Any, z: np.ndarray) -> Outcome:
        alone, joints = without_bilateral(problem)
        p, core = z[problem.bilateral :].copy(), self._core()
        if fits(core, alone):
            p, code, done, history = run_core(core, alone, p, self.limit(problem), self.history)
        else:
            p, code, done, history = self._large(alone, p, core, self.limit(problem))
        answer = p if joints is None else np.concatenate([joints.joints(p), p])
        return Outcome(answer, CODES[code], done, history)

    def _large(
        self, problem: FrictionProblem | ConeProblem, p: np.ndarray, core: Core, limit: float
    ) -> tuple[np.ndarray, int, int, np.ndarray]:
        """The iteration of the core with factors of LAPACK or SuperLU; returns what ``run_core`` does."""
        options, history = core.options(), np.zeros(core.most + 1 if self.history else 0)
        options[LIMIT], options[COULOMB] = limit, isinstance(problem, FrictionProblem)
        W, s = _scaled(problem)
        s.start[:] = p / s.scale
        code = begin(s, problem.friction, history, options)
        while code < 0:
            if code == FACTOR:
                solve = _factored(W, s.number[RHO] + options[PROXIMAL])
            s.state[X] = solve(s.state[RIGHT])
            code = proceed(s, problem.friction, history, options)
        finish(s, p)
        done = int(s.number[DONE])
        return p, int(code), done, history[: done + 1]


def _scaled(problem: FrictionProblem | ConeProblem) -> tuple[Any, Scratch]:
    """W (with R) in units in which the mean diagonal of each contact's block is 1, and the state of the iteration."""
    n, W = problem.n, problem.matrix() if isinstance(problem, ConeProblem) else problem.W
    if sp.issparse(W) and n <= DENSE:
        W = W.toarray()
    mean = W.diagonal().reshape(-1, 3).mean(axis=1)
    scale = np.repeat(1.0 / np.sqrt(np.where(mean > 0.0, mean, 1.0)), 3)
    if sp.issparse(W):
        D = sp.diags_array(scale)
        W = sp.csr_array(D @ W @ D)
    else:
        W = scale[:, None] * W * scale
    spectral = not sp.issparse(W) and n <= SPECTRUM
    square, basis = np.zeros((n, n) if spectral else (0, 0)), make_eigenbasis(n if spectral else 0)
    start, kept, number = np.zeros(n), np.zeros(n), np.array([0.0, 0.0, 0.0, 0.0, np.inf])
    return W, Scratch(
        rows_of(W), square, scale * problem.b, scale, start, kept, np.zeros((7, n)), np.zeros((3, n)), np.zeros(3),
        number, basis,
    )  # fmt: skip


def _factored(W: Any, shift: float) -> Callable[[np.ndarray], np.ndarray]:
    """A function that solves linear systems with W + shift."""
    if sp.issparse(W):
        shifted = sp.csc_array(W + shift * sp.eye_array(W.shape[0]))
        options = {"SymmetricMode": True}
        return splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve
    factor = la.cho_factor(W + shift * np.eye(len(W)), lower=True, check_finite=False)
    inverse = la.cho_solve(factor, np.eye(len(W)), check_finite=False)
    return (0.5 * (inverse + inverse.T)).__matmul__
