"""Average contact forces over a step, eqs. (23) and (25) of Hammoud et al.: exact contact dynamics, stick or slip.

For one island of n contacts and loop points, with y = K^½·Δp, S = K^½ΥK^½ and p̈_free frozen (Hammoud et al., eq. (11)),

    y″ = −S·y − S·β·y′ + c,      λ̄ = −K^½·∫(y + βy′)/dt  (23),      λ̿ = −K^½·∫∫(y + βy′)·2/dt²  (25).

All contacts are first assumed to stick. If λ̄ leaves the friction cone, the contact slips: its tangential springs are
removed from the system and replaced by the friction force μ·f_n against the slip (but no more than would make it
stick), and the rest is integrated again. A contact that would pull on average is removed if its bodies separate. If
they do not, the step is longer than the contact's oscillation, half of which a real contact would not follow; the
contacts of the island are then damped for this step so that they do not oscillate. There are at most eight passes, and
one if nothing slips or pulls. Loop points, the paper's bilateral contacts (Sec. III), have no cone and always stick.

Differs from the paper in: the paper predicts forces as if all contacts stuck and projects them on the cones afterwards
(``slip="project"`` does that). The springs that would stop a sliding box also tip it, so that half of its predicted
normal forces are negative, and clipping them leaves almost no friction. Cost: each pass is cubic in the island's rows.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import DAMPING, FRICTION, STIFFNESS, is_loop
from stickslip.dynamics.delassus import block, block_of_one_link
from stickslip.math.eigen import Eigenbasis, make_eigenbasis
from stickslip.methods.expo.contact_space import contact_acceleration
from stickslip.methods.expo.modes import low_rank_averages, modal_averages
from stickslip.methods.expo.viscoelastic_pade import PadeWork, balanced_norm, choose, make_pade_work, pade_averages

AUTO, PADE = -1, -2
"""Values of ``matmuls`` other than a number of matrix products: modes if possible; Padé approximants by tolerance."""
STICK, SLIP, OPEN = 0, 1, 2
MOST_PASSES = 8
CRITICAL = 4.0
"""β·√σ of the damping added to contacts that would pull (2 is critical)."""
SETTLED = 0.01
"""Change of friction between two passes, as a fraction of the normal forces, below which no further pass follows."""


class IslandWork(NamedTuple):
    """Scratch for islands of up to m rows, three per contact; ``W`` and ``full`` hold all, the rest active rows."""

    basis: Eigenbasis
    pade: PadeWork
    W: np.ndarray
    """(m, m) K^½·Υ·K^½ [1/s²]."""
    full: np.ndarray
    """(4, m) y, y′, c, β."""
    row: np.ndarray
    """(m,) indices of the active rows among all rows."""
    S: np.ndarray
    """(m, m) active rows and columns of ``W``."""
    y: np.ndarray
    """(m,) scaled spring lengths, then ∫(y + βy′)."""
    w: np.ndarray
    """(m,) their rates, then ∫∫(y + βy′)."""
    c: np.ndarray
    """(m,) scaled accelerations without springs."""
    beta: np.ndarray
    """(m,) B/K [s]."""
    factor: np.ndarray
    """(2, m, m) Rᵀ and R of ``modes.low_rank_averages``."""
    small: np.ndarray
    """(4, m) scratch of ``modes.low_rank_averages``."""


class Averages(NamedTuple):
    """Average forces and friction state of each contact."""

    first: np.ndarray
    """(capacity, 3) λ̄ of eq. (23), which moves the velocity; contact frame [N]."""
    second: np.ndarray
    """(capacity, 3) λ̿ of eq. (25), which moves the configuration; contact frame [N]."""
    phase: np.ndarray
    """(capacity,) STICK, SLIP or OPEN."""
    slip: np.ndarray
    """(capacity, 4) for slipping contacts: expected friction [N], its direction along the two tangents, and its limit
    [N], the force that would make the contact stick."""
    leaving: np.ndarray
    """(capacity,) speed of the rest point of each normal spring [m/s]; y and y′ are relative to it."""


def make_island_work(rows: int) -> IslandWork:
    W, S = np.zeros((2, rows, rows))
    y, w, c, beta = np.zeros((4, rows))
    return IslandWork(
        basis=make_eigenbasis(rows),
        pade=make_pade_work(rows),
        W=W,
        full=np.zeros((4, rows)),
        row=np.zeros(rows, dtype=np.int64),
        S=S,
        y=y,
        w=w,
        c=c,
        beta=beta,
        factor=np.zeros((2, rows, rows)),
        small=np.zeros((4, rows)),
    )


def make_averages(contacts: int) -> Averages:
    phase = np.zeros(contacts, dtype=np.int64)
    first, second = np.zeros((2, contacts, 3))
    return Averages(first, second, phase, np.zeros((contacts, 4)), np.zeros(contacts))


@kernel
def contact_dynamics(support, L, rows, kin, contacts, members, averages, island):
    """W, y, y′, c and β of all contacts of an island: A and b of eq. (11) in scaled coordinates."""
    W, full = island.W, island.full
    for a in range(members.shape[0]):
        i, c = 3 * a, members[a]
        K = contacts.material[c, STIFFNESS]
        root = sqrt(K)
        full[2, i], full[2, i + 1], full[2, i + 2] = contact_acceleration(kin, contacts, c)
        for r in range(3):
            full[0, i + r] = root * contacts.stretch[c, r]
            full[1, i + r] = root * contacts.velocity[c, r]
            full[2, i + r] *= root
            full[3, i + r] = contacts.material[c, DAMPING] / K
        full[1, i] -= root * averages.leaving[c]
        for b in range(a + 1):
            j, d = 3 * b, members[b]
            scale = root * sqrt(contacts.material[d, STIFFNESS])
            if contacts.link1[c] == contacts.link1[d] and contacts.link2[c] == contacts.link2[d]:
                block_of_one_link(support, L, rows, c, d, W, i, j)
            else:
                block(support, L, rows, c, d, W, i, j)
            for r in range(3):
                for s in range(3):
                    W[i + r, j + s] *= scale
            if b < a:
                for r in range(3):
                    for s in range(3):
                        W[j + s, i + r] = W[i + r, j + s]


@kernel
def remaining_rows(contacts, members, averages, island):
    """S, y, w, c, β of the active springs; friction of slipping contacts is added to c. Returns their number."""
    W, full, row = island.W, island.full, island.row
    n = 0
    for a in range(members.shape[0]):
        phase = averages.phase[members[a]]
        for r in range(3):
            if phase == STICK or (phase == SLIP and r == 0):
                row[n] = 3 * a + r
                n += 1
    for i in range(n):
        k = row[i]
        island.y[i], island.w[i], island.c[i], island.beta[i] = full[0, k], full[1, k], full[2, k], full[3, k]
        for j in range(n):
            island.S[i, j] = W[k, row[j]]
    for a in range(members.shape[0]):
        c = members[a]
        if averages.phase[c] == SLIP:
            size = averages.slip[c, 0] / sqrt(contacts.material[c, STIFFNESS])
            f1, f2 = size * averages.slip[c, 1], size * averages.slip[c, 2]
            for i in range(n):
                island.c[i] += W[row[i], 3 * a + 1] * f1 + W[row[i], 3 * a + 2] * f2
    return n


@kernel
def deficient(contacts, members, averages):
    """Whether the rank of S is less than its size: three or more sticking contacts of one link have six degrees of
    freedom."""
    for a in range(2, members.shape[0]):
        c, others = members[a], 0
        if averages.phase[c] != STICK:
            continue
        for b in range(a):
            d = members[b]
            alike = contacts.link1[c] == contacts.link1[d] and contacts.link2[c] == contacts.link2[d]
            if alike and averages.phase[d] == STICK:
                others += 1
        if others >= 2:
            return True
    return False


@kernel
def integrate_springs(island, n, low_rank, matmuls, tolerance, dt):
    """y ← ∫(y + βy′), w ← ∫∫(y + βy′), the integrals of eq. (16); False if the modes cannot be found (never seen)."""
    beta = island.beta
    alike = matmuls == AUTO
    for i in range(1, n):
        alike = alike and abs(beta[i] - beta[0]) <= 1e-12 * beta[0]
    if alike and low_rank:
        return low_rank_averages(
            island.S, n, beta[0], dt, island.basis, island.factor, island.small, island.y, island.w, island.c
        )
    if alike:
        return modal_averages(island.S, n, beta[0], dt, island.basis, island.y, island.w, island.c)
    row, times = matmuls, 1
    if matmuls < 0:
        row, times = choose(balanced_norm(island.S, n, beta, dt), tolerance, n)
    pade_averages(island.S, n, beta, dt, row, times, island.pade, island.y, island.w, island.c)
    return True


@kernel
def read_forces(contacts, members, averages, island, n, dt):
    """λ̄ (23) and λ̿ (25) from the integrals; friction of slipping contacts from their normal forces."""
    for a in range(members.shape[0]):
        for r in range(3):
            averages.first[members[a], r] = 0.0
            averages.second[members[a], r] = 0.0
    for i in range(n):
        c, r = members[island.row[i] // 3], island.row[i] % 3
        root = sqrt(contacts.material[c, STIFFNESS])
        averages.first[c, r] = -root * island.y[i] / dt  # Hammoud et al., eq. (23)
        averages.second[c, r] = -root * island.w[i] * 2.0 / (dt * dt)  # Hammoud et al., eq. (25)
    for a in range(members.shape[0]):
        c = members[a]
        if averages.phase[c] == SLIP:
            mu, most = contacts.material[c, FRICTION], averages.slip[c, 3]
            first = min(most, mu * max(0.0, averages.first[c, 0]))
            second = min(most, mu * max(0.0, averages.second[c, 0]))
            for r in range(1, 3):
                averages.first[c, r] = first * averages.slip[c, r]
                averages.second[c, r] = second * averages.slip[c, r]


@kernel
def revise(contacts, members, averages, island):
    """Decide which contacts slip or open, and whether a step longer than their oscillation needs damping. Returns True
    if the springs must be integrated again."""
    again, slipping, change, total = False, False, 0.0, 0.0
    for a in range(members.shape[0]):
        c = members[a]
        if is_loop(contacts, c):
            continue
        fn, f1, f2 = averages.first[c, 0], averages.first[c, 1], averages.first[c, 2]
        size, mu = sqrt(f1 * f1 + f2 * f2), contacts.material[c, FRICTION]
        if averages.phase[c] == STICK and size > mu * max(0.0, fn):
            averages.phase[c] = SLIP
            averages.slip[c, 0] = mu * max(0.0, fn)
            averages.slip[c, 1], averages.slip[c, 2], averages.slip[c, 3] = f1 / size, f2 / size, size
            again = True
        elif averages.phase[c] == SLIP:
            slipping = True
            change += abs(size - averages.slip[c, 0])
            averages.slip[c, 0] = size
        total += abs(fn)
    if again:
        return True
    damping = island.full[3, 0]
    for a in range(members.shape[0]):
        c = members[a]
        if averages.phase[c] == OPEN or averages.first[c, 0] >= 0.0 or is_loop(contacts, c):
            continue
        again = True
        enough = CRITICAL / sqrt(island.W[3 * a, 3 * a])
        if island.full[1, 3 * a] > 0.0 or enough <= island.full[3, 3 * a]:
            averages.phase[c] = OPEN
        else:
            damping = max(damping, enough)
    if damping > island.full[3, 0]:
        for i in range(3 * members.shape[0]):
            if not is_loop(contacts, members[i // 3]):
                island.full[3, i] = max(damping, island.full[3, i])
    return again or (slipping and change > SETTLED * total)


@kernel
def project_on_cone(force, c, mu):
    """Set a pulling normal force to zero, eq. (21), and scale the tangential force back to μ·f_n, eq. (22)."""
    fn = max(0.0, force[c, 0])
    size = sqrt(force[c, 1] * force[c, 1] + force[c, 2] * force[c, 2])
    force[c, 0] = fn
    if size > mu * fn:
        force[c, 1] *= mu * fn / size
        force[c, 2] *= mu * fn / size


@kernel
def average_forces(contacts, members, averages, island, passes, matmuls, tolerance, dt):
    """λ̄ and λ̿ of the contacts of an island, inside their friction cones; its dynamics must be up to date."""
    for a in range(members.shape[0]):
        averages.phase[members[a]] = STICK if contacts.gap[members[a]] < 0.0 else OPEN
    for k in range(passes):
        n = remaining_rows(contacts, members, averages, island)
        low_rank = deficient(contacts, members, averages)
        if not integrate_springs(island, n, low_rank, matmuls, tolerance, dt):
            return False
        read_forces(contacts, members, averages, island, n, dt)
        if k + 1 == passes or not revise(contacts, members, averages, island):
            break
    for a in range(members.shape[0]):
        c = members[a]
        if not is_loop(contacts, c):
            project_on_cone(averages.first, c, contacts.material[c, FRICTION])
            project_on_cone(averages.second, c, contacts.material[c, FRICTION])
    return True
