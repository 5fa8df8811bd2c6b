"""Newton's system of a step, F·Δa = r (Brüdigam et al., eq. (25)), on the graph of bodies and joints.

The unknowns of a contact are eliminated locally: Δ(γ, β) = k − K·Δu, u = (φ(z⁺), B·ν⁺). Deep overlaps have u₀ = φ +
e·γ, e the ease of ``recovering``; with Δγ = k₀ − K₀₀·Δu₀ it follows Δu₀ = (Δφ + e·k₀)/(1 + e·K₀₀). So is a limit's
slack: L⁺·Δν + (s/λ)·Δλ = dt·μ/λ − l(z⁺), s/λ plus the ease of a joint outside its range. The remaining system has 6×6
blocks of bodies and the blocks of joints, in the pattern of the mechanism's graph; only a contact between two bodies
adds an edge:

    [b, b]  diag(m, ∂P/∂ω) + dt·Σ C₀ᵀ·K·C₁      C₀ = (N; B) at z, C₁ = (N(z⁺)·diag(dt, T); B)
    [b, j]  −(row at z)ᵀ        [j, b]  row at z⁺·diag(dt, T), for soft rows w·R       [j, j]  0, 1 (soft), s/λ (limits)

Assembly is linear in bodies, joints and contacts.

A loop may have redundant rows (a planar four-bar linkage). For joints in loops, ``SHIFT`` of a row's own size is added
to its diagonal. It is not part of the residuals, so that the joints still close exactly.
Differs from the paper in: contacts are not nodes of the graph.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.maximal.rows import body_rows
from stickslip.methods.variational.contact import circular, pyramid
from stickslip.methods.variational.contact.cones import normal_block
from stickslip.methods.variational.contact.spin import recover_spin, spin_block
from stickslip.methods.variational.discrete_rotation import momentum_jacobian, turn_jacobian
from stickslip.methods.variational.joints.coupling_nodes import tendon_rate
from stickslip.methods.variational.joints.dry_friction import rubbing_block, rubbing_step

SHIFT = 1e-9
"""Diagonal shift of a row in a loop, as a fraction of its size."""


@kernel
def over_velocities(row, turn, dt, b):
    """Multiply row (6,) over (δx, δθ) of link b by diag(dt, T), so that it is over ν⁺."""
    x, y, z = row[3], row[4], row[5]
    for k in range(3):
        row[k] *= dt
        row[3 + k] = x * turn[b, 0, k] + y * turn[b, 1, k] + z * turn[b, 2, k]


@kernel
def derivatives(mechanism, motion, rows, touch, dt):
    """∂g(z⁺)/∂ν⁺, ∂l(z⁺)/∂ν⁺ and ∂φ(z⁺)/∂ν⁺; ``move_to`` must have written the rows of limits and contacts last."""
    nodes, turn, nu = mechanism.nodes, rows.turn, motion.nu
    joints = nodes.joints
    for b in range(1, nu.shape[0]):
        turn_jacobian(dt, nu[b, 3], nu[b, 4], nu[b, 5], turn[b])
    body_rows(joints, motion.after, rows.held_after)
    for r in range(joints.joint.shape[0]):
        j = joints.joint[r]
        over_velocities(rows.held_after[r, :6], turn, dt, joints.link1[j])
        over_velocities(rows.held_after[r, 6:], turn, dt, joints.link2[j])
    for i in range(nodes.limit_joint.shape[0]):
        j = nodes.limit_node[i]
        over_velocities(rows.limits_after[i, :6], turn, dt, nodes.link1[j])
        over_velocities(rows.limits_after[i, 6:], turn, dt, nodes.link2[j])
    coupled = mechanism.coupled
    for t in range(coupled.joint.shape[0]):
        over_velocities(coupled.rows[t, :6], turn, dt, coupled.parent[t])
        over_velocities(coupled.rows[t, 6:], turn, dt, coupled.link[t])
    points = touch.points
    for c in range(points.found[0]):
        over_velocities(touch.normal[c, 0], turn, dt, points.link1[c])
        over_velocities(touch.normal[c, 1], turn, dt, points.link2[c])


@kernel
def put_row(linear, mechanism, j, m, before, after, scale):
    """Write row m of joint node j for both links: [joint, body] = scale·after, [body, joint] = −beforeᵀ."""
    size, sym, values = mechanism.nodes.size[j], linear.symbolic, linear.values
    for side in range(2):
        e = mechanism.edge[j, side]
        if e >= 0:
            upper, lower = sym.upper[e] + 6 * m, sym.lower[e] + m
            for k in range(6):
                values[upper + k] = scale * after[6 * side + k]
                values[lower + size * k] = -before[6 * side + k]


@kernel
def rate_of(nodes, joint_step, nu, k):
    """r(z)·ν of the k-th joint velocity with dry friction."""
    i, total = nodes.dry_soft[k], 0.0
    row, j = joint_step.rates[nodes.soft_dof[i]], nodes.soft_node[i]
    for m in range(6):
        total += row[m] * nu[nodes.link1[j], m] + row[6 + m] * nu[nodes.link2[j], m]
    return total


@kernel
def put_joints(mechanism, motion, rows, joint_step, linear, dt):
    """Write the blocks of joints."""
    nodes, first, sym, values = mechanism.nodes, mechanism.first, linear.symbolic, linear.values
    joints, mass, J = nodes.joints, mechanism.bodies.mass, mechanism.bodies.J
    bodies = mass.shape[0] - 1
    for k in range(nodes.dry_soft.shape[0]):
        rate = rate_of(nodes, joint_step, motion.nu, k)
        joint_step.rubbing[nodes.soft_dof[nodes.dry_soft[k]]] = rubbing_block(
            nodes, motion.rub, motion.drub, k, rate, 0.0, 0.0
        )[0]
    for r in range(joints.joint.shape[0]):
        j = joints.joint[r]
        m, before, after = r - joints.start[j], rows.held[r], rows.held_after[r]
        put_row(linear, mechanism, j, m, before, after, 1.0)
        if mechanism.looped[j] != 0:
            size = 0.0
            for k in range(6):
                a, b = joints.link1[j], joints.link2[j]
                if a > 0:
                    size += abs(after[k] * before[k]) / (mass[a] if k < 3 else J[a, k - 3, k - 3])
                size += abs(after[6 + k] * before[6 + k]) / (mass[b] if k < 3 else J[b, k - 3, k - 3])
            values[sym.diagonal[bodies + j] + m * (nodes.size[j] + 1)] = SHIFT * size
    for i in range(nodes.soft_dof.shape[0]):
        d, j, m = nodes.soft_dof[i], nodes.soft_node[i], nodes.soft_place[i]
        weight = joint_step.weight[d] + dt * joint_step.rubbing[d]
        put_row(linear, mechanism, j, m, joint_step.rates[d], joint_step.rates[d], weight)
        values[sym.diagonal[bodies + j] + m * (nodes.size[j] + 1)] = 1.0
    for i in range(nodes.limit_joint.shape[0]):
        j, m = nodes.limit_node[i], nodes.limit_place[i]
        put_row(linear, mechanism, j, m, rows.limits[i], rows.limits_after[i], 1.0)
        diagonal = motion.slack[i] / motion.lam[first[j] + m] + motion.ease[i]
        values[sym.diagonal[bodies + j] + m * (nodes.size[j] + 1)] = diagonal


@kernel
def put_couplings(mechanism, motion, joint_step, linear, dt):
    """Add the rows of couplings and of tendons with friction or armature, of which several terms may share a body; and
    a shift to the diagonals of couplings, 1 to those of tendons."""
    coupled, sym, values, nodes = mechanism.coupled, linear.symbolic, linear.values, mechanism.nodes
    mass, J, nc = mechanism.bodies.mass, mechanism.bodies.J, coupled.error.shape[0]
    bodies = mass.shape[0] - 1
    for c in range(coupled.node.shape[0]):
        total, K = 0.0, 0.0
        if c >= nc:
            K, i = coupled.armature[c - nc], coupled.rub[c - nc]
            if i >= 0:
                rate = tendon_rate(coupled, joint_step, motion.nu, c - nc)
                K += dt * rubbing_block(nodes, motion.rub, motion.drub, i, rate, 0.0, 0.0)[0]
        for t in range(coupled.start[c], coupled.start[c + 1]):
            before = joint_step.rates[coupled.dof[t]]
            after = coupled.rows[t] if c < nc else before
            weight = coupled.weight[1, t] if c < nc else K * coupled.weight[0, t]
            for side in range(2):
                e, b = coupled.edge[t, side], coupled.parent[t] if side == 0 else coupled.link[t]
                if e < 0:
                    continue
                for k in range(6):
                    x, y = weight * after[6 * side + k], coupled.weight[0, t] * before[6 * side + k]
                    values[sym.upper[e] + k] += x
                    values[sym.lower[e] + k] -= y
                    total += abs(x * y) / (mass[b] if k < 3 else J[b, k - 3, k - 3])
        values[sym.diagonal[bodies + coupled.node[c]]] = SHIFT * total if c < nc else 1.0


@kernel
def contact_block(touch, c, target, second):
    """Write K and k of contact c to the scratch of ``touch``."""
    friction, u = touch.points.friction[c], touch.u
    u0, u1, u2 = u[c, 0], u[c, 1], u[c, 2]
    if touch.D.shape[0] > 0:
        pyramid.block(touch.cones, touch.step, touch.D, c, friction, u0, u1, u2, target, second, touch.K, touch.k)
    else:
        circular.block(touch.cones, touch.step, touch.D, c, friction, u0, u1, u2, target, second, touch.K, touch.k)
    soften(touch, c)


@kernel
def soften(touch, c):
    """Let K and k of ``touch`` be over Δφ in the place of Δu₀ = (Δφ + e·k₀)/(1 + e·K₀₀)."""
    ease, K, k = touch.points.ease[c], touch.K, touch.k
    if ease > 0.0:
        k0, share = k[0], 1.0 / (1.0 + ease * K[0, 0])
        for i in range(3):
            K[i, 0] *= share
            k[i] -= K[i, 0] * ease * k0


@kernel
def add_block(values, at, C, E, dt):
    """values[at …] (6, 6) += dt·Cᵀ·E, C and E (3, 6)."""
    for i in range(6):
        c0, c1, c2 = dt * C[0, i], dt * C[1, i], dt * C[2, i]
        for k in range(6):
            values[at + 6 * i + k] += c0 * E[0, k] + c1 * E[1, k] + c2 * E[2, k]


@kernel(inline=False)
def put_contact(touch, linear, c, rows1, rows2, dt):
    """Add dt·C₀ᵀ·K·C₁ of contact c to the blocks of its bodies; rows1 and rows2 (3, 6) are C₀, and C₁ is C₀ with the
    normal's row at z⁺."""
    points, K, sym, values = touch.points, touch.K, linear.symbolic, linear.values
    a, b, e = points.link1[c], points.link2[c], touch.edge[c]
    for side in range(2):
        if side == 0 and a == 0:
            continue
        rows, KC = rows1 if side == 0 else rows2, touch.KC[side]
        for i in range(3):
            for k in range(6):
                KC[i, k] = K[i, 0] * touch.normal[c, side, k] + K[i, 1] * rows[1, k] + K[i, 2] * rows[2, k]
    add_block(values, sym.diagonal[b - 1], rows2, touch.KC[1], dt)
    if a > 0:
        add_block(values, sym.diagonal[a - 1], rows1, touch.KC[0], dt)
        one, two = sym.upper[e], sym.lower[e]
        if a > b:
            one, two = two, one
        add_block(values, one, rows1, touch.KC[1], dt)
        add_block(values, two, rows2, touch.KC[0], dt)


@kernel
def put_contacts(touch, linear, dt):
    """Add the contacts' parts of the blocks of bodies."""
    points, spin = touch.points, touch.spin
    for c in range(points.found[0]):
        contact_block(touch, c, 0.0, 0.0)
        put_contact(touch, linear, c, points.rows1[c], points.rows2[c], dt)
        for part in range(2):
            if spin.bound[c, part] > 0.0:
                spin_block(touch, c, part, 0.0, 0.0)
                soften(touch, c)
                put_contact(touch, linear, c, spin.rows1[c, part], spin.rows2[c, part], dt)


@kernel(inline=False)
def assemble(mechanism, motion, rows, joint_step, touch, linear, dt):
    """Assemble Newton's matrix at the unknowns of the last ``move_to``."""
    values, sym, nu = linear.values, linear.symbolic, motion.nu
    derivatives(mechanism, motion, rows, touch, dt)
    for i in range(values.shape[0]):
        values[i] = 0.0
    bodies = mechanism.bodies
    for b in range(1, nu.shape[0]):
        at = sym.diagonal[b - 1]
        momentum_jacobian(bodies.J, b, dt, nu[b, 3], nu[b, 4], nu[b, 5], rows.R)
        for i in range(3):
            values[at + 7 * i] = bodies.mass[b]
            for k in range(3):
                values[at + 6 * (3 + i) + 3 + k] = rows.R[i, k]
    for b in range(1, motion.drag.shape[0]):
        for i in range(6):
            for k in range(6):
                values[sym.diagonal[b - 1] + 6 * i + k] += motion.drag[b, i, k]
    put_joints(mechanism, motion, rows, joint_step, linear, dt)
    put_couplings(mechanism, motion, joint_step, linear, dt)
    put_contacts(touch, linear, dt)


@kernel(inline=False)
def right_side(mechanism, motion, joint_step, touch, linear, target, second, dt):
    """linear.x = −residuals, with contacts, limits and dry friction eliminated."""
    x, place, nodes, points = linear.x, linear.symbolic.place, mechanism.nodes, touch.points
    nl, first = motion.nu.shape[0], mechanism.first
    for b in range(1, nl):
        for k in range(6):
            x[place[b - 1] + k] = -motion.body[b, k]
    for j in range(nodes.size.shape[0]):
        for m in range(nodes.size[j]):
            x[place[nl - 1 + j] + m] = -motion.joint[first[j] + m]
    for i in range(nodes.limit_joint.shape[0]):
        j, m = nodes.limit_node[i], nodes.limit_place[i]
        s, lam = motion.slack[i], motion.lam[first[j] + m]
        product = dt * target - s * lam
        if second > 0.0:  # otherwise the step may not be valid
            product -= second * motion.dslack[i] * motion.dlam[first[j] + m]
        x[place[nl - 1 + j] + m] += product / lam
    for k in range(nodes.dry_soft.shape[0]):
        i, rate = nodes.dry_soft[k], rate_of(nodes, joint_step, motion.nu, k)
        push = rubbing_block(nodes, motion.rub, motion.drub, k, rate, target, second)[1]
        x[place[nl - 1 + nodes.soft_node[i]] + nodes.soft_place[i]] += dt * push
    coupled, nc = mechanism.coupled, mechanism.coupled.error.shape[0]
    for k in range(coupled.rub.shape[0]):
        if coupled.rub[k] >= 0:
            rate = tendon_rate(coupled, joint_step, motion.nu, k)
            push = rubbing_block(nodes, motion.rub, motion.drub, coupled.rub[k], rate, target, second)[1]
            x[place[nl - 1 + coupled.node[nc + k]]] += dt * push
    for c in range(points.found[0]):
        contact_block(touch, c, target, second)
        a, b, k = points.link1[c], points.link2[c], touch.k
        for i in range(6):
            r1, r2 = points.rows1[c], points.rows2[c]
            x[place[b - 1] + i] += dt * (r2[0, i] * k[0] + r2[1, i] * k[1] + r2[2, i] * k[2])
            if a > 0:
                x[place[a - 1] + i] += dt * (r1[0, i] * k[0] + r1[1, i] * k[1] + r1[2, i] * k[2])
        for part in range(2):
            if touch.spin.bound[c, part] > 0.0:
                spin_block(touch, c, part, target, second)
                soften(touch, c)
                r1, r2 = touch.spin.rows1[c, part], touch.spin.rows2[c, part]
                for i in range(3, 6):
                    x[place[b - 1] + i] += dt * (r2[1, i] * k[1] + r2[2, i] * k[2])
                    if a > 0:
                        x[place[a - 1] + i] += dt * (r1[1, i] * k[1] + r1[2, i] * k[2])


@kernel(inline=False)
def directions(mechanism, motion, rows, joint_step, touch, linear, target, second, dt):
    """The Newton step of all unknowns from the solution in linear.x."""
    x, place, nodes, points = linear.x, linear.symbolic.place, mechanism.nodes, touch.points
    nl, first, dnu = motion.nu.shape[0], mechanism.first, motion.dnu
    for i in range(nodes.limit_joint.shape[0]):  # needs the predictor's step, which is overwritten below
        j = nodes.limit_node[i]
        m = first[j] + nodes.limit_place[i]
        product = dt * target - motion.slack[i] * motion.lam[m]
        if second > 0.0:  # otherwise the step may not be valid
            product -= second * motion.dslack[i] * motion.dlam[m]
        motion.dslack[i] = (product - motion.slack[i] * x[place[nl - 1 + j] + nodes.limit_place[i]]) / motion.lam[m]
    for b in range(1, nl):
        for k in range(6):
            dnu[b, k] = x[place[b - 1] + k]
    for j in range(nodes.size.shape[0]):
        for m in range(nodes.size[j]):
            motion.dlam[first[j] + m] = x[place[nl - 1 + j] + m]
    for k in range(nodes.dry_soft.shape[0]):
        rate, change = rate_of(nodes, joint_step, motion.nu, k), rate_of(nodes, joint_step, dnu, k)
        rubbing_step(nodes, motion.rub, motion.drub, k, rate, target, second, change)
    coupled = mechanism.coupled
    for k in range(coupled.rub.shape[0]):
        if coupled.rub[k] >= 0:
            rate, change = tendon_rate(coupled, joint_step, motion.nu, k), tendon_rate(coupled, joint_step, dnu, k)
            rubbing_step(nodes, motion.rub, motion.drub, coupled.rub[k], rate, target, second, change)
    for c in range(points.found[0]):
        a, b, friction, u = points.link1[c], points.link2[c], points.friction[c], touch.u
        d0, d1, d2 = 0.0, 0.0, 0.0
        for k in range(6):
            r1, r2 = points.rows1[c], points.rows2[c]
            d0 += touch.normal[c, 0, k] * dnu[a, k] + touch.normal[c, 1, k] * dnu[b, k]
            d1 += r1[1, k] * dnu[a, k] + r2[1, k] * dnu[b, k]
            d2 += r1[2, k] * dnu[a, k] + r2[2, k] * dnu[b, k]
        u0, u1, u2 = u[c, 0], u[c, 1], u[c, 2]
        ease = points.ease[c]
        if ease > 0.0:
            k0, stiffness = normal_block(touch.cones, touch.step, c, u0, target, second)
            d0 = (d0 + ease * k0) / (1.0 + ease * stiffness)
        for part in range(2):  # before the cone, whose step of s and γ it needs
            if touch.spin.bound[c, part] > 0.0:
                r1, r2, w1, w2 = touch.spin.rows1[c, part], touch.spin.rows2[c, part], 0.0, 0.0
                for k in range(3, 6):
                    w1 += r1[1, k] * dnu[a, k] + r2[1, k] * dnu[b, k]
                    w2 += r1[2, k] * dnu[a, k] + r2[2, k] * dnu[b, k]
                recover_spin(touch, c, part, target, second, d0, w1, w2)
        if touch.D.shape[0] > 0:
            pyramid.recover(touch.cones, touch.step, touch.D, c, friction, u0, u1, u2, target, second, d0, d1, d2)
        else:
            circular.recover(touch.cones, touch.step, touch.D, c, friction, u0, u1, u2, target, second, d0, d1, d2)
