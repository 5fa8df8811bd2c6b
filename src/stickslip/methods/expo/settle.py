"""Phases of contacts that fit the averages over the rest of a step, without looking inside it.

A contact whose mean force leaves the cone slips, one that pulls on average opens, and friction brings a slipping point
to rest at the end of the step if less than μ·f_n does. Every contact changes from sticking to slipping to open only,
so that there are at most three passes per contact. All contacts are judged at once, so that their order does not
matter.

Differs from the paper in: averages outside their cones (21), (22) are not projected as for (24) and (26); the integrals
(16) are computed anew with these contacts slipping or open.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.contacts import is_loop
from stickslip.methods.expo.island import OPEN, SLIP, STICK, alike, hold_rows
from stickslip.methods.expo.phase_responses import (
    AUTO,
    EDGE,
    add_friction,
    add_part,
    end_stretch,
    find_modes,
    modal_columns,
    modal_responses,
    pade_responses,
    row_displacement,
    row_velocity,
    set_friction,
)

MOST_PASSES = 16
"""Largest number of passes over the phases of an island."""
MOST_ITERATIONS = 500
"""Largest number of iterations of friction forces."""
CRITICAL = 4.0
"""β·√σ of the damping added to contacts that would pull (2 is critical)."""


@kernel
def revise(contacts, members, averages, island, T):
    """Change phases that do not fit the mean forces of ``part`` over T [s]. Returns whether one has changed.

    A contact that would pull on average opens if its bodies separate. If they do not, the step is longer than the
    contact's oscillation, half of which a real contact would not follow; the contacts of the island are then damped for
    this step so that they do not oscillate."""
    again, damping, full = False, 0.0, island.full
    for a in range(members.shape[0]):
        c, i = members[a], 3 * a
        if is_loop(contacts, c) or averages.phase[c] == OPEN:
            continue
        fn, f1, f2 = island.part[0, i], island.part[0, i + 1], island.part[0, i + 2]
        size = sqrt(f1 * f1 + f2 * f2)
        if averages.phase[c] == STICK and size > averages.mu[c] * max(0.0, fn) * (1.0 + EDGE):
            averages.phase[c], again = SLIP, True
            averages.slip[c, 0], averages.slip[c, 1] = -f1 / size, -f2 / size
    if again:
        return True
    for a in range(members.shape[0]):
        c, i = members[a], 3 * a
        if is_loop(contacts, c) or averages.phase[c] == OPEN or island.part[0, i] >= 0.0:
            continue
        again = True
        enough = CRITICAL / sqrt(island.W[i, i])
        if full[1, i] > 0.0 or enough <= full[3, i]:
            averages.phase[c] = OPEN
            island.friction[i + 1], island.friction[i + 2] = 0.0, 0.0
        else:
            damping = max(damping, enough)
    if damping > 0.0:
        for i in range(3 * members.shape[0]):
            if not is_loop(contacts, members[i // 3]):
                full[3, i] = max(damping, full[3, i])
    return again


@kernel(inline=False)
def friction_to_rest(members, averages, island, n, T):
    """Friction of slipping contacts over T [s]: μ times the mean normal force against the slip, or less if that brings
    the point to rest. All contacts change at once, by no more than keeps the sum stable, with momentum (Nesterov's
    accelerated projection). Returns whether it has converged; ``part`` is up to date."""
    E = island.margin[0]
    count = members.shape[0]
    for a in range(count):
        E[a] = 0.0
        if averages.phase[members[a]] != SLIP:
            continue
        for t in (3 * a + 1, 3 * a + 2):
            total = 0.0
            for b in range(count):
                if averages.phase[members[b]] != SLIP:
                    continue
                for s in (3 * b + 1, 3 * b + 2):
                    x = T * island.W[t, s]
                    for i in range(n):
                        x += island.W[t, island.row[i]] * island.columns[1, s, i]
                    total += abs(x)
            E[a] = max(E[a], total)
    best, run = island.margin[1], 0
    for i in range(3 * count):
        best[i] = island.friction[i]
    for _ in range(MOST_ITERATIONS):
        add_friction(members, averages, island, n, T)
        change, scale, back = 0.0, 0.0, 0.0
        run += 1
        for a in range(count):
            c, t = members[a], 3 * a + 1
            if averages.phase[c] != SLIP:
                continue
            v1, v2 = row_velocity(members, island, t, T), row_velocity(members, island, t + 1, T)
            d1, d2 = row_displacement(members, island, t, T) / T, row_displacement(members, island, t + 1, T) / T
            square, along = d1 * d1 + d2 * d2, v1 * d1 + v2 * d2
            if square > 0.0 and along > 0.0:  # it slips on: against the mean slip
                share = min(1.0, along / square)
                v1, v2 = v1 + share * (d1 - v1), v2 + share * (d2 - v2)
            f1, f2 = island.friction[t], island.friction[t + 1]
            if E[a] > 0.0:
                f1, f2 = f1 - v1 / E[a], f2 - v2 / E[a]
            size, most = sqrt(f1 * f1 + f2 * f2), averages.mu[c] * max(0.0, island.part[0, 3 * a]) / T
            if size > 0.0:
                averages.slip[c, 0], averages.slip[c, 1] = -f1 / size, -f2 / size
            island.margin[2, t], island.margin[2, t + 1] = island.friction[t], island.friction[t + 1]
            change += set_friction(averages, island, a, c, min(size, most))
            scale += most
            for r in range(t, t + 2):
                back += (island.margin[2, r] - island.friction[r]) * (island.friction[r] - best[r])
        if change <= 1e-12 * scale:
            break
        if back > 0.0:  # the momentum of the iteration points back: it starts again
            run = 0
        for i in range(3 * count):
            now = island.friction[i]
            island.friction[i] += run / (run + 3.0) * (now - best[i])
            best[i] = now
    else:
        for i in range(3 * count):
            island.friction[i] = best[i]
    add_friction(members, averages, island, n, T)
    return change <= 1e-6 * scale


@kernel(inline=False)
def settle(contacts, members, averages, island, matmuls, tolerance, T):
    """Find phases that fit the averages over the rest of the step, T [s], and add their forces to ``total``. Returns
    False if the modes cannot be found."""
    settled = False
    for i in range(3 * members.shape[0]):
        island.friction[i] = 0.0
    for _ in range(MOST_PASSES):
        n = hold_rows(members, averages, island)
        if matmuls == AUTO and alike(island, n):
            if not find_modes(island, n):
                return False
            modal_columns(members, averages, island, n)
            modal_responses(members, averages, island, n, T)
        else:
            pade_responses(members, averages, island, n, matmuls, tolerance, T)
        settled = friction_to_rest(members, averages, island, n, T)
        if not revise(contacts, members, averages, island, T):
            break
    else:
        settled = False
    if not settled:
        averages.unsettled[0] += 1
    for t in range(3 * members.shape[0]):
        island.margin[0, t] = island.full[0, t] + row_displacement(members, island, t, T)
    for a in range(members.shape[0]):
        c, i = members[a], 3 * a
        for t in range(i, i + 3):
            island.full[0, t] = island.margin[0, t]
        if averages.phase[c] == SLIP:
            end_stretch(averages, island, a, c, averages.mu[c] * max(0.0, island.part[0, i]) / T, False)
        elif averages.phase[c] == OPEN:
            end_stretch(averages, island, a, c, 0.0, False)
    add_part(members, island, T)
    return True
