"""The problem of the interior-point core in the units of ``cone_system``, its natural residual, and its scratch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import affine, copy_to
from stickslip.solvers.contact_natural import coulomb_natural, relaxed_natural

PATIENCE = 12
"""A path ends if the gap is not halved in so many iterations."""
LEFT, DONE, BEST, SIZE = range(4)
"""Places in ``Cone.number``: iterations left and done, the least residual, the size of b."""


class Cone(NamedTuple):
    """A problem in the units of ``cone_system``, the point on the path, and scratch; n = 3nc."""

    W: np.ndarray
    """(n, n) with R, in the problem's units."""
    A: np.ndarray
    """(n, n) in scaled units."""
    K: np.ndarray
    """(n, n) the matrix of an iteration."""
    factor: np.ndarray
    """(n, n) its LU factors."""
    pivot: np.ndarray
    constant: np.ndarray
    """(n,) b as given."""
    b: np.ndarray
    """(n,) b in scaled units."""
    scale: np.ndarray
    """(n,) p = scale·x."""
    friction: np.ndarray
    x: np.ndarray
    y: np.ndarray
    u: np.ndarray
    p: np.ndarray
    best: np.ndarray
    """(n,) the x of the least residual."""
    dx: np.ndarray
    dy: np.ndarray
    other_dx: np.ndarray
    other_dy: np.ndarray
    infeasible: np.ndarray
    right: np.ndarray
    error: np.ndarray
    g: np.ndarray
    out: np.ndarray
    point: np.ndarray
    none: np.ndarray
    """(n,) zeros."""
    scaling: np.ndarray
    """(nc, 4)."""
    H: np.ndarray
    """(nc, 3, 3), and so are ``blocks``, D and DP."""
    blocks: np.ndarray
    D: np.ndarray
    DP: np.ndarray
    gaps: np.ndarray
    """(PATIENCE,) the last gaps."""
    number: np.ndarray
    """(4,) LEFT, DONE, BEST and SIZE."""


def cone_room(n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole``."""
    return 4 * n * n + 19 * n + 4 * (n // 3) + 12 * n + PATIENCE + 4, n + 1


@kernel
def carve(real, whole, b, friction):
    """The scratch of a core as a ``Cone``."""
    n, nc = b.shape[0], friction.shape[0]
    square, at = n * n, 4 * n * n
    scaling = real[at + 19 * n : at + 19 * n + 4 * nc].reshape(nc, 4)
    cubes = at + 19 * n + 4 * nc
    last = cubes + 12 * n
    return Cone(
        real[:square].reshape(n, n), real[square : 2 * square].reshape(n, n),
        real[2 * square : 3 * square].reshape(n, n), real[3 * square : at].reshape(n, n), whole[1 : 1 + n],
        b, real[at : at + n], real[at + n : at + 2 * n], friction, real[at + 2 * n : at + 3 * n],
        real[at + 3 * n : at + 4 * n], real[at + 4 * n : at + 5 * n], real[at + 5 * n : at + 6 * n],
        real[at + 6 * n : at + 7 * n], real[at + 7 * n : at + 8 * n], real[at + 8 * n : at + 9 * n],
        real[at + 9 * n : at + 10 * n], real[at + 10 * n : at + 11 * n], real[at + 11 * n : at + 12 * n],
        real[at + 12 * n : at + 13 * n], real[at + 13 * n : at + 14 * n], real[at + 14 * n : at + 15 * n],
        real[at + 15 * n : at + 16 * n], real[at + 16 * n : at + 17 * n], real[at + 17 * n : at + 18 * n],
        scaling, real[cubes : cubes + 3 * n].reshape(nc, 3, 3), real[cubes + 3 * n : cubes + 6 * n].reshape(nc, 3, 3),
        real[cubes + 6 * n : cubes + 9 * n].reshape(nc, 3, 3), real[cubes + 9 * n : last].reshape(nc, 3, 3),
        real[last : last + PATIENCE], real[last + PATIENCE : last + PATIENCE + 4],
    )  # fmt: skip


@kernel
def scale_problem(W, R, cone):
    """Write W + R, and W, R and b in scaled units."""
    n = cone.constant.shape[0]
    for i in range(n):
        for j in range(n):
            cone.W[i, j] = W[i, j]
        cone.W[i, i] += R[i]
        cone.none[i] = 0.0
    for c in range(cone.friction.shape[0]):
        i, mu = 3 * c, cone.friction[c]
        largest = max(cone.W[i, i], mu * mu * max(cone.W[i + 1, i + 1], cone.W[i + 2, i + 2]))
        root = 1.0 / largest**0.5 if largest > 0.0 else 1.0
        cone.scale[i], cone.scale[i + 1], cone.scale[i + 2] = root, mu * root, mu * root
    for i in range(n):
        cone.b[i] = cone.scale[i] * cone.constant[i]
        for j in range(n):
            cone.A[i, j] = cone.scale[i] * cone.W[i, j] * cone.scale[j]


@kernel(inline=False)
def natural_residual(cone, p, coulomb):
    """‖natural map‖∞ of impulses p in the problem's own units; infinite if it is not a number."""
    affine(cone.W, p, cone.constant, cone.u)
    u, largest = cone.u, 0.0
    for c in range(cone.friction.shape[0]):
        i, mu = 3 * c, cone.friction[c]
        if coulomb:
            size = coulomb_natural(p[i], p[i + 1], p[i + 2], u[i], u[i + 1], u[i + 2], mu)
        else:
            size = relaxed_natural(p[i], p[i + 1], p[i + 2], u[i], u[i + 1], u[i + 2], mu)
        if not size <= largest:
            largest = size
    return largest if largest == largest else np.inf


@kernel
def residual_at(cone, x, coulomb):
    """The natural residual of a point x in scaled units."""
    for i in range(x.shape[0]):
        cone.p[i] = cone.scale[i] * x[i]
    return natural_residual(cone, cone.p, coulomb)


@kernel
def count(cone, x, size, history):
    """Count an iteration that ended at x with the residual ``size``, and keep the best point."""
    number = cone.number
    number[DONE] += 1.0
    number[LEFT] -= 1.0
    if size < number[BEST]:
        number[BEST] = size
        copy_to(x, cone.best)
    if history.shape[0] > 0:
        history[int(number[DONE])] = size
