"""Overlaps, and joints outside their range, are undone at a bounded speed: ``methods.recovery`` at position level.

    φ(z⁺) − floor + ease·γ ≥ 0,    floor = φ(z) − dt·b < 0 where the bound b of the recovery acts, else 0,
    l(z⁺) − floor + ease·λ ≥ 0     likewise for limits;    ease = dt²·R [m/N] of contacts, dt·R of limits

R is relative to W_nn of the two bodies alone, without their joints. Cost: linear in contacts and limits.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.methods.recovery import recover
from stickslip.methods.variational.contact.points import gap_and_rows
from stickslip.model.arrays import SLIDE


@kernel
def mobility(bodies, b, row):
    """row·M⁻¹·rowᵀ [1/kg] of row (6,) over the velocities of link b, with the diagonal of its inertia."""
    total = 0.0
    if b > 0:
        for k in range(3):
            total += row[k] * row[k] / bodies.mass[b] + row[3 + k] * row[3 + k] / bodies.J[b, k, k]
    return total


@kernel
def bound_recovery(mechanism, motion, rows, touch, settings):
    """Write floors and eases of contacts and limits. Contacts are at ``motion.pose``, and ``rows.gap`` is that of the
    limits there. The floor of a contact becomes part of its offset."""
    bodies, nodes, points, dt = mechanism.bodies, mechanism.nodes, touch.points, settings.dt
    for c in range(points.found[0]):
        points.ease[c] = 0.0
        gap = gap_and_rows(points, c, motion.pose, touch.normal[c, 0], touch.normal[c, 1])
        if gap < 0.0:
            own = mobility(bodies, points.link1[c], points.rows1[c, 0])
            own += mobility(bodies, points.link2[c], points.rows2[c, 0])
            bound, R = recover(gap / dt, settings.recovery.speed, own, 0.0)
            points.ease[c] = dt * dt * R
            if dt * bound > gap:
                points.offset[c] += gap - dt * bound
    for i in range(nodes.limit_joint.shape[0]):
        motion.floor[i] = motion.ease[i] = 0.0
        j, gap = nodes.limit_node[i], rows.gap[i]
        if gap < 0.0:
            angle = bodies.tree.joint_type[nodes.limit_joint[i]] != SLIDE
            own = mobility(bodies, nodes.link1[j], rows.limits[i, :6]) + mobility(
                bodies, nodes.link2[j], rows.limits[i, 6:]
            )
            bound, R = recover(gap / dt, settings.recovery.rate if angle else settings.recovery.speed, own, 0.0)
            motion.ease[i] = dt * R
            if dt * bound > gap:
                motion.floor[i] = gap - dt * bound
