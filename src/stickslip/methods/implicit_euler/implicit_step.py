"""Newton's method for the end of an implicit Euler step: residual, exact Jacobian, line search.

    r(v⁺) = M(q⁺)·(v⁺ − v)/dt + b(q⁺, v⁺) − τ(q⁺, v⁺) − J(q⁺)ᵀ·λ(q⁺, v⁺) = 0,    q⁺ = q ⊕ dt·v⁺
    dr/dv⁺ = M/dt + ∂r/∂v + dt·∂r/∂q·T(dt·v⁺)        T: right Jacobian of the exponential map

M: mass matrix, b: gravity, centrifugal and Coriolis forces, τ: actuators, springs, limits, damping, applied forces; λ:
contact forces. The unknowns are the nv velocities. One iteration consists of inverse dynamics, its derivatives (in one
pass, with T and dt folded into the columns) and one dense solve; contacts are detected anew in each iteration. Cost:
links·depth for the matrix, a constant per contact with the world, up to nv³/3 for the solve.

The residual is a relative error of velocity:

    max_d dt·|r_d|/M_dd  /  (max_d |v⁺_d| + max_d dt·(sum of the sizes of the terms of r_d)/M_dd)

or, if that is smaller, ten times Newton's step over the same denominator. In very stiff contacts round-off of positions
alone causes forces larger than the first measure tolerates, although it hardly changes the velocities.

Derivatives: see ``dynamics/derivatives.py``. Line search: Matthies & Strang, "The solution of nonlinear finite element
equations", IJNME 14, 1979.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.cables import add_cable_forces
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.derivatives import composites, joint_columns, load_wrenches, project, split_forces, unload
from stickslip.dynamics.fluid_derivatives import load_fluid
from stickslip.dynamics.implicit_joint_forces import end_joint_forces, subtract_joint_slopes
from stickslip.dynamics.kinematics import forward_accelerations
from stickslip.dynamics.outside_forces import load_gravity_compensation, outside_forces
from stickslip.math.linear import copy_to, dot, solve_in_place
from stickslip.math.quaternion import right_jacobian
from stickslip.math.spatial import inertia_times
from stickslip.methods.base import DIVERGED, OK
from stickslip.methods.implicit_euler.joint_balance import (
    balance_friction,
    balance_slopes,
    coupling_forces,
    keep_tendons,
    move_tendons,
    subtract_coupling_slopes,
    tendon_right,
    tendon_step,
)
from stickslip.methods.implicit_euler.spring_damper_derivatives import couple_contacts, end_forces, load_contacts
from stickslip.methods.soft.anchors import Anchors, make_anchors
from stickslip.methods.soft.spring_damper import apply_contact_forces
from stickslip.methods.soft.viscoelastic import detect, update_kinematics
from stickslip.model.arrays import BALL, FREE, HINGE, SLIDE
from stickslip.model.model import Model

SHORTENINGS = 20
"""Largest number of times that Newton's step is shortened."""
FREEZE, THAW = 5, 10
"""Iterations between which friction is linearised with constant size, which is less exact but avoids cycling."""
FINER = 10.0
"""Factor of Newton's step in the second measure of the residual (see above)."""
LEAP = 1.0
"""Largest rotation of a joint in a step beyond that of its initial velocity [rad]."""
ITERATIONS, UNCONVERGED, DIVIDED = 0, 1, 2


class Newton(NamedTuple):
    """Arrays of the iteration."""

    q: np.ndarray
    """(nq,) q⁺ of the current guess."""
    v: np.ndarray
    """(nv,) v⁺ of the current guess."""
    from_: np.ndarray
    """(nv,) the guess at which the line search starts."""
    best: np.ndarray
    """(nv,) the best guess so far."""
    r: np.ndarray
    """(nv,) residual [N, N m]."""
    terms: np.ndarray
    """(nv,) sum of the absolute values of its terms [N, N m]."""
    step: np.ndarray
    """(nv,) Newton's step [m/s, rad/s]."""
    weight: np.ndarray
    """(nv,) dt/M_dd [s/kg, s/(kg m²)]."""
    A: np.ndarray
    """(nv, nv) dr/dv⁺."""
    columns: np.ndarray
    """(3, nv, 6) displacement, velocity and acceleration per unit of v⁺: see ``dynamics.derivatives.project``."""
    blocks: np.ndarray
    """(5, 3, 3) scratch."""
    turn: np.ndarray
    """(nj, 3, 3) T of the rotations of free and ball joints."""
    rubbing: np.ndarray
    """(1,) the largest error of friction along tendons [m/s or rad/s]."""


class Report(NamedTuple):
    """Statistics of the iteration, and the state at which the last step began."""

    tally: np.ndarray
    """(3,) iterations of the last step; number of steps that did not converge; number of steps that were divided."""
    residual: np.ndarray
    """(1,) residual of the last step."""
    q: np.ndarray
    """(nq,) configuration at the beginning of the last step, restored if it fails."""
    v: np.ndarray
    """(nv,) velocity there."""
    anchors: Anchors
    """Anchors there."""


def make_newton(model: Model) -> Newton:
    nv = model.nv
    return Newton(
        q=np.zeros(model.nq),
        v=np.zeros(nv),
        from_=np.zeros(nv),
        best=np.zeros(nv),
        r=np.zeros(nv),
        terms=np.zeros(nv),
        step=np.zeros(nv),
        weight=np.zeros(nv),
        A=np.zeros((nv, nv)),
        columns=np.zeros((3, nv, 6)),
        blocks=np.zeros((6, 3, 3)),
        turn=np.zeros((len(model.joint_names), 3, 3)),
        rubbing=np.zeros(1),
    )


def make_report(model: Model, contacts: int) -> Report:
    tally, anchors = np.zeros(3, dtype=np.int64), make_anchors(contacts)
    return Report(tally, np.zeros(1), np.zeros(model.nq), np.zeros(model.nv), anchors)


@kernel
def evaluate(world, work, contacts, anchors, start, inputs, der, newton, dt, q, v):
    """newton.r at the guess newton.v of the velocities at the end of a step from (q, v); kinematics end there too."""
    integrate(world.tree, q, newton.v, dt, newton.q)
    update_kinematics(world, work, newton.q, newton.v)
    status = detect(world, work, contacts)
    if status != OK:
        return status
    kin, a, f_ext, tau = work.kin, work.acceleration, work.f_ext, work.tau
    for d in range(a.shape[0]):
        a[d] = (newton.v[d] - v[d]) / dt
    forward_accelerations(world.tree, world.support, a, kin)
    end_forces(kin, contacts, anchors, start, dt)
    outside_forces(world.inertia, world.fluid, kin, inputs.wrench, f_ext)
    apply_contact_forces(kin, contacts, f_ext)
    split_forces(world.tree, world.inertia, f_ext, kin, der)
    end_joint_forces(world.tree, world.passive, world.actuators, inputs, q, newton.q, newton.v, start.mean[0], dt, tau)
    coupling_forces(world.rows, kin, dt, tau)
    S, F, G = kin.S, der.inner, der.outer
    for d in range(a.shape[0]):
        b = world.support.dof_link[d]
        inner = world.inertia.armature[d] * a[d]
        outer = 0.0
        for k in range(6):
            inner += S[d, k] * F[b, k]
            outer += S[d, k] * G[b, k]
        newton.r[d] = inner - outer - tau[d]
        newton.terms[d] = abs(inner) + abs(outer) + abs(tau[d])
    if world.inertia.cable_armature.shape[0] > 0:
        add_cable_forces(world.support, world.inertia, kin, a, True, newton.r)
    newton.rubbing[0] = balance_friction(world.rows, dt, newton.v, newton.r)
    return OK


@kernel
def load(world, work, contacts, anchors, start, inputs, der, newton, exact, dt):
    """Compute how external forces and contacts with the world depend on the motion, and all sums over subtrees."""
    unload(der)
    load_wrenches(work.kin, inputs.wrench, der)
    load_gravity_compensation(world.inertia, work.kin, der)
    load_fluid(world.fluid, work.kin, der)
    B = newton.blocks
    load_contacts(work.kin, contacts, anchors, start, dt, exact, B[0], B[1:5], der)
    composites(world.tree, work.kin, der)


@kernel
def weigh(world, work, der, newton, dt):
    """newton.weight = dt/M_dd."""
    S = work.kin.S
    for d in range(newton.weight.shape[0]):
        u0, u1, u2, u3, u4, u5 = inertia_times(
            der.composite, world.support.dof_link[d], S[d, 0], S[d, 1], S[d, 2], S[d, 3], S[d, 4], S[d, 5]
        )
        mass = u0 * S[d, 0] + u1 * S[d, 1] + u2 * S[d, 2] + u3 * S[d, 3] + u4 * S[d, 4] + u5 * S[d, 5]
        newton.weight[d] = dt / (mass + world.inertia.armature[d])


@kernel
def measure(newton):
    """(largest dt·|r_d|/M_dd [m/s, rad/s], its ratio to the velocities and forces as defined above)."""
    most, fastest, strongest = newton.rubbing[0], 0.0, 0.0
    for d in range(newton.r.shape[0]):
        size = newton.weight[d] * abs(newton.r[d])
        if most == most and not size <= most:  # NaN stays NaN
            most = size
        fastest = max(fastest, abs(newton.v[d]))
        strongest = max(strongest, newton.weight[d] * newton.terms[d])
    if most == 0.0:
        return 0.0, 0.0
    return most, most / (fastest + strongest)


@kernel
def linearise(world, work, contacts, anchors, start, inputs, der, newton, exact, dt, q):
    """newton.A = dr/dv⁺ at the guess last evaluated; call ``load`` first."""
    tree, kin, A, B = world.tree, work.kin, newton.A, newton.blocks
    joint_columns(tree, world.inertia, newton.v, work.acceleration, kin, der)
    columns_of_v(tree, kin.S, der, newton, dt)
    move, vel, acc = newton.columns[0], newton.columns[1], newton.columns[2]
    project(tree, world.support, kin, der, move, vel, acc, A)
    couple_contacts(world.support, kin, contacts, anchors, start, dt, exact, B[0], B[1:5], move, vel, A)
    for d in range(A.shape[0]):
        A[d, d] += world.inertia.armature[d] / dt
    if world.inertia.cable_armature.shape[0] > 0:
        add_cable_slopes(world.inertia, kin, dt, A)
    subtract_joint_slopes(
        tree, world.passive, world.actuators, inputs, q, newton.q, newton.v, start.mean[0], dt, newton.turn, B[5], A
    )  # fmt: skip
    subtract_coupling_slopes(world.rows, dt, A)
    balance_slopes(world.rows, dt, A)


@kernel
def add_cable_slopes(inertia, kin, dt, A):
    """A += a·JᵀJ/dt of tendons with armature, after ``add_cable_forces``; how J changes is left out."""
    for t in range(inertia.cable_armature.shape[0]):
        first, end = inertia.cable_row[t], inertia.cable_row[t + 1]
        for i in range(first, end):
            for j in range(first, end):
                part = inertia.cable_armature[t] / dt * kin.arm[i] * kin.arm[j]
                A[inertia.cable_column[i], inertia.cable_column[j]] += part


@kernel
def columns_of_v(tree, S, der, newton, dt):
    """Columns of d/dv⁺: those of ∂/∂q times dt·T, plus those of ∂/∂v, plus 1/dt of ∂/∂a."""
    C, T, one, two, rate = newton.columns, newton.turn, der.carried, der.carried2, der.rate
    for d in range(S.shape[0]):
        for i in range(6):
            C[0, d, i] = dt * S[d, i]
            C[1, d, i] = S[d, i] + dt * one[d, i]
            C[2, d, i] = S[d, i] / dt + rate[d, i] + dt * two[d, i]
    for j in range(tree.joint_type.shape[0]):
        kind = tree.joint_type[j]
        if kind != FREE and kind != BALL:
            continue
        d = tree.joint_v[j] + (3 if kind == FREE else 0)
        v = newton.v
        (
            T[j, 0, 0], T[j, 0, 1], T[j, 0, 2],
            T[j, 1, 0], T[j, 1, 1], T[j, 1, 2],
            T[j, 2, 0], T[j, 2, 1], T[j, 2, 2],
        ) = right_jacobian(dt * v[d], dt * v[d + 1], dt * v[d + 2])  # fmt: skip
        for k in range(3):
            x, y, z = dt * T[j, 0, k], dt * T[j, 1, k], dt * T[j, 2, k]
            for i in range(6):
                C[0, d + k, i] = x * S[d, i] + y * S[d + 1, i] + z * S[d + 2, i]
                C[1, d + k, i] = S[d + k, i] + x * one[d, i] + y * one[d + 1, i] + z * one[d + 2, i]
                C[2, d + k, i] = (
                    S[d + k, i] / dt + rate[d + k, i] + x * two[d, i] + y * two[d + 1, i] + z * two[d + 2, i]
                )


@kernel
def newton_step(world, work, contacts, anchors, start, inputs, der, newton, exact, dt, q):
    """newton.step = (dr/dv⁺)⁻¹·r at the guess last evaluated; returns 1 if the matrix is singular."""
    load(world, work, contacts, anchors, start, inputs, der, newton, exact, dt)
    linearise(world, work, contacts, anchors, start, inputs, der, newton, exact, dt, q)
    copy_to(newton.r, newton.step)
    tendon_right(world.rows, dt, newton.v, newton.r, newton.step)
    singular = solve_in_place(newton.A, newton.step)
    tendon_step(world.rows, dt, newton.step)
    return singular


@kernel
def largest(a):
    x = 0.0
    for d in range(a.shape[0]):
        x = max(x, abs(a[d]))
    return x


@kernel
def leaps(tree, v0, v1, dt):
    """Whether a joint turns much further with the velocity v1 than with v0. Such a solution is one of many, like those
    of sin x = c, and not the one that continues the motion."""
    for j in range(tree.joint_type.shape[0]):
        kind, d = tree.joint_type[j], tree.joint_v[j]
        if kind == SLIDE:
            continue
        first = d + 3 if kind == FREE else d
        for k in range(first, d + 1 if kind == HINGE else first + 3):
            if abs(v1[k] - v0[k]) * dt > LEAP:
                return True
    return False


@kernel
def shorter(newton, s0, size, new_size):
    """Factor by which to shorten Newton's step after evaluating its end; 1 to accept it.

    The measure is s = step·r, the slope of the energy that an implicit step minimises; it falls from s₀ > 0 to 0 at the
    best point of the line. The size of r would be a poor measure: it grows at once where a contact closes, although the
    solution lies beyond.
    """
    s = dot(newton.step, newton.r)
    if s >= -0.8 * s0 or s0 <= 0.0 or new_size < 0.9 * size:
        return 1.0
    share = s0 / (s0 - s)  # the zero of the straight line from s₀ to s
    return min(0.9, max(0.1, share)) if share == share else 0.1


@kernel
def solve(world, work, contacts, anchors, start, inputs, der, newton, report, tolerance, most_iterations, dt, q, v):
    """newton.v and newton.q: velocities and configuration at the end of a step from (q, v).

    report.residual[0] says whether it has succeeded; if not, the best guess remains. The loop calls ``evaluate`` in one
    place only, because each call is compiled inline.
    """
    copy_to(v, newton.v)
    size, least, s0, fraction = 0.0, 0.0, 0.0, 1.0
    iterations, shortened, last = 0, 0, False
    while True:
        status = evaluate(world, work, contacts, anchors, start, inputs, der, newton, dt, q, v)
        if status != OK or last:
            break
        if iterations == 0:
            composites(world.tree, work.kin, der)
            weigh(world, work, der, newton, dt)
        new_size, residual = measure(newton)
        if iterations == 0:
            if residual != residual:  # NaN: no velocity helps; the accelerations show where it comes from
                copy_to(newton.r, work.acceleration)
                return DIVERGED
            least = residual
            copy_to(v, newton.best)
            keep_tendons(world.rows, False)
        elif shortened < SHORTENINGS:
            scale = shorter(newton, s0, size, new_size)
            if scale < 1.0:
                shortened += 1
                fraction *= scale
                for d in range(v.shape[0]):
                    newton.v[d] = newton.from_[d] - fraction * newton.step[d]
                move_tendons(world.rows, fraction)
                continue
        size = new_size
        if residual < least:
            least = residual
            copy_to(newton.v, newton.best)
            keep_tendons(world.rows, False)
        if residual <= tolerance:
            break
        exact = 0.0 if FREEZE <= iterations < THAW else 1.0
        if iterations == most_iterations or newton_step(
            world, work, contacts, anchors, start, inputs, der, newton, exact, dt, q
        ):
            last = True
            copy_to(newton.best, newton.v)
            keep_tendons(world.rows, True)
            continue
        scale = size / residual
        if exact == 1.0 and FINER * largest(newton.step) <= tolerance * scale:
            least = FINER * largest(newton.step) / scale
            move_tendons(world.rows, 1.0)
            break
        iterations += 1
        shortened, fraction, s0 = 0, 1.0, dot(newton.step, newton.r)
        for d in range(v.shape[0]):
            newton.from_[d] = newton.v[d]
            newton.v[d] -= newton.step[d]
        move_tendons(world.rows, 1.0)
    report.tally[ITERATIONS] += iterations
    report.residual[0] = least
    return status
