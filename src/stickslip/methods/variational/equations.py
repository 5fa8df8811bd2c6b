"""The equations of a variational step (Brüdigam et al., eqs. (24) and (26)) at the current unknowns.

The unknowns are ν⁺ (6 per body), an impulse λ for each rigid row, soft row and limit of a joint's node, and those of
contacts in ``cones``. Quantities at z are constant during a step, those at z⁺ = z ⊕ dt·ν⁺ are not. The first line is
(24a), the second (24b):

    bodies   P(ν⁺) − P₋(ν) − dt·f − Gᵀ·λ − Rᵀ·λ_soft − Lᵀ·λ_limit − dt·Cᵀ·(γ, β)     G, R, L, C at z     [N s]
    coupled  e(z⁺);  tendons: λ + a·(u − u⁻) − dt·φ         ``joints.coupling_nodes``                      [m, rad; N s]
    held     g(z⁺)                                                                                        [m, rad]
    soft     w·(R·ν⁺ − q̇) + λ − dt·(τ − dt·K·q̇) − dt·φ,   φ: ``joints.dry_friction``                       [N s]
    limits   l(z⁺) − s,   s·λ/dt = μ                                                                       [m, rad; J]

and those of contacts with u = (φ(z⁺), B·ν⁺) and the motion of their surfaces (``Contacts.surface``), B at z, and of
their torques (``contact.spin``). Deep overlaps have φ(z⁺) − floor + ease·γ instead, and so have limits
(``recovering``). P is the momentum at the beginning of an interval, P₋ at its end (``discrete_rotation``; in
translation both are m·v). Drag of a medium adds dt·C·(ν⁺ − ν) (``fluid_impulses``).
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel
from stickslip.maximal.rows import joint_errors
from stickslip.methods.variational.bodies import next_pose
from stickslip.methods.variational.contact import circular, pyramid
from stickslip.methods.variational.contact.points import gap_and_rows
from stickslip.methods.variational.contact.spin import spin_rates, spin_residual
from stickslip.methods.variational.discrete_rotation import OK, momentum_after
from stickslip.methods.variational.joints.coupling_nodes import look_at_couplings, tendon_rate
from stickslip.methods.variational.joints.dry_friction import rubbing_residual
from stickslip.methods.variational.joints.joint_nodes import limit_gaps

ROUND_OFF = 2e-15
"""Differences of positions below this count as zero [m or rad], because γ/s would turn them into forces."""


@kernel
def add_row(row, impulse, a, b, out):
    """out (nl, 6) += rowᵀ·impulse on the links a and b."""
    for k in range(6):
        out[a, k] += row[k] * impulse
        out[b, k] += row[6 + k] * impulse


@kernel
def times_row(row, a, b, nu):
    s = 0.0
    for k in range(6):
        s += row[k] * nu[a, k] + row[6 + k] * nu[b, k]
    return s


@kernel
def contact_force(touch, c):
    """(γ, f_t1, f_t2) [N]."""
    if touch.D.shape[0] > 0:
        return pyramid.force(touch.cones, touch.D, c)
    return circular.force(touch.cones, touch.D, c)


@kernel
def add_spin_torques(touch, c, target, dt, body):
    """body (nl, 6) −= impulses of torsional and rolling friction of contact c; returns their largest residuals."""
    points, spin, equations, products = touch.points, touch.spin, 0.0, 0.0
    for part in range(2):
        if spin.bound[c, part] > 0.0:
            cones = spin.torsion if part == 0 else spin.rolling
            t1, t2 = dt * cones.beta[c, 0], dt * cones.beta[c, 1]
            r1, r2 = spin.rows1[c, part], spin.rows2[c, part]
            for k in range(3, 6):
                body[points.link1[c], k] -= r1[1, k] * t1 + r1[2, k] * t2
                body[points.link2[c], k] -= r2[1, k] * t1 + r2[2, k] * t2
            one, two = spin_residual(spin, touch.D, c, part, target)
            equations, products = max(equations, one), max(products, two)
    return equations, products


@kernel
def move_to(mechanism, motion, rows, touch, dt):
    """Compute z⁺ of the current ν⁺ and the values of contacts and joints there; if SPINNING, nothing changes."""
    status = next_pose(motion.pose, motion.nu, dt, motion.after)
    if status != OK:
        return status
    nodes = mechanism.nodes
    joint_errors(nodes.joints, motion.after, rows.error)
    for r in range(rows.error.shape[0]):
        if abs(rows.error[r]) < ROUND_OFF:
            rows.error[r] = 0.0
    limit_gaps(nodes, mechanism.bodies.tree, motion.after, rows.q, rows.R, rows.gap, rows.limits_after)
    for i in range(rows.gap.shape[0]):
        m = mechanism.first[nodes.limit_node[i]] + nodes.limit_place[i]
        rows.gap[i] += motion.ease[i] * motion.lam[m] - motion.floor[i]
    look_at_couplings(mechanism.coupled, mechanism.bodies, motion.after, motion.nu, rows.q, rows.R)
    points, u, nu = touch.points, touch.u, motion.nu
    for c in range(points.found[0]):
        a, b = points.link1[c], points.link2[c]
        u[c, 0] = gap_and_rows(points, c, motion.after, touch.normal[c, 0], touch.normal[c, 1])
        u[c, 0] += points.ease[c] * touch.cones.gamma[c] + dt * points.surface[c, 0]
        for i in range(1, 3):
            s = 0.0
            for k in range(6):
                s += points.rows1[c, i, k] * nu[a, k] + points.rows2[c, i, k] * nu[b, k]
            u[c, i] = s + points.surface[c, i]
        if abs(u[c, 0] - touch.cones.s[c]) < ROUND_OFF:
            u[c, 0] = touch.cones.s[c]
        spin_rates(points, touch.spin, c, nu)
    return OK


@kernel(inline=False)
def residuals(mechanism, motion, rows, joint_step, touch, target, dt):
    """``motion.body`` and ``motion.joint`` at the unknowns of the last ``move_to``. Returns the largest residuals of
    each kind: (momentum [N s], kinematic [m or rad], equations [N or m/s], products minus ``target`` [J or W])."""
    nodes, body, joint, nu, lam = mechanism.nodes, motion.body, motion.joint, motion.nu, motion.lam
    joints, first = nodes.joints, mechanism.first
    mass, J = mechanism.bodies.mass, mechanism.bodies.J
    for b in range(1, nu.shape[0]):
        for k in range(3):
            body[b, k] = mass[b] * nu[b, k] - motion.given[b, k]
        x, y, z = momentum_after(J, b, dt, nu[b, 3], nu[b, 4], nu[b, 5])
        body[b, 3], body[b, 4], body[b, 5] = x - motion.given[b, 3], y - motion.given[b, 4], z - motion.given[b, 5]
    for b in range(1, motion.drag.shape[0]):
        for k in range(6):
            for m in range(6):
                body[b, k] += motion.drag[b, k, m] * nu[b, m]
    momentum, kinematic, equations, products, total = 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(joints.joint.shape[0]):
        j = joints.joint[r]
        m = first[j] + r - joints.start[j]
        add_row(rows.held[r], -lam[m], joints.link1[j], joints.link2[j], body)
        joint[m] = rows.error[r]
        kinematic = max(kinematic, abs(joint[m]))
    for i in range(nodes.soft_dof.shape[0]):
        d, j = nodes.soft_dof[i], nodes.soft_node[i]
        m, a, b = first[j] + nodes.soft_place[i], nodes.link1[j], nodes.link2[j]
        row = joint_step.rates[nodes.soft_dof[i]]
        add_row(row, -lam[m], a, b, body)
        rate = times_row(row, a, b, nu) - joint_step.rate[d]
        joint[m] = joint_step.weight[d] * rate + lam[m] - joint_step.impulse[d]
    for k in range(nodes.dry_soft.shape[0]):
        i = nodes.dry_soft[k]
        j = nodes.soft_node[i]
        joint[first[j] + nodes.soft_place[i]] -= dt * motion.rub.force[k]
        u = times_row(joint_step.rates[nodes.soft_dof[i]], nodes.link1[j], nodes.link2[j], nu)
        one, two = rubbing_residual(nodes, motion.rub, k, u, target)
        equations, products = max(equations, one), max(products, two)
    for i in range(nodes.soft_dof.shape[0]):
        m = first[nodes.soft_node[i]] + nodes.soft_place[i]
        momentum = max(momentum, abs(joint[m]))
        total += joint[m]
    for i in range(nodes.limit_joint.shape[0]):
        j = nodes.limit_node[i]
        m = first[j] + nodes.limit_place[i]
        add_row(rows.limits[i], -lam[m], nodes.link1[j], nodes.link2[j], body)
        joint[m] = rows.gap[i] - motion.slack[i]
        kinematic = max(kinematic, abs(joint[m]))
        products = max(products, abs(motion.slack[i] * lam[m] / dt - target))
    coupled, nc = mechanism.coupled, mechanism.coupled.error.shape[0]
    for c in range(coupled.node.shape[0]):
        m = first[coupled.node[c]]
        for t in range(coupled.start[c], coupled.start[c + 1]):
            row = joint_step.rates[coupled.dof[t]]
            add_row(row, -lam[m] * coupled.weight[0, t], coupled.parent[t], coupled.link[t], body)
        if c >= nc:
            k, rate = coupled.rub[c - nc], tendon_rate(coupled, joint_step, nu, c - nc)
            joint[m] = lam[m] + coupled.armature[c - nc] * (rate - coupled.rate[c - nc])
            if k >= 0:
                joint[m] -= dt * motion.rub.force[k]
                one, two = rubbing_residual(nodes, motion.rub, k, rate, target)
                equations, products = max(equations, one), max(products, two)
            momentum = max(momentum, abs(joint[m]))
            total += joint[m]
            continue
        joint[m] = coupled.error[c] if abs(coupled.error[c]) >= ROUND_OFF else 0.0
        kinematic = max(kinematic, abs(joint[m]))
    points, u, D = touch.points, touch.u, touch.D
    for c in range(points.found[0]):
        a, b, friction = points.link1[c], points.link2[c], points.friction[c]
        f0, f1, f2 = contact_force(touch, c)
        for k in range(6):
            r1, r2 = points.rows1[c], points.rows2[c]
            body[a, k] -= dt * (r1[0, k] * f0 + r1[1, k] * f1 + r1[2, k] * f2)
            body[b, k] -= dt * (r2[0, k] * f0 + r2[1, k] * f1 + r2[2, k] * f2)
        if D.shape[0] > 0:
            one, two, three = pyramid.residual(touch.cones, D, c, friction, u[c, 0], u[c, 1], u[c, 2], target)
        else:
            one, two, three = circular.residual(touch.cones, D, c, friction, u[c, 0], u[c, 1], u[c, 2], target)
        kinematic, equations, products = max(kinematic, one), max(equations, two), max(products, three)
        one, two = add_spin_torques(touch, c, target, dt, body)
        equations, products = max(equations, one), max(products, two)
    for b in range(1, nu.shape[0]):
        for k in range(6):
            momentum = max(momentum, abs(body[b, k]))
            total += body[b, k]
    if not abs(total) < np.inf:  # a maximum does not propagate NaN
        momentum = np.inf
    return momentum, kinematic, equations, products
