"""Spring-damper scenes as event-selected systems: the field, guards and memory of ``event_selected``.

    x = (q, v, w),   f = (q̇(q, v), M⁻¹(τ − D·v − b + Jᵀλ), ṗ_t),   h₄ₖ = −gapₖ (touchdown),   h₄ₖ₊₁ = gapₖ (lift-off),
    h₄ₖ₊₂, h₄ₖ₊₃: contact k begins to slip, to stick (``stick_slip``)

A contact that is nearer than a margin has a place k, with four guards and its slip w since the last accepted point, two
numbers. The margin is what bodies can approach each other in the longest step and a little more. Places are given and
freed at accepted points (``assign``). If the features of a pressing contact are replaced by others of the same two
shapes, the new contact takes over its place. A contact presses while guard 4k is in the mask of crossed guards,
whatever its gap. So the force at touchdown and lift-off belongs to one side of the guard, even slightly before or
behind the surface. Unit quaternions are integrated as four numbers, q̇ = ½·q∘(0, ω), and normalised at every accepted
point. Friction anchors are memory: Runge–Kutta stages use copies, and accepted points move them. Cost of an evaluation:
linear in links and in places, and one contact search. All kernels take a handle of a ContactSystem (see ``handle``).

Differs from the paper in: contact forces that end before lift-off because damping would pull change the field where
there is no guard, and so do torsional and rolling friction; the step-size control resolves these kinks, and those where
contacts replace each other.
A contact that is found in penetration, because it was hidden before or appears with another face, presses at once.
"""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contact_ids import find_id
from stickslip.collision.contacts import ADHESION, FRICTION, Contacts, contact_velocities
from stickslip.collision.convex.find import find_contacts
from stickslip.collision.convex.finish import FEATURES, TOUCH
from stickslip.collision.loop_points import append_loops
from stickslip.collision.reach import fastest_point
from stickslip.constraints.joint_rows import couple_accelerations, factor_mass, smooth_friction
from stickslip.dynamics.jacobian import to_link
from stickslip.dynamics.kinematics import spatial_inertias
from stickslip.ess.system import difference
from stickslip.methods.base import Inputs, Work
from stickslip.methods.event_selected.stick_slip import (
    EACH,
    LIFTOFF,
    SLIP,
    STICK,
    TOUCHDOWN,
    forget_mode,
    has_direction,
    is_slipping,
    press_and_decide,
    press_by_mode,
    slip_along,
    until_slip,
    until_stick,
)
from stickslip.methods.explicit.rk4 import RK4
from stickslip.methods.handle import restorer
from stickslip.methods.soft.anchors import Anchors, copy_anchors, grown_anchors, make_anchors, slips_over
from stickslip.methods.soft.explicit import accelerate
from stickslip.methods.soft.loop_springs import loop_forces
from stickslip.methods.soft.restitution import choose_damping
from stickslip.methods.soft.spin_friction import resists_spin, spin_friction
from stickslip.methods.soft.spring_damper import hold, only_pull
from stickslip.methods.soft.viscoelastic import SoftWorld, poses_and_velocities
from stickslip.model.arrays import BALL, FREE
from stickslip.model.model import Model
from stickslip.model.scene import Scene

SEARCH, PLACES = 1, 2
"""What is full."""
PROJECTED = 1e-7
"""Gap or depth [m], besides eps, that a projection may leave at a contact that has just touched or parted."""


class Places(NamedTuple):
    """The places of near contacts, n in all, and how far is near."""

    guarded: np.ndarray
    """(n,) id of the contact in each place, plus one; 0 if the place is free."""
    at: np.ndarray
    """(n,) scratch: the place of each contact of the last call of ``look``, or −1."""
    seen: np.ndarray
    """(n,) scratch: 1 if the contact of this place was found."""
    margin: np.ndarray
    """(1,) gap below which contacts have places [m]; −1 where the next call of ``look`` chooses it."""
    reach: np.ndarray
    """(2,) margin at rest [m], and the factor of the largest speed in it [s]."""
    radius: np.ndarray
    """(nl,) radius of each link about its origin [m]."""
    direction: np.ndarray
    """(n, 3) direction of each contact that slips at the last accepted point, world axes; 0 if it does not slip."""
    full: np.ndarray
    """(1,) SEARCH or PLACES if a buffer of the contact search, or the places, were too few since this was last set to
    0. Until then no contacts are looked for, so that the search still says how many there would be."""


def make_places(contacts: int, reach: np.ndarray, radius: np.ndarray) -> Places:
    guarded, at, seen = np.zeros((3, contacts), dtype=np.int64)
    direction, full = np.zeros((contacts, 3)), np.zeros(1, dtype=np.int64)
    return Places(guarded, at, seen, np.array([reach[0]]), reach, radius, direction, full)


class ContactSystem(NamedTuple):
    """A scene as the kernels of an event-selected system see it."""

    world: SoftWorld
    work: Work
    contacts: Contacts
    """The contacts within the margin at the state of the last call of ``look``."""
    places: Places
    anchors: Anchors
    """Anchors at the last accepted point, by places."""
    trial: Anchors
    """Scratch anchors of the stages."""
    inputs: Inputs
    armature: np.ndarray
    """(nv,) added to the diagonal of M."""
    q: np.ndarray
    """(nq,) configuration of the last call of ``look``, with unit quaternions."""
    seen: np.ndarray
    """(nq + nv,) state of that call; its first entry is NaN if there is none."""
    ahead: np.ndarray
    """(nq + nv + 2·places,) scratch: a state slightly later."""
    values: np.ndarray
    """(4·places,) scratch: guards there."""


def contact_system(
    model: Model, world: SoftWorld, work: Work, contacts: Contacts, places: Places, anchors: Anchors, inputs: Inputs
) -> ContactSystem:
    n, size = len(places.guarded), model.nq + model.nv
    q, seen, trial = np.zeros(model.nq), np.full(size, nan), grown_anchors(anchors, len(anchors.pair))
    scratch = np.zeros(size + 2 * n), np.zeros(EACH * n)
    return ContactSystem(
        world, work, contacts, places, anchors, trial, inputs, model.inertia.armature, q, seen, *scratch
    )


def smallest() -> ContactSystem:
    """The system of an empty scene, for the types of its arrays."""
    model = Scene().compile()
    stepper = RK4(model, 1.0, "none")
    inputs = Inputs(np.zeros(0), np.zeros(0), np.zeros((1, 6)))
    places, anchors = make_places(1, np.zeros(2), np.zeros(1)), make_anchors(1)
    return contact_system(model, stepper.world, stepper.work, stepper.contacts.arrays, places, anchors, inputs)


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
    """Compute kinematics, contacts within the margin, their places and velocities at x, unless x is that of the last
    call."""
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
    contacts, places, kin = system.contacts, system.places, system.work.kin
    if places.margin[0] < 0.0:
        places.margin[0] = places.reach[0] + places.reach[1] * fastest_point(kin, places.radius)
    search, loops = system.world.search, system.world.loops
    if places.full[0] == 0:
        if not find_contacts(search, kin, places.margin[0], system.world.cell[0], contacts):
            enough = search.candidates.total[0] <= search.candidates.pair.shape[0]
            enough = enough and search.found.total[0] <= search.found.gap.shape[0]
            places.full[0] = PLACES if enough else SEARCH
        elif not append_loops(loops, kin, contacts):
            places.full[0] = PLACES
    if places.full[0] != 0:
        contacts.found[0] = 0
        append_loops(loops, kin, contacts)
    world = system.world
    if world.bounces[0] != 0:
        choose_damping(world.tree, world.support, world.inertia, world.fluid, world.rows, kin, contacts)
    contact_velocities(kin, contacts)
    match_places(kin, contacts, places, system.anchors)


@kernel
def match_places(kin, contacts, places, anchors):
    """Find the places of all contacts: by their ids, or those of pressing contacts that they replace."""
    n, last, fresh = places.guarded.shape[0], 0, 0
    for k in range(n):
        places.seen[k] = 0
    for c in range(contacts.found[0]):
        k = find_id(places.guarded, n, contacts.pair[c] + 1, last)
        places.at[c] = k
        if k < 0:
            fresh += 1
        else:
            places.seen[k], last = 1, k + 1
    for c in range(contacts.found[0] if fresh > 0 else 0):
        if places.at[c] < 0 and contacts.pair[c] >= FEATURES:
            best, shapes, a = inf, contacts.pair[c] // FEATURES, contacts.link1[c]
            x, y, z = to_link(kin, a, contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2])
            for k in range(n):
                if places.seen[k] == 0 and anchors.pair[k] != 0 and (anchors.pair[k] - 1) // FEATURES == shapes:
                    dx, dy, dz = anchors.point[k, 0] - x, anchors.point[k, 1] - y, anchors.point[k, 2] - z
                    if dx * dx + dy * dy + dz * dz < best:
                        best, places.at[c] = dx * dx + dy * dy + dz * dz, k
            if places.at[c] >= 0:
                places.seen[places.at[c]] = 1


@kernel
def begin_touch(places, contacts, crossed, c, k):
    """Contact c in place k presses if its gap is not positive; it will stick or slip by its force."""
    crossed[EACH * k + TOUCHDOWN] = contacts.gap[c] <= 0.0
    crossed[EACH * k + LIFTOFF] = not crossed[EACH * k + TOUCHDOWN]
    forget_mode(places, crossed, k)


@kernel
def assign(places, contacts, anchors, crossed, lasting):
    """Give places to the contacts that ``match_places`` found none for, and free those of contacts that are gone. Their
    anchors are dropped only if ``lasting``."""
    n, last = places.guarded.shape[0], 0
    for k in range(n):
        if places.seen[k] == 0:
            places.guarded[k] = 0
            crossed[EACH * k + TOUCHDOWN], crossed[EACH * k + LIFTOFF] = False, True
            forget_mode(places, crossed, k)
            if lasting:
                anchors.pair[k] = 0
    for c in range(contacts.found[0]):
        k = places.at[c]
        if k < 0:
            k = last
            while k < n and (places.guarded[k] != 0 or anchors.pair[k] != 0):
                k += 1
            if k == n:
                places.full[0] = PLACES
                continue
            places.at[c], places.seen[k], last = k, 1, k + 1
            begin_touch(places, contacts, crossed, c, k)
        places.guarded[k] = contacts.pair[c] + 1


@kernel(inline=False)
def push(handle, elapsed, x, crossed, lasting):
    """Forces of loops, and of contacts that press by the mask, at the state of ``look``; ``lasting`` moves anchors and
    decides whether new contacts stick or slip."""
    system = restore(handle)
    contacts, anchors, places, first = system.contacts, system.trial, system.places, system.seen.shape[0]
    kin = system.work.kin
    copy_anchors(system.anchors, anchors)
    for c in range(contacts.found[0]):
        k = places.at[c]
        if k >= 0 and crossed[EACH * k + TOUCHDOWN]:
            w1, w2 = x[first + 2 * k], x[first + 2 * k + 1]
            if lasting:
                press_and_decide(kin, contacts, places, anchors, c, k, w1, w2, elapsed, crossed)
            else:
                press_by_mode(kin, contacts, places, anchors, c, k, w1, w2, elapsed, crossed)
            if resists_spin(contacts, c):
                spin_friction(kin, contacts, anchors, c, k)
        else:  # adhesion begins with the touchdown, or at a distance
            only_pull(contacts, c, contacts.material[c, ADHESION] if contacts.gap[c] >= TOUCH else 0.0)
    loop_forces(contacts)
    if lasting:
        for k in range(places.guarded.shape[0]):
            if places.seen[k] == 0 or not crossed[EACH * k + TOUCHDOWN]:
                anchors.pair[k] = 0
                forget_mode(places, crossed, k)
        anchors.begun[0] = 1
        copy_anchors(anchors, system.anchors)


@kernel(inline=False)
def field(handle, elapsed, x, crossed, dx):
    """dx = f(x) with the contacts that press by the mask ``crossed`` (2·places,)."""
    look(handle, x)
    push(handle, elapsed, x, crossed, False)
    system = restore(handle)
    nq, n, work, contacts = system.q.shape[0], system.seen.shape[0], system.work, system.contacts
    spatial_inertias(system.world.inertia, work.kin)
    world = system.world
    smooth_friction(world.rows, work.kin, x[nq:n])
    accelerate(world, work, contacts, system.inputs, system.armature, 0.0, system.q, x[nq:n])
    if world.rows.stiffness.shape[0] > 0:
        factor_mass(world.tree, world.support, world.inertia, system.armature, world.fluid, 0.0, work.kin, world.rows)
        couple_accelerations(world.support, world.rows.mass.L, world.rows, work.kin, work.acceleration)
    rates_of_coordinates(system.world.tree, system.q, x[nq:n], dx)
    for d in range(work.acceleration.shape[0]):
        dx[nq + d] = work.acceleration[d]
    for i in range(n, x.shape[0]):
        dx[i] = 0.0
    for c in range(contacts.found[0]):
        k = system.places.at[c]
        if k >= 0 and crossed[EACH * k + TOUCHDOWN]:
            if is_slipping(crossed, k):
                dx[n + 2 * k] = slip_along(contacts, system.places, c, k)
            elif slips_over(contacts, system.anchors, c, k):
                dx[n + 2 * k], dx[n + 2 * k + 1] = contacts.velocity[c, 1], contacts.velocity[c, 2]


@kernel(inline=False)
def guards(handle, x, values):
    """values (4·places,): −gap and gap of every contact, and, while it presses, the guards of ``stick_slip``; minus the
    margin for places without one."""
    look(handle, x)
    system = restore(handle)
    contacts, places, anchors, kin = system.contacts, system.places, system.anchors, system.work.kin
    first, trial = system.seen.shape[0], system.trial
    for i in range(values.shape[0]):
        values[i] = -places.margin[0]
    copy_anchors(anchors, trial)
    for c in range(contacts.found[0]):
        k = places.at[c]
        if k < 0:
            continue
        i = EACH * k
        values[i + TOUCHDOWN], values[i + LIFTOFF] = -contacts.gap[c], contacts.gap[c]
        if anchors.pair[k] == 0 or contacts.material[c, FRICTION] == 0.0:
            continue
        if has_direction(places, k):
            values[i + STICK] = until_stick(kin, contacts, places, anchors, c, k, x[first + 2 * k])
        else:
            hold(kin, contacts, trial, c, k, x[first + 2 * k], x[first + 2 * k + 1], 0.0)
            values[i + SLIP] = until_slip(kin, contacts, trial, c, k)


@kernel(inline=False)
def slopes(handle, x, dx, rates):
    """rates (4·places,) = Dh·f of the guards: ± the normal velocity at x; of stick and slip, differences."""
    look(handle, x)
    system = restore(handle)
    contacts, places, rubs = system.contacts, system.places, False
    for i in range(rates.shape[0]):
        rates[i] = 0.0
    for c in range(contacts.found[0]):
        k = places.at[c]
        rubs = rubs or (k >= 0 and system.anchors.pair[k] != 0 and contacts.material[c, FRICTION] != 0.0)
    if rubs:
        later, ahead = difference(x, dx), system.ahead
        for i in range(x.shape[0]):
            ahead[i] = x[i] + later * dx[i]
        guards(handle, ahead, system.values)
        guards(handle, x, rates)
        for i in range(rates.shape[0]):
            rates[i] = (system.values[i] - rates[i]) / later
    for c in range(contacts.found[0]):
        k = places.at[c]
        if k >= 0:
            speed = contacts.velocity[c, 0]
            rates[EACH * k + TOUCHDOWN], rates[EACH * k + LIFTOFF] = -speed, speed


@kernel(inline=False)
def rearm(handle, flow, values):
    """After a crossing: the guards of stick and slip by the modes that begin there. ``values`` (4·places,) is scratch.
    They have no neighbourhood, so that they are located exactly."""
    guards(handle, flow.x, values)
    for i in range(values.shape[0]):
        if i % EACH == SLIP or i % EACH == STICK:
            flow.h[i], flow.level[i], flow.ready[i] = values[i], 0.0, values[i] < 0.0


@kernel(inline=False)
def arrive(handle, elapsed, x, crossed):
    """At an accepted point: normalise quaternions; give and free places; create, move and drop anchors; reset slip."""
    system = restore(handle)
    unit_quaternions(system.world.tree, x)
    forget(handle)
    system.places.margin[0] = -1.0
    look(handle, x)
    assign(system.places, system.contacts, system.anchors, crossed, True)
    push(handle, elapsed, x, crossed, True)
    for i in range(system.seen.shape[0], x.shape[0]):
        x[i] = 0.0


@kernel(inline=False)
def moved_between_steps(handle, eps, x, crossed):
    """At the beginning of a step: contacts that a mocap body has brought about or ended since the last one, at which no
    guard was crossed, press or not by their gaps. ``eps`` are the neighbourhoods of the guards [m]."""
    look(handle, x)
    system = restore(handle)
    contacts, places, found = system.contacts, system.places, False
    for c in range(contacts.found[0]):
        k = places.at[c]
        if k >= 0:
            gap, presses = contacts.gap[c], crossed[EACH * k + TOUCHDOWN]
            least = max(PROJECTED, eps[EACH * k + TOUCHDOWN])
            if (presses and gap > least) or (not presses and gap < -least):
                begin_touch(places, contacts, crossed, c, k)
                found = True
    if found:
        arrive(handle, 0.0, x, crossed)


@kernel(inline=False)
def touching(handle, x, crossed):
    """The mask of a new state: contacts press if their gap is not positive."""
    look(handle, x)
    system = restore(handle)
    contacts, places = system.contacts, system.places
    assign(places, contacts, system.anchors, crossed, False)
    for c in range(contacts.found[0]):
        k = places.at[c]
        if k >= 0:
            begin_touch(places, contacts, crossed, c, k)
