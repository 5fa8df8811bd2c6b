"""Contacts that stick, slip and open within a step: their phases, and the instants at which these end.

A contact that sticks is held by its springs. One that slips is held by the spring of its normal; its friction opposes
the slip and has the size μ·f_n. One that is open has no force. As long as no phase changes, the contacts of an island
are linear, and their forces, velocities and displacements are known at every instant by the modes of ``island``.

``march`` follows the phases through the step. Each piece of the step ends at the first instant at which a contact
leaves its cone, opens, closes, or comes to rest against its slip. Friction of a piece is constant: μ times the mean
normal force, against the mean slip, which leaves errors of second order. A piece whose end depends on its friction is
as long as both agree. What is left after MOST_PIECES is settled on its averages (``settle``).

Differs from the paper in: it takes all contacts to stick, (11), and projects the averages on their cones at the end,
(21) and (22); it leaves open how the cone could be checked within the step (Sec. IV-A).
"""

from __future__ import annotations

from math import exp, pi, sqrt

from stickslip._jit import kernel
from stickslip.collision.contacts import is_loop
from stickslip.methods.expo.island import OPEN, SLIP, STICK, alike, hold_rows
from stickslip.methods.expo.oscillator import response
from stickslip.methods.expo.phase_responses import (
    EDGE,
    add_friction,
    add_part,
    end_stretch,
    find_modes,
    modal_columns,
    modal_responses,
    row_displacement,
    row_velocity,
    set_friction,
)
from stickslip.methods.expo.settle import settle

MOST_PIECES = 40
"""Largest number of pieces into which the phases of an island divide a step; the rest of the step is settled."""
MOST_ROWS = 96
"""Rows of the largest island whose phases are followed; the time of larger ones grows with the cube of their rows."""
LEAST_PART = 0.05
"""The step is divided at an opening, but not before this part of it: a force that has just vanished may come back."""
SHORT = 1e-3
"""Length of a piece, as a fraction of the step, that counts as chatter if the phase of a contact ends with it."""
CHATTER = 4
"""Number of short pieces in a row after which a contact that alternates between stick and slip is held by its springs;
twice as many, and one that alternates with opening is left open. Both end with the next longer piece."""
TURNS = 100.0
"""How often, in a piece, the damper turns a spring that slips by its share of the force."""
MOST_FITS = 12
"""Largest number of lengths that are tried for a piece whose friction decides where it ends."""
STRAIGHT_PART = 1e-2
"""A piece in which the direction of the slip is not found is shortened to this part."""
TURNED, STRAIGHT, JAMMED = range(3)
"""How friction of a piece was found: with the direction of the mean slip, with that at its beginning, or not at all."""


@kernel
def phase_now(averages, island, a, c):
    """The phase of contact c, the a-th of its island, by the contact law at this instant; also the direction of its
    slip."""
    full, i = island.full, 3 * a
    fn = -(full[0, i] + full[3, i] * full[1, i])
    if fn < 0.0 or full[0, i] >= averages.edge[c]:
        return OPEN
    w1, w2 = full[1, i + 1], full[1, i + 2]
    f1, f2 = -(full[0, i + 1] + full[3, i + 1] * w1), -(full[0, i + 2] + full[3, i + 2] * w2)
    size, most = sqrt(f1 * f1 + f2 * f2), averages.mu[c] * fn
    power = f1 * w1 + f2 * w2
    slow = EDGE * most * sqrt(island.W[i + 1, i + 1] + island.W[i + 2, i + 2])
    slips = size > most * (1.0 + EDGE) or (size >= most * (1.0 - EDGE) and power < -slow * size)
    if not slips and averages.mu[c] > 0.0:
        return STICK
    averages.slip[c, 0], averages.slip[c, 1] = 0.0, 0.0
    if size > 0.0:
        averages.slip[c, 0], averages.slip[c, 1] = -f1 / size, -f2 / size
    return SLIP


@kernel
def begin_phases(contacts, members, averages, island):
    """Phases at the beginning of the step, which the anchors remember: a spring that slipped lies on its cone. Returns
    whether all contacts that touch stick."""
    sticking = True
    for a in range(members.shape[0]):
        c = members[a]
        averages.phase[c] = STICK
        if is_loop(contacts, c):
            continue
        if contacts.gap[c] >= 0.0:
            averages.phase[c] = OPEN
            continue
        averages.phase[c] = phase_now(averages, island, a, c)
        sticking = sticking and averages.phase[c] == STICK
    return sticking


@kernel
def turn_slip(members, averages, island, a, c, T, gently):
    """Turn the direction of slip from the one at the beginning of the piece to that of the mean slip. The law turns its
    spring at once where the damper's force is felt beside it, and else as the point slips by the spring's length.
    Returns False if friction would not oppose the slip; the direction is then closer to that of the beginning."""
    t = 3 * a + 1
    d1, d2 = row_displacement(members, island, t, T), row_displacement(members, island, t + 1, T)
    size = sqrt(d1 * d1 + d2 * d2)
    along = d1 * averages.slip[c, 0] + d2 * averages.slip[c, 1] > 0.1 * size
    if not along:
        d1, d2, size, gently = averages.slip[c, 2], averages.slip[c, 3], 1.0, True
    y1, y2 = island.full[0, t], island.full[0, t + 1]
    w1, w2 = island.full[1, t], island.full[1, t + 1]
    length, way = sqrt(y1 * y1 + y2 * y2), size + TURNS * island.full[3, t] * sqrt(w1 * w1 + w2 * w2)
    share = exp(-way / length) if length > 0.0 else 0.0
    d1 = share * averages.slip[c, 2] + (1.0 - share) * d1 / size
    d2 = share * averages.slip[c, 3] + (1.0 - share) * d2 / size
    if gently:
        d1, d2 = d1 + averages.slip[c, 0], d2 + averages.slip[c, 1]
    size = sqrt(d1 * d1 + d2 * d2)
    averages.slip[c, 0], averages.slip[c, 1] = d1 / size, d2 / size
    return along


@kernel(inline=False)
def full_friction(members, averages, island, n, T, turning):
    """Friction of contacts that slip for T [s] without coming to rest: μ times the mean normal force. Its direction is
    that of the mean slip if ``turning``, else the one that ``averages.slip`` has. Leaves ``part`` up to date. Returns
    False if there is no such friction: it would press the surfaces together by more than itself, and they jam."""
    for k in range(40):
        add_friction(members, averages, island, n, T)
        change, scale, along = 0.0, 0.0, True
        for a in range(members.shape[0]):
            c = members[a]
            if averages.phase[c] != SLIP or averages.mu[c] == 0.0:
                continue
            if turning:
                along = turn_slip(members, averages, island, a, c, T, k >= 6) and along
            size = averages.mu[c] * max(0.0, island.part[0, 3 * a]) / T
            change += set_friction(averages, island, a, c, size)
            scale += size
        if change <= 1e-13 * scale and along:
            return True
    add_friction(members, averages, island, n, T)
    return change <= 1e-7 * scale and along


@kernel
def look_at(island, n, t):
    """f, y, ∫f and ∫∫f of all modes at the instant t of the piece: ``small``. ``c`` has c of modes with friction."""
    small, start = island.small, island.start
    for k in range(n):
        sigma, beta = island.basis.value[k], island.beta[0]
        d = beta * sigma
        g, G1, G2, G3, _, _ = response(sigma, d, t)
        y0, w0, c0 = start[0, k], start[1, k], island.c[k]
        rate = 1.0 - sigma * G1 - d * g
        y = y0 * (1.0 - sigma * G1) + w0 * g + c0 * G1
        small[0, k] = -(y + beta * (-y0 * sigma * g + w0 * rate + c0 * g))
        small[1, k] = y
        small[2, k] = -(y0 * g + w0 * (G1 + beta * g) + c0 * (G2 + beta * G1))
        small[3, k] = -(y0 * G1 + w0 * (G2 + beta * G1) + c0 * (G3 + beta * G2))


@kernel
def held(island, n, what, i):
    """f (0) or y (1) of the held row i at the instant of ``look_at``."""
    V, p, total = island.factor[0], island.place[i], 0.0
    for k in range(n):
        total += V[k, p] * island.small[what, k]
    return total


@kernel
def apart(averages, island, n, c, i):
    """How far the surfaces of contact c are from parting while its spring still pushes, as in a preload."""
    if averages.edge[c] >= 0.0:
        return 1e300
    return averages.edge[c] - held(island, n, 1, i)


@kernel
def loose(members, averages, island, n, t, T, which):
    """y (0) or y′ (1) of row t, which is not held, after T [s]; the instant of ``look_at``."""
    full = island.full
    total = full[1, t] + T * full[2, t] if which else full[0, t] + T * (full[1, t] + 0.5 * T * full[2, t])
    share = T if which else 0.5 * T * T
    for a in range(members.shape[0]):
        if averages.phase[members[a]] == SLIP:
            for s in (3 * a + 1, 3 * a + 2):
                total += share * island.W[t, s] * island.friction[s]
    for k in range(n):
        total += island.columns[0, t, k] * island.small[3 - which, k]
    return total


@kernel
def distance(members, averages, island, n, a, which, T):
    """How far contact a is from the end of its phase at the instant of ``look_at``; negative beyond. Slipping contacts
    have two ends: they open (0) or come to rest (1)."""
    c, i = members[a], 3 * a
    phase = averages.phase[c]
    if phase == STICK:
        if which == 1:
            return 1e300
        if island.ending[1, a] >= CHATTER:
            return min(held(island, n, 0, i), apart(averages, island, n, c, i))
        fn, f1, f2 = held(island, n, 0, i), held(island, n, 0, i + 1), held(island, n, 0, i + 2)
        return min(averages.mu[c] * fn - sqrt(f1 * f1 + f2 * f2), apart(averages, island, n, c, i))
    if phase == SLIP:
        if which == 0:
            return min(held(island, n, 0, i), apart(averages, island, n, c, i))
        if averages.mu[c] == 0.0:
            return 1e300
        # the law sticks when K·s + B·v < μ·f_n: its spring s is at most μ·f_n/K long, and slip stretches it
        most, slip, beta = averages.mu[c] * held(island, n, 0, i), averages.slip, max(island.full[3, i + 1], 1e-9)
        v1, v2 = loose(members, averages, island, n, i + 1, T, 1), loose(members, averages, island, n, i + 2, T, 1)
        y1, y2 = loose(members, averages, island, n, i + 1, T, 0), loose(members, averages, island, n, i + 2, T, 0)
        far = -1e300
        for k in (0, 2):  # along the mean slip, and along that at the beginning: the spring turns between them
            drag, short = beta * (slip[c, k] * v1 + slip[c, k + 1] * v2), slip[c, k] * y1 + slip[c, k + 1] * y2 - most
            far = max(far, drag + min(0.0, short))
        return far
    if which == 1:
        return 1e300
    y = loose(members, averages, island, n, i, T, 0)
    force = y + island.full[3, i] * loose(members, averages, island, n, i, T, 1)
    return max(force, y - averages.edge[c])


@kernel
def bracketed(members, averages, island, n, a, which, low, at_low, high, at_high):
    """The instant between two at which contact a ends its phase, where ``distance`` changes its sign; at or just behind
    the root."""
    if at_low <= 0.0:
        return low
    for k in range(60):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        if k % 3 == 2 or not low < middle < high:
            middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        look_at(island, n, middle)
        at = distance(members, averages, island, n, a, which, middle)
        if at > 0.0:
            low, at_low = middle, at
        else:
            high, at_high = middle, at
        if high - low <= 1e-13 * high:
            break
    return high


@kernel(inline=False)
def first_end(contacts, members, averages, island, n, T):
    """The first instant up to T [s] at which a phase ends, and in ``ending`` the contacts whose phase does. The grid on
    which ends are looked for has sixteen instants in the first period of the fastest mode and then grows wider."""
    margin, ending = island.margin, island.ending
    count, fastest, scale = members.shape[0], 0.0, 0.0
    for k in range(n):
        fastest = max(fastest, sqrt(island.basis.value[k]))
        c = island.start[2, k]
        for a in range(count):
            if averages.phase[members[a]] == SLIP:
                for t in (3 * a + 1, 3 * a + 2):
                    c += island.columns[0, t, k] * island.friction[t]
        island.c[k] = c
    step = T / 8.0
    if fastest * step > pi / 8.0:
        step = max(pi / (8.0 * fastest), T * 2.0**-20)
    look_at(island, n, 0.0)
    for k in range(n):
        scale += abs(island.small[0, k])
    for a in range(count):
        ending[0, a] = 0
        for which in range(2):
            margin[which, a] = distance(members, averages, island, n, a, which, 0.0)
    before, points = 0.0, 0
    while before < T:
        now = min(T, before + step)
        look_at(island, n, now)
        found = False
        for a in range(count):
            c = members[a]
            for which in range(2):
                margin[2 + which, a] = 1.0
                if is_loop(contacts, c) or ending[1, a] >= 2 * CHATTER:
                    continue
                least = -1e-11 * scale if averages.phase[c] == STICK or which == 0 else 0.0
                margin[2 + which, a] = distance(members, averages, island, n, a, which, now)
                found = found or margin[2 + which, a] < least
        if found:
            return refine(members, averages, island, n, before, now, scale)
        for a in range(count):
            margin[0, a], margin[1, a] = margin[2, a], margin[3, a]
        before = now
        points += 1
        if points >= 16 and points % 8 == 0:
            step *= 2.0
    return T


@kernel
def refine(members, averages, island, n, before, now, scale):
    """The first of the ends between two instants of the grid, and in ``ending`` whose they are."""
    margin, ending, first = island.margin, island.ending, now
    count = members.shape[0]
    for a in range(count):
        for which in range(2):
            if margin[2 + which, a] < 0.0:
                low, high = margin[which, a], margin[2 + which, a]
                end = bracketed(members, averages, island, n, a, which, before, low, now, high)
                margin[2 + which, a] = -1.0 - end
                first = min(first, end)
    for a in range(count):
        for which in range(2):
            if margin[2 + which, a] < 0.0 and -1.0 - margin[2 + which, a] <= first + 1e-9 * (now - before):
                ending[0, a] = 1 + which
    return first


@kernel
def turned_friction(members, averages, island, n, T):
    """``full_friction`` against the mean slip, or, where its direction does not converge, against the slip at the
    beginning of the piece. Returns TURNED, STRAIGHT, or JAMMED if there is neither."""
    if full_friction(members, averages, island, n, T, True):
        return TURNED
    for a in range(members.shape[0]):
        c = members[a]
        if averages.phase[c] == SLIP:
            averages.slip[c, 0], averages.slip[c, 1] = averages.slip[c, 2], averages.slip[c, 3]
    return STRAIGHT if full_friction(members, averages, island, n, T, False) else JAMMED


@kernel
def comes_to_rest(members, island):
    """Whether all contacts whose phase ends come to rest."""
    rest = True
    for a in range(members.shape[0]):
        rest = rest and island.ending[0, a] != 1
    return rest


@kernel(inline=False)
def follow(contacts, members, averages, island, n, T):
    """Friction and length of the next piece of the step, at most T [s]; ``part`` and ``ending`` are up to date. Returns
    −1 if contacts that slip jam."""
    slipping, full = False, island.full
    for a in range(members.shape[0]):
        c, t = members[a], 3 * a + 1
        if averages.phase[c] != SLIP or averages.mu[c] == 0.0:
            continue
        slipping = True
        d1, d2 = full[0, t] + full[3, t] * full[1, t], full[0, t + 1] + full[3, t + 1] * full[1, t + 1]
        size = sqrt(d1 * d1 + d2 * d2)
        if size > 0.0 and d1 * averages.slip[c, 0] + d2 * averages.slip[c, 1] >= 0.0:
            averages.slip[c, 0], averages.slip[c, 1] = d1 / size, d2 / size
        averages.slip[c, 2], averages.slip[c, 3] = averages.slip[c, 0], averages.slip[c, 1]
    modal_responses(members, averages, island, n, T)
    friction = TURNED if full_friction(members, averages, island, n, T, False) else JAMMED
    end = first_end(contacts, members, averages, island, n, T) if friction != JAMMED else 0.5 * T
    if end == T and slipping:
        friction = turned_friction(members, averages, island, n, T)
        end = first_end(contacts, members, averages, island, n, T)
    fitted, low, high, fits = T, 0.0, T, False
    for k in range(MOST_FITS):
        close = 1e-10 * T if k < 4 else 0.1 * fitted
        turns = friction == STRAIGHT and fitted > STRAIGHT_PART * T  # the slip turns too far for one piece
        fits = not slipping or abs(end - fitted) <= close or (end <= 0.0 and not comes_to_rest(members, island))
        if not turns and (fits or low > 0.5 * high):
            break
        if end > fitted and not turns:
            low = fitted
        else:
            high = fitted
        fitted = end if k < 4 and low < end < high else max(sqrt(low * high), 0.1 * high)
        modal_responses(members, averages, island, n, fitted)
        friction = turned_friction(members, averages, island, n, fitted)
        end = first_end(contacts, members, averages, island, n, T)
    if not fits and low > 0.0:  # no phase ends in so short a piece
        end = low
        modal_responses(members, averages, island, n, end)
        friction = turned_friction(members, averages, island, n, end)
        island.ending[0, : members.shape[0]] = 0
    elif end > 0.0 and end != fitted:
        modal_responses(members, averages, island, n, end)
        friction = TURNED if full_friction(members, averages, island, n, end, False) else JAMMED
    return -1.0 if friction == JAMMED else end


@kernel(inline=False)
def advance_rows(members, averages, island, n, T):
    """Move y and y′ of all rows to the end of the piece of length T [s]."""
    full, V = island.full, island.factor[0]
    for t in range(3 * members.shape[0]):
        if island.place[t] < 0:
            y, w = full[0, t] + row_displacement(members, island, t, T), row_velocity(members, island, t, T)
            island.margin[0, t], island.margin[1, t] = y, w
    look_at(island, n, T)
    for k in range(n):
        # y′ from the integrated equation of motion: y′ = w₀ + c·T + σ·∫f
        island.small[2, k] = island.start[1, k] + T * island.c[k] + island.basis.value[k] * island.small[2, k]
    for i in range(n):
        y, w = 0.0, 0.0
        for k in range(n):
            y += V[k, i] * island.small[1, k]
            w += V[k, i] * island.small[2, k]
        island.margin[0, island.row[i]], island.margin[1, island.row[i]] = y, w
    for t in range(3 * members.shape[0]):
        full[0, t], full[1, t] = island.margin[0, t], island.margin[1, t]
    for a in range(members.shape[0]):
        c, i = members[a], 3 * a
        if averages.phase[c] == SLIP:
            fn = max(0.0, -(full[0, i] + full[3, i] * full[1, i]))
            end_stretch(averages, island, a, c, averages.mu[c] * fn, True)
        elif averages.phase[c] == OPEN:
            end_stretch(averages, island, a, c, 0.0, False)


@kernel
def change_phases(members, averages, island):
    """The phases that follow those that end. Returns whether a contact opens."""
    opens, full = False, island.full
    for a in range(members.shape[0]):
        c, i = members[a], 3 * a
        if island.ending[0, a] == 0:
            continue
        phase = averages.phase[c]
        if phase == SLIP and island.ending[0, a] == 2:
            averages.phase[c] = STICK
        elif phase == STICK:
            f1 = -(full[0, i + 1] + full[3, i + 1] * full[1, i + 1])
            f2 = -(full[0, i + 2] + full[3, i + 2] * full[1, i + 2])
            fn, size = -(full[0, i] + full[3, i] * full[1, i]), sqrt(f1 * f1 + f2 * f2)
            averages.phase[c] = SLIP
            if fn <= 0.0 or size == 0.0 or full[0, i] >= averages.edge[c]:
                averages.phase[c] = OPEN
            else:
                averages.slip[c, 0], averages.slip[c, 1] = -f1 / size, -f2 / size
        elif phase == SLIP:
            averages.phase[c] = OPEN
        else:
            averages.phase[c] = phase_now(averages, island, a, c)
        if island.ending[1, a] >= 2 * CHATTER:
            averages.phase[c] = OPEN
        elif island.ending[1, a] >= CHATTER and averages.phase[c] == SLIP and averages.mu[c] > 0.0:
            averages.phase[c] = STICK
        if averages.phase[c] == OPEN:
            island.friction[i + 1], island.friction[i + 2] = 0.0, 0.0
            end_stretch(averages, island, a, c, 0.0, False)
            opens = opens or phase != OPEN
        if averages.phase[c] == STICK:
            island.friction[i + 1], island.friction[i + 2] = 0.0, 0.0
    return opens


@kernel(inline=False)
def march(contacts, members, averages, island, matmuls, tolerance, dt, divide):
    """Follow the phases of an island through the step. Returns the time up to which ``total`` reaches: dt [s], or the
    first opening if ``divide``; −1 if the modes cannot be found."""
    left, done, opened, least = dt, 0.0, False, LEAST_PART * dt
    for a in range(members.shape[0]):
        island.ending[1, a] = 0
    for _ in range(MOST_PIECES):
        n = hold_rows(members, averages, island)
        if 3 * members.shape[0] > MOST_ROWS or matmuls >= 0 or not alike(island, n):
            break
        if not find_modes(island, n):
            return -1.0
        modal_columns(members, averages, island, n)
        length = follow(contacts, members, averages, island, n, least - done if opened else left)
        if length < 0.0:
            break
        if length > 0.0:
            add_part(members, island, length)
            advance_rows(members, averages, island, n, length)
        for a in range(members.shape[0]):
            if length > SHORT * dt:
                island.ending[1, a] = 0
            if island.ending[0, a]:
                island.ending[1, a] += 1
        left, done = left - length, done + length
        if left <= 1e-12 * dt:
            return dt
        opened = (change_phases(members, averages, island) and divide) or opened
        if opened and done >= least:
            return done
    if not settle(contacts, members, averages, island, matmuls, tolerance, left):
        return -1.0
    return dt
