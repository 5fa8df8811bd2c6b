"""Primal Newton and conjugate gradients on the relaxed contact problem, step by step, and as a core; ``primal`` has the
equations.

``begin`` and ``proceed`` hold all of the iteration but Newton's directions: they return DIRECTION where the caller has
to put one into d and W·d. The core does so by Cholesky's factor of a dense matrix, ``primal_newton`` for large and
sparse ones by LAPACK or SuperLU. The first n − 3·nc rows are bilateral.

Own options: whether directions are Newton's, the least ε, its factor, the share of the gradient at which the centre
moves, and the accuracy of line searches.
Cost per iteration: two products by W, and with Newton's directions a factorisation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import copy_to, dot
from stickslip.solvers.core import CONVERGED, LIMIT, MAX_ITERATIONS, MOST, OWN, STALLED, largest_entry
from stickslip.solvers.newton.primal_cost import (
    FIRST,
    NO_PROGRESS,
    STALLS,
    columns,
    curvature,
    hessian,
    impulses_of,
    line_search,
    natural_residual,
)
from stickslip.solvers.splitting.sweeps import Rows, times

NEWTON, LEAST, SHRINK, SHARE, ACCURACY = range(OWN, OWN + 5)
"""Places of the core's own options."""
DIRECTION = -1
"""What ``begin`` and ``proceed`` return if a direction is wanted; at the end they return a code of ``core``."""
EPSILON, SQUARE, BEST, DONE, STALLED_TIMES = range(5)
"""Places in ``Cost.number``: ε, r·W·r of the last conjugate direction (< 0: none), the least residual, iterations done,
line searches without progress."""


class Cost(NamedTuple):
    """The cost with R' around a centre, evaluated at q, and scratch; matrices are (n, n), vectors (n,)."""

    rows: Rows
    """W."""
    K: np.ndarray
    """(n²,) or, where the caller finds directions, (0,)."""
    b: np.ndarray
    regularisation: np.ndarray
    friction: np.ndarray
    scale: np.ndarray
    R: np.ndarray
    added: np.ndarray
    """R' − R."""
    centre: np.ndarray
    q: np.ndarray
    Wq: np.ndarray
    p: np.ndarray
    Wp: np.ndarray
    y: np.ndarray
    u: np.ndarray
    r: np.ndarray
    Wr: np.ndarray
    d: np.ndarray
    Wd: np.ndarray
    before: np.ndarray
    """W·r of the last direction."""
    right: np.ndarray
    """(n,) of the linear system."""
    E: np.ndarray
    """(n, 3)."""
    data: np.ndarray
    """(3n,) E as CSR, with ``start`` (n + 1,) and ``column`` (3n,)."""
    start: np.ndarray
    column: np.ndarray
    width: np.ndarray
    """(nb + nc,)."""
    diagonal: np.ndarray
    """(n,) of W."""
    number: np.ndarray
    """(5,) EPSILON … STALLED_TIMES."""


def primal_room(n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole``."""
    return n * n + 23 * n + 5, 1 + n + 1 + 3 * n + n


@kernel
def carve(W, b, R, friction, real, whole):
    """The scratch of a core as a ``Cost``."""
    n, at = b.shape[0], b.shape[0] ** 2
    v, last = real[at : at + 17 * n].reshape(17, n), at + 23 * n
    return Cost(
        Rows(W, real[:0], whole[:0], whole[:0]), real[:at], b, R, friction, v[0], v[1], v[2], v[3], v[4], v[5], v[6],
        v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15], real[at + 17 * n : at + 20 * n].reshape(n, 3),
        real[at + 20 * n : last], whole[1 : n + 2], whole[n + 2 : 4 * n + 2],
        whole[4 * n + 2 : 2 + 5 * n - 2 * friction.shape[0]], v[16], real[last : last + 5],
    )  # fmt: skip


@kernel
def bilateral(c):
    """The number of bilateral rows."""
    return c.b.shape[0] - 3 * c.friction.shape[0]


@kernel
def set_scale(c):
    """The part of W's diagonal that ε is relative to: the largest of a contact, for its three rows."""
    nb, top = bilateral(c), 0.0
    for i in range(c.b.shape[0]):
        top = max(top, c.diagonal[i])
    top = top if top > 0.0 else 1.0
    for i in range(nb):
        c.scale[i] = c.diagonal[i] if c.diagonal[i] > 0.0 else top
    for k in range(c.friction.shape[0]):
        i = nb + 3 * k
        own = max(c.diagonal[i], c.diagonal[i + 1], c.diagonal[i + 2])
        c.scale[i] = c.scale[i + 1] = c.scale[i + 2] = own if own > 0.0 else top


@kernel
def move(c, epsilon):
    """Put centre and q to p, with another ε; conjugate directions begin anew."""
    c.number[EPSILON], c.number[SQUARE] = epsilon, -1.0
    for i in range(c.b.shape[0]):
        c.q[i] = c.centre[i] = c.p[i]
        c.R[i] = max(c.regularisation[i], epsilon * c.scale[i])
        c.added[i] = c.R[i] - c.regularisation[i]
    times(c.rows, c.q, c.Wq)


@kernel(inline=False)
def look(c):
    """Compute p at q and the gradient; returns the natural residual of p."""
    n = c.b.shape[0]
    for i in range(n):
        c.y[i] = c.Wq[i] + c.b[i] - c.added[i] * c.centre[i]
    impulses_of(c.y, c.R, c.friction, bilateral(c), c.p)
    times(c.rows, c.p, c.Wp)
    for i in range(n):
        c.r[i], c.Wr[i] = c.p[i] - c.q[i], c.Wp[i] - c.Wq[i]
        c.u[i] = c.Wp[i] + c.regularisation[i] * c.p[i] + c.b[i]
    return natural_residual(c.p, c.u, c.friction, bilateral(c))


@kernel
def settled(c, share):
    """Whether the gradient is small beside the error that the centre causes."""
    shift = 0.0
    for i in range(c.b.shape[0]):
        shift = max(shift, abs(c.added[i] * (c.p[i] - c.centre[i])))
    return largest_entry(c.Wr) <= share * shift


@kernel
def factorise(K, k):
    """Overwrite the lower triangle of K (k, k) with Cholesky's factor; returns False if K is not definite."""
    for i in range(k):
        for j in range(i + 1):
            total = K[i, j]
            for m in range(j):
                total -= K[i, m] * K[j, m]
            if i > j:
                K[i, j] = total / K[j, j]
            elif total > 0.0:
                K[i, i] = total**0.5
            else:
                return False
    return True


@kernel(inline=False)
def newton_direction(c):
    """d = r − E·t and W·d."""
    n, nb = c.b.shape[0], bilateral(c)
    curvature(c.y, c.R, c.friction, nb, c.p, c.E, c.width)
    k = columns(c.width, nb, c.E, c.start, c.column, c.data)
    copy_to(c.r, c.d)
    copy_to(c.Wr, c.Wd)
    if k == 0:
        return
    t, K = c.right, c.K[: k * k].reshape(k, k)
    for a in range(k):
        t[a] = 0.0
    for i in range(n):
        for e in range(c.start[i], c.start[i + 1]):
            t[c.column[e]] += c.data[e] * c.Wr[i]
    hessian(c.rows.dense, c.start, c.column, c.data, K)
    if not factorise(K, k):  # by rounding, if W is far from definite
        return
    for i in range(k):
        for m in range(i):
            t[i] -= K[i, m] * t[m]
        t[i] /= K[i, i]
    for i in range(k - 1, -1, -1):
        for m in range(i + 1, k):
            t[i] -= K[m, i] * t[m]
        t[i] /= K[i, i]
    for i in range(n):
        for e in range(c.start[i], c.start[i + 1]):
            c.d[i] -= c.data[e] * t[c.column[e]]
    times(c.rows, c.d, c.Wd)


@kernel(inline=False)
def conjugate_direction(c):
    """d by Polak and Ribière from the last one, if there is one, and W·d."""
    n, square, square_last = c.b.shape[0], dot(c.r, c.Wr), c.number[SQUARE]
    beta = 0.0
    if square_last > 0.0:
        beta = max(0.0, (square - dot(c.r, c.before)) / square_last)
    for i in range(n):
        old, pushed = (c.d[i], c.Wd[i]) if square_last >= 0.0 else (0.0, 0.0)
        c.d[i], c.Wd[i] = c.r[i] + beta * old, c.Wr[i] + beta * pushed
    if square_last >= 0.0 and dot(c.r, c.Wd) <= 0.0:  # no descent
        copy_to(c.r, c.d)
        copy_to(c.Wr, c.Wd)
    copy_to(c.Wr, c.before)
    c.number[SQUARE] = square


@kernel(inline=False)
def go(c, accuracy):
    """Search along d. Without progress, the centre moves and ε grows; returns False if that was too often."""
    start, square = -dot(c.r, c.Wd), dot(c.d, c.Wd)
    step = line_search(c.y, c.Wd, start, square, c.R, c.friction, bilateral(c), c.p, accuracy)
    if step * largest_entry(c.Wd) > NO_PROGRESS * largest_entry(c.y):
        for i in range(c.b.shape[0]):
            c.q[i] += step * c.d[i]
            c.Wq[i] += step * c.Wd[i]
        return True
    c.number[STALLED_TIMES] += 1.0
    move(c, min(FIRST, 10.0 * c.number[EPSILON]))
    return c.number[STALLED_TIMES] <= STALLS


@kernel
def seek(c, p, history, options):
    """Iterate until Newton's direction is wanted, or to the end; the best impulses are put into p. Returns a code."""
    number = c.number
    while number[DONE] < options[MOST]:
        number[DONE] += 1.0
        size = look(c)
        if history.shape[0] > 0:
            history[int(number[DONE])] = size
        if size < number[BEST]:
            number[BEST] = size
            copy_to(c.p, p)
        if number[BEST] <= options[LIMIT]:
            return CONVERGED
        if not size < np.inf:
            return STALLED
        if settled(c, options[SHARE]):
            move(c, max(options[LEAST], options[SHRINK] * number[EPSILON]))
        elif options[NEWTON] != 0.0:
            return DIRECTION
        else:
            conjugate_direction(c)
            if not go(c, options[ACCURACY]):
                return STALLED
    return MAX_ITERATIONS


@kernel(inline=False)
def begin(c, p, history, options):
    """Begin from the impulses p, with W's diagonal given; returns a code."""
    set_scale(c)
    copy_to(p, c.p)
    move(c, FIRST)
    for i in range(p.shape[0]):
        c.u[i] = c.Wq[i] + c.regularisation[i] * p[i] + c.b[i]
    c.number[BEST], c.number[DONE] = natural_residual(p, c.u, c.friction, bilateral(c)), 0.0
    c.number[STALLED_TIMES] = 0.0
    if history.shape[0] > 0:
        history[0] = c.number[BEST]
    return CONVERGED if c.number[BEST] <= options[LIMIT] else seek(c, p, history, options)


@kernel(inline=False)
def proceed(c, p, history, options):
    """Go along d, which is Newton's, and iterate further; returns a code."""
    return seek(c, p, history, options) if go(c, options[ACCURACY]) else STALLED


@kernel(inline=False)
def primal_contacts(W, data, indices, indptr, R, b, friction, p, real, whole, history, options):
    """The core; see ``solvers.core`` for its arguments."""
    c = carve(W, b, R, friction, real, whole)
    for i in range(b.shape[0]):
        c.diagonal[i] = W[i, i]
    code = begin(c, p, history, options)
    while code == DIRECTION:
        newton_direction(c)
        code = proceed(c, p, history, options)
    whole[0] = int(c.number[DONE])
    return code
