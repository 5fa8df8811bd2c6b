"""Explicit Euler with the second-order position update of the Expo paper (Hammoud et al., eq. 34).

    a   = M⁻¹ (τ − D·v − b + Jᵀλ(q, v))
    v⁺  = v + dt·a
    q⁺  = q ⊕ (dt·v + dt²/2·a)

Every force, joint damping D included, is taken at the beginning of the step. First order; cost linear in links and
contacts. A spring-damper contact of stiffness K, damping B and inverse mass w is stable while B·w·dt < 2 and
K·dt < 2·B (from the characteristic polynomial λ² − (2 − Kw·dt²/2 − Bw·dt)λ + 1 − Bw·dt + Kw·dt²/2): undamped springs
are unstable at any step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import BOUNCE, DAMPING, STIFFNESS, TANGENT_DAMPING, TANGENT_STIFFNESS
from stickslip.constraints.joint_rows import FEEDBACK
from stickslip.dynamics.configuration import integrate
from stickslip.methods.base import OK, Inputs, Stage, bounded
from stickslip.methods.handle import restored
from stickslip.methods.soft.explicit import Explicit, evaluate, hold, impact_masses
from stickslip.methods.soft.loads import loads
from stickslip.methods.soft.viscoelastic import begin_joints, end_joints, soft_capabilities
from stickslip.model.model import Model, State
from stickslip.model.shape import ALL_ROUND, SAID


@kernel
def integrate_state(world, acceleration, mean, dt, q, v):
    """``mean`` (nv,) is scratch: the mean velocity of the step."""
    for d in range(v.shape[0]):
        mean[d] = v[d] + 0.5 * dt * acceleration[d]
        v[d] += dt * acceleration[d]
    integrate(world.tree, q, mean, dt, q)
    end_joints(world, dt)


@kernel
def step(world, work, contacts, anchors, inputs, armature, mean, dt, q, v):
    """One step: the table of contents of the method."""
    status = evaluate(world, work, contacts, anchors, inputs, armature, 0.0, dt, 0.0, q, v)
    if status == OK:
        hold(world, work, armature, 0.0, dt, FEEDBACK, v)
        status = bounded(work.acceleration, v, dt)
    if status == OK:
        integrate_state(world, work.acceleration, mean, dt, q, v)
    return status


@kernel
def advance(world, work, contacts, anchors, inputs, armature, mean, dt, q, v, n):
    """n steps without Python in between; returns (status, steps done)."""
    begin_joints(world, q)
    for k in range(n):
        status = step(world, work, contacts, anchors, inputs, armature, mean, dt, q, v)
        if status != OK:
            return status, k
    return OK, n


@kernel
def advance_held(held, n):
    """``advance`` with all arguments but n at hand."""
    return advance(*restored(held), n)  # type: ignore[call-arg]


class Euler(Explicit):
    """Explicit Euler with spring-damper contacts."""

    capabilities = soft_capabilities(
        summary="explicit Euler, second-order position update",
        reference="Hammoud et al., eq. (34)",
        bibtex=("hammoud2021",),
        stability="a fraction of a millisecond with stiff contacts",
        colour=7,
    )
    advance_held = staticmethod(advance_held)

    def __init__(self, model: Model, dt: float, variant: str, **options) -> None:
        super().__init__(model, dt, variant, **options)
        self.mean = np.zeros(model.nv)

    def stable_dt(self, state: State) -> float:
        """Besides the limit of semi-implicit Euler, K·dt < 2·B for every damped pair and loop, in all directions."""
        material = np.concatenate([self._materials, self.world.loops.material])
        bounces = material[:, BOUNCE] != SAID
        along = (TANGENT_STIFFNESS, TANGENT_DAMPING, bounces & (material[:, BOUNCE] == ALL_ROUND))
        limit = super().stable_dt(state)
        for K, B, chosen in ((STIFFNESS, DAMPING, bounces), along):
            damped = material[(material[:, B] > 0.0) & (material[:, K] > 0.0) & ~chosen]
            limit = min(limit, float(np.min(2.0 * damped[:, B] / damped[:, K], initial=np.inf)))
        if np.any(bounces):
            at = loads(self.model, self.work.kin, self.options.stiffness_per)
            B = at.bounce * np.sqrt(impact_masses(self.model, state, at.link, at.point)[0])
            limit = min(limit, float(np.min(2.0 * B[B > 0.0] / at.stiffness[B > 0.0], initial=np.inf)))
        return limit

    def _arguments(self, state: State, inputs: Inputs) -> tuple[Any, ...]:
        fixed = (self._buffer, self.anchors, inputs, self.armature, self.mean)
        return self.world, self.work, *fixed, self.dt, state.q, state.v

    def stages(self) -> dict[str, Stage]:
        return {**super().stages(), "integrate": self._integrate}

    def _integrate(self, sim) -> None:
        integrate_state(self.world, self.work.acceleration, self.mean, self.dt, sim.state.q, sim.state.v)
