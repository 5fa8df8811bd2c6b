"""The kernels of the primal cost of the relaxed contact problem; ``primal`` has the equations."""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel
from stickslip.solvers.contact_natural import relaxed_natural

FIRST = 1e-2
"""ε at the start."""
STALLS = 20
"""Largest number of line searches without progress. ε grows tenfold after each; then the status is STALLED."""
NO_PROGRESS = 1e-14
"""Smallest change of y that counts as progress, relative to y."""


@kernel
def impulses_of(y, R, friction, nb, p):
    """p(y) into p (n,)."""
    for i in range(nb):
        p[i] = -y[i] / R[i]
    for c in range(friction.shape[0]):
        i, mu = nb + 3 * c, friction[c]
        length = (y[i + 1] ** 2 + y[i + 2] ** 2) ** 0.5
        if mu > 0.0 and length * R[i] <= -mu * y[i] * R[i + 1]:
            p[i], p[i + 1], p[i + 2] = -y[i] / R[i], -y[i + 1] / R[i + 1], -y[i + 2] / R[i + 1]
            continue
        p[i] = max(0.0, (mu * length - y[i]) / (R[i] + mu * mu * R[i + 1]))
        turn = -mu * p[i] / length if length > 0.0 else 0.0
        p[i + 1], p[i + 2] = turn * y[i + 1], turn * y[i + 2]


@kernel
def curvature(y, R, friction, nb, p, E, width):
    """Roots of ∇²s = E·Eᵀ: rows (n, 3) of E per row of y, of which a contact has its first ``width`` columns;
    width (nb + nc,), 1 for bilateral rows."""
    for i in range(nb):
        E[i, 0], width[i] = R[i] ** -0.5, 1
    for c in range(friction.shape[0]):
        i, mu = nb + 3 * c, friction[c]
        for a in range(3):
            E[i + a, 0] = E[i + a, 1] = E[i + a, 2] = 0.0
        length = (y[i + 1] ** 2 + y[i + 2] ** 2) ** 0.5
        if mu > 0.0 and length * R[i] <= -mu * y[i] * R[i + 1]:
            E[i, 0], E[i + 1, 1], E[i + 2, 2], width[nb + c] = R[i] ** -0.5, R[i + 1] ** -0.5, R[i + 1] ** -0.5, 3
        elif p[i] <= 0.0:
            width[nb + c] = 0
        else:
            root = (R[i] + mu * mu * R[i + 1]) ** -0.5
            E[i, 0], width[nb + c] = -root, 1
            if mu > 0.0 and length > 0.0:
                e1, e2, across = y[i + 1] / length, y[i + 2] / length, (mu * p[i] / length) ** 0.5
                E[i + 1, 0], E[i + 2, 0] = root * mu * e1, root * mu * e2
                E[i + 1, 1], E[i + 2, 1], width[nb + c] = -across * e2, across * e1, 2


@kernel
def _slope(y, z, step, R, friction, nb, p):
    """(p − p(y + step·z))·z and its derivative by the step."""
    first = second = 0.0
    for i in range(nb):
        first += (p[i] + (y[i] + step * z[i]) / R[i]) * z[i]
        second += z[i] * z[i] / R[i]
    for c in range(friction.shape[0]):
        i, mu = nb + 3 * c, friction[c]
        n, s, t = y[i] + step * z[i], y[i + 1] + step * z[i + 1], y[i + 2] + step * z[i + 2]
        length = (s * s + t * t) ** 0.5
        if mu > 0.0 and length * R[i] <= -mu * n * R[i + 1]:
            first += (p[i] + n / R[i]) * z[i]
            first += (p[i + 1] + s / R[i + 1]) * z[i + 1] + (p[i + 2] + t / R[i + 1]) * z[i + 2]
            second += z[i] * z[i] / R[i] + (z[i + 1] ** 2 + z[i + 2] ** 2) / R[i + 1]
            continue
        first += p[i] * z[i] + p[i + 1] * z[i + 1] + p[i + 2] * z[i + 2]
        h, r = mu * length - n, 1.0 / (R[i] + mu * mu * R[i + 1])
        if h > 0.0:
            along = across = 0.0
            if length > 0.0:
                along, across = (s * z[i + 1] + t * z[i + 2]) / length, (s * z[i + 2] - t * z[i + 1]) / length
                second += r * h * mu * across * across / length
            first += r * h * (mu * along - z[i])
            second += r * (mu * along - z[i]) ** 2
    return first, second


@kernel(inline=False)
def line_search(y, z, start, square, R, friction, nb, p, accuracy):
    """The step along a direction d that minimises the cost, z = W·d: Newton's method on its slope, kept between bounds.
    ``start`` < 0 is the slope at 0, ``square`` is dᵀ·W·d; the slope at the end is ``accuracy`` of that at 0."""
    if not start < 0.0:
        return 0.0
    low, high, step = 0.0, np.inf, 1.0
    for _ in range(60):
        first, second = _slope(y, z, step, R, friction, nb, p)
        first += start + step * square
        second += square
        if abs(first) <= -accuracy * start:
            break
        if first < 0.0:
            low = step
        else:
            high = step
        step = step - first / second if second > 0.0 else np.inf
        if not low < step < high:
            step = 2.0 * low if high == np.inf else 0.5 * (low + high)
    return step


@kernel
def natural_residual(p, u, friction, nb):
    """‖natural map‖∞, NaN if anything is."""
    worst = 0.0
    for i in range(nb):
        if not abs(u[i]) <= worst:
            worst = abs(u[i])
    for c in range(friction.shape[0]):
        i = nb + 3 * c
        size = relaxed_natural(p[i], p[i + 1], p[i + 2], u[i], u[i + 1], u[i + 2], friction[c])
        if not size <= worst:
            worst = size
    return worst


@kernel
def columns(width, nb, E, start, column, data):
    """E as CSR arrays start (n + 1,), column, data; returns the number of columns."""
    entries = k = 0
    start[0] = 0
    for b in range(width.shape[0]):
        first, rows = (b, 1) if b < nb else (nb + 3 * (b - nb), 3)
        for i in range(first, first + rows):
            for a in range(width[b]):
                column[entries], data[entries] = k + a, E[i, a]
                entries += 1
            start[i + 1] = entries
        k += width[b]
    return k


@kernel
def hessian(W, start, column, data, K):
    """1 + Eᵀ·W·E into the lower triangle of K (k, k)."""
    n = W.shape[0]
    for a in range(K.shape[0]):
        for b in range(a + 1):
            K[a, b] = 0.0
        K[a, a] = 1.0
    for i in range(n):
        for e in range(start[i], start[i + 1]):
            a = column[e]
            for j in range(n):
                x = data[e] * W[i, j]
                for f in range(start[j], start[j + 1]):
                    if column[f] > a:
                        break
                    K[a, column[f]] += x * data[f]
                if start[j + 1] > start[j] and column[start[j]] > a:
                    break
