"""From joint torques to controls and back, through gear, gain, bias and limits of the actuators.

An actuator of a hinge or slide joint gives force = gear·clip(gain·u + bias·(1, gear·q, gear·v)) (see
model.arrays.Actuators). Others have no torque of one joint, and are refused by name.
"""

from __future__ import annotations

import numpy as np

from stickslip.dynamics.drives import on_one_joint
from stickslip.errors import InputError
from stickslip.model.model import Model


def driven_joints(model: Model, who: str, which: np.ndarray | None = None) -> np.ndarray:
    """(nu,) the joints of actuators, which must drive one hinge or slide joint each, with a constant gain and without
    activation."""
    which, a = np.arange(model.nu) if which is None else which, model.actuators
    plain = on_one_joint(model) & (a.muscle_gain == 0) & (a.muscle_bias == 0) & ~a.gain[:, 1:3].any(axis=1)
    odd = which[~(plain & (model.activations.place < 0))[which]]
    if len(odd):
        raise InputError(
            f"{who}: expected actuators that drive one hinge or slide joint each with a constant gain, got "
            f"{model.actuator_names[odd[0]]!r}; write its control by a controller of your own"
        )
    return a.target[which]


def check_bound(controller: object) -> None:
    """Refuse to control before ``bind`` has shown the controller a model."""
    if not hasattr(controller, "_actuation"):
        name = type(controller).__name__
        raise InputError(f"{name}: no model yet; sim.run(…, controller=…), ss.control.Sum or bind(model) comes first")


class Actuation:
    """The actuators of a model, or those with the indices ``which`` (nu,). Each joint may have only one, unless
    ``shared`` is true."""

    def __init__(self, model: Model, who: str, which: np.ndarray | None = None, *, shared: bool = False) -> None:
        which = np.arange(model.nu) if which is None else which
        if not len(which):
            raise InputError(f"{who}: there are no actuators to control; add motors to the model's joints")
        joint = driven_joints(model, who, which)
        a = model.actuators
        self._gear, self._gain, self._biases = a.gear[which, 0], a.gain[which, 0], a.bias[which, :3]
        self._control_range, self._force_range = a.control_range[which], a.force_range[which]
        self.coordinates, self.dofs = model.tree.joint_q[joint], model.tree.joint_v[joint]
        self._joint_range = a.joint_range[self.dofs]
        twice = np.flatnonzero(np.bincount(joint) > 1)
        if len(twice) and not shared:
            raise InputError(
                f"{who}: joint {model.joint_names[twice[0]]!r} has several actuators, and a torque does not say how "
                "to share it; keep one"
            )
        dead = np.flatnonzero(self._gear * self._gain == 0.0)
        if len(dead):
            name = model.actuator_names[which[dead[0]]]
            raise InputError(f"{who}: the control of actuator {name!r} has no effect (gear or gain is zero)")

    def _bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        b = self._biases
        return b[:, 0] + self._gear * (b[:, 1] * q[self.coordinates] + b[:, 2] * v[self.dofs])

    def torque_range(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(nu,) lowest and highest joint torque [N m or N] in this state."""
        by_control = np.sort(self._gain[:, None] * self._control_range + self._bias(q, v)[:, None], axis=1)
        force = np.clip(by_control, self._force_range[:, :1], self._force_range[:, 1:])
        torque = np.clip(np.sort(self._gear[:, None] * force, axis=1), *self._joint_range.T[:, :, None])
        return torque[:, 0], torque[:, 1]

    def control(self, torque: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(nu,) the controls that give these joint torques."""
        return (torque / self._gear - self._bias(q, v)) / self._gain
