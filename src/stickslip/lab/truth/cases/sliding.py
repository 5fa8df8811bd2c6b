"""Bodies that stick or slide: a block on inclines on both sides of the friction angle; a plate that slides to a stop in
sixteen directions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from stickslip.lab.truth.case import Case, Lesson, every_method
from stickslip.lab.truth.lessons import FOUR, PAPERS_CONE, PYRAMIDS, creeps, sticks, unstable
from stickslip.model.scene import Scene
from stickslip.record import Log
from stickslip.scenes import SCENES
from stickslip.simulation.setup import Setup

MU = 0.3
DIRECTIONS = 16
SPEED = 2.0
"""[m/s] of the plate."""


def measure_incline(logs: Mapping[str, Log]) -> dict[str, float]:
    stay, slide = logs["15°"], logs["20°"]
    speed = np.linalg.norm(slide.v[:, :3], axis=1)
    late = slide.time >= 0.5 - 1e-9
    return {"creep": np.linalg.norm(stay.v[-1, :3]), "acceleration": np.polyfit(slide.time[late], speed[late], 1)[0]}


def heading(k: int) -> np.ndarray:
    """(3,) unit."""
    angle = 2 * np.pi * k / DIRECTIONS
    return np.array([np.cos(angle), np.sin(angle), 0.0])


def plate(k: int) -> Setup:
    """A square plate (10 kg) that slides into a direction; its corners share the load alike in all of them."""
    scene = Scene(name="sliding-plate")
    scene.add_plane(friction=MU)
    scene.add_box((0.2, 0.2, 0.02), pos=(0, 0, 0.01), mass=10.0, friction=MU, name="plate")
    return Setup(scene, velocity=np.concatenate([SPEED * heading(k), np.zeros(3)]))


def measure_stop(logs: Mapping[str, Log]) -> dict[str, float]:
    places = np.array([log.q[-1, :3] - log.q[0, :3] for log in logs.values()])
    ways = np.array([heading(k) for k in range(DIRECTIONS)])
    distances = np.einsum("ij,ij->i", places, ways)
    aside = np.linalg.norm((places - distances[:, None] * ways)[:, :2], axis=1)
    return {
        "distance": distances.mean(),
        "spread": np.ptp(distances) / distances.mean(),
        "aside": aside.max(),
        "height": max(np.max(log.q[:, 2] - log.q[0, 2]) for log in logs.values()),
    }


CASES = (
    Case("incline", "a block on a plane of 15° stays, on one of 20° it slides (μ = 0.3: the friction angle is 16.7°)",
         {"15°": partial(SCENES["incline"].build, angle=np.deg2rad(15.0), friction=MU),
          "20°": partial(SCENES["incline"].build, angle=np.deg2rad(20.0), friction=MU)},
         1.0, measure_incline, dts=(1e-2, 1e-3, 2e-4), record_dt=1e-2,
         lessons=(
             *unstable({"semi-implicit-euler": 1.8e-3, "euler": 2.4e-3, "rk4": 5.2e-3}),
             sticks("The block stays on any slope.", ("acceleration",)),
             creeps("Each of four contacts holds 0.63 N: 1.6 mm/s at dt = 1 ms, 2.0 mm/s at 0.2 ms.", ("creep",)),
         )),
    Case("stopping-distance", "a plate slides with 2 m/s, into 16 directions, until friction (μ = 0.3) stops it",
         {f"{360 * k / DIRECTIONS:g}°": partial(plate, k) for k in range(DIRECTIONS)}, 1.0, measure_stop,
         dts=(1e-2, 1e-3), record_dt=1e-2, methods=lambda: (*every_method(), FOUR, "variational/pyramid"),
         settings=PAPERS_CONE,
         lessons=(
             *unstable({"semi-implicit-euler": 4.9e-3, "euler": 6.4e-3, "rk4": 1e-2}),
             sticks("The plate stops where it starts.", ("distance", "spread")),
             Lesson(PYRAMIDS,
                    "A pyramid inside the cone: midway between two of its n directions friction is μ·cos(π/n), and the "
                    "way 1/cos(π/n) times as long, 8 % longer with eight directions (the default of polygonal cones), "
                    "41 % with four (variational/pyramid). In between it is not opposed to the velocity, and the plate "
                    "is turned aside. More directions help, a round cone (coulomb, variational) ends it.",
                    ("distance", "spread", "aside")),
             Lesson(("relaxed*",),
                    "The convex relaxation lifts what slides: without the complementarity of Coulomb's law a sliding "
                    "contact must separate with μ·v, and hovers at (dt + B/K)·μ·v once it has come down: 7.8 mm at 2 "
                    "m/s and dt = 10 ms, 2.4 mm at 1 ms. The way is right all the same: what the hop takes from "
                    "friction, landing gives back.", ("height",)),
             Lesson(("mujoco",),
                    "MuJoCo solves the same convex relaxation: sliding contacts separate with μ·v, and the plate hops, "
                    "higher with longer steps.", ("height",)),
         )),
)  # fmt: skip
