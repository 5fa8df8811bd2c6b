"""ArmReach: the fingertips of a six-joint arm shall be at a place above the floor."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stickslip.episodes.task import Moment, Start, Task, Variation, dot, length
from stickslip.model.model import Model
from stickslip.model.scene import Scene
from stickslip.scenes.arm import FINGER, FINGER_OPEN, FLANGE, PALM, add_arm, reach_down
from stickslip.worlds import Worlds

RATE = 1.0
"""[rad/s] of a joint, at most."""
GAINS = (400.0, 400.0, 200.0, 40.0, 40.0, 20.0)
"""[N m s/rad] of the joints' velocity servos."""
NEAR = 0.03
"""[m] within which a place is reached."""


class ArmReach(Task):
    name = "ArmReach"
    summary = "the fingertips of a six-joint arm shall reach a place, and stay there"
    action_names = tuple(f"rate of joint{k + 1}, ±1 rad/s" for k in range(6))
    observed = ("joint angles (6)", "their rates (6)", "the fingertips (3)", "the place from the fingertips (3)")
    rewarded = "less the distance [m] of the fingertips from the place, less 0.01·a²; 1 more within 3 cm"
    measured = ("miss", "m")
    seconds = 4.0
    dt = 2e-3
    variations: ClassVar = {
        "friction": Variation("friction", "floor", 0.2, 1.0),
        "mass": Variation("mass", "palm", 0.5, 2.5),
    }
    camera: ClassVar = {"target": (0.25, 0.0, 0.35), "distance": 2.2, "azimuth": -60.0, "elevation": 20.0}

    def scene(self) -> Model:
        scene = Scene(name="arm-reach")
        scene.add_plane(friction=0.5, name="floor")
        add_arm(scene, friction=0.2)
        model = scene.compile()
        for k, kv in enumerate(GAINS):
            model.set_actuator(f"joint{k + 1}", gain=kv, bias=(0, 0, -kv))
        for finger in ("finger1", "finger2"):
            model.set_actuator(finger, gain=1000.0, bias=(0, -1000.0, -50.0))
        return model

    def bind(self, model: Model) -> None:
        super().bind(model)
        self.hand = model.link("joint6")
        self.posture = reach_down(0.45, 0.35)

    def start(self, rng: np.random.Generator) -> Start:
        q = self.home.copy()
        q[:6], q[6:] = self.posture + rng.uniform(-0.1, 0.1, 6), FINGER_OPEN
        goal = np.array([rng.uniform(0.3, 0.55), rng.uniform(-0.3, 0.3), rng.uniform(0.05, 0.5)])
        return Start(q, np.zeros(self.model.nv), goal)

    def control(self, worlds: Worlds, action: np.ndarray) -> np.ndarray:
        return np.concatenate([RATE * action, np.full((len(action), 2), FINGER_OPEN)], axis=1)

    def _tips(self, now: Moment) -> np.ndarray:
        """(n, 3) the middle between the fingertips [m, world]."""
        pos, rot = now.worlds.link_poses()
        return pos[:, self.hand] + (FLANGE + PALM + FINGER) * rot[:, self.hand, :, 2]

    def observe(self, now: Moment) -> np.ndarray:
        tips = self._tips(now)
        return np.concatenate([now.q[:, :6], now.v[:, :6], tips, now.goal - tips], axis=1)

    def reward(self, now: Moment) -> np.ndarray:
        away = length(now.goal - self._tips(now))
        return -away - 0.01 * dot(now.action, now.action) + (away < NEAR)

    def mark(self, goal: np.ndarray) -> np.ndarray:
        return goal

    def measure(self, now: Moment) -> np.ndarray:
        return length(now.goal - self._tips(now))
