"""Contacts with the circular Coulomb cone as equations with projections, for semismooth Newton methods.

Unknowns: bilateral impulses and (p_n, p_t) per contact, n = nb + 3·nc, scaled so that W's diagonal is 1. With
u = W·p + b, q = p_t − u_t and the disk of radius μ·p_n,

    u_b = 0,   0 ≤ p_n ⟂ u_n ≥ 0,   p_t − (q if |q| ≤ μ·p_n, else μ·p_n·q/|q|) = 0,

the last as a function of a free variable. Its derivative is W's rows where the contact sticks, else, with e = q/|q|,

    dp_t − μ·e·dp_n − (μ·p_n/|q|)·(1 − e·eᵀ)·(dp_t − W_t·dp).

P. Alart and A. Curnier, "A mixed formulation for frictional contact problems prone to Newton like solution methods",
CMAME 92, 1991. Differs from the paper in: the normal row is a complementarity condition, left to the solver's function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from stickslip.solvers.problem import FrictionProblem, NonlinearProblem


@dataclass(frozen=True)
class DiskProjection:
    """The semismooth problem of a friction problem, and the conversion of unknowns: p = scale·y."""

    source: FrictionProblem
    problem: NonlinearProblem
    scale: np.ndarray

    def impulses(self, y: np.ndarray) -> np.ndarray:
        """(nb + 3·nc,) impulses, projected into the cone [N s]."""
        p = self.scale * y
        contact = p[self.source.bilateral :].reshape(-1, 3)
        contact[:, 0] = np.maximum(0.0, contact[:, 0])
        _into_disk(contact[:, 1:], self.source.friction * contact[:, 0])
        return p

    def start(self, p: np.ndarray) -> np.ndarray:
        return p / self.scale


def _into_disk(vectors: np.ndarray, radius: np.ndarray) -> None:
    length = np.hypot(vectors[:, 0], vectors[:, 1])
    vectors *= np.where(length > radius, radius / np.where(length > 0.0, length, 1.0), 1.0)[:, None]


def disk_projection(problem: FrictionProblem) -> DiskProjection:
    """The equations above; ``impulses(y)`` of the result converts a solution back."""
    nb, nc, n = problem.bilateral, len(problem.friction), problem.n
    diagonal = np.maximum(problem.W.diagonal(), 1e-300)
    own = diagonal[nb:].reshape(-1, 3)
    own[:, 1:] = own[:, 1:].mean(axis=1)[:, None]  # a disk must stay round
    scale = 1.0 / np.sqrt(diagonal)
    if problem.sparse:
        S = sp.diags_array(scale)
        W: Any = sp.csr_array(S @ problem.W @ S)
    else:
        W = scale[:, None] * problem.W * scale
    b = scale * problem.b
    normal = nb + 3 * np.arange(nc)
    mu = problem.friction * scale[normal] / scale[normal + 1]

    def parts(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        u = W @ y + b
        contact = y[nb:].reshape(-1, 3)
        q = contact[:, 1:] - u[nb:].reshape(-1, 3)[:, 1:]
        return u, q, np.hypot(q[:, 0], q[:, 1]), mu * np.maximum(0.0, contact[:, 0])

    def function(y: np.ndarray) -> np.ndarray:
        u, q, _, radius = parts(y)
        _into_disk(q, radius)
        u[nb:].reshape(-1, 3)[:, 1:] = y[nb:].reshape(-1, 3)[:, 1:] - q
        return u

    def jacobian(y: np.ndarray) -> Any:
        _, q, length, radius = parts(y)
        slips = length > radius
        e = q / np.where(length > 0.0, length, 1.0)[:, None]
        shrink = np.where(slips, radius / np.where(length > 0.0, length, 1.0), 1.0)
        turn = shrink[:, None, None] * (np.eye(2) - slips[:, None, None] * e[:, :, None] * e[:, None, :])
        left = np.zeros((nc, 3, 3))
        left[:, 0, 0] = 1.0
        left[:, 1:, 1:] = turn
        right = np.zeros((nc, 3, 3))
        right[:, 1:, 1:] = np.eye(2) - turn
        grows = slips & (y[normal] >= 0.0)
        right[:, 1:, 0] = np.where(grows, -mu, 0.0)[:, None] * e
        if problem.sparse:
            return sp.csr_array(_blocks(left, nb, 1.0) @ W + _blocks(right, nb, 0.0))
        J = W.copy()
        J[nb:] = np.matmul(left, W[nb:].reshape(nc, 3, n)).reshape(3 * nc, n)
        for i in range(3):
            for j in range(3):
                J[normal + i, normal + j] += right[:, i, j]
        return J

    lower = np.full(n, -np.inf)
    lower[normal] = 0.0
    return DiskProjection(problem, NonlinearProblem(function, jacobian, lower, np.full(n, np.inf)), scale)


def _blocks(blocks: np.ndarray, before: int, diagonal: float) -> Any:
    """Block diagonal CSR: ``before`` entries ``diagonal``, then the 3×3 blocks."""
    nc = len(blocks)
    lower = sp.bsr_array((blocks, np.arange(nc), np.arange(nc + 1)), shape=(3 * nc, 3 * nc))
    if not before:
        return sp.csr_array(lower)
    return sp.csr_array(sp.block_diag([diagonal * sp.eye_array(before), lower]))
