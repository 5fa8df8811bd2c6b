"""The step of ``expo/paper``: Hammoud et al.'s algorithm as it is written.

One linearisation, at the beginning of the step; all contacts that touch are taken to stick; the averages of their
forces are integrated by the dense exponential of eq. (30), and each is projected on its friction cone; then anchors
follow by eqs. (21)–(28). ``step`` is the table of contents, with the sections of the paper.

Of ``expo`` it shares detection, dynamics, the contact space and the integration of the state. ``paper_preset`` says
which of its options it fixes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import FRICTION, entries, is_loop
from stickslip.constraints.joint_rows import FEEDBACK, hold_joints
from stickslip.dynamics.delassus import contact_jacobian, eliminate
from stickslip.math.linear import copy_to
from stickslip.methods.base import CONTACTS_FULL, OK, bounded
from stickslip.methods.expo.average_forces import project_on_cone
from stickslip.methods.expo.contact_space import find_islands
from stickslip.methods.expo.expo_step import add_contact_acceleration, free_motion, integrate_state, islands_fit
from stickslip.methods.expo.island import contact_dynamics
from stickslip.methods.expo.paper_anchors import AnchorSlip, copy_rows, make_anchor_slip, slip_anchors
from stickslip.methods.expo.viscoelastic_pade import dense_averages
from stickslip.methods.handle import restored
from stickslip.methods.soft.anchors import copy_anchors
from stickslip.methods.soft.viscoelastic import begin_joints, detect, end_joints, poses_and_velocities


class PaperWork(NamedTuple):
    """What the step needs besides the scratch of ``expo``."""

    slip: AnchorSlip
    touching: np.ndarray
    """(n,) scratch: the contacts of an island that touch, and its loop points."""


def make_paper_work(places: int) -> PaperWork:
    return PaperWork(make_anchor_slip(places), np.zeros(max(1, places), dtype=np.int64))


@kernel
def contact_rows(world, work, expo, contacts):
    """The Jacobians of all contacts, and what Υ is made of, with the factor of the mass matrix at hand."""
    support, L = world.support, expo.mass.L
    for c in range(entries(contacts)):
        contact_jacobian(support, work.kin, contacts.link1, contacts.link2, contacts.point, contacts.axes, c, expo.rows)
        eliminate(support, L, c, expo.rows)


@kernel
def linear_system(world, work, expo, paper, contacts, members):
    """A, b and x(0) of eq. (11) for the contacts of an island that touch, in scaled coordinates; returns their number.
    Those that do not touch have no force."""
    first, second, full, n = expo.averages.first, expo.averages.second, expo.island.full, 0
    for a in range(members.shape[0]):
        c = members[a]
        for r in range(3):
            first[c, r], second[c, r] = 0.0, 0.0
        if is_loop(contacts, c) or contacts.gap[c] < 0.0:
            paper.touching[n] = c
            n += 1
    touching = paper.touching[:n]
    contact_dynamics(
        world.support, expo.mass.L, expo.rows, work.kin, contacts, touching, expo.averages, expo.island
    )  # fmt: skip
    for a in range(n):
        for r in range(2):
            full[1, 3 * a + 1 + r] -= expo.island.root[3 * a + 1 + r] * paper.slip.rate[touching[a], r]  # Δṗ = ṗ − ṗ₀
    return n


@kernel
def projected_averages(expo, paper, contacts, n, matmuls, tolerance, dt):
    """λ̄ (23) and λ̿ (25) of the n contacts of ``linear_system``, each projected on its cone, eqs. (24) and (26)."""
    island, first, second = expo.island, expo.averages.first, expo.averages.second
    y, w, c, beta = island.full[0], island.full[1], island.full[2], island.full[3]
    dense_averages(island.W, 3 * n, beta, dt, matmuls, tolerance, island.pade, y, w, c)
    for a in range(n):
        k = paper.touching[a]
        mu = contacts.material[k, FRICTION]
        for r in range(3):
            root = island.root[3 * a + r]
            first[k, r] = -root * y[3 * a + r] / dt
            second[k, r] = -root * w[3 * a + r] * 2.0 / (dt * dt)
        if not is_loop(contacts, k):
            project_on_cone(first, k, mu)
            project_on_cone(second, k, mu)


@kernel
def accelerate_from_start(world, work, expo, paper, joints, contacts, inputs, settings, dt, q, v):
    """``work.acceleration`` under λ̄, eq. (24), and ``joints.mean`` under λ̿, eq. (26), linearised at the present
    state."""
    islands = expo.islands
    free_motion(world, work, expo, joints, contacts, inputs, 1, dt, q, v)
    contact_rows(world, work, expo, contacts)
    for i in range(find_islands(world.support, contacts, islands)):
        members = islands.order[islands.start[i] : islands.start[i + 1]]
        n = linear_system(world, work, expo, paper, contacts, members)
        if n > 0:
            projected_averages(expo, paper, contacts, n, settings.matmuls, settings.tolerance, dt)
    nc = entries(contacts)
    add_contact_acceleration(world, expo, nc, expo.averages.first, joints.free, work.acceleration)
    add_contact_acceleration(world, expo, nc, expo.averages.second, joints.free, joints.mean)
    if world.rows.bound.shape[0] > 0:
        hold_joints(world.support, expo.mass.L, world.rows, work.kin, dt, FEEDBACK, v, work.acceleration)
        for d in range(v.shape[0]):
            joints.mean[d] += world.rows.change[d] / dt


@kernel
def step(world, work, expo, paper, joints, contacts, anchors, inputs, settings, dt, q, v):
    """One step. What the paper does at the end of a step, kinematics, detection and anchors, is done at the beginning
    of the next, which is the same."""
    slip = paper.slip
    poses_and_velocities(world, work, q, v)
    status = detect(world, work, contacts)
    if status == OK and not islands_fit(world.support, expo.islands, expo.island.y.shape[0], contacts):
        status = CONTACTS_FULL
    if status != OK:
        return status
    copy_anchors(anchors, expo.kept)
    copy_rows(slip.velocity, slip.kept)
    copy_to(world.rows.force, world.rows.kept)
    slip_anchors(work.kin, contacts, anchors, slip, joints.elapsed[0])  # Sec. IV-B
    accelerate_from_start(world, work, expo, paper, joints, contacts, inputs, settings, dt, q, v)  # Sec. III, IV-A, V
    status = bounded(work.acceleration, v, dt)
    if status != OK:
        copy_anchors(expo.kept, anchors)
        copy_rows(slip.kept, slip.velocity)
        copy_to(world.rows.kept, world.rows.force)
        return status
    integrate_state(world, work.acceleration, joints, dt, q, v)  # eqs. (19), (20), (24), (26)
    joints.elapsed[0] = dt
    end_joints(world, dt)
    return OK


@kernel
def advance(world, work, expo, paper, joints, contacts, anchors, inputs, settings, dt, q, v, n):
    """n steps without Python in between; returns (status, steps done)."""
    begin_joints(world, q)
    for k in range(n):
        status = step(world, work, expo, paper, joints, contacts, anchors, inputs, settings, dt, q, v)
        if status != OK:
            return status, k
    return OK, n


@kernel
def advance_held(held, n):
    """``advance`` with all arguments but n at hand."""
    return advance(*restored(held), n)  # type: ignore[call-arg]
