"""Primal Newton and conjugate gradients on the relaxed contact problem as a core; ``primal`` has the equations.

Own options: whether directions are Newton's, the least ε, its factor, the share of the gradient at which the centre
moves, and the accuracy of line searches. Dense, without bilateral rows.
Cost per iteration: two products by W, and with Newton's directions a Cholesky factorisation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import copy_to
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

NEWTON, LEAST, SHRINK, SHARE, ACCURACY = range(OWN, OWN + 5)
"""Places of the core's own options."""


class Cost(NamedTuple):
    """The cost with R' around a centre, evaluated at q, and scratch; matrices are (n, n), vectors (n,)."""

    W: np.ndarray
    K: np.ndarray
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


def primal_room(n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole``."""
    return n * n + 22 * n, 1 + n + 1 + 3 * n + n


@kernel
def carve(W, b, R, friction, real, whole):
    """The scratch of a core as a ``Cost``."""
    n, at = b.shape[0], b.shape[0] ** 2
    v = real[at : at + 16 * n].reshape(16, n)
    return Cost(
        W, real[:at].reshape(n, n), b, R, friction, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10],
        v[11], v[12], v[13], v[14], v[15], real[at + 16 * n : at + 19 * n].reshape(n, 3),
        real[at + 19 * n : at + 22 * n], whole[1 : n + 2], whole[n + 2 : 4 * n + 2],
        whole[4 * n + 2 : 4 * n + 2 + friction.shape[0]],
    )  # fmt: skip


@kernel
def product(A, x, out):
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[0]):
            total += A[i, j] * x[j]
        out[i] = total


@kernel
def dot(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@kernel
def set_scale(c):
    """The part of W's diagonal that ε is relative to: the largest of a contact, for its three rows."""
    top = 0.0
    for i in range(c.b.shape[0]):
        top = max(top, c.W[i, i])
    top = top if top > 0.0 else 1.0
    for k in range(c.friction.shape[0]):
        i = 3 * k
        own = max(c.W[i, i], c.W[i + 1, i + 1], c.W[i + 2, i + 2])
        c.scale[i] = c.scale[i + 1] = c.scale[i + 2] = own if own > 0.0 else top


@kernel
def move(c, epsilon):
    """Put centre and q to p, with another ε."""
    for i in range(c.b.shape[0]):
        c.q[i] = c.centre[i] = c.p[i]
        c.R[i] = max(c.regularisation[i], epsilon * c.scale[i])
        c.added[i] = c.R[i] - c.regularisation[i]
    product(c.W, c.q, c.Wq)


@kernel(inline=False)
def look(c):
    """Compute p at q and the gradient; returns the natural residual of p."""
    n = c.b.shape[0]
    for i in range(n):
        c.y[i] = c.Wq[i] + c.b[i] - c.added[i] * c.centre[i]
    impulses_of(c.y, c.R, c.friction, 0, c.p)
    product(c.W, c.p, c.Wp)
    for i in range(n):
        c.r[i], c.Wr[i] = c.p[i] - c.q[i], c.Wp[i] - c.Wq[i]
        c.u[i] = c.Wp[i] + c.regularisation[i] * c.p[i] + c.b[i]
    return natural_residual(c.p, c.u, c.friction, 0)


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
    n = c.b.shape[0]
    curvature(c.y, c.R, c.friction, 0, c.p, c.E, c.width)
    k = columns(c.width, 0, c.E, c.start, c.column, c.data)
    copy_to(c.r, c.d)
    copy_to(c.Wr, c.Wd)
    if k == 0:
        return
    t, K = c.right, c.K.reshape(n * n)[: k * k].reshape(k, k)
    for a in range(k):
        t[a] = 0.0
    for i in range(n):
        for e in range(c.start[i], c.start[i + 1]):
            t[c.column[e]] += c.data[e] * c.Wr[i]
    hessian(c.W, c.start, c.column, c.data, K)
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
    product(c.W, c.d, c.Wd)


@kernel(inline=False)
def conjugate_direction(c, square_last):
    """d by Polak and Ribière from the last one, whose r·W·r is given, < 0 if there is none; returns r·W·r."""
    n, square = c.b.shape[0], dot(c.r, c.Wr)
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
    return square


@kernel(inline=False)
def go(c, accuracy):
    """Search along d; returns False if there is no progress."""
    start, square = -dot(c.r, c.Wd), dot(c.d, c.Wd)
    step = line_search(c.y, c.Wd, start, square, c.R, c.friction, 0, c.p, accuracy)
    if not step * largest_entry(c.Wd) > NO_PROGRESS * largest_entry(c.y):
        return False
    for i in range(c.b.shape[0]):
        c.q[i] += step * c.d[i]
        c.Wq[i] += step * c.Wd[i]
    return True


@kernel(inline=False)
def primal_contacts(W, data, indices, indptr, R, b, friction, p, real, whole, history, options):
    """The core; see ``solvers.core`` for its arguments."""
    n, limit, epsilon, square = b.shape[0], options[LIMIT], FIRST, -1.0
    c = carve(W, b, R, friction, real, whole)
    set_scale(c)
    copy_to(p, c.p)
    move(c, epsilon)
    for i in range(n):
        c.u[i] = c.Wq[i] + R[i] * p[i] + b[i]
    best = natural_residual(p, c.u, friction, 0)
    if history.shape[0] > 0:
        history[0] = best
    iterations, stalls = 0, 0
    status = CONVERGED if best <= limit else MAX_ITERATIONS
    while status == MAX_ITERATIONS and iterations < options[MOST]:
        iterations += 1
        size = look(c)
        if history.shape[0] > 0:
            history[iterations] = size
        if size < best:
            best = size
            copy_to(c.p, p)
        if best <= limit:
            status = CONVERGED
        elif not size < np.inf:
            status = STALLED
        elif settled(c, options[SHARE]):
            epsilon, square = max(options[LEAST], options[SHRINK] * epsilon), -1.0
            move(c, epsilon)
        else:
            if options[NEWTON] != 0.0:
                newton_direction(c)
            else:
                square = conjugate_direction(c, square)
            if not go(c, options[ACCURACY]):
                stalls += 1
                epsilon, square = min(FIRST, 10.0 * epsilon), -1.0
                move(c, epsilon)
                if stalls > STALLS:
                    status = STALLED
    whole[0] = iterations
    return status
