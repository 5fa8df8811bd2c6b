"""The interior-point method for LCP and mixed LCP, step by step; ``linear_interior_point`` has the equations.

``begin`` and ``proceed`` hold all of the iteration but its linear systems. They return PREDICTOR where the caller has
to factorise A + diagonal, and CORRECTOR where the factor of the last time will do, with the right-hand side in
``right``; the caller puts the solution into ``d``. ``linear_core`` does so by a dense LU, ``linear_interior_point`` by
LAPACK, SuperLU or an iterative method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import copy_to
from stickslip.solvers.core import CONVERGED, LIMIT, MAX_ITERATIONS, MOST, OWN, STALLED, largest_entry
from stickslip.solvers.newton.complementarity import natural_size
from stickslip.solvers.splitting.sweeps import Rows, row_times

SHORTEST = 1e-7
"""A shorter step is no progress."""
AT_BOUND = 1e9
"""Rows with a larger diagonal hardly see the others, and are left out of the matrix."""
SHIFT = 1e-9
"""Added to the diagonal, which is about 1: where solutions are not unique the matrix becomes singular on the way."""
PREDICTOR, CORRECTOR = -2, -1
"""What ``begin`` and ``proceed`` return if a linear system is to be solved; at the end, it is a code of ``core``."""
PHASE, BEST, DONE, SIZE, GAP = range(5)
"""Places in ``Path.number``: which system was asked for, the least residual, iterations done, the size of b, the mean
of s·v and t·x."""


class Path(NamedTuple):
    """A problem in scaled units, the point on the path, and scratch; vectors are (n,)."""

    rows: Rows
    """A (n, n)."""
    K: np.ndarray
    """(n, n) of the core."""
    b: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    scale: np.ndarray
    y: np.ndarray
    v: np.ndarray
    """Multipliers of lower bounds, and x of upper ones; zero where a bound does not exist."""
    x: np.ndarray
    w: np.ndarray
    """A·y + b."""
    best: np.ndarray
    diagonal: np.ndarray
    """v/s + x/t."""
    target_v: np.ndarray
    """What s·v should change by, and ``target_x`` t·x."""
    target_x: np.ndarray
    right: np.ndarray
    d: np.ndarray
    """A direction of y, dv of v, and dx of x."""
    dv: np.ndarray
    dx: np.ndarray
    rest: np.ndarray
    number: np.ndarray
    """(5,) PHASE … GAP."""
    keep: np.ndarray
    pivot: np.ndarray


@kernel
def is_below(path, i):
    """Whether row i has a lower bound that counts; a row whose bounds are equal is fixed, and has none."""
    return path.lower[i] > -np.inf and path.lower[i] < path.upper[i]


@kernel
def is_above(path, i):
    """Whether row i has an upper bound that counts."""
    return path.upper[i] < np.inf and path.lower[i] < path.upper[i]


@kernel
def residual(path, y):
    """‖natural map‖∞ at y in the problem's own units; infinite if it is not a number. Writes ``w``."""
    for i in range(y.shape[0]):
        path.w[i] = path.b[i] + row_times(path.rows, i, y)
    size = natural_size(y, path.w, path.lower, path.upper, path.scale)
    return size if size == size else np.inf


@kernel
def start_point(path):
    """A point as far inside the bounds as b is large, with multipliers of that size."""
    far = path.number[SIZE]
    for i in range(path.y.shape[0]):
        below, above, inside = is_below(path, i), is_above(path, i), far
        if below and above:
            inside = min(far, 0.5 * (path.upper[i] - path.lower[i]))
        path.y[i] = 0.0
        if below or path.lower[i] == path.upper[i]:
            path.y[i] = path.lower[i] + (inside if below else 0.0)
        elif above:
            path.y[i] = path.upper[i] - inside
    residual(path, path.y)
    for i in range(path.y.shape[0]):
        path.v[i] = max(path.w[i], far) if is_below(path, i) else 0.0
        path.x[i] = max(-path.w[i], far) if is_above(path, i) else 0.0


@kernel
def aim(path):
    """The right-hand side for the targets."""
    for i in range(path.y.shape[0]):
        path.right[i] = path.v[i] - path.x[i] - path.w[i]
        if is_below(path, i):
            path.right[i] += path.target_v[i] / (path.y[i] - path.lower[i])
        if is_above(path, i):
            path.right[i] -= path.target_x[i] / (path.upper[i] - path.y[i])


@kernel
def predictor(path):
    """The system of the predictor, τ = 0, at a point whose ``w`` is known; returns a code."""
    gap, pairs = 0.0, 0
    for i in range(path.y.shape[0]):
        path.diagonal[i] = path.target_v[i] = path.target_x[i] = 0.0
        if is_below(path, i):
            s = path.y[i] - path.lower[i]
            if s <= 0.0:  # rounded onto a bound
                return STALLED
            path.diagonal[i], path.target_v[i], pairs = path.v[i] / s, -s * path.v[i], pairs + 1
        if is_above(path, i):
            t = path.upper[i] - path.y[i]
            if t <= 0.0:
                return STALLED
            path.diagonal[i] += path.x[i] / t
            path.target_x[i], pairs = -t * path.x[i], pairs + 1
        gap -= path.target_v[i] + path.target_x[i]
    path.number[GAP], path.number[PHASE] = gap / max(1, pairs), PREDICTOR
    aim(path)
    return PREDICTOR


@kernel
def multipliers(path):
    """dv and dx of the direction d; returns whether d is finite."""
    for i in range(path.y.shape[0]):
        d, path.dv[i], path.dx[i] = path.d[i], 0.0, 0.0
        if is_below(path, i):
            path.dv[i] = (path.target_v[i] - path.v[i] * d) / (path.y[i] - path.lower[i])
        if is_above(path, i):
            path.dx[i] = (path.target_x[i] + path.x[i] * d) / (path.upper[i] - path.y[i])
    return largest_entry(path.d) < np.inf


@kernel
def longest(path, limit):
    """The longest step up to the limit that keeps slacks and multipliers from changing sign."""
    for i in range(path.y.shape[0]):
        d = path.d[i]
        if d < 0.0 and is_below(path, i):
            limit = min(limit, (path.lower[i] - path.y[i]) / d)
        if d > 0.0 and is_above(path, i):
            limit = min(limit, (path.upper[i] - path.y[i]) / d)
        if path.dv[i] < 0.0:
            limit = min(limit, -path.v[i] / path.dv[i])
        if path.dx[i] < 0.0:
            limit = min(limit, -path.x[i] / path.dx[i])
    return limit


@kernel
def corrector(path):
    """The system of the corrector, whose centring depends on how far the predictor could go."""
    length, after, pairs, gap = longest(path, 1.0), 0.0, 0, path.number[GAP]
    for i in range(path.y.shape[0]):
        step = length * path.d[i]
        if is_below(path, i):
            after += (path.y[i] - path.lower[i] + step) * (path.v[i] + length * path.dv[i])
            pairs += 1
        if is_above(path, i):
            after += (path.upper[i] - path.y[i] - step) * (path.x[i] + length * path.dx[i])
            pairs += 1
    centre = min(1.0, max(0.0, after / pairs / gap)) ** 3
    for i in range(path.y.shape[0]):
        if is_below(path, i):
            path.target_v[i] += centre * gap - path.d[i] * path.dv[i]
        if is_above(path, i):
            path.target_x[i] += centre * gap + path.d[i] * path.dx[i]
    aim(path)
    path.number[PHASE] = CORRECTOR


@kernel
def go(path, to_boundary):
    """Take the step; returns False if it is too short."""
    length, gap = 1.0, path.number[GAP]
    if gap > 0.0:
        reach = max(to_boundary, 1.0 - gap / path.number[SIZE] ** 2)
        length = min(1.0, reach * longest(path, 1.0 / reach))
    if length < SHORTEST:
        return False
    for i in range(path.y.shape[0]):
        path.y[i] += length * path.d[i]
        path.v[i] += length * path.dv[i]
        path.x[i] += length * path.dx[i]
    return True


@kernel(inline=False)
def begin(path, history, options):
    """Begin with ``best``, which is the answer if its residual is within the limit; returns a code."""
    number, far = path.number, largest_entry(path.b)
    number[SIZE], number[DONE], number[BEST] = far if far > 0.0 else 1.0, 0.0, residual(path, path.best)
    if history.shape[0] > 0:
        history[0] = number[BEST]
    if number[BEST] <= options[LIMIT]:
        return CONVERGED
    start_point(path)
    return predictor(path)


@kernel(inline=False)
def proceed(path, history, options):
    """What follows the solution of a linear system; returns a code. Without bounds, the predictor is the step."""
    number = path.number
    if not multipliers(path):
        return STALLED
    if number[PHASE] == PREDICTOR and number[GAP] > 0.0:
        corrector(path)
        return CORRECTOR
    if not go(path, options[OWN]):
        return STALLED
    number[DONE] += 1.0
    size = residual(path, path.y)
    if history.shape[0] > 0:
        history[int(number[DONE])] = size
    if size < number[BEST]:
        number[BEST] = size
        copy_to(path.y, path.best)
    if number[BEST] <= options[LIMIT]:
        return CONVERGED
    return predictor(path) if number[DONE] < options[MOST] else MAX_ITERATIONS
