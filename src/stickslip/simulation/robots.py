"""Robot views: the part of q, v, controls and mass matrix that belongs to one robot of a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.attributes import IN_ROBOT, Closed
from stickslip.constraints.inverse_kinematics import InverseKinematicsResult
from stickslip.errors import InputError, expected, names_keywords, unknown
from stickslip.model.arrays import JOINT_NQ, JOINT_NV
from stickslip.model.attach import Robot
from stickslip.model.body import vector
from stickslip.model.model import Model
from stickslip.simulation.bodies import joint_acceleration

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


def find_robot(model: Model, robot: str | Robot) -> Robot:
    """A robot of the model, by its name or as the scene gave it."""
    if isinstance(robot, Robot):
        missing = [name for name in robot.joints if name not in model.joint_names]
        if missing:
            raise InputError(f"robot {robot.name!r}: its joint {missing[0]!r} is not in this model; was it added here?")
        return robot
    if not isinstance(robot, str):
        raise expected("robot", "its name, or what scene.add_robot returned", robot)
    found = [each for each in model.robots if each.name == robot]
    if not found:
        raise unknown("robot", robot, {each.name for each in model.robots})
    if len(found) > 1:
        raise expected(f"robot {robot!r}", "one of this name", len(found), "give what scene.add_robot returned")
    return found[0]


class RobotView(Closed):
    """One robot of a simulation: its part of the state now, in the order of its joints and actuators.

    Arrays are copies that cannot be written into; ``robot.control = u``, ``robot.q = q`` and ``robot.v = v`` set this
    part and leave the rest of the scene as it is.
    """

    elsewhere = ("robot", IN_ROBOT)

    def __init__(self, sim: Simulation, robot: Robot) -> None:
        m = sim.model
        self._sim, self.name = sim, robot.name
        self.joints: tuple[str, ...] = robot.joints
        """Names of its joints."""
        self.actuators: tuple[str, ...] = robot.actuators
        """Names of its actuators."""
        joints = [m.joint(name) for name in robot.joints]
        kinds = [int(m.tree.joint_type[j]) for j in joints]
        self.coordinates = _indices(m.tree.joint_q[joints], [JOINT_NQ[kind] for kind in kinds])
        """(nq of the robot,) where its joint coordinates are in ``sim.state.q``."""
        self.dofs = _indices(m.tree.joint_v[joints], [JOINT_NV[kind] for kind in kinds])
        """(nv of the robot,) where its joint velocities are in ``sim.state.v``."""
        self.controls = np.array([m.actuator_names.index(name) for name in robot.actuators], dtype=int)
        """(nu of the robot,) where its controls are in ``sim.control``."""
        self._complete = True

    def __repr__(self) -> str:
        sizes = f"{len(self.joints)} joints, {len(self.actuators)} actuators"
        return f"<robot {self.name!r}: {sizes}, t = {self._sim.time:.6g} s>"

    @property
    def q(self) -> np.ndarray:
        """Joint coordinates; assigning them goes to this configuration as ``sim.set_state`` does."""
        return _read_only(self._sim.state.q[self.coordinates])

    @q.setter
    def q(self, value) -> None:
        q = self._sim.state.q.copy()
        q[self.coordinates] = vector(f"q of {self.name!r}", value, len(self.coordinates))
        self._sim.set_state(q=q)

    @property
    def v(self) -> np.ndarray:
        """Joint velocities; assigning them acts as ``sim.set_state`` does."""
        return _read_only(self._sim.state.v[self.dofs])

    @v.setter
    def v(self, value) -> None:
        v = self._sim.state.v.copy()
        v[self.dofs] = vector(f"v of {self.name!r}", value, len(self.dofs))
        self._sim.set_state(v=v)

    @property
    def control(self) -> np.ndarray:
        """Controls in force; assigned ones hold until the next."""
        return _read_only(self._sim.control[self.controls])

    @control.setter
    def control(self, value) -> None:
        given = vector(f"control of {self.name!r}", value, len(self.controls))
        self._sim.inputs.control[self.controls] = given

    @property
    def acceleration(self) -> np.ndarray:
        """Joint accelerations: those of the last step, before the first one those at the start."""
        return _read_only(joint_acceleration(self._sim)[self.dofs])

    @property
    def mass_matrix(self) -> np.ndarray:
        """Its block of the mass matrix M(q), armature included."""
        return _read_only(self._sim.dynamics.crba(self._sim.state.q)[np.ix_(self.dofs, self.dofs)])

    @property
    def bias(self) -> np.ndarray:
        """Its part of gravity, centrifugal and Coriolis forces b(q, v)."""
        return _read_only(self._sim.dynamics.bias(self._sim.state.q, self._sim.state.v)[self.dofs])

    def jacobian(self, frame: str) -> np.ndarray:
        """(6, nv of the robot) velocity of the named body or site, then angular velocity, per joint velocity."""
        return self._sim.body(frame).jacobian()[:, self.dofs]

    @names_keywords
    def inverse_kinematics(
        self, targets: Mapping[Any, Any], *, joints: Sequence[str] | None = None, tolerance: float = 1e-9,
        radian: float = 1.0, restarts: int = 20, seed: int = 0,
    ) -> InverseKinematicsResult:  # fmt: skip
        """As ``sim.inverse_kinematics``, with the joints of this robot (its floating base, too, unless ``joints`` names
        others); ``q`` of the result is the robot's part: ``robot.q = result.q`` goes there."""
        result = self._sim.inverse_kinematics(
            targets, joints=self.joints if joints is None else joints, tolerance=tolerance, radian=radian,
            restarts=restarts, seed=seed,
        )  # fmt: skip
        return replace(result, q=result.q[self.coordinates])


def _indices(first: np.ndarray, sizes: list[int]) -> np.ndarray:
    return np.array([start + i for start, size in zip(first, sizes, strict=True) for i in range(size)], dtype=int)


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array
