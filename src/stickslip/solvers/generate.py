"""Test problems by class, size and seed: the classes of matrices that solvers are compared on.

Contact problems are Stewart and Trinkle's LCP, eq. (7) of Williams et al., of spheres on each other and on a floor:

    A = [[Wnn, Wnf, 0], [Wfn, Wff, E], [mu, −Eᵀ, 0]],   z = (normal impulses, friction impulses, slip speeds),

with b from gravity, gaps and velocities. In the other classes b is made so that a chosen z is a solution:
b = w − A·z with 0 ≤ z ⟂ w ≥ 0. Differs from the paper in: nothing; the classes are those of Niebe and Erleben,
"Numerical methods for linear complementarity problems in physics-based animation", Morgan & Claypool 2015.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from stickslip.errors import expected, one_of
from stickslip.solvers.problem import FrictionProblem, LinearProblem

GRAVITY = 9.81
"""[m/s²]."""


class Made(NamedTuple):
    """A problem and the solution that it was made from (None where b is physical)."""

    problem: LinearProblem
    z: np.ndarray | None


class Contacts(NamedTuple):
    """Spheres in contact: rows of relative velocity, masses, velocities and gaps."""

    rows: Any
    """(3·nc, 6·nb) CSR: normal, tangent 1, tangent 2 of each contact, velocity of body 2 relative to body 1."""
    inverse_mass: np.ndarray
    """(6·nb,) [1/kg, 1/(kg·m²)]."""
    velocity: np.ndarray
    """(6·nb,) after gravity, without contact impulses [m/s, rad/s]."""
    gap: np.ndarray
    """(nc,) [m]."""
    dt: float
    """[s]."""


def problem(kind: str, n: int, seed: int = 0, sparse: bool | None = None) -> Made:
    """A problem of about n unknowns from ``CLASSES``; ``sparse=None`` leaves the storage to the class."""
    one_of("class of problems", kind, CLASSES)
    if n < 1:
        raise expected("n", "a whole number ≥ 1", n)
    made = CLASSES[kind](n, np.random.default_rng(seed))
    if sparse is None or sparse == made.problem.sparse:
        return made
    old = made.problem
    matrix = sp.csr_array(old.A) if sparse else old.A.toarray()
    return Made(LinearProblem(matrix, old.b, old.lower, old.upper, old.blocks, old.labels), made.z)


def _with_solution(A: Any, rng: np.random.Generator, zeros: float = 0.0) -> Made:
    """b such that z is a solution: half of z positive, half of w, and a share of both zero (degenerate)."""
    n = A.shape[0]
    kind = rng.random(n)
    size = rng.uniform(0.1, 1.0, n)
    z = np.where(kind < 0.5 * (1.0 - zeros), size, 0.0)
    w = np.where(kind > 1.0 - 0.5 * (1.0 - zeros), size, 0.0)
    return Made(LinearProblem(A, w - A @ z), z)


def positive_definite(n: int, rng: np.random.Generator) -> Made:
    """A symmetric positive definite, condition about 1000."""
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return _with_solution(Q * np.geomspace(1e-2, 10.0, n) @ Q.T, rng)


def positive_semidefinite(n: int, rng: np.random.Generator) -> Made:
    """A symmetric positive semidefinite of rank about 2n/3: z is not unique."""
    R = rng.standard_normal((n, max(1, 2 * n // 3))) / np.sqrt(n)
    return _with_solution(R @ R.T, rng)


def degenerate(n: int, rng: np.random.Generator) -> Made:
    """A positive definite, not symmetric; z_i = w_i = 0 for about 60 % of i."""
    R, S = rng.standard_normal((2, n, n)) / np.sqrt(n)
    return _with_solution(R @ R.T + S - S.T + 0.1 * np.eye(n), rng, zeros=0.6)


def banded(n: int, rng: np.random.Generator) -> Made:
    """A banded M-matrix, pentadiagonal and diagonally dominant, CSR."""
    A = sp.diags_array([np.full(n, 4.2)], offsets=[0], shape=(n, n))
    for k in range(1, min(3, n)):
        off = -rng.uniform(0.1, 1.0, n - k)
        A = A + sp.diags_array([off, off], offsets=[-k, k], shape=(n, n))
    return _with_solution(sp.csr_array(A), rng)


def fluid(n: int, rng: np.random.Generator) -> Made:
    """Pressure of a fluid that may leave a wall: the 5-point Laplacian of a square of about n cells, CSR; where the
    pressure would be negative it is 0 and the fluid parts (Batty, Bertails and Bridson, SIGGRAPH 2007)."""
    side = max(1, round(n**0.5))
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    one = sp.eye_array(side)
    return _with_solution(sp.csr_array(sp.kron(line, one) + sp.kron(one, line)), rng)


def contact(n: int, rng: np.random.Generator) -> Made:
    """A heap of spheres thrown together, 4 friction directions, μ = 0.5: n/6 contacts, dense."""
    wanted = max(1, n // 6)
    side = 1
    while side**2 * (3 * side - 2) < wanted:
        side += 1
    heap = spheres(side, rng=rng)
    keep = rng.permutation(len(heap.gap))[:wanted]
    rows = sp.csr_array(heap.rows)[np.add.outer(3 * keep, np.arange(3)).ravel()]
    return Made(stewart_trinkle(heap._replace(rows=rows, gap=heap.gap[keep])), None)


def stack(n: int, rng: np.random.Generator) -> Made:
    """Spheres at rest on a cubic grid, hyperstatic: the smallest k³ with at least n unknowns, CSR."""
    side = 1
    while 6 * side**2 * (3 * side - 2) < n:
        side += 1
    return Made(stewart_trinkle(spheres(side), sparse=True), None)


def spheres(side: int, perturbed: bool = False, dt: float = 0.01, rng: np.random.Generator | None = None) -> Contacts:
    """side³ spheres (radius 0.5 m, 1 kg) on a floor, each touching its neighbours of the grid.

    ``perturbed``: sphere k is moved by 0.01·(sin 3k, sin 5k) m, and layers are 0.02 m apart. With ``rng``: uneven
    positions, masses and velocities, as of a heap in motion.
    """
    grid = np.array([(x, y, z) for z in range(side) for y in range(side) for x in range(side)], dtype=float)
    number = np.arange(side**3).reshape(side, side, side)
    k = np.arange(side**3)
    position = grid + np.array([0.0, 0.0, 0.5])
    mass, velocity = np.ones(side**3), np.zeros((side**3, 6))
    if perturbed:
        position += np.stack([0.01 * np.sin(3 * k), 0.01 * np.sin(5 * k), 0.02 * (grid[:, 2] + 1)], axis=1)
    if rng is not None:
        position += rng.uniform(-0.1, 0.1, position.shape)
        mass = rng.uniform(0.5, 1.5, side**3)
        velocity = rng.normal(0.0, 0.3, (side**3, 6))
    pairs = [np.stack([np.full(side**2, -1), number[0].ravel()], axis=1)]
    for axis in range(3):
        left, right = number.take(range(side - 1), axis), number.take(range(1, side), axis)
        pairs.append(np.stack([left.ravel(), right.ravel()], axis=1))
    first, second = np.concatenate(pairs).T
    on_floor = first < 0
    between = position[second] - np.where(on_floor[:, None], 0.0, position[first])
    between[on_floor, :2] = 0.0
    distance = np.linalg.norm(between, axis=1)
    gap = distance - np.where(on_floor, 0.5, 1.0)
    if rng is not None:
        gap = rng.uniform(0.0, 1e-3, len(gap))
    velocity[:, 2] -= GRAVITY * dt
    inverse = np.repeat(1.0 / mass[:, None], 6, axis=1)
    inverse[:, 3:] /= 0.4 * 0.25  # solid sphere: 2/5·m·r²
    rows = _rows(between / distance[:, None], first, second, len(mass))
    return Contacts(rows, inverse.ravel(), velocity.ravel(), gap, dt)


def _rows(normal: np.ndarray, first: np.ndarray, second: np.ndarray, bodies: int) -> Any:
    """(3·nc, 6·nb): the contact point is 0.5 m from either centre along the normal."""
    helper = np.where(np.abs(normal[:, :1]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    tangent = np.cross(normal, helper)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    axes = np.stack([normal, tangent, np.cross(normal, tangent)], axis=1)  # (nc, 3 rows, 3)
    turning = np.cross(0.5 * normal[:, None, :], axes)
    row = np.arange(3 * len(normal)).reshape(-1, 3, 1)
    entries, where_row, where_column = [], [], []
    for body, sign in ((second, 1.0), (first, -1.0)):
        block = np.concatenate([sign * axes, -turning], axis=2)  # both arms point at the contact from either side
        there = body >= 0
        entries.append(block[there].ravel())
        where_row.append(np.broadcast_to(row, block.shape)[there].ravel())
        column = 6 * body[:, None, None] + np.arange(6)
        where_column.append(np.broadcast_to(column, block.shape)[there].ravel())
    triplets = (np.concatenate(entries), (np.concatenate(where_row), np.concatenate(where_column)))
    return sp.csr_array(triplets, shape=(3 * len(normal), 6 * bodies))


def coulomb(contacts: Contacts, friction: float = 0.5, sparse: bool = False) -> FrictionProblem:
    """Coulomb's problem of the contacts, with circular cones: u = W·p + b."""
    W, b = _delassus(contacts)
    return FrictionProblem(W if sparse else W.toarray(), b, np.full(len(contacts.gap), friction))


def _delassus(contacts: Contacts) -> tuple[Any, np.ndarray]:
    W = sp.csr_array(contacts.rows @ sp.diags_array(contacts.inverse_mass) @ contacts.rows.T)
    b = contacts.rows @ contacts.velocity
    b[::3] += contacts.gap / contacts.dt
    return W, b


def stewart_trinkle(
    contacts: Contacts, friction: float = 0.5, directions: int = 4, sparse: bool = False
) -> LinearProblem:
    """The LCP of contacts with a cone of ``directions`` edges."""
    W, velocity = _delassus(contacts)
    nc = len(contacts.gap)
    angle = 2.0 * np.pi * np.arange(directions) / directions
    edges = np.stack([np.zeros(directions), np.cos(angle), np.sin(angle)], axis=1)
    one = sp.eye_array(nc)
    normal = sp.csr_array(sp.kron(one, sp.csr_array([[1.0, 0.0, 0.0]])))
    D = sp.csr_array(sp.kron(one, sp.csr_array(edges)))
    E = sp.csr_array(sp.kron(one, sp.csr_array(np.ones((directions, 1)))))
    A = sp.block_array(
        [
            [normal @ W @ normal.T, normal @ W @ D.T, None],
            [D @ W @ normal.T, D @ W @ D.T, E],
            [friction * one, -E.T, None],
        ],
        format="csr",
    )
    A.eliminate_zeros()
    b = np.concatenate([normal @ velocity, D @ velocity, np.zeros(nc)])
    c, d = np.arange(nc), np.arange(nc * directions).reshape(nc, directions)
    blocks = tuple(np.concatenate([[i], nc + d[i], [nc + nc * directions + i]]) for i in c)
    last = nc + nc * directions
    labels = {"normal": slice(0, nc), "friction": slice(nc, last), "slip": slice(last, last + nc)}
    return LinearProblem(A if sparse else A.toarray(), b, blocks=blocks, labels=labels)


CLASSES = {
    "positive-definite": positive_definite,
    "positive-semidefinite": positive_semidefinite,
    "degenerate": degenerate,
    "banded": banded,
    "contact": contact,
    "stack": stack,
    "fluid": fluid,
}
"""Classes of linear complementarity problems by name."""
