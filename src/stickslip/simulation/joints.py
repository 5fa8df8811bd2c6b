"""Joint views: position, velocity and limits of a joint by its name, at the present state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stickslip.attributes import IN_JOINT, Closed
from stickslip.model.arrays import JOINT_NQ, JOINT_NV
from stickslip.model.body import Vector, vector
from stickslip.simulation.bodies import joint_acceleration

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


class JointView(Closed):
    """A joint of a simulation. A hinge or slide has numbers, a ball or free joint has arrays, as in ``sim.state``.

    Assigning ``q`` or ``v`` acts as ``sim.set_state`` does and leaves the other joints as they are.
    """

    elsewhere = ("joint", IN_JOINT)

    def __init__(self, sim: Simulation, name: str) -> None:
        tree, index = sim.model.tree, sim.model.joint(name)
        kind = int(tree.joint_type[index])
        self._sim, self.name, self._index = sim, name, index
        self.coordinates = slice(int(tree.joint_q[index]), int(tree.joint_q[index]) + JOINT_NQ[kind])
        """Where its coordinates are in ``sim.state.q``."""
        self.dofs = slice(int(tree.joint_v[index]), int(tree.joint_v[index]) + JOINT_NV[kind])
        """Where its velocities are in ``sim.state.v``."""
        self._complete = True

    def __repr__(self) -> str:
        return f"<joint {self.name!r}: q = {self.q}, v = {self.v}, t = {self._sim.time:.6g} s>"

    @property
    def q(self) -> float | np.ndarray:
        """Angle [rad], distance [m], quaternion, or position and quaternion."""
        return _plain(self._sim.state.q[self.coordinates])

    @q.setter
    def q(self, value: float | Vector) -> None:
        others = self._sim.state.q.copy()
        q = others.copy()
        q[self.coordinates] = vector(f"q of {self.name!r}", np.atleast_1d(value), len(q[self.coordinates]))
        self._sim.set_state(q=q)
        others[self.coordinates] = self._sim.state.q[self.coordinates]
        self._sim.state.q[:] = others  # which the division by the lengths of their quaternions may have changed

    @property
    def v(self) -> float | np.ndarray:
        """Its rate [rad/s or m/s]."""
        return _plain(self._sim.state.v[self.dofs])

    @v.setter
    def v(self, value: float | Vector) -> None:
        v = self._sim.state.v.copy()
        v[self.dofs] = vector(f"v of {self.name!r}", np.atleast_1d(value), len(v[self.dofs]))
        self._sim.set_state(v=v)

    @property
    def acceleration(self) -> float | np.ndarray:
        """That of the last step, before the first one that at the start [rad/s² or m/s²]."""
        return _plain(joint_acceleration(self._sim)[self.dofs])

    @property
    def range(self) -> tuple[float, float]:
        """(lower, upper) limits [rad or m]; infinite where it has none."""
        forces = self._sim.model.joint_forces
        if not forces.limited[self._index]:
            return -np.inf, np.inf
        lower, upper = forces.range[self._index]
        return float(lower), float(upper)


def _plain(part: np.ndarray) -> float | np.ndarray:
    return float(part[0]) if len(part) == 1 else part.copy()
