"""Tasks: objectives of the inverse-dynamics controller.

Each task prescribes the acceleration of a quantity x with velocity J·v, with feedback on its error:

    J·a + J̇·v = ẍ_ref + kd·(ẋ_ref − ẋ) + kp·(x_ref − x)

and enters the quadratic program as weight·‖J·a − right‖². kd = 2·√kp (critical damping) unless it is given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from stickslip.control.actuation import driven_joints
from stickslip.dynamics import Dynamics
from stickslip.errors import InputError, expected, number
from stickslip.math.quaternion import from_matrix, logarithm

Reference = Callable[[float], tuple[Any, Any, Any] | None]
"""``reference(t)`` returns (position, velocity, acceleration), or None while the task is off."""


class Task(ABC):
    """Base of all tasks. A new one defines ``home`` and ``jacobian``, and ``error`` where positions are not vectors.

    ``reference`` is a constant position, a function of time that returns (position, velocity, acceleration) or None
    (off at that time). The default holds the value at the scene's home configuration. ``weight`` ≥ 0; ``kp`` [1/s²],
    ``kd`` [1/s].
    """

    shape: tuple[int, ...] = (3,)
    """Shape of a position; velocities and accelerations are vectors."""

    def __init__(self, reference=None, *, weight: float = 1.0, kp: float = 10.0, kd: float | None = None) -> None:
        name = type(self).__name__
        self.reference = reference
        self.weight = number(f"{name} weight", weight, "a number ≥ 0", least=0.0)
        self.kp = number(f"{name} kp", kp, "a number ≥ 0", least=0.0)
        self.kd = 2.0 * np.sqrt(self.kp) if kd is None else number(f"{name} kd", kd, "a number ≥ 0", least=0.0)

    def bind(self, dyn: Dynamics) -> None:
        """Find names in the model, check sizes and look up the home configuration."""
        self._home = self.home(dyn, dyn.model.state().q)
        self.shape = self._home.shape
        if self.reference is not None and not callable(self.reference):
            self._check("position", self.reference, self.shape)
        elif self.reference is not None:
            self.target(0.0)

    @abstractmethod
    def home(self, dyn: Dynamics, q: np.ndarray) -> np.ndarray:
        """The position at the configuration q."""

    def error(self, reference: np.ndarray, value: np.ndarray) -> np.ndarray:
        """reference ⊖ value, as a vector."""
        return reference - value

    @abstractmethod
    def jacobian(self, dyn: Dynamics, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(J (m, nv), J̇·v (m,))."""

    def rows(self, dyn: Dynamics, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """(J (m, nv), right side (m,)) of the equation above, or None while the task is off."""
        target = self.target(t)
        if target is None:
            return None
        position, velocity, acceleration = target
        J, drift = self.jacobian(dyn, q, v)
        feedback = self.kp * self.error(position, self.home(dyn, q)) + self.kd * (velocity - J @ v)
        return J, acceleration + feedback - drift

    def target(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Desired position, velocity and acceleration at t, or None while the task is off."""
        size = (self.error(self._home, self._home).size,)
        if not callable(self.reference):
            constant = self._home if self.reference is None else np.asarray(self.reference, dtype=float)
            return constant, np.zeros(size), np.zeros(size)
        wanted = self.reference(t)
        if wanted is None:
            return None
        if not isinstance(wanted, tuple) or len(wanted) != 3:
            what = f"{type(self).__name__} reference at t = {t:g} s"
            raise expected(what, "(position, velocity, acceleration) or None", wanted)
        position, velocity, acceleration = wanted
        return (
            self._check("position", position, self.shape),
            self._check("velocity", velocity, size),
            self._check("acceleration", acceleration, size),
        )

    def _check(self, what: str, value, shape: tuple[int, ...]) -> np.ndarray:
        name = f"{type(self).__name__} reference: {what}"
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise expected(name, f"numbers of shape {shape}", value) from None
        if array.shape != shape or not np.all(np.isfinite(array)):
            raise expected(name, f"finite numbers of shape {shape}", value)
        return array


class CenterOfMass(Task):
    """Move the centre of mass of everything in the scene; positions (3,) [m]."""

    def home(self, dyn: Dynamics, q: np.ndarray) -> np.ndarray:
        return dyn.center_of_mass(q)

    def jacobian(self, dyn: Dynamics, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return dyn.center_of_mass_jacobian(q), dyn.center_of_mass_acceleration(q, v, np.zeros(dyn.model.nv))


class Posture(Task):
    """Hold the actuated joints; positions (nu,) [rad or m] in the order of ``model.actuator_names``."""

    def bind(self, dyn: Dynamics) -> None:
        model = dyn.model
        if not model.nu:
            raise InputError("Posture: there are no actuators in this model; add motors to its joints")
        joints = driven_joints(model, "Posture")
        self._q = model.tree.joint_q[joints]
        self._J = np.zeros((model.nu, model.nv))
        self._J[np.arange(model.nu), model.tree.joint_v[joints]] = 1.0
        super().bind(dyn)

    def home(self, dyn: Dynamics, q: np.ndarray) -> np.ndarray:
        return q[self._q]

    def jacobian(self, dyn: Dynamics, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._J, np.zeros(len(self._J))


class FramePosition(Task):
    """Move the origin of a frame (a body or a site); positions (3,) [m, world]."""

    def __init__(self, frame: str, reference=None, **options) -> None:
        super().__init__(reference, **options)
        self.frame = frame

    def home(self, dyn: Dynamics, q: np.ndarray) -> np.ndarray:
        return dyn.frame_pose(q, self.frame)[0]

    def jacobian(self, dyn: Dynamics, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        drift = dyn.frame_acceleration(q, v, np.zeros(dyn.model.nv), self.frame)
        return dyn.frame_jacobian(q, self.frame)[:3], drift[:3]


class FrameOrientation(FramePosition):
    """Turn a frame (a body or a site); positions are its axes as columns of a (3, 3) matrix, velocities and
    accelerations are angular, (3,) [rad/s, rad/s²], all in world axes."""

    def home(self, dyn: Dynamics, q: np.ndarray) -> np.ndarray:
        return dyn.frame_pose(q, self.frame)[1]

    def error(self, reference: np.ndarray, value: np.ndarray) -> np.ndarray:
        return np.array(logarithm(*from_matrix(*(reference @ value.T).ravel())))

    def _check(self, what: str, value, shape: tuple[int, ...]) -> np.ndarray:
        array = super()._check(what, value, shape)
        if what == "position" and (np.abs(array @ array.T - np.eye(3)).max() > 1e-6 or np.linalg.det(array) < 0.0):
            raise expected(f"{type(self).__name__} reference", "a rotation matrix", value)
        return array

    def jacobian(self, dyn: Dynamics, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        drift = dyn.frame_acceleration(q, v, np.zeros(dyn.model.nv), self.frame)
        return dyn.frame_jacobian(q, self.frame)[3:], drift[3:]
