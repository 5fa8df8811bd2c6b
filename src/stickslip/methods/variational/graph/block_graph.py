"""The graph of bodies and joints as the pattern of a block matrix, factored symbolically: once per graph.

    A = [ D_a  A_ab ]      one node per body (6 rows) and per joint (its rows); a block pair [a, b], [b, a] per edge
        [ A_ba D_b  ]

Eliminating node k adds −A_ik·D_k⁻¹·A_kj to every block [i, j] of its later neighbours i, j; new blocks are *fill-in*.
``symbolic`` chooses the order (``elimination_order``: depth first, or minimum degree if that costs less), finds the
pattern of the factors and assigns every block its position in one flat array of values, row by row. Blocks are stored
in the order of elimination: D_k, then [k, i] and [i, k] of all its later neighbours i. Cost: linear in the size of the
factors.

Reference: Brüdigam et al., "Linear-time contact and friction dynamics in maximal coordinates using variational
integrators", Sec. III-B; the pattern by rows of the elimination tree: Davis, *Direct Methods for Sparse Linear Systems*
(2006), ch. 4.
Differs from the paper in: contacts are eliminated beforehand, inside the blocks of their bodies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.errors import expected
from stickslip.methods.variational.graph.elimination_order import BODY, JOINT, adjacency, depth_first, minimum_degree

LARGEST = 1 << 14
"""Largest number of nodes for which minimum degree is tried; its bit matrix then takes 32 MiB."""


class Symbolic(NamedTuple):
    """Layout of the matrix, as kernels see it. Nodes are numbered as given, positions in the order of elimination."""

    order: np.ndarray
    """(nn,) the node at each position."""
    place: np.ndarray
    """(nn,) first row of a node in right-hand sides, which hold the nodes as given."""
    diagonal: np.ndarray
    """(nn,) start of a node's diagonal block in the values."""
    upper: np.ndarray
    """(ne,) start of block [a, b] of edge (a, b); size_a × size_b, by rows."""
    lower: np.ndarray
    """(ne,) start of block [b, a]."""
    width: np.ndarray
    """(nn,) number of rows of the node at a position."""
    row: np.ndarray
    """(nn,) ``place`` by position."""
    block: np.ndarray
    """(nn,) ``diagonal`` by position."""
    first: np.ndarray
    """(nn + 1,) first later neighbour of a position in the following three arrays."""
    later: np.ndarray
    """(nb,) positions of the later neighbours, ascending."""
    right: np.ndarray
    """(nb,) start of block [position, later]."""
    left: np.ndarray
    """(nb,) start of block [later, position]."""
    length: int
    """Length of the values; entries that are not assembled, including fill-in, must be zero."""
    rows: int
    """Length of right-hand sides and pivots."""
    fill: int
    """Number of blocks of fill-in, on both sides of the diagonal."""


@kernel
def elimination_tree(order, first, near, position, parent, top, count):
    """Compute positions, the elimination tree, and the number of later neighbours of every position."""
    nn = order.shape[0]
    for k in range(nn):
        position[order[k]] = k
        parent[k], top[k], count[k] = -1, -1, 0
    for i in range(nn):
        for p in range(first[order[i]], first[order[i] + 1]):
            k = position[near[p]]
            while k < i and k != -1:  # up to the current root, with path compression
                above = top[k]
                top[k] = i
                if above == -1:
                    parent[k] = i
                if above == i:
                    break
                k = above
    for i in range(nn):
        top[i] = i
        for p in range(first[order[i]], first[order[i] + 1]):
            k = position[near[p]]
            while k < i and top[k] != i:
                top[k] = i
                count[k] += 1
                k = parent[k]


@kernel
def work(order, size, first, near, position, parent, top, below):
    """Approximate number of multiplications of the factorisation; ``below`` (nn,) is scratch."""
    nn = order.shape[0]
    for i in range(nn):
        below[i] = 0
    for i in range(nn):
        top[i] = i
        for p in range(first[order[i]], first[order[i] + 1]):
            k = position[near[p]]
            while k < i and top[k] != i:
                top[k] = i
                below[k] += size[order[i]]
                k = parent[k]
    total = 0.0
    for k in range(nn):
        n = size[order[k]]
        total += n * n * n / 3.0 + n * n * below[k] + n * below[k] * below[k]
    return total


@kernel
def lay_out(size, edges, near_first, near, position, parent, top, next_one, sym_upper, sym_lower, place, order,
            diagonal, width, row, block, first, later, right, left):  # fmt: skip
    """Fill all of ``Symbolic`` from the order and ``first``; returns the length of the values."""
    nn = order.shape[0]
    for k in range(nn):
        next_one[k] = first[k]
    for i in range(nn):  # ascending, so that lists come out sorted
        top[i] = i
        for p in range(near_first[order[i]], near_first[order[i] + 1]):
            k = position[near[p]]
            while k < i and top[k] != i:
                top[k] = i
                later[next_one[k]] = i
                next_one[k] += 1
                k = parent[k]
    length = 0
    for k in range(nn):
        a = order[k]
        width[k], row[k], block[k], diagonal[a] = size[a], place[a], length, length
        length += size[a] * size[a]
        for p in range(first[k], first[k + 1]):
            n = size[a] * size[order[later[p]]]
            right[p], left[p] = length, length + n
            length += 2 * n
    for e in range(edges.shape[0]):
        a, b = position[edges[e, 0]], position[edges[e, 1]]
        k, i = min(a, b), max(a, b)
        low, high = first[k], first[k + 1] - 1
        while low < high:
            middle = (low + high) // 2
            if later[middle] < i:
                low = middle + 1
            else:
                high = middle
        sym_upper[e] = right[low] if a == k else left[low]
        sym_lower[e] = left[low] if a == k else right[low]
    return length


@kernel
def distinct(first, near, mark):
    """Number of distinct pairs of neighbours, each counted twice."""
    count = 0
    for a in range(mark.shape[0]):
        mark[a] = -1
    for a in range(mark.shape[0]):
        for p in range(first[a], first[a + 1]):
            if mark[near[p]] != a:
                mark[near[p]] = a
                count += 1
    return count


def _checked(size: np.ndarray, edges: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    size, kind = np.ascontiguousarray(size, dtype=np.int64), np.ascontiguousarray(kind, dtype=np.int64)
    edges = np.ascontiguousarray(edges, dtype=np.int64).reshape(-1, 2)
    nn = len(size)
    if kind.shape != (nn,):
        raise expected("kind", f"one of BODY, JOINT for each of {nn} nodes", kind.shape)
    if len(edges):
        if edges.min() < 0 or edges.max() >= nn:
            raise expected("edges", f"pairs of nodes 0 … {nn - 1}", (int(edges.min()), int(edges.max())))
        both = kind[edges]
        wrong = (edges[:, 0] == edges[:, 1]) | ((both[:, 0] == JOINT) & (both[:, 1] == JOINT))
        if wrong.any():
            raise expected("edges", "a body and a joint, or two bodies", edges[wrong][0].tolist())
    return size, edges, kind


def symbolic(size: np.ndarray, edges: np.ndarray, kind: np.ndarray) -> Symbolic:
    """The order of elimination and the pattern of the factors.

    ``size`` (nn,) is the number of rows of every node, possibly zero; ``edges`` (ne, 2) are pairs of nodes with
    non-zero blocks, where repeated pairs share their blocks; ``kind`` (nn,) is ``BODY`` or ``JOINT``. A joint with one
    body connects it to the world.
    """
    size, given_edges, kind = _checked(size, edges, kind)
    nn, there = len(size), np.all(size[given_edges] > 0, axis=1)  # nodes without rows have no neighbours
    edges = given_edges[there]
    near_first, near = np.zeros(nn + 1, dtype=np.int64), np.empty(2 * len(edges), dtype=np.int64)
    scratch, done = np.empty((7, nn), dtype=np.int64), np.empty(nn, dtype=np.bool_)
    order, place, diagonal, width, row, block = np.empty((6, nn), dtype=np.int64)
    adjacency(edges, near_first, near)
    depth_first(kind, near_first, near, order, done, *scratch[:5])
    position, parent, top, count, below = scratch[:5]
    elimination_tree(order, near_first, near, position, parent, top, count)
    given = int(distinct(near_first, near, top))
    if 2 * int(count.sum()) > given and nn <= LARGEST:
        first_work = work(order, size, near_first, near, position, parent, top, below)
        other, bits = np.empty(nn, dtype=np.int64), np.empty((nn, nn // 62 + 1), dtype=np.int64)
        minimum_degree(kind, near_first, near, other, done, position, parent, top, bits)
        elimination_tree(other, near_first, near, position, parent, top, count)
        if work(other, size, near_first, near, position, parent, top, below) < first_work:
            order = other
        else:
            elimination_tree(order, near_first, near, position, parent, top, count)
    first = np.zeros(nn + 1, dtype=np.int64)
    np.cumsum(count, out=first[1:])
    np.cumsum(size[:-1], out=place[1:])
    place[:1] = 0
    later, right, left = np.empty((3, int(first[-1])), dtype=np.int64)
    upper, lower = np.empty((2, len(edges)), dtype=np.int64)
    length = lay_out(size, edges, near_first, near, position, parent, top, below, upper, lower, place, order,
                     diagonal, width, row, block, first, later, right, left)  # fmt: skip
    if len(edges) < len(given_edges):
        both = np.zeros((2, len(given_edges)), dtype=np.int64)
        both[:, there] = upper, lower
        upper, lower = both
    return Symbolic(order, place, diagonal, upper, lower, width, row, block, first, later, right, left, int(length),
                    int(size.sum()), 2 * len(later) - given)  # fmt: skip


__all__ = ["BODY", "JOINT", "Symbolic", "symbolic"]
