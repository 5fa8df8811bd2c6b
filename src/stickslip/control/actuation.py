"""From joint torques to controls and back, through gear, gain, bias and limits of the actuators.

An actuator gives force = gear·clip(gain·u + bias·(1, gear·q, gear·v)) (see model.arrays.Actuators).
"""

from __future__ import annotations

import numpy as np

from stickslip.errors import InputError
from stickslip.model.arrays import Actuators
from stickslip.model.model import Model


class Actuation:
    """The actuators of a model, or those with the indices ``which`` (nu,). Each joint may have only one, unless
    ``shared`` is true."""

    def __init__(self, model: Model, who: str, which: np.ndarray | None = None, *, shared: bool = False) -> None:
        which = np.arange(model.nu) if which is None else which
        a = Actuators(*(field[which] for field in model.actuators))
        if not len(which):
            raise InputError(f"{who}: there are no actuators to control; add motors to the model's joints")
        self.coordinates, self.dofs = model.tree.joint_q[a.joint], model.tree.joint_v[a.joint]
        twice = np.flatnonzero(np.bincount(a.joint) > 1)
        if len(twice) and not shared:
            raise InputError(
                f"{who}: joint {model.joint_names[twice[0]]!r} has several actuators, and a torque does not say how "
                "to share it; keep one"
            )
        dead = np.flatnonzero(a.gear * a.gain == 0.0)
        if len(dead):
            name = model.actuator_names[which[dead[0]]]
            raise InputError(f"{who}: the control of actuator {name!r} has no effect (gear or gain is zero)")
        self._a = a

    def _bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        a = self._a
        return a.bias[:, 0] + a.gear * (a.bias[:, 1] * q[self.coordinates] + a.bias[:, 2] * v[self.dofs])

    def torque_range(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(nu,) lowest and highest joint torque [N m or N] in this state."""
        a = self._a
        by_control = np.sort(a.gain[:, None] * a.control_range + self._bias(q, v)[:, None], axis=1)
        force = np.clip(by_control, a.force_range[:, :1], a.force_range[:, 1:])
        torque = np.sort(a.gear[:, None] * force, axis=1)
        return torque[:, 0], torque[:, 1]

    def control(self, torque: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(nu,) the controls that give these joint torques."""
        return (torque / self._a.gear - self._bias(q, v)) / self._a.gain
