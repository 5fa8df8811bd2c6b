"""Right-hand sides of a step's gradient: −∂(residuals)/∂(z, ν, u, forces), one row of X per parameter.

The equations of ``equations`` hold at the solution y = (ν⁺, λ, contacts) for all parameters p, hence

    F·∂y/∂p = −∂r/∂p,    F the matrix of Newton's method at the solution, contacts eliminated as there

Parameters, in this order: δz = (δx [world], δθ [body]) and ν of every body, 6 each; controls u (nu); and, if requested,
forces in joints (nv) and wrenches on bodies (6 each, world axes, at the link's origin). With z⁺ = z ⊕ dt·ν⁺,
∂z⁺/∂z = (1, Q), Q = R⁺ᵀR of every body, and H, D of ``joint_derivatives`` and ``point_derivatives``:

    bodies    + H_held + H_rates + H_limits (impulses λ and dt·τ) + dt·H_contacts − dt·Cᵀ·K·(∂u/∂z)      by z
              + ∂P₋/∂ν                                                                                   by ν
    held      − G(z⁺)·(1, Q)           limits   − L(z⁺)·(1, Q)                                           by z
    soft      − w·(D(ν⁺) − D(ν)) + dt·(∂τ/∂q·R + ∂τ/∂q̇·D(ν))      by z        (w + dt·∂τ/∂q̇)·R             by ν
    contacts  ∂u/∂z = (N(z⁺)·(1, Q); D(ν⁺)),   Δf = −K·Δu

∂τ/∂q̇ contains −dt·K of ``joint_slopes``. Soft rows with rotors also have I_a·(r(z) − r(z⁻))·ν, z⁻ ⊕ dt·ν = z
(``joint_nodes``). Forces in joints without a soft row are impulses on the bodies.
Sizes: nl links including the world, X (parameters, rows of the system). Cost: linear, except for the zeros of X.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.math.spatial import cross, rotate_transposed
from stickslip.methods.variational.contact import circular, pyramid
from stickslip.methods.variational.contact.point_derivatives import contact_derivatives
from stickslip.methods.variational.contact.points import gap_and_rows
from stickslip.methods.variational.discrete_rotation import momentum_jacobian
from stickslip.methods.variational.equations import contact_force
from stickslip.methods.variational.graph.block_ldu import solve
from stickslip.methods.variational.joints.joint_slopes import triple_start
from stickslip.methods.variational.joints.limit_derivatives import coordinate_row_change
from stickslip.methods.variational.newton_system import contact_block


class Slopes(NamedTuple):
    """Derivatives at the two ends of a step; those of rows are over links a and b."""

    turn: np.ndarray
    """(nl, 3, 3) Q = R⁺ᵀR."""
    held: np.ndarray
    """(nb, 12) G(z⁺)."""
    limits: np.ndarray
    """(nlim, 12) L(z⁺)."""
    held_force: np.ndarray
    """(nj, 12, 12) H."""
    rate_force: np.ndarray
    """(nl, 12, 12) H."""
    rate_after: np.ndarray
    """(nv, 12) D(ν⁺) of rates."""
    rate_before: np.ndarray
    """(nv, 12) D(ν)."""
    by_q: np.ndarray
    """(nv, 3) ∂τ/∂q of ``joint_slopes``."""
    by_v: np.ndarray
    """(nv,) ∂(τ − h·K·q̇)/∂q̇."""
    by_u: np.ndarray
    """(nu,) ∂τ/∂u."""
    rotor: np.ndarray
    """(2, nv, 12) derivatives of I_a·(r(z) − r(z⁻))·ν by z and by ν."""
    pole: np.ndarray
    """(N, 3) poles of the tangents, see ``point_derivatives``."""


class Small(NamedTuple):
    """Scratch."""

    H: np.ndarray
    """(12, 12)."""
    D: np.ndarray
    """(3, 12)."""
    M: np.ndarray
    """(3, 12)."""
    row: np.ndarray
    """(12,)."""
    move: np.ndarray
    """(12,) zeros."""
    change: np.ndarray
    """(3, 12)."""
    J: np.ndarray
    """(3, 3)."""


def make_small() -> Small:
    shapes = ((12, 12), (3, 12), (3, 12), (12,), (12,), (3, 12), (3, 3))
    return Small(*(np.zeros(shape) for shape in shapes))


@kernel
def add_force_slopes(sym, a, b, H, scale, X):
    """Add scale·H (12, 12), derivatives by the poses of bodies a and b, to their rows."""
    for k in range(12):
        link, at = (a, k) if k < 6 else (b, k - 6)
        if link == 0:
            continue
        x = X[6 * (link - 1) + at]
        for m in range(6):
            if a > 0:
                x[sym.place[a - 1] + m] += scale * H[m, k]
            x[sym.place[b - 1] + m] += scale * H[6 + m, k]


@kernel
def add_row_slopes(a, b, row, scale, first, at, X):
    """Add scale·row (12,) to row ``at`` of the system, for parameters from ``first`` on, six per body."""
    for k in range(6):
        if a > 0:
            X[first + 6 * (a - 1) + k, at] += scale * row[k]
        X[first + 6 * (b - 1) + k, at] += scale * row[6 + k]


@kernel
def carry_back(turn, a, b, row, out):
    """out (12,) = row·(1, Q): a row over z⁺ of links a and b becomes one over z."""
    for k in range(12):
        out[k] = row[k]
    out[3], out[4], out[5] = rotate_transposed(turn, a, row[3], row[4], row[5])
    out[9], out[10], out[11] = rotate_transposed(turn, b, row[9], row[10], row[11])


@kernel
def body_columns(bodies, sym, pose, before, wrench, dt, J, X):
    """Columns of ∂P₋/∂ν and of wrenches and gravity compensation, which turn relative to the bodies."""
    nl = before.shape[0]
    for b in range(1, nl):
        at, first = sym.place[b - 1], 6 * (nl - 1) + 6 * (b - 1)
        momentum_jacobian(bodies.J, b, dt, -before[b, 3], -before[b, 4], -before[b, 5], J)  # P₋(ω) = −P(−ω)
        fx, fy, fz = rotate_transposed(pose.rot, b, wrench[b, 0], wrench[b, 1], wrench[b, 2])
        nx, ny, nz = rotate_transposed(pose.rot, b, wrench[b, 3], wrench[b, 4], wrench[b, 5])
        lx, ly, lz = rotate_transposed(pose.rot, b, bodies.lift[b, 0], bodies.lift[b, 1], bodies.lift[b, 2])
        for k in range(3):
            X[first + k, at + k] += bodies.mass[b]
            for m in range(3):
                X[first + 3 + k, at + 3 + m] += J[m, k]
            ex, ey, ez = (1.0 if k == 0 else 0.0), (1.0 if k == 1 else 0.0), (1.0 if k == 2 else 0.0)
            x, y, z = cross(fx, fy, fz, ex, ey, ez)
            x, y, z = cross(bodies.com[b, 0], bodies.com[b, 1], bodies.com[b, 2], x, y, z)
            tx, ty, tz = cross(nx, ny, nz, ex, ey, ez)
            ux, uy, uz = cross(lx, ly, lz, ex, ey, ez)
            ux, uy, uz = cross(bodies.lift_arm[b, 0], bodies.lift_arm[b, 1], bodies.lift_arm[b, 2], ux, uy, uz)
            turned = X[6 * (b - 1) + 3 + k]
            turned[at + 3] += dt * (tx - x + ux)
            turned[at + 4] += dt * (ty - y + uy)
            turned[at + 5] += dt * (tz - z + uz)


@kernel
def wrench_columns(bodies, sym, pose, dt, first, X):
    """Columns of force and torque at the links' origins, world axes; the parameters begin at ``first``."""
    for b in range(1, pose.pos.shape[0]):
        at = sym.place[b - 1]
        for k in range(3):
            x, y, z = pose.rot[b, k, 0], pose.rot[b, k, 1], pose.rot[b, k, 2]  # the world's axis k in the body
            force, torque = X[first + 6 * (b - 1) + k], X[first + 6 * (b - 1) + 3 + k]
            force[at + k] += dt
            torque[at + 3], torque[at + 4], torque[at + 5] = dt * x, dt * y, dt * z
            x, y, z = cross(x, y, z, bodies.com[b, 0], bodies.com[b, 1], bodies.com[b, 2])
            force[at + 3], force[at + 4], force[at + 5] = dt * x, dt * y, dt * z


@kernel
def held_columns(mechanism, sym, slopes, row, X):
    nodes, nl = mechanism.nodes, slopes.turn.shape[0]
    joints = nodes.joints
    for j in range(joints.link1.shape[0]):
        add_force_slopes(sym, joints.link1[j], joints.link2[j], slopes.held_force[j], 1.0, X)
    for r in range(joints.joint.shape[0]):
        j = joints.joint[r]
        a, b = joints.link1[j], joints.link2[j]
        carry_back(slopes.turn, a, b, slopes.held[r], row)
        add_row_slopes(a, b, row, -1.0, 0, sym.place[nl - 1 + j] + r - joints.start[j], X)


@kernel
def limit_columns(mechanism, sym, slopes, motion, small, X):
    nodes, nl, row = mechanism.nodes, slopes.turn.shape[0], small.row
    for i in range(nodes.limit_joint.shape[0]):
        j = nodes.limit_node[i]
        a, b, m = nodes.link1[j], nodes.link2[j], nodes.limit_place[i]
        impulse = motion.lam[mechanism.first[j] + m] * (1.0 if nodes.limit_side[i] == 0 else -1.0)
        for k in range(12):
            small.move[k] = 1.0
            coordinate_row_change(mechanism.bodies.tree, motion.pose, b, nodes.limit_joint[i], small.J, small.move, row)
            small.move[k] = 0.0
            for n in range(12):
                small.H[n, k] = row[n]
        add_force_slopes(sym, a, b, small.H, impulse, X)
        carry_back(slopes.turn, a, b, slopes.limits[i], row)
        add_row_slopes(a, b, row, -1.0, 0, sym.place[nl - 1 + j] + m, X)


@kernel
def rate_columns(mechanism, sym, slopes, joint_step, row, dt, X):
    """Columns of soft rows, and of forces in joints without one; ``joint_step`` is at z."""
    bodies, nodes, nl = mechanism.bodies, mechanism.nodes, slopes.turn.shape[0]
    tree, rates, nv = bodies.tree, joint_step.rates, joint_step.rate.shape[0]
    for b in range(1, nl):
        add_force_slopes(sym, tree.parent[b], b, slopes.rate_force[b], 1.0, X)
    soft = 0
    for d in range(nv):
        b = bodies.dof_link[d]
        p = tree.parent[b]
        start, number = triple_start(tree, bodies.dof_link, d)
        for k in range(12):
            row[k] = slopes.by_v[d] * slopes.rate_before[d, k]
            for m in range(number):
                row[k] += slopes.by_q[d, m] * rates[start + m, k]
        if joint_step.soft[d] != 0:
            j, weight = nodes.soft_node[soft], joint_step.weight[d]
            at = sym.place[nl - 1 + j] + nodes.soft_place[soft]
            soft += 1
            for k in range(12):
                row[k] = dt * row[k] - weight * (slopes.rate_after[d, k] - slopes.rate_before[d, k])
                row[k] -= slopes.rotor[0, d, k] + dt * joint_step.rubbing[d] * slopes.rate_after[d, k]
            add_row_slopes(p, b, row, 1.0, 0, at, X)
            add_row_slopes(p, b, rates[d], weight + dt * slopes.by_v[d], 6 * (nl - 1), at, X)
            add_row_slopes(p, b, slopes.rotor[1, d], -1.0, 6 * (nl - 1), at, X)
            continue
        for m in range(12):
            link = p if m < 6 else b
            if link > 0 and rates[d, m] != 0.0:
                at = sym.place[link - 1] + m % 6
                add_row_slopes(p, b, row, dt * rates[d, m], 0, at, X)
                add_row_slopes(p, b, rates[d], dt * rates[d, m] * slopes.by_v[d], 6 * (nl - 1), at, X)


@kernel
def control_columns(mechanism, sym, slopes, joint_step, actuators, dt, applied, X):
    """Columns of controls, whose joints are all soft, and, with ``applied``, of forces in joints after them."""
    bodies, nodes, nl = mechanism.bodies, mechanism.nodes, slopes.turn.shape[0]
    first, rates, soft = 12 * (nl - 1), joint_step.rates, 0
    for d in range(joint_step.rate.shape[0]):
        b = bodies.dof_link[d]
        p, x = bodies.tree.parent[b], X[first + slopes.by_u.shape[0] + d] if applied else X[0]
        if joint_step.soft[d] != 0:
            at = sym.place[nl - 1 + nodes.soft_node[soft]] + nodes.soft_place[soft]
            soft += 1
            if applied:
                x[at] += dt
            for k in range(slopes.by_u.shape[0]):
                if bodies.tree.joint_v[actuators.actuators.target[k]] == d:
                    X[first + k, at] += dt * slopes.by_u[k]
        elif applied:
            for m in range(6):
                if p > 0:
                    x[sym.place[p - 1] + m] += dt * rates[d, m]
                x[sym.place[b - 1] + m] += dt * rates[d, 6 + m]


@kernel
def contact_columns(mechanism, sym, slopes, touch, motion, small, dt, X):
    """Columns of contacts; ``motion`` and ``touch`` are at the solution."""
    points, K = touch.points, touch.K
    for c in range(points.found[0]):
        a, b = points.link1[c], points.link2[c]
        f0, f1, f2 = contact_force(touch, c)
        contact_derivatives(
            points, c, motion.pose, slopes.pole, f0, f1, f2, motion.nu, small.H, small.D, small.move, small.change
        )
        gap_and_rows(points, c, motion.after, small.row[:6], small.row[6:])
        carry_back(slopes.turn, a, b, small.row, small.D[0])
        contact_block(touch, c, 0.0, 0.0)
        for i in range(3):
            for k in range(12):
                small.M[i, k] = K[i, 0] * small.D[0, k] + K[i, 1] * small.D[1, k] + K[i, 2] * small.D[2, k]
        for m in range(6):
            for k in range(12):
                for i in range(3):
                    small.H[m, k] -= points.rows1[c, i, m] * small.M[i, k]
                    small.H[6 + m, k] -= points.rows2[c, i, m] * small.M[i, k]
        add_force_slopes(sym, a, b, small.H, dt, X)


@kernel(inline=False)
def lift_contacts(touch, level):
    """Raise every slack, force and speed of the contacts to at least ``level`` [SI]."""
    for c in range(touch.points.found[0]):
        if touch.D.shape[0] > 0:
            pyramid.lift(touch.cones, touch.D, c, touch.points.friction[c], level)
        else:
            circular.lift(touch.cones, touch.D, c, touch.points.friction[c], level)


@kernel(inline=False)
def fill_columns(mechanism, sym, slopes, joint_step, actuators, touch, motion, before, wrench, small, dt, forces, X):
    """Fill X, which must be zero; with ``forces``, also the columns of forces in joints and of wrenches. ``motion`` is
    at the solution with z in its pose; ``before`` (nl, 6) is ν."""
    bodies = mechanism.bodies
    body_columns(bodies, sym, motion.pose, before, wrench, dt, small.J, X)
    held_columns(mechanism, sym, slopes, small.row, X)
    limit_columns(mechanism, sym, slopes, motion, small, X)
    rate_columns(mechanism, sym, slopes, joint_step, small.row, dt, X)
    control_columns(mechanism, sym, slopes, joint_step, actuators, dt, forces, X)
    contact_columns(mechanism, sym, slopes, touch, motion, small, dt, X)
    if forces:
        first = 12 * (before.shape[0] - 1) + slopes.by_u.shape[0] + joint_step.rate.shape[0]
        wrench_columns(bodies, sym, motion.pose, dt, first, X)


@kernel(inline=False)
def solve_columns(linear, X):
    """Solve for every row of X (parameters, rows of the system) with the current factors."""
    for p in range(X.shape[0]):
        solve(linear.symbolic, linear.values, linear.pivots, X[p])
