"""One central path on second-order cones: Nesterov and Todd's scaling, Mehrotra's predictor and corrector.

In the units of ``cone_system`` a path is followed along

    A·x + b = y − coulomb·(|y_t|, 0, 0),   x∘y = τ·(1, 0, 0) per contact,   x, y inside Q = {x_n ≥ |x_t|},   τ → 0,

and A·x + b = 0 in bilateral rows, whose x is free. An iteration linearises all of it, the shift |y_t| included, by
P = [[1, −y_tᵀ/|y_t|], [0, 1]] (coulomb = 0: P = 1):

    (A + P·H)·dx = P·g − r,    dy = g − H·dx,    H = G², g from x∘y in Nesterov and Todd's scaling G.

It has one matrix (n, n) for a predictor and a corrector. H is positive definite, so that redundant contacts (W
singular) do no harm. A short step is tried again without the second-order term and with more centring.
Reference: see ``cone_interior_point``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from stickslip._jit import kernel
from stickslip.solvers.interior_point.cone_system import ConeSystem
from stickslip.solvers.interior_point.second_order_cone import (
    complementarity,
    longest_step,
    scale_cones,
    squared_scaling,
)
from stickslip.solvers.newton.linear_systems import SparseFactor

SHORT, SHORTEST = 0.3, 1e-6
"""A step below the first is tried again; a step below the second is no progress."""
CENTRING = 0.5
"""Centring of a step that is tried again."""
SHIFT = 1e-12
"""Added to the diagonal of bilateral rows, which is about 1, because joints may be redundant."""


@kernel
def shifted(y, coulomb, out):
    """y without its shift |y_t|, which A·x + b should equal, into out (nc, 3)."""
    for c in range(y.shape[0]):
        shift = 0.0
        if coulomb:
            shift = (y[c, 1] * y[c, 1] + y[c, 2] * y[c, 2]) ** 0.5
        out[c, 0], out[c, 1], out[c, 2] = y[c, 0] - shift, y[c, 1], y[c, 2]


@kernel
def take_back(u, x, y, share):
    """Raise y_n by what the linearised shift has left of the equations (|y_t| is convex, so y stays inside) where that
    hardly changes complementarity: x_n·(the change) ≤ share."""
    for c in range(y.shape[0]):
        left = u[c, 0] - y[c, 0] + (y[c, 1] * y[c, 1] + y[c, 2] * y[c, 2]) ** 0.5
        if 0.0 < left * x[c, 0] <= share:
            y[c, 0] += left


@kernel
def slope(y, v, out):
    """P·v into out (nc, 3)."""
    for c in range(y.shape[0]):
        length = (y[c, 1] * y[c, 1] + y[c, 2] * y[c, 2]) ** 0.5
        along = (y[c, 1] * v[c, 1] + y[c, 2] * v[c, 2]) / length if length > 0.0 else 0.0
        out[c, 0], out[c, 1], out[c, 2] = v[c, 0] - along, v[c, 1], v[c, 2]


@kernel
def slope_of_blocks(y, H, out):
    """P·H into out (nc, 3, 3)."""
    for c in range(y.shape[0]):
        length = (y[c, 1] * y[c, 1] + y[c, 2] * y[c, 2]) ** 0.5
        for j in range(3):
            along = (y[c, 1] * H[c, 1, j] + y[c, 2] * H[c, 2, j]) / length if length > 0.0 else 0.0
            out[c, 0, j], out[c, 1, j], out[c, 2, j] = H[c, 0, j] - along, H[c, 1, j], H[c, 2, j]


@kernel
def add_blocks(K, nb, blocks, shift):
    for i in range(nb):
        K[i, i] += shift
    for c in range(blocks.shape[0]):
        for i in range(3):
            for j in range(3):
                K[nb + 3 * c + i, nb + 3 * c + j] += blocks[c, i, j]


@kernel
def changes(g, H, dx, dy):
    """dy = g − H·dx."""
    for c in range(g.shape[0]):
        for i in range(3):
            dy[c, i] = g[c, i] - (H[c, i, 0] * dx[c, 0] + H[c, i, 1] * dx[c, 1] + H[c, i, 2] * dx[c, 2])


class ConePath:
    """One path, from its start ``far``·|b| inside the cones; infeasibility times ``caution`` holds the gap up."""

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
        """Take one step by predictor and corrector; returns False if the path cannot be followed further."""
        system, x, y = self.system, self.contacts(self.x), self.y
        if not scale_cones(x, y, self.scaling, self.point):
            return False
        squared_scaling(self.scaling, self.H)
        blocks = self.H
        if self.coulomb:
            slope_of_blocks(y, self.H, self.blocks)
            blocks = self.blocks
        factor = _factored(system, blocks)
        shifted(y, self.coulomb, self.out)
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
            take_back(u, self.contacts(self.x), self.y, gap)
        return True

    def _length(self, dx: np.ndarray, dy: np.ndarray, limit: float) -> float:
        length = longest_step(self.contacts(self.x), self.contacts(dx), limit)
        return float(min(length, longest_step(self.y, dy, limit)))

    def _direction(self, factor, infeasible, before_x, before_y, second: float, centre: float):
        complementarity(self.scaling, self.point, before_x, before_y, second, centre, self.g)
        right = -infeasible
        if self.coulomb:
            slope(self.y, self.g, self.out)
            self.contacts(right)[:] += self.out
        else:
            self.contacts(right)[:] += self.g
        dx, dy = factor(right), np.empty_like(self.y)
        changes(self.g, self.H, self.contacts(dx), dy)
        return dx, dy


def _factored(system: ConeSystem, blocks: np.ndarray):
    """A function that solves linear systems with A + blocks."""
    nb, nc, n = system.nb, system.nc, len(system.b)
    if sp.issparse(system.A):
        first = sp.diags_array(np.full(nb, SHIFT), shape=(nb, nb))
        own = sp.bsr_array((blocks, np.arange(nc), np.arange(nc + 1)), shape=(3 * nc, 3 * nc))
        K = sp.csr_array(system.A + (sp.block_diag([first, own]) if nb else own))
        K.sort_indices()
        K.indptr, K.indices = K.indptr.astype(np.int32), K.indices.astype(np.int32)
        return SparseFactor(K)
    K = system.A.copy()
    add_blocks(K, nb, blocks, SHIFT)
    lu, pivots, info = lapack.dgetrf(K.T, overwrite_a=0)  # the transpose, because LAPACK stores matrices by columns
    if info != 0:
        return lambda r: np.full(n, np.nan)

    def solve(r: np.ndarray) -> np.ndarray:
        x = lapack.dgetrs(lu, pivots, r, trans=1)[0]
        return x + lapack.dgetrs(lu, pivots, r - K @ x, trans=1)[0]

    return solve
