"""Torsional and rolling friction of spring-damper contacts: torques that oppose the relative spin of two bodies.

With ω the angular velocity of body 2 relative to body 1 in the contact frame (normal, tangent 1, tangent 2), θ the
twist of an angular spring and f_n the normal force,

    τ = −K_θ·θ − B_θ·ω,    |τ_n| ≤ μ_t·f_n,    |(τ_1, τ_2)| ≤ μ_r·f_n,    θ̇ = ω while it sticks

Where a bound is exceeded, the torque is scaled back to it, and the twist follows so that the spring alone gives it, but
never becomes larger than it was: the rule of tangential friction in ``spring_damper``.

The coefficients μ_t and μ_r [m] decide; stiffness and damping only say how stiffly the contact sticks. They are chosen
so that they do not shorten the stable step: K_θ = K·ρ² and B_θ = B·ρ² with ρ² = I/(2·m), I the least moment of inertia
of the lighter link and m its mass. So K_θ/I ≤ K/(2·m), half of what the normal spring adds. Besides, K_θ ≤ I/(4·dt²)
and B_θ ≤ I/(4·dt), so that methods with long steps, which hold the torque over a step, are stable, too.
Differs from MuJoCo in: the three bounds are separate, while its elliptic cone shares one bound.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ADHESION, DAMPING, ROLLING, STIFFNESS, TORSION
from stickslip.model.model import Model


def angular_bounds(model: Model, dt: float) -> np.ndarray:
    """(nl, 3) by link: ρ² [m²], the largest K_θ [N m/rad] and the largest B_θ [N m s/rad]; infinite for the world."""
    xx, yy, zz, xy, xz, yz = model.inertia.inertia.T
    tensors = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)
    least = np.maximum(np.linalg.eigvalsh(tensors)[:, 0], 0.0)
    mass = model.inertia.mass
    gyration = np.divide(0.5 * least, mass, out=np.zeros_like(mass), where=mass > 0.0)
    bounds = np.stack([gyration, least / (4.0 * dt * dt), least / (4.0 * dt)], axis=1)
    bounds[0] = np.inf
    return bounds


@kernel
def resists_spin(contacts, c):
    """Whether contact c has torsional or rolling friction."""
    return contacts.material[c, TORSION] > 0.0 or contacts.material[c, ROLLING] > 0.0


@kernel
def relative_spin(kin, contacts, c):
    """ω of body 2 relative to body 1, in the contact frame [rad/s]."""
    a, b, A, V = contacts.link1[c], contacts.link2[c], contacts.axes, kin.vel
    x, y, z, U = V[b, 3] - V[a, 3], V[b, 4] - V[a, 4], V[b, 5] - V[a, 5], contacts.surface
    return (
        A[c, 0, 0] * x + A[c, 0, 1] * y + A[c, 0, 2] * z + U[c, 3],
        A[c, 1, 0] * x + A[c, 1, 1] * y + A[c, 1, 2] * z + U[c, 4],
        A[c, 2, 0] * x + A[c, 2, 1] * y + A[c, 2, 2] * z + U[c, 5],
    )


@kernel
def angular_gains(contacts, anchors, c):
    """(K_θ, B_θ) of contact c."""
    G, a, b = anchors.angular, contacts.link1[c], contacts.link2[c]
    square = min(G[a, 0], G[b, 0])
    K, B = square * contacts.material[c, STIFFNESS], square * contacts.material[c, DAMPING]
    return min(K, G[a, 1], G[b, 1]), min(B, G[a, 2], G[b, 2])


@kernel
def twist_anchor(kin, contacts, anchors, c, k, dt):
    """Add the spin of the last dt [s] to the twist of contact c in place k."""
    w0, w1, w2 = relative_spin(kin, contacts, c)
    anchors.twist[k, 0] += dt * w0
    anchors.twist[k, 1] += dt * w1
    anchors.twist[k, 2] += dt * w2


@kernel(inline=False)
def torque_before_bounds(kin, contacts, anchors, c, k, dt):
    """(τ_n, τ_1, τ_2) of contact c as if it stuck, dt [s] after the twist of place k; no twist if k < 0."""
    K, B = angular_gains(contacts, anchors, c)
    w0, w1, w2 = relative_spin(kin, contacts, c)
    D = B + K * dt
    t0, t1, t2 = -D * w0, -D * w1, -D * w2
    if k >= 0:
        t0, t1, t2 = t0 - K * anchors.twist[k, 0], t1 - K * anchors.twist[k, 1], t2 - K * anchors.twist[k, 2]
    return t0, t1, t2


@kernel
def bounds_of(contacts, c):
    """(μ_t·f_n, μ_r·f_n) of contact c, whose normal force has been written; adhesion presses, too."""
    normal = contacts.force[c, 0] + contacts.material[c, ADHESION]
    return contacts.material[c, TORSION] * normal, contacts.material[c, ROLLING] * normal


@kernel
def set_torque(contacts, c, t0, t1, t2):
    """Write the torque of contact c, scaled back to its bounds; returns the two factors."""
    most, rolling = bounds_of(contacts, c)
    size = sqrt(t1 * t1 + t2 * t2)
    first = most / abs(t0) if abs(t0) > most else 1.0
    second = rolling / size if size > rolling else 1.0
    contacts.torque[c, 0], contacts.torque[c, 1], contacts.torque[c, 2] = first * t0, second * t1, second * t2
    return first, second


@kernel(inline=False)
def spin_friction(kin, contacts, anchors, c, k):
    """Torque of the touching contact c at the present twist of place k, which follows where it slips."""
    t0, t1, t2 = torque_before_bounds(kin, contacts, anchors, c, k, 0.0)
    first, second = set_torque(contacts, c, t0, t1, t2)
    K, _ = angular_gains(contacts, anchors, c)
    T, M = anchors.twist, contacts.torque
    if first < 1.0:
        length = min(abs(T[k, 0]), abs(M[c, 0]) / K if K > 0.0 else 0.0)
        T[k, 0] = -length if t0 > 0.0 else length
    if second < 1.0:
        size, most = sqrt(t1 * t1 + t2 * t2), sqrt(M[c, 1] * M[c, 1] + M[c, 2] * M[c, 2])
        length = min(sqrt(T[k, 1] * T[k, 1] + T[k, 2] * T[k, 2]), most / K if K > 0.0 else 0.0)
        T[k, 1], T[k, 2] = -length * t1 / size, -length * t2 / size


@kernel
def apply_contact_torques(contacts, f_ext):
    """f_ext += the torques of torsional and rolling friction on body 2 and their opposites on body 1."""
    for c in range(contacts.found[0]):
        if not resists_spin(contacts, c):
            continue
        A, T, a, b = contacts.axes, contacts.torque, contacts.link1[c], contacts.link2[c]
        for i in range(3):
            t = T[c, 0] * A[c, 0, i] + T[c, 1] * A[c, 1, i] + T[c, 2] * A[c, 2, i]
            f_ext[b, 3 + i] += t
            if a != 0:
                f_ext[a, 3 + i] -= t
