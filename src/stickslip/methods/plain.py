"""PlainMethod: a method of your own in plain Python, one function for a step."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from stickslip.collision.contacts import ContactList, contact_velocities
from stickslip.constraints.joint_rows import couple_accelerations, factor_mass, smooth_friction
from stickslip.dynamics import Dynamics
from stickslip.methods.base import DIVERGED, FASTEST, OK, Inputs, Method, Stage
from stickslip.methods.soft.explicit import accelerate
from stickslip.methods.soft.viscoelastic import look
from stickslip.model.model import Model, State


class PlainMethod(Method):
    """Subclass it, provide ``capabilities`` and ``take_step``, and register it with ``ss.extend.method``.

    * ``take_step(state, inputs)`` changes ``state.q`` and ``state.v`` in place, by one step of ``self.dt``;
    * ``acceleration(state, inputs)`` (nv,) is there for it, and ``self.dynamics``, the rigid-body algorithms;
    * ``find(contacts)`` and ``push(contacts)`` are for methods with contacts: the first clears and fills the list, the
      second writes ``contacts.arrays.force`` from gaps and velocities. Recordings show them, ``acceleration`` applies
      them.

    A step that ends in numbers that are not finite, or absurd, is taken back and ends the run as diverged.
    """

    observing = ("kinematics", "collision")
    replaceable = frozenset({"user", "record"})

    def __init__(self, model: Model, dt: float, variant: str, pairs: None = None, **options: Any) -> None:
        super().__init__(model, dt, variant, pairs, **options)
        self.dynamics = Dynamics(model)
        self.contacts = ContactList(self.work.kin)

    @abstractmethod
    def take_step(self, state: State, inputs: Inputs) -> None: ...

    def find(self, contacts: ContactList) -> None:
        """No contacts."""
        contacts.clear()

    def push(self, contacts: ContactList) -> None:
        """No forces."""
        contacts.arrays.force[: len(contacts)] = 0.0

    def acceleration(self, state: State, inputs: Inputs) -> np.ndarray:
        """(nv,) at a state: gravity, joint springs and dampers, actuators, forces from outside, and contacts act."""
        self._look(state)
        work, armature = self.work, self.model.inertia.armature
        smooth_friction(self.world.rows, work.kin, state.v)
        accelerate(self.world, work, self.contacts.arrays, inputs, armature, 0.0, state.q, state.v)
        world = self.world
        if len(self.model.couplings):
            factor_mass(world.tree, world.support, world.inertia, armature, world.fluid, 0.0, work.kin, world.rows)
            couple_accelerations(world.support, world.rows.mass.L, world.rows, work.kin, work.acceleration)
        return work.acceleration.copy()

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        first = self.step
        for k in range(n):
            self.step = first + k
            q, v = state.q.copy(), state.v.copy()
            self.take_step(state, inputs)
            if not (np.all(np.abs(state.v) <= FASTEST) and np.all(np.isfinite(state.q))):
                state.q[:], state.v[:] = q, v
                return DIVERGED, k
        return OK, n

    def stages(self) -> dict[str, Stage]:
        return {"kinematics": lambda sim: self._look(sim.state), "collision": lambda sim: None}

    def _look(self, state: State) -> None:
        """Kinematics, contacts and their forces at a state."""
        look(self.world, self.work, state.q, state.v)
        self.find(self.contacts)
        self.contacts.check()
        contact_velocities(self.work.kin, self.contacts.arrays)
        self.push(self.contacts)
