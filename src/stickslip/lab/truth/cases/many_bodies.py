"""Many bodies, as SimBenchmark has them: a pushed box that carries balls, and a cube of balls that collapses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.spatial.distance import pdist

from stickslip.lab.select import soft_methods
from stickslip.lab.truth.case import Case, Lesson, every_method
from stickslip.lab.truth.lessons import FOUR, PAPERS_CONE
from stickslip.record import Log
from stickslip.scenes import SCENES

SECONDS = 2.0
RADIUS, MASS = 0.1, 10.0
"""[m] and [kg] of the cube's balls."""


def measure_rolling(logs: Mapping[str, Log]) -> dict[str, float]:
    (log,) = logs.values()
    speed = np.linalg.norm(log.v.reshape(len(log), -1, 6)[:, :, :3], axis=2)
    late = log.time >= SECONDS / 2 - 1e-9
    slope = np.polyfit(log.time[late], speed[late], 1)[0]
    return {"box": slope[0], "balls": slope[1:].mean()}


def measure_cube(logs: Mapping[str, Log]) -> dict[str, float]:
    (log,) = logs.values()
    centres, velocity = log.pose[:, 1:, :3], log.v.reshape(len(log), -1, 6)[:, :, :3]
    overlap = max(max(2 * RADIUS - pdist(p).min(), RADIUS - p[:, 2].min()) for p in centres)
    energy = log.energy.sum(axis=1) + np.nan_to_num(log.contact_energy)
    sideways = MASS * velocity[:, :, :2].sum(axis=1)
    return {
        "overlap": max(0.0, overlap),
        "gained": (energy - np.minimum.accumulate(energy)).max() / energy[0],
        "momentum": np.linalg.norm(sideways, axis=1).max(),
    }


EXPLICIT = ("semi-implicit-euler", "euler", "rk4")

CASES = (
    Case("balls-on-box",
         "a box with 25 balls on it is pushed with 150 N across the floor, in the diagonal: it slides, they roll",
         {"box": SCENES["balls-on-box"].build}, SECONDS, measure_rolling, dts=(1e-2, 1e-3), record_dt=1e-2,
         methods=lambda: (*every_method(), FOUR, "variational/pyramid"), settings=PAPERS_CONE,
         unsuited={"bilateral*": "its contacts stick for good: a box that slides is not its subject"},
         lessons=(
             Lesson((FOUR, "variational/pyramid"),
                    "Four friction directions are a square inside Coulomb's circle: in the diagonal it has 0.71 of the "
                    "friction, and the box is pushed with 150 N against 97 N, not 137 N: 3.085 m/s², four times too "
                    "much. Eight directions, the default of polygonal cones, have the diagonal among them."),
             Lesson(EXPLICIT,
                    "Explicit steps of 10 ms are beyond what is stable for springs of 1e5 N/m: bodies are thrown "
                    "about.", shortest=2e-3),
             Lesson(("mujoco*",),
                    "MuJoCo's soft contacts chatter: the floor's force jumps from step to step by more than the "
                    "weight, some balls are in the air at any time, and what is measured scatters by some per cent."),
         )),
    Case("ball-cube",
         "6 × 6 × 6 balls without friction fall on each other and collapse: none overlap, no energy is gained",
         {"cube": SCENES["ball-cube"].build}, 0.5, measure_cube, dts=(1e-2, 2e-3), record_dt=1e-2,
         methods=lambda: (*every_method(), "stewart-trinkle/pgs"),
         unsuited={"bilateral*": "its contacts stick for good and pull: balls that meet would stay together"},
         quick=False,
         lessons=(
             Lesson(EXPLICIT,
                    "Explicit steps of 10 ms are beyond what is stable where balls are wedged between others: energy "
                    "comes from nowhere.", ("gained",), shortest=5e-3),
             Lesson(("expo*",),
                    "10 ms is too long for balls that collide: 0.1 % of the energy comes from nowhere; none with 2 ms.",
                    ("gained",), shortest=5e-3),
             Lesson(("relaxed*", "mujoco*"),
                    "Soft contacts store energy that is not recorded and give some of it back: the balls bounce.",
                    ("gained",)),
             Lesson((*soft_methods(), "relaxed*", "mujoco*"),
                    "Contacts are springs: balls that fall on each other press them in by 15 mm and more, 1/7 of their "
                    "radius, whatever dt.", ("overlap",)),
             Lesson(("stewart-trinkle", "peg", "event-selected", "expo", "variational"),
                    "216 balls with 500 contacts are too many for this method: a minute of computing does not get it "
                    "through half a second.", ("run",)),
             Lesson(("anitescu-potra*",),
                    "Anitescu–Potra stops the approach along the normal of the beginning of the step and never pushes "
                    "out: balls that pass each other come to overlap, by 19 mm at 10 ms and 4 mm at 2 ms.",
                    ("overlap",)),
         )),
)  # fmt: skip
