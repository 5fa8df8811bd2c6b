"""The contacts of one island, in scaled coordinates: what all ways of averaging their forces start from.

With y = √K·Δp, W = √K·Υ·√K and p̈_free frozen, the contact dynamics (Hammoud et al., eq. (11)) reads

    y″ = W·f + c,    f = −(y + β·y′) of every spring that is held,    β = B/K,    λ = √K·f.

Rows are held if their springs act: all three of a contact that sticks, the normal one of a contact that slips. Friction
of contacts that slip is a constant force in their tangential rows. Sizes: three rows per contact.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import DAMPING, FRICTION, STIFFNESS, TANGENT_DAMPING, TANGENT_STIFFNESS, is_loop
from stickslip.dynamics.delassus import block, block_of_one_link
from stickslip.math.eigen import Eigenbasis, make_eigenbasis
from stickslip.methods.expo.contact_space import contact_acceleration
from stickslip.methods.expo.viscoelastic_pade import PadeWork, make_pade_work

STICK, SLIP, OPEN = 0, 1, 2
SLIGHT, LEAST = 1e-6, 1e-9
"""Stiffness of a damper without a spring over its damping [1/s], and the least stiffness [N/m]."""


class IslandWork(NamedTuple):
    """Scratch for islands of up to m rows. ``W`` and the arrays after it hold all rows, those after ``row`` the held
    ones."""

    basis: Eigenbasis
    pade: PadeWork
    W: np.ndarray
    """(m, m) √K·Υ·√K [1/s²]."""
    full: np.ndarray
    """(4, m) y, y′, c, β; y and y′ at the beginning of the piece of the step at hand, at last at the step's end."""
    root: np.ndarray
    """(m,) √K."""
    total: np.ndarray
    """(2, m) ∫f and ∫∫f since the beginning of the step."""
    part: np.ndarray
    """(2, m) the same since the beginning of the piece."""
    friction: np.ndarray
    """(m,) constant friction of contacts that slip, in their tangential rows."""
    ending: np.ndarray
    """(2, m) whether the phase of a contact ends with the piece; how often one ended at once."""
    row: np.ndarray
    """(m,) indices of the held rows among all rows."""
    place: np.ndarray
    """(m,) where each row is among the held ones; −1 if it is not held."""
    S: np.ndarray
    """(m, m) held rows and columns of ``W``."""
    y: np.ndarray
    """(m,) scaled lengths of held springs, then ∫(y + βy′)."""
    w: np.ndarray
    """(m,) their rates, then ∫∫(y + βy′)."""
    c: np.ndarray
    """(m,) scaled accelerations without springs."""
    beta: np.ndarray
    """(m,) B/K [s]."""
    factor: np.ndarray
    """(2, m, m) Rᵀ and R of ``modes.low_rank_averages``; or the eigenvectors of S, one in each row of the first."""
    small: np.ndarray
    """(4, m) scratch of ``modes.low_rank_averages``; or the modes at one instant."""
    start: np.ndarray
    """(3, m) y, y′ and c of the modes at the beginning of the piece."""
    columns: np.ndarray
    """(3, m, m) for each row that is not held: what a unit of its force adds to c of the modes, to ∫f of the held rows,
    and to ∫∫f."""
    alone: np.ndarray
    """(2, m) ∫f and ∫∫f of the held rows without friction."""
    margin: np.ndarray
    """(4, m) how far contacts are from the end of their phase, at two instants, by two criteria."""


class Averages(NamedTuple):
    """Average forces and friction state of each contact."""

    first: np.ndarray
    """(capacity, 3) λ̄ of eq. (23), which moves the velocity; contact frame [N]."""
    second: np.ndarray
    """(capacity, 3) λ̿ of eq. (25), which moves the configuration; contact frame [N]."""
    phase: np.ndarray
    """(capacity,) STICK, SLIP or OPEN."""
    slip: np.ndarray
    """(capacity, 4) direction of the slip along the two tangents; the same at the beginning of the piece."""
    mu: np.ndarray
    """(capacity,) coefficient of friction between scaled forces, μ·√(Kₙ/Kₜ)."""
    edge: np.ndarray
    """(capacity,) y of the normal spring where the surfaces part."""
    creep: np.ndarray
    """(capacity, 2) how far the friction anchor moves in the step along the two tangents [m]."""
    stretch: np.ndarray
    """(capacity, 2) stretch of the tangential springs at the end of the step [m]."""
    frame: np.ndarray
    """(capacity, 2, 3) the tangents in the frame of link 1, at the beginning of the step."""
    leaving: np.ndarray
    """(capacity,) speed of the rest point of each normal spring [m/s]; y and y′ are relative to it."""
    unsettled: np.ndarray
    """(2,) islands whose phases did not settle in the step at hand, and the number of steps with such islands."""


def make_island_work(rows: int) -> IslandWork:
    def vectors(*shape: int) -> np.ndarray:
        return np.zeros((*shape, rows))

    y, w, c, beta = vectors(4)
    return IslandWork(
        basis=make_eigenbasis(rows),
        pade=make_pade_work(rows),
        W=vectors(rows),
        full=vectors(4),
        root=vectors(),
        total=vectors(2),
        part=vectors(2),
        friction=vectors(),
        ending=np.zeros((2, rows), dtype=np.int64),
        row=np.zeros(rows, dtype=np.int64),
        place=np.zeros(rows, dtype=np.int64),
        S=vectors(rows),
        y=y,
        w=w,
        c=c,
        beta=beta,
        factor=vectors(2, rows),
        small=vectors(4),
        start=vectors(3),
        columns=vectors(3, rows),
        alone=vectors(2),
        margin=vectors(4),
    )


def make_averages(contacts: int) -> Averages:
    first, second = np.zeros((2, contacts, 3))
    creep, stretch = np.zeros((2, contacts, 2))
    slip = np.zeros((contacts, 4))
    frame = np.zeros((contacts, 2, 3))
    mu, edge, leaving = np.zeros((3, contacts))
    phase, unsettled = np.zeros(contacts, dtype=np.int64), np.zeros(2, dtype=np.int64)
    return Averages(first, second, phase, slip, mu, edge, creep, stretch, frame, leaving, unsettled)


@kernel
def gains(K, B):
    """(√K, B/K) of a spring and its damper. A damper without a spring gets one that is not felt beside it."""
    K = max(K, SLIGHT * B, LEAST)
    return sqrt(K), B / K


@kernel
def contact_dynamics(support, L, rows, kin, contacts, members, averages, island):
    """W, y, y′, c, β and √K of all rows of an island: A and b of eq. (11) in scaled coordinates."""
    W, full, scale = island.W, island.full, island.root
    for a in range(members.shape[0]):
        i, c = 3 * a, members[a]
        across = gains(contacts.material[c, TANGENT_STIFFNESS], contacts.material[c, TANGENT_DAMPING])
        along = gains(contacts.material[c, STIFFNESS], contacts.material[c, DAMPING])
        root = along[0]
        averages.mu[c] = contacts.material[c, FRICTION] * root / across[0]
        full[2, i], full[2, i + 1], full[2, i + 2] = contact_acceleration(kin, contacts, c)
        for r in range(3):
            scale[i + r], full[3, i + r] = along if r == 0 else across
            full[0, i + r] = scale[i + r] * contacts.stretch[c, r]
            full[1, i + r] = scale[i + r] * contacts.velocity[c, r]
            full[2, i + r] *= scale[i + r]
            island.total[0, i + r], island.total[1, i + r], island.friction[i + r] = 0.0, 0.0, 0.0
        full[1, i] -= root * averages.leaving[c]
        averages.edge[c] = 1e300
        if averages.leaving[c] == 0.0:
            averages.edge[c] = full[0, i] - root * contacts.gap[c]
        if contacts.gap[c] >= 0.0 and not is_loop(contacts, c):
            full[0, i], averages.edge[c] = root * contacts.gap[c], 0.0
        averages.creep[c, 0], averages.creep[c, 1] = 0.0, 0.0
        for b in range(a + 1):
            j, d = 3 * b, members[b]
            if contacts.link1[c] == contacts.link1[d] and contacts.link2[c] == contacts.link2[d]:
                block_of_one_link(support, L, rows, c, d, W, i, j)
            else:
                block(support, L, rows, c, d, W, i, j)
            for r in range(3):
                for s in range(3):
                    W[i + r, j + s] *= scale[i + r] * scale[j + s]
            if b < a:
                for r in range(3):
                    for s in range(3):
                        W[j + s, i + r] = W[i + r, j + s]


@kernel
def hold_rows(members, averages, island):
    """S, y, w, c, β of the springs that act in the present phases. Returns their number."""
    W, full, row = island.W, island.full, island.row
    n = 0
    for a in range(members.shape[0]):
        phase = averages.phase[members[a]]
        for r in range(3):
            if phase == STICK or (phase == SLIP and r == 0):
                island.place[3 * a + r] = n
                row[n] = 3 * a + r
                n += 1
            else:
                island.place[3 * a + r] = -1
    for i in range(n):
        k = row[i]
        island.y[i], island.w[i], island.c[i], island.beta[i] = full[0, k], full[1, k], full[2, k], full[3, k]
        for j in range(n):
            island.S[i, j] = W[k, row[j]]
    return n


@kernel
def alike(island, n):
    """Whether all held rows have the same β, so that their dynamics has modes."""
    beta = island.beta
    same = True
    for i in range(1, n):
        same = same and abs(beta[i] - beta[0]) <= 1e-12 * beta[0]
    return same
