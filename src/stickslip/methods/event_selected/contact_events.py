"""Spring-damper scenes as event-selected systems: the field, guards and memory of ``event_selected``.

    x = (q, v, w),   f = (q̇(q, v), M⁻¹(τ − D·v − b + Jᵀλ), ṗ_t),   h₂ₖ = −gapₖ (touchdown),   h₂ₖ₊₁ = gapₖ (lift-off)

for every pair k that can touch; w is the slip of rolling contacts since the last accepted point, two numbers for every
pair that can roll. A contact k presses while guard 2k is in the mask of crossed guards, whatever its gap. So the force
at touchdown and lift-off belongs to one side of the guard, even slightly before or behind the surface. Unit quaternions
are integrated as four numbers, q̇ = ½·q∘(0, ω), and normalised at every accepted point. Friction anchors are memory:
Runge–Kutta stages use copies, and accepted points move them. Cost of an evaluation: linear in links and pairs. All
kernels take a handle of a ContactSystem (see ``handle``).

Differs from the paper in: friction, and contact forces that end before lift-off because damping would pull, change the
field where there is no guard; the step-size control resolves these kinks.
"""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import Contacts, contact_velocities
from stickslip.collision.loop_points import append_loops
from stickslip.collision.soft_pairs.detect import find_contacts
from stickslip.collision.soft_pairs.pairs import Pairs, find_pairs, total
from stickslip.dynamics.kinematics import spatial_inertias
from stickslip.methods.base import Inputs, Work, World
from stickslip.methods.event_selected.handle import restorer
from stickslip.methods.explicit.rk4 import RK4, copy_anchors
from stickslip.methods.soft.explicit import accelerate
from stickslip.methods.soft.loop_springs import loop_forces
from stickslip.methods.soft.spring_damper import Anchors, make_anchors, press
from stickslip.methods.soft.viscoelastic import poses_and_velocities
from stickslip.model.arrays import BALL, FREE
from stickslip.model.model import Model
from stickslip.model.scene import Scene


class ContactSystem(NamedTuple):
    """A scene as the kernels of an event-selected system see it."""

    world: World
    work: Work
    contacts: Contacts
    """Every pair, near or far, at the state of the last call of ``look``."""
    anchors: Anchors
    """Anchors at the last accepted point."""
    trial: Anchors
    """Scratch anchors of the stages."""
    inputs: Inputs
    armature: np.ndarray
    """(nv,) added to the diagonal of M."""
    q: np.ndarray
    """(nq,) configuration of the last call of ``look``, with unit quaternions."""
    seen: np.ndarray
    """(nq + nv,) state of that call; its first entry is NaN if there is none."""
    slot: np.ndarray
    """(pairs,) index in x of the slip w of a pair; −1 if it cannot roll."""


def slots(model: Model, pairs: Pairs) -> np.ndarray:
    """(pairs,) ``ContactSystem.slot``: spheres roll, and so do contact points of boxes on fixed shapes."""
    rolls = np.concatenate([pairs.planes.radius > 0.0, np.ones(len(pairs.boxes.radius) + len(pairs.spheres.radius1))])
    return np.where(rolls, model.nq + model.nv + 2 * (np.cumsum(rolls) - 1), -1).astype(np.int64)


def contact_system(
    model: Model, world: World, work: Work, contacts: Contacts, anchors: Anchors, inputs: Inputs
) -> ContactSystem:
    q, seen, n = np.zeros(model.nq), np.full(model.nq + model.nv, nan), total(world.pairs)
    armature, slot = model.inertia.armature, slots(model, world.pairs)
    return ContactSystem(world, work, contacts, anchors, make_anchors(n), inputs, armature, q, seen, slot)


def smallest() -> ContactSystem:
    """The system of an empty scene, for the types of its arrays."""
    model = Scene().compile()
    stepper = RK4(model, 1.0, "none", find_pairs(model)[0])
    inputs = Inputs(np.zeros(0), np.zeros(0), np.zeros((1, 6)))
    return contact_system(model, stepper.world, stepper.work, stepper.contacts.arrays, stepper.anchors, inputs)


restore = restorer(smallest)


@kernel
def forget(handle):
    """Discard the state of ``look``, because something else has used the kinematics."""
    system = restore(handle)
    for i in range(min(1, system.seen.shape[0])):
        system.seen[i] = nan


@kernel
def unit_quaternions(tree, q):
    for j in range(tree.joint_type.shape[0]):
        kind, i = tree.joint_type[j], tree.joint_q[j]
        if kind == FREE:
            i += 3
        if kind == FREE or kind == BALL:
            s = 1.0 / sqrt(q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3])
            for k in range(4):
                q[i + k] *= s


@kernel
def rates_of_coordinates(tree, q, v, out):
    """out (nq,) = q̇: the velocities, and ½·q∘(0, ω) for unit quaternions."""
    for j in range(tree.joint_type.shape[0]):
        kind, i, d = tree.joint_type[j], tree.joint_q[j], tree.joint_v[j]
        if kind == FREE:
            for k in range(3):
                out[i + k] = v[d + k]
            i += 3
            d += 3
        if kind == FREE or kind == BALL:
            w, x, y, z = 0.5 * q[i], 0.5 * q[i + 1], 0.5 * q[i + 2], 0.5 * q[i + 3]
            out[i] = -x * v[d] - y * v[d + 1] - z * v[d + 2]
            out[i + 1] = w * v[d] + y * v[d + 2] - z * v[d + 1]
            out[i + 2] = w * v[d + 1] + z * v[d] - x * v[d + 2]
            out[i + 3] = w * v[d + 2] + x * v[d + 1] - y * v[d]
        else:
            out[i] = v[d]


@kernel(inline=False)
def look(handle, x):
    """Compute kinematics, gaps and contact velocities of all pairs at x, unless x is that of the last call."""
    system = restore(handle)
    nq, n, known = system.q.shape[0], system.seen.shape[0], True
    for i in range(n):
        known = known and system.seen[i] == x[i]
        system.seen[i] = x[i]
    if known:
        return
    for i in range(nq):
        system.q[i] = x[i]
    unit_quaternions(system.world.tree, system.q)
    poses_and_velocities(system.world, system.work, system.q, x[nq:n])
    find_contacts(system.world.pairs, system.work.kin, inf, system.contacts)
    append_loops(system.world.loops, system.work.kin, system.contacts)
    contact_velocities(system.work.kin, system.contacts)


@kernel(inline=False)
def push(handle, x, crossed, lasting):
    """Forces of loops, and of contacts that press by the mask, at the state of ``look``; ``lasting`` moves anchors."""
    system = restore(handle)
    contacts, anchors = system.contacts, system.trial
    copy_anchors(system.anchors, anchors)
    for c in range(contacts.found[0]):
        k = contacts.pair[c]
        s = system.slot[k]
        if crossed[2 * k]:
            w1, w2 = (x[s], x[s + 1]) if s >= 0 else (0.0, 0.0)
            press(system.work.kin, contacts, anchors, c, k, w1, w2)
        else:
            anchors.active[k] = 0
            for i in range(3):
                contacts.force[c, i] = 0.0
                contacts.stretch[c, i] = 0.0
    loop_forces(contacts)
    if lasting:
        copy_anchors(anchors, system.anchors)


@kernel(inline=False)
def field(handle, elapsed, x, crossed, dx):
    """dx = f(x) with the contacts that press by the mask ``crossed`` (2·pairs,)."""
    look(handle, x)
    push(handle, x, crossed, False)
    system = restore(handle)
    nq, n, work, contacts = system.q.shape[0], system.seen.shape[0], system.work, system.contacts
    spatial_inertias(system.world.inertia, work.kin)
    accelerate(system.world, work, contacts, system.inputs, system.armature, system.q, x[nq:n])
    rates_of_coordinates(system.world.tree, system.q, x[nq:n], dx)
    for d in range(work.acceleration.shape[0]):
        dx[nq + d] = work.acceleration[d]
    for c in range(contacts.found[0]):
        k = contacts.pair[c]
        s = system.slot[k]
        if s >= 0:
            dx[s] = contacts.velocity[c, 1] if crossed[2 * k] else 0.0
            dx[s + 1] = contacts.velocity[c, 2] if crossed[2 * k] else 0.0


@kernel(inline=False)
def guards(handle, x, values):
    """values (2·pairs,) = −gap and gap of every pair."""
    look(handle, x)
    contacts = restore(handle).contacts
    for c in range(contacts.found[0]):
        k = contacts.pair[c]
        values[2 * k], values[2 * k + 1] = -contacts.gap[c], contacts.gap[c]


@kernel(inline=False)
def slopes(handle, x, dx, rates):
    """rates (2·pairs,) = Dh·f of the guards: ± the normal velocity at x."""
    look(handle, x)
    contacts = restore(handle).contacts
    for c in range(contacts.found[0]):
        k = contacts.pair[c]
        rates[2 * k], rates[2 * k + 1] = -contacts.velocity[c, 0], contacts.velocity[c, 0]


@kernel(inline=False)
def arrive(handle, elapsed, x, crossed):
    """At an accepted point: normalise quaternions; create, move and drop anchors; reset slip."""
    system = restore(handle)
    unit_quaternions(system.world.tree, x)
    look(handle, x)
    push(handle, x, crossed, True)
    for i in range(system.seen.shape[0], x.shape[0]):
        x[i] = 0.0


@kernel(inline=False)
def touching(handle, x, crossed):
    """The mask of a new state: contacts press if their gap is not positive."""
    look(handle, x)
    contacts = restore(handle).contacts
    for c in range(contacts.found[0]):
        k = contacts.pair[c]
        crossed[2 * k] = contacts.gap[c] <= 0.0
        crossed[2 * k + 1] = not crossed[2 * k]
