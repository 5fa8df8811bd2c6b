"""The primal of the relaxed contact problem: a smooth convex cost of velocities without constraints.

With y = W·q + b the velocities of the rows under the impulses q (n,), and R > 0,

    min over q   ½·qᵀ·W·q + Σ_i s_i(y_i),    s_i(y_i) = max over p_i in the cone of −p_i·y_i − ½·p_iᵀ·R_i·p_i,

which in joint space is ½·‖v − v_free‖²_M + Σ s(G·v + …): q stands for v = v_free + M⁻¹·Gᵀ·q, so that W alone is needed.
−∇s_i is the impulse p_i(y_i), the projection of −y_i/R_i onto the cone in the metric R_i. With h = μ·|y_t| − y_n,

    sticks   |y_t|·R_n ≤ −μ·y_n·R_t   p = −y/R                                ∇²s = 1/R
    leaves   h ≤ 0                    p = 0                                   ∇²s = 0
    slides   between                  p_n = h/R_s, p_t = −μ·p_n·e             ∇²s = ∇h·∇hᵀ/R_s + (μ·p_n/|y_t|)·e⊥·e⊥ᵀ

with e = y_t/|y_t| and R_s = R_n + μ²·R_t. The gradient is W·(q − p), zero where q = p; the cost is convex.

Rows with R below ε times their part of W's diagonal (R = 0: bilateral rows, joint limits, rigid contacts) are given
R' = ε·diagonal around a centre c, that is b' = b − (R' − R)·c: the proximal-point method. The centre follows the answer
and ε shrinks, so that what is solved in the end is the problem as given, by the judge's measure.

Reference: Todorov, "Convex and analytically-invertible dynamics with contacts and constraints", ICRA 2014; Castro,
Permenter, Han, "An unconstrained convex formulation of compliant contact", T-RO 2022; Rockafellar, "Monotone operators
and the proximal point algorithm", SIAM J. Control Optim. 14, 1976.
Differs from the papers in: impulses instead of joint velocities; proximal steps for rows without regularisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stickslip.solvers.base import CODES, Outcome, Solver
from stickslip.solvers.core import LIMIT, Core
from stickslip.solvers.newton.primal_core import DIRECTION, DONE, Cost, begin, primal_contacts, primal_room, proceed
from stickslip.solvers.problem import ConeProblem
from stickslip.solvers.splitting.sweeps import rows_of


@dataclass
class Primal(Solver):
    """The iteration of primal methods; a subclass says which directions it takes."""

    solves: ClassVar[frozenset[str]] = frozenset({"cone"})
    least: ClassVar[float]
    """Smallest ε."""
    shrink: ClassVar[float]
    """Factor on ε whenever the centre moves."""
    share: ClassVar[float]
    """The centre moves if the gradient is below this, relative to the centre's error."""
    accuracy: ClassVar[float] = 1e-3
    """Slope at the end of a line search relative to that at its start."""
    usual_limit: ClassVar[int]
    """Default of ``max_iterations``."""
    newton: ClassVar[bool]
    """Whether directions are Newton's; of matrices that the core does not take ``_direction`` finds them."""

    def core(self, kind: str) -> Core | None:
        return self._core() if kind == "cones" else None

    def _core(self) -> Core:
        own = (float(self.newton), self.least, self.shrink, self.share, self.accuracy)
        return Core(primal_contacts, "cones", self.max_iterations or self.usual_limit, own, primal_room)

    def _direction(self, problem: ConeProblem, c: Cost) -> None:
        """A direction and its product by W into ``c.d`` and ``c.Wd``: the steepest, unless a subclass has another."""
        c.d[:], c.Wd[:] = c.r, c.Wr

    def _solve(self, problem: ConeProblem, z: np.ndarray) -> Outcome:
        """The iteration of the core on large, sparse and bilateral problems."""
        core, c = self._core(), _cost(problem)
        options, history = core.options(), np.zeros(core.most + 1 if self.history else 0)
        options[LIMIT] = self.limit(problem)
        code = begin(c, z, history, options)
        while code == DIRECTION:
            self._direction(problem, c)
            code = proceed(c, z, history, options)
        done = int(c.number[DONE])
        return Outcome(z, CODES[code], done, history[: done + 1])


def _cost(problem: ConeProblem) -> Cost:
    """The state of the iteration, without the matrix of dense Newton directions."""
    n, nc = problem.n, len(problem.friction)
    whole = (np.zeros(size, np.int64) for size in (n + 1, 3 * n, n - 2 * nc))
    diagonal = np.ascontiguousarray(problem.W.diagonal(), dtype=float)
    given = (rows_of(problem.W), np.zeros(0), problem.b, problem.regularisation, problem.friction)
    scratch = (*np.zeros((16, n)), np.zeros((n, 3)), np.zeros(3 * n), *whole, diagonal, np.zeros(5))
    return Cost(*given, *scratch)
