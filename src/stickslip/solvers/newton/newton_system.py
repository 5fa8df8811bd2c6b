"""The problem of the Newton cores in scaled units: F, its derivative, and the natural residual; and their scratch.

``newton_core`` iterates on it; ``friction_projection`` has the equations of circular cones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import affine, copy_to
from stickslip.solvers.contact_natural import coulomb_natural
from stickslip.solvers.newton.complementarity import natural_size
from stickslip.solvers.newton.scaled import scale_rows

PATIENCE = 10
"""The method starts anew if the merit is not halved in so many iterations."""
LEFT, DONE, BEST, SIZE = range(4)
"""Places in ``System.number``: iterations left and done, the least residual, the size of b."""


class System(NamedTuple):
    """A problem in scaled units, the point at hand, and scratch; matrices are (n, n), vectors (n,)."""

    W: np.ndarray
    """The matrix as given."""
    A: np.ndarray
    """The matrix in scaled units."""
    J: np.ndarray
    """The derivative at the point at hand."""
    K: np.ndarray
    """The matrix of a linear system."""
    constant: np.ndarray
    """b as given."""
    b: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    scale: np.ndarray
    friction: np.ndarray
    """(nc,) as given, and (0,) of an LCP."""
    mu: np.ndarray
    """(nc,) in scaled units."""
    y: np.ndarray
    w: np.ndarray
    new_y: np.ndarray
    new_w: np.ndarray
    best: np.ndarray
    phi: np.ndarray
    by_y: np.ndarray
    by_w: np.ndarray
    d: np.ndarray
    e: np.ndarray
    right: np.ndarray
    p: np.ndarray
    """Impulses, and their velocities u."""
    u: np.ndarray
    merits: np.ndarray
    """(PATIENCE,) the last merits."""
    number: np.ndarray
    """(4,) LEFT, DONE, BEST and SIZE."""
    keep: np.ndarray
    pivot: np.ndarray


def newton_room(n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole``."""
    return 3 * n * n + 20 * n + PATIENCE + 4, 2 * n + 1


@kernel
def carve(W, b, friction, real, whole):
    """The scratch of a core as a ``System``."""
    n, nc = b.shape[0], friction.shape[0]
    square, at = n * n, 3 * n * n
    last = at + 20 * n
    return System(
        W, real[:square].reshape(n, n), real[square : 2 * square].reshape(n, n), real[2 * square : at].reshape(n, n),
        b, real[at : at + n], real[at + n : at + 2 * n], real[at + 2 * n : at + 3 * n],
        real[at + 3 * n : at + 4 * n], friction, real[at + 4 * n : at + 4 * n + nc], real[at + 5 * n : at + 6 * n],
        real[at + 6 * n : at + 7 * n], real[at + 7 * n : at + 8 * n], real[at + 8 * n : at + 9 * n],
        real[at + 9 * n : at + 10 * n], real[at + 10 * n : at + 11 * n], real[at + 11 * n : at + 12 * n],
        real[at + 12 * n : at + 13 * n], real[at + 13 * n : at + 14 * n], real[at + 14 * n : at + 15 * n],
        real[at + 15 * n : at + 16 * n], real[at + 16 * n : at + 17 * n], real[at + 17 * n : at + 18 * n],
        real[last : last + PATIENCE], real[last + PATIENCE : last + PATIENCE + 4], whole[1 : 1 + n],
        whole[1 + n : 1 + 2 * n],
    )  # fmt: skip


@kernel
def scale_lcp(s):
    """Scale the rows of an LCP, and set its bounds."""
    scale_rows(s.W, s.constant, s.scale, s.right, s.A, s.b)
    for i in range(s.b.shape[0]):
        s.lower[i], s.upper[i] = 0.0, np.inf


@kernel
def scale_contacts(s):
    """Scale contacts so that W's diagonal is about 1 and disks stay round."""
    for c in range(s.friction.shape[0]):
        i = 3 * c
        tangents = 0.5 * (max(s.W[i + 1, i + 1], 1e-300) + max(s.W[i + 2, i + 2], 1e-300))
        s.scale[i], s.scale[i + 1] = 1.0 / max(s.W[i, i], 1e-300) ** 0.5, 1.0 / tangents**0.5
        s.scale[i + 2] = s.scale[i + 1]
        s.mu[c] = s.friction[c] * s.scale[i] / s.scale[i + 1]
        s.lower[i], s.lower[i + 1], s.lower[i + 2] = 0.0, -np.inf, -np.inf
        s.upper[i] = s.upper[i + 1] = s.upper[i + 2] = np.inf
    n = s.b.shape[0]
    for i in range(n):
        s.b[i] = s.scale[i] * s.constant[i]
        for j in range(n):
            s.A[i, j] = s.scale[i] * s.W[i, j] * s.scale[j]


@kernel(inline=False)
def function(s, y, w):
    """w = F(y)."""
    affine(s.A, y, s.b, w)
    for c in range(s.friction.shape[0]):
        i = 3 * c
        q1, q2 = y[i + 1] - w[i + 1], y[i + 2] - w[i + 2]
        length, radius = (q1 * q1 + q2 * q2) ** 0.5, s.mu[c] * max(0.0, y[i])
        shrink = radius / length if length > radius else 1.0
        w[i + 1], w[i + 2] = y[i + 1] - shrink * q1, y[i + 2] - shrink * q2


@kernel(inline=False)
def derivative(s, y):
    """J = ∂F/∂y; of an LCP it is A throughout."""
    n = y.shape[0]
    for c in range(s.friction.shape[0]):
        i = 3 * c
        u1, u2 = s.b[i + 1], s.b[i + 2]
        for j in range(n):
            u1, u2 = u1 + s.A[i + 1, j] * y[j], u2 + s.A[i + 2, j] * y[j]
        q1, q2 = y[i + 1] - u1, y[i + 2] - u2
        length, radius = (q1 * q1 + q2 * q2) ** 0.5, s.mu[c] * max(0.0, y[i])
        slips = length > radius
        shrink = radius / length if slips else 1.0
        e1, e2 = (q1 / length, q2 / length) if slips else (0.0, 0.0)
        t11, t12, t22 = shrink * (1.0 - e1 * e1), -shrink * e1 * e2, shrink * (1.0 - e2 * e2)
        for j in range(n):
            a1, a2 = s.A[i + 1, j], s.A[i + 2, j]
            s.J[i, j] = s.A[i, j]
            s.J[i + 1, j], s.J[i + 2, j] = t11 * a1 + t12 * a2, t12 * a1 + t22 * a2
        s.J[i + 1, i + 1] += 1.0 - t11
        s.J[i + 1, i + 2] -= t12
        s.J[i + 2, i + 1] -= t12
        s.J[i + 2, i + 2] += 1.0 - t22
        if slips and y[i] >= 0.0:
            s.J[i + 1, i] -= s.mu[c] * e1
            s.J[i + 2, i] -= s.mu[c] * e2


@kernel
def impulses(s, y):
    """Impulses in the cones from y, into ``p``."""
    for i in range(y.shape[0]):
        s.p[i] = s.scale[i] * y[i]
    for c in range(s.friction.shape[0]):
        i = 3 * c
        s.p[i] = max(0.0, s.p[i])
        length, radius = (s.p[i + 1] ** 2 + s.p[i + 2] ** 2) ** 0.5, s.friction[c] * s.p[i]
        if length > radius:
            s.p[i + 1] *= radius / length
            s.p[i + 2] *= radius / length


@kernel(inline=False)
def look(s, y, w, history):
    """The natural residual of the problem as given, at y; keeps the best point."""
    if s.friction.shape[0] == 0:
        size = natural_size(y, w, s.lower, s.upper, s.scale)
    else:
        impulses(s, y)
        affine(s.W, s.p, s.constant, s.u)
        size, p, u = 0.0, s.p, s.u
        for c in range(s.friction.shape[0]):
            i = 3 * c
            own = coulomb_natural(p[i], p[i + 1], p[i + 2], u[i], u[i + 1], u[i + 2], s.friction[c])
            if not own <= size:
                size = own
    if size != size:
        size = np.inf
    if size < s.number[BEST]:
        s.number[BEST] = size
        copy_to(y, s.best)
    if history.shape[0] > 0:
        history[int(s.number[DONE])] = size
    return size
