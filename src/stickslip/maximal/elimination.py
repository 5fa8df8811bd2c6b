"""Bodies connected by joints, solved in linear time: elimination of bodies and joints along a forest, leaves first.

    M·u − Gᵀ·λ = f
    G·u + c∘λ  = r

Here u (nv,) are velocities, λ (nb,) impulses and c (nb,) ≥ 0 compliances, zero for rigid rows and positive for soft
ones (``maximal.soft_rows``). The rows of a joint, at most six, follow each other from ``start`` on. With A the columns
of a joint at the body b it carries and B those at its parent p,

    D_b = M_b + Σ Bᵀ·C⁻¹·B over b's children,   C = A·D_b⁻¹·Aᵀ + diag(c)

are symmetric and positive definite, of size 6 and at most 6, and there is no fill-in. Cost: O(bodies), also for a body
with many joints, where G·M⁻¹·Gᵀ would be dense. Rows of joints outside the forest are not part of the system.

Reference: Baraff, "Linear-time dynamics using Lagrange multipliers", SIGGRAPH 1996, Sec. 5–7.
Differs from the paper in: two Cholesky factors per link instead of an indefinite block LDLᵀ.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel

OK, SINGULAR = 0, 1


class Factor(NamedTuple):
    """The two Cholesky factors of every link."""

    D: np.ndarray
    """(nl, 6, 6) factor of D_b, lower triangles."""
    C: np.ndarray
    """(nl, 6, 6) factor of C of the joint that carries the link."""
    X: np.ndarray
    """(nl, 6, 6) scratch: D_b⁻¹·Aᵀ, column by column."""
    y: np.ndarray
    """(nl, 6) scratch of solves."""


def make_factor(nlink: int) -> Factor:
    D, C, X = np.zeros((3, nlink, 6, 6))
    return Factor(D, C, X, np.zeros((nlink, 6)))


@kernel
def cholesky(A, n):
    """Overwrite the lower triangle of A by its Cholesky factor; returns SINGULAR if A is not positive definite."""
    for j in range(n):
        s = A[j, j]
        for k in range(j):
            s -= A[j, k] * A[j, k]
        if not s > 0.0:
            return SINGULAR
        s = sqrt(s)
        A[j, j] = s
        for i in range(j + 1, n):
            t = A[i, j]
            for k in range(j):
                t -= A[i, k] * A[j, k]
            A[i, j] = t / s
    return OK


@kernel
def cholesky_solve(L, n, x):
    """x ← (L·Lᵀ)⁻¹·x."""
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= L[k, i] * x[k]
        x[i] /= L[i, i]


@kernel
def factor_forest(start, forest, support, M, G, compliance, factor):
    """Factor the system of the cut model's packed mass matrix M, the rows G (nb, 12) and their compliance (nb,).
    Returns OK or SINGULAR."""
    D, C, X = factor.D, factor.C, factor.X
    for b in range(1, D.shape[0]):
        for i in range(6):
            row = support.start[6 * (b - 1) + i]
            for k in range(i + 1):
                D[b, i, i - k] = M[row + k]
    for n in range(forest.order.shape[0] - 1, -1, -1):
        b = forest.order[n]
        if cholesky(D[b], 6) != OK:
            return SINGULAR
        j, p, own = forest.joint[b], forest.parent[b], forest.own[b]
        if j < 0:
            continue
        first, rows = start[j], start[j + 1] - start[j]
        for r in range(rows):
            for k in range(6):
                X[b, r, k] = G[first + r, own + k]
            cholesky_solve(D[b], 6, X[b, r])
        for r in range(rows):
            for s in range(r + 1):
                t = 0.0
                for k in range(6):
                    t += X[b, r, k] * G[first + s, own + k]
                C[b, r, s] = t
            C[b, r, r] += compliance[first + r]
        if cholesky(C[b], rows) != OK:
            return SINGULAR
        if p == 0:
            continue
        for k in range(6):  # one column of C⁻¹·B after another
            y = factor.y[b]
            for r in range(rows):
                y[r] = G[first + r, 6 - own + k]
            cholesky_solve(C[b], rows, y)
            for i in range(k, 6):
                t = 0.0
                for r in range(rows):
                    t += G[first + r, 6 - own + i] * y[r]
                D[p, i, k] += t
    return OK


@kernel
def solve_forest(start, forest, G, factor, f, r, u, impulse):
    """u (nv,) and impulse (nb,) from f (nv,) and r (nb,); rows outside the forest get no impulse."""
    D, C, y = factor.D, factor.C, factor.y
    for d in range(u.shape[0]):
        u[d] = f[d]
    for k in range(impulse.shape[0]):
        impulse[k] = 0.0
    for n in range(forest.order.shape[0] - 1, -1, -1):
        b = forest.order[n]
        j, p, own = forest.joint[b], forest.parent[b], forest.own[b]
        if j < 0:
            continue
        first, rows, own_u = start[j], start[j + 1] - start[j], 6 * (b - 1)
        for k in range(6):
            y[b, k] = u[own_u + k]
        cholesky_solve(D[b], 6, y[b])
        lam = impulse[first : first + rows]
        for i in range(rows):
            t = r[first + i]
            for k in range(6):
                t -= G[first + i, own + k] * y[b, k]
            lam[i] = t
        cholesky_solve(C[b], rows, lam)
        if p != 0:
            for i in range(rows):
                for k in range(6):
                    u[6 * (p - 1) + k] += G[first + i, 6 - own + k] * lam[i]
    for n in range(forest.order.shape[0]):
        b = forest.order[n]
        j, p, own = forest.joint[b], forest.parent[b], forest.own[b]
        own_u = 6 * (b - 1)
        if j >= 0:
            first, rows = start[j], start[j + 1] - start[j]
            if p != 0:  # λ = C⁻¹·(r − A·D⁻¹·f) − C⁻¹·B·u_p
                for i in range(rows):
                    t = 0.0
                    for k in range(6):
                        t += G[first + i, 6 - own + k] * u[6 * (p - 1) + k]
                    y[b, i] = t
                cholesky_solve(C[b], rows, y[b])
                for i in range(rows):
                    impulse[first + i] -= y[b, i]
            for i in range(rows):
                for k in range(6):
                    u[own_u + k] += G[first + i, own + k] * impulse[first + i]
        cholesky_solve(D[b], 6, u[own_u : own_u + 6])
    return OK
