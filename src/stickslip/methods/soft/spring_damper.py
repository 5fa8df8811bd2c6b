"""Spring–damper contacts with Coulomb friction: λ = −K·(p − p₀) − B·(ṗ − ṗ₀), kept inside the friction cone.

K and B are diagonal in the contact frame: K, B along the normal and K_t, B_t along the surface. Either may be zero: a
contact of K = 0 is a damper without a spring, which slows down what sinks in and holds nothing. This module is the only
place of the law: ``normal_force``, ``tangent_force`` and ``inside_cone`` are its three equations, for explicit methods,
Expo and event-selected systems by ``press``, and for implicit Euler at the end of its step.

Paper: Hammoud et al., "Exponential integration for efficient and accurate multi-body simulation with stiff
viscoelastic contacts", eqs. (2), (21), (22), (28). Sizes: one 3-vector per contact, contact frame (normal, tangents).

* Normal: f_n = max(0, −K·(gap − rest) − B·ġap), eqs. (2), (21): contacts push but never pull. The spring rests on the
  surface (rest = 0) or, as in the paper, where penetration was first detected (``rest="detected"``). A preloaded spring
  (P [N]) rests P/K further out and presses with P as soon as it touches: f_n = max(0, P − K·gap − B·ġap) for gap < 0.
  Deep starts are undone at a bounded speed, by rest points that move (``overlap_recovery``).
* Tangent: the spring of K_t is attached to an anchor p₀, set where the contact began. If |f_t| > μ·f_n, the force is
  scaled back to the cone (22) at the same normal force, and the anchor moves along the force so that the spring alone
  gives it (28), but never so far that the spring becomes longer than it was.
* Restitution e, where no surface says a damping: the damper that gives e (``restitution``).
* Torsional and rolling friction (condim 4 and 6): ``spin_friction``.
* Adhesion a pulls besides: the force along the normal is f_n − a, and friction is bounded by μ·f_n.
* A surface that moves (``Contacts.surface``) takes the anchor along: only slip relative to it stretches the spring.

Differs from the paper in: the normal rest point lies on the surface by default, so that the depth at rest is weight/K;
preload; recovery from deep starts; a slipping anchor has no velocity of its own (ṗ₀ = 0); slip never stretches the
spring, while (28) would create energy at the beginning of a slide in which the damper alone reaches the cone; the
anchor of a sphere moves with the rolling contact point, so that only slip stretches the spring; the contacts of two
faces share K and B (``finish`` of ``collision.convex``).
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.contacts import (
    ADHESION,
    DAMPING,
    FRICTION,
    PRELOAD,
    STIFFNESS,
    TANGENT_DAMPING,
    TANGENT_STIFFNESS,
    contact_velocities,
    entries,
)
from stickslip.dynamics.jacobian import add_point_force, link_point, to_link
from stickslip.math.spatial import rotate
from stickslip.methods.soft.anchors import drop_unseen, give_place, match_anchors, slips_over
from stickslip.methods.soft.loop_springs import loop_energy, loop_forces
from stickslip.methods.soft.overlap_recovery import first_rest, move_rest, preload_rest, rest_speed
from stickslip.methods.soft.restitution import keep_damping, recall_damping
from stickslip.methods.soft.spin_friction import apply_contact_torques, resists_spin, spin_friction, twist_anchor


@kernel
def spring_damper(kin, contacts, anchors, dt, slid):
    """Contact forces from positions and velocities, eq. (2); anchors are created, moved and dropped. ``dt`` [s] is the
    time since the last call. Slip of rolling contacts since then is ``slid`` [s] times the velocity; 0 if their anchors
    have been moved already. Also writes ``contacts.stretch``, the springs' elongations after slip."""
    contact_velocities(kin, contacts)
    match_anchors(kin, contacts, anchors)
    drop_unseen(anchors)
    for c in range(contacts.found[0]):
        if contacts.gap[c] >= 0.0:
            only_pull(contacts, c, contacts.material[c, ADHESION])
            continue
        k = give_place(anchors, c)
        press(kin, contacts, anchors, c, k, slid * contacts.velocity[c, 1], slid * contacts.velocity[c, 2], dt)
        if resists_spin(contacts, c):
            spin_friction(kin, contacts, anchors, c, k)
    anchors.begun[0] = 1
    loop_forces(contacts)


@kernel
def only_pull(contacts, c, adhesion):
    """Force of contact c, which is open: nothing but adhesion [N]."""
    for i in range(3):
        contacts.force[c, i] = 0.0
        contacts.torque[c, i] = 0.0
        contacts.stretch[c, i] = 0.0
    contacts.force[c, 0] = -adhesion


@kernel
def normal_force(contacts, c, stretch, rate):
    """f_n = max(0, −K·stretch − B·rate) of contact c, eqs. (2), (21)."""
    return max(0.0, -contacts.material[c, STIFFNESS] * stretch - contacts.material[c, DAMPING] * rate)


@kernel
def tangent_force(contacts, c, stretch, rate):
    """−K_t·stretch − B_t·rate of contact c in one direction along the surface, eq. (2), before the friction cone."""
    return -contacts.material[c, TANGENT_STIFFNESS] * stretch - contacts.material[c, TANGENT_DAMPING] * rate


@kernel
def inside_cone(contacts, c, fn, f1, f2):
    """(f₁, f₂, factor): the tangential force scaled back to the cone, eq. (22), at the same normal force; the factor is
    1 in stick."""
    size, most = sqrt(f1 * f1 + f2 * f2), contacts.material[c, FRICTION] * fn
    if size > most:
        return most * f1 / size, most * f2 / size, most / size
    return f1, f2, 1.0


@kernel
def press(kin, contacts, anchors, c, k, w1, w2, dt):
    """Force of the touching contact c and elongation of its springs; its anchor in place k is created or moved.

    (w1, w2) [m] is the slip of body 2 along the tangents since the last call, dt [s] ago, which rolling contacts use.
    """
    hold(kin, contacts, anchors, c, k, w1, w2, dt)
    s1, s2 = tangential_stretch(kin, contacts, anchors, c, k)
    fn = pressing_force(contacts, anchors, c, k)
    f1, f2 = sticking_force(contacts, c, s1, s2)
    size = sqrt(f1 * f1 + f2 * f2)
    if size > contacts.material[c, FRICTION] * fn:
        slide(kin, contacts, anchors, c, k, fn, sqrt(s1 * s1 + s2 * s2), f1, f2, size)
    else:
        write_force(contacts, anchors, c, k, fn, f1, f2, s1, s2)


@kernel
def pressing_force(contacts, anchors, c, k):
    """f_n of the touching contact c, whose anchor is in place k, without adhesion [N]."""
    sn, rate = contacts.gap[c] - anchors.rest[k], contacts.velocity[c, 0] - rest_speed(anchors, k)
    return normal_force(contacts, c, sn, rate)


@kernel
def sticking_force(contacts, c, s1, s2):
    """The force along the tangents of contact c that sticks, with its spring stretched by (s1, s2) [N]."""
    f1 = tangent_force(contacts, c, s1, contacts.velocity[c, 1])
    return f1, tangent_force(contacts, c, s2, contacts.velocity[c, 2])


@kernel
def slide(kin, contacts, anchors, c, k, fn, longest, f1, f2, size):
    """Force of contact c that slips, μ·f_n along (f1, f2)/size, eq. (22). The anchor follows so that the spring alone
    gives this force, eq. (28), or pulls in its direction with a stretch of ``longest`` [m]."""
    bound, K = contacts.material[c, FRICTION] * fn, contacts.material[c, TANGENT_STIFFNESS]
    length = min(longest, bound / K) if K > 0.0 else longest
    s1, s2 = -length * f1 / size, -length * f2 / size
    tie(kin, contacts, anchors, c, k, s1, s2)
    write_force(contacts, anchors, c, k, fn, bound * f1 / size, bound * f2 / size, s1, s2)


@kernel
def write_force(contacts, anchors, c, k, fn, f1, f2, s1, s2):
    """Write force and elongation of contact c; adhesion pulls besides."""
    contacts.force[c, 0], contacts.force[c, 1], contacts.force[c, 2] = fn - contacts.material[c, ADHESION], f1, f2
    sn = contacts.gap[c] - anchors.rest[k]
    contacts.stretch[c, 0], contacts.stretch[c, 1], contacts.stretch[c, 2] = sn, s1, s2


@kernel
def hold(kin, contacts, anchors, c, k, w1, w2, dt):
    """Update the anchor of contact c: create it if the contact is new; move it along if the contact rolls, and its rest
    point if it recovers."""
    a = contacts.link1[c]
    px, py, pz = to_link(kin, a, contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2])
    if anchors.pair[k] == 0:
        anchors.anchor[k, 0], anchors.anchor[k, 1], anchors.anchor[k, 2] = px, py, pz
        anchors.rest[k] = first_rest(contacts, anchors, c)
        anchors.twist[k, 0], anchors.twist[k, 1], anchors.twist[k, 2] = 0.0, 0.0, 0.0
        keep_damping(contacts, anchors, c, k)
    else:
        recall_damping(contacts, anchors, c, k)
        if resists_spin(contacts, c):
            twist_anchor(kin, contacts, anchors, c, k, dt)
        move_rest(contacts, anchors, c, k, dt)
        if slips_over(contacts, anchors, c, k):
            roll_anchor(kin, contacts, anchors, c, k, w1, w2)
    anchors.point[k, 0], anchors.point[k, 1], anchors.point[k, 2] = px, py, pz
    anchors.pair[k] = contacts.pair[c] + 1


@kernel
def tangential_stretch(kin, contacts, anchors, c, k):
    """p − p₀ along the two tangents [m]."""
    A = contacts.axes
    x, y, z = link_point(kin, contacts.link1[c], anchors.anchor[k, 0], anchors.anchor[k, 1], anchors.anchor[k, 2])
    x, y, z = contacts.point[c, 0] - x, contacts.point[c, 1] - y, contacts.point[c, 2] - z
    return (A[c, 1, 0] * x + A[c, 1, 1] * y + A[c, 1, 2] * z, A[c, 2, 0] * x + A[c, 2, 1] * y + A[c, 2, 2] * z)


@kernel
def tie(kin, contacts, anchors, c, k, s1, s2):
    """Move the anchor so that the spring of contact c is stretched by (s1, s2) along the tangents."""
    A = contacts.axes
    anchors.anchor[k, 0], anchors.anchor[k, 1], anchors.anchor[k, 2] = to_link(
        kin, contacts.link1[c],
        contacts.point[c, 0] - s1 * A[c, 1, 0] - s2 * A[c, 2, 0],
        contacts.point[c, 1] - s1 * A[c, 1, 1] - s2 * A[c, 2, 1],
        contacts.point[c, 2] - s1 * A[c, 1, 2] - s2 * A[c, 2, 2],
    )  # fmt: skip


@kernel
def roll_anchor(kin, contacts, anchors, c, k, w1, w2):
    """Move the anchor along with a rolling contact point, less the slip (w1, w2): only slip stretches the spring. The
    previous stretch is turned into the current tangent plane, since the plane turns on a curved surface."""
    A = contacts.axes
    ex, ey, ez = rotate(
        kin.rot, contacts.link1[c],
        anchors.point[k, 0] - anchors.anchor[k, 0],
        anchors.point[k, 1] - anchors.anchor[k, 1],
        anchors.point[k, 2] - anchors.anchor[k, 2],
    )  # fmt: skip
    s1 = A[c, 1, 0] * ex + A[c, 1, 1] * ey + A[c, 1, 2] * ez + w1
    s2 = A[c, 2, 0] * ex + A[c, 2, 1] * ey + A[c, 2, 2] * ez + w2
    tie(kin, contacts, anchors, c, k, s1, s2)


@kernel
def apply_contact_forces(kin, contacts, f_ext):
    """f_ext += the forces and torques of contacts and loops on body 2 and their opposites on body 1."""
    for c in range(entries(contacts)):
        fn, f1, f2 = contacts.force[c, 0], contacts.force[c, 1], contacts.force[c, 2]
        A = contacts.axes
        fx = fn * A[c, 0, 0] + f1 * A[c, 1, 0] + f2 * A[c, 2, 0]
        fy = fn * A[c, 0, 1] + f1 * A[c, 1, 1] + f2 * A[c, 2, 1]
        fz = fn * A[c, 0, 2] + f1 * A[c, 1, 2] + f2 * A[c, 2, 2]
        x, y, z = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
        add_point_force(kin, contacts.link2[c], x, y, z, fx, fy, fz, f_ext)
        if contacts.link1[c] != 0:
            add_point_force(kin, contacts.link1[c], x, y, z, -fx, -fy, -fz, f_ext)
    apply_contact_torques(contacts, f_ext)


@kernel
def apply_adhesion(kin, contacts, f_ext):
    """f_ext += the adhesion of all contacts, which pulls their bodies together."""
    A, p = contacts.axes, contacts.point
    for c in range(contacts.found[0]):
        pull = contacts.material[c, ADHESION]
        if pull != 0.0:
            fx, fy, fz = -pull * A[c, 0, 0], -pull * A[c, 0, 1], -pull * A[c, 0, 2]
            add_point_force(kin, contacts.link2[c], p[c, 0], p[c, 1], p[c, 2], fx, fy, fz, f_ext)
            if contacts.link1[c] != 0:
                add_point_force(kin, contacts.link1[c], p[c, 0], p[c, 1], p[c, 2], -fx, -fy, -fz, f_ext)


@kernel
def contact_energy(contacts):
    """Energy that the springs of loops store, and those of contacts have stored since they touched [J], without the
    energy of a preload. A normal spring stores none beyond its rest point."""
    energy = loop_energy(contacts)
    for c in range(contacts.found[0]):
        sn, s1, s2 = min(0.0, contacts.stretch[c, 0]), contacts.stretch[c, 1], contacts.stretch[c, 2]
        K, K_t = contacts.material[c, STIFFNESS], contacts.material[c, TANGENT_STIFFNESS]
        energy += 0.5 * (K * sn * sn + K_t * (s1 * s1 + s2 * s2))
        if contacts.gap[c] < 0.0:
            energy -= 0.5 * contacts.material[c, PRELOAD] * preload_rest(contacts, c)
    return energy
