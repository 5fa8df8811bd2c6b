"""Stick and slip of the contacts of an event-selected scene: two modes, two guards, and the force of each mode.

With K, B those along the surface, s the stretch of that spring, v the slip velocity, g = K·s + B·v and f_n the normal
force of ``soft.spring_damper``, a contact

    sticks:  f_t = −g                     until  (|g| − μ·f_n)/K               rises through 0   (guard SLIP)
    slips:   f_t = −μ·f_n·n,  n = v/|v|   until  max(0, μ·f_n/K − ℓ)·K/B − v·d  rises through 0   (guard STICK)

d is the direction of n at the last accepted point, and ℓ the length of the spring: it grows by the slip, up to
μ·f_n/K, with which the spring alone reaches the cone, eq. (28) of ``spring_damper``. So a contact sticks again where it
stops, or where the normal force grows faster than the spring. Without damping it sticks where the spring would become
shorter than the cone is wide: −v·d − μ·ġap. Between these guards the force is a smooth function of the state. It is
what ``spring_damper`` goes to with short steps: there the stretch is turned into the direction of g at every step, and
so into that of v. Below the speed SLOW the direction turns more slowly, so that it remains smooth where v reverses.

Sizes: two numbers and two guards per place, and a direction. Cost: a square root or two per contact.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.contacts import FRICTION, STIFFNESS, TANGENT_DAMPING, TANGENT_STIFFNESS
from stickslip.math.spatial import rotate
from stickslip.methods.soft.overlap_recovery import rest_speed
from stickslip.methods.soft.spring_damper import (
    hold,
    press,
    pressing_force,
    slide,
    sticking_force,
    tangential_stretch,
    write_force,
)

TOUCHDOWN, LIFTOFF, SLIP, STICK = range(4)
"""The guards of a place, in this order."""
EACH = 4
"""Number of guards per place."""
SLOW = 1e-5
"""Slip speed [m/s] below which the direction of friction turns more slowly than the slip."""
BAND = 1e-9
"""Part of μ·f_n by which a contact that sticks may exceed the cone, so that it does not slip by rounding."""
MISSED = 1e-6
"""Part of μ·f_n beyond which a contact that sticks at an accepted point slips: where several contacts begin to slip at
the same instant, the guard of one may be behind zero before it is looked at."""


@kernel
def has_no_mode(crossed, k):
    """Whether the contact in place k neither sticks nor slips: it has no friction, is open, or is not decided yet."""
    return crossed[EACH * k + SLIP] and crossed[EACH * k + STICK]


@kernel
def is_slipping(crossed, k):
    return crossed[EACH * k + SLIP] and not crossed[EACH * k + STICK]


@kernel
def set_mode(crossed, k, slips, sticks):
    """Contact in place k slips or sticks; both: it has no mode."""
    crossed[EACH * k + SLIP] = slips
    crossed[EACH * k + STICK] = sticks


@kernel
def has_direction(places, k):
    d = places.direction
    return d[k, 0] != 0.0 or d[k, 1] != 0.0 or d[k, 2] != 0.0


@kernel
def forget_mode(places, crossed, k):
    """The contact in place k has no mode until the next accepted point."""
    set_mode(crossed, k, True, True)
    for i in range(3):
        places.direction[k, i] = 0.0


@kernel
def set_direction(contacts, places, c, k, n1, n2):
    """d of the contact c that slips, (n1, n2) along its tangents; it is kept in world axes."""
    A = contacts.axes
    for i in range(3):
        places.direction[k, i] = n1 * A[c, 1, i] + n2 * A[c, 2, i]


@kernel
def direction(contacts, places, c, k):
    """d along the tangents of contact c, of length 1."""
    A, d = contacts.axes, places.direction
    d1 = A[c, 1, 0] * d[k, 0] + A[c, 1, 1] * d[k, 1] + A[c, 1, 2] * d[k, 2]
    d2 = A[c, 2, 0] * d[k, 0] + A[c, 2, 1] * d[k, 1] + A[c, 2, 2] * d[k, 2]
    size = sqrt(d1 * d1 + d2 * d2)
    if size == 0.0:
        return 1.0, 0.0
    return d1 / size, d2 / size


@kernel
def slip_along(contacts, places, c, k):
    """v·d of contact c [m/s]."""
    d1, d2 = direction(contacts, places, c, k)
    return contacts.velocity[c, 1] * d1 + contacts.velocity[c, 2] * d2


@kernel
def slip_direction(contacts, places, c, k):
    """n of contact c: v/|v|, but smooth where v·d is smaller than SLOW or negative."""
    d1, d2 = direction(contacts, places, c, k)
    v1, v2 = contacts.velocity[c, 1], contacts.velocity[c, 2]
    along, across = v1 * d1 + v2 * d2, v2 * d1 - v1 * d2
    along = sqrt(along * along + SLOW * SLOW)
    size = sqrt(along * along + across * across)
    return (along * d1 - across * d2) / size, (along * d2 + across * d1) / size


@kernel
def anchored_length(kin, contacts, anchors, c, k):
    """Length of the tangential spring of contact c at the last accepted point [m]; 0 if the contact is new."""
    if anchors.pair[k] == 0:
        return 0.0
    A, p, p0 = contacts.axes, anchors.point, anchors.anchor
    x, y, z = p[k, 0] - p0[k, 0], p[k, 1] - p0[k, 1], p[k, 2] - p0[k, 2]
    x, y, z = rotate(kin.rot, contacts.link1[c], x, y, z)
    s1 = A[c, 1, 0] * x + A[c, 1, 1] * y + A[c, 1, 2] * z
    s2 = A[c, 2, 0] * x + A[c, 2, 1] * y + A[c, 2, 2] * z
    return sqrt(s1 * s1 + s2 * s2)


@kernel
def press_by_mode(kin, contacts, places, anchors, c, k, w1, w2, elapsed, crossed):
    """Force of the touching contact c in its mode. ``anchors`` are those of the last accepted point, ``elapsed`` [s]
    ago, and are moved; (w1, w2) is the slip since then, or (its length, 0) if the contact slips [m]."""
    if has_no_mode(crossed, k):
        press(kin, contacts, anchors, c, k, w1, w2, elapsed)
    elif is_slipping(crossed, k):
        longest = max(0.0, anchored_length(kin, contacts, anchors, c, k) + w1)
        hold(kin, contacts, anchors, c, k, 0.0, 0.0, elapsed)
        n1, n2 = slip_direction(contacts, places, c, k)
        slide(kin, contacts, anchors, c, k, pressing_force(contacts, anchors, c, k), longest, -n1, -n2, 1.0)
    else:
        hold(kin, contacts, anchors, c, k, w1, w2, elapsed)
        s1, s2 = tangential_stretch(kin, contacts, anchors, c, k)
        f1, f2 = sticking_force(contacts, c, s1, s2)
        write_force(contacts, anchors, c, k, pressing_force(contacts, anchors, c, k), f1, f2, s1, s2)


@kernel
def press_and_decide(kin, contacts, places, anchors, c, k, w1, w2, elapsed, crossed):
    """``press_by_mode`` at an accepted point: decides the mode of a new contact, begins a slip whose guard has just
    been crossed, and keeps the direction of a slip."""
    mu = contacts.material[c, FRICTION]
    if mu == 0.0:
        forget_mode(places, crossed, k)
        press(kin, contacts, anchors, c, k, w1, w2, elapsed)
        return
    if is_slipping(crossed, k) and has_direction(places, k):
        n1, n2 = slip_direction(contacts, places, c, k)
        press_by_mode(kin, contacts, places, anchors, c, k, w1, w2, elapsed, crossed)
        set_direction(contacts, places, c, k, n1, n2)
        return
    hold(kin, contacts, anchors, c, k, w1, w2, elapsed)
    s1, s2 = tangential_stretch(kin, contacts, anchors, c, k)
    fn = pressing_force(contacts, anchors, c, k)
    f1, f2 = sticking_force(contacts, c, s1, s2)
    size, bound = sqrt(f1 * f1 + f2 * f2), (1.0 + BAND) * mu * fn
    most = bound if has_no_mode(crossed, k) else (1.0 + MISSED) * mu * fn
    begins = size > 0.0 and (is_slipping(crossed, k) or size > most)
    if begins:
        slide(kin, contacts, anchors, c, k, fn, sqrt(s1 * s1 + s2 * s2), f1, f2, size)
        set_direction(contacts, places, c, k, -f1 / size, -f2 / size)
        if until_stick(kin, contacts, places, anchors, c, k, 0.0) >= 0.0:  # the shorter spring holds, or turns the slip
            s1, s2 = tangential_stretch(kin, contacts, anchors, c, k)
            f1, f2 = sticking_force(contacts, c, s1, s2)
            size = sqrt(f1 * f1 + f2 * f2)
            begins = size > bound
            if begins:
                slide(kin, contacts, anchors, c, k, fn, sqrt(s1 * s1 + s2 * s2), f1, f2, size)
                set_direction(contacts, places, c, k, -f1 / size, -f2 / size)
    if begins:
        set_mode(crossed, k, True, False)
    else:
        forget_mode(places, crossed, k)
        set_mode(crossed, k, False, True)
        write_force(contacts, anchors, c, k, fn, f1, f2, s1, s2)


@kernel
def until_slip(kin, contacts, anchors, c, k):
    """The guard SLIP of contact c [m], whose ``anchors`` have been moved to the present point."""
    s1, s2 = tangential_stretch(kin, contacts, anchors, c, k)
    f1, f2 = sticking_force(contacts, c, s1, s2)
    bound = (1.0 + BAND) * contacts.material[c, FRICTION] * pressing_force(contacts, anchors, c, k)
    K = contacts.material[c, TANGENT_STIFFNESS]
    if K == 0.0:  # a damper without a spring: the normal spring gives the scale, or 1 N/m
        K = contacts.material[c, STIFFNESS] if contacts.material[c, STIFFNESS] > 0.0 else 1.0
    return (sqrt(f1 * f1 + f2 * f2) - bound) / K


@kernel
def until_stick(kin, contacts, places, anchors, c, k, longer):
    """The guard STICK of contact c [m/s], whose spring may have become ``longer`` [m] than at the last accepted point.
    A contact that carries nothing does not stick."""
    K, B = contacts.material[c, TANGENT_STIFFNESS], contacts.material[c, TANGENT_DAMPING]
    mu = contacts.material[c, FRICTION]
    fn, along = pressing_force(contacts, anchors, c, k), slip_along(contacts, places, c, k)
    if fn <= 0.0:
        return -1.0
    if B > 0.0:
        length = anchored_length(kin, contacts, anchors, c, k) + longer
        return max(0.0, mu * fn - K * length) / B - along
    return -along - mu * (contacts.velocity[c, 0] - rest_speed(anchors, k))
