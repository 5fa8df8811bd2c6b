"""ADMM on contacts with circular cones, step by step, and as a core; ``admm`` has the equations.

``begin`` and ``proceed`` hold all of the iteration but its linear systems. They return FACTOR where the caller has to
factorise W + ρ + η, SOLVE where the factor of the last time will do, with the right-hand side in ``state[RIGHT]``; the
caller puts the solution into ``state[X]``. The core does so by an inverse, ``admm`` for large and sparse matrices by
LAPACK or SuperLU. Own options: α, ρ (0: adaptive) and η. Cost of the core: n³ per ρ and n² per iteration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.eigen import Eigenbasis
from stickslip.math.linear import copy_to, symmetric_product
from stickslip.solvers.admm.cone_admm import (
    BEST,
    RIGHT,
    SHIFT,
    SPEED,
    X,
    Y,
    Z,
    imbalance,
    invert,
    judge,
    natural_residual,
    project_and_update,
    right_side,
    spectrum,
)
from stickslip.solvers.core import AIM, CONVERGED, COULOMB, LIMIT, MAX_ITERATIONS, MOST, OWN, STALLED, largest_entry
from stickslip.solvers.splitting.sweeps import Rows, times

START = 0.3
"""First ρ of a large W, whose spectrum is not computed."""
WAIT, LONGER = 20, 1.5
"""Iterations before the first change of ρ, and the factor on that number after each change."""
CHECK = 5
"""Iterations between two computations of the residual."""
RELAXATION, PENALTY, PROXIMAL = OWN, OWN + 1, OWN + 2
"""Places of the core's own options."""
FACTOR, SOLVE = -2, -1
"""What ``begin`` and ``proceed`` return while the iteration goes on; at its end they return a code of ``core``."""
RHO, DONE, PAUSE, SINCE, KEPT = range(5)
"""Places in ``Scratch.number``: ρ, iterations done, iterations between changes of ρ, iteration of the last change, the
residual of ``kept``, infinite before a new start."""


class Scratch(NamedTuple):
    """A problem in scaled units, the state of the iteration, and scratch."""

    rows: Rows
    """(n, n) W in scaled units, with R."""
    inverse: np.ndarray
    """(n, n) of W + ρ + η, of the core, and scratch of the spectrum."""
    b: np.ndarray
    scale: np.ndarray
    start: np.ndarray
    """(n,) in scaled units, and so is ``kept``, the end of an iteration that stalled before a new start."""
    kept: np.ndarray
    state: np.ndarray
    """(7, n)."""
    none: np.ndarray
    """(3, n) zeros."""
    watch: np.ndarray
    number: np.ndarray
    """(5,) RHO … KEPT."""
    basis: Eigenbasis
    """Empty if the spectrum is not wanted."""


def admm_room(n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole``."""
    rotations = 4 * n * n + 64
    return 2 * n * n + 17 * n + 8 + 2 * rotations, 1 + rotations


@kernel
def carve(real, whole, n):
    """The scratch of a core."""
    square, at, rotations = n * n, 2 * n * n, 4 * n * n + 64
    last = at + 14 * n + 8
    place = last + 3 * n
    return Scratch(
        Rows(real[:square].reshape(n, n), real[:0], whole[:0], whole[:0]), real[square:at].reshape(n, n),
        real[at : at + n], real[at + n : at + 2 * n], real[at + 2 * n : at + 3 * n], real[at + 3 * n : at + 4 * n],
        real[at + 4 * n : at + 11 * n].reshape(7, n), real[at + 11 * n : at + 14 * n].reshape(3, n),
        real[at + 14 * n : at + 14 * n + 3], real[at + 14 * n + 3 : last],
        Eigenbasis(
            real[last : last + n], real[last + n : last + 2 * n], real[last + 2 * n : place],
            whole[1 : 1 + rotations], real[place : place + rotations], real[place + rotations : place + 2 * rotations],
        ),
    )  # fmt: skip


@kernel
def scale_problem(W, R, b, s):
    """W + R and b in units in which the mean diagonal of each contact's block is 1."""
    n, A = b.shape[0], s.rows.dense
    for c in range(n // 3):
        i = 3 * c
        mean = (W[i, i] + R[i] + W[i + 1, i + 1] + R[i + 1] + W[i + 2, i + 2] + R[i + 2]) / 3.0
        d = 1.0 / mean**0.5 if mean > 0.0 else 1.0
        s.scale[i] = s.scale[i + 1] = s.scale[i + 2] = d
    for i in range(n):
        s.b[i] = s.scale[i] * b[i]
        for j in range(n):
            A[i, j] = s.scale[i] * W[i, j] * s.scale[j]
        A[i, i] += s.scale[i] * R[i] * s.scale[i]


@kernel(inline=False)
def first_penalty(s):
    """√(λ_max·λ_min) of W, or ``START`` if its eigenvalues are not wanted or not found."""
    n = s.b.shape[0]
    if s.basis.value.shape[0] == 0:
        return START
    for i in range(n):
        copy_to(s.rows.dense[i], s.inverse[i])
        s.none[0, i] = s.none[1, i] = s.none[2, i] = 0.0
    if not spectrum(s.inverse, s.basis, s.none):
        return START
    largest, least = 0.0, np.inf
    for i in range(n):
        largest = max(largest, s.basis.value[i])
    if largest <= 0.0:
        return 1.0
    for i in range(n):
        if s.basis.value[i] > 1e-10 * largest:
            least = min(least, s.basis.value[i])
    return (largest * max(least, 1e-8 * largest)) ** 0.5


@kernel(inline=False)
def begin(s, friction, history, options):
    """Begin from ``start``, after iteration ``number[DONE]``; returns FACTOR, or CONVERGED if nothing is to do."""
    state, number, coulomb = s.state, s.number, options[COULOMB] != 0.0
    for i in range(s.b.shape[0]):
        state[X, i] = state[Z, i] = state[BEST, i] = s.start[i]
        state[SHIFT, i] = 0.0
    times(s.rows, state[Z], state[SPEED])
    size = natural_residual(s.b, friction, s.scale, state, coulomb)
    s.watch[0], s.watch[1], s.watch[2] = size, size, number[DONE]
    if history.shape[0] > 0 and number[DONE] == 0.0:
        history[0] = size
    if size <= AIM * options[LIMIT]:
        return CONVERGED
    rho = options[PENALTY] if options[PENALTY] > 0.0 else first_penalty(s)
    for c in range(friction.shape[0]):
        if coulomb:
            state[SHIFT, 3 * c] = friction[c] * (state[SPEED, 3 * c + 1] ** 2 + state[SPEED, 3 * c + 2] ** 2) ** 0.5
    for i in range(s.b.shape[0]):  # so that a start that is a solution stays as it is
        state[Y, i] = -(state[SPEED, i] + state[SHIFT, i]) / rho
    number[RHO], number[PAUSE], number[SINCE] = rho, WAIT, number[DONE]
    right_side(s.b, state, rho, options[PROXIMAL])
    return FACTOR


@kernel
def begin_anew(s, friction, history, options):
    """After a standstill: begin from zero, once, unless this was a start from zero; returns a code."""
    number = s.number
    if number[KEPT] < np.inf or largest_entry(s.start) == 0.0 or number[DONE] >= options[MOST]:
        return STALLED
    number[KEPT] = s.watch[0]
    copy_to(s.state[BEST], s.kept)
    for i in range(s.b.shape[0]):
        s.start[i] = 0.0
    return begin(s, friction, history, options)


@kernel(inline=False)
def proceed(s, friction, history, options):
    """The rest of an iteration, with the solution of its linear system in ``state[X]``; returns a code."""
    state, number, coulomb = s.state, s.number, options[COULOMB] != 0.0
    rho = number[RHO]
    primal, dual = project_and_update(friction, state, rho, options[RELAXATION], coulomb)
    number[DONE] += 1.0
    done, last = int(number[DONE]), int(options[MOST])
    if history.shape[0] > 0 or done % CHECK == 0 or done == last:
        times(s.rows, state[Z], state[SPEED])
        size = natural_residual(s.b, friction, s.scale, state, coulomb)
        if history.shape[0] > 0:
            history[done] = size
        goes_on = judge(size, state, s.watch, done)
        if size <= AIM * options[LIMIT]:
            return CONVERGED
        if not goes_on:
            return begin_anew(s, friction, history, options)
    if done == last:
        return MAX_ITERATIONS
    code = SOLVE
    if options[PENALTY] <= 0.0 and done - number[SINCE] >= number[PAUSE]:
        factor = imbalance(s.b, state, primal, dual)
        if factor > 5.0 or factor < 0.2:
            rho *= factor
            for i in range(s.b.shape[0]):
                state[Y, i] /= factor
            number[RHO], number[PAUSE], number[SINCE], code = rho, int(LONGER * number[PAUSE]), done, FACTOR
    right_side(s.b, state, rho, options[PROXIMAL])
    return code


@kernel
def prepare(s, shift):
    """The inverse of W + shift, symmetric."""
    n = s.b.shape[0]
    for i in range(n):
        copy_to(s.rows.dense[i], s.inverse[i])
        s.inverse[i, i] += shift
    invert(s.inverse)
    for i in range(n):
        for j in range(i):
            s.inverse[i, j] = s.inverse[j, i] = 0.5 * (s.inverse[i, j] + s.inverse[j, i])


@kernel
def finish(s, p):
    """The better end of the iterations as impulses p."""
    best = s.kept if s.number[KEPT] <= s.watch[0] else s.state[BEST]
    for i in range(p.shape[0]):
        p[i] = s.scale[i] * best[i]


@kernel(inline=False)
def admm_contacts(W, data, indices, indptr, R, b, friction, p, real, whole, history, options):
    """The core; see ``solvers.core`` for its arguments."""
    n = b.shape[0]
    s = carve(real, whole, n)
    scale_problem(W, R, b, s)
    for i in range(n):
        s.start[i] = p[i] / s.scale[i]
    s.number[DONE], s.number[KEPT] = 0.0, np.inf
    code = begin(s, friction, history, options)
    while code < 0:
        if code == FACTOR:
            prepare(s, s.number[RHO] + options[PROXIMAL])
        symmetric_product(s.inverse, s.state[RIGHT], s.state[X])
        code = proceed(s, friction, history, options)
    finish(s, p)
    whole[0] = int(s.number[DONE])
    return code
