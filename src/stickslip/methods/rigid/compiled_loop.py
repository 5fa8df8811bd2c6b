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
from stickslip.collision.convex.find import Search, find_contacts
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


@kernel
def begin_step(bodies, inputs, kin, mass, motion, space, options, q, v):
    """Compute kinematics and the velocities without contacts; returns the margin of the contact search [m]."""
    copy_to(q, motion.q)
    copy_to(v, motion.velocity)
    begin(
        bodies.tree, bodies.support, bodies.inertia, bodies.passive, bodies.actuators, inputs, q, v, options.dt, kin,
        mass, motion.f_ext, motion.gains, motion.bias, motion.free,
    )  # fmt: skip
    margin = options.margin
    if options.reach > 0.0:
        margin += options.reach * fastest_point(kin, bodies.radius)
    space.report[MARGIN] = margin
    return margin


@kernel
def end_step(bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v):
    """Solve for the impulses and move the state; returns DONE, or why nothing was changed but scratch."""
    reason = solve_contacts(bodies, kin, mass.L, motion, limits, contacts, memory, space, blocks, plan, chain, options)
    if reason != DONE:
        return reason
    dt, new, rows = options.dt, space.change, int(space.report[CONTACTS])
    respond(bodies.support, mass.L, rows, space)
    for d in range(v.shape[0]):
        new[d] += motion.free[d]
        if not abs(new[d]) <= FASTEST:  # "not ≤" is also true of NaN
            return FAST
    count_unconverged(space.report)
    store(memory, space.ids, rows, space.p)
    write_forces(space.p, dt, contacts.found[0], contacts.force)
    for d in range(v.shape[0]):
        motion.acceleration[d] = (new[d] - v[d]) / dt
        v[d] = new[d]
    integrate(bodies.tree, q, v, dt, q)
    return DONE


@kernel
def advance(held, n):
    """Take up to n steps; returns (how many, why the stages have to take the next one), which touched scratch only."""
    (
        bodies, search, inputs, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v,
    ) = restored(held)  # fmt: skip
    for k in range(n):
        margin = begin_step(bodies, inputs, kin, mass, motion, space, options, q, v)
        if not find_contacts(search, kin, margin, options.cell, contacts):
            return k, FULL
        reason = end_step(
            bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v
        )
        if reason != DONE:
            return k, reason
    return n, DONE


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
def find_groups(search, kin, margin, cell, contacts, groups):
    """Fill ``contacts`` with single contacts, then subcontacts, and ``groups``. Returns DONE, FULL or ROOM."""
    if not find_contacts(search.others, kin, margin, cell, contacts):
        return FULL
    n = find_subcontacts(
        search.bodies, search.neighbours, search.pairs, kin, margin, True, search.placed, search.group, search.start,
        contacts,
    )  # fmt: skip
    if contacts.found[0] > contacts.pair.shape[0] or n >= search.start.shape[0]:
        return FULL
    if contacts.found[0] >= groups.shape[0]:
        return ROOM
    singles = search.start[0]
    for g in range(singles):
        groups[g] = g
    for g in range(n + 1):
        groups[singles + g] = search.start[g]
    return DONE


@kernel
def advance_groups(held, n):
    """``advance`` with groups of subcontacts."""
    (
        bodies, search, inputs, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v,
    ) = restored(held)  # fmt: skip
    for k in range(n):
        margin = begin_step(bodies, inputs, kin, mass, motion, space, options, q, v)
        reason = find_groups(search, kin, margin, options.cell, contacts, plan.groups)
        space.report[CONTACTS], space.report[UNKNOWNS] = contacts.found[0], 0.0
        if reason == DONE:
            reason = end_step(
                bodies, kin, mass, motion, limits, contacts, memory, space, blocks, plan, chain, options, q, v
            )
        if reason != DONE:
            return k, reason
    return n, DONE
