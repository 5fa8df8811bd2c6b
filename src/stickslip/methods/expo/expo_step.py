"""The compiled step of expo: free motion, contact forces averaged over the step, touchdowns, and the new state.

``expo`` has the equations, and says where they differ from the paper: (9)–(11) the contact dynamics, (23) and (25) the
averages of its forces, (19), (20), (24) and (26) the new state. ``step`` is the table of contents.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ADHESION, Contacts, contact_velocities, entries, is_loop
from stickslip.collision.convex.find import find_contacts
from stickslip.collision.loop_points import place_loops
from stickslip.collision.reach import fastest_point
from stickslip.constraints.joint_rows import FEEDBACK, hold_joints
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.data import MassMatrix
from stickslip.dynamics.delassus import ContactRows, contact_jacobian, eliminate
from stickslip.dynamics.drive_forces import add_drive_lead, add_drive_mass
from stickslip.dynamics.factor import ltdl_factor, solve, solve_l
from stickslip.dynamics.fluid_derivatives import add_drag_mass, fluid_drag
from stickslip.dynamics.joint_forces import joint_gains
from stickslip.dynamics.kinematics import forward_accelerations, spatial_inertias
from stickslip.dynamics.rnea import bias_forces
from stickslip.math.linear import copy_to
from stickslip.methods.base import CONTACTS_FULL, DIVERGED, OK, bounded
from stickslip.methods.expo.average_forces import (
    AUTO,
    PADE,
    Averages,
    IslandWork,
    average_forces,
    contact_dynamics,
)
from stickslip.methods.expo.contact_space import Islands, contact_acceleration, find_islands
from stickslip.methods.handle import restored
from stickslip.methods.soft.anchors import Anchors, copy_anchors
from stickslip.methods.soft.overlap_recovery import rest_speed
from stickslip.methods.soft.spin_friction import apply_contact_torques
from stickslip.methods.soft.spring_damper import apply_adhesion, spring_damper
from stickslip.methods.soft.viscoelastic import (
    begin_joints,
    detect,
    end_joints,
    gather_forces,
    loops_alone,
    poses_and_velocities,
)


class ContactWork(NamedTuple):
    """Scratch of the contact dynamics."""

    mass: MassMatrix
    rows: ContactRows
    islands: Islands
    island: IslandWork
    averages: Averages
    near: Contacts
    """Contacts that may begin within the step."""
    kept: Anchors
    """The anchors at the beginning of the step."""


MOST_SUBSTEPS = 10
"""Largest number of substeps into which a step is divided where contacts begin."""
SHORTEST = 1e-9
"""Shortest substep but the last, as a fraction of the rest of the step."""
FAST = 10.0
"""Largest approach velocity of contacts that are predicted [m/s]."""
HARD = 400.0
"""Largest approach acceleration of contacts that are predicted [m/s²]."""
TOUCHING = 1e-12
"""Depth at which the next substep begins, so that the contact is detected there [m]."""


class Settings(NamedTuple):
    """The options of the method as kernels see them."""

    freeze: float
    """Where the contact dynamics is linearised, as a fraction of the step: 0 or ½."""
    substeps: int
    """Largest number of substeps into which touchdowns divide a step."""
    passes: int
    """Largest number of passes over the contacts of an island; 1 projects slipping ones on the cone."""
    matmuls: int
    """Order of the Padé approximant, or AUTO or PADE."""
    tolerance: float
    """Relative tolerance of the Padé approximants."""


class JointWork(NamedTuple):
    """Scratch per joint velocity."""

    stiffness: np.ndarray
    damping: np.ndarray
    free: np.ndarray
    """(nv,) accelerations without contacts."""
    mean: np.ndarray
    """(nv,) accelerations under λ̿, then the mean velocity of the step."""
    middle: np.ndarray
    """(nq,) the configuration where Υ and p̈_free are evaluated."""
    q: np.ndarray
    """(nq,) configuration at the beginning of the step."""
    v: np.ndarray
    """(nv,) velocity at the beginning of the step."""
    elapsed: np.ndarray
    """(1,) time since the anchors were last moved [s]; part of the memory."""


@kernel
def press_contacts(work, contacts, anchors, averages, elapsed):
    """Springs of the contacts at the beginning of a step, and how fast their rest points move."""
    spring_damper(work.kin, contacts, anchors, elapsed)
    for c in range(entries(contacts)):
        touching = not is_loop(contacts, c) and contacts.gap[c] < 0.0
        averages.leaving[c] = rest_speed(anchors, anchors.place[c]) if touching else 0.0


@kernel
def look_ahead(world, work, joints, contacts, ahead, q, v):
    """Kinematics and contact points after ``ahead`` [s] at the current velocity; gaps and springs do not change."""
    integrate(world.tree, q, v, ahead, joints.middle)
    poses_and_velocities(world, work, joints.middle, v)
    for c in range(contacts.found[0]):
        for k in range(3):
            contacts.point[c, k] += ahead * contacts.drift[c, k]
    place_loops(world.loops, work.kin, contacts)


@kernel
def free_motion(world, work, expo, joints, contacts, inputs, dt, q, v):
    """Mass matrix, its factor, and the accelerations of links and joints without contact forces. Adhesion and torques
    of torsional and rolling friction are part of it: they are held over the step."""
    support, mass, free = world.support, expo.mass, joints.free
    gather_forces(world, work, inputs, q, v)
    apply_contact_torques(contacts, work.f_ext)
    apply_adhesion(work.kin, contacts, work.f_ext)
    spatial_inertias(world.inertia, work.kin)
    bias_forces(world.tree, support, world.inertia, work.f_ext, work.kin, free)
    composite_inertia(world.tree, support, world.inertia, work.kin, mass)
    joint_gains(world.tree, world.passive, q, v, joints.stiffness, joints.damping)
    add_drive_mass(world.actuators, support, dt, mass.M)
    fluid_drag(world.fluid, work.kin)
    add_drag_mass(world.fluid, support, work.kin, dt, mass.M)
    add_drive_lead(world.actuators, 0, dt, work.tau)
    for d in range(v.shape[0]):
        K, B = joints.stiffness[d], joints.damping[d]
        mass.M[support.start[d]] += dt * (B + dt * K)
        free[d] = work.tau[d] - free[d] - dt * K * v[d]
    ltdl_factor(support, mass.M, mass.L)
    solve(support, mass.L, free)
    forward_accelerations(world.tree, support, free, work.kin)


@kernel
def islands_fit(support, islands, room, contacts):
    """Whether the matrices are large enough, which have ``room`` rows; checked before the anchors move, since the step
    may be repeated."""
    for i in range(find_islands(support, contacts, islands)):
        if 3 * (islands.start[i + 1] - islands.start[i]) > room:
            return False
    return True


@kernel
def contact_forces(world, work, expo, contacts, settings, dt):
    """λ̄ and λ̿ of every contact, island by island."""
    support, L, islands = world.support, expo.mass.L, expo.islands
    passes, matmuls, tolerance = settings.passes, settings.matmuls, settings.tolerance
    for c in range(entries(contacts)):
        contact_jacobian(support, work.kin, contacts.link1, contacts.link2, contacts.point, contacts.axes, c, expo.rows)
        eliminate(support, L, c, expo.rows)
    for i in range(find_islands(support, contacts, islands)):
        members = islands.order[islands.start[i] : islands.start[i + 1]]
        contact_dynamics(support, L, expo.rows, work.kin, contacts, members, expo.averages, expo.island)
        if not average_forces(contacts, members, expo.averages, expo.island, passes, matmuls, tolerance, dt):
            return DIVERGED
    return OK


@kernel
def add_contact_acceleration(world, expo, nc, force, free, out):
    """out = free + M⁻¹Jᵀλ, eq. (13)."""
    support, rows, L = world.support, expo.rows, expo.mass.L
    for d in range(out.shape[0]):
        out[d] = 0.0
    for c in range(nc):
        f0, f1, f2 = force[c, 0], force[c, 1], force[c, 2]
        for k in range(rows.length[c]):
            out[rows.dofs[c, k]] += rows.Y[c, k, 0] * f0 + rows.Y[c, k, 1] * f1 + rows.Y[c, k, 2] * f2
    for d in range(out.shape[0]):
        out[d] /= L[support.start[d]]
    solve_l(support, L, out)
    for d in range(out.shape[0]):
        out[d] += free[d]


@kernel
def accelerate(world, work, expo, joints, contacts, inputs, settings, dt, q, v):
    """``work.acceleration`` under λ̄, eq. (24), and ``joints.mean`` under λ̿, eq. (26)."""
    if settings.freeze > 0.0:
        look_ahead(world, work, joints, contacts, settings.freeze * dt, q, v)
    free_motion(world, work, expo, joints, contacts, inputs, dt, q, v)
    status = contact_forces(world, work, expo, contacts, settings, dt)
    if status != OK:
        return status
    nc = entries(contacts)
    add_contact_acceleration(world, expo, nc, expo.averages.first, joints.free, work.acceleration)
    add_contact_acceleration(world, expo, nc, expo.averages.second, joints.free, joints.mean)
    if world.rows.bound.shape[0] > 0:
        hold_joints(world.support, expo.mass.L, world.rows, work.kin, dt, FEEDBACK, v, work.acceleration)
        for d in range(v.shape[0]):
            joints.mean[d] += world.rows.change[d] / dt
    return OK


@kernel
def integrate_state(world, acceleration, mean, dt, q, v):
    """v⁺ by eq. (24) and q⁺ by eqs. (19), (20), (26)."""
    for d in range(v.shape[0]):
        mean[d] = v[d] + 0.5 * dt * mean[d]
        v[d] += dt * acceleration[d]
    integrate(world.tree, q, mean, dt, q)


@kernel
def time_to_touchdown(world, work, expo, joints, inputs, most, q, v):
    """(Time until the first gap closes in motion without contact forces, at most ``most`` [s], or −1 if a buffer of the
    search is full; whether a gap is closed now)."""
    near, first, soon, touching = expo.near, most, False, False
    margin = most * min(FAST, 2.0 * fastest_point(work.kin, world.radius) + 0.5 * most * HARD)
    if not find_contacts(world.search, work.kin, margin, world.cell[0], near):
        return -1.0, True
    contact_velocities(work.kin, near)
    n = near.found[0]
    for c in range(n):
        gap, rate = near.gap[c], near.velocity[c, 0]
        touching = touching or gap < 0.0 or near.material[c, ADHESION] != 0.0
        soon = soon or (gap >= 0.0 and gap + most * (rate - 0.5 * most * HARD) < 0.0)
    if soon:
        free_motion(world, work, expo, joints, near, inputs, most, q, v)
        for c in range(n):
            if near.gap[c] >= 0.0:
                gap, rate = near.gap[c] + TOUCHING, near.velocity[c, 0]
                acceleration = contact_acceleration(work.kin, near, c)[0]
                root = rate * rate - 2.0 * acceleration * gap
                if root >= 0.0 and 2.0 * gap < first * (sqrt(root) - rate):
                    first = 2.0 * gap / (sqrt(root) - rate)
    return first, touching


@kernel
def substep(world, work, expo, joints, contacts, anchors, inputs, settings, last, dt, q, v):
    """A step, or its part up to the next touchdown; returns (status, length). ``last`` means that all is taken."""
    poses_and_velocities(world, work, q, v)
    h, touching = dt, True
    if not last:
        first, touching = time_to_touchdown(world, work, expo, joints, inputs, dt, q, v)
        if first < 0.0:
            return CONTACTS_FULL, dt
        h = min(dt, max(first, SHORTEST * dt))
    status = detect(world, work, contacts) if touching else loops_alone(world, work, contacts)
    if status == OK and not islands_fit(world.support, expo.islands, expo.island.y.shape[0], contacts):
        status = CONTACTS_FULL
    if status != OK:
        return status, dt
    press_contacts(work, contacts, anchors, expo.averages, joints.elapsed[0])
    status = accelerate(world, work, expo, joints, contacts, inputs, settings, h, q, v)
    if status == OK:
        status = bounded(work.acceleration, v, h)
    if status == OK:
        integrate_state(world, work.acceleration, joints.mean, h, q, v)
        joints.elapsed[0] = h
    return status, h


@kernel
def step(world, work, expo, joints, contacts, anchors, inputs, settings, dt, q, v):
    """One step, divided where a contact begins: the table of contents of the method."""
    left, elapsed = dt, joints.elapsed[0]
    copy_to(q, joints.q)
    copy_to(v, joints.v)
    copy_anchors(anchors, expo.kept)
    copy_to(world.rows.force, world.rows.kept)
    for k in range(settings.substeps):
        last = k + 1 == settings.substeps
        status, h = substep(world, work, expo, joints, contacts, anchors, inputs, settings, last, left, q, v)
        if status != OK:
            copy_to(joints.q, q)
            copy_to(joints.v, v)
            copy_anchors(expo.kept, anchors)
            copy_to(world.rows.kept, world.rows.force)
            joints.elapsed[0] = elapsed
            return status
        left -= h
        if left <= 1e-9 * dt:
            break
    end_joints(world, dt)
    return OK


@kernel
def advance(world, work, expo, joints, contacts, anchors, inputs, settings, dt, q, v, n):
    """n steps without Python in between; returns (status, steps done)."""
    begin_joints(world, q)
    for k in range(n):
        status = step(world, work, expo, joints, contacts, anchors, inputs, settings, dt, q, v)
        if status != OK:
            return status, k
    return OK, n


@kernel
def advance_held(held, n):
    """``advance`` with all arguments but n at hand."""
    return advance(*restored(held), n)  # type: ignore[call-arg]


ORDERS = {"auto": AUTO, "pade": PADE}
"""Names for choices of the order of a Padé approximant."""
