"""Pushes: external forces by the panel, a click, or a drag of the mouse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stickslip.model.model import Model
from stickslip.viewer.triangulation import turned

PULL_RATE = 12.0
"""[rad/s] natural frequency of the spring between a grabbed point and the mouse, with the mass of the whole scene."""
STRONGEST = 20.0
"""Largest force of the mouse, in weights of the scene."""


@dataclass
class Push:
    """A constant force [N] (3,) on a link until a time [s]; it acts at ``arm`` (3,) [m] from the link's origin."""

    link: int
    force: np.ndarray
    until: float
    arm: np.ndarray


@dataclass
class Pull:
    """A spring and damper from a point of a link, (3,) in its frame [m], to the position of the mouse, (3,) [m]."""

    link: int
    grip: np.ndarray
    target: np.ndarray
    last: np.ndarray | None = None
    """(3,) last position of the point, and its time [s]."""
    last_time: float = 0.0


class Pushes:
    """External forces on a simulation, as wrenches at the origins of the links."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.mass = max(float(model.inertia.mass.sum()), 1e-9)
        """Mass of the scene [kg]."""
        self._pushes: list[Push] = []
        self._pull: Pull | None = None

    @property
    def weight(self) -> float:
        """Weight of the scene [N]; without gravity, the weight at standard gravity."""
        return self.mass * (float(np.linalg.norm(self._model.inertia.gravity)) or 9.81)

    @property
    def active(self) -> bool:
        return bool(self._pushes) or self._pull is not None

    def add(self, link: int, force: np.ndarray, until: float, pose: np.ndarray, through: np.ndarray | None) -> None:
        """Add a force on a line ``through`` a point (3,) [m], by default the link's centre of mass."""
        if through is None:
            arm = turned(pose[None, link, 3:], self._model.inertia.com[None, link])[0]
        else:
            arm = through - pose[link, :3]
        self._pushes.append(Push(link, np.asarray(force, dtype=float), until, arm))

    def grab(self, link: int, point: np.ndarray, target: np.ndarray, pose: np.ndarray) -> None:
        back = pose[None, link, 3:] * (1.0, -1.0, -1.0, -1.0)
        self._pull = Pull(link, turned(back, (point - pose[link, :3])[None])[0], target)

    def drag(self, target: np.ndarray) -> None:
        if self._pull is not None:
            self._pull.target = target

    def release(self) -> None:
        self._pull = None

    def clear(self) -> None:
        self._pushes, self._pull = [], None

    def wrench(self, pose: np.ndarray, time: float) -> np.ndarray:
        """(nl, 6) present wrenches; pushes that have ended are removed."""
        total = np.zeros((len(pose), 6))
        self._pushes = [push for push in self._pushes if time < push.until - 1e-12]
        for push in self._pushes:
            total[push.link] += np.concatenate([push.force, np.cross(push.arm, push.force)])
        if self._pull is not None:
            arm, force = self._pulled(self._pull, pose, time)
            total[self._pull.link] += np.concatenate([force, np.cross(arm, force)])
        return total

    def _pulled(self, pull: Pull, pose: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
        arm = turned(pose[None, pull.link, 3:], pull.grip[None])[0]
        point = pose[pull.link, :3] + arm
        passed = time - pull.last_time
        velocity = (point - pull.last) / passed if pull.last is not None and passed > 1e-9 else np.zeros(3)
        if pull.last is None or passed > 1e-9:
            pull.last, pull.last_time = point, time
        stiffness = self.mass * PULL_RATE**2
        force = stiffness * (pull.target - point) - self.mass * PULL_RATE * velocity
        size = float(np.linalg.norm(force))
        return arm, force * min(1.0, STRONGEST * self.weight / max(size, 1e-12))
