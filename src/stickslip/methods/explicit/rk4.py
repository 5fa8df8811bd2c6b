"""The classical Runge–Kutta method of fourth order, on the configuration manifold.

    k₁ = f(x),  k₂ = f(x ⊕ dt/2·k₁),  k₃ = f(x ⊕ dt/2·k₂),  k₄ = f(x ⊕ dt·k₃),  x⁺ = x ⊕ dt/6·(k₁ + 2k₂ + 2k₃ + k₄)

with x = (q, v) and f = (v, M⁻¹(τ − D·v − b + Jᵀλ)). Rotations are integrated in the tangent space at q (Munthe-Kaas):
each stage's angular velocity is pulled back to it, without which the order would drop to two. The method is of fourth
order while contacts neither open, close nor slip; the anchors of rolling spheres are integrated to first order.
Dry friction and couplings of joints are those of the last step in all four stages, and are put right at the end of the
step, which is of first order where a joint starts or stops. Friction anchors move in the first stage only; the later
stages work on copies. Cost: four evaluations, each linear in links and contacts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.constraints.joint_rows import close_couplings
from stickslip.dynamics.configuration import integrate, pull_back
from stickslip.methods.base import OK, Inputs, bounded
from stickslip.methods.handle import restored
from stickslip.methods.soft.anchors import copy_anchors, grown_anchors
from stickslip.methods.soft.explicit import Explicit, evaluate, hold
from stickslip.methods.soft.viscoelastic import begin_joints, end_joints, soft_capabilities
from stickslip.model.model import Model, State


class Stages(NamedTuple):
    """Scratch of the four stages."""

    q: np.ndarray
    """(nq,) trial configuration."""
    v: np.ndarray
    """(nv,) trial velocity."""
    shift: np.ndarray
    """(nv,) tangent vector from q to the trial configuration."""
    rate: np.ndarray
    """(nv,) its rate of change."""
    dq: np.ndarray
    """(nv,) weighted sum of the rates."""
    dv: np.ndarray
    """(nv,) weighted sum of the accelerations."""


@kernel
def step(world, work, contacts, anchors, first, trial, stages, inputs, armature, dt, q, v):
    """One step: the table of contents of the method."""
    nv, acceleration = v.shape[0], work.acceleration
    copy_anchors(anchors, first)
    status = evaluate(world, work, contacts, first, inputs, armature, 0.0, dt, 0.0, q, v)
    if status != OK:
        return status
    for d in range(nv):
        stages.rate[d] = stages.dq[d] = v[d]
        stages.dv[d] = acceleration[d]
    for k in range(1, 4):
        part, weight = (dt, 1.0) if k == 3 else (0.5 * dt, 2.0)
        for d in range(nv):
            stages.shift[d] = part * stages.rate[d]
            stages.v[d] = v[d] + part * acceleration[d]
        integrate(world.tree, q, stages.shift, 1.0, stages.q)
        copy_anchors(first, trial)
        status = evaluate(world, work, contacts, trial, inputs, armature, 0.0, part, part, stages.q, stages.v)
        if status != OK:
            return status
        pull_back(world.tree, stages.shift, stages.v, stages.rate)
        for d in range(nv):
            stages.dq[d] += weight * stages.rate[d]
            stages.dv[d] += weight * acceleration[d]
    for d in range(nv):
        acceleration[d] = stages.dv[d] / 6.0
    hold(world, work, armature, 0.0, dt, 0.0, v)
    if world.rows.bound.shape[0] > 0:
        for d in range(nv):
            stages.dq[d] += 3.0 * world.rows.change[d]  # half the change of velocity, on the average over the step
    status = bounded(acceleration, v, dt)
    if status != OK:
        return status
    copy_anchors(first, anchors)
    integrate(world.tree, q, stages.dq, dt / 6.0, q)
    if world.rows.stiffness.shape[0] > 0:
        close_couplings(world.tree, world.support, world.rows.mass.L, world.rows, q)
    for d in range(nv):
        v[d] += dt * acceleration[d]
    end_joints(world, dt)
    return OK


@kernel
def advance(world, work, contacts, anchors, first, trial, stages, inputs, armature, dt, q, v, n):
    """n steps without Python in between; returns (status, steps done)."""
    begin_joints(world, q)
    for k in range(n):
        status = step(world, work, contacts, anchors, first, trial, stages, inputs, armature, dt, q, v)
        if status != OK:
            return status, k
    return OK, n


@kernel
def advance_held(held, n):
    """``advance`` with all arguments but n at hand."""
    return advance(*restored(held), n)  # type: ignore[call-arg]


class RK4(Explicit):
    """Runge–Kutta 4 with spring-damper contacts."""

    capabilities = soft_capabilities(
        summary="Runge-Kutta of order 4, explicit contact forces",
        order=4,
        reference="Hammoud et al., Sec. VI; rotations: Munthe-Kaas (1998)",
        bibtex=("hammoud2021", "munthekaas1998"),
        stability="a fraction of a millisecond with stiff contacts",
        colour=5,
    )
    replaceable = frozenset({"user", "record"})
    advance_held = staticmethod(advance_held)

    def __init__(self, model: Model, dt: float, variant: str, **options) -> None:
        super().__init__(model, dt, variant, **options)
        self.first, self.trial = (grown_anchors(self.anchors, len(self.anchors.pair)) for _ in range(2))
        self.scratch = Stages(np.zeros(model.nq), *(np.zeros(model.nv) for _ in range(5)))

    def _arguments(self, state: State, inputs: Inputs) -> tuple[Any, ...]:
        fixed = (self._buffer, self.anchors, self.first, self.trial, self.scratch, inputs, self.armature)
        return self.world, self.work, *fixed, self.dt, state.q, state.v

    def fit_room(self, contacts: int) -> None:
        super().fit_room(contacts)
        self.first, self.trial = (grown_anchors(self.anchors, len(self.anchors.pair)) for _ in range(2))

    def make_room(self, contacts: int) -> None:
        super().make_room(contacts)
        room = len(self.anchors.pair)
        if room > len(self.first.pair):
            self.first, self.trial = grown_anchors(self.first, room), grown_anchors(self.trial, room)
