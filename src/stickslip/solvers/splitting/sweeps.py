"""The loop of splitting methods on LCP and mixed LCP: sweeps by rows or by blocks of a dense or CSR matrix.

A splitting method improves one block of z at a time, given all others, A_bb·z_b + (b_b + Σ A_bj·z_j over j outside),
with the bounds. One sweep costs as many multiply-adds as A has stored entries, and so does the residual, which is
computed after every sweep if a history is wanted, else after every ``CHECK``-th, and where a sweep by blocks finds all
rows within the limit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import dot, symmetric_product
from stickslip.solvers.problem import LinearProblem
from stickslip.solvers.splitting.block_lcp import SOLVED, solve_block

CHECK = 8
"""Number of sweeps between two computations of the residual."""

RUNNING, CONVERGED, STALLED, DIVERGED = 0, 1, 2, 3
STEP, LIMIT, BEST, LAST, MARK, SINCE, MOST = 0, 1, 2, 3, 4, 5, 6
"""Places in ``Watch.real``: relaxation; residuals (limit, least, last, least at sweep SINCE); SINCE; largest
relaxation."""


class Rows(NamedTuple):
    """A matrix by rows: dense, or CSR with ``dense`` of shape (0, 0)."""

    dense: np.ndarray
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


class Box(NamedTuple):
    """b and the bounds, (n,) each."""

    b: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class Blocks(NamedTuple):
    """The blocks of a problem with their own matrices."""

    start: np.ndarray
    """(nb+1,) where a block's members begin."""
    member: np.ndarray
    """(n,) variables, block after block."""
    place: np.ndarray
    """(nb+1,) where a block's own matrix begins."""
    matrix: np.ndarray
    """(Σ m²,) A_bb, block after block."""
    guess: np.ndarray
    """(n,) a block's last solution, whose positive entries are likely to be those of the next."""


class Watch(NamedTuple):
    """State by which the iteration adapts its relaxation and decides when it ends."""

    real: np.ndarray
    """(7,) numbers named by STEP … MOST."""
    best: np.ndarray
    """(n,) z with the least residual."""
    history: np.ndarray
    """(iterations + 1,) or (0,)."""


def rows_of(A: Any) -> Rows:
    """A view of a dense array or a CSR array."""
    if isinstance(A, np.ndarray):
        return Rows(A, np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
    indices, indptr = (np.ascontiguousarray(part, np.int64) for part in (A.indices, A.indptr))
    return Rows(np.empty((0, 0)), A.data, indices, indptr)


def blocks_of(problem: LinearProblem) -> Blocks:
    """The problem's blocks with their own matrices."""
    sizes = np.array([len(block) for block in problem.blocks])
    member = np.ascontiguousarray(np.concatenate(problem.blocks), dtype=np.int64)
    blocks = Blocks(
        np.r_[0, np.cumsum(sizes)].astype(np.int64),
        member,
        np.r_[0, np.cumsum(sizes**2)].astype(np.int64),
        np.zeros(int(np.sum(sizes**2))),
        np.zeros(problem.n),
    )
    gather(rows_of(problem.A), blocks, np.full(problem.n, -1, np.int64))
    return blocks


@kernel
def gather(rows, blocks, local):
    """Fill ``blocks.matrix``; local (n,) is scratch, −1 before and after."""
    for k in range(blocks.start.shape[0] - 1):
        first, m = blocks.start[k], blocks.start[k + 1] - blocks.start[k]
        for a in range(m):
            local[blocks.member[first + a]] = a
        for a in range(m):
            i, place = blocks.member[first + a], blocks.place[k] + a * m
            if rows.dense.shape[0] > 0:
                for c in range(m):
                    blocks.matrix[place + c] = rows.dense[i, blocks.member[first + c]]
            else:
                for e in range(rows.indptr[i], rows.indptr[i + 1]):
                    if local[rows.indices[e]] >= 0:
                        blocks.matrix[place + local[rows.indices[e]]] += rows.data[e]
        for a in range(m):
            local[blocks.member[first + a]] = -1


@kernel
def row_times(rows, i, z):
    """Row i of the matrix times z."""
    if rows.dense.shape[0] > 0:
        return dot(rows.dense[i], z)
    total = 0.0
    for e in range(rows.indptr[i], rows.indptr[i + 1]):
        total += rows.data[e] * z[rows.indices[e]]
    return total


@kernel
def times(rows, x, out):
    """out = the matrix, which is symmetric, times x."""
    if rows.dense.shape[0] > 0:
        symmetric_product(rows.dense, x, out)
    else:
        for i in range(x.shape[0]):
            out[i] = row_times(rows, i, x)


@kernel
def residual(rows, box, z):
    """‖z − mid(lower, z − w, upper)‖∞, NaN if anything is."""
    largest = 0.0
    for i in range(z.shape[0]):
        w = box.b[i] + row_times(rows, i, z)
        size = abs(z[i] - min(max(z[i] - w, box.lower[i]), box.upper[i]))
        if not size <= largest:
            largest = size
    return largest


@kernel
def look(size, z, watch, done, patience, adaptive):
    """Record sweep ``done``, whose residual is ``size``, and decide whether to go on; returns a code.

    An adaptive relaxation shrinks where the residual has grown, yet never to nothing, because the residual may have to
    grow for a while. If the residual is far above the best one, the iteration returns to the best point with half the
    relaxation. If nothing is gained for long, the relaxation is halved too, before the iteration counts as stalled.
    """
    real = watch.real
    if watch.history.shape[0] > 0:
        watch.history[done] = size
    if size < real[BEST]:
        real[BEST] = size
        for i in range(z.shape[0]):
            watch.best[i] = z[i]
    if size <= real[LIMIT]:
        return CONVERGED
    if adaptive:
        if size > real[LAST] and size > 1.5 * real[BEST]:
            real[STEP] = max(0.8 * real[STEP], 0.02 * real[MOST])
        else:
            real[STEP] = min(1.05 * real[STEP], real[MOST])
    real[LAST] = size
    if not size <= 1e3 * real[BEST]:
        if not adaptive or real[MOST] < 1e-3:
            return DIVERGED
        real[MOST] *= 0.5
        real[STEP] = min(real[STEP], real[MOST])
        for i in range(z.shape[0]):
            z[i] = watch.best[i]
        real[LAST] = real[BEST]
    if done - real[SINCE] >= patience:
        if real[BEST] > 0.999 * real[MARK]:
            if not adaptive or real[MOST] < 0.05:
                return STALLED
            real[MOST] *= 0.5
            real[STEP] = min(real[STEP], real[MOST])
        real[MARK], real[SINCE] = real[BEST], done
    return RUNNING


@kernel
def end_sweep(rows, box, z, out, watch, done, limit, patience, adaptive, seen):
    """Copy ``out`` to z and compute the residual if that is due, or if ``seen``, the largest residual of rows that the
    sweep came across, is within the limit; returns a code."""
    for i in range(z.shape[0]):
        z[i] = out[i]
    due = watch.history.shape[0] > 0 or done % CHECK == 0 or done == limit or seen <= watch.real[LIMIT]
    return look(residual(rows, box, z), z, watch, done, patience, adaptive) if due else RUNNING


@kernel
def iterate_rows(rows, box, diagonal, z, out, watch, limit, patience, adaptive):
    """Do at most ``limit`` sweeps by rows, out_i = mid(lower_i, z_i − step·w_i/A_ii, upper_i); ``out`` is z itself or
    not. Returns (code, sweeps done)."""
    for done in range(1, limit + 1):
        step = watch.real[STEP]
        for i in range(z.shape[0]):
            w = box.b[i] + row_times(rows, i, z)
            out[i] = min(max(z[i] - step * w / diagonal[i], box.lower[i]), box.upper[i])
        code = end_sweep(rows, box, z, out, watch, done, limit, patience, adaptive, np.inf)
        if code != RUNNING:
            return code, done
    return RUNNING, limit


@kernel
def look_at_block(rows, box, blocks, k, first, z, work):
    """Write block k's problem, given the other blocks, and the guess of its solution into ``work``; returns its natural
    residual. Of the ``first`` guess, z itself, entries without a diagonal (slip) count only where they exceed w."""
    begin, m = blocks.start[k], blocks.start[k + 1] - blocks.start[k]
    member, largest = blocks.member[begin : begin + m], 0.0
    for a in range(m):
        i, own = member[a], blocks.matrix[blocks.place[k] + a * m : blocks.place[k] + (a + 1) * m]
        w = box.b[i] + row_times(rows, i, z)
        largest = max(largest, abs(z[i] - min(max(z[i] - w, box.lower[i]), box.upper[i])))
        if first:
            blocks.guess[i] = z[i] if own[a] > 0.0 or z[i] > w else 0.0
        for c in range(m):
            w -= own[c] * z[member[c]]
        work.q[a], work.lower[a], work.upper[a], work.z[a] = w, box.lower[i], box.upper[i], blocks.guess[i]
    return largest


@kernel
def iterate_blocks(rows, box, blocks, z, out, watch, work, limit, patience, adaptive):
    """Do at most ``limit`` sweeps by blocks, out_b = z_b + step·(block b's solution − z_b); a block without solution
    stays as it is, and so does one whose own natural residual is a hundredth of the limit; ``out`` is z itself or not.
    Returns (code, sweeps done)."""
    for done in range(1, limit + 1):
        step, seen = watch.real[STEP], 0.0
        for k in range(blocks.start.shape[0] - 1):
            size = look_at_block(rows, box, blocks, k, done == 1, z, work)
            seen = max(seen, size)
            member = blocks.member[blocks.start[k] : blocks.start[k + 1]]
            m = member.shape[0]
            A = blocks.matrix[blocks.place[k] : blocks.place[k + 1]].reshape(m, m)
            moves = size > 0.01 * watch.real[LIMIT] and solve_block(A, work) == SOLVED
            for a in range(m):
                i = member[a]
                if moves:
                    blocks.guess[i] = work.z[a]
                    out[i] = min(max(z[i] + step * (work.z[a] - z[i]), box.lower[i]), box.upper[i])
                else:
                    out[i] = z[i]
        code = end_sweep(rows, box, z, out, watch, done, limit, patience, adaptive, seen)
        if code != RUNNING:
            return code, done
    return RUNNING, limit
