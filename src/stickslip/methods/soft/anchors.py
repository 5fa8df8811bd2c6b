"""Friction anchors: what a spring-damper contact remembers, found again by the contact's id.

An anchor has a place in arrays of fixed size, which it keeps as long as its contact lasts. If the contact of an anchor
is gone but another contact of the same two shapes has begun (a mesh has rolled over to its next facet, or a corner of a
manifold has been replaced by a crossing of edges beside it), the new contact takes over the nearest such anchor with
the stretch of its spring, so that friction does not forget. Ids below ``FEATURES`` come from users and are not related
in this way. All other anchors without a contact are dropped.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contact_ids import find_id
from stickslip.collision.convex.finish import FEATURES
from stickslip.dynamics.jacobian import to_link

REST = ("surface", "detected")
"""Rest points of the normal spring: the surface, or the point where penetration was first detected."""


class Anchors(NamedTuple):
    """State of the contact law: places for n contacts; part of the simulation's state."""

    pair: np.ndarray
    """(n,) id of the contact that is anchored in this place, plus one; 0 if the place is free."""
    anchor: np.ndarray
    """(n, 3) p₀ in the frame of link 1 [m]."""
    point: np.ndarray
    """(n, 3) previous contact point, in the frame of link 1 [m]."""
    rest: np.ndarray
    """(n,) the gap at which the normal spring rests [m]; negative while a deep start is undone."""
    twist: np.ndarray
    """(n, 3) twist of the angular spring of torsional and rolling friction, contact frame [rad]."""
    ratio: np.ndarray
    """(n,) B/K [s] that the restitution of the contact has chosen at its touchdown; 0 where it chooses none."""
    begun: np.ndarray
    """(1,) 0 before the contacts of the start have been anchored, then 1."""
    place: np.ndarray
    """(n,) scratch: the place of each touching contact of the present instant, −1 if it has none."""
    seen: np.ndarray
    """(n,) scratch: 1 if the contact of this place was found."""
    at_detection: np.ndarray
    """(1,) constant: 1 if the normal spring rests at the gap of its first detection, 0 if on the surface."""
    speed: np.ndarray
    """(1,) constant: the fastest recovery from a deep start [m/s]; 0 if there is none (see ``overlap_recovery``)."""
    weight: np.ndarray
    """(nl,) constant: the weight of the tree of links that each link belongs to [N]."""
    angular: np.ndarray
    """(nl, 3) constant: what bounds the gains of angular springs (``spin_friction.angular_bounds``)."""


def make_anchors(
    contacts: int, rest: str = "surface", speed: float = 0.0, weight: np.ndarray | None = None, angular=None
) -> Anchors:
    """Free places for a number of contacts; copies that only store anchors need no more than that."""
    n = max(1, contacts)
    return Anchors(
        pair=np.zeros(n, np.int64),
        anchor=np.zeros((n, 3)),
        point=np.zeros((n, 3)),
        rest=np.zeros(n),
        twist=np.zeros((n, 3)),
        ratio=np.zeros(n),
        begun=np.zeros(1, np.int64),
        place=np.zeros(n, np.int64),
        seen=np.zeros(n, np.int64),
        at_detection=np.array([REST.index(rest)], dtype=np.int64),
        speed=np.array([speed]),
        weight=np.zeros(1) if weight is None else weight,
        angular=np.zeros((1, 3)) if angular is None else angular,
    )


def grown_anchors(anchors: Anchors, contacts: int) -> Anchors:
    """A copy with places for more contacts."""
    rest, speed = REST[anchors.at_detection[0]], float(anchors.speed[0])
    bigger = make_anchors(contacts, rest, speed, anchors.weight, anchors.angular)
    for name in ("pair", "anchor", "point", "rest", "twist", "ratio", "begun"):
        old = getattr(anchors, name)
        getattr(bigger, name)[: len(old)] = old
    return bigger


@kernel
def copy_anchors(source, target):
    target.begun[0] = source.begun[0]
    for k in range(source.pair.shape[0]):
        target.pair[k] = source.pair[k]
        target.rest[k] = source.rest[k]
        target.ratio[k] = source.ratio[k]
        for i in range(3):
            target.anchor[k, i] = source.anchor[k, i]
            target.point[k, i] = source.point[k, i]
            target.twist[k, i] = source.twist[k, i]


@kernel
def match_anchors(kin, contacts, anchors):
    """Find the anchors of all touching contacts: ``anchors.place`` and ``anchors.seen``. Nothing else changes."""
    n, at, fresh = anchors.pair.shape[0], 0, 0
    for k in range(n):
        anchors.seen[k] = 0
    for c in range(contacts.found[0]):
        anchors.place[c] = -1
        if contacts.gap[c] >= 0.0:
            continue
        k = find_id(anchors.pair, n, contacts.pair[c] + 1, at)
        if k < 0 or anchors.seen[k] != 0:
            fresh += 1
            continue
        anchors.place[c], anchors.seen[k], at = k, 1, k + 1
    if fresh > 0:
        for c in range(contacts.found[0]):
            if anchors.place[c] < 0 and contacts.gap[c] < 0.0 and contacts.pair[c] >= FEATURES:
                take_over(kin, contacts, anchors, c)


@kernel
def take_over(kin, contacts, anchors, c):
    """Give the new contact c the nearest anchor of the same two shapes whose contact is gone, if there is one."""
    best, which, shapes = inf, -1, contacts.pair[c] // FEATURES
    x, y, z = to_link(kin, contacts.link1[c], contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2])
    for k in range(anchors.pair.shape[0]):
        if anchors.pair[k] == 0 or anchors.seen[k] != 0 or (anchors.pair[k] - 1) // FEATURES != shapes:
            continue
        dx, dy, dz = anchors.point[k, 0] - x, anchors.point[k, 1] - y, anchors.point[k, 2] - z
        distance = dx * dx + dy * dy + dz * dz
        if distance < best:
            best, which = distance, k
    if which >= 0:
        anchors.place[c], anchors.seen[which] = which, 1


@kernel
def drop_unseen(anchors):
    """Free the places of contacts that ``match_anchors`` has not found."""
    for k in range(anchors.pair.shape[0]):
        if anchors.seen[k] == 0:
            anchors.pair[k] = 0


@kernel
def give_place(anchors, c):
    """The place of contact c; a free one if it has none. There are as many places as contacts."""
    k = anchors.place[c]
    if k < 0:
        k = find_id(anchors.pair, anchors.pair.shape[0], 0, 0)
        anchors.place[c] = k
    return k


@kernel
def slips_over(contacts, anchors, c, k):
    """Whether the stretch of the spring of contact c follows from its slip, not from the positions of its point and its
    anchor: the point moves over body 2, a surface moves along itself, or the anchor was another contact's."""
    moves = contacts.surface[c, 1] != 0.0 or contacts.surface[c, 2] != 0.0
    return moves or contacts.rolling[c] != 0 or anchors.pair[k] != contacts.pair[c] + 1
