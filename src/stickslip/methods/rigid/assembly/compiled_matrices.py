"""Rows of contacts and joint limits and their matrix W = G·M⁻¹·Gᵀ without allocation, for compiled steps.

W is dense, or a CSR matrix of 3×3 blocks of contacts that share a tree. It is that of ``assembler``, with the diagonal
that ``formulation.circular`` gives to empty tangents, to round-off. Cost: depth for every pair that shares a tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.delassus import block, block_of_one_link, delassus_pattern
from stickslip.methods.rigid.assembly.constraint_rows import with_ancestors
from stickslip.model.arrays import Support


class Blocks(NamedTuple):
    """W as a CSR matrix, with room for N contacts and K pairs of them that share a tree."""

    head: np.ndarray
    """(nv,) scratch of ``delassus_pattern``; so are ``following`` (N, 2) and ``mark`` (N,)."""
    following: np.ndarray
    mark: np.ndarray
    start: np.ndarray
    """(N + 1,) contact a couples with other[start[a]:start[a + 1]]."""
    other: np.ndarray
    """(K,)."""
    data: np.ndarray
    """(9K,) entries of the CSR matrix; ``indices`` (9K,) and ``indptr`` (3N + 1,) belong to it."""
    indices: np.ndarray
    indptr: np.ndarray
    block: np.ndarray
    """(3, 3) scratch."""


def make_blocks(support: Support, contacts: int, blocks: int) -> Blocks:
    def whole(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int64)

    nv = len(support.dof_link)
    return Blocks(
        whole(nv), whole(contacts, 2), whole(contacts), whole(contacts + 1), whole(blocks), np.zeros(9 * blocks),
        whole(9 * blocks), whole(3 * contacts + 1), np.zeros((3, 3)),
    )  # fmt: skip


@kernel
def limit_rows(support, limits, n, first, rows):
    """Write n rows of joints and tendons into the rows from ``first`` on, filled in at ancestors: limits as normals,
    dry friction as first tangents; the others are empty."""
    for i in range(n):
        c, count, tangent = first + i, 0, 1 if limits.bound[i] > 0.0 else 0
        for k in range(limits.start[i], limits.start[i + 1]):
            count = with_ancestors(support, limits.column[k], rows.dofs[c], count)
        for m in range(count):
            rows.J[c, m, 0] = rows.J[c, m, 1] = rows.J[c, m, 2] = 0.0
            for k in range(limits.start[i], limits.start[i + 1]):
                if limits.column[k] == rows.dofs[c, m]:
                    rows.J[c, m, tangent] += limits.value[k]
        rows.length[c] = count


@kernel
def fill_empty_rows(B, i):
    """Give empty rows of the block at B[i, i] the diagonal of the normal, or of the first tangent if that is empty."""
    if B[i, i] == 0.0:
        B[i, i] = B[i + 1, i + 1]
    for t in range(i + 1, i + 3):
        if B[t, t] == 0.0:
            B[t, t] = B[i, i]


@kernel
def dense_matrix(support, L, links, nc, n, rows, W):
    """W (3n, 3n) of nc contacts and n − nc rows of joints; empty rows get the diagonal of the one that is not."""
    for a in range(n):
        for b in range(a, n):
            if b < nc and links[0, a] == links[0, b] and links[1, a] == links[1, b]:
                block_of_one_link(support, L, rows, a, b, W, 3 * a, 3 * b)
            else:
                block(support, L, rows, a, b, W, 3 * a, 3 * b)
            for r in range(3):
                for s in range(3):
                    W[3 * b + s, 3 * a + r] = W[3 * a + r, 3 * b + s]
        fill_empty_rows(W, 3 * a)


@kernel
def coupled_contacts(support, links, n, blocks):
    """The pattern of W as a CSR matrix; returns the number of blocks, negated if there is no room for them."""
    total = delassus_pattern(
        support, links[0], links[1], n, blocks.head, blocks.following, blocks.mark, blocks.start, blocks.other
    )
    blocks.indptr[0] = 0
    for a in range(n if total >= 0 else 0):
        wide = 3 * (blocks.start[a + 1] - blocks.start[a])
        for r in range(3):
            blocks.indptr[3 * a + r + 1] = 9 * blocks.start[a] + (r + 1) * wide
    return total


@kernel
def put_block(blocks, a, k):
    """Write ``blocks.block`` as the k-th block of the pattern, which is one of contact a."""
    c, wide = blocks.other[k], 3 * (blocks.start[a + 1] - blocks.start[a])
    for r in range(3):
        at = 9 * blocks.start[a] + r * wide + 3 * (k - blocks.start[a])
        for s in range(3):
            blocks.data[at + s], blocks.indices[at + s] = blocks.block[r, s], 3 * c + s


@kernel
def sparse_matrix(support, L, links, nc, n, rows, blocks):
    """Write W as a CSR matrix; returns the number of its blocks, negated if there is no room for them."""
    B, total = blocks.block, coupled_contacts(support, links, n, blocks)
    for a in range(n if total >= 0 else 0):
        for k in range(blocks.start[a], blocks.start[a + 1]):
            c = blocks.other[k]
            if max(a, c) < nc and links[0, a] == links[0, c] and links[1, a] == links[1, c]:
                block_of_one_link(support, L, rows, a, c, B, 0, 0)
            else:
                block(support, L, rows, a, c, B, 0, 0)
            if a == c:
                fill_empty_rows(B, 0)
            put_block(blocks, a, k)
    return total


@kernel
def own_blocks(support, L, n, rows, cones):
    """Upper triangles of each contact's block of W; ``regularise`` adds R."""
    for c in range(n):
        a00, a01, a02, a11, a12, a22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(rows.length[c]):
            inverse = 1.0 / L[support.start[rows.dofs[c, k]]]
            x, y, z = rows.Y[c, k, 0], rows.Y[c, k, 1], rows.Y[c, k, 2]
            a00, a01, a02 = a00 + x * inverse * x, a01 + x * inverse * y, a02 + x * inverse * z
            a11, a12, a22 = a11 + y * inverse * y, a12 + y * inverse * z, a22 + z * inverse * z
        own = cones.own[c]
        a00 = a00 if a00 != 0.0 else a11  # dry friction, whose normal has a mass of its own
        own[0], own[1], own[2], own[4] = a00, a01, a02, a12
        own[3], own[5] = (a11 if a11 != 0.0 else a00), (a22 if a22 != 0.0 else a00)


@kernel
def regularise(cones, c, normal, tangent):
    """Set R of contact c, add it to the contact's block, and write the roots of the block's diagonal."""
    i, own = 3 * c, cones.own[c]
    cones.R[i], cones.R[i + 1], cones.R[i + 2] = normal, tangent, tangent
    own[0], own[3], own[5] = own[0] + normal, own[3] + tangent, own[5] + tangent
    cones.weight[i], cones.weight[i + 1], cones.weight[i + 2] = own[0] ** 0.5, own[3] ** 0.5, own[5] ** 0.5


@kernel
def row_speed(rows, c, i, v):
    """Row i of contact c times v."""
    s = 0.0
    for k in range(rows.length[c]):
        s += rows.J[c, k, i] * v[rows.dofs[c, k]]
    return s
