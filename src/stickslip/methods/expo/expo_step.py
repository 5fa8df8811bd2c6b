"""The compiled step of expo: free motion, contact forces averaged over the step, touchdowns, and the new state.

``expo`` has the equations, and says where they differ from the paper: (9)–(11) the contact dynamics, (23) and (25) the
averages of its forces, (19), (20), (24) and (26) the new state. ``step`` is the table of contents.
"""

from __future__ import annotations

from math import exp, sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ADHESION, STIFFNESS, Contacts, contact_velocities, entries, is_loop, move
from stickslip.collision.convex.find import find_contacts
from stickslip.collision.convex.finish import FEATURES
from stickslip.collision.loop_points import place_loops
from stickslip.collision.reach import fastest_point
from stickslip.constraints.joint_rows import FEEDBACK, hold_joints
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.data import MassMatrix
from stickslip.dynamics.delassus import ContactRows, contact_jacobian, eliminate
from stickslip.dynamics.drive_forces import add_drive_lead, add_drive_mass, drive_stiffness
from stickslip.dynamics.factor import ltdl_factor, solve, solve_l
from stickslip.dynamics.fluid_derivatives import add_drag_mass, fluid_drag
from stickslip.dynamics.gyroscopic import gyroscopic_torque, mean_rotation
from stickslip.dynamics.jacobian import point_velocity
from stickslip.dynamics.joint_forces import joint_gains
from stickslip.dynamics.kinematics import forward_accelerations, spatial_inertias
from stickslip.dynamics.rnea import bias_forces
from stickslip.math.linear import copy_to
from stickslip.math.quaternion import exponential
from stickslip.math.spatial import cross, rotate, rotate_transposed
from stickslip.methods.base import CONTACTS_FULL, DIVERGED, OK, bounded
from stickslip.methods.expo.average_forces import FOLLOW, average_forces
from stickslip.methods.expo.contact_space import Islands, contact_acceleration, find_islands
from stickslip.methods.expo.island import Averages, IslandWork, contact_dynamics
from stickslip.methods.expo.phase_responses import AUTO, PADE
from stickslip.methods.handle import restored
from stickslip.methods.soft.anchors import Anchors, copy_anchors, slips_over
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
    start: np.ndarray
    """(capacity, 7, 3) what ``keep_contacts`` keeps."""


MOST_SUBSTEPS = 20
"""Largest number of substeps into which a step is divided where contacts begin."""
MOST_DIVISIONS = 3
"""Largest number of times that the forces of all islands are found again because a contact opens or begins."""
SHORTEST = 1e-9
"""Shortest substep but the last, as a fraction of the rest of the step."""
FAST = 10.0
"""Largest approach velocity of contacts that are predicted [m/s]."""
HARD = 400.0
"""Largest approach acceleration of contacts that are predicted [m/s²]."""
TOUCHING = 1e-12
"""Depth at which the next substep begins, so that the contact is detected there [m]."""
UNNOTICED = 1e-10
"""[J] in the spring of a contact that begins within a step without dividing it."""


class Settings(NamedTuple):
    """The options of the method as kernels see them."""

    order: int
    """1: forces that depend on velocities are taken at the beginning of the step; 2: in its middle."""
    freeze: float
    """Where the contact dynamics is linearised, as a fraction of the step: 0 or ½."""
    substeps: int
    """Largest number of substeps into which touchdowns divide a step."""
    slip: int
    """How contacts that leave their cone are treated: PROJECT, SETTLE or FOLLOW."""
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
    before: np.ndarray
    """(nv,) mean accelerations of the last step, 0 if a contact began or ended in it; part of the memory."""
    last: np.ndarray
    """(nv,) ``before`` at the beginning of the step."""
    end: np.ndarray
    """(nv,) velocity at the end of the last step; part of the memory."""
    ahead: np.ndarray
    """(nv,) velocity where forces that depend on it are taken."""
    turn: np.ndarray
    """(nlink,) κ of ``dynamics.gyroscopic`` of links that turn freely; 0 of others."""
    lone: np.ndarray
    """(n,) links on free joints that carry no other link."""
    touching: np.ndarray
    """(1,) number of contacts in the last step."""
    elapsed: np.ndarray
    """(1,) time since the anchors were last moved [s]; part of the memory."""


@kernel
def press_contacts(work, contacts, anchors, averages, elapsed):
    """Springs of the contacts at the beginning of a step, and how fast their rest points move."""
    spring_damper(work.kin, contacts, anchors, elapsed, 0.0)
    for c in range(entries(contacts)):
        averages.leaving[c] = 0.0
        averages.unsettled[0] = 0
        if is_loop(contacts, c) or contacts.gap[c] >= 0.0:
            continue
        averages.leaving[c] = rest_speed(anchors, anchors.place[c])
        for r in range(2):
            x, y, z = contacts.axes[c, 1 + r, 0], contacts.axes[c, 1 + r, 1], contacts.axes[c, 1 + r, 2]
            if contacts.link1[c] != 0:
                x, y, z = rotate_transposed(work.kin.rot, contacts.link1[c], x, y, z)
            averages.frame[c, r, 0], averages.frame[c, r, 1], averages.frame[c, r, 2] = x, y, z


@kernel
def move_anchors(contacts, anchors, averages):
    """Move the friction anchors to where the step leaves them: contacts that slipped take theirs along, and the springs
    of points that move over their bodies have the stretch of ``averages``. The contact law goes on from there."""
    for c in range(contacts.found[0]):
        if contacts.gap[c] >= 0.0:
            continue
        k, rolls = anchors.place[c], slips_over(contacts, anchors, c, anchors.place[c])
        if not rolls and contacts.pair[c] < FEATURES and averages.creep[c, 0] == 0.0 and averages.creep[c, 1] == 0.0:
            continue  # a point that sticks: nothing asks for the stretch of its spring
        for i in range(3):
            f1, f2 = averages.frame[c, 0, i], averages.frame[c, 1, i]
            stretch = averages.stretch[c, 0] * f1 + averages.stretch[c, 1] * f2
            if rolls:
                anchors.anchor[k, i] = anchors.point[k, i] - stretch
            else:
                anchors.anchor[k, i] += averages.creep[c, 0] * f1 + averages.creep[c, 1] * f2
                anchors.point[k, i] = anchors.anchor[k, i] + stretch


@kernel
def mean_velocity(world, joints, contacts, order, dt, v):
    """``joints.ahead``: the velocity in the middle of the step, by the last step's acceleration. A single body on which
    nothing but gravity acts turns by the midpoint rule, which keeps its energy and its angular momentum. In a medium it
    stays the velocity at the beginning, at which its drag is linearised."""
    ahead, turn, support, drag = joints.ahead, joints.turn, world.support, world.fluid.drag.shape[0] > 1
    for d in range(v.shape[0]):
        ahead[d] = v[d] + 0.5 * dt * joints.before[d] if order == 2 and not drag else v[d]
    if order == 1 or drag:
        return
    for k in range(joints.lone.shape[0]):
        turn[joints.lone[k]] = 1.0
    for c in range(entries(contacts)):
        turn[contacts.link1[c]], turn[contacts.link2[c]] = 0.0, 0.0
    for k in range(joints.lone.shape[0]):
        b = joints.lone[k]
        if turn[b] != 0.0:
            d = support.link_dof[b] + 3
            ahead[d], ahead[d + 1], ahead[d + 2], turn[b] = mean_rotation(
                world.inertia.inertia, b, dt, v[d], v[d + 1], v[d + 2]
            )


@kernel
def keep_turning(inertia, kin, joints, f_ext):
    """Multiply the gyroscopic torques of links that turn freely by their κ."""
    J = inertia.inertia
    for k in range(joints.lone.shape[0]):
        b = joints.lone[k]
        more = joints.turn[b] - 1.0
        if joints.turn[b] == 0.0 or more == 0.0:
            continue
        wx, wy, wz = rotate_transposed(kin.rot, b, kin.vel[b, 3], kin.vel[b, 4], kin.vel[b, 5])
        gx, gy, gz = gyroscopic_torque(J, b, wx, wy, wz)
        gx, gy, gz = rotate(kin.rot, b, gx, gy, gz)
        f_ext[b, 3] -= more * gx
        f_ext[b, 4] -= more * gy
        f_ext[b, 5] -= more * gz


@kernel
def turn_frame(kin, contacts, c, ahead):
    """Turn the frame of contact c by what it turns in ``ahead`` [s]: with link 1, and by its spin."""
    a, spin, A = contacts.link1[c], contacts.spin, contacts.axes
    x, y, z = kin.vel[a, 3] + spin[c, 0], kin.vel[a, 4] + spin[c, 1], kin.vel[a, 5] + spin[c, 2]
    if x == 0.0 and y == 0.0 and z == 0.0:
        return
    w, x, y, z = exponential(ahead * x, ahead * y, ahead * z)
    for i in range(3):
        ux, uy, uz = cross(x, y, z, A[c, i, 0], A[c, i, 1], A[c, i, 2])
        px, py, pz = cross(x, y, z, ux, uy, uz)
        A[c, i, 0], A[c, i, 1], A[c, i, 2] = (
            A[c, i, 0] + 2.0 * (w * ux + px), A[c, i, 1] + 2.0 * (w * uy + py), A[c, i, 2] + 2.0 * (w * uz + pz),
        )  # fmt: skip


@kernel
def keep_contacts(kin, contacts, start):
    """Keep the contact points of the beginning of the step: point, drift in the world and over body 2, frame, spin."""
    point, drift, A = contacts.point, contacts.drift, contacts.axes
    for c in range(contacts.found[0]):
        v = point_velocity(kin, contacts.link2[c], point[c, 0], point[c, 1], point[c, 2])
        for k in range(3):
            start[c, 0, k], start[c, 1, k], start[c, 2, k] = point[c, k], drift[c, k], drift[c, k] - v[k]
            start[c, 3, k], start[c, 4, k], start[c, 5, k] = A[c, 0, k], A[c, 1, k], A[c, 2, k]
            start[c, 6, k] = contacts.spin[c, k]


@kernel
def look_ahead(world, work, joints, contacts, start, ahead, q, v):
    """Kinematics and contacts after ``ahead`` [s] at the velocity v, with the velocities ``joints.ahead``; gaps and
    springs do not change. ``start`` is from ``keep_contacts``."""
    point, drift, A, kin = contacts.point, contacts.drift, contacts.axes, work.kin
    integrate(world.tree, q, v, ahead, joints.middle)
    poses_and_velocities(world, work, joints.middle, joints.ahead)
    for c in range(contacts.found[0]):
        for k in range(3):
            point[c, k] = start[c, 0, k] + ahead * start[c, 1, k]
            A[c, 0, k], A[c, 1, k], A[c, 2, k] = start[c, 3, k], start[c, 4, k], start[c, 5, k]
            contacts.spin[c, k] = start[c, 6, k]
        turn_frame(kin, contacts, c, ahead)
        if contacts.rolling[c] != 0:
            move(kin, contacts, c)
        else:  # the point moves over body 2 as before
            vx, vy, vz = point_velocity(kin, contacts.link2[c], point[c, 0], point[c, 1], point[c, 2])
            drift[c, 0], drift[c, 1], drift[c, 2] = start[c, 2, 0] + vx, start[c, 2, 1] + vy, start[c, 2, 2] + vz
    place_loops(world.loops, kin, contacts)


@kernel
def implicitness(order, stiffness):
    """Where in the step a damper or spring is taken: θ = 1/(1 − e^−z) − 1/z for z = dt·B/M + dt²·K/M, which is exact
    for a damper alone, ½ for soft ones and 1 for stiff ones; 1 throughout for order 1."""
    if order == 1 or stiffness > 40.0:
        return 1.0
    if stiffness < 0.02:
        return 0.5 + stiffness / 12.0
    return 1.0 / (1.0 - exp(-stiffness)) - 1.0 / stiffness


@kernel
def free_motion(world, work, expo, joints, contacts, inputs, order, dt, q, v):
    """Mass matrix, its factor, and the accelerations of links and joints without contact forces. Adhesion and torques
    of torsional and rolling friction are part of it: they are held over the step."""
    support, mass, free = world.support, expo.mass, joints.free
    gather_forces(world, work, inputs, q, v)
    apply_contact_torques(contacts, work.f_ext)
    apply_adhesion(work.kin, contacts, work.f_ext)
    if order == 2:
        keep_turning(world.inertia, work.kin, joints, work.f_ext)
    spatial_inertias(world.inertia, work.kin)
    bias_forces(world.tree, support, world.inertia, work.f_ext, work.kin, free)
    composite_inertia(world.tree, support, world.inertia, work.kin, mass)
    joint_gains(world.tree, world.passive, q, v, joints.stiffness, joints.damping)
    lag = dt * implicitness(order, drive_stiffness(world.actuators, support, dt, mass.M))
    for d in range(v.shape[0]):
        K, B, at = joints.stiffness[d], joints.damping[d], support.start[d]
        joints.damping[d] = 0.0
        if K != 0.0 or B != 0.0:
            late = dt * implicitness(order, dt * (B + dt * K) / mass.M[at])
            joints.stiffness[d], joints.damping[d] = late * K * v[d], late * (B + late * K)
    add_drive_mass(world.actuators, support, lag, mass.M)
    fluid_drag(world.fluid, work.kin)
    add_drag_mass(world.fluid, support, work.kin, dt, mass.M)
    add_drive_lead(world.actuators, 0, lag, work.tau)
    for d in range(v.shape[0]):
        mass.M[support.start[d]] += joints.damping[d]
        free[d] = work.tau[d] - free[d] - joints.stiffness[d]
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
def contact_forces(world, work, expo, contacts, settings, dt, divide):
    """λ̄ and λ̿ of every contact, island by island. Returns the time up to which they hold: dt [s], or the first opening
    of a contact if ``divide``; −1 if the modes of an island cannot be found."""
    support, L, islands = world.support, expo.mass.L, expo.islands
    slip, matmuls, tolerance = settings.slip, settings.matmuls, settings.tolerance
    for c in range(entries(contacts)):
        contact_jacobian(support, work.kin, contacts.link1, contacts.link2, contacts.point, contacts.axes, c, expo.rows)
        eliminate(support, L, c, expo.rows)
    n, length = find_islands(support, contacts, islands), dt
    for _ in range(MOST_DIVISIONS):
        shortest = length
        for i in range(n):
            members = islands.order[islands.start[i] : islands.start[i + 1]]
            contact_dynamics(support, L, expo.rows, work.kin, contacts, members, expo.averages, expo.island)
            hold = average_forces(
                contacts, members, expo.averages, expo.island, slip, matmuls, tolerance, length, divide
            )
            if hold < 0.0:
                return hold
            shortest = min(shortest, hold)
        if shortest == length:
            break
        length, divide = shortest, False
    return length


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
def closing(gap, rate, acceleration, most):
    """When a gap is TOUCHING deep, at most ``most`` [s]."""
    gap += TOUCHING
    root = rate * rate - 2.0 * acceleration * gap
    if root >= 0.0 and 2.0 * gap < most * (sqrt(root) - rate):
        return 2.0 * gap / (sqrt(root) - rate)
    return most


@kernel
def time_to_meeting(world, work, expo, joints, ahead, length):
    """Time until the first gap closes in the motion under the present contact forces, at most ``length`` [s]. The
    kinematics are those after ``ahead`` [s]; depths that store less than UNNOTICED do not count."""
    near, first = expo.near, length
    forward_accelerations(world.tree, world.support, joints.mean, work.kin)
    for c in range(near.found[0]):
        if near.gap[c] < 0.0:
            continue
        for k in range(3):
            near.point[c, k] += ahead * near.drift[c, k]
        gap, rate, acceleration = near.gap[c], near.velocity[c, 0], contact_acceleration(work.kin, near, c)[0]
        for k in range(3):
            near.point[c, k] -= ahead * near.drift[c, k]
        deep = TOUCHING + sqrt(UNNOTICED / max(1.0, near.material[c, STIFFNESS]))
        if gap + length * (rate + 0.5 * length * acceleration) < -deep:
            first = min(first, closing(gap, rate, acceleration, length))
    forward_accelerations(world.tree, world.support, joints.free, work.kin)
    return first


@kernel
def move_under_contacts(world, work, expo, joints, contacts, settings, ahead, dt, others):
    """Accelerations under the mean contact forces, and the time up to which they hold, as ``accelerate`` has it."""
    nc, length, divide = entries(contacts), dt, others and settings.slip == FOLLOW
    for k in range(MOST_DIVISIONS):
        length = contact_forces(world, work, expo, contacts, settings, length, divide)
        if length < 0.0:
            return length
        add_contact_acceleration(world, expo, nc, expo.averages.first, joints.free, work.acceleration)
        add_contact_acceleration(world, expo, nc, expo.averages.second, joints.free, joints.mean)
        if not others or nc == 0 or k + 1 == MOST_DIVISIONS:
            break
        meeting = max(SHORTEST * dt, time_to_meeting(world, work, expo, joints, ahead, length))
        if meeting >= length:
            break
        length, divide = meeting, False
    return length


@kernel
def accelerate(world, work, expo, joints, contacts, inputs, settings, dt, others, q, v):
    """``work.acceleration`` under λ̄, eq. (24), and ``joints.mean`` under λ̿, eq. (26). Returns the time up to which they
    hold: dt [s], or, if there are ``others`` near that may touch, the first instant at which a contact opens or another
    one begins; −1 if they cannot be computed. What holds for less than half of dt is linearised anew in its middle."""
    length = dt
    keep_contacts(work.kin, contacts, expo.start)
    for _ in range(2):
        dt, ahead = length, settings.freeze * length
        mean_velocity(world, joints, contacts, settings.order, dt, v)
        if ahead > 0.0:
            look_ahead(world, work, joints, contacts, expo.start, ahead, q, v)
        free_motion(world, work, expo, joints, contacts, inputs, settings.order, dt, q, v)
        length = move_under_contacts(world, work, expo, joints, contacts, settings, ahead, dt, others)
        if length < 0.0:
            return length
        if length > 0.5 * dt:
            break
    if world.rows.bound.shape[0] > 0:
        hold_joints(world.support, expo.mass.L, world.rows, work.kin, length, FEEDBACK, v, work.acceleration)
        for d in range(v.shape[0]):
            joints.mean[d] += world.rows.change[d] / length
    return length


@kernel
def integrate_state(world, acceleration, joints, dt, q, v):
    """v⁺ by eq. (24) and q⁺ by eqs. (19), (20), (26)."""
    mean = joints.mean
    for d in range(v.shape[0]):
        mean[d] = v[d] + 0.5 * dt * mean[d]
        v[d] += dt * acceleration[d]
        joints.end[d] = v[d]
    integrate(world.tree, q, mean, dt, q)


@kernel
def others_near(near):
    """Whether there are contacts that may begin within the step: impacts of others may bring them about."""
    several = 0
    for c in range(near.found[0]):
        several += near.gap[c] >= 0.0
    return several > 0


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
        free_motion(world, work, expo, joints, near, inputs, 1, most, q, v)
        for c in range(n):
            if near.gap[c] >= 0.0:
                first = closing(near.gap[c], near.velocity[c, 0], contact_acceleration(work.kin, near, c)[0], first)
    return first, touching


@kernel
def substep(world, work, expo, joints, contacts, anchors, inputs, settings, last, dt, q, v):
    """A step, or its part up to the next touchdown; returns (status, length). ``last`` means that all is taken."""
    poses_and_velocities(world, work, q, v)
    h, touching, others = dt, True, False
    if not last:
        first, touching = time_to_touchdown(world, work, expo, joints, inputs, dt, q, v)
        if first < 0.0:
            return CONTACTS_FULL, dt
        h = min(dt, max(first, SHORTEST * dt))
        others = others_near(expo.near)
    status = detect(world, work, contacts) if touching else loops_alone(world, work, contacts)
    if status == OK and not islands_fit(world.support, expo.islands, expo.island.y.shape[0], contacts):
        status = CONTACTS_FULL
    if status != OK:
        return status, dt
    press_contacts(work, contacts, anchors, expo.averages, joints.elapsed[0])
    h = accelerate(world, work, expo, joints, contacts, inputs, settings, h, others, q, v)
    status = bounded(work.acceleration, v, h) if h >= 0.0 else DIVERGED
    if status == OK:
        move_anchors(contacts, anchors, expo.averages)
        remember_motion(work.acceleration, joints, contacts, h == dt)
        integrate_state(world, work.acceleration, joints, h, q, v)
        joints.elapsed[0] = h
    return status, h


@kernel
def forget_motion(joints, v):
    """Forget the last step's accelerations if the velocity has been set since then."""
    same = True
    for d in range(v.shape[0]):
        same = same and v[d] == joints.end[d]
    if not same:
        for d in range(v.shape[0]):
            joints.before[d], joints.end[d] = 0.0, v[d]


@kernel
def remember_motion(acceleration, joints, contacts, whole):
    """Keep the accelerations for the next step, unless contacts have begun or ended in this one."""
    smooth = whole and joints.touching[0] == entries(contacts)
    joints.touching[0] = entries(contacts)
    for d in range(acceleration.shape[0]):
        joints.before[d] = acceleration[d] if smooth else 0.0


@kernel
def step(world, work, expo, joints, contacts, anchors, inputs, settings, dt, q, v):
    """One step, divided where a contact begins: the table of contents of the method."""
    forget_motion(joints, v)
    left, elapsed, touching, unsettled = dt, joints.elapsed[0], joints.touching[0], 0
    copy_to(joints.before, joints.last)
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
            copy_to(joints.last, joints.before)
            copy_to(joints.v, joints.end)
            joints.elapsed[0], joints.touching[0] = elapsed, touching
            return status
        unsettled += expo.averages.unsettled[0]
        left -= h
        if left <= 1e-9 * dt:
            break
    if unsettled > 0:
        expo.averages.unsettled[1] += 1
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
