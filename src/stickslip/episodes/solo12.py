"""Solo12 stands and walks: servos of its twelve joints around the home posture.

The motors are position servos of 6 N m/rad and 0.1 N m s/rad within the robot's 2.7 N m, as its own controller has them
(F. Grimminger et al., "An Open Torque-Controlled Modular Robot Architecture for Legged Locomotion Research", IEEE RA-L
2020).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stickslip.episodes.task import Moment, Start, Task, Variation, dot
from stickslip.model.model import Model
from stickslip.model.scene import Scene
from stickslip.worlds import Worlds

KP, KV = 6.0, 0.1
"""[N m/rad], [N m s/rad]."""
REACH = 0.4
"""[rad] how far an action moves the targets of the joints."""
SPEED = 0.4
"""[m/s] that shall be walked with."""
RATE = 2.5
"""[1/s] of the clock that a walking robot has."""


class Solo12Stand(Task):
    name = "Solo12Stand"
    summary = "Solo12 is thrown, lands on its feet, and shall stand still"
    action_names = tuple(
        f"target of {leg}_{joint}, ±{REACH:g} rad"
        for leg in ("FL", "FR", "HL", "HR")
        for joint in ("HAA", "HFE", "KFE")
    )
    observed: tuple[str, ...] = (
        "height of the base (1)", "the vertical in the base's axes (3)", "velocity of the base in its axes (3)",
        "angular velocity (3)", "deviations of the joints from home (12)", "a tenth of their velocities (12)",
    )  # fmt: skip
    rewarded = "1 for each action, less 20·(height − 0.22)², lean, 0.2·speed², 0.02·spin² and 0.01·a²"
    fails = "the base is below 0.1 m or leans by more than 60°"
    measured = ("height", "m")
    seconds = 4.0
    dt = 2e-3
    variations: ClassVar = {
        "friction": Variation("friction", "floor", 0.4, 1.2),
        "mass": Variation("mass", "base_link", 0.8, 1.4),
    }
    camera: ClassVar = {"target": (0.0, 0.0, 0.15), "distance": 1.5, "azimuth": -55.0, "elevation": 15.0}
    followed = "base_link"

    def scene(self) -> Model:
        scene = Scene(name="solo12-servos")
        scene.add_plane(friction=0.8, name="floor")
        robot = scene.add_robot("solo12")
        model = scene.compile()
        for joint in robot.actuators:
            model.set_actuator(joint, gain=KP, bias=(0, -KP, -KV), control_range=(-np.inf, np.inf))
        return model

    def start(self, rng: np.random.Generator) -> Start:
        q, v = self.home.copy(), np.zeros(self.model.nv)
        q[2] += 0.1
        q[4:7] = rng.uniform(-0.12, 0.12, 3)
        q[3] = np.sqrt(1.0 - q[4:7] @ q[4:7])
        q[7:] += rng.uniform(-0.2, 0.2, 12)
        v[:2], v[3:6] = rng.uniform(-1.0, 1.0, 2), rng.uniform(-2.0, 2.0, 3)
        return Start(q, v, np.zeros(0))

    def control(self, worlds: Worlds, action: np.ndarray) -> np.ndarray:
        return self.home[7:] + REACH * action

    def observe(self, now: Moment) -> np.ndarray:
        turn = rotations(now.q[:, 3:7])
        velocity = np.stack([dot(turn[:, :, k], now.v[:, :3]) for k in range(3)], axis=1)
        joints, rates = now.q[:, 7:] - self.home[7:], 0.1 * now.v[:, 6:]
        return np.concatenate([now.q[:, 2:3], turn[:, 2], velocity, now.v[:, 3:6], joints, rates], axis=1)

    def reward(self, now: Moment) -> np.ndarray:
        v, lean = now.v, 1.0 - rotations(now.q[:, 3:7])[:, 2, 2]
        low, effort = now.q[:, 2] - self.home[2], dot(now.action, now.action)
        moved = 0.2 * dot(v[:, :3], v[:, :3]) + 0.02 * dot(v[:, 3:6], v[:, 3:6])
        return 1.0 - 20.0 * low * low - lean - moved - 0.01 * effort

    def failed(self, now: Moment) -> np.ndarray:
        return (now.q[:, 2] < 0.1) | (rotations(now.q[:, 3:7])[:, 2, 2] < 0.5)

    def measure(self, now: Moment) -> np.ndarray:
        return now.q[:, 2].copy()


class Solo12Walk(Solo12Stand):
    name = "Solo12Walk"
    summary = "Solo12 shall walk forward with 0.4 m/s"
    observed = (*Solo12Stand.observed, "a clock: sine and cosine of 2π·2.5·t (2)")
    rewarded = "0.5 for each action, 2.5 × the speed forward to 0.4 m/s; less 0.5·(sideways)², 0.1·(turning)², 0.005·a²"
    measured = ("distance", "m")
    seconds = 6.0

    def start(self, rng: np.random.Generator) -> Start:
        q, v = self.home.copy(), np.zeros(self.model.nv)
        q[2] += 0.005
        q[7:] += rng.uniform(-0.05, 0.05, 12)
        return Start(q, v, np.zeros(0))

    def observe(self, now: Moment) -> np.ndarray:
        angle = 2 * np.pi * RATE * now.time[:, None]
        return np.concatenate([super().observe(now), np.sin(angle), np.cos(angle)], axis=1)

    def reward(self, now: Moment) -> np.ndarray:
        forward = np.minimum(now.v[:, 0], SPEED) / SPEED
        aside = 0.5 * now.v[:, 1] * now.v[:, 1] + 0.1 * now.v[:, 5] * now.v[:, 5]
        return 0.5 + forward - aside - 0.005 * dot(now.action, now.action)

    def measure(self, now: Moment) -> np.ndarray:
        return now.q[:, 0].copy()


def rotations(quat: np.ndarray) -> np.ndarray:
    """(n, 3, 3) rotation matrices of unit quaternions (n, 4), in world axes."""
    w, x, y, z = quat.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=1) for row in rows], axis=1)
