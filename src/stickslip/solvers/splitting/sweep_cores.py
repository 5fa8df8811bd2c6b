"""Gauss–Seidel, Jacobi and fixed-point iterations as cores, over the loops of ``cone_sweeps``, ``sweeps`` and ``prox``.

The cores for contacts take dense and CSR matrices, those for LCPs dense ones. Own options: the relaxation (0:
adaptive), the patience, the largest relaxation or the depth of the acceleration, and whether a sweep is in place.
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import copy_to
from stickslip.solvers import core as codes
from stickslip.solvers.core import COULOMB, LIMIT, MOST, OWN
from stickslip.solvers.splitting.block_lcp import BlockWork
from stickslip.solvers.splitting.cone_sweeps import BEST, Contacts, Memory, iterate
from stickslip.solvers.splitting.prox import friction_residual, iterate_contacts
from stickslip.solvers.splitting.sweeps import (
    CONVERGED,
    RUNNING,
    STALLED,
    Blocks,
    Box,
    Rows,
    Watch,
    gather,
    iterate_blocks,
    iterate_rows,
    residual,
)

RELAXATION, PATIENCE, STEP, DEPTH, IN_PLACE, BRIEF = OWN, OWN + 1, OWN + 2, OWN + 2, OWN + 3, OWN + 3
"""Places of the cores' own options."""


@kernel
def ended(code, done, most):
    """A loop's code as that of a core; a method that stalls in its very last sweep has met its limit."""
    if code == CONVERGED:
        return codes.CONVERGED
    return codes.MAX_ITERATIONS if code == RUNNING or (code == STALLED and done >= most) else codes.STALLED


@kernel
def entry(rows, i, j):
    """Entry (i, j) of a matrix."""
    if rows.dense.shape[0] > 0:
        return rows.dense[i, j]
    for e in range(rows.indptr[i], rows.indptr[i + 1]):
        if rows.indices[e] == j:
            return rows.data[e]
    return 0.0


@kernel
def own_blocks(rows, contacts):
    """Upper triangles of each contact's block of W + R, and the roots of its diagonal."""
    for c in range(contacts.friction.shape[0]):
        i, own = 3 * c, contacts.own[c]
        own[0], own[1], own[2] = entry(rows, i, i) + contacts.R[i], entry(rows, i, i + 1), entry(rows, i, i + 2)
        own[3], own[4] = entry(rows, i + 1, i + 1) + contacts.R[i + 1], entry(rows, i + 1, i + 2)
        own[5] = entry(rows, i + 2, i + 2) + contacts.R[i + 2]
        contacts.weight[i], contacts.weight[i + 1] = max(own[0], 0.0) ** 0.5, max(own[3], 0.0) ** 0.5
        contacts.weight[i + 2] = max(own[5], 0.0) ** 0.5


def pgs_room(depth: int, n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole`` for an acceleration that remembers ``depth`` sweeps."""
    return 3 * depth * n + 2 * depth**2 + depth + 10 * n, 1


@kernel(inline=False)
def pgs_contacts(W, data, indices, indptr, R, b, friction, p, real, whole, history, options):
    """Gauss–Seidel on contacts with circular cones; see ``solvers.core`` for the arguments."""
    n, nc, m = b.shape[0], friction.shape[0], int(options[DEPTH])
    past, squares = m * n, 3 * m * n
    at = squares + 2 * m * m + m
    memory = Memory(
        real[:past].reshape(m, n), real[past : 2 * past].reshape(m, n), real[2 * past : squares].reshape(m, n),
        real[squares : squares + m * m].reshape(m, m), real[squares + m * m : squares + 2 * m * m].reshape(m, m),
        real[squares + 2 * m * m : at], real[at : at + 6 * n].reshape(6, n),
    )  # fmt: skip
    rows = Rows(W, data, indices, indptr)
    at += 6 * n
    contacts = Contacts(real[at : at + 6 * nc].reshape(nc, 6), R, real[at + 2 * n : at + 3 * n], b, friction)
    own_blocks(rows, contacts)
    most = int(options[MOST])
    code, done = iterate(
        rows, contacts, memory, p, real[at + 3 * n : at + 4 * n], history, options[LIMIT], most,
        int(options[PATIENCE]), options[RELAXATION], options[COULOMB] != 0.0, options[BRIEF] != 0.0,
    )  # fmt: skip
    copy_to(memory.last[BEST], p)
    whole[0] = done
    return ended(code, done, most)


@kernel
def begin_watch(watch, z, first, limit, step):
    """The state before the first sweep, at residual ``first``."""
    copy_to(z, watch.best)
    real = watch.real
    real[0], real[1], real[2], real[3], real[4], real[5], real[6] = step, limit, first, first, first, 0.0, step
    if watch.history.shape[0] > 0:
        watch.history[0] = first


@kernel
def row_sum(rows, i, n):
    """Σ |entries| of a row."""
    total = 0.0
    if rows.dense.shape[0] > 0:
        for j in range(n):
            total += abs(rows.dense[i, j])
    else:
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            total += abs(rows.data[e])
    return total


@kernel
def row_sizes(rows, in_place, size):
    """1/r of every row: its diagonal in Gauss–Seidel order, Σ |entries| in Jacobi order or without a diagonal."""
    for i in range(size.shape[0]):
        own = entry(rows, i, i)
        if not (in_place and own > 0.0):
            own = row_sum(rows, i, size.shape[0])
        size[i] = own if own > 0.0 else 1.0


def prox_room(n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole``."""
    return 5 * n + 7, 1


@kernel(inline=False)
def prox_contacts(W, data, indices, indptr, R, b, friction, p, real, whole, history, options):
    """The fixed-point iteration on contacts by Coulomb's law; see ``solvers.core`` for the arguments."""
    n, most, in_place = b.shape[0], int(options[MOST]), options[IN_PLACE] != 0.0
    rows, r, out = Rows(W, data, indices, indptr), real[7 + n : 7 + 2 * n], real[7 + 2 * n : 7 + 3 * n]
    watch = Watch(real[:7], real[7 : 7 + n], history)
    row_sizes(rows, in_place, r)
    for c in range(friction.shape[0]):
        i = 3 * c
        r[i], r[i + 1] = 1.0 / r[i], 1.0 / max(r[i + 1], r[i + 2])
        r[i + 2] = r[i + 1]
    first = friction_residual(rows, b, friction, p)
    step = options[RELAXATION] if options[RELAXATION] > 0.0 else 1.0
    begin_watch(watch, p, first, options[LIMIT], step)
    whole[0] = 0
    if first <= options[LIMIT]:
        return codes.CONVERGED
    copy_to(p, out)
    code, done = iterate_contacts(
        rows, b, friction, r, p, p if in_place else out, watch, most, int(options[PATIENCE]),
        options[RELAXATION] <= 0.0,
    )  # fmt: skip
    copy_to(watch.best, p)
    whole[0] = done
    return ended(code, done, most)


@kernel
def begin_lcp(rows, box, watch, z, limit, step):
    """Set the bounds, put z inside them, and begin; returns the residual."""
    for i in range(z.shape[0]):
        box.lower[i], box.upper[i], z[i] = 0.0, np.inf, max(0.0, z[i])
    first = residual(rows, box, z)
    begin_watch(watch, z, first, limit, step)
    return first


@kernel(inline=False)
def prox_lcp(A, b, start, member, z, real, whole, history, options):
    """The fixed-point iteration on the rows of an LCP; see ``solvers.core`` for the arguments."""
    n, most, in_place = b.shape[0], int(options[MOST]), options[IN_PLACE] != 0.0
    rows, box = Rows(A, real[:0], whole[:0], whole[:0]), Box(b, real[7 + n : 7 + 2 * n], real[7 + 2 * n : 7 + 3 * n])
    watch, size, out = Watch(real[:7], real[7 : 7 + n], history), real[7 + 3 * n : 7 + 4 * n], real[7 + 4 * n :]
    row_sizes(rows, in_place, size)
    step = options[RELAXATION] if options[RELAXATION] > 0.0 else 1.0
    whole[0] = 0
    if begin_lcp(rows, box, watch, z, options[LIMIT], step) <= options[LIMIT]:
        return codes.CONVERGED
    copy_to(z, out)
    code, done = iterate_rows(
        rows, box, size, z, z if in_place else out, watch, most, int(options[PATIENCE]), options[RELAXATION] <= 0.0
    )
    copy_to(watch.best, z)
    whole[0] = done
    return ended(code, done, most)


def blocks_room(n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole``."""
    return 7 + 5 * n + n * n + n * (n + 2) + 6 * n, 3 + 7 * n


@kernel(inline=False)
def sweep_blocks(A, b, start, member, z, real, whole, history, options):
    """Gauss–Seidel or Jacobi sweeps over the blocks of an LCP; see ``solvers.core`` for the arguments."""
    n, most, in_place, nb = b.shape[0], int(options[MOST]), options[IN_PLACE] != 0.0, start.shape[0] - 1
    rows, box = Rows(A, real[:0], whole[:0], whole[:0]), Box(b, real[7 + n : 7 + 2 * n], real[7 + 2 * n : 7 + 3 * n])
    watch, out, at = Watch(real[:7], real[7 : 7 + n], history), real[7 + 3 * n : 7 + 4 * n], 7 + 5 * n
    largest, local, place = 0, whole[1 : 1 + n], whole[1 + n : 2 + n + nb]
    place[0] = 0
    for k in range(nb):
        size = start[k + 1] - start[k]
        largest, place[k + 1] = max(largest, size), place[k] + size * size
    for i in range(n):
        local[i] = -1
    blocks = Blocks(start, member, place, real[at : at + place[nb]], real[7 + 4 * n : at])
    at += n * n
    table, k, ints = largest * (largest + 2), largest, 2 + 2 * n
    work = BlockWork(
        real[at : at + table].reshape(k, k + 2), whole[ints : ints + k], whole[ints + n : ints + n + k + 1],
        whole[ints + 2 * n + 1 : ints + 2 * n + 1 + k], whole[ints + 3 * n + 1 : ints + 3 * n + 1 + k],
        whole[ints + 4 * n + 1 : ints + 4 * n + 1 + k], real[at + table : at + table + k],
        real[at + table + k : at + table + 2 * k], real[at + table + 2 * k : at + table + 3 * k],
        real[at + table + 3 * k : at + table + 4 * k], real[at + table + 4 * k : at + table + 5 * k],
        real[at + table + 5 * k : at + table + 6 * k],
    )  # fmt: skip
    step = options[RELAXATION] if options[RELAXATION] > 0.0 else options[STEP]
    whole[0] = 0
    if begin_lcp(rows, box, watch, z, options[LIMIT], step) <= options[LIMIT]:
        return codes.CONVERGED
    gather(rows, blocks, local)
    copy_to(z, out)
    code, done = iterate_blocks(
        rows, box, blocks, z, z if in_place else out, watch, work, most, int(options[PATIENCE]),
        options[RELAXATION] <= 0.0,
    )  # fmt: skip
    copy_to(watch.best, z)
    whole[0] = done
    return ended(code, done, most)
