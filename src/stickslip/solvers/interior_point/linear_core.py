"""The interior-point method for LCPs as a core: the iteration of ``linear_path`` with a dense LU, in one compiled call.

Own option: ``to_boundary``. Cost per iteration: one LU of (n, n), and five products by matrices of that size.
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import copy_to, dot, lu_factor, lu_solve
from stickslip.solvers.interior_point.linear_path import (
    AT_BOUND,
    CORRECTOR,
    DONE,
    PREDICTOR,
    SHIFT,
    Path,
    begin,
    proceed,
)
from stickslip.solvers.newton.scaled import scale_rows
from stickslip.solvers.splitting.sweeps import Rows


def linear_room(n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole``."""
    return 2 * n * n + 17 * n + 5, 2 * n + 1


@kernel
def carve(real, whole, n):
    """The scratch of a core as a ``Path``."""
    at = 2 * n * n
    r, none = real[at : at + 17 * n].reshape(17, n), whole[:0]
    return Path(
        Rows(real[: n * n].reshape(n, n), real[:0], none, none), real[n * n : at].reshape(n, n), r[0], r[1], r[2], r[3],
        r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15], r[16],
        real[at + 17 * n : at + 17 * n + 5], whole[1 : 1 + n], whole[1 + n : 1 + 2 * n],
    )  # fmt: skip


@kernel
def choose_rows(path):
    """List the rows that are not at their bound in ``keep`` and factorise their matrix; returns how many there are."""
    n, k = path.y.shape[0], 0
    for i in range(n):
        if path.diagonal[i] < AT_BOUND:
            path.keep[k] = i
            k += 1
    for a in range(k):
        i, row = path.keep[a], path.K[a]
        if k == n:
            copy_to(path.rows.dense[i], row)
        else:
            for c in range(k):
                row[c] = path.rows.dense[i, path.keep[c]]
        row[a] += path.diagonal[i] + SHIFT
    lu_factor(path.K, k, path.pivot)
    return k


@kernel(inline=False)
def direction(path, k, refine):
    """d by the factors of ``choose_rows``; ``refine``: whether to remove what rounding and the shift have left."""
    n, d = path.y.shape[0], path.d
    for i in range(n):
        d[i] = path.right[i] / max(path.diagonal[i], 1.0)
    for a in range(k):
        d[path.keep[a]] = 0.0
    for again in range(2 if refine else 1):
        for a in range(k):
            i = path.keep[a]
            path.rest[a] = path.right[i] - path.diagonal[i] * d[i]
            if again or k < n:  # else d is zero
                path.rest[a] -= dot(path.rows.dense[i], d)
        lu_solve(path.K, k, path.pivot, path.rest)
        for a in range(k):
            d[path.keep[a]] += path.rest[a]


@kernel(inline=False)
def linear_interior_point(A, b, start, member, z, real, whole, history, options):
    """The core; see ``solvers.core`` for its arguments."""
    n, kept = b.shape[0], 0
    path = carve(real, whole, n)
    scale_rows(A, b, path.scale, path.rest, path.rows.dense, path.b)
    for i in range(n):
        path.lower[i], path.upper[i], path.best[i] = 0.0, np.inf, z[i] / path.scale[i]
    code = begin(path, history, options)
    while code < 0:
        if code == PREDICTOR:
            kept = choose_rows(path)
        direction(path, kept, code == CORRECTOR)
        code = proceed(path, history, options)
    whole[0] = int(path.number[DONE])
    for i in range(n):
        z[i] = path.scale[i] * path.best[i]
    return code
