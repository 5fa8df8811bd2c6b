"""Spring–damper contacts with Coulomb friction: λ = −K·(p − p₀) − B·(ṗ − ṗ₀), kept inside the friction cone.

Paper: Hammoud et al., "Exponential integration for efficient and accurate multi-body simulation with stiff
viscoelastic contacts", eqs. (2), (21), (22), (28). Sizes: one 3-vector per contact, contact frame (normal, tangents).

* Normal: the spring rests on the surface, f_n = max(0, −K·gap − B·ġap): contacts push, never pull.
* Tangent: the spring is tied to an anchor p₀, set where the contact began. If |f_t| > μ·f_n the force is scaled back to
  the cone, normal force kept, and the anchor follows so that the spring alone gives that force (28).

Differs from the paper in: the normal rest point lies on the surface, not where penetration was first detected, so
that the depth at rest is weight/K; a slipping anchor is moved by (28) but has no velocity of its own (ṗ₀ = 0); the
anchor of a sphere rolls along with it (a point of the ground that the sphere rolls over has not been dragged there), so
that only slip stretches the spring.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import DAMPING, FRICTION, STIFFNESS
from stickslip.dynamics.jacobian import add_point_force, link_point, point_velocity, to_link
from stickslip.math.spatial import rotate


class Anchors(NamedTuple):
    """State of the contact law, one entry per pair id; part of the simulation's state."""

    active: np.ndarray
    """(n,) 1 while the pair is in contact."""
    anchor: np.ndarray
    """(n, 3) p₀ in the frame of link 1 [m]."""
    point: np.ndarray
    """(n, 3) where the contact point was, in the frame of link 1 [m]; used by spheres only."""
    seen: np.ndarray
    """(n,) scratch: 1 if the pair was found in this step."""


def make_anchors(pairs: int) -> Anchors:
    n = max(1, pairs)
    return Anchors(np.zeros(n, np.int64), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n, np.int64))


@kernel
def contact_velocities(kin, contacts):
    """Relative velocity of every contact, in its frame."""
    for c in range(contacts.found[0]):
        x, y, z = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
        ax, ay, az = point_velocity(kin, contacts.link1[c], x, y, z)
        bx, by, bz = point_velocity(kin, contacts.link2[c], x, y, z)
        for i in range(3):
            A = contacts.axes
            contacts.velocity[c, i] = A[c, i, 0] * (bx - ax) + A[c, i, 1] * (by - ay) + A[c, i, 2] * (bz - az)


@kernel
def spring_damper(kin, contacts, anchors, dt):
    """Contact forces from positions and velocities; anchors are made, moved and dropped.

    ``dt`` [s] is the time since the last call.
    """
    contact_velocities(kin, contacts)
    for k in range(anchors.seen.shape[0]):
        anchors.seen[k] = 0
    for c in range(contacts.found[0]):
        k, a = contacts.pair[c], contacts.link1[c]
        if contacts.gap[c] >= 0.0:
            contacts.force[c, 0], contacts.force[c, 1], contacts.force[c, 2] = 0.0, 0.0, 0.0
            continue
        x, y, z = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
        px, py, pz = to_link(kin, a, x, y, z)
        if anchors.active[k] == 0:
            anchors.anchor[k, 0], anchors.anchor[k, 1], anchors.anchor[k, 2] = px, py, pz
        elif contacts.rolling[c] != 0:
            roll_anchor(kin, contacts, anchors, c, k, a, dt)
        anchors.point[k, 0], anchors.point[k, 1], anchors.point[k, 2] = px, py, pz
        anchors.active[k] = 1
        anchors.seen[k] = 1

        x0, y0, z0 = link_point(kin, a, anchors.anchor[k, 0], anchors.anchor[k, 1], anchors.anchor[k, 2])
        A = contacts.axes
        s1 = A[c, 1, 0] * (x - x0) + A[c, 1, 1] * (y - y0) + A[c, 1, 2] * (z - z0)
        s2 = A[c, 2, 0] * (x - x0) + A[c, 2, 1] * (y - y0) + A[c, 2, 2] * (z - z0)
        K, B, mu = contacts.material[c, STIFFNESS], contacts.material[c, DAMPING], contacts.material[c, FRICTION]
        fn = max(0.0, -K * contacts.gap[c] - B * contacts.velocity[c, 0])
        f1 = -K * s1 - B * contacts.velocity[c, 1]
        f2 = -K * s2 - B * contacts.velocity[c, 2]
        size = sqrt(f1 * f1 + f2 * f2)
        if size > mu * fn:  # slip: back to the cone (22), and the anchor follows (28)
            scale = mu * fn / size
            f1, f2 = scale * f1, scale * f2
            d1, d2 = f1 / K, f2 / K
            anchors.anchor[k, 0], anchors.anchor[k, 1], anchors.anchor[k, 2] = to_link(
                kin, a,
                x + d1 * A[c, 1, 0] + d2 * A[c, 2, 0],
                y + d1 * A[c, 1, 1] + d2 * A[c, 2, 1],
                z + d1 * A[c, 1, 2] + d2 * A[c, 2, 2],
            )  # fmt: skip
        contacts.force[c, 0], contacts.force[c, 1], contacts.force[c, 2] = fn, f1, f2
    for k in range(anchors.seen.shape[0]):
        if anchors.seen[k] == 0:
            anchors.active[k] = 0


@kernel
def roll_anchor(kin, contacts, anchors, c, k, a, dt):
    """Carry the anchor along with a wandering contact point, less the slip dt·v_t: only slip stretches the spring.

    The stretch so far is laid into the present tangent plane: on a curved surface the plane turns under way.
    """
    A = contacts.axes
    ex, ey, ez = rotate(
        kin.rot, a,
        anchors.point[k, 0] - anchors.anchor[k, 0],
        anchors.point[k, 1] - anchors.anchor[k, 1],
        anchors.point[k, 2] - anchors.anchor[k, 2],
    )  # fmt: skip
    s1 = A[c, 1, 0] * ex + A[c, 1, 1] * ey + A[c, 1, 2] * ez + dt * contacts.velocity[c, 1]
    s2 = A[c, 2, 0] * ex + A[c, 2, 1] * ey + A[c, 2, 2] * ez + dt * contacts.velocity[c, 2]
    anchors.anchor[k, 0], anchors.anchor[k, 1], anchors.anchor[k, 2] = to_link(
        kin, a,
        contacts.point[c, 0] - s1 * A[c, 1, 0] - s2 * A[c, 2, 0],
        contacts.point[c, 1] - s1 * A[c, 1, 1] - s2 * A[c, 2, 1],
        contacts.point[c, 2] - s1 * A[c, 1, 2] - s2 * A[c, 2, 2],
    )  # fmt: skip


@kernel
def apply_contact_forces(kin, contacts, f_ext):
    """f_ext += the contact forces, on body 2 and, reversed, on body 1."""
    for c in range(contacts.found[0]):
        fn, f1, f2 = contacts.force[c, 0], contacts.force[c, 1], contacts.force[c, 2]
        A = contacts.axes
        fx = fn * A[c, 0, 0] + f1 * A[c, 1, 0] + f2 * A[c, 2, 0]
        fy = fn * A[c, 0, 1] + f1 * A[c, 1, 1] + f2 * A[c, 2, 1]
        fz = fn * A[c, 0, 2] + f1 * A[c, 1, 2] + f2 * A[c, 2, 2]
        x, y, z = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
        add_point_force(kin, contacts.link2[c], x, y, z, fx, fy, fz, f_ext)
        if contacts.link1[c] != 0:
            add_point_force(kin, contacts.link1[c], x, y, z, -fx, -fy, -fz, f_ext)


@kernel
def contact_energy(kin, contacts, anchors):
    """Energy stored in the contact springs [J]."""
    energy = 0.0
    for c in range(contacts.found[0]):
        k, a, A = contacts.pair[c], contacts.link1[c], contacts.axes
        if contacts.gap[c] >= 0.0 or anchors.active[k] == 0:
            continue
        x0, y0, z0 = link_point(kin, a, anchors.anchor[k, 0], anchors.anchor[k, 1], anchors.anchor[k, 2])
        x, y, z = contacts.point[c, 0] - x0, contacts.point[c, 1] - y0, contacts.point[c, 2] - z0
        s1 = A[c, 1, 0] * x + A[c, 1, 1] * y + A[c, 1, 2] * z
        s2 = A[c, 2, 0] * x + A[c, 2, 1] * y + A[c, 2, 2] * z
        energy += 0.5 * contacts.material[c, STIFFNESS] * (contacts.gap[c] ** 2 + s1 * s1 + s2 * s2)
    return energy
