"""Spring–damper contacts at the end of an implicit step: their forces and the exact derivatives of the forces.

The law is that of ``spring_damper.py``, by its functions, at the end of the step. The anchors are those of its
beginning and do not move, because an iteration evaluates many trial states. In the contact frame

    λ_n = max(0, −K·(gap − rest) − B·u),   g = −K_t·s − B_t·ṗ_t,   λ_t = g or, where |g| > μ·λ_n, μ·λ_n·g/|g|

where the normal damper acts on the rate u = ġap at the end of the step (``damper_rate="end"``), as plain backward Euler
does, or on the mean rate u = (gap − gap₀)/dt over it ("mean"), with gap₀ ≤ 0 the gap at the beginning, 0 if the contact
was open then. The stretch is s = (p − p₀)_t for a point,
s = s₀ + dt·ṗ_t for a rolling sphere, and s = 0 for a new contact. While a deep start is undone, rest and gap₀ move by
dt times the speed of the rest point (``overlap_recovery``).

Let body 2 be displaced by ξ = (v, ω) at the contact point p and its spatial velocity change by ξ × V₂ + η; ω_rel is the
angular velocity of body 2 relative to body 1. With δn and δp the changes of the normal and of the contact point,

    δf = P·δp + D·(ω_rel × δp + ω × v₂ + v × ω₂ + η_lin) + N·δn,    δm = δp × f

where P = ∂f/∂p, D = ∂f/∂ṗ and N = ∂f/∂n (3×3, world axes, body 1 at rest). If body 1 is flat, δn = 0 and
δp = v − r·n × ω with the radius r (0 for a point); otherwise see ``turning_normals.py``.

A displacement of body 1 acts with the opposite sign and carries the contact along: δW = ξ₁ ×* W + E(ξ₂ − ξ₁), which is
ξ ×* W if both bodies move alike. Contacts with the world add a 6×6 stiffness and damping to their link, at a cost that
does not depend on the depth of the tree. Those between two moving links are added to the matrix directly.

With ġap the force jumps by B·ġap where the surfaces meet, and an implicit equation with a discontinuous force need not
have a solution. The two rates are equal if the contact persists and its point moves along a straight line.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import (
    ADHESION,
    DAMPING,
    FRICTION,
    STIFFNESS,
    TANGENT_DAMPING,
    TANGENT_STIFFNESS,
    contact_velocities,
    entries,
    is_loop,
)
from stickslip.dynamics.derivatives import load_force
from stickslip.dynamics.jacobian import last_dof, link_point, point_velocity, velocity_at
from stickslip.methods.implicit_euler.turning_normals import (
    displaced,
    load_turning_contact,
    normal_slopes,
    turns,
    world_force,
)
from stickslip.methods.soft.anchors import drop_unseen, give_place, match_anchors, slips_over
from stickslip.methods.soft.loop_springs import loop_forces
from stickslip.methods.soft.overlap_recovery import lies_before_rest, preload_rest, rest_speed, starts_deep
from stickslip.methods.soft.restitution import recall_damping
from stickslip.methods.soft.spin_friction import angular_gains, resists_spin, set_torque, torque_before_bounds
from stickslip.methods.soft.spring_damper import hold, inside_cone, normal_force, only_pull, tangent_force

RATES = ("end", "mean")
"""On which rate normal dampers act: that at the end of the step, or the mean over it."""


class Start(NamedTuple):
    """What a step knows of its beginning, and how its dampers act."""

    gap: np.ndarray
    """(places,) gaps at the beginning of the step by places of anchors [m], 0 for open contacts."""
    mean: np.ndarray
    """(1,) constant: the index in ``RATES``."""


def make_start(places: int, rate: str) -> Start:
    return Start(np.zeros(places), np.array([RATES.index(rate)], dtype=np.int64))


@kernel
def begin_contacts(kin, contacts, anchors, start):
    """Store the gaps at the beginning of a step; anchor contacts without an anchor."""
    match_anchors(kin, contacts, anchors)
    drop_unseen(anchors)
    for k in range(start.gap.shape[0]):
        start.gap[k] = 0.0
    for c in range(contacts.found[0]):
        if contacts.gap[c] >= 0.0:
            continue
        k = give_place(anchors, c)
        start.gap[k] = contacts.gap[c]
        if anchors.pair[k] != contacts.pair[c] + 1:  # at the start, or after the state was set
            hold(kin, contacts, anchors, c, k, 0.0, 0.0, 0.0)
    anchors.begun[0] = 1


@kernel
def normal_stretch(contacts, anchors, c, dt):
    """(stretch of the normal spring of contact c [m], its derivative by the gap) at the end of a step."""
    k, gap = anchors.place[c], contacts.gap[c]
    if k < 0:  # new: a spring that rests at detection is stretched by its preload alone
        outside = preload_rest(contacts, c)
        return (-outside, 0.0) if anchors.at_detection[0] != 0 else (gap - outside, 1.0)
    if lies_before_rest(contacts, anchors, c, k, dt):
        return 0.0, 0.0
    return gap - anchors.rest[k] - dt * rest_speed(anchors, k), 1.0


@kernel
def normal_rate(contacts, anchors, start, c, dt):
    """The rate on which the normal damper of contact c acts, relative to its rest point [m/s]."""
    k = anchors.place[c]
    speed = rest_speed(anchors, k) if k >= 0 else 0.0
    if start.mean[0] == 0:
        return contacts.velocity[c, 0] - speed
    return (contacts.gap[c] - (start.gap[k] if k >= 0 else 0.0)) / dt - speed


@kernel
def slopes(contacts, anchors, start, c, dt):
    """(k_n, b_n, k_t, b_t): stiffness and damping of contact c along the normal and in the tangent plane."""
    K, B = contacts.material[c, STIFFNESS], contacts.material[c, DAMPING]
    K_t, B_t = contacts.material[c, TANGENT_STIFFNESS], contacts.material[c, TANGENT_DAMPING]
    k, mean = anchors.place[c], start.mean[0] != 0
    kn = K * normal_stretch(contacts, anchors, c, dt)[1] + (B / dt if mean else 0.0)
    bn = 0.0 if mean else B
    if k < 0:  # new: no stretch
        return kn, bn, 0.0, B_t
    if slips_over(contacts, anchors, c, k):
        return kn, bn, 0.0, B_t + K_t * dt
    return kn, bn, K_t, B_t


@kernel
def forces_before_cone(kin, contacts, anchors, start, c, dt):
    """(normal force, tangential forces g₁ and g₂, h·n) of contact c before the friction limit: g = h − n·(h·n)."""
    k, a, A, v = anchors.place[c], contacts.link1[c], contacts.axes, contacts.velocity
    if k < 0 and starts_deep(contacts, anchors, c):
        return 0.0, 0.0, 0.0, 0.0
    fn = normal_force(
        contacts, c, normal_stretch(contacts, anchors, c, dt)[0], normal_rate(contacts, anchors, start, c, dt)
    )
    s0, s1, s2 = 0.0, 0.0, 0.0
    if k >= 0:
        x0, y0, z0 = link_point(kin, a, anchors.anchor[k, 0], anchors.anchor[k, 1], anchors.anchor[k, 2])
        if slips_over(contacts, anchors, c, k):  # from the previous point: rolling does not stretch the spring
            x, y, z = link_point(kin, a, anchors.point[k, 0], anchors.point[k, 1], anchors.point[k, 2])
            s0, s1, s2 = dt * v[c, 0], dt * v[c, 1], dt * v[c, 2]
        else:
            x, y, z = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
        s0 += A[c, 0, 0] * (x - x0) + A[c, 0, 1] * (y - y0) + A[c, 0, 2] * (z - z0)
        s1 += A[c, 1, 0] * (x - x0) + A[c, 1, 1] * (y - y0) + A[c, 1, 2] * (z - z0)
        s2 += A[c, 2, 0] * (x - x0) + A[c, 2, 1] * (y - y0) + A[c, 2, 2] * (z - z0)
    g1, g2 = tangent_force(contacts, c, s1, v[c, 1]), tangent_force(contacts, c, s2, v[c, 2])
    return fn, g1, g2, tangent_force(contacts, c, s0, v[c, 0])


@kernel
def end_forces(kin, contacts, anchors, start, dt):
    """contacts.velocity and contacts.force at the end of a step of length dt; the anchors are only read."""
    contact_velocities(kin, contacts)
    match_anchors(kin, contacts, anchors)
    for c in range(contacts.found[0]):
        if contacts.gap[c] >= 0.0:
            only_pull(contacts, c, contacts.material[c, ADHESION])
            continue
        if anchors.place[c] >= 0:
            recall_damping(contacts, anchors, c, anchors.place[c])
        fn, f1, f2, _ = forces_before_cone(kin, contacts, anchors, start, c, dt)
        f1, f2, _ = inside_cone(contacts, c, fn, f1, f2)
        contacts.force[c, 0], contacts.force[c, 1], contacts.force[c, 2] = fn - contacts.material[c, ADHESION], f1, f2
        if resists_spin(contacts, c):
            t0, t1, t2 = torque_before_bounds(kin, contacts, anchors, c, anchors.place[c], dt)
            set_torque(contacts, c, t0, t1, t2)
    loop_forces(contacts)


@kernel
def torque_slopes(kin, contacts, anchors, c, dt, exact, local, slope):
    """slope (3, 3) = −∂τ/∂ω of contact c in world axes at constant normal force; ``local`` (3, 3) is scratch."""
    K, B = angular_gains(contacts, anchors, c)
    D, A = B + K * dt, contacts.axes
    t0, t1, t2 = torque_before_bounds(kin, contacts, anchors, c, anchors.place[c], dt)
    first, second = set_torque(contacts, c, t0, t1, t2)
    for i in range(3):
        for j in range(3):
            local[i, j] = 0.0
    local[0, 0] = D if first == 1.0 else D * first * (1.0 - exact)
    local[1, 1], local[2, 2] = D * second, D * second
    if second < 1.0:
        square = t1 * t1 + t2 * t2
        local[1, 1] *= 1.0 - exact * t1 * t1 / square
        local[2, 2] *= 1.0 - exact * t2 * t2 / square
        local[1, 2] = -exact * D * second * t1 * t2 / square
        local[2, 1] = local[1, 2]
    for i in range(3):
        for j in range(3):
            x = 0.0
            for m in range(3):
                x += A[c, m, i] * (local[m, 0] * A[c, 0, j] + local[m, 1] * A[c, 1, j] + local[m, 2] * A[c, 2, j])
            slope[i, j] = x


@kernel
def force_slopes(kin, contacts, anchors, start, c, dt, exact, local, slope):
    """slope[0] = P, slope[1] = D and, if the normal turns, slope[2] = N (3, 3) of contact c in world axes.

    ``local`` (3, 3) is scratch. ``exact`` is 1, or 0 to hold the size of sliding friction constant, which makes its
    derivatives those of a damper. Returns 0 if the slopes are zero because the contact is open or about to open.
    """
    if is_loop(contacts, c):
        loop_slopes(contacts, c, slope)
        return 1
    fn, g1, g2, along = forces_before_cone(kin, contacts, anchors, start, c, dt)
    if contacts.gap[c] >= 0.0 or fn == 0.0:
        return 0
    kn, bn, kt, bt = slopes(contacts, anchors, start, c, dt)
    A, mu = contacts.axes, contacts.material[c, FRICTION]
    _, _, ratio = inside_cone(contacts, c, fn, g1, g2)
    size = sqrt(g1 * g1 + g2 * g2)
    e1, e2 = (g1 / size, g2 / size) if ratio < 1.0 else (0.0, 0.0)
    for which in range(2):
        n, t = (kn, kt) if which == 0 else (bn, bt)
        for i in range(3):
            for j in range(3):
                local[i, j] = 0.0
        local[0, 0] = -n
        if ratio < 1.0:  # the direction follows g, the size follows the normal force
            local[1, 0], local[2, 0] = -exact * n * mu * e1, -exact * n * mu * e2
            local[1, 1] = -t * ratio * (1.0 - exact * e1 * e1)
            local[2, 2] = -t * ratio * (1.0 - exact * e2 * e2)
            local[1, 2] = exact * t * ratio * e1 * e2
            local[2, 1] = local[1, 2]
        else:
            local[1, 1], local[2, 2] = -t, -t
        for i in range(3):
            for j in range(3):
                x = 0.0
                for m in range(3):
                    x += A[c, m, i] * (local[m, 0] * A[c, 0, j] + local[m, 1] * A[c, 1, j] + local[m, 2] * A[c, 2, j])
                slope[which, i, j] = x
    if turns(contacts, c):
        normal_slopes(contacts, c, fn, g1, g2, along, bn, exact, slope[2])
    return 1


@kernel
def loop_slopes(contacts, c, slope):
    """P = −K and D = −B of a loop point, the same in all directions."""
    for i in range(3):
        for j in range(3):
            slope[0, i, j], slope[1, i, j] = 0.0, 0.0
        slope[0, i, i], slope[1, i, i] = -contacts.material[c, STIFFNESS], -contacts.material[c, DAMPING]


@kernel
def load_contacts(kin, contacts, anchors, start, dt, exact, local, slope, der):
    """Add the stiffness and damping of contacts and loops with the world to their links."""
    for c in range(entries(contacts)):
        if contacts.link1[c] == 0 and force_slopes(kin, contacts, anchors, start, c, dt, exact, local, slope) != 0:
            if turns(contacts, c):
                load_turning_contact(kin, contacts, c, slope, der)
            else:
                load_contact(kin, contacts, c, contacts.radius[c], slope, der)
            if not is_loop(contacts, c) and resists_spin(contacts, c):
                torque_slopes(kin, contacts, anchors, c, dt, exact, local, slope[0])
                for i in range(3):
                    for j in range(3):
                        der.damping[contacts.link2[c], 3 + i, 3 + j] += slope[0, i, j]


@kernel
def load_contact(kin, contacts, c, radius, slope, der):
    b, O, A, K, D = contacts.link2[c], kin.origin, contacts.axes, der.stiffness, der.damping
    x, y, z = contacts.point[c, 0] - O[b, 0], contacts.point[c, 1] - O[b, 1], contacts.point[c, 2] - O[b, 2]
    nx, ny, nz = radius * A[c, 0, 0], radius * A[c, 0, 1], radius * A[c, 0, 2]
    fx, fy, fz = world_force(contacts, c)
    load_force(der, b, fx, fy, fz, x + nx, y + ny, z + nz)
    vx, vy, vz = point_velocity(kin, b, contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2])
    wx, wy, wz = kin.vel[b, 3], kin.vel[b, 4], kin.vel[b, 5]
    for i in range(3):
        # a row m times [r]× is m × r; the lower rows are r × the upper ones
        p0, p1, p2 = -slope[0, i, 0], -slope[0, i, 1], -slope[0, i, 2]
        d0, d1, d2 = -slope[1, i, 0], -slope[1, i, 1], -slope[1, i, 2]
        h0, h1, h2 = d1 * wz - d2 * wy, d2 * wx - d0 * wz, d0 * wy - d1 * wx
        q0 = -(p1 * (z + nz) - p2 * (y + ny)) - (d1 * vz - d2 * vy) - (h1 * nz - h2 * ny)
        q1 = -(p2 * (x + nx) - p0 * (z + nz)) - (d2 * vx - d0 * vz) - (h2 * nx - h0 * nz)
        q2 = -(p0 * (y + ny) - p1 * (x + nx)) - (d0 * vy - d1 * vx) - (h0 * ny - h1 * nx)
        e0, e1, e2 = -(d1 * z - d2 * y), -(d2 * x - d0 * z), -(d0 * y - d1 * x)
        add_row(K, b, i, 1.0, p0, p1, p2, q0, q1, q2)
        add_row(D, b, i, 1.0, d0, d1, d2, e0, e1, e2)
        # [r]× has −z, y in its row 0, z, −x in row 1 and −y, x in row 2: column i goes to the other two rows
        if i == 0:
            one, first, two, second = 4, z, 5, -y
        elif i == 1:
            one, first, two, second = 3, -z, 5, x
        else:
            one, first, two, second = 3, y, 4, -x
        add_row(K, b, one, first, p0, p1, p2, q0, q1, q2)
        add_row(K, b, two, second, p0, p1, p2, q0, q1, q2)
        add_row(D, b, one, first, d0, d1, d2, e0, e1, e2)
        add_row(D, b, two, second, d0, d1, d2, e0, e1, e2)


@kernel
def add_row(M, b, i, scale, x0, x1, x2, x3, x4, x5):
    M[b, i, 0] += scale * x0
    M[b, i, 1] += scale * x1
    M[b, i, 2] += scale * x2
    M[b, i, 3] += scale * x3
    M[b, i, 4] += scale * x4
    M[b, i, 5] += scale * x5


@kernel
def couple_contacts(support, kin, contacts, anchors, start, dt, exact, local, slope, move, vel, A):
    """A −= dJᵀλ of contacts and loops between two moving links at constant joint directions, whose change is in
    ``project``. Column k displaces everything that joint k carries by move[k] and adds vel[k] (nv, 6) to its
    velocity."""
    for c in range(entries(contacts)):
        if contacts.link1[c] == 0 or contacts.gap[c] >= 0.0:
            continue
        stiff = force_slopes(kin, contacts, anchors, start, c, dt, exact, local, slope)
        if stiff == 0:
            continue
        k1, k2 = last_dof(support, contacts.link1[c]), last_dof(support, contacts.link2[c])
        while k1 >= 0 or k2 >= 0:
            k = max(k1, k2)
            couple_column(support, kin, contacts, c, contacts.radius[c], slope, k, k == k1, k == k2, move, vel, A)
            if resists_spin(contacts, c) and (k == k1) != (k == k2):
                torque_slopes(kin, contacts, anchors, c, dt, exact, local, slope[3])
                couple_spin(support, kin, contacts, c, slope[3], k, 1.0 if k == k2 else -1.0, vel, A)
            if k == k1:
                k1 = support.dof_parent[k1]
            if k == k2:
                k2 = support.dof_parent[k2]


@kernel
def couple_spin(support, kin, contacts, c, D, k, side, vel, A):
    """Column k of A += ∂(torques of contact c)/∂v, with D = −∂τ/∂ω; joint k turns body 2 (``side`` 1) or 1 (−1)."""
    S = kin.S
    x = side * (D[0, 0] * vel[k, 3] + D[0, 1] * vel[k, 4] + D[0, 2] * vel[k, 5])
    y = side * (D[1, 0] * vel[k, 3] + D[1, 1] * vel[k, 4] + D[1, 2] * vel[k, 5])
    z = side * (D[2, 0] * vel[k, 3] + D[2, 1] * vel[k, 4] + D[2, 2] * vel[k, 5])
    d1, d2 = last_dof(support, contacts.link1[c]), last_dof(support, contacts.link2[c])
    while d1 != d2:  # joints before the common ancestor move both links alike
        d = max(d1, d2)
        sign = -1.0 if d == d1 else 1.0
        A[d, k] += sign * (S[d, 3] * x + S[d, 4] * y + S[d, 5] * z)
        if d == d1:
            d1 = support.dof_parent[d1]
        else:
            d2 = support.dof_parent[d2]


@kernel
def couple_column(support, kin, contacts, c, radius, slope, k, moves1, moves2, move, vel, A):
    a, b, O = contacts.link1[c], contacts.link2[c], kin.origin
    px, py, pz = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
    of = a if moves1 else b
    x, y, z = px - O[of, 0], py - O[of, 1], pz - O[of, 2]
    vx, vy, vz = velocity_at(move, k, x, y, z)
    wx, wy, wz = move[k, 3], move[k, 4], move[k, 5]
    fx, fy, fz = world_force(contacts, c)
    f0, f1, f2, m0, m1, m2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if moves1:
        f0, f1, f2 = wy * fz - wz * fy, wz * fx - wx * fz, wx * fy - wy * fx
        m0, m1, m2 = vy * fz - vz * fy, vz * fx - vx * fz, vx * fy - vy * fx
    if moves1 != moves2:
        sign = 1.0 if moves2 else -1.0
        n = contacts.axes
        nx, ny, nz = radius * n[c, 0, 0], radius * n[c, 0, 1], radius * n[c, 0, 2]
        dx, dy, dz = vx - (ny * wz - nz * wy), vy - (nz * wx - nx * wz), vz - (nx * wy - ny * wx)
        if turns(contacts, c):
            dx, dy, dz, tx, ty, tz = displaced(contacts, c, vx, vy, vz, wx, wy, wz)
            N = slope[2]
            f0 += sign * (N[0, 0] * tx + N[0, 1] * ty + N[0, 2] * tz)
            f1 += sign * (N[1, 0] * tx + N[1, 1] * ty + N[1, 2] * tz)
            f2 += sign * (N[2, 0] * tx + N[2, 1] * ty + N[2, 2] * tz)
        m0 += sign * (dy * fz - dz * fy)
        m1 += sign * (dz * fx - dx * fz)
        m2 += sign * (dx * fy - dy * fx)
        V = kin.vel
        sx, sy, sz = point_velocity(kin, b, px, py, pz)
        ox, oy, oz = V[b, 3], V[b, 4], V[b, 5]
        rx, ry, rz = ox - V[a, 3], oy - V[a, 4], oz - V[a, 5]
        ex, ey, ez = velocity_at(vel, k, x, y, z)
        ux = ex + ry * dz - rz * dy + wy * sz - wz * sy + vy * oz - vz * oy
        uy = ey + rz * dx - rx * dz + wz * sx - wx * sz + vz * ox - vx * oz
        uz = ez + rx * dy - ry * dx + wx * sy - wy * sx + vx * oy - vy * ox
        P, D = slope[0], slope[1]
        f0 += sign * (P[0, 0] * dx + P[0, 1] * dy + P[0, 2] * dz + D[0, 0] * ux + D[0, 1] * uy + D[0, 2] * uz)
        f1 += sign * (P[1, 0] * dx + P[1, 1] * dy + P[1, 2] * dz + D[1, 0] * ux + D[1, 1] * uy + D[1, 2] * uz)
        f2 += sign * (P[2, 0] * dx + P[2, 1] * dy + P[2, 2] * dz + D[2, 0] * ux + D[2, 1] * uy + D[2, 2] * uz)
    d1, d2 = last_dof(support, a), last_dof(support, b)
    while d1 != d2:  # joints before the common ancestor move both links alike
        d = max(d1, d2)
        link, sign = (a, -1.0) if d == d1 else (b, 1.0)
        sx, sy, sz = velocity_at(kin.S, d, px - O[link, 0], py - O[link, 1], pz - O[link, 2])
        S = kin.S
        A[d, k] -= sign * (sx * f0 + sy * f1 + sz * f2 + S[d, 3] * m0 + S[d, 4] * m1 + S[d, 5] * m2)
        if d == d1:
            d1 = support.dof_parent[d1]
        else:
            d2 = support.dof_parent[d2]
