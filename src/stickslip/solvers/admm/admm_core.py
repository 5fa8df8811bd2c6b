"""ADMM on contacts with circular cones as a core: dense, in one compiled call; ``admm`` has the equations.

Own options: α, ρ (0: adaptive) and η. Cost: an inverse, n³, per ρ and n² per iteration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.eigen import Eigenbasis
from stickslip.solvers.admm.cone_admm import (
    BEST,
    DONE,
    GOING,
    LOST,
    RESCALE,
    SHIFT,
    SPEED,
    X,
    Y,
    Z,
    invert,
    iterate,
    multiply,
    natural_residual,
    spectrum,
)
from stickslip.solvers.core import AIM, CONVERGED, COULOMB, LIMIT, MAX_ITERATIONS, MOST, OWN, STALLED

START = 0.3
"""First ρ of a large W, whose spectrum is not computed."""
WAIT, LONGER = 20, 1.5
"""Iterations before the first change of ρ, and the factor on that number after each change."""
RELAXATION, PENALTY, PROXIMAL = OWN, OWN + 1, OWN + 2
"""Places of the core's own options."""


class Scratch(NamedTuple):
    """A problem in scaled units, the state of the iteration, and scratch."""

    W: np.ndarray
    """(n, n) in scaled units, with R."""
    inverse: np.ndarray
    """(n, n) of W + ρ + η."""
    b: np.ndarray
    scale: np.ndarray
    start: np.ndarray
    answer: np.ndarray
    """(n,) the better end of two iterations, and its residual in ``number``."""
    state: np.ndarray
    """(7, n)."""
    none: np.ndarray
    """(3, n) zeros."""
    watch: np.ndarray
    numbers: np.ndarray
    """(4,) what ``iterate`` takes."""
    basis: Eigenbasis


def admm_room(n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole``."""
    rotations = 4 * n * n + 64
    return 2 * n * n + 17 * n + 7 + 2 * rotations, 1 + rotations


@kernel
def carve(real, whole, n):
    """The scratch of a core."""
    square, at, rotations = n * n, 2 * n * n, 4 * n * n + 64
    last = at + 14 * n + 7
    place = last + 3 * n
    return Scratch(
        real[:square].reshape(n, n), real[square:at].reshape(n, n), real[at : at + n], real[at + n : at + 2 * n],
        real[at + 2 * n : at + 3 * n], real[at + 3 * n : at + 4 * n], real[at + 4 * n : at + 11 * n].reshape(7, n),
        real[at + 11 * n : at + 14 * n].reshape(3, n), real[at + 14 * n : at + 14 * n + 3],
        real[at + 14 * n + 3 : last],
        Eigenbasis(
            real[last : last + n], real[last + n : last + 2 * n], real[last + 2 * n : place],
            whole[1 : 1 + rotations], real[place : place + rotations], real[place + rotations : place + 2 * rotations],
        ),
    )  # fmt: skip


@kernel
def scale_problem(W, R, b, s):
    """W + R and b in units in which the mean diagonal of each contact's block is 1."""
    n = b.shape[0]
    for c in range(n // 3):
        i = 3 * c
        mean = (W[i, i] + R[i] + W[i + 1, i + 1] + R[i + 1] + W[i + 2, i + 2] + R[i + 2]) / 3.0
        d = 1.0 / mean**0.5 if mean > 0.0 else 1.0
        s.scale[i] = s.scale[i + 1] = s.scale[i + 2] = d
    for i in range(n):
        s.b[i] = s.scale[i] * b[i]
        for j in range(n):
            s.W[i, j] = s.scale[i] * W[i, j] * s.scale[j]
        s.W[i, i] += s.scale[i] * R[i] * s.scale[i]


@kernel(inline=False)
def first_penalty(s):
    """√(λ_max·λ_min) of W, or ``START`` if its eigenvalues are not found."""
    n = s.b.shape[0]
    for i in range(n):
        for j in range(n):
            s.inverse[i, j] = s.W[i, j]
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


@kernel
def prepare(s, penalty, proximal):
    """The inverse of W + ρ + η, symmetric."""
    n = s.b.shape[0]
    for i in range(n):
        for j in range(n):
            s.inverse[i, j] = s.W[i, j]
        s.inverse[i, i] += penalty + proximal
    invert(s.inverse)
    for i in range(n):
        for j in range(i):
            s.inverse[i, j] = s.inverse[j, i] = 0.5 * (s.inverse[i, j] + s.inverse[j, i])


@kernel(inline=False)
def from_start(s, friction, history, options, first, coulomb):
    """Iterate from ``start``, beginning with iteration ``first`` + 1; returns (code, iterations done, residual) with
    the answer in ``state[BEST]``."""
    n, most, state = s.b.shape[0], int(options[MOST]), s.state
    for i in range(n):
        state[X, i] = state[Z, i] = state[BEST, i] = s.start[i] / s.scale[i]
        state[SHIFT, i] = 0.0
    multiply(s.W, state[Z], state[SPEED])
    size = natural_residual(s.b, friction, s.scale, state, coulomb)
    if history.shape[0] > 0 and first == 0:
        history[0] = size
    limit = AIM * options[LIMIT]
    if size <= limit:
        return DONE, first, size
    penalty = options[PENALTY] if options[PENALTY] > 0.0 else first_penalty(s)
    for c in range(friction.shape[0]):
        if coulomb:
            state[SHIFT, 3 * c] = friction[c] * (state[SPEED, 3 * c + 1] ** 2 + state[SPEED, 3 * c + 2] ** 2) ** 0.5
    for i in range(n):
        state[Y, i] = -(state[SPEED, i] + state[SHIFT, i]) / penalty
    s.watch[0], s.watch[1], s.watch[2] = size, size, first
    s.numbers[0], s.numbers[1], s.numbers[2] = options[RELAXATION], options[PROXIMAL], limit
    s.numbers[3] = 0.0 if options[PENALTY] > 0.0 else 1.0
    code, done, wait = RESCALE, first, WAIT
    while code == RESCALE:
        prepare(s, penalty, options[PROXIMAL])
        code, done, size, factor = iterate(
            s.inverse, s.W, s.b, friction, s.scale, state, s.watch, history, penalty, s.numbers, coulomb, done, most,
            wait,
        )  # fmt: skip
        penalty *= factor
        for i in range(n):
            state[Y, i] /= factor
        wait = int(LONGER * wait)
    if code == DONE:
        for i in range(n):
            state[BEST, i] = state[Z, i]
        return code, done, size
    return code, done, s.watch[0]


@kernel(inline=False)
def admm_contacts(W, data, indices, indptr, R, b, friction, p, real, whole, history, options):
    """The core; see ``solvers.core`` for its arguments."""
    n, coulomb, cold = b.shape[0], options[COULOMB] != 0.0, True
    s = carve(real, whole, n)
    scale_problem(W, R, b, s)
    for i in range(n):
        s.start[i] = p[i]
        cold = cold and p[i] == 0.0
    code, done, size = from_start(s, friction, history, options, 0, coulomb)
    for i in range(n):
        p[i] = s.scale[i] * s.state[BEST, i]
    if code == LOST and not cold and done < options[MOST]:  # anew from zero with the iterations that are left
        for i in range(n):
            s.start[i] = 0.0
        code, done, again = from_start(s, friction, history, options, done, coulomb)
        if again < size:
            for i in range(n):
                p[i] = s.scale[i] * s.state[BEST, i]
    whole[0] = done
    if code == GOING:
        return MAX_ITERATIONS
    return CONVERGED if code == DONE else STALLED
