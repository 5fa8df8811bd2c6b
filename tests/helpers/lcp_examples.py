"""LCPs with known answers: textbook examples by number, and random ones built around a chosen solution."""

from __future__ import annotations

import numpy as np

SOLVABLE = {
    "murty 2.8": ([[1, -1, -1, -1], [-1, 1, -1, -1], [1, 1, 2, 0], [1, 1, 0, 2]], [3, 5, -9, -5], [2, 1, 3, 1]),
    "murty exponential": ([[1, 0, 0], [2, 1, 0], [2, 2, 1]], [-8, -12, -14], [8, 0, 0]),
    "murty 2.11": ([[-1.5, 2], [-4, 4]], [-5, 17], None),
    "kostreva 1": ([[1, 2, 0], [0, 1, 2], [2, 0, 1]], [-1, -1, -1], [1 / 3, 1 / 3, 1 / 3]),
    "cottle pang stone 4.4.7": ([[0, -1, 2], [2, 0, -2], [-1, 1, 0]], [-3, 6, -1], [0, 1, 3]),
}
"""Name: (A, b, the solution or None where it is not unique). In Kostreva's, Lemke's method cycles if ties are broken
carelessly; Murty's lower triangular matrices take it 2ⁿ pivots with a covering vector of ones."""

RAYS = {
    "murty 2.9": ([[-1, 0, -3], [1, -2, -5], [-2, -1, -2]], [-3, -2, -1]),
    "kostreva 2": ([[1, -1, 3], [2, -1, 3], [-1, -2, 0]], [-1, -1, -1]),
    "no feasible point": ([[0.0, 1.0], [0.0, 0.0]], [1.0, -1.0]),
}


def around(A, rng, active=0.5, degenerate=0.0):
    """b and a solution z of 0 ≤ z ⟂ A·z + b ≥ 0: a part ``active`` of z positive, ``degenerate`` with z = w = 0."""
    n = A.shape[0]
    kind = rng.permutation(n)
    z = np.where(kind < active * n, rng.uniform(0.1, 1.0, n), 0.0)
    w = np.where(kind >= (active + degenerate) * n, rng.uniform(0.1, 1.0, n), 0.0)
    return w - A @ z, z


def definite(n, rng, asymmetric=0.3):
    G = rng.normal(size=(n, n)) / np.sqrt(n)
    H = rng.normal(size=(n, n)) / np.sqrt(n)
    return G @ G.T + 0.1 * np.eye(n) + asymmetric * (H - H.T)


def semidefinite(n, rng, rank=None):
    G = rng.normal(size=(n, rank or n // 2)) / np.sqrt(n)
    return G @ G.T


def banded(n, rng):
    """A chain of springs of random stiffness: tridiagonal, definite."""
    k = rng.uniform(0.5, 2.0, n + 1)
    return np.diag(k[:-1] + k[1:]) - np.diag(k[1:-1], 1) - np.diag(k[1:-1], -1)


def mixed(A, rng):
    """(b, lower, upper, z): free, fixed, bounded below, above and on both sides at random, with the solution z."""
    n = A.shape[0]
    kind = rng.permutation(np.arange(n) % 5)  # free, below, above, box, fixed
    lower, width = rng.normal(size=n), rng.uniform(0.5, 1.0, n)
    upper = np.where(kind == 4, lower, lower + width)
    where = rng.permutation(np.arange(n) % 3)  # at the lower bound, at the upper one, inside
    z = np.choose(where, [lower, upper, 0.5 * (lower + upper)])
    w = np.choose(where, [rng.uniform(0.1, 1.0, n), -rng.uniform(0.1, 1.0, n), np.zeros(n)])
    no_lower, no_upper = np.isin(kind, (0, 2)), np.isin(kind, (0, 1))
    w = np.where((no_lower & (w > 0.0)) | (no_upper & (w < 0.0)), 0.0, w)
    return w - A @ z, np.where(no_lower, -np.inf, lower), np.where(no_upper, np.inf, upper), z


def constrained_bodies(rng, repeated=0, nv=12, nb=3, nc=5):
    """(A, b, lower): velocities and impulses of joints and contacts, [[M, −Jᵀ], [J, 0]]; the first ``repeated`` joint
    rows are there twice, which makes the equations dependent."""
    mass, joints, normals = np.diag(rng.uniform(1.0, 2.0, nv)), rng.normal(size=(nb, nv)), rng.normal(size=(nc, nv))
    J = np.vstack([joints, joints[:repeated], normals])
    A = np.block([[mass, -J.T], [J, np.zeros((len(J), len(J)))]])
    b = np.r_[rng.normal(size=nv), np.zeros(nb + repeated), rng.normal(size=nc)]
    return A, b, np.r_[np.full(len(b) - nc, -np.inf), np.zeros(nc)]
