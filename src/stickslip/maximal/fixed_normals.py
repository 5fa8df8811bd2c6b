"""Corrections of joints that do not change the normal velocities of contacts that carry impulses.

    u' = u − K·Nᵀ·(N·K·Nᵀ)⁺·N·u

u is a correction with G·u = r; N (k, nv) are the contacts' normal rows; K is the response of the bodies to impulses
with the joints enforced, G·K = 0. Then G·u' = r still holds, and N·u' = 0 unless joints and contacts contradict each
other; in that case the joints take precedence. Eigenvalues below ``REDUNDANT`` of the largest count as zero, as for the
four contacts of a box on a floor.
Cost: ``maximal.path_rows`` and 4·k³ for the inverse, once in a step; one solve of the joints for every correction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from stickslip._jit import kernel
from stickslip.dynamics.delassus import ContactRows, make_contact_rows
from stickslip.math.eigen import Eigenbasis, inverse_root, make_eigenbasis
from stickslip.maximal.joint_system import System, solve_system
from stickslip.maximal.path_rows import PathRows, make_path_rows, path_block, path_row
from stickslip.model.arrays import Support

REDUNDANT = 1e-8


class Normals(NamedTuple):
    """The normal rows of contacts that carry impulses, with room for m of N contacts."""

    number: np.ndarray
    """(1,) their number k."""
    contact: np.ndarray
    """(N,) their places in ``rows``, of which they are the first rows of three."""
    rows: ContactRows
    paths: PathRows
    S: np.ndarray
    """(m, m) N·K·Nᵀ, then scratch."""
    root: np.ndarray
    """(m, m) R with RᵀR = (N·K·Nᵀ)⁺."""
    block: np.ndarray
    """(3, 3) scratch."""
    basis: Eigenbasis
    x: np.ndarray
    """(2, m) scratch, and (nv,)."""
    f: np.ndarray


def make_normals(rows: ContactRows, paths: PathRows, most: int) -> Normals:
    """Memory for at most so many of the contacts of these rows."""
    n, nv = len(rows.length), len(rows.x)
    m = min(n, most)
    S, root = np.zeros((2, m, m))
    return Normals(
        np.zeros(1, dtype=np.int64), np.zeros(n, dtype=np.int64), rows, paths, S, root, np.zeros((3, 3)),
        make_eigenbasis(m), np.zeros((2, m)), np.zeros(nv),
    )  # fmt: skip


@kernel(inline=False)
def fix_normals(system, normals):
    """Compute the root of (N·K·Nᵀ)⁺; returns False if it was not found."""
    n, paths, S = normals.number[0], normals.paths, normals.S
    for i in range(n):
        path_row(system, normals.rows, normals.contact[i], paths)
        for j in range(i + 1):
            path_block(paths, normals.contact[i], normals.contact[j], normals.block, 0, 0)
            S[i, j] = S[j, i] = normals.block[0, 0]
    return inverse_root(S, n, REDUNDANT, normals.basis, normals.root)


@kernel
def keep_normals(system, size, normals, zeros, impulse, u):
    """u ← u'; ``zeros`` are zeros and ``impulse`` is scratch, (size,) both."""
    n, rows, f = normals.number[0], normals.rows, normals.f
    speed, scaled = normals.x[0], normals.x[1]
    for i in range(n):
        c = normals.contact[i]
        speed[i] = 0.0
        for e in range(rows.length[c]):
            speed[i] += rows.J[c, e, 0] * u[rows.dofs[c, e]]
    for i in range(n):
        scaled[i] = 0.0
        for j in range(n):
            scaled[i] += normals.root[i, j] * speed[j]
    for d in range(f.shape[0]):
        f[d] = 0.0
    for i in range(n):
        c, push = normals.contact[i], 0.0
        for j in range(n):
            push += normals.root[j, i] * scaled[j]
        for e in range(rows.length[c]):
            f[rows.dofs[c, e]] -= push * rows.J[c, e, 0]
    solve_system(system, size, f, zeros, f, impulse)
    for d in range(f.shape[0]):
        u[d] += f[d]


def normals_of(support: Support, system: System, rows: sparse.csr_array) -> Normals:
    """``Normals`` of CSR rows (k, nv) over the velocities of at most two links each."""
    own = make_contact_rows(support, rows.shape[0])
    for c in range(rows.shape[0]):
        row = slice(rows.indptr[c], rows.indptr[c + 1])
        order = np.argsort(-rows.indices[row])
        own.length[c] = n = len(order)
        own.dofs[c, :n], own.J[c, :n, 0] = rows.indices[row][order], rows.data[row][order]
    normals = make_normals(own, make_path_rows(system, rows.shape[0]), rows.shape[0])
    normals.number[0], normals.contact[:] = rows.shape[0], np.arange(rows.shape[0])
    return normals
