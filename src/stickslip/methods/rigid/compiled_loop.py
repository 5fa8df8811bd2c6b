"""The loop of compiled time steps: kinematics, contacts, their impulses, and the new state, n times without Python.

    v⁺ = v_free + M⁻¹·Gᵀ·p,    q⁺ = q ⊕ dt·v⁺

A step is that of ``time_stepping`` and calls the same kernels: kinematics and free velocity (``joint_coordinates``),
contacts (``collision.convex.find``, and ``collision.polyhedral`` for groups), impulses (``compiled_contacts``), and the
last step's impulses as a start for the next (``impulse_memory``). A step that cannot be taken changes nothing but
scratch, and the loop says why (``compiled_arrays.REASONS``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.convex.find import Search, find_contacts, find_standing
from stickslip.collision.convex.moving_surfaces import move_surfaces
from stickslip.collision.convex.polyhedron import Neighbours, Polyhedra
from stickslip.collision.polyhedral.placed_pairs import Group, Placed, PolyhedronPairs
from stickslip.collision.polyhedral.subcontacts import find_subcontacts
from stickslip.collision.reach import fastest_point
from stickslip.dynamics.configuration import integrate
from stickslip.math.linear import copy_to
from stickslip.methods.base import FASTEST
from stickslip.methods.handle import restored
from stickslip.methods.rigid.compiled_arrays import DONE, FAST, FULL, ROOM
from stickslip.methods.rigid.compiled_contacts import respond, solve_contacts
from stickslip.methods.rigid.compiled_problem import CONTACTS, MARGIN, UNKNOWNS, count_unconverged
from stickslip.methods.rigid.coordinates.joint_coordinates import begin
from stickslip.methods.rigid.impulse_memory import store, write_forces


class GroupSearch(NamedTuple):
    """The arrays of a ``PegDetector``: single contacts by ``others``, then groups of subcontacts."""

    others: Search
    bodies: Polyhedra
    neighbours: Neighbours
    pairs: PolyhedronPairs
    placed: Placed
    group: Group
    start: np.ndarray


@kernel
def begin_step(bodies, inputs, kin, mass, motion, options, q, v):
    """Compute kinematics and the velocities without contacts."""
    copy_to(q, motion.q)
    copy_to(v, motion.velocity)
    begin(
        bodies.tree, bodies.support, bodies.inertia, bodies.passive, bodies.actuators, bodies.fluid, inputs, q, v,
        options.dt, kin, mass, motion.f_ext, motion.gains, motion.bias, motion.ahead.lone,
        motion.free,
    )  # fmt: skip


@kernel
def margin_of(bodies, kin, space, options):
    """The margin of the contact search [m], which is kept in the report."""
    margin = options.margin
    if options.reach > 0.0:
        margin += options.reach * fastest_point(kin, bodies.radius)
    space.report[MARGIN] = margin
    return margin


@kernel
def find_singles(search, bodies, kin, contacts, space, options):
    """Fill ``contacts``; returns DONE or FULL."""
    margin = margin_of(bodies, kin, space, options)
    return DONE if find_contacts(search, kin, margin, options.cell, contacts) else FULL


@kernel
def find_groups(search, bodies, kin, contacts, space, options, groups):
    """Fill ``contacts`` with single contacts, then subcontacts, and ``groups``. Returns DONE, FULL or ROOM."""
    margin = margin_of(bodies, kin, space, options)
    if not find_standing(search.others, kin, margin, options.cell, contacts):
        return FULL
    n = find_subcontacts(
        search.bodies, search.neighbours, search.pairs, kin, margin, True, search.placed, search.group, search.start,
        contacts,
    )  # fmt: skip
    space.report[CONTACTS], space.report[UNKNOWNS] = contacts.found[0], 0.0
    if contacts.found[0] > contacts.pair.shape[0] or n >= search.start.shape[0]:
        return FULL
    if contacts.found[0] >= groups.shape[0]:
        return ROOM
    others = search.others
    if others.geometry.shapes.moved[0] != 0:
        move_surfaces(others.geometry.shapes, others.rules, others.placed, kin, others.material, contacts)
    singles = search.start[0]
    for g in range(singles):
        groups[g] = g
    for g in range(n + 1):
        groups[singles + g] = search.start[g]
    return DONE


@kernel
def is_fast(velocity):
    """Whether a velocity is not a number or too large."""
    for d in range(velocity.shape[0]):  # noqa: SIM110 - a kernel has no generators
        if not abs(velocity[d]) <= FASTEST:  # "not ≤" is also true of NaN
            return True
    return False


@kernel
def keep_impulses(memory, space, contacts, joint, dt):
    """Store the impulses of the step's contacts and of its joint rows (nb,), and write the contacts' forces; count the
    step if its problem was not solved."""
    count_unconverged(space.report)
    store(memory, space.ids, int(space.report[CONTACTS]), space.p)
    for r in range(joint.shape[0]):
        memory.joint[r] = joint[r]
    write_forces(space.p, dt, contacts.found[0], contacts)


@kernel
def take_velocity(new, dt, v, acceleration):
    """v ← new, and the mean acceleration of the step."""
    for d in range(v.shape[0]):
        acceleration[d] = (new[d] - v[d]) / dt
        v[d] = new[d]


@kernel
def end_step(bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v):
    """Solve for the impulses and move the state; returns DONE, or why nothing was changed but scratch."""
    reason = solve_contacts(bodies, kin, mass.L, motion, limits, contacts, memory, space, blocks, plan, chain, options)
    if reason != DONE:
        return reason
    dt, new = options.dt, space.change
    respond(bodies.support, mass.L, int(space.report[CONTACTS]), space)
    for d in range(v.shape[0]):
        new[d] += motion.free[d]
    if is_fast(new):
        return FAST
    keep_impulses(memory, space, contacts, space.p[:0], dt)
    take_velocity(new, dt, v, motion.acceleration)
    integrate(bodies.tree, q, v, dt, q)
    return DONE


@kernel
def advance(held, n):
    """Take up to n steps; returns (how many, why the stages have to take the next one), which touched scratch only."""
    (
        bodies, search, inputs, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v,
    ) = restored(held)  # fmt: skip
    for k in range(n):
        begin_step(bodies, inputs, kin, mass, motion, options, q, v)
        reason = find_singles(search, bodies, kin, contacts, space, options)
        if reason == DONE:
            reason = end_step(
                bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v
            )
        if reason != DONE:
            return k, reason
    return n, DONE


@kernel
def advance_groups(held, n):
    """``advance`` with groups of subcontacts."""
    (
        bodies, search, inputs, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v,
    ) = restored(held)  # fmt: skip
    for k in range(n):
        begin_step(bodies, inputs, kin, mass, motion, options, q, v)
        reason = find_groups(search, bodies, kin, contacts, space, options, plan.groups)
        if reason == DONE:
            reason = end_step(
                bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v
            )
        if reason != DONE:
            return k, reason
    return n, DONE
