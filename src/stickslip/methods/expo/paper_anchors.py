"""Anchors that slip with a velocity ṗ₀ (Hammoud et al., eqs. (2), (21), (22), (28)): the contact law of ``expo/paper``.

A contact remembers p₀ and ṗ₀. Between two calls its anchor goes on with ṗ₀ ("business as usual", Sec. IV-B). At each
call it is first taken to stick, ṗ₀ = 0, under the force λ = −K·(p − p₀) − B·ṗ. If λ leaves the friction cone, the
contact slips:

    λ := proj(λ),    ṗ₀ := ṗ,    p₀ := p + λ/K    along the tangents (28),

so that the spring alone gives the force on the cone, and the damper starts from rest. The projection keeps the normal
force, which (21) bounds by zero from below, and scales the tangential one back to μ·f_n (22). The normal spring rests
where penetration was first detected. Sizes: two 3-vectors per contact; cost: a few rotations per contact.

The paper leaves open when a slipping contact sticks again: here it does as soon as an anchor at rest would give a force
inside the cone. It also leaves the projection open; the nearest point of the cone would raise the normal force of
whatever slides, and the authors' code keeps that force, too.

``spring_damper`` lets anchors rest, and never lengthens a spring by slip.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ADHESION, TANGENT_STIFFNESS, contact_velocities, entries
from stickslip.math.spatial import rotate, rotate_transposed
from stickslip.methods.soft.anchors import drop_unseen, give_place, match_anchors
from stickslip.methods.soft.loop_springs import loop_forces
from stickslip.methods.soft.spin_friction import resists_spin, spin_friction
from stickslip.methods.soft.spring_damper import (
    hold,
    inside_cone,
    normal_force,
    only_pull,
    tangent_force,
    tangential_stretch,
    tie,
)


class AnchorSlip(NamedTuple):
    """How fast anchors slip: as many places as ``Anchors``, and as many contacts."""

    velocity: np.ndarray
    """(n, 3) ṗ₀ of the anchor in each place, in the frame of link 1 [m/s]; part of the memory."""
    kept: np.ndarray
    """(n, 3) the same at the beginning of the step."""
    rate: np.ndarray
    """(n, 2) scratch: ṗ₀ of each contact at hand along its two tangents [m/s]."""


def make_anchor_slip(places: int) -> AnchorSlip:
    velocity, kept = np.zeros((2, max(1, places), 3))
    return AnchorSlip(velocity, kept, np.zeros((max(1, places), 2)))


@kernel
def slip_anchors(kin, contacts, anchors, slip, dt):
    """Contact forces and the elongations of springs at the present state, as ``spring_damper``, but with anchors that
    slip. The last call was ``dt`` [s] ago."""
    contact_velocities(kin, contacts)
    match_anchors(kin, contacts, anchors)
    drop_unseen(anchors)
    for c in range(entries(contacts)):
        slip.rate[c, 0], slip.rate[c, 1] = 0.0, 0.0
    for c in range(contacts.found[0]):
        if contacts.gap[c] >= 0.0:
            only_pull(contacts, c, contacts.material[c, ADHESION])
            continue
        k = give_place(anchors, c)
        stick_or_slip(kin, contacts, anchors, slip, c, k, dt)
        if resists_spin(contacts, c):
            spin_friction(kin, contacts, anchors, c, k)
    anchors.begun[0] = 1
    loop_forces(contacts)


@kernel
def stick_or_slip(kin, contacts, anchors, slip, c, k, dt):
    """Force of the touching contact c, elongation of its springs, and velocity of its anchor, which is in place k."""
    v1, v2 = contacts.velocity[c, 1], contacts.velocity[c, 2]
    u1, u2 = anchor_rate(kin, contacts, anchors, slip, c, k)
    hold(kin, contacts, anchors, c, k, dt * v1, dt * v2, dt)
    s1, s2 = tangential_stretch(kin, contacts, anchors, c, k)
    s1, s2 = s1 - dt * u1, s2 - dt * u2
    K, sn = contacts.material[c, TANGENT_STIFFNESS], contacts.gap[c] - anchors.rest[k]
    fn = normal_force(contacts, c, sn, contacts.velocity[c, 0])  # Hammoud et al., eq. (21)
    f1, f2 = tangent_force(contacts, c, s1, v1), tangent_force(contacts, c, s2, v2)
    f1, f2, factor = inside_cone(contacts, c, fn, f1, f2)
    slips = factor < 1.0
    if slips:  # Hammoud et al., eq. (28)
        s1, s2 = (-f1 / K, -f2 / K) if K > 0.0 else (0.0, 0.0)
        slip.rate[c, 0], slip.rate[c, 1] = v1, v2
    if slips or u1 != 0.0 or u2 != 0.0:
        tie(kin, contacts, anchors, c, k, s1, s2)
    keep_rate(kin, contacts, slip, c, k)
    contacts.force[c, 0], contacts.force[c, 1], contacts.force[c, 2] = fn - contacts.material[c, ADHESION], f1, f2
    contacts.stretch[c, 0], contacts.stretch[c, 1], contacts.stretch[c, 2] = sn, s1, s2


@kernel
def anchor_rate(kin, contacts, anchors, slip, c, k):
    """ṗ₀ along the tangents of contact c [m/s]; zero for a contact that is new."""
    if anchors.pair[k] == 0:
        return 0.0, 0.0
    x, y, z = rotate(kin.rot, contacts.link1[c], slip.velocity[k, 0], slip.velocity[k, 1], slip.velocity[k, 2])
    _, u1, u2 = rotate(contacts.axes, c, x, y, z)
    return u1, u2


@kernel
def keep_rate(kin, contacts, slip, c, k):
    """Remember ``rate`` of contact c as the velocity of the anchor in place k."""
    x, y, z = rotate_transposed(contacts.axes, c, 0.0, slip.rate[c, 0], slip.rate[c, 1])
    x, y, z = rotate_transposed(kin.rot, contacts.link1[c], x, y, z)
    slip.velocity[k, 0], slip.velocity[k, 1], slip.velocity[k, 2] = x, y, z


@kernel
def copy_rows(source, target):
    for k in range(source.shape[0]):
        for i in range(source.shape[1]):
            target[k, i] = source[k, i]
