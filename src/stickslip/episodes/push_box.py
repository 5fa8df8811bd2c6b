"""PushBox: a ball on two slides pushes a box over the floor to a place.

The box is held by Coulomb friction alone, so that where it goes is a matter of how it is touched (M. Mason, "Mechanics
and Planning of Manipulator Pushing Operations", IJRR 1986).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stickslip.episodes.task import Moment, Start, Task, Variation, length
from stickslip.model.scene import Scene
from stickslip.worlds import Worlds

SPEED = 0.5
"""[m/s] of the pusher, at most."""
SIDE, TALL, RADIUS = 0.2, 0.1, 0.03
"""[m] The box's length and height, and the pusher's radius."""
NEAR = 0.04
"""[m] within which the box is at its place."""


class PushBox(Task):
    name = "PushBox"
    summary = "a ball shall push a box over the floor to a place half a metre ahead"
    action_names = ("velocity of the pusher along x, ±0.5 m/s", "along y, ±0.5 m/s")
    observed = (
        "the box from the pusher (2)", "the place from the box (2)", "sine and cosine of the box's turn (2)",
        "velocity of the pusher (2)", "velocity and turning rate of the box (3)",
    )  # fmt: skip
    rewarded = "less 2·(box from its place) and 0.5·(pusher from the box) [m]; 1 if the box is within 4 cm of its place"
    fails = "the box is more than 1.5 m away from its place"
    measured = ("miss", "m")
    seconds = 6.0
    dt = 4e-3
    variations: ClassVar = {
        "friction": Variation("friction", "floor", 0.2, 0.8),
        "mass": Variation("mass", "box", 0.5, 1.5),
    }
    camera: ClassVar = {"target": (0.2, 0.0, 0.0), "distance": 1.9, "azimuth": -80.0, "elevation": 40.0}

    def scene(self) -> Scene:
        scene = Scene(name="push-box")
        scene.add_plane(friction=0.4, name="floor")
        box = scene.add_box((SIDE, SIDE, TALL), pos=(0, 0, TALL / 2), mass=1.0, friction=0.2, name="box")
        box.add_box((0.02, SIDE, 0.002), pos=(0.08, 0, TALL / 2), mass=1e-3, collide=False, rgba=(0.95, 0.9, 0.8, 1))
        pusher = scene.add_body("pusher", pos=(-0.3, 0, TALL / 2), joint="fixed")
        for name, axis in (("pusher_x", (1, 0, 0)), ("pusher_y", (0, 1, 0))):
            pusher.add_joint("slide", axis=axis, name=name, motor="velocity", kv=60.0)
        pusher.add_sphere(RADIUS, mass=0.5, friction=0.2, rgba=(0.8, 0.3, 0.2, 1))
        return scene

    def bind(self, model) -> None:
        super().bind(model)
        names = list(model.joint_names)
        self.box_first = names.index("box") < names.index("pusher_x")
        self.q_box, self.v_box = (slice(0, 7), slice(0, 6)) if self.box_first else (slice(2, 9), slice(2, 8))
        self.pusher = slice(7, 9) if self.box_first else slice(0, 2)
        self.v_pusher = slice(6, 8) if self.box_first else slice(0, 2)

    def start(self, rng: np.random.Generator) -> Start:
        q, v = self.home.copy(), np.zeros(self.model.nv)
        turn = rng.uniform(-0.15, 0.15)
        box = q[self.q_box]
        box[:2], box[3], box[6] = rng.uniform(-0.03, 0.03, 2), np.cos(turn / 2), np.sin(turn / 2)
        q[self.pusher] = rng.uniform(-0.03, 0.03, 2)
        return Start(q, v, np.array([rng.uniform(0.4, 0.6), rng.uniform(-0.15, 0.15)]))

    def control(self, worlds: Worlds, action: np.ndarray) -> np.ndarray:
        return SPEED * action

    def _places(self, now: Moment) -> tuple[np.ndarray, np.ndarray]:
        """(n, 2), (n, 2) the box from the pusher, and the goal from the box [m]."""
        box = now.q[:, self.q_box][:, :2]
        return box - (now.q[:, self.pusher] + (-0.3, 0.0)), now.goal - box

    def observe(self, now: Moment) -> np.ndarray:
        to_box, to_goal = self._places(now)
        quat, velocity = now.q[:, self.q_box][:, 3:], now.v[:, self.v_box]
        sine = 2 * (quat[:, :1] * quat[:, 3:] + quat[:, 1:2] * quat[:, 2:3])
        cosine = 1 - 2 * (quat[:, 2:3] ** 2 + quat[:, 3:] ** 2)
        moving = np.concatenate([velocity[:, :2], velocity[:, 5:]], axis=1)
        return np.concatenate([to_box, to_goal, sine, cosine, now.v[:, self.v_pusher], moving], axis=1)

    def reward(self, now: Moment) -> np.ndarray:
        to_box, to_goal = map(length, self._places(now))
        return -2.0 * to_goal - 0.5 * to_box + (to_goal < NEAR)

    def failed(self, now: Moment) -> np.ndarray:
        return length(self._places(now)[1]) > 1.5

    def mark(self, goal: np.ndarray) -> np.ndarray:
        return np.array([*goal, 0.0])

    def measure(self, now: Moment) -> np.ndarray:
        return length(self._places(now)[1])
