"""Contacts between bodies that joints connect: their rows as the elimination of joints sees them, and N·K·Nᵀ from them.

K is the response of the bodies to impulses with the joints enforced (``maximal.joint_system``). The elimination of
``maximal.elimination`` takes an impulse f on a body b with D_b = L·Lᵀ and its joint's C = F·Fᵀ to y = L⁻¹·f and
w = F⁻¹·A·L⁻ᵀ·y, and hands −Bᵀ·F⁻ᵀ·w to the parent. With the response X of the bodies to the rows of loops, S = g·X and
S⁺ = RᵀR, loops add z = R·Xᵀ·f. For two impulses

    f₁·K·f₂ = Σ_b (y₁·y₂ − w₁·w₂) − z₁·z₂

over the bodies on both ways to the root, because what is eliminated does not change any more. So a contact's rows need
the bodies between its links and their roots, and the back substitution is not needed at all.
Sizes: a contact has at most twice the forest's depth of bodies, with 36 numbers each, and 3 numbers per row of a loop.
Cost: some 500 multiply-adds per body for a contact, 108 for a pair of contacts and a body that they share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.maximal.joint_system import System, times_root


class PathRows(NamedTuple):
    """Rows of up to N contacts, three each, on up to k bodies."""

    place: np.ndarray
    """(nl,) place of each link in the forest's order, −1 for the world."""
    length: np.ndarray
    """(N,) number of bodies of each contact."""
    body: np.ndarray
    """(N, k) those bodies, the last of the forest's order first."""
    y: np.ndarray
    """(N, k, 6, 3)."""
    w: np.ndarray
    """(N, k, 6, 3), zero where a joint has fewer rows."""
    z: np.ndarray
    """(3N, l), three rows for each contact."""
    x: np.ndarray
    """(nl, 6, 3) scratch: impulses on the bodies; the world's place is scratch of solves."""


def make_path_rows(system: System, contacts: int) -> PathRows:
    """Memory for so many contacts."""
    forest, z = system.forest, np.zeros((3 * contacts, len(system.loop)))
    nl = len(forest.parent)
    place, depth = np.full(nl, -1, dtype=np.int64), np.zeros(nl, dtype=np.int64)
    place[forest.order] = np.arange(nl - 1)
    for b in forest.order:
        depth[b] = depth[forest.parent[b]] + 1
    most = max(1, min(nl - 1, 2 * int(depth.max(initial=0))))
    y, w = np.zeros((2, contacts, most, 6, 3))
    body, length = np.zeros((contacts, most), dtype=np.int64), np.zeros(contacts, dtype=np.int64)
    return PathRows(place, length, body, y, w, z, np.zeros((nl, 6, 3)))


@kernel
def lower_solve(L, n, x):
    """x ← L⁻¹·x for x (n, 3)."""
    for i in range(n):
        for k in range(i):
            for s in range(3):
                x[i, s] -= L[i, k] * x[k, s]
        inverse = 1.0 / L[i, i]
        for s in range(3):
            x[i, s] *= inverse


@kernel
def upper_solve(L, n, x):
    """x ← L⁻ᵀ·x for x (n, 3)."""
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for s in range(3):
                x[i, s] -= L[k, i] * x[k, s]
        inverse = 1.0 / L[i, i]
        for s in range(3):
            x[i, s] *= inverse


@kernel
def through_joint(system, b, y, w, x):
    """w (6, 3) from y (6, 3) of body b, and what its joint hands on to the parent, into x (nl, 6, 3)."""
    forest, G, t = system.forest, system.rows, x[0]
    j, p, own = forest.joint[b], forest.parent[b], forest.own[b]
    first, rows = system.start[j], system.start[j + 1] - system.start[j]
    for k in range(6):
        for s in range(3):
            x[b, k, s] = y[k, s]
    upper_solve(system.factor.D[b], 6, x[b])
    for r in range(rows):
        for k in range(6):
            for s in range(3):
                w[r, s] += G[first + r, own + k] * x[b, k, s]
    lower_solve(system.factor.C[b], rows, w)
    if p == 0:
        return
    for r in range(rows):
        for s in range(3):
            t[r, s] = w[r, s]
    upper_solve(system.factor.C[b], rows, t)
    for r in range(rows):
        for k in range(6):
            for s in range(3):
                x[p, k, s] -= G[first + r, 6 - own + k] * t[r, s]


@kernel
def loop_speeds(system, rows, c, r, out):
    """out (l,): row r of contact c times the responses to the rows of loops."""
    for k in range(out.shape[0]):
        out[k] = 0.0
        for e in range(rows.length[c]):
            out[k] += rows.J[c, e, r] * system.response[k, rows.dofs[c, e]]


@kernel(inline=False)
def path_row(system, rows, c, paths):
    """Write the rows of contact c from its columns in ``rows`` (ContactRows of the cut model)."""
    forest, x, n, m = system.forest, paths.x, rows.length[c], 0
    if n == 0:
        paths.length[c] = 0
        return
    first, second = rows.dofs[c, 0] // 6 + 1, rows.dofs[c, n - 1] // 6 + 1
    for start in (first, second):
        b = start
        while b > 0:
            for k in range(6):
                for s in range(3):
                    x[b, k, s] = 0.0
            b = forest.parent[b]
    for k in range(n):
        d = rows.dofs[c, k]
        for s in range(3):
            x[d // 6 + 1, d % 6, s] = rows.J[c, k, s]
    while first > 0 or second > 0:
        b = first if paths.place[first] >= paths.place[second] else second
        first, second = forest.parent[first] if first == b else first, forest.parent[second] if second == b else second
        y, w = paths.y[c, m], paths.w[c, m]
        for k in range(6):
            for s in range(3):
                y[k, s], w[k, s] = x[b, k, s], 0.0
        lower_solve(system.factor.D[b], 6, y)
        if forest.joint[b] >= 0:
            through_joint(system, b, y, w, x)
        paths.body[c, m] = b
        m += 1
    paths.length[c] = m
    for r in range(3 if system.loop.shape[0] > 0 else 0):
        loop_speeds(system, rows, c, r, system.gap[0])
        times_root(system, system.gap[0], paths.z[3 * c + r])


@kernel
def path_block(paths, a, c, B, i, j):
    """B[i:i + 3, j:j + 3] = N_a·K·N_cᵀ of two contacts."""
    for r in range(3):
        for s in range(3):
            B[i + r, j + s] = 0.0
            for k in range(paths.z.shape[1]):
                B[i + r, j + s] -= paths.z[3 * a + r, k] * paths.z[3 * c + s, k]
    ka, kc = 0, 0
    while ka < paths.length[a] and kc < paths.length[c]:
        pa, pc = paths.place[paths.body[a, ka]], paths.place[paths.body[c, kc]]
        if pa > pc:
            ka += 1
        elif pc > pa:
            kc += 1
        else:
            ya, yc, wa, wc = paths.y[a, ka], paths.y[c, kc], paths.w[a, ka], paths.w[c, kc]
            for k in range(6):
                for r in range(3):
                    for s in range(3):
                        B[i + r, j + s] += ya[k, r] * yc[k, s] - wa[k, r] * wc[k, s]
            ka += 1
            kc += 1
