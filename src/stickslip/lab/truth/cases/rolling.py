"""Balls: one that slides until it rolls, and ones that roll or slide down an incline."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from stickslip.lab.truth.case import Case, Lesson
from stickslip.lab.truth.lessons import creeps, sticks, unstable
from stickslip.record import Log
from stickslip.scenes import SCENES

RADIUS = 0.1
"""[m]."""
SPEED = 2.0
"""[m/s]."""
ANGLE = 0.3
"""[rad]."""


def measure_ball(logs: Mapping[str, Log]) -> dict[str, float]:
    (log,) = logs.values()
    slip = log.v[:, 0] - RADIUS * log.v[:, 4]
    grips = np.flatnonzero(slip < 0.01 * SPEED)
    return {"speed": log.v[-1, 0], "slip": abs(slip[-1]), "grip_time": log.time[grips[0]] if len(grips) else np.nan}


def measure_incline(logs: Mapping[str, Log]) -> dict[str, float]:
    down = np.array([np.cos(ANGLE), 0.0, -np.sin(ANGLE)])
    rolls, slides = logs["rough"], logs["smooth"]

    def acceleration(log: Log) -> float:
        late = log.time >= 0.5 - 1e-9
        return np.polyfit(log.time[late], (log.v[:, :3] @ down)[late], 1)[0]

    return {
        "rolling": acceleration(rolls),
        "slip": abs(rolls.v[-1, :3] @ down - RADIUS * rolls.v[-1, 4]),
        "sliding": acceleration(slides),
    }


SINKS = Lesson(
    ("mujoco",),
    "By its default softness the ball lies 0.37 mm deep, and touches the floor in the middle of that depth: it rolls "
    "on a radius of 99.8 mm, so that v − r·ω is not zero, and on 0.2 % less of it has 0.1 % less acceleration. "
    "Friction that acts below the floor also takes angular momentum when the ball lands from its hops (0.3 % at dt = "
    "10 ms).",
    ("speed", "slip", "rolling"),
)

CASES = (
    Case("sliding-ball",
         "a ball slides with 2 m/s (μ = 0.5), is set turning by friction, and rolls on with 5/7 of its speed",
         {"ball": partial(SCENES["ball"].build, speed=SPEED, friction=0.5)}, 0.5, measure_ball, dts=(1e-2, 1e-3),
         lessons=(
             *unstable({"semi-implicit-euler": 1.5e-3, "euler": 1.5e-3, "rk4": 3e-3}),
             sticks("The ball is held at a point of its surface, and turns about that."),
             Lesson(("relaxed*",),
                    "A sliding relaxed contact hovers at (dt + B/K)·μ·v. As the slip falls with 7/2·μ·g the ball "
                    "sinks, which takes load off the floor: it grips later by (dt + B/K)·7/2·μ², 11 ms at dt = 10 ms "
                    "and 3.5 ms at 1 ms.", ("grip_time",)),
             Lesson(("mujoco",),
                    "MuJoCo's friction brings a slip below 0.2 m/s to rest exponentially, with the rate 2/(d·20 ms) of "
                    "its solref, and not at an instant: it grips 13 ms late, whatever dt.", ("grip_time",)),
             SINKS,
         )),
    Case("rolling-ball", "a ball on a plane of 0.3 rad rolls where μ = 0.5, and slides where μ = 0.05",
         {"rough": partial(SCENES["ball-rolling"].build, angle=ANGLE, friction=0.5),
          "smooth": partial(SCENES["ball-rolling"].build, angle=ANGLE, friction=0.05)},
         1.0, measure_incline, dts=(1e-2, 1e-3), record_dt=1e-2,
         lessons=(
             *unstable({"semi-implicit-euler": 1.5e-3, "euler": 1.5e-3, "rk4": 2.15e-3}),
             sticks("The ball is held at a point of its surface, and swings about that."),
             creeps("Rolling needs 0.83 N: 2.1 mm/s at dt = 1 ms.", ("slip",)),
             SINKS,
             Lesson(("variational*",),
                    "The discrete momentum of a body that turns by an angle δ in a step is I·ω·√(1 − (δ/2)²): here δ "
                    "comes to 0.2 rad, the ball seems up to 1.5 % easier to turn, and rolls 0.3 % faster. Second order "
                    "in dt.", ("rolling",), shortest=1e-2),
         )),
)  # fmt: skip
