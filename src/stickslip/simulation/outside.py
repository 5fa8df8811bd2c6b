"""Outside: bodies that are moved from outside during a simulation, and actuators that pull bodies to what they touch.

A mocap body has a pose, and a velocity with which it moves on at every step. One with prescribed motion f is at f(t) at
the beginning of every step; its velocity over the step leads from f(t) to f(t + dt). Steps in which something moves are
taken one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stickslip.errors import expected, function, unknown
from stickslip.math.quaternion import logarithm
from stickslip.methods.base import Method
from stickslip.methods.moving import Moving, place
from stickslip.model.arrays import ON_BODY
from stickslip.model.body import vector
from stickslip.model.mocap import carriers, carry_model, home_poses, make_carried
from stickslip.model.model import Model, State

Motion = Callable[[float], Any]
"""t [s] ↦ (position (3,) [m], quaternion (4,)), or a position alone."""


class Outside:
    """The mocap bodies of a simulation, and its actuators on bodies. ``model`` has arrays of its own for them."""

    def __init__(self, model: Model, stepper: Method) -> None:
        self._model, self._stepper, self.names = model, stepper, model.mocap_names
        self.poses = home_poses(model)
        """(nm, 7) position [m] and quaternion of each mocap body now."""
        self.velocities = np.zeros((len(self.names), 6))
        """(nm, 6) velocity of its origin [m/s] and angular velocity [rad/s], world axes."""
        self._next, self._twists = self.poses.copy(), np.zeros_like(self.velocities)
        self.motions: dict[int, Motion] = {}
        """Prescribed motions, by the number of the body."""
        self._pulling = np.flatnonzero(model.actuators.transmission == ON_BODY)
        self._moving: Moving | None = None
        self.follow()

    def follow(self) -> None:
        """Find what the bodies carry in the arrays of the model and of the method, which must have them at home."""
        self._carried = make_carried(self._model)
        carry_model(self._model, self._carried)
        if self.names or len(self._pulling):
            self._moving = Moving(self._model, self._stepper.moving_parts())

    @property
    def moves(self) -> bool:
        """Whether a body moves from step to step."""
        return bool(self.motions) or bool(self.velocities.any())

    def velocity(self, body: int, point: np.ndarray) -> np.ndarray:
        """(6,) velocity of a point (3,) of a body without joints, by its number in the file, and angular velocity; zero
        unless a mocap body carries it."""
        m = carriers(self._model)[body]
        if m < 0:
            return np.zeros(6)
        linear, angular = self.velocities[m, :3], self.velocities[m, 3:]
        return np.concatenate([linear + np.cross(angular, point - self.poses[m, :3]), angular])

    def number(self, name: str) -> int:
        if name not in self.names:
            raise unknown("mocap body", str(name), self.names)
        return self.names.index(name)

    def set(self, name: str, pos, quat, velocity, angular_velocity, time: float) -> None:
        """Set what is given; the rest stays."""
        m = self.number(name)
        if m in self.motions:
            raise expected(f"body {name!r}", "no prescribed motion", "one", f"sim.prescribe({name!r}, None) ends it")
        speeds = (velocity, "velocity", slice(0, 3)), (angular_velocity, "angular_velocity", slice(3, 6))
        for value, what, at in speeds:
            if value is not None:
                self.velocities[m, at] = vector(f"{what} of {name!r}", value, 3)
        if pos is not None:
            self.poses[m, :3] = vector(f"pos of {name!r}", pos, 3)
        if quat is not None:
            self.poses[m, 3:] = unit_quaternion(name, quat)
        self.show()

    def prescribe(self, name: str, motion: Motion | None, time: float) -> None:
        """Let a body follow a motion from now on, or stop."""
        m = self.number(name)
        self.motions.pop(m, None)
        self.velocities[m] = 0.0
        if motion is not None:
            function(f"motion of {name!r}", motion, "f(t) → (pos, quat), or pos alone")
            self.poses[m] = self._at(m, motion, time)
            self.motions[m] = motion
        self.show()

    def _at(self, m: int, motion: Motion, time: float) -> np.ndarray:
        given, name = motion(time), self.names[m]
        if isinstance(given, tuple | list) and len(given) == 2:
            return np.concatenate([vector(f"pos of {name!r}", given[0], 3), unit_quaternion(name, given[1])])
        return np.concatenate([vector(f"pos of {name!r}", given, 3), self.poses[m, 3:]])

    # -- steps -------------------------------------------------------------------------------------------------

    def begin(self, state: State, dt: float, control: np.ndarray) -> None:
        """Before a step from ``state`` under these controls (nu,): look where the bodies will be, and place what the
        step sees at its end."""
        if self._moving is None:
            return
        if len(self._pulling):
            self._moving.set_pulls(self._pulls(control))
        if not self.names:
            return
        for m, pose in enumerate(self.poses):
            if m in self.motions:
                self._next[m] = self._at(m, self.motions[m], state.time + dt)
                self.velocities[m] = difference(pose, self._next[m], dt)
            else:
                self._next[m] = moved(pose, self.velocities[m], dt)
        if not (self.velocities.any() or self._twists.any()):
            return
        self._take_twists(dt)
        self._stepper.before_moving(state)
        if self._stepper.loops_ahead:
            self._moving.place_loops(self._next)
        if self._stepper.geometry_ahead:
            self._moving.place_geometry(self._next)

    def end(self) -> None:
        """After a step that was taken: the bodies are where they were to be."""
        if self.names and (self.velocities.any() or self._twists.any()):
            self.poses[:] = self._next
            self.show()

    def show(self) -> None:
        """Place everything where the bodies are now."""
        if self._moving is not None and self.names:
            place(self._carried, self.poses)
            self._moving.place_geometry(self.poses)
            self._moving.place_loops(self.poses)
            self._take_twists(self._stepper.dt)

    def _take_twists(self, dt: float) -> None:
        assert self._moving is not None
        self._twists[:] = self.velocities
        self._twists[:, :3] -= np.cross(self.velocities[:, 3:], self.poses[:, :3])
        self._moving.set_motion(self._twists, dt)
        self._stepper.move(self.poses, self._twists)

    def _pulls(self, control: np.ndarray) -> np.ndarray:
        """(nbody,) what actuators on bodies pull with [N]: gain·u + bias, clipped."""
        a, forces = self._model.actuators, np.zeros(self._model.mj.nbody)
        for k in self._pulling:
            force = a.gain[k, 0] * np.clip(control[k], *a.control_range[k]) + a.bias[k, 0]
            forces[a.target[k]] += np.clip(force, *a.force_range[k])
        return forces

    # -- snapshots ---------------------------------------------------------------------------------------------

    def state(self) -> np.ndarray:
        """(nm, 13) poses and velocities."""
        return np.hstack([self.poses, self.velocities])

    def restore(self, state: np.ndarray) -> None:
        if self.names and len(state):
            self.poses[:], self.velocities[:] = state[:, :7], state[:, 7:]
            self.show()

    def reset(self, poses: np.ndarray | None) -> None:
        """To the poses of a keyframe, or those of the file, at t = 0; prescribed motions begin anew."""
        if not self.names:
            return
        self.poses[:] = home_poses(self._model) if poses is None or not len(poses) else poses
        self.poses[:, 3:] /= np.linalg.norm(self.poses[:, 3:], axis=1)[:, None]
        self.velocities[:] = 0.0
        for m, motion in self.motions.items():
            self.poses[m] = self._at(m, motion, 0.0)
        self.show()


def unit_quaternion(name: str, quat) -> np.ndarray:
    q = vector(f"quat of {name!r}", quat, 4)
    norm = float(np.linalg.norm(q))
    if not abs(norm - 1.0) < 1e-6:
        raise expected(f"quat of {name!r}", "unit length", round(norm, 9), "divide it by its norm")
    return q / norm


def times(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """p∘q of quaternions (w, x, y, z)."""
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])


def moved(pose: np.ndarray, velocity: np.ndarray, dt: float) -> np.ndarray:
    """(7,) the pose dt [s] later at this velocity (6,)."""
    angle = dt * float(np.linalg.norm(velocity[3:]))
    turn = np.array([1.0, 0.0, 0.0, 0.0])
    if angle > 0.0:
        axis = velocity[3:] / np.linalg.norm(velocity[3:])
        turn = np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) * axis)])
    quat = times(turn, pose[3:])
    return np.concatenate([pose[:3] + dt * velocity[:3], quat / np.linalg.norm(quat)])


def difference(before: np.ndarray, after: np.ndarray, dt: float) -> np.ndarray:
    """(6,) the velocity that leads from one pose to another in dt [s]; the shorter of the two turns."""
    turn = times(after[3:], before[3:] * np.array([1.0, -1.0, -1.0, -1.0]))
    turn = turn if turn[0] >= 0.0 else -turn
    return np.concatenate([after[:3] - before[:3], np.array(logarithm(*turn))]) / dt
