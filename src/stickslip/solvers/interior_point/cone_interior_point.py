"""Interior point on second-order cones: the relaxed contact problem, and Coulomb's law in De Saxcé's form.

Scaled so that the cone of every contact is self-dual, p_n = c·x_n, p_t = μ·c·x_t and y = (c·û_n, μ·c·u_t), it follows

    A·x + b = y − coulomb·(|y_t|, 0, 0),   x∘y = τ·(1, 0, 0) per contact,   x, y inside Q = {x_n ≥ |x_t|},   τ → 0,

and A·x + b = 0 in bilateral rows, whose x is free. A = S·W·S (n, n), S = (c, μ·c, μ·c) with c such that contacts have
diagonals of about 1, whatever the masses. coulomb = 0: the relaxed problem, convex; u in K*. coulomb = 1:
û = u + (μ·|u_t|, 0, 0) in K*, Coulomb's law. μ = 0 gives S = (c, 0, 0): a half-line, with nothing else to change.

An iteration linearises all of it, the shift |y_t| included, by P = [[1, −y_tᵀ/|y_t|], [0, 1]] (coulomb = 0: P = 1):

    (A + P·H)·dx = P·g − r,    dy = g − H·dx,    H = G², g from x∘y in Nesterov and Todd's scaling G,

one matrix (n, n), a predictor and a corrector (Mehrotra). H is positive definite, so that redundant contacts (W
singular) do no harm. A short step is tried again without the second-order term and with more centring. 5 to 15
iterations, hardly more with n. Near the end ``cone_newton`` takes over: a few semismooth Newton steps, without which
degenerate contacts, at rest without force or at the edge of slipping, would stop at the square root of rounding errors.

The relaxed problem is monotone. Coulomb's is not, and steps become short where |y_t| bends: what a step's linearised
shift leaves of the equations is put into y_n where x_n is small (|y_t| is convex: y stays inside), which mends most of
it. A path that ends all the same is begun anew, from elsewhere or with the gap τ held up by infeasibility (``STARTS``).
Where all of them end, another solver takes over unless ``rescue`` is off: Fischer–Newton from the best point, with the
iterations that are left, which count on. What that leaves is reported as STALLED.
A warm start is looked at, and used only if it is the solution.

The limit is on impulses, so that contacts with small ones meet it with friction that is not quite against their slip:
up to ``SHARPER`` more Newton steps are taken at the end, until the residual is ``SHARP`` of the limit and as long as
each lowers it tenfold.

V. Acary, P. Armand, H. M. Nguyen, M. Shpakovych, "Second-order cone programming for frictional contact mechanics using
interior point algorithm", Optim. Methods Softw. 39, 2024. Differs from the paper in: W instead of (M, H); new starts
and Newton's method at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from stickslip._jit import kernel
from stickslip.errors import expected
from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.interior_point.cone_newton import polish
from stickslip.solvers.interior_point.second_order_cone import (
    complementarity,
    longest_step,
    scale_cones,
    squared_scaling,
)
from stickslip.solvers.newton.linear_systems import SparseFactor
from stickslip.solvers.newton.scaled import scaled_matrix
from stickslip.solvers.problem import ConeProblem, FrictionProblem
from stickslip.solvers.residuals import natural

MAX_ITERATIONS = 400
SHORT, SHORTEST = 0.3, 1e-6
"""A step below the first is tried again; below the second, there is no progress."""
CENTRING = 0.5
"""Of steps that are tried again."""
SHIFT = 1e-12
"""Added to the diagonal of bilateral rows, about 1: joints may say the same twice."""
NEAR = 1e-3
"""Natural residual over the tolerance's unit from which Newton's method is tried."""
STARTS = ((1.0, 0.0), (1.0, 1.0), (10.0, 0.1), (0.1, 1.0), (100.0, 1.0), (1e4, 1.0))
"""(Where a path starts, in units of |b|; how much infeasibility holds the gap up) of the first path and of new ones."""
SHARPER, SHARP = 2, 1e-4
"""Newton steps after the limit is met, and the part of the limit that needs no more of them."""
PATIENCE = 12
"""Iterations without half the gap, after which a path ends."""


@dataclass
class ConeSystem:
    """A problem in the scaled units above."""

    problem: ConeProblem | FrictionProblem
    A: Any
    """(n, n) dense or CSR."""
    b: np.ndarray
    scale: np.ndarray
    """(n,) p = scale·x."""
    coulomb: bool
    nb: int
    nc: int

    def natural(self, x: np.ndarray) -> float:
        """‖natural map‖∞ in the problem's own units."""
        return natural(self.problem, self.scale * x)


def cone_system(problem: ConeProblem | FrictionProblem) -> ConeSystem:
    coulomb, nb, mu = isinstance(problem, FrictionProblem), problem.bilateral, problem.friction
    W: Any = problem.W if isinstance(problem, FrictionProblem) else problem.matrix()
    diagonal = W.diagonal()
    scale = np.empty(problem.n)
    scale[:nb] = _roots(diagonal[:nb])
    own, contact = diagonal[nb:].reshape(-1, 3), scale[nb:].reshape(-1, 3)
    contact[:, 0] = _roots(np.maximum(own[:, 0], mu**2 * own[:, 1:].max(axis=1, initial=0.0)))
    contact[:, 1:] = (mu * contact[:, 0])[:, None]
    return ConeSystem(problem, scaled_matrix(W, scale), scale * problem.b, scale, coulomb, nb, len(mu))


def _roots(diagonal: np.ndarray) -> np.ndarray:
    """1/√diagonal; 1 where it is not positive."""
    positive = diagonal > 0.0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 1.0)


@kernel
def _shifted(y, coulomb, out):
    """(nc, 3) A·x + b that y asks for: y without its shift |y_t|."""
    for c in range(y.shape[0]):
        shift = 0.0
        if coulomb:
            shift = (y[c, 1] * y[c, 1] + y[c, 2] * y[c, 2]) ** 0.5
        out[c, 0], out[c, 1], out[c, 2] = y[c, 0] - shift, y[c, 1], y[c, 2]


@kernel
def _take_back(u, x, y, share):
    """y_n raised by what the linearised shift has left of the equations, |y_t| being convex, where that hardly changes
    complementarity: x_n·(the change) ≤ share."""
    for c in range(y.shape[0]):
        left = u[c, 0] - y[c, 0] + (y[c, 1] * y[c, 1] + y[c, 2] * y[c, 2]) ** 0.5
        if 0.0 < left * x[c, 0] <= share:
            y[c, 0] += left


@kernel
def _slope(y, v, out):
    """P·v into out (nc, 3)."""
    for c in range(y.shape[0]):
        length = (y[c, 1] * y[c, 1] + y[c, 2] * y[c, 2]) ** 0.5
        along = (y[c, 1] * v[c, 1] + y[c, 2] * v[c, 2]) / length if length > 0.0 else 0.0
        out[c, 0], out[c, 1], out[c, 2] = v[c, 0] - along, v[c, 1], v[c, 2]


@kernel
def _slope_of_blocks(y, H, out):
    """P·H into out (nc, 3, 3)."""
    for c in range(y.shape[0]):
        length = (y[c, 1] * y[c, 1] + y[c, 2] * y[c, 2]) ** 0.5
        for j in range(3):
            along = (y[c, 1] * H[c, 1, j] + y[c, 2] * H[c, 2, j]) / length if length > 0.0 else 0.0
            out[c, 0, j], out[c, 1, j], out[c, 2, j] = H[c, 0, j] - along, H[c, 1, j], H[c, 2, j]


@kernel
def _add_blocks(K, nb, blocks, shift):
    for i in range(nb):
        K[i, i] += shift
    for c in range(blocks.shape[0]):
        for i in range(3):
            for j in range(3):
                K[nb + 3 * c + i, nb + 3 * c + j] += blocks[c, i, j]


@kernel
def _change(g, H, dx, dy):
    """dy = g − H·dx."""
    for c in range(g.shape[0]):
        for i in range(3):
            dy[c, i] = g[c, i] - (H[c, i, 0] * dx[c, 0] + H[c, i, 1] * dx[c, 1] + H[c, i, 2] * dx[c, 2])


class _Path:
    """One path to follow, from the start."""

    def __init__(self, system: ConeSystem, to_boundary: float, far: float, caution: float) -> None:
        nc = system.nc
        self.system, self.to_boundary, self.caution = system, to_boundary, caution
        self.coulomb = system.coulomb
        self.size = max(float(np.max(np.abs(system.b), initial=0.0)), 1e-12)
        self.x, self.y = np.zeros(len(system.b)), np.zeros((nc, 3))
        self.contacts(self.x)[:, 0] = far * self.size
        u = self.contacts(system.A @ self.x + system.b)
        self.y[:, 0] = np.maximum(u[:, 0], far * self.size)
        self.scaling, self.point, self.g, self.out = np.empty((nc, 4)), *np.empty((3, nc, 3))
        self.H, self.blocks = np.empty((2, nc, 3, 3))

    def contacts(self, vector: np.ndarray) -> np.ndarray:
        return vector[self.system.nb :].reshape(-1, 3)

    def gap(self) -> float:
        return float(np.vdot(self.contacts(self.x), self.y)) / max(1, self.system.nc)

    def step(self) -> bool:
        """Predictor, corrector and a step; False where there is no way on."""
        system, x, y = self.system, self.contacts(self.x), self.y
        if not scale_cones(x, y, self.scaling, self.point):
            return False
        squared_scaling(self.scaling, self.H)
        blocks = self.H
        if self.coulomb:
            _slope_of_blocks(y, self.H, self.blocks)
            blocks = self.blocks
        factor = _factored(system, blocks)
        _shifted(y, self.coulomb, self.out)
        infeasible = system.A @ self.x + system.b
        self.contacts(infeasible)[:] -= self.out
        gap, none = self.gap(), np.zeros_like(y)
        dx, dy = self._direction(factor, infeasible, none, none, 0.0, 0.0)
        if not np.all(np.isfinite(dx)):
            return False
        if not system.nc:
            self.x = self.x + dx
            return True
        length = self._length(dx, dy, 1.0)
        after = float(np.vdot(x + length * self.contacts(dx), y + length * dy)) / system.nc
        centre = min(1.0, max(0.0, after / gap)) ** 3
        centre = max(centre, min(0.8, self.caution * float(np.max(np.abs(infeasible))) ** 2 / gap))
        dx, dy = self._direction(factor, infeasible, self.contacts(dx), dy, 1.0, centre * gap)
        length = min(1.0, self.to_boundary * self._length(dx, dy, 2.0))
        if length < SHORT:
            other = self._direction(factor, infeasible, none, none, 0.0, CENTRING * gap)
            again = min(1.0, self.to_boundary * self._length(other[0], other[1], 2.0))
            if again > length:
                (dx, dy), length = other, again
        if not length > SHORTEST:
            return False
        self.x, self.y = self.x + length * dx, y + length * dy
        if self.coulomb:
            u = self.contacts(system.A @ self.x + system.b)
            _take_back(u, self.contacts(self.x), self.y, gap)
        return True

    def _length(self, dx: np.ndarray, dy: np.ndarray, limit: float) -> float:
        length = longest_step(self.contacts(self.x), self.contacts(dx), limit)
        return float(min(length, longest_step(self.y, dy, limit)))

    def _direction(self, factor, infeasible, before_x, before_y, second: float, centre: float):
        complementarity(self.scaling, self.point, before_x, before_y, second, centre, self.g)
        right = -infeasible
        if self.coulomb:
            _slope(self.y, self.g, self.out)
            self.contacts(right)[:] += self.out
        else:
            self.contacts(right)[:] += self.g
        dx, dy = factor(right), np.empty_like(self.y)
        _change(self.g, self.H, self.contacts(dx), dy)
        return dx, dy


def _factored(system: ConeSystem, blocks: np.ndarray):
    """A function that solves with A + blocks."""
    nb, nc, n = system.nb, system.nc, len(system.b)
    if sp.issparse(system.A):
        first = sp.diags_array(np.full(nb, SHIFT), shape=(nb, nb))
        own = sp.bsr_array((blocks, np.arange(nc), np.arange(nc + 1)), shape=(3 * nc, 3 * nc))
        K = sp.csr_array(system.A + (sp.block_diag([first, own]) if nb else own))
        K.sort_indices()
        K.indptr, K.indices = K.indptr.astype(np.int32), K.indices.astype(np.int32)
        return SparseFactor(K)
    K = system.A.copy()
    _add_blocks(K, nb, blocks, SHIFT)
    lu, pivots, info = lapack.dgetrf(K.T, overwrite_a=0)  # of the transpose: LAPACK's matrices are column by column
    if info != 0:
        return lambda r: np.full(n, np.nan)

    def solve(r: np.ndarray) -> np.ndarray:
        x = lapack.dgetrs(lu, pivots, r, trans=1)[0]
        return x + lapack.dgetrs(lu, pivots, r - K @ x, trans=1)[0]

    return solve


class ConePaths:
    """One call of ``solve``: paths with the shift inside, Newton's method, and Fischer–Newton if ``rescue``."""

    def __init__(
        self, method: Solver, problem: ConeProblem | FrictionProblem, to_boundary: float, rescue: bool
    ) -> None:
        if getattr(method, "subsolver", "auto") not in ("auto", "direct"):
            raise expected("subsolver", "'auto' or 'direct' with circular cones", method.subsolver)  # type: ignore[attr-defined]
        self.system, self.to_boundary, self.rescue = cone_system(problem), to_boundary, rescue
        self.tolerance, self.limit = method.tolerance, method.limit(problem)
        self.left = method.max_iterations or MAX_ITERATIONS
        self.iterations, self.keep, self.history = 0, method.history, [np.inf]
        self.best, self.best_x, self.best_p = np.inf, np.zeros(problem.n), np.zeros(problem.n)

    def follow(self, p: np.ndarray) -> Outcome:
        system = self.system
        start = natural(system.problem, p)
        self.history = [start]
        if start <= self.limit:
            return Outcome(p, Status.CONVERGED, 0, np.array(self.history))
        status = Status.STALLED
        for far, caution in STARTS:
            status = self._descend(_Path(system, self.to_boundary, far, caution))
            if status is Status.CONVERGED or self.left <= 0:
                break
        if status is Status.STALLED and system.coulomb and self.rescue and self.left > 0:
            status = self._search()
        if status is Status.CONVERGED:
            self._sharpen()
        answer = p if start < self.best else self.best_p
        return Outcome(answer, status, self.iterations, np.array(self.history) if self.keep else np.empty(0))

    def _look(self, x: np.ndarray) -> float:
        residual = self.system.natural(x)
        if residual < self.best:
            self.best, self.best_x, self.best_p = residual, x.copy(), self.system.scale * x
        return residual

    def _descend(self, path: _Path) -> Status:
        """Along one path, and by Newton's method from where it is near the end or ends."""
        status, tried, gaps = Status.STALLED, np.inf, [path.gap()]
        while self.left > 0:
            if not path.step():
                break
            gaps.append(path.gap())
            if len(gaps) > PATIENCE and gaps[-1] > 0.5 * gaps[-PATIENCE]:
                break
            residual = self._count(path.x)
            if residual <= self.limit:
                return Status.CONVERGED
            if residual < NEAR * self.limit / self.tolerance and residual < 1e-2 * tried:
                tried = residual
                if self._newton(path.x):
                    return Status.CONVERGED
        else:
            status = Status.MAX_ITERATIONS
        return Status.CONVERGED if self._newton(self.best_x) else status

    def _count(self, x: np.ndarray) -> float:
        self.iterations += 1
        self.left -= 1
        residual = self._look(x)
        if self.keep:
            self.history.append(residual)
        return residual

    def _search(self) -> Status:
        """By a Newton method with a line search and starts of its own, where all paths have ended."""
        from stickslip.solvers.newton.fischer_newton import FischerNewton  # which starts from interior points itself

        method = FischerNewton(self.tolerance, self.left, history=True)
        outcome = method._solve(self.system.problem, self.system.scale * self.best_x)
        self.iterations += outcome.iterations
        self.left -= outcome.iterations
        self.history.extend(outcome.history[1:])
        residual = natural(self.system.problem, outcome.z)
        if residual < self.best:
            scale = self.system.scale
            self.best, self.best_p = residual, outcome.z
            self.best_x = np.where(scale > 0.0, outcome.z / np.where(scale > 0.0, scale, 1.0), 0.0)
        return outcome.status

    def _sharpen(self) -> None:
        before, aim = self.best, SHARP * self.limit
        if before <= aim:
            return
        for x in polish(self.system, self.best_x, aim, min(SHARPER, self.left)):
            if not self._count(x) <= 0.1 * before:
                return
            before = self.best

    def _newton(self, x: np.ndarray) -> bool:
        steps = polish(self.system, x, self.limit, self.left)
        return any(self._count(improved) <= self.limit for improved in steps)
