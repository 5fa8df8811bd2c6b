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

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.core import Core
from stickslip.solvers.newton.primal_core import primal_contacts, primal_room
from stickslip.solvers.newton.primal_cost import FIRST, NO_PROGRESS, STALLS, impulses_of, line_search, natural_residual
from stickslip.solvers.problem import ConeProblem


class Smoothed:
    """The cost with R' around a centre, evaluated at q."""

    def __init__(self, problem: ConeProblem, q: np.ndarray) -> None:
        self.problem, self.nb, self.friction = problem, problem.bilateral, problem.friction
        diagonal = problem.W.diagonal().copy()
        contacts = diagonal[self.nb :].reshape(-1, 3)
        contacts[:] = contacts.max(axis=1, initial=0.0)[:, None]
        self.scale = np.where(diagonal > 0.0, diagonal, diagonal.max(initial=0.0) or 1.0)
        self.p = q.copy()
        self.move(q, FIRST)

    def move(self, q: np.ndarray, epsilon: float) -> None:
        """Put centre and q to a new point, with another ε."""
        self.q, self.centre, self.epsilon = q.copy(), q.copy(), epsilon
        self.R = np.maximum(self.problem.regularisation, epsilon * self.scale)
        self.added = self.R - self.problem.regularisation
        self.Wq = self.problem.W @ q

    def look(self) -> float:
        """Compute p at q and the gradient; returns the natural residual of p."""
        problem = self.problem
        self.y = self.Wq + problem.b - self.added * self.centre
        impulses_of(self.y, self.R, self.friction, self.nb, self.p)
        self.Wp = problem.W @ self.p
        self.r, self.Wr = self.p - self.q, self.Wp - self.Wq
        return natural_residual(self.p, self.Wp + problem.regularisation * self.p + problem.b, self.friction, self.nb)

    def settled(self, share: float) -> bool:
        """Whether the gradient is small beside the error that the centre causes."""
        shift = float(np.max(np.abs(self.added * (self.p - self.centre))))
        return float(np.max(np.abs(self.Wr))) <= share * shift

    def go(self, direction: tuple[np.ndarray, np.ndarray], accuracy: float) -> bool:
        """Search along (d, W·d); returns False if there is no progress."""
        d, z = direction
        start, square = -float(self.r @ z), float(d @ z)
        step = line_search(self.y, z, start, square, self.R, self.friction, self.nb, self.p, accuracy)
        if not step * np.max(np.abs(z)) > NO_PROGRESS * np.max(np.abs(self.y)):
            return False
        self.q += step * d
        self.Wq += step * z
        return True


@dataclass
class Primal(Solver):
    """The iteration of primal methods; a subclass provides the directions."""

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
    """Whether directions are Newton's."""

    def core(self, kind: str) -> Core | None:
        own = (float(self.newton), self.least, self.shrink, self.share, self.accuracy)
        most = self.max_iterations or self.usual_limit
        return Core(primal_contacts, kind, most, own, primal_room) if kind == "cones" else None

    @abstractmethod
    def _directions(self, problem: ConeProblem) -> Any:
        """An object with ``next(now) → (d, W·d)`` for a ``Smoothed``, and ``forget()`` for when the centre moves."""

    def _solve(self, problem: ConeProblem, z: np.ndarray) -> Outcome:
        now, directions, limit = Smoothed(problem, z), self._directions(problem), self.limit(problem)
        best = natural_residual(z, now.Wq + problem.regularisation * z + problem.b, now.friction, now.nb)
        history, answer, iterations, stalls = [best], z, 0, 0
        status = Status.CONVERGED if best <= limit else Status.MAX_ITERATIONS
        while status is Status.MAX_ITERATIONS and iterations < (self.max_iterations or self.usual_limit):
            iterations += 1
            residual = now.look()
            history.append(residual)
            if residual < best:
                best, answer = residual, now.p.copy()
            if best <= limit:
                status = Status.CONVERGED
            elif not np.isfinite(residual):
                status = Status.STALLED
            elif now.settled(self.share):
                now.move(now.p, max(self.least, self.shrink * now.epsilon))
                directions.forget()
            elif not now.go(directions.next(now), self.accuracy):
                stalls += 1
                now.move(now.p, min(FIRST, 10.0 * now.epsilon))
                directions.forget()
                if stalls > STALLS:
                    status = Status.STALLED
        return Outcome(answer, status, iterations, np.array(history) if self.history else np.empty(0))
