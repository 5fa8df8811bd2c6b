"""The dynamics in contact space, p̈ = Υ·λ + p̈_free (Hammoud et al., eqs. (9)–(11)), in islands that do not couple.

Υ = J·M⁻¹·Jᵀ couples contacts on one tree of bodies, and on trees that touch each other. Contacts form islands that do
not couple, so that a thousand balls on a floor are a thousand problems of size 3, not one of size 3000.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import entries
from stickslip.dynamics.jacobian import point_acceleration, point_velocity
from stickslip.math.spatial import rotate


class Islands(NamedTuple):
    """Contacts in islands that do not couple."""

    order: np.ndarray
    """(capacity,) contacts, island by island."""
    start: np.ndarray
    """(capacity + 1,) first entry of each island in ``order``."""
    leader: np.ndarray
    """(nv,) scratch: union–find over the trees, named by their first velocity."""
    head: np.ndarray
    """(nv,) scratch: the first contact of each tree's island."""
    following: np.ndarray
    """(capacity,) scratch: the next contact of the same island."""


def make_islands(nv: int, capacity: int) -> Islands:
    integers = [np.zeros(max(1, n), dtype=np.int64) for n in (capacity, capacity + 1, nv, nv, capacity)]
    return Islands(*integers)


@kernel
def find_leader(leader, tree):
    while leader[tree] != tree:
        leader[tree] = leader[leader[tree]]
        tree = leader[tree]
    return tree


@kernel
def find_islands(support, contacts, islands):
    """Fill ``order`` and ``start``; returns the number of islands. Cost: proportional to the contacts."""
    root, leader, head = support.link_root_dof, islands.leader, islands.head
    nc = entries(contacts)
    for c in range(nc):
        for link in (contacts.link1[c], contacts.link2[c]):
            if root[link] >= 0:
                leader[root[link]] = root[link]
                head[root[link]] = -1
    for c in range(nc):
        a, b = root[contacts.link1[c]], root[contacts.link2[c]]
        if a >= 0 and b >= 0:
            leader[find_leader(leader, a)] = find_leader(leader, b)
    for c in range(nc - 1, -1, -1):
        tree = find_leader(leader, max(root[contacts.link1[c]], root[contacts.link2[c]]))
        islands.following[c] = head[tree]
        head[tree] = c
    found, placed = 0, 0
    for c in range(nc):
        tree = find_leader(leader, max(root[contacts.link1[c]], root[contacts.link2[c]]))
        member = head[tree]
        if member < 0:
            continue
        islands.start[found] = placed
        found += 1
        while member >= 0:
            islands.order[placed] = member
            placed += 1
            member = islands.following[member]
        head[tree] = -1
    islands.start[found] = placed
    return found


@kernel
def contact_acceleration(kin, contacts, c):
    """Rate of change of the relative contact velocity, in the contact frame, from ``kin.total``: J·a + J̇·v of eq. (10).

    The contact point p moves with ``drift`` ṗ over both bodies, and the contact frame turns with ω₁ + ``spin``:
    d/dt[n·(v₂(p) − v₁(p))] = n·(a₂ − a₁ + ω₂×(ṗ − v₂) − ω₁×(ṗ − v₁) − (ω₁ + spin)×(v₂ − v₁)).
    """
    a, b = contacts.link1[c], contacts.link2[c]
    x, y, z = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
    px, py, pz = contacts.drift[c, 0], contacts.drift[c, 1], contacts.drift[c, 2]
    ax, ay, az = point_acceleration(kin, kin.total, b, x, y, z)
    vx, vy, vz = point_velocity(kin, b, x, y, z)
    wx, wy, wz = kin.vel[b, 3], kin.vel[b, 4], kin.vel[b, 5]
    dx, dy, dz = px - vx, py - vy, pz - vz
    ax, ay, az = ax + wy * dz - wz * dy, ay + wz * dx - wx * dz, az + wx * dy - wy * dx
    tx, ty, tz = contacts.spin[c, 0], contacts.spin[c, 1], contacts.spin[c, 2]
    if a != 0:
        bx, by, bz = point_acceleration(kin, kin.total, a, x, y, z)
        ux, uy, uz = point_velocity(kin, a, x, y, z)
        wx, wy, wz = kin.vel[a, 3], kin.vel[a, 4], kin.vel[a, 5]
        dx, dy, dz = px - ux, py - uy, pz - uz
        ax -= bx + wy * dz - wz * dy
        ay -= by + wz * dx - wx * dz
        az -= bz + wx * dy - wy * dx
        vx, vy, vz = vx - ux, vy - uy, vz - uz
        tx, ty, tz = tx + wx, ty + wy, tz + wz
    ax, ay, az = ax - (ty * vz - tz * vy), ay - (tz * vx - tx * vz), az - (tx * vy - ty * vx)
    return rotate(contacts.axes, c, ax, ay, az)
