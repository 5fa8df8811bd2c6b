"""Test problems with circular cones by class and seed: heaps, stacks, mass ratios, redundant and bilateral rows.

u = W·p + b with W = J·M⁻¹·Jᵀ, J the rows of contacts of rigid bodies and b from velocities after gravity over a step.
``coulomb(kind)`` makes a ``FrictionProblem``, ``relaxed(kind)`` the ``ConeProblem`` of the same contacts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from stickslip.errors import one_of
from stickslip.solvers.generate import GRAVITY, spheres
from stickslip.solvers.problem import ConeProblem, FrictionProblem

DT = 0.01
"""[s]."""


def _point_rows(axes: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """(3, 6) velocity along ``axes`` (3, 3) of a point ``arm`` (3,) from a body's centre."""
    return np.hstack([axes, np.cross(arm, axes)])


def _problem(J: np.ndarray, inverse_mass: np.ndarray, velocity: np.ndarray, friction: np.ndarray, nb: int = 0):
    return FrictionProblem((J * inverse_mass) @ J.T, J @ velocity, friction, nb)


def heap(rng: np.random.Generator) -> FrictionProblem:
    """27 spheres of different masses thrown together, 63 contacts."""
    contacts = spheres(3, rng=rng)
    W = (contacts.rows * contacts.inverse_mass) @ contacts.rows.T
    b = contacts.rows @ contacts.velocity
    b[::3] += contacts.gap / contacts.dt
    return FrictionProblem(sp.csr_array(W).toarray(), b, rng.uniform(0.1, 1.0, len(contacts.gap)))


def sparse_heap(rng: np.random.Generator) -> FrictionProblem:
    """The problem of ``heap``, with W as a CSR array."""
    problem = heap(rng)
    return FrictionProblem(sp.csr_array(problem.W), problem.b, problem.friction)


def blocks(mass: np.ndarray, friction: float, velocity: np.ndarray) -> FrictionProblem:
    """Cubes of 1 m on each other, four contacts at the corners of each face: hyperstatic, W singular."""
    n = len(mass)
    J = np.zeros((12 * n, 6 * n))
    axes = np.eye(3)[[2, 0, 1]]
    corners = [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    for k in range(n):
        for c, (x, y) in enumerate(corners):
            rows = slice(3 * (4 * k + c), 3 * (4 * k + c) + 3)
            J[rows, 6 * k : 6 * k + 6] = _point_rows(axes, np.array([x, y, -0.5]))
            if k:
                J[rows, 6 * k - 6 : 6 * k] = -_point_rows(axes, np.array([x, y, 0.5]))
    inverse = np.repeat(1.0 / mass[:, None], 6, axis=1)
    inverse[:, 3:] *= 6.0
    fall = velocity.reshape(n, 6).copy()
    fall[:, 2] -= GRAVITY * DT
    return _problem(J, inverse.ravel(), fall.ravel(), np.full(4 * n, friction))


def stack(rng: np.random.Generator) -> FrictionProblem:
    """10 equal cubes on each other, pushed a little."""
    return blocks(np.ones(10), 0.5, rng.normal(0.0, 0.02, 60))


def heavy_on_light(rng: np.random.Generator) -> FrictionProblem:
    """1000 kg on 1 g."""
    return blocks(np.array([1e-3, 1e3]), 0.5, rng.normal(0.0, 0.02, 12))


def light_on_heavy(rng: np.random.Generator) -> FrictionProblem:
    """1 g on 1000 kg."""
    return blocks(np.array([1e3, 1e-3]), 0.5, rng.normal(0.0, 0.02, 12))


def grasp(rng: np.random.Generator) -> FrictionProblem:
    """A ball pressed between 6 fingers on springs that is pulled: closed force loops."""
    directions = rng.normal(size=(6, 3))
    directions[3:] = -directions[:3] + 0.1 * rng.normal(size=(3, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    J = np.zeros((18, 24))
    for k, normal in enumerate(directions):
        axes = np.linalg.qr(np.column_stack([normal, rng.normal(size=(3, 2))]))[0].T
        axes *= np.sign(axes[0] @ normal)
        J[3 * k : 3 * k + 3, :6] = _point_rows(axes, -0.5 * normal)
        J[3 * k : 3 * k + 3, 6 + 3 * k : 9 + 3 * k] = -axes
    velocity = np.concatenate([rng.normal(0.0, 0.05, 6), (0.5 * directions).ravel()])
    return _problem(J, np.r_[np.ones(3), np.full(3, 10.0), np.full(18, 5.0)], velocity, np.full(6, 0.8))


def graph(rng: np.random.Generator) -> FrictionProblem:
    """12 bodies, 20 contacts between random pairs, 4 of them without friction; mass ratios of 100."""
    return _graph(rng, 0)


def jointed(rng: np.random.Generator) -> FrictionProblem:
    """The bodies and contacts of ``graph``, with 6 bilateral rows, one of them redundant."""
    return _graph(rng, 6)


def _graph(rng: np.random.Generator, nb: int) -> FrictionProblem:
    bodies, nc = 12, 20
    J = np.zeros((nb + 3 * nc, 6 * bodies))
    for c in range(nc):
        first, second = rng.choice(bodies + 1, 2, replace=False) - 1  # −1: the world
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        rows = slice(nb + 3 * c, nb + 3 * c + 3)
        for body, sign in ((second, 1.0), (first, -1.0)):
            if body >= 0:
                J[rows, 6 * body : 6 * body + 6] += sign * _point_rows(axes, rng.normal(0.0, 0.5, 3))
    J[:nb] = rng.normal(size=(nb, 6 * bodies)) * (rng.random((nb, 6 * bodies)) < 0.2)
    if nb:
        J[nb - 1] = J[0]
    inverse = np.repeat(10.0 ** rng.uniform(-1.0, 1.0, bodies), 6)
    friction = rng.uniform(0.1, 1.2, nc)
    friction[:4] = 0.0
    return _problem(J, inverse, rng.normal(size=6 * bodies), friction, nb)


def redundant(rng: np.random.Generator) -> FrictionProblem:
    """12 contacts on one face of one body that slides."""
    axes = np.eye(3)[[2, 0, 1]]
    points = np.column_stack([rng.uniform(-0.5, 0.5, (12, 2)), np.full(12, -0.5)])
    J = np.vstack([_point_rows(axes, point) for point in points])
    velocity = np.array([0.3, -0.1, -GRAVITY * DT, 0.05, 0.05, 0.2])
    return _problem(J, np.r_[np.ones(3), np.full(3, 6.0)], velocity, np.full(12, 0.4))


CONES: dict[str, Callable[[np.random.Generator], FrictionProblem]] = {
    "heap": heap,
    "sparse-heap": sparse_heap,
    "stack": stack,
    "heavy-on-light": heavy_on_light,
    "light-on-heavy": light_on_heavy,
    "grasp": grasp,
    "graph": graph,
    "jointed": jointed,
    "redundant": redundant,
}
"""Classes of contact problems by name."""


def coulomb(kind: str, seed: int = 0) -> FrictionProblem:
    """A problem of a class of ``CONES``."""
    one_of("class of problems", kind, CONES)
    return CONES[kind](np.random.default_rng(seed))


def relaxed(kind: str, seed: int = 0, compliance: float = 1e-4) -> ConeProblem:
    """The relaxed problem of the same contacts; R is ``compliance`` times the mean of W's diagonal, and 0 in bilateral
    rows."""
    problem = coulomb(kind, seed)
    R = np.full(problem.n, compliance * float(np.mean(problem.W.diagonal())))
    R[: problem.bilateral] = 0.0
    return ConeProblem(problem.W, problem.b, problem.friction, R, problem.bilateral)
