"""Variational steps, many in one compiled call: forces at z, contacts, the interior point, z⁺, joint coordinates.

    given ← P₋(ν) + dt·f(z);   contacts at z;   ν⁺ from ``interior_point``;   z ← z⁺,  ν ← ν⁺

A step starts from the last one's velocities and multipliers (those of contacts by their ids), moved into the interior
by ``WARM``. If a contact closes, or if that start does not converge, it starts from ``COLD``. A call returns early if
Python has to act (``REASONS``). Cost: linear in links, joints and contacts, if the graph's factors are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.convex.find import find_contacts
from stickslip.collision.reach import fastest_point
from stickslip.dynamics.drives import Drives
from stickslip.dynamics.fluid_forces import Fluid
from stickslip.math.linear import copy_to
from stickslip.math.spatial import cross, rotate
from stickslip.maximal.rows import body_rows
from stickslip.methods.base import FASTEST
from stickslip.methods.handle import restored
from stickslip.methods.variational.bodies import (
    Pose,
    add_lift_impulses,
    add_wrench_impulses,
    copy_pose,
    previous_pose,
    to_joint_state,
)
from stickslip.methods.variational.contact import circular, pyramid
from stickslip.methods.variational.contact.cones import Cones, copy_cone, make_cones
from stickslip.methods.variational.contact.points import place_points
from stickslip.methods.variational.contact.spin import place_spins, spin_torques, start_spins
from stickslip.methods.variational.discrete_rotation import momentum_before
from stickslip.methods.variational.equations import contact_force, move_to
from stickslip.methods.variational.fluid_impulses import add_fluid_impulses
from stickslip.methods.variational.interior_point import CONVERGED, ITERATIONS_AT, SPINNING, solve_step
from stickslip.methods.variational.joints.coupling_nodes import rates_before, weigh
from stickslip.methods.variational.joints.dry_friction import Rubbing, copy_rubbing, start_rubbing
from stickslip.methods.variational.joints.joint_nodes import joint_impulses, limit_gaps
from stickslip.methods.variational.recovering import bound_recovery
from stickslip.model.arrays import JointForces

DONE, PAIRS, ROOM, GRAPH, UNSOLVED = range(5)
REASONS = {
    DONE: "all steps are done",
    PAIRS: "kinds of pairs that are not compiled, or a full buffer of contacts",
    ROOM: "more contacts than there is room for; it is grown",
    GRAPH: "other bodies touch each other than the graph connects; it is made anew",
    UNSOLVED: "the interior point did not converge",
}
"""Reasons for which a compiled call returns early."""
COLD, WARM = 1.0, 1e-4
"""Products at a cold start [J, W]; smallest value of each multiplier at a warm start [SI]."""


class Known(NamedTuple):
    """The state in joint coordinates after the last step, by which a state that was set is noticed."""

    q: np.ndarray
    """(nq,)."""
    v: np.ndarray
    """(nv,)."""


class Forces(NamedTuple):
    """Constant parameters of the forces on the bodies."""

    passive: JointForces
    """Passive joint forces without limits."""
    actuators: Drives
    armature: np.ndarray
    gravity: np.ndarray
    radius: np.ndarray
    """(nl,) radius of each link's shapes about its origin [m]."""
    fluid: Fluid


class Memory(NamedTuple):
    """The last step's contacts, for warm starts and recordings."""

    name: np.ndarray
    """(N,) ids plus one; 0 for none."""
    cones: Cones
    force: np.ndarray
    """(N, 3) contact forces [N]."""


class Edges(NamedTuple):
    """Edges of the graph between bodies that touch."""

    key: np.ndarray
    """(np,) lower link·nl + higher link, ascending."""
    edge: np.ndarray
    """(np,) the edge of the graph."""
    seen: np.ndarray
    """(np,) scratch: whether the pair touches now."""


class Before(NamedTuple):
    """State at the beginning of a step: unknowns for a second attempt, and z for the gradient."""

    nu: np.ndarray
    lam: np.ndarray
    pose: Pose
    rub: Rubbing


def make_memory(contacts: int, facets: int) -> Memory:
    n = max(1, contacts)
    return Memory(np.zeros(n, dtype=np.int64), make_cones(n, facets), np.zeros((n, 3)))


@kernel
def place_links(bodies, pose, nu, kin):
    """Write poses and velocities of the link frames to ``kin``, for the detector."""
    for b in range(1, nu.shape[0]):
        x, y, z = rotate(pose.rot, b, bodies.com[b, 0], bodies.com[b, 1], bodies.com[b, 2])
        wx, wy, wz = rotate(pose.rot, b, nu[b, 3], nu[b, 4], nu[b, 5])
        vx, vy, vz = cross(wx, wy, wz, x, y, z)
        for k in range(3):
            for m in range(3):
                kin.rot[b, k, m] = pose.rot[b, k, m]
        kin.pos[b, 0], kin.pos[b, 1], kin.pos[b, 2] = pose.pos[b, 0] - x, pose.pos[b, 1] - y, pose.pos[b, 2] - z
        kin.origin[b, 0], kin.origin[b, 1], kin.origin[b, 2] = kin.pos[b, 0], kin.pos[b, 1], kin.pos[b, 2]
        kin.vel[b, 0], kin.vel[b, 1], kin.vel[b, 2] = nu[b, 0] - vx, nu[b, 1] - vy, nu[b, 2] - vz
        kin.vel[b, 3], kin.vel[b, 4], kin.vel[b, 5] = wx, wy, wz


@kernel
def begin(mechanism, motion, rows, joint_step, forces, inputs, kin, q, dt):
    """Compute everything that is constant during a step: impulses of forces, rows of joints at z. ``place_links`` must
    have written ``kin``."""
    bodies, nodes, given, nu, pose = mechanism.bodies, mechanism.nodes, motion.given, motion.nu, motion.pose
    joint_impulses(
        bodies, forces.passive, forces.actuators, forces.armature, pose, nu, q, inputs.control, inputs.applied, dt,
        joint_step,
    )  # fmt: skip
    for b in range(1, nu.shape[0]):
        for k in range(3):
            given[b, k] = bodies.mass[b] * (nu[b, k] + dt * forces.gravity[k]) + joint_step.push[b, k]
        x, y, z = momentum_before(bodies.J, b, dt, nu[b, 3], nu[b, 4], nu[b, 5])
        given[b, 3] = x + joint_step.push[b, 3]
        given[b, 4] = y + joint_step.push[b, 4]
        given[b, 5] = z + joint_step.push[b, 5]
    add_lift_impulses(bodies, pose, dt, given)
    add_wrench_impulses(bodies, pose, inputs.wrench, dt, given)
    if motion.drag.shape[0] > 0:
        add_fluid_impulses(bodies, forces.fluid, kin, pose, nu, dt, motion.body, motion.drag, given)
    body_rows(nodes.joints, pose, rows.held)
    copy_to(q, rows.q)
    if mechanism.coupled.armature.shape[0] > 0:
        previous_pose(pose, nu, dt, joint_step.before)
        rates_before(mechanism.coupled, bodies, joint_step.before, nu, q, rows.R)
    weigh(mechanism.coupled, q, mechanism.coupled.weight[0])
    limit_gaps(nodes, bodies.tree, pose, q, rows.R, rows.gap, rows.limits)


@kernel
def find_edges(points, pairs, nl, edge):
    """Find the edges of contacts between bodies; False if the graph has too few or too many."""
    found = 0
    for k in range(pairs.seen.shape[0]):
        pairs.seen[k] = 0
    for c in range(points.found[0]):
        a, b = min(points.link1[c], points.link2[c]), max(points.link1[c], points.link2[c])
        edge[c] = -1
        if a == 0:
            continue
        low, high = 0, pairs.key.shape[0]
        while low < high:
            middle = (low + high) // 2
            if pairs.key[middle] < a * nl + b:
                low = middle + 1
            else:
                high = middle
        if low == pairs.key.shape[0] or pairs.key[low] != a * nl + b:
            return False
        edge[c] = pairs.edge[low]
        if pairs.seen[low] == 0:
            pairs.seen[low] = 1
            found += 1
    return found == pairs.key.shape[0]


@kernel
def lands(touch, memory):
    """Whether a contact that is new or carried no force closes at the current velocities."""
    size, at = memory.name.shape[0], 0
    for c in range(touch.points.found[0]):
        if touch.u[c, 0] >= 0.0:
            continue
        bears = False
        for _ in range(size):  # start at the last match: the order is the same
            at = at if at < size and memory.name[at] != 0 else 0
            at += 1
            if memory.name[at - 1] == touch.points.name[c] + 1:
                bears = memory.cones.gamma[at - 1] > memory.cones.s[at - 1]
                break
        if not bears:
            return True
    return False


@kernel
def start(mechanism, motion, rows, touch, memory, warm, dt):
    """Set slacks and multipliers strictly inside at the current ν⁺; call ``move_to`` before."""
    points, cones, D, nodes = touch.points, touch.cones, touch.D, mechanism.nodes
    warm = warm and not lands(touch, memory)
    level = WARM if warm else COLD
    for i in range(nodes.limit_joint.shape[0]):
        m = mechanism.first[nodes.limit_node[i]] + nodes.limit_place[i]
        motion.slack[i] = max(rows.gap[i], level**0.5)
        motion.lam[m] = max(motion.lam[m] if warm else 0.0, dt * level / motion.slack[i])
    start_rubbing(motion.rub, warm, level)
    at, size = 0, 0
    while size < memory.name.shape[0] and memory.name[size] != 0:
        size += 1
    for c in range(points.found[0]):
        known, friction, gap = False, points.friction[c], touch.u[c, 0]
        if warm:
            for _ in range(size):
                at = at if at < size else 0
                at += 1
                if memory.name[at - 1] == points.name[c] + 1:
                    known = True
                    break
        if known:
            copy_cone(memory.cones, at - 1, cones, c)
            cones.s[c] = max(gap, 0.0)
            if D.shape[0] > 0:
                pyramid.lift(cones, D, c, friction, level)
            else:
                circular.lift(cones, D, c, friction, level)
        elif D.shape[0] > 0:
            pyramid.start(cones, D, c, friction, gap, level)
        else:
            circular.start(cones, D, c, friction, gap, level)
        start_spins(touch.spin, c, level)


@kernel
def pull(points, given, dt):
    """given (nl, 6) += the impulses of adhesion, −a·dt along the normals of the contacts."""
    for c in range(points.found[0]):
        impulse = -dt * points.adhesion[c]
        if impulse != 0.0:
            for k in range(6):
                given[points.link1[c], k] += points.rows1[c, 0, k] * impulse
                given[points.link2[c], k] += points.rows2[c, 0, k] * impulse


@kernel
def solve_contacts(mechanism, motion, rows, joint_step, touch, linear, kept, memory, before, settings, warm, report):
    """Run the interior-point method from the last step's multipliers and, if that fails, from a cold start."""
    for b in range(motion.nu.shape[0]):
        copy_to(motion.nu[b], before.nu[b])
    copy_to(motion.lam, before.lam)
    copy_rubbing(motion.rub, before.rub)
    copy_pose(motion.pose, before.pose)
    pull(touch.points, motion.given, settings.dt)
    bound_recovery(mechanism, motion, rows, touch, settings)
    status, spent = SPINNING, 0.0
    for attempt in range(2 if warm else 1):
        if attempt > 0 or not warm:
            for b in range(motion.nu.shape[0]):
                copy_to(before.nu[b], motion.nu[b])
            for m in range(motion.lam.shape[0]):
                motion.lam[m] = 0.0
        move_to(mechanism, motion, rows, touch, settings.dt)
        start(mechanism, motion, rows, touch, memory, warm and attempt == 0, settings.dt)
        status = solve_step(mechanism, motion, rows, joint_step, touch, linear, kept, settings, report)
        spent += report[ITERATIONS_AT]
        if status == CONVERGED:
            break
    report[ITERATIONS_AT] = spent
    return status


@kernel
def fastest(nu):
    """The largest |ν|."""
    most = 0.0
    for b in range(1, nu.shape[0]):
        for k in range(6):
            most = max(most, abs(nu[b, k]))
    return most


@kernel
def store(touch, contacts, memory):
    """Store the forces and multipliers of the contacts by id."""
    n = touch.points.found[0]
    for c in range(memory.name.shape[0]):
        memory.name[c] = touch.points.name[c] + 1 if c < n else 0
    for c in range(n):
        f0, f1, f2 = contact_force(touch, c)
        f0 -= touch.points.adhesion[c]
        memory.force[c, 0], memory.force[c, 1], memory.force[c, 2] = f0, f1, f2
        contacts.force[c, 0], contacts.force[c, 1], contacts.force[c, 2] = f0, f1, f2
        contacts.torque[c, 0], contacts.torque[c, 1], contacts.torque[c, 2] = spin_torques(touch.spin, c)
        copy_cone(touch.cones, c, memory.cones, c)


@kernel
def finish(mechanism, motion, rows, joint_step, touch, contacts, memory, acceleration, q, v, dt):
    """z ← z⁺, and write the state in joint coordinates."""
    copy_pose(motion.after, motion.pose)
    for d in range(v.shape[0]):
        acceleration[d] = -v[d] / dt
    to_joint_state(mechanism.bodies, motion.pose, motion.nu, rows.q, joint_step.rates, rows.R, q, v)
    for d in range(v.shape[0]):
        acceleration[d] += v[d] / dt
    store(touch, contacts, memory)


@kernel
def advance(
    mechanism, motion, rows, joint_step, touch, linear, kept, memory, before, pairs, forces, search, inputs, kin,
    contacts, settings, margin, reach, cell, warm, acceleration, known, q, v, report, n,
):  # fmt: skip
    """Up to n steps; returns (number of steps, reason for returning). An unfinished step has changed scratch only."""
    for k in range(n):
        place_links(mechanism.bodies, motion.pose, motion.nu, kin)
        begin(mechanism, motion, rows, joint_step, forces, inputs, kin, q, settings.dt)
        if not find_contacts(search, kin, margin + reach * fastest_point(kin, forces.radius), cell, contacts):
            return k, PAIRS
        if contacts.found[0] > touch.edge.shape[0]:
            return k, ROOM
        place_points(contacts, search.geometry.shapes, True, motion.pose, touch.points)
        place_spins(contacts, motion.pose, touch.points, touch.spin)
        if not find_edges(touch.points, pairs, motion.nu.shape[0], touch.edge):
            return k, GRAPH
        status = solve_contacts(
            mechanism, motion, rows, joint_step, touch, linear, kept, memory, before, settings, warm, report
        )
        if status != CONVERGED or not fastest(motion.nu) <= FASTEST:
            return k, UNSOLVED
        finish(mechanism, motion, rows, joint_step, touch, contacts, memory, acceleration, q, v, settings.dt)
        copy_to(q, known.q)
        copy_to(v, known.v)
    return n, DONE


@kernel
def advance_held(held, n):
    """``advance`` with all arguments but n at hand."""
    return advance(*restored(held), n)  # type: ignore[call-arg]
