"""Hopper: Raibert's planar one-legged machine, which falls over unless it hops.

A body of 4 kg, a bar of 0.8 m, moves in a vertical plane (x, z, pitch). A servo at the hip turns a leg, a second servo
lengthens it; with 1500 N/m and 15 N s/m it is a spring that throws the machine up again. M. Raibert, "Legged Robots
That Balance" (MIT Press 1986), ch. 2. Differs from the book in: servos of position in place of air springs and
hydraulics; the body's centre of mass is 10 cm below the hip, not on it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stickslip.episodes.task import Moment, Start, Task, Variation, dot
from stickslip.model.scene import Scene
from stickslip.worlds import Worlds

HEIGHT = 0.68
"""[m] of the hip, above the floor at home."""
FOOT = 0.03
"""[m] Radius of the foot."""
SWING, THRUST = 0.7, 0.12
"""[rad], [m] how far an action moves the targets of hip and leg."""
LOW = 0.1
"""[m] of the body's centre of mass below the hip."""
FASTEST = 2.0
"""[m/s] Speed above which nothing more is rewarded."""


class Hopper(Task):
    name = "Hopper"
    summary = "a planar one-legged machine shall hop forward and not fall"
    action_names = ("target of the hip, ±0.7 rad", "target of the leg's length, ±0.12 m")
    observed = (
        "height and pitch of the body, angle of the hip, length of the leg, from home (4)",
        "the speed forward, and the velocities of these (5)",
        "the last action (2)",
    )
    rewarded = "1 for each action, and its speed [m/s] up to 2; effort costs 0.01·a²"
    fails = "the body is below 0.4 m or leans by more than 0.7 rad"
    measured = ("distance", "m")
    seconds = 8.0
    dt = 2e-3
    variations: ClassVar = {
        "friction": Variation("friction", "floor", 0.4, 1.2),
        "mass": Variation("mass", "body", 0.8, 1.2),
    }
    camera: ClassVar = {"target": (0.0, 0.0, 0.5), "distance": 3.2, "azimuth": -75.0, "elevation": 10.0}
    followed = "body"

    def scene(self) -> Scene:
        scene = Scene(name="planar-hopper")
        scene.add_plane(friction=0.8, name="floor")
        body = scene.add_body("body", pos=(0, 0, HEIGHT), joint="fixed")
        body.add_joint("slide", axis=(1, 0, 0), name="x")
        body.add_joint("slide", axis=(0, 0, 1), name="z")
        body.add_joint("hinge", axis=(0, 1, 0), name="pitch")
        body.add_box((0.8, 0.2, 0.1), pos=(0, 0, -LOW), mass=4.0, friction=0.1)
        thigh = body.add_body(
            "hip", joint="hinge", axis=(0, 1, 0), armature=0.01, motor="position", kp=80.0, kv=4.0, max_force=40.0
        )
        thigh.add_capsule(0.03, 0.25, pos=(0, 0, -0.15), mass=0.4, collide=False)
        leg = thigh.add_body(
            "leg", joint="slide", axis=(0, 0, -1), pos=(0, 0, -0.3), armature=0.1, motor="position", kp=1500.0, kv=15.0,
            max_force=300.0,
        )  # fmt: skip
        leg.add_capsule(0.02, 0.25, pos=(0, 0, -0.17), mass=0.2, collide=False)
        leg.add_sphere(FOOT, pos=(0, 0, FOOT - 0.35), mass=0.05, friction=0.1, name="foot")
        return scene

    def start(self, rng: np.random.Generator) -> Start:
        q = self.home + rng.uniform(-1.0, 1.0, 5) * (0.0, 0.02, 0.05, 0.05, 0.01)
        q[1] += 0.03
        return Start(q, rng.uniform(-0.1, 0.1, 5), np.zeros(0))

    def control(self, worlds: Worlds, action: np.ndarray) -> np.ndarray:
        return action * (SWING, THRUST)

    def observe(self, now: Moment) -> np.ndarray:
        return np.concatenate([now.q[:, 1:], now.v, now.action], axis=1)

    def reward(self, now: Moment) -> np.ndarray:
        return 1.0 + np.minimum(now.v[:, 0], FASTEST) - 0.01 * dot(now.action, now.action)

    def failed(self, now: Moment) -> np.ndarray:
        return (now.q[:, 1] + HEIGHT < 0.4) | (np.abs(now.q[:, 2]) > 0.7)

    def measure(self, now: Moment) -> np.ndarray:
        return now.q[:, 0].copy()
