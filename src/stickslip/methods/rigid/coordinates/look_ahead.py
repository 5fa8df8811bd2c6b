"""Centrifugal and Coriolis forces in the middle of a step, for trees on which only known forces act.

    v_mid = (v + v_free)/2,      v_free ← v_free + dt·M⁻¹·(b(q, v) − b(q, v_mid))

Configurations and velocities of a time step leapfrog: v moves q over the whole step. Forces that depend on velocities
are therefore of second order if they are taken at v_mid. At the beginning of the step they give a chain of links energy
in every step, in proportion to dt².

v_free does not know the impulses of contacts, limits, dry friction and closed loops. A robot's light legs would fly off
without them, and v_mid would be worse than v. So a tree that has one of them within reach in this step keeps b(q, v).
Nothing is remembered from the last step. Bodies that are alone are treated by ``gyroscopic``, contacts or not.
Cost: two passes over the links and a solution with M, in steps with such a tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.factor import solve
from stickslip.dynamics.gyroscopic import lone_links
from stickslip.dynamics.kinematics import forward_velocities
from stickslip.dynamics.rnea import bias_forces
from stickslip.methods.rigid.coordinates.joint_limits import joint_rows
from stickslip.model.arrays import Support
from stickslip.model.model import Model


class LookAhead(NamedTuple):
    """What a step looks ahead at, and scratch."""

    lone: np.ndarray
    """(n,) links whose gyroscopic torque is averaged."""
    roots: np.ndarray
    """(k,) the first velocities of trees with several joints and without loops, as in ``Support.link_root_dof``."""
    known: np.ndarray
    """(nv,) 1 at such a velocity if only known forces act on its tree in this step."""
    velocity: np.ndarray
    """(nv,) v_mid."""
    bias: np.ndarray
    """(nv,)."""


def make_look_ahead(model: Model, support: Support, bias: str) -> LookAhead:
    """``bias`` is 'midpoint' or 'explicit'; ``support`` joins the trees that tendons join. A model with coupled joints
    or tendons is treated as if each of its trees had a loop."""
    nv, root = model.nv, support.link_root_dof
    lone = np.zeros(0, dtype=np.int64)
    chosen: list[int] = []
    if bias == "midpoint":
        lone = lone_links(model)
        held = {int(root[link]) for loop in model.closed_loops for link in (loop.link1, loop.link2)}
        tree, size = np.unique(root[support.dof_link], return_counts=True)
        several = set() if model.couplings else set(tree[size > 1].tolist())
        chosen = sorted(several - held - set(root[lone].tolist()))
    return LookAhead(lone, np.array(chosen, dtype=np.int64), np.zeros(nv, dtype=np.int64), np.zeros(nv), np.zeros(nv))


@kernel
def count_known(ahead):
    """The number of trees on which only known forces act."""
    count = 0
    for k in range(ahead.roots.shape[0]):
        count += ahead.known[ahead.roots[k]]
    return count


@kernel(inline=False)
def look_ahead(tree, support, inertia, limited, f_ext, kin, L, q, v, dt, limits, contacts, bias, ahead, free):
    """Change ``free`` (nv,) by the forces in the middle of the step; ``bias`` (nv,) are those at its beginning, and
    ``limits`` is scratch for ``joint_rows``. ``limited`` are the joint forces with limits."""
    root, known = support.link_root_dof, ahead.known
    for k in range(ahead.roots.shape[0]):
        known[ahead.roots[k]] = 1
    for c in range(contacts.found[0]):
        if root[contacts.link1[c]] >= 0:
            known[root[contacts.link1[c]]] = 0
        if root[contacts.link2[c]] >= 0:
            known[root[contacts.link2[c]]] = 0
    if count_known(ahead) == 0:
        return
    n, _ = joint_rows(tree, limited, q, free, dt, limits)
    for i in range(limits.start[n]):
        known[root[support.dof_link[limits.column[i]]]] = 0
    if count_known(ahead) == 0:
        return
    for d in range(v.shape[0]):
        ahead.velocity[d] = v[d] + 0.5 * known[root[support.dof_link[d]]] * (free[d] - v[d])
    forward_velocities(tree, ahead.velocity, kin)
    bias_forces(tree, support, inertia, f_ext, kin, ahead.bias)
    forward_velocities(tree, v, kin)
    for d in range(v.shape[0]):
        ahead.bias[d] = dt * known[root[support.dof_link[d]]] * (bias[d] - ahead.bias[d])
    solve(support, L, ahead.bias)
    for d in range(v.shape[0]):
        free[d] += ahead.bias[d]
