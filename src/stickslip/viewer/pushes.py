"""Pushes: external forces by the panel, a click, or a drag of the mouse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stickslip.dynamics.data import Kinematics
from stickslip.model.compile import rotation
from stickslip.model.model import Model
from stickslip.simulation.pushes import Push, Pushes

PULL_RATE = 12.0
"""[rad/s] natural frequency of the spring between a grabbed point and the mouse, with the mass of the whole scene."""
STRONGEST = 20.0
"""Largest force of the mouse, in weights of the scene."""


@dataclass
class Pull:
    """A spring and damper from a point of a link, (3,) in its frame [m], to the position of the mouse, (3,) [m]."""

    link: int
    grip: np.ndarray
    target: np.ndarray
    last: np.ndarray | None = None
    """(3,) last position of the point, and its time [s]."""
    last_time: float = 0.0


class ViewerPushes(Pushes):
    """Pushes by the panel and by clicks, which are those of ``sim.push``, and the pull of the mouse."""

    def __init__(self, model: Model, pushes: list[Push] | None = None) -> None:
        super().__init__(model.nlink)
        self.pushes, self._model = pushes or [], model
        self.mass = max(float(model.inertia.mass.sum()), 1e-9)
        """Mass of the scene [kg]."""
        self._pull: Pull | None = None

    @property
    def weight(self) -> float:
        """Weight of the scene [N]; without gravity, the weight at standard gravity."""
        return self.mass * (float(np.linalg.norm(self._model.inertia.gravity)) or 9.81)

    @property
    def active(self) -> bool:
        return super().active or self._pull is not None

    def add(self, link: int, force: np.ndarray, until: float, pose: np.ndarray, through: np.ndarray | None) -> None:
        """Add a force on a line ``through`` a point (3,) [m], by default the link's centre of mass."""
        grip = self._model.inertia.com[link] if through is None else _in_link(pose, link, through)
        self.pushes.append(Push(link, np.asarray(force, dtype=float), np.zeros(3), grip, until))

    def grab(self, link: int, point: np.ndarray, target: np.ndarray, pose: np.ndarray) -> None:
        self._pull = Pull(link, _in_link(pose, link, point), target)

    def drag(self, target: np.ndarray) -> None:
        if self._pull is not None:
            self._pull.target = target

    def release(self) -> None:
        self._pull = None

    def clear(self) -> None:
        super().clear()
        self._pull = None

    def wrench(self, kin: Kinematics, time: float, dt: float) -> np.ndarray:
        total, pull = super().wrench(kin, time, dt), self._pull
        if pull is not None:
            arm = kin.rot[pull.link] @ pull.grip
            force = self._force(pull, kin.pos[pull.link] + arm, time)
            total[pull.link] += np.concatenate([force, np.cross(arm, force)])
        return total

    def _force(self, pull: Pull, point: np.ndarray, time: float) -> np.ndarray:
        """(3,) force of the mouse [N] on a point that is there [m]."""
        passed = time - pull.last_time
        velocity = (point - pull.last) / passed if pull.last is not None and passed > 1e-9 else np.zeros(3)
        if pull.last is None or passed > 1e-9:
            pull.last, pull.last_time = point, time
        stiffness = self.mass * PULL_RATE**2
        force = stiffness * (pull.target - point) - self.mass * PULL_RATE * velocity
        size = float(np.linalg.norm(force))
        return force * min(1.0, STRONGEST * self.weight / max(size, 1e-12))


def _in_link(pose: np.ndarray, link: int, point: np.ndarray) -> np.ndarray:
    """(3,) a point [m, world] in the frame of a link."""
    return rotation(pose[link, 3:]).T @ (point - pose[link, :3])
