"""The Delassus matrix W = J·M⁻¹·Jᵀ of a set of contacts, block by block, using the sparsity of the tree.

With M = LᵀDL, W = Y·D⁻¹·Yᵀ where Yᵀ = L⁻ᵀJᵀ. L⁻ᵀ, eliminating from the leaves, changes entries of ancestors only, so a
row of Y has non-zeros exactly at the velocities that move one of the contact's two links. Block (a, b) is a sum over
the velocities that move both contacts. Contacts in separate trees do not couple.

Cost: Σ depth² for Y, depth per coupled pair of contacts for W.
Reference: Featherstone, "Exploiting sparsity in operational-space dynamics", IJRR 29(10), 2010.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.jacobian import last_dof, velocity_at


class ContactRows(NamedTuple):
    """Sparse Jacobian rows of contacts, three per contact; scratch and result."""

    length: np.ndarray
    """(nc,) number of velocities that move the contact."""
    dofs: np.ndarray
    """(nc, width) those velocities, in descending order."""
    J: np.ndarray
    """(nc, width, 3) columns of the contact Jacobian in the contact frame."""
    Y: np.ndarray
    """(nc, width, 3) columns of J·L⁻¹."""
    x: np.ndarray
    """(nv, 3) scratch."""


def make_contact_rows(support, capacity: int, least: int = 1) -> ContactRows:
    """Memory for up to ``capacity`` contacts, and for at least so many velocities in each."""
    nv = len(support.dof_link)
    width = max(least, min(nv, 2 * int(np.max(np.diff(support.start), initial=0))))
    return ContactRows(
        length=np.zeros(capacity, dtype=np.int64),
        dofs=np.zeros((capacity, width), dtype=np.int64),
        J=np.zeros((capacity, width, 3)),
        Y=np.zeros((capacity, width, 3)),
        x=np.zeros((nv, 3)),
    )


@kernel
def contact_jacobian(support, kin, link1, link2, point, axes, c, rows):
    """Row c: the velocity of link 2's point relative to link 1's, in the contact frame.

    ``point`` (nc, 3) [world]; ``axes`` (nc, 3, 3) rows are normal, tangent 1, tangent 2 [world].
    """
    d1, d2 = last_dof(support, link1[c]), last_dof(support, link2[c])
    n = 0
    while d1 >= 0 or d2 >= 0:
        if d1 == d2:  # a common ancestor moves both links alike: J is zero there, but Y is not
            d, sign, link = d1, 0.0, link1[c]
            d1, d2 = support.dof_parent[d1], support.dof_parent[d2]
        elif d1 > d2:
            d, sign, link = d1, -1.0, link1[c]
            d1 = support.dof_parent[d1]
        else:
            d, sign, link = d2, 1.0, link2[c]
            d2 = support.dof_parent[d2]
        O = kin.origin
        vx, vy, vz = velocity_at(kin.S, d, point[c, 0] - O[link, 0], point[c, 1] - O[link, 1], point[c, 2] - O[link, 2])
        rows.dofs[c, n] = d
        for i in range(3):
            rows.J[c, n, i] = sign * (axes[c, i, 0] * vx + axes[c, i, 1] * vy + axes[c, i, 2] * vz)
        n += 1
    rows.length[c] = n


@kernel
def eliminate(support, L, c, rows):
    """Row c of Y from row c of J."""
    x, n = rows.x, rows.length[c]
    for k in range(n):
        d = rows.dofs[c, k]
        x[d, 0], x[d, 1], x[d, 2] = rows.J[c, k, 0], rows.J[c, k, 1], rows.J[c, k, 2]
    for k in range(n):
        d = rows.dofs[c, k]
        y0, y1, y2 = x[d, 0], x[d, 1], x[d, 2]
        rows.Y[c, k, 0], rows.Y[c, k, 1], rows.Y[c, k, 2] = y0, y1, y2
        for m in range(support.start[d] + 1, support.start[d + 1]):
            e = support.column[m]
            x[e, 0] -= L[m] * y0
            x[e, 1] -= L[m] * y1
            x[e, 2] -= L[m] * y2


@kernel
def block(support, L, rows, a, b, W, i, j):
    """W[i:i+3, j:j+3] = block (a, b). Both index lists descend, so a single merge finds the common velocities."""
    for r in range(3):
        for s in range(3):
            W[i + r, j + s] = 0.0
    ka, kb = 0, 0
    na, nb = rows.length[a], rows.length[b]
    Y = rows.Y
    while ka < na and kb < nb:
        da, db = rows.dofs[a, ka], rows.dofs[b, kb]
        if da > db:
            ka += 1
        elif db > da:
            kb += 1
        else:
            inverse = 1.0 / L[support.start[da]]
            for r in range(3):
                c = Y[a, ka, r] * inverse
                for s in range(3):
                    W[i + r, j + s] += c * Y[b, kb, s]
            ka += 1
            kb += 1


@kernel
def block_of_one_link(support, L, rows, a, b, W, i, j):
    """Add the block of two contacts between the same two links, whose lists of velocities are equal."""
    Y = rows.Y
    w00, w01, w02, w10, w11, w12, w20, w21, w22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(rows.length[a]):
        inverse = 1.0 / L[support.start[rows.dofs[a, k]]]
        x, y, z = Y[a, k, 0] * inverse, Y[a, k, 1] * inverse, Y[a, k, 2] * inverse
        u, v, w = Y[b, k, 0], Y[b, k, 1], Y[b, k, 2]
        w00, w01, w02 = w00 + x * u, w01 + x * v, w02 + x * w
        w10, w11, w12 = w10 + y * u, w11 + y * v, w12 + y * w
        w20, w21, w22 = w20 + z * u, w21 + z * v, w22 + z * w
    W[i, j], W[i, j + 1], W[i, j + 2] = w00, w01, w02
    W[i + 1, j], W[i + 1, j + 1], W[i + 1, j + 2] = w10, w11, w12
    W[i + 2, j], W[i + 2, j + 1], W[i + 2, j + 2] = w20, w21, w22


@kernel
def all_blocks(support, L, rows, n, W):
    """W (3n, 3n) from n groups of rows that ``eliminate`` has treated."""
    for a in range(n):
        for b in range(a, n):
            block(support, L, rows, a, b, W, 3 * a, 3 * b)
            for r in range(3):
                for s in range(3):
                    W[3 * b + s, 3 * a + r] = W[3 * a + r, 3 * b + s]


@kernel
def delassus_dense(support, L, kin, link1, link2, point, axes, nc, rows, W):
    """W (3nc, 3nc) with all blocks; use ``delassus_sparse`` where most contacts do not couple."""
    for c in range(nc):
        contact_jacobian(support, kin, link1, link2, point, axes, c, rows)
        eliminate(support, L, c, rows)
    all_blocks(support, L, rows, nc, W)


@kernel
def delassus_pattern(support, link1, link2, nc, head, next_contact, mark, start, other):
    """The pairs of contacts that couple because they share a tree. The cost is proportional to their number.

    ``head`` (nv,), ``mark`` (nc,) and ``next_contact`` (nc, 2) are scratch. The result has block-CSR form: contact a
    couples with ``other[start[a]:start[a + 1]]``. Returns the number of blocks, or its negative if ``other`` is too
    short; the caller then grows it and calls again.
    """
    for d in range(head.shape[0]):
        head[d] = -1
    for a in range(nc):
        mark[a] = -1
        for side in range(2):
            tree = support.link_root_dof[link1[a] if side == 0 else link2[a]]
            next_contact[a, side] = -1
            if tree >= 0:
                next_contact[a, side] = head[tree]
                head[tree] = 2 * a + side
    n = 0
    for a in range(nc):
        start[a] = n
        for side in range(2):
            tree = support.link_root_dof[link1[a] if side == 0 else link2[a]]
            if tree < 0:
                continue
            entry = head[tree]
            while entry >= 0:
                b = entry // 2
                if mark[b] != a:
                    mark[b] = a
                    if n < other.shape[0]:
                        other[n] = b
                    n += 1
                entry = next_contact[b, entry % 2]
    start[nc] = n
    return n if n <= other.shape[0] else -n


@kernel
def delassus_sparse(support, L, kin, link1, link2, point, axes, nc, start, other, rows, blocks):
    """The coupled 3×3 blocks, (number of blocks, 3, 3), in the order of ``delassus_pattern``."""
    for c in range(nc):
        contact_jacobian(support, kin, link1, link2, point, axes, c, rows)
        eliminate(support, L, c, rows)
    for a in range(nc):
        for k in range(start[a], start[a + 1]):
            block(support, L, rows, a, other[k], blocks[k], 0, 0)
