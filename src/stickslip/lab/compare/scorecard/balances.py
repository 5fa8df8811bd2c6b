"""Balances of energy and momentum: what a recording has at a time, less what was supplied until then.

    B(t) = T + V + U − ∫ τ_actuators·dq          U of joint springs, joint limits and contact springs
    Δp(t) = p(t) − p(0) − ∫ Σ f_contacts dt − m·g·t

Dampers, friction and impacts may lower B; nothing may raise it. External forces (``sim.inputs``) are not recorded, and
count as errors.
"""

from __future__ import annotations

from math import nan

import numpy as np

from stickslip.dynamics import Dynamics
from stickslip.lab.compare.scorecard.measurements import Measurements
from stickslip.model.arrays import FREE
from stickslip.simulation.energy_watch import limit_energy


def actuator_work(e: Measurements) -> np.ndarray:
    """(frames,) work since the start [J]: between two frames, the mean joint forces of the actuators times the distance
    (v·dt for ball and free joints)."""
    work = np.zeros(e.frames)
    if e.model.nu and e.frames > 1:
        dynamics, act = Dynamics(e.model), e.log.act
        # Controls are those of the step that ends at the frame.
        control = e.log.control[1 : e.frames]
        for i in range(e.frames - 1):
            first = dynamics.actuator_forces(e.q[i], e.v[i], control[i], act[i])[1]
            last = dynamics.actuator_forces(e.q[i + 1], e.v[i + 1], control[i], act[i + 1])[1]
            work[i + 1] = work[i] + 0.5 * (first + last) @ dynamics.difference(e.q[i], e.q[i + 1])
    return work


def energy_balance(e: Measurements) -> np.ndarray:
    """(frames,) B [J]; the energy of contact springs is included if the method records it."""
    springs = np.nan_to_num(e.log.contact_energy[: e.frames])
    return e.seen.energy.sum(1) + springs + limit_energy(e.model, e.q) - actuator_work(e)


def energy_gained(e: Measurements) -> float:
    balance = energy_balance(e)
    return float((balance - np.minimum.accumulate(balance)).max())


def energy_lost(e: Measurements) -> float:
    balance = energy_balance(e)
    return float(balance[0] - balance[-1])


def floating(e: Measurements) -> np.ndarray:
    """(nl,) whether only contacts and gravity act on a link's tree from outside.

    Its root has a free joint without spring, damper or armature, and no loop connects it to a tree that has not. In a
    medium nothing floats in this sense.
    """
    m = e.model
    free = np.zeros(m.nlink, dtype=bool)
    if len(m.medium.link):
        return free
    for b in range(1, m.nlink):
        root = int(m.tree.root[b])
        j, d = m.tree.joint_start[root], m.support.link_dof[root]
        alone = m.tree.joint_type[j] == FREE and m.joint_forces.stiffness[j] == 0.0
        free[b] = alone and not np.any(m.joint_forces.damping[d : d + 3]) and not np.any(m.inertia.armature[d : d + 3])
    held = True
    while held:  # a loop to a tree that does not float holds the whole tree
        held = False
        for loop in m.closed_loops:
            if free[loop.link1] != free[loop.link2]:
                free[np.isin(m.tree.root, [m.tree.root[loop.link1], m.tree.root[loop.link2]])] = False
                held = True
    return free


def momentum_error(e: Measurements) -> float:
    """Largest |Δp| of floating trees.

    A frame's forces may belong to the step before or after it. The sum is therefore taken both ways and with their
    mean, and the smallest error counts.
    """
    links = floating(e)
    if not links.any() or not e.every_step:
        return nan
    sign = links[e.contact("link2")].astype(float) - links[e.contact("link1")]
    force = np.stack([e.per_frame(sign * e.world_force[:, i]) for i in range(3)], axis=1)
    weight = e.model.inertia.mass[links].sum() * e.model.inertia.gravity
    change = e.seen.momentum[:, links].sum(1)
    change = change - change[0] - (e.time - e.time[0])[:, None] * weight
    span = np.diff(e.time)[:, None]
    errors = []
    for mean in (force[:-1], force[1:], 0.5 * (force[:-1] + force[1:])):
        impulse = np.concatenate([np.zeros((1, 3)), np.cumsum(span * mean, axis=0)])
        errors.append(np.linalg.norm(change - impulse, axis=1).max())
    return float(min(errors))
