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

from stickslip._jit import kernel
from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.contact_natural import relaxed_natural
from stickslip.solvers.problem import ConeProblem

FIRST = 1e-2
"""ε at the start."""
STALLS = 20
"""Largest number of line searches without progress. ε grows tenfold after each; then the status is STALLED."""
NO_PROGRESS = 1e-14
"""Smallest change of y that counts as progress, relative to y."""


@kernel
def impulses_of(y, R, friction, nb, p):
    """p(y) into p (n,)."""
    for i in range(nb):
        p[i] = -y[i] / R[i]
    for c in range(friction.shape[0]):
        i, mu = nb + 3 * c, friction[c]
        length = (y[i + 1] ** 2 + y[i + 2] ** 2) ** 0.5
        if mu > 0.0 and length * R[i] <= -mu * y[i] * R[i + 1]:
            p[i], p[i + 1], p[i + 2] = -y[i] / R[i], -y[i + 1] / R[i + 1], -y[i + 2] / R[i + 1]
            continue
        p[i] = max(0.0, (mu * length - y[i]) / (R[i] + mu * mu * R[i + 1]))
        turn = -mu * p[i] / length if length > 0.0 else 0.0
        p[i + 1], p[i + 2] = turn * y[i + 1], turn * y[i + 2]


@kernel
def curvature(y, R, friction, nb, p, E, width):
    """Roots of ∇²s = E·Eᵀ: rows (n, 3) of E per row of y, of which a contact has its first ``width`` columns;
    width (nb + nc,), 1 for bilateral rows."""
    for i in range(nb):
        E[i, 0], width[i] = R[i] ** -0.5, 1
    for c in range(friction.shape[0]):
        i, mu = nb + 3 * c, friction[c]
        for a in range(3):
            E[i + a, 0] = E[i + a, 1] = E[i + a, 2] = 0.0
        length = (y[i + 1] ** 2 + y[i + 2] ** 2) ** 0.5
        if mu > 0.0 and length * R[i] <= -mu * y[i] * R[i + 1]:
            E[i, 0], E[i + 1, 1], E[i + 2, 2], width[nb + c] = R[i] ** -0.5, R[i + 1] ** -0.5, R[i + 1] ** -0.5, 3
        elif p[i] <= 0.0:
            width[nb + c] = 0
        else:
            root = (R[i] + mu * mu * R[i + 1]) ** -0.5
            E[i, 0], width[nb + c] = -root, 1
            if mu > 0.0 and length > 0.0:
                e1, e2, across = y[i + 1] / length, y[i + 2] / length, (mu * p[i] / length) ** 0.5
                E[i + 1, 0], E[i + 2, 0] = root * mu * e1, root * mu * e2
                E[i + 1, 1], E[i + 2, 1], width[nb + c] = -across * e2, across * e1, 2


@kernel
def _slope(y, z, step, R, friction, nb, p):
    """(p − p(y + step·z))·z and its derivative by the step."""
    first = second = 0.0
    for i in range(nb):
        first += (p[i] + (y[i] + step * z[i]) / R[i]) * z[i]
        second += z[i] * z[i] / R[i]
    for c in range(friction.shape[0]):
        i, mu = nb + 3 * c, friction[c]
        n, s, t = y[i] + step * z[i], y[i + 1] + step * z[i + 1], y[i + 2] + step * z[i + 2]
        length = (s * s + t * t) ** 0.5
        if mu > 0.0 and length * R[i] <= -mu * n * R[i + 1]:
            first += (p[i] + n / R[i]) * z[i]
            first += (p[i + 1] + s / R[i + 1]) * z[i + 1] + (p[i + 2] + t / R[i + 1]) * z[i + 2]
            second += z[i] * z[i] / R[i] + (z[i + 1] ** 2 + z[i + 2] ** 2) / R[i + 1]
            continue
        first += p[i] * z[i] + p[i + 1] * z[i + 1] + p[i + 2] * z[i + 2]
        h, r = mu * length - n, 1.0 / (R[i] + mu * mu * R[i + 1])
        if h > 0.0:
            along = across = 0.0
            if length > 0.0:
                along, across = (s * z[i + 1] + t * z[i + 2]) / length, (s * z[i + 2] - t * z[i + 1]) / length
                second += r * h * mu * across * across / length
            first += r * h * (mu * along - z[i])
            second += r * (mu * along - z[i]) ** 2
    return first, second


@kernel(inline=False)
def line_search(y, z, start, square, R, friction, nb, p, accuracy):
    """The step along a direction d that minimises the cost, z = W·d: Newton's method on its slope, kept between bounds.
    ``start`` < 0 is the slope at 0, ``square`` is dᵀ·W·d; the slope at the end is ``accuracy`` of that at 0."""
    if not start < 0.0:
        return 0.0
    low, high, step = 0.0, np.inf, 1.0
    for _ in range(60):
        first, second = _slope(y, z, step, R, friction, nb, p)
        first += start + step * square
        second += square
        if abs(first) <= -accuracy * start:
            break
        if first < 0.0:
            low = step
        else:
            high = step
        step = step - first / second if second > 0.0 else np.inf
        if not low < step < high:
            step = 2.0 * low if high == np.inf else 0.5 * (low + high)
    return step


@kernel
def _residual(p, u, friction, nb):
    """‖natural map‖∞, NaN if anything is."""
    worst = 0.0
    for i in range(nb):
        if not abs(u[i]) <= worst:
            worst = abs(u[i])
    for c in range(friction.shape[0]):
        i = nb + 3 * c
        size = relaxed_natural(p[i], p[i + 1], p[i + 2], u[i], u[i + 1], u[i + 2], friction[c])
        if not size <= worst:
            worst = size
    return worst


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
        return _residual(self.p, self.Wp + problem.regularisation * self.p + problem.b, self.friction, self.nb)

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

    @abstractmethod
    def _directions(self, problem: ConeProblem) -> Any:
        """An object with ``next(now) → (d, W·d)`` for a ``Smoothed``, and ``forget()`` for when the centre moves."""

    def _solve(self, problem: ConeProblem, z: np.ndarray) -> Outcome:
        now, directions, limit = Smoothed(problem, z), self._directions(problem), self.limit(problem)
        best = _residual(z, now.Wq + problem.regularisation * z + problem.b, now.friction, now.nb)
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
