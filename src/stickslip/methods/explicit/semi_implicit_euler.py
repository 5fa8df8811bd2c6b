"""Semi-implicit Euler: new velocities move the configuration; contact forces are explicit.

    a   = (M + dt·D)⁻¹ (τ − D·v − b + Jᵀλ(q, v))
    v⁺  = v + dt·a
    q⁺  = q ⊕ dt·v⁺

M: mass matrix, b: gravity, centrifugal and Coriolis forces, D: joint damping (treated implicitly, so that a strongly
damped joint does not limit dt), λ: forces of the contact law at the beginning of the step. First order; energy and
momentum of rotating bodies drift in proportion to dt, since b(q, v) is taken at the old velocity. Cost: linear in
links and in contacts. The longest stable step is in ``explicit.py``.
"""

from __future__ import annotations

from typing import Any

from stickslip._jit import kernel
from stickslip.constraints.joint_rows import FEEDBACK
from stickslip.dynamics.configuration import integrate
from stickslip.methods.base import OK, Inputs, Stage, bounded
from stickslip.methods.handle import restored
from stickslip.methods.soft.explicit import Explicit, evaluate, hold, implicit_armature
from stickslip.methods.soft.viscoelastic import begin_joints, end_joints, soft_capabilities
from stickslip.model.model import State


@kernel
def integrate_state(world, acceleration, dt, q, v):
    for d in range(v.shape[0]):
        v[d] += dt * acceleration[d]
    integrate(world.tree, q, v, dt, q)
    end_joints(world, dt)


@kernel
def step(world, work, contacts, anchors, inputs, armature, dt, q, v):
    """One step: the table of contents of the method."""
    implicit_armature(world.passive, world.inertia.armature, dt, v, armature)
    status = evaluate(world, work, contacts, anchors, inputs, armature, dt, dt, 0.0, q, v)
    if status == OK:
        hold(world, work, armature, dt, dt, FEEDBACK, v)
        status = bounded(work.acceleration, v, dt)
    if status == OK:
        integrate_state(world, work.acceleration, dt, q, v)
    return status


@kernel
def advance(world, work, contacts, anchors, inputs, armature, dt, q, v, n):
    """n steps without Python in between; returns (status, steps done)."""
    begin_joints(world, q)
    for k in range(n):
        status = step(world, work, contacts, anchors, inputs, armature, dt, q, v)
        if status != OK:
            return status, k
    return OK, n


@kernel
def advance_held(held, n):
    """``advance`` with all arguments but n at hand."""
    return advance(*restored(held), n)  # type: ignore[call-arg]


class SemiImplicitEuler(Explicit):
    """Semi-implicit Euler with spring-damper contacts."""

    capabilities = soft_capabilities(
        summary="semi-implicit Euler, explicit contact forces",
        reference="contact law: Hammoud et al., eqs. (2), (21), (22), (28)",
        bibtex=("hammoud2021",),
        stability="a fraction of a millisecond with stiff contacts",
        colour=3,
    )

    implicit_damping = True
    advance_held = staticmethod(advance_held)

    def _arguments(self, state: State, inputs: Inputs) -> tuple[Any, ...]:
        memory = (self.world, self.work, self._buffer, self.anchors)
        return *memory, inputs, self.armature, self.dt, state.q, state.v

    def stages(self) -> dict[str, Stage]:
        return {**super().stages(), "integrate": self._integrate}

    def _solve(self, sim) -> None:
        implicit_armature(self.world.passive, self.model.inertia.armature, self.dt, sim.state.v, self.armature)
        super()._solve(sim)

    def _integrate(self, sim) -> None:
        integrate_state(self.world, self.work.acceleration, self.dt, sim.state.q, sim.state.v)
