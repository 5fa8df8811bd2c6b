"""Average contact forces over a step, eqs. (23) and (25) of Hammoud et al.: exact dynamics; stick, slip or open.

For one island of n contacts and loop points, with y = K^½·Δp, S = K^½ΥK^½ and p̈_free frozen (Hammoud et al., eq. (11)),

    y″ = −S·y − S·β·y′ + c,      λ̄ = −K^½·∫(y + βy′)/dt  (23),      λ̿ = −K^½·∫∫(y + βy′)·2/dt²  (25).

If all contacts stick at the beginning, the springs are integrated over the whole step at once. That is the answer if
the bound of ``modes.departure`` shows every force inside its cone at every instant, which it does for robots that
stand. Otherwise ``stick_slip`` finds the phases of the contacts: it follows them through the step, or chooses ones that
fit the averages. Loop points, the paper's bilateral contacts (Sec. III), have no cone and always stick.

Differs from the paper in: the paper predicts forces as if all contacts stuck and projects them on the cones afterwards
(``slip="project"`` does that). The springs that would stop a sliding box also tip it, so that half of its predicted
normal forces are negative, and clipping them leaves almost no friction.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.contacts import FRICTION, is_loop
from stickslip.collision.convex.finish import FEATURES
from stickslip.methods.expo.island import OPEN, STICK, alike, hold_rows
from stickslip.methods.expo.modes import low_rank_averages, modal_averages
from stickslip.methods.expo.phase_responses import AUTO
from stickslip.methods.expo.settle import settle
from stickslip.methods.expo.stick_slip import begin_phases, march
from stickslip.methods.expo.viscoelastic_pade import balanced_norm, choose, pade_averages

PROJECT, SETTLE, FOLLOW = 0, 1, 2
"""How slip is treated: clipped forces, phases that fit the averages, phases followed through the step."""


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
            same = contacts.link1[c] == contacts.link1[d] and contacts.link2[c] == contacts.link2[d]
            if same and averages.phase[d] == STICK:
                others += 1
        if others >= 2:
            return True
    return False


@kernel
def integrate_springs(island, n, low_rank, matmuls, tolerance, dt):
    """y ← ∫(y + βy′), w ← ∫∫(y + βy′), the integrals of eq. (16). Returns a bound of the departures of forces from
    their means (an estimate where there are no modes), or −1 if the modes cannot be found (never seen)."""
    beta = island.beta
    modal = matmuls == AUTO and alike(island, n)
    if modal and low_rank:
        return low_rank_averages(
            island.S, n, beta[0], dt, island.basis, island.factor, island.small, island.y, island.w, island.c
        )
    if modal:
        return modal_averages(island.S, n, beta[0], dt, island.basis, island.y, island.w, island.c)
    row, times = matmuls, 1
    if matmuls < 0:
        row, times = choose(balanced_norm(island.S, n, beta, dt), tolerance, n)
    pade_averages(island.S, n, beta, dt, row, times, island.pade, island.y, island.w, island.c)
    return largest_departure(island, n, dt)


@kernel
def largest_departure(island, n, dt):
    """Twice the largest difference of a force at the beginning or the end of a step from its mean, ``island.y``/dt. It
    stands for the bound where there are no modes to give one."""
    most = 0.0
    for i in range(n):
        k = island.row[i]
        y, w, c, beta = island.full[0, k], island.full[1, k], island.full[2, k], island.full[3, k]
        mean, first = island.y[i] / dt, y + beta * w
        y, w = y + dt * (w + 0.5 * dt * c), w + dt * c
        for j in range(n):
            y -= island.S[i, j] * island.w[j]
            w -= island.S[i, j] * island.y[j]
        most = max(most, abs(first - mean), abs(y + beta * w - mean))
    return 2.0 * most


@kernel
def stay_inside(contacts, members, averages, island, bound, dt):
    """Whether all contacts stay inside their cones, from ∫f over the step and the bound of departures from the mean."""
    for a in range(members.shape[0]):
        c, i = members[a], 3 * a
        if is_loop(contacts, c):
            continue
        fn, f1, f2 = island.total[0, i] / dt, island.total[0, i + 1] / dt, island.total[0, i + 2] / dt
        if fn <= bound or sqrt(f1 * f1 + f2 * f2) + bound > averages.mu[c] * (fn - bound):
            return False
    return True


@kernel
def read_forces(contacts, members, averages, island, dt):
    """λ̄ (23) and λ̿ (25) from the integrals of the forces, inside the cones."""
    for a in range(members.shape[0]):
        c = members[a]
        for r in range(3):
            root = island.root[3 * a + r]
            averages.first[c, r] = root * island.total[0, 3 * a + r] / dt
            averages.second[c, r] = root * island.total[1, 3 * a + r] * 2.0 / (dt * dt)
        if not is_loop(contacts, c):
            project_on_cone(averages.first, c, contacts.material[c, FRICTION])
            project_on_cone(averages.second, c, contacts.material[c, FRICTION])


@kernel
def rests(contacts, c):
    """Whether the surface of contact c does not move along itself."""
    return contacts.surface[c, 1] == 0.0 and contacts.surface[c, 2] == 0.0


@kernel
def stretch_of_stuck(contacts, members, averages, island, dt):
    """Stretch of the tangential springs at the end of the step, of contacts that stick all the time and whose springs
    have it from their slip, or may hand it on to other contacts."""
    full, W = island.full, island.W
    for a in range(members.shape[0]):
        c = members[a]
        if is_loop(contacts, c) or (contacts.rolling[c] == 0 and contacts.pair[c] < FEATURES and rests(contacts, c)):
            continue
        for r in range(2):
            t = 3 * a + 1 + r
            y = full[0, t] + dt * (full[1, t] + 0.5 * dt * full[2, t])
            for i in range(3 * members.shape[0]):
                y += W[t, i] * island.total[1, i]
            averages.stretch[c, r] = y / island.root[t]


@kernel
def read_stretch(contacts, members, averages, island):
    """Stretch of the tangential springs at the end of the step."""
    for a in range(members.shape[0]):
        c = members[a]
        if is_loop(contacts, c):
            continue
        for r in range(2):
            t = 3 * a + 1 + r
            averages.stretch[c, r] = island.full[0, t] / island.root[t]


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
def average_forces(contacts, members, averages, island, slip, matmuls, tolerance, dt, divide):
    """λ̄ and λ̿ of the contacts of an island, inside their friction cones; its dynamics must be up to date. Returns the
    time up to which they hold: dt [s], or the first opening of a contact if ``divide``; −1 if the modes cannot be
    found."""
    if slip == PROJECT:
        for a in range(members.shape[0]):
            averages.phase[members[a]] = STICK if contacts.gap[members[a]] < 0.0 else OPEN
    sticking = slip == PROJECT or begin_phases(contacts, members, averages, island)
    if sticking:
        n = hold_rows(members, averages, island)
        bound = integrate_springs(island, n, deficient(contacts, members, averages), matmuls, tolerance, dt)
        if bound < 0.0:
            return bound
        for i in range(n):
            island.total[0, island.row[i]], island.total[1, island.row[i]] = -island.y[i], -island.w[i]
        sticking = slip == PROJECT or stay_inside(contacts, members, averages, island, bound, dt)
    length = dt
    if sticking:
        stretch_of_stuck(contacts, members, averages, island, dt)
    else:
        for i in range(3 * members.shape[0]):
            island.total[0, i], island.total[1, i] = 0.0, 0.0
        if slip == FOLLOW:
            length = march(contacts, members, averages, island, matmuls, tolerance, dt, divide)
        elif not settle(contacts, members, averages, island, matmuls, tolerance, dt):
            return -1.0
    if length > 0.0:
        read_forces(contacts, members, averages, island, length)
        if not sticking:
            read_stretch(contacts, members, averages, island)
    return length
