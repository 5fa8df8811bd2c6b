"""The interior-point method for LCPs as a core: dense, in one compiled call; ``linear_interior_point`` has the method.

Of an LCP only the lower bounds exist: s = z and v are the pairs, s·v = τ. Own option: ``to_boundary``.
Cost per iteration: one LU of (n, n), and eight products by matrices of that size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import affine, copy_to, lu_factor, lu_solve
from stickslip.solvers.core import CONVERGED, LIMIT, MAX_ITERATIONS, MOST, OWN, STALLED, largest_entry
from stickslip.solvers.newton.complementarity import natural_size
from stickslip.solvers.newton.scaled import scale_rows

SHORTEST = 1e-7
"""A shorter step is no progress."""
AT_BOUND = 1e9
"""Rows with a larger diagonal hardly see the others, and are left out of the matrix."""
SHIFT = 1e-9
"""Added to the diagonal, which is about 1: where solutions are not unique the matrix becomes singular on the way."""


class Path(NamedTuple):
    """A problem in scaled units, the point on the path, and scratch; matrices are (n, n), vectors (n,)."""

    A: np.ndarray
    K: np.ndarray
    b: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    scale: np.ndarray
    y: np.ndarray
    v: np.ndarray
    w: np.ndarray
    best: np.ndarray
    infeasible: np.ndarray
    diagonal: np.ndarray
    target: np.ndarray
    right: np.ndarray
    d: np.ndarray
    """A direction of y, and dv of v."""
    dv: np.ndarray
    rest: np.ndarray
    keep: np.ndarray
    pivot: np.ndarray


def linear_room(n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole``."""
    return 2 * n * n + 15 * n, 2 * n + 1


@kernel
def carve(real, whole, n):
    """The scratch of a core as a ``Path``."""
    square, at = n * n, 2 * n * n
    return Path(
        real[:square].reshape(n, n), real[square:at].reshape(n, n), real[at : at + n], real[at + n : at + 2 * n],
        real[at + 2 * n : at + 3 * n], real[at + 3 * n : at + 4 * n], real[at + 4 * n : at + 5 * n],
        real[at + 5 * n : at + 6 * n], real[at + 6 * n : at + 7 * n], real[at + 7 * n : at + 8 * n],
        real[at + 8 * n : at + 9 * n], real[at + 9 * n : at + 10 * n], real[at + 10 * n : at + 11 * n],
        real[at + 11 * n : at + 12 * n], real[at + 12 * n : at + 13 * n], real[at + 13 * n : at + 14 * n],
        real[at + 14 * n : at + 15 * n], whole[1 : 1 + n], whole[1 + n : 1 + 2 * n],
    )  # fmt: skip


@kernel
def residual(path, y):
    """‖natural map‖∞ at y in the problem's own units; infinite if it is not a number."""
    affine(path.A, y, path.b, path.w)
    size = natural_size(y, path.w, path.lower, path.upper, path.scale)
    return size if size == size else np.inf


@kernel(inline=False)
def direction(path, first):
    """d and dv towards ``target``; ``first``: factorise. Returns False if it is not a number."""
    n, k, y = path.y.shape[0], 0, path.d
    for i in range(n):
        path.right[i] = -path.infeasible[i] + path.target[i] / path.y[i]
        if path.diagonal[i] < AT_BOUND:
            path.keep[k] = i
            y[i] = 0.0
            k += 1
        else:
            y[i] = path.right[i] / max(path.diagonal[i], 1.0)
    if first:
        for a in range(k):
            i = path.keep[a]
            for c in range(k):
                path.K[a, c] = path.A[i, path.keep[c]]
            path.K[a, a] += path.diagonal[i] + SHIFT
        lu_factor(path.K, k, path.pivot)
    for again in range(2):  # the second time refines what rounding and the shift have left
        for a in range(k):
            i = path.keep[a]
            total = path.right[i] - (path.diagonal[i] * y[i] if again else 0.0)
            for j in range(n):
                total -= path.A[i, j] * y[j]
            path.rest[a] = total
        lu_solve(path.K, k, path.pivot, path.rest)
        for a in range(k):
            y[path.keep[a]] += path.rest[a]
    for i in range(n):
        path.dv[i] = (path.target[i] - path.v[i] * y[i]) / path.y[i]
    return largest_entry(y) < np.inf


@kernel
def longest(path, limit):
    """The longest step up to the limit that keeps y and v from changing sign."""
    for i in range(path.y.shape[0]):
        if path.d[i] < 0.0:
            limit = min(limit, -path.y[i] / path.d[i])
        if path.dv[i] < 0.0:
            limit = min(limit, -path.v[i] / path.dv[i])
    return limit


@kernel(inline=False)
def step(path, size, to_boundary):
    """Take one step by predictor and corrector; returns False if there is none."""
    n, gap = path.y.shape[0], 0.0
    affine(path.A, path.y, path.b, path.infeasible)
    for i in range(n):
        if path.y[i] <= 0.0:  # rounded onto a bound
            return False
        path.infeasible[i] -= path.v[i]
        gap += path.y[i] * path.v[i] / n
        path.diagonal[i] = path.v[i] / path.y[i]
        path.target[i] = -path.y[i] * path.v[i]
    if not direction(path, True):
        return False
    length, after = longest(path, 1.0), 0.0
    for i in range(n):
        after += (path.y[i] + length * path.d[i]) * (path.v[i] + length * path.dv[i])
    centre = min(1.0, max(0.0, after / n / gap)) ** 3
    for i in range(n):
        path.target[i] += centre * gap - path.d[i] * path.dv[i]
    if not direction(path, False):
        return False
    reach = max(to_boundary, 1.0 - gap / size**2)
    length = min(1.0, reach * longest(path, 1.0 / reach))
    if length < SHORTEST:
        return False
    for i in range(n):
        path.y[i] += length * path.d[i]
        path.v[i] += length * path.dv[i]
    return True


@kernel(inline=False)
def linear_interior_point(A, b, start, member, z, real, whole, history, options):
    """The core; see ``solvers.core`` for its arguments."""
    n = b.shape[0]
    path = carve(real, whole, n)
    scale_rows(A, b, path.scale, path.rest, path.A, path.b)
    for i in range(n):
        path.lower[i], path.upper[i], path.best[i] = 0.0, np.inf, z[i] / path.scale[i]
    best = residual(path, path.best)
    if history.shape[0] > 0:
        history[0] = best
    far = largest_entry(path.b)
    far = far if far > 0.0 else 1.0
    for i in range(n):
        path.y[i] = far
    affine(path.A, path.y, path.b, path.v)
    for i in range(n):
        path.v[i] = max(path.v[i], far)
    status, done = MAX_ITERATIONS, 0
    for _ in range(int(options[MOST])):
        if best <= options[LIMIT]:
            break
        if not step(path, far, options[OWN]):
            status = STALLED
            break
        done += 1
        size = residual(path, path.y)
        if history.shape[0] > 0:
            history[done] = size
        if size < best:
            best = size
            copy_to(path.y, path.best)
    whole[0] = done
    for i in range(n):
        z[i] = path.scale[i] * path.best[i]
    return CONVERGED if best <= options[LIMIT] else status
