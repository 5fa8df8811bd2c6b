"""Responses of an island whose contacts keep their phases: the integrals of eq. (16) for contacts that stick and slip.

Rows that springs hold are followed by their modes or by Padé approximants; friction of contacts that slip acts on them
from outside, by the columns of its responses. The friction spring of a contact that slips ends with the stretch that
the shared law (``soft.spring_damper``) gives it: along the friction force, and at most μ·f_n/K. The anchor moves by
the rest.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.math.eigen import from_modes, to_modes
from stickslip.methods.expo.island import SLIP, STICK
from stickslip.methods.expo.oscillator import response
from stickslip.methods.expo.viscoelastic_pade import balanced_norm, choose, pade_averages

AUTO, PADE = -1, -2
"""Values of ``matmuls`` other than a number of matrix products: modes if possible; Padé approximants by tolerance."""
EDGE = 1e-9
"""Relative tolerance of the edge of a cone."""


@kernel(inline=False)
def find_modes(island, n):
    """Modes of the held rows: eigenvectors in the rows of ``factor[0]``, eigenvalues in ``basis.value``, and y, y′ and
    c of each mode in ``start``. Returns False if the eigenvalues are not found (never seen)."""
    if n == 0:
        return True
    S, V, basis = island.S, island.factor[0], island.basis
    rotations = to_modes(S, n, basis, island.y, island.w, island.c)
    if rotations < 0:
        return False
    for i in range(n):
        island.start[0, i], island.start[1, i], island.start[2, i] = island.y[i], island.w[i], island.c[i]
        basis.value[i] = max(0.0, basis.value[i])
        for j in range(n):
            V[i, j] = 1.0 if i == j else 0.0
    for i in range(0, n, 2):
        from_modes(S, n, basis, rotations, V[i], V[i + 1] if i + 1 < n else island.factor[1, 0])
    return True


@kernel
def modal_columns(members, averages, island, n):
    """What a unit of force in each row that is not held adds to c of the modes: ``columns[0]``. The same numbers turn
    ∫f of the modes into the velocity of that row."""
    W, V, C = island.W, island.factor[0], island.columns[0]
    for a in range(members.shape[0]):
        phase = averages.phase[members[a]]
        if phase == STICK:
            continue
        for r in range(3):
            t = 3 * a + r
            if island.place[t] >= 0:
                continue
            for k in range(n):
                total = 0.0
                for i in range(n):
                    total += V[k, i] * W[island.row[i], t]
                C[t, k] = total


@kernel(inline=False)
def modal_responses(members, averages, island, n, T):
    """∫f and ∫∫f of the held rows over T [s]: ``alone`` without friction, and ``columns`` for a unit of friction."""
    V, C, P, Q = island.factor[0], island.columns[0], island.columns[1], island.columns[2]
    alone, start, b2, b3 = island.alone, island.start, island.small[0], island.small[1]
    for i in range(n):
        alone[0, i], alone[1, i] = 0.0, 0.0
    for k in range(n):
        sigma, beta = island.basis.value[k], island.beta[0]
        g, G1, G2, G3, _, _ = response(sigma, beta * sigma, T)
        B1 = G1 + beta * g
        b2[k], b3[k] = G2 + beta * G1, G3 + beta * G2
        y0, w0, c0 = start[0, k], start[1, k], start[2, k]
        first, second = y0 * g + w0 * B1 + c0 * b2[k], y0 * G1 + w0 * b2[k] + c0 * b3[k]
        for i in range(n):
            alone[0, i] -= V[k, i] * first
            alone[1, i] -= V[k, i] * second
    for a in range(members.shape[0]):
        if averages.phase[members[a]] != SLIP:
            continue
        for t in (3 * a + 1, 3 * a + 2):
            for i in range(n):
                P[t, i], Q[t, i] = 0.0, 0.0
            for k in range(n):
                first, second = b2[k] * C[t, k], b3[k] * C[t, k]
                for i in range(n):
                    P[t, i] -= V[k, i] * first
                    Q[t, i] -= V[k, i] * second


@kernel(inline=False)
def pade_responses(members, averages, island, n, matmuls, tolerance, T):
    """As ``modal_responses``, where rows differ in B/K or the order of the approximant is given."""
    row, times = matmuls, 1
    if matmuls < 0:
        row, times = choose(balanced_norm(island.S, n, island.beta, T), tolerance, n)
    pade_averages(island.S, n, island.beta, T, row, times, island.pade, island.y, island.w, island.c)
    for i in range(n):
        island.alone[0, i], island.alone[1, i] = -island.y[i], -island.w[i]
    for a in range(members.shape[0]):
        if averages.phase[members[a]] != SLIP:
            continue
        for t in (3 * a + 1, 3 * a + 2):
            for i in range(n):
                island.y[i], island.w[i], island.c[i] = 0.0, 0.0, island.W[island.row[i], t]
            pade_averages(island.S, n, island.beta, T, row, times, island.pade, island.y, island.w, island.c)
            for i in range(n):
                island.columns[1, t, i], island.columns[2, t, i] = -island.y[i], -island.w[i]


@kernel
def add_friction(members, averages, island, n, T):
    """``part``, ∫f and ∫∫f over T [s] of all rows, under the present friction."""
    part, friction = island.part, island.friction
    for i in range(3 * members.shape[0]):
        part[0, i], part[1, i] = T * friction[i], 0.5 * T * T * friction[i]
    for i in range(n):
        part[0, island.row[i]], part[1, island.row[i]] = island.alone[0, i], island.alone[1, i]
    for a in range(members.shape[0]):
        if averages.phase[members[a]] != SLIP:
            continue
        for t in (3 * a + 1, 3 * a + 2):
            f = friction[t]
            if f != 0.0:
                for i in range(n):
                    part[0, island.row[i]] += island.columns[1, t, i] * f
                    part[1, island.row[i]] += island.columns[2, t, i] * f


@kernel
def row_velocity(members, island, t, T):
    """y′ of row t after T [s] under ``part``."""
    total = island.full[1, t] + T * island.full[2, t]
    for i in range(3 * members.shape[0]):
        total += island.W[t, i] * island.part[0, i]
    return total


@kernel
def row_displacement(members, island, t, T):
    """Change of y of row t in T [s] under ``part``."""
    total = T * island.full[1, t] + 0.5 * T * T * island.full[2, t]
    for i in range(3 * members.shape[0]):
        total += island.W[t, i] * island.part[1, i]
    return total


@kernel
def set_friction(averages, island, a, c, size):
    """Friction of contact c against its slip; returns the change."""
    t = 3 * a + 1
    f1, f2 = -size * averages.slip[c, 0], -size * averages.slip[c, 1]
    change = abs(f1 - island.friction[t]) + abs(f2 - island.friction[t + 1])
    island.friction[t], island.friction[t + 1] = f1, f2
    return change


@kernel
def add_part(members, island, T):
    """Add the piece of length T [s] to the integrals since the beginning of the step."""
    total, part = island.total, island.part
    for i in range(3 * members.shape[0]):
        total[1, i] += T * total[0, i] + part[1, i]
        total[0, i] += part[0, i]


@kernel
def end_stretch(averages, island, a, c, most, turned):
    """Shorten the tangential springs of contact c, which slips, to the law's stretch, at most ``most``, and turn them
    against the slip if ``turned``. Their anchor moves by the rest. They have their new lengths already."""
    full, t = island.full, 3 * a + 1
    y1, y2 = full[0, t], full[0, t + 1]
    length = sqrt(y1 * y1 + y2 * y2)
    if length == 0.0:
        return
    short = min(length, most)
    full[0, t], full[0, t + 1] = y1 * short / length, y2 * short / length
    if turned:
        full[0, t], full[0, t + 1] = short * averages.slip[c, 0], short * averages.slip[c, 1]
    averages.creep[c, 0] += (y1 - full[0, t]) / island.root[t]
    averages.creep[c, 1] += (y2 - full[0, t + 1]) / island.root[t + 1]
