"""PegInHole: a compliant wrist shall put a square peg into a hole that a camera sees with an error of up to 2 mm.

The wrist moves by velocity servos along x, y and z; the peg tilts on springs below it. The hole lies between four fixed
boxes and is 1 mm wider than the peg. D. Whitney, "Quasi-Static Assembly of Compliantly Supported Rigid Parts" (J. Dyn.
Sys. 1982), has the theory.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stickslip.episodes.task import Moment, Start, Task, Variation, length
from stickslip.model.scene import Scene
from stickslip.worlds import Worlds

WIDTH, LENGTH, MASS = 0.04, 0.1, 0.5
"""[m], [m], [kg] of the peg."""
CLEARANCE = 0.5e-3
"""[m] on each side."""
DEEP = 0.05
"""[m] of the hole."""
SPEED, KV = 0.1, 150.0
"""[m/s] of the wrist, at most, and [N s/m] of its servos."""
ABOVE = 0.02
"""[m] from the hole's rim to the peg's tip at the start."""
ERROR = 2e-3
"""[m] of the camera, at most, in x and in y."""


class PegInHole(Task):
    name = "PegInHole"
    summary = "a compliant wrist shall put a square peg into a hole that is 1 mm wider"
    action_names = tuple(f"velocity of the wrist along {axis}, ±0.1 m/s" for axis in "xyz")
    observed = (
        "the tip from the hole's rim [cm], sideways with the camera's error (3)", "velocity of the wrist [dm/s] (3)",
        "tilt of the peg (2)", "force of the servos [10 N] (3)",
    )  # fmt: skip
    rewarded = "depth of the tip / 5 cm, from −0.4 to 1, less 10·(distance sideways) [m]; 1 more below 4.5 cm"
    measured = ("depth", "m")
    seconds = 4.0
    dt = 2e-3
    variations: ClassVar = {
        "friction": Variation("friction", "peg", 0.1, 0.5),
        "mass": Variation("mass", "peg", 0.8, 1.2),
    }
    camera: ClassVar = {"target": (0.0, 0.0, 0.03), "distance": 0.55, "azimuth": -60.0, "elevation": 30.0}

    def scene(self) -> Scene:
        scene = Scene(name="peg-on-a-wrist")
        half, wall = WIDTH / 2 + CLEARANCE, 0.04
        for k, (x, y) in enumerate(((-1, 0), (1, 0), (0, 1), (0, -1))):
            size = (wall, 2 * (half + wall), DEEP) if x else (2 * half, wall, DEEP)
            place = ((half + wall / 2) * x, (half + wall / 2) * y, -DEEP / 2)
            scene.add_box(size, pos=place, joint="fixed", friction=0.05, name=f"side{k}")
        scene.add_plane(pos=(0, 0, -DEEP), friction=0.05, name="floor")
        wrist = scene.add_body("wrist", pos=(0, 0, ABOVE + LENGTH), joint="fixed")
        for axis, name in zip(np.eye(3), "xyz", strict=True):
            wrist.add_joint("slide", axis=axis, name=name, motor="velocity", kv=KV)
        wrist.add_cylinder(0.03, 0.02, pos=(0, 0, 0.02), mass=0.3, collide=False)
        roll = wrist.add_body("roll", joint="hinge", axis=(1, 0, 0), stiffness=5.0, damping=0.1, armature=1e-3)
        roll.set_inertia(0.05, inertia=(1e-4, 1e-4, 1e-4))
        peg = roll.add_body("peg", joint="hinge", axis=(0, 1, 0), stiffness=5.0, damping=0.1, armature=1e-3)
        colour = (0.85, 0.45, 0.2, 1)
        peg.add_box((WIDTH, WIDTH, LENGTH), pos=(0, 0, -LENGTH / 2), mass=MASS, friction=0.2, name="peg", rgba=colour)
        return scene

    def start(self, rng: np.random.Generator) -> Start:
        q = self.home.copy()
        q[:2] = rng.uniform(-0.01, 0.01, 2)
        q[3:] = rng.uniform(-0.02, 0.02, 2)
        return Start(q, np.zeros(self.model.nv), rng.uniform(-ERROR, ERROR, 2))

    def control(self, worlds: Worlds, action: np.ndarray) -> np.ndarray:
        weight = 9.81 * (MASS + 0.35) / KV  # velocity at which the servo carries the peg
        return SPEED * action + (0.0, 0.0, weight)

    def _tip(self, now: Moment) -> np.ndarray:
        """(n, 3) the middle of the peg's end, from the middle of the hole's rim [m]."""
        q = now.q
        side = LENGTH * np.stack([-np.sin(q[:, 4]), np.sin(q[:, 3]) * np.cos(q[:, 4])], axis=1)
        high = ABOVE + q[:, 2] + LENGTH * (1.0 - np.cos(q[:, 3]) * np.cos(q[:, 4]))
        return np.concatenate([q[:, :2] + side, high[:, None]], axis=1)

    def observe(self, now: Moment) -> np.ndarray:
        seen, speed = self._tip(now), now.v[:, :3]
        seen[:, :2] += now.goal
        force = KV * (SPEED * now.action - speed)
        return np.concatenate([100 * seen, 10 * speed, now.q[:, 3:], 0.1 * force], axis=1)

    def reward(self, now: Moment) -> np.ndarray:
        tip = self._tip(now)
        depth = np.clip(-tip[:, 2] / DEEP, -0.4, 1.0)
        return depth - 10.0 * length(tip[:, :2]) + (depth > 0.9)

    def measure(self, now: Moment) -> np.ndarray:
        return -self._tip(now)[:, 2]
