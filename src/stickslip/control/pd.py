"""Proportional–derivative control of joints: u = kp·(target − q) − kd·v + feed-forward."""

from __future__ import annotations

import numpy as np

from stickslip.control.actuation import Actuation, check_bound
from stickslip.dynamics import Dynamics
from stickslip.errors import InputError, expected, names_keywords
from stickslip.model.model import Model
from stickslip.model.scene import Robot


class PD:
    """Hold the actuated joints of a robot (default: of the whole scene) at a target.

    ``kp`` [N m/rad or N/m], ``kd`` [N m s/rad or N s/m] and ``feedforward`` [N m or N] are numbers or one value per
    actuator; ``target`` [rad or m] defaults to the scene's home configuration and may be changed at any time.

    >>> log = sim.run(2.0, controller=PD(robot, kp=10, kd=0.2))
    """

    @names_keywords
    def __init__(self, robot: Robot | None = None, *, kp, kd, target=None, feedforward=0.0) -> None:
        self.robot, self.kp, self.kd, self.target, self.feedforward = robot, kp, kd, target, feedforward

    def bind(self, model: Model) -> None:
        """Find the actuators in the model, and check the sizes of the gains."""
        if self.robot is not None and not isinstance(self.robot, Robot):
            raise expected("PD robot", "what scene.add_robot returned, or nothing", self.robot)
        names = model.actuator_names if self.robot is None else self.robot.actuators
        missing = [name for name in names if name not in model.actuator_names]
        if missing:
            raise InputError(f"PD: actuator {missing[0]!r} is not in this model; was the robot added to this scene?")
        self._index = np.array([model.actuator_names.index(name) for name in names], dtype=int)
        self._actuation = Actuation(model, "PD", self._index, shared=True)
        self._count = model.nu
        self._home = model.state().q[self._actuation.coordinates]
        for name in ("kp", "kd", "target", "feedforward"):
            given, wanted = getattr(self, name), f"a number or {len(names)} numbers"
            try:
                value = np.asarray(0.0 if given is None else given, dtype=float)
            except (TypeError, ValueError, OverflowError):
                raise expected(f"PD {name}", wanted, given) from None
            if value.shape not in ((), (len(names),)):
                raise expected(f"PD {name}", wanted, value.shape)

    def longest_period(self, model: Model, q: np.ndarray) -> float:
        """[s] Above it, the joints shake at the configuration q (nq,): a force that holds for a period T turns the
        velocity of a joint around if T·W·kd > 2, and swings it up if T²·W·kp > 4, where W is M⁻¹ of all joints
        together. Both limits are necessary, not sufficient."""
        dynamics, dofs, limits = Dynamics(model), self._actuation.dofs, [np.inf]
        for gain, power in ((self.kd, 1.0), (self.kp, 0.5)):
            weight = np.zeros(model.nv)
            np.add.at(weight, dofs, np.maximum(0.0 if gain is None else gain, 0.0))
            if (rate := dynamics.mobility_norm(q, weight)) > 0.0:
                limits.append(2.0 / rate**power)
        return min(limits)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        check_bound(self)
        target, joints = self._home if self.target is None else self.target, self._actuation
        force = self.kp * (target - q[joints.coordinates]) - self.kd * v[joints.dofs] + self.feedforward
        control = np.zeros(self._count)  # the caller's own, who may add to it
        control[self._index] = joints.control(force, q, v)
        return control
