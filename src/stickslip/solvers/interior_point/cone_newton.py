"""Semismooth Newton steps on the natural map of contacts with circular cones, from near a solution.

In the units of ``cone_system`` (self-dual cones, diagonals of about 1), with u = A·x + b and û = u + coulomb·
(|u_t|, 0, 0), a solution is a zero of Φ(x) = x − Π(x − û), Π the projection onto Q; bilateral rows are u = 0. A step is

    ((1 − D) + D·(P·A + ε))·d = −Φ,    D = ∂Π(x − û) (3, 3) per contact,    P = ∂û/∂u,

with ε, small beside the diagonal, for contacts that are redundant. Steps are taken whole and not globalised, so the
start must be good: the iteration ends if the natural residual rises above ``WORSE`` times that of the start. A step
costs one LU (n, n).
Reference: Hayashi, Yamashita, Fukushima, SIAM J. Optim. 15, 2005. Differs from it in: no smoothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from stickslip._jit import kernel
from stickslip.solvers.interior_point.cone_system import ConeSystem
from stickslip.solvers.newton.linear_systems import SparseFactor

STEPS = 8
"""Largest number of steps."""
EPSILON = 1e-9
"""ε relative to the diagonal."""
WORSE = 10.0
"""Largest residual relative to that of the start; above it, the start was not near enough."""


@kernel
def evaluate(x, u, coulomb, phi, D, DP):
    """Φ (nc, 3), D and D·P (nc, 3, 3) of every contact."""
    for c in range(x.shape[0]):
        slip = (u[c, 1] * u[c, 1] + u[c, 2] * u[c, 2]) ** 0.5
        n, t1, t2 = x[c, 0] - u[c, 0], x[c, 1] - u[c, 1], x[c, 2] - u[c, 2]
        if coulomb:
            n -= slip
        length = (t1 * t1 + t2 * t2) ** 0.5
        for i in range(3):
            for j in range(3):
                D[c, i, j] = 0.0
        if length <= n:
            D[c, 0, 0] = D[c, 1, 1] = D[c, 2, 2] = 1.0
            phi[c, 0], phi[c, 1], phi[c, 2] = x[c, 0] - n, x[c, 1] - t1, x[c, 2] - t2
        elif length <= -n:
            phi[c, 0], phi[c, 1], phi[c, 2] = x[c, 0], x[c, 1], x[c, 2]
        else:
            e1, e2, ratio = t1 / length, t2 / length, n / length
            normal = 0.5 * (n + length)
            phi[c, 0], phi[c, 1], phi[c, 2] = x[c, 0] - normal, x[c, 1] - normal * e1, x[c, 2] - normal * e2
            D[c, 0, 0] = 0.5
            D[c, 0, 1] = D[c, 1, 0] = 0.5 * e1
            D[c, 0, 2] = D[c, 2, 0] = 0.5 * e2
            D[c, 1, 1] = 0.5 * (1.0 + ratio - ratio * e1 * e1)
            D[c, 2, 2] = 0.5 * (1.0 + ratio - ratio * e2 * e2)
            D[c, 1, 2] = D[c, 2, 1] = -0.5 * ratio * e1 * e2
        s1, s2 = (u[c, 1] / slip, u[c, 2] / slip) if coulomb and slip > 0.0 else (0.0, 0.0)
        for i in range(3):
            DP[c, i, 0] = D[c, i, 0]
            DP[c, i, 1] = D[c, i, 1] + D[c, i, 0] * s1
            DP[c, i, 2] = D[c, i, 2] + D[c, i, 0] * s2


@kernel
def dense_matrix(A, nb, D, DP, epsilon, K):
    """(1 − D) + D·P·A + ε·D into K."""
    n = A.shape[0]
    for i in range(nb):
        for j in range(n):
            K[i, j] = A[i, j]
        K[i, i] += epsilon
    for c in range(D.shape[0]):
        first = nb + 3 * c
        for i in range(3):
            a, b, d = DP[c, i, 0], DP[c, i, 1], DP[c, i, 2]
            for j in range(n):
                K[first + i, j] = a * A[first, j] + b * A[first + 1, j] + d * A[first + 2, j]
            for j in range(3):
                K[first + i, first + j] += (epsilon - 1.0) * D[c, i, j]
            K[first + i, first + i] += 1.0


def _sparse_matrix(A, nb: int, D: np.ndarray, DP: np.ndarray, epsilon: float) -> sp.csr_array:
    nc = len(D)
    where = (np.arange(nc), np.arange(nc + 1))
    size = (3 * nc, 3 * nc)
    left = sp.bsr_array((DP, *where), shape=size)
    right = sp.bsr_array((np.eye(3) + (epsilon - 1.0) * D, *where), shape=size)
    if nb:
        left = sp.block_diag([sp.eye_array(nb), left])
        right = sp.block_diag([epsilon * sp.eye_array(nb), right])
    K = sp.csr_array(sp.csr_array(left) @ A + right)
    K.sort_indices()
    K.indptr, K.indices = K.indptr.astype(np.int32), K.indices.astype(np.int32)
    return K


def polish(system: ConeSystem, x: np.ndarray, limit: float, steps: int) -> Iterator[np.ndarray]:
    """Yield x after each step, until the residual is below the limit or too large, or after ``STEPS`` steps."""
    nb, nc, n = system.nb, system.nc, len(x)
    phi, D, DP = np.empty(n), *np.empty((2, nc, 3, 3))
    first = system.natural(x)
    K = None if sp.issparse(system.A) else np.empty((n, n))
    for _ in range(min(STEPS, steps)):
        u = system.A @ x + system.b
        phi[:nb] = u[:nb]
        own = phi[nb:].reshape(-1, 3)
        evaluate(x[nb:].reshape(-1, 3), u[nb:].reshape(-1, 3), system.coulomb, own, D, DP)
        if K is None:
            d = SparseFactor(_sparse_matrix(system.A, nb, D, DP, EPSILON))(-phi)
        else:
            dense_matrix(system.A, nb, D, DP, EPSILON, K)
            d = lapack.dgesv(K, -phi)[2]
        x = x + d
        residual = system.natural(x) if np.all(np.isfinite(x)) else np.inf
        if not residual <= WORSE * first:
            return
        yield x
        if residual <= limit:
            return
