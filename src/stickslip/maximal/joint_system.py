"""The rows of all joints of free bodies as one linear system, solved for bodies and joints together.

    M·u − Gᵀ·λ = f
    G·u + c∘λ  = r

The nb rigid rows G of the joints come first, then ns soft ones (``maximal.soft_rows``), whose compliance c is positive.
A spanning forest is eliminated in linear time (``maximal.elimination``), for which the rows are arranged by joint,
rigid rows before soft ones. Loops are added by their dense Schur complement S = g·K·gᵀ, where g are the rows of the
joints that close loops and K is the response of the forest with its joints enforced.

A loop may have redundant rows (a planar four-bar linkage with four hinges has 20 rows for 18 velocities and still
moves). S is then singular. Its eigenvalues below ``REDUNDANT`` of the largest count as zero, so that redundant rows
share the load with the smallest impulses.
Cost: O(bodies) for the factor and for a solve; with l rows of loops, l solves, 4·l³ and l·(bodies) per solve besides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.eigen import Eigenbasis, inverse_root, make_eigenbasis
from stickslip.maximal.elimination import OK, SINGULAR, Factor, factor_forest, make_factor, solve_forest
from stickslip.maximal.graph import Forest
from stickslip.maximal.joints import Joints
from stickslip.maximal.rows import add_pair, pair_speed

REDUNDANT = 1e-9
"""Eigenvalues of a loop's matrix below this fraction of the largest belong to redundant rows."""


class System(NamedTuple):
    """The system of nl − 1 bodies, with room for n = nb + nv rows, of which l belong to loops."""

    joints: Joints
    forest: Forest
    carrier: np.ndarray
    """(nl,) the joint that carries each link, −1 if there is none."""
    start: np.ndarray
    """(nj + 1,) joint j has the rows start[j] … start[j + 1] − 1 of the arranged ones."""
    place: np.ndarray
    """(n,) place of each row among the arranged ones."""
    rows: np.ndarray
    """(n, 12) the arranged rows, and their compliance (n,)."""
    compliance: np.ndarray
    factor: Factor
    loop: np.ndarray
    """(l,) the rows of loops."""
    response: np.ndarray
    """(l, 6(nl − 1)) velocities due to unit impulses in the rows of loops, with the forest's joints enforced."""
    impulse: np.ndarray
    """(l, n) impulses of the forest's rows that go with them."""
    root: np.ndarray
    """(l, l) R with RᵀR = S⁺."""
    S: np.ndarray
    """(l, l) scratch."""
    basis: Eigenbasis
    gap: np.ndarray
    """(2, l) scratch."""
    f: np.ndarray
    """(6(nl − 1),) scratch, zero between calls."""
    arranged: np.ndarray
    """(2, n) scratch: right-hand sides and impulses as the rows are arranged."""


def make_system(joints: Joints, forest: Forest, nlink: int, nv: int) -> System:
    nb, free = len(joints.joint), 6 * (nlink - 1)
    n = nb + nv
    loops = [np.arange(joints.start[k], joints.start[k + 1]) for k in forest.loops]
    loop = np.concatenate(loops).astype(np.int64) if loops else np.zeros(0, dtype=np.int64)
    carrier = np.full(nlink, -1, dtype=np.int64)
    carrier[joints.link2[::-1]] = np.arange(len(joints.link2))[::-1]  # the tree's joints are the first ones
    size = len(loop)
    root, S = np.zeros((2, size, size))
    return System(
        joints, forest, carrier, np.zeros(len(joints.link1) + 1, dtype=np.int64), np.zeros(n, dtype=np.int64),
        np.zeros((n, 12)), np.zeros(n), make_factor(nlink), loop, np.zeros((size, free)), np.zeros((size, n)),
        root, S, make_eigenbasis(size), np.zeros((2, size)), np.zeros(free), np.zeros((2, n)),
    )  # fmt: skip


@kernel
def arrange(system, G, soft, rates, dof_link):
    """Arrange the rigid rows G (nb, 12) and the soft rows, which are some of ``rates`` (nv, 12); returns how many."""
    joints, nb, ns, n, k = system.joints, G.shape[0], soft.number[0], 0, 0
    for j in range(joints.link1.shape[0]):
        system.start[j] = n
        for r in range(joints.start[j], joints.start[j + 1]):
            system.place[r], system.compliance[n] = n, 0.0
            for m in range(12):
                system.rows[n, m] = G[r, m]
            n += 1
        while k < ns and system.carrier[dof_link[soft.dof[k]]] == j:  # soft rows ascend with the tree's joints
            system.place[nb + k], system.compliance[n] = n, soft.compliance[k]
            for m in range(12):
                system.rows[n, m] = rates[soft.dof[k], m]
            n += 1
            k += 1
    system.start[joints.link1.shape[0]] = n
    return n


@kernel
def solve_arranged(system, n, f, right, u, impulse):
    """``solve_system`` of the forest, without loops."""
    r, lam = system.arranged[0, :n], system.arranged[1, :n]
    for i in range(n):
        r[system.place[i]] = right[i]
    solve_forest(system.start, system.forest, system.rows, system.factor, f, r, u, lam)
    for i in range(n):
        impulse[i] = lam[system.place[i]]


@kernel
def loop_row(system, k):
    """(number of the arranged row, link 1, link 2) of row k of the loops."""
    j = system.joints.joint[system.loop[k]]
    return system.place[system.loop[k]], system.joints.link1[j], system.joints.link2[j]


@kernel(inline=False)
def factor_system(system, G, soft, rates, dof_link, support, M, zeros):
    """Factor the system of the cut model's packed mass matrix M; ``zeros`` (n,) are zeros. Returns OK or SINGULAR."""
    n, loops, f = arrange(system, G, soft, rates, dof_link), system.loop.shape[0], system.f
    code = factor_forest(system.start, system.forest, support, M, system.rows, system.compliance, system.factor)
    if code != OK or loops == 0:
        return code
    for k in range(loops):
        row, link1, link2 = loop_row(system, k)
        add_pair(system.rows, row, link1, link2, 1.0, f)
        solve_arranged(system, n, f, zeros, system.response[k], system.impulse[k])
        for d in range(f.shape[0]):
            f[d] = 0.0
    for k in range(loops):
        row, link1, link2 = loop_row(system, k)
        for m in range(loops):
            system.S[k, m] = pair_speed(system.rows, row, link1, link2, system.response[m])
    for k in range(loops):
        for m in range(k):
            system.S[k, m] = system.S[m, k] = 0.5 * (system.S[k, m] + system.S[m, k])
    return OK if inverse_root(system.S, loops, REDUNDANT, system.basis, system.root) else SINGULAR


@kernel
def times_root(system, x, out):
    """out = R·x, (l,) both."""
    for k in range(out.shape[0]):
        out[k] = 0.0
        for m in range(out.shape[0]):
            out[k] += system.root[k, m] * x[m]


@kernel(inline=False)
def solve_system(system, n, f, right, u, impulse):
    """u (6(nl − 1),) and impulse (n,) from f (6(nl − 1),) and right (n,), for n rows; ``f`` may be ``u``. Rows of loops
    get the smallest impulses."""
    solve_arranged(system, n, f, right, u, impulse)
    loops, gap, scaled = system.loop.shape[0], system.gap[0], system.gap[1]
    for k in range(loops):
        row, link1, link2 = loop_row(system, k)
        gap[k] = right[system.loop[k]] - pair_speed(system.rows, row, link1, link2, u)
    times_root(system, gap, scaled)
    for k in range(loops):
        push = 0.0
        for m in range(loops):
            push += system.root[m, k] * scaled[m]
        for d in range(u.shape[0]):
            u[d] += push * system.response[k, d]
        for i in range(n):
            impulse[i] += push * system.impulse[k, i]
        impulse[system.loop[k]] += push


@kernel
def solve_system_rows(system, f, right, u, impulses):
    """``solve_system`` of every row of f (k, 6(nl − 1)) and right (k, n)."""
    for k in range(right.shape[0]):
        solve_system(system, right.shape[1], f[k], right[k], u[k], impulses[k])
