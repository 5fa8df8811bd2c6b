"""Impacts: a ball that bounces to rest, and Newton's cradle."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from stickslip.lab.truth.case import Case, Lesson, every_method
from stickslip.lab.truth.lessons import sticks
from stickslip.record import Log
from stickslip.scenes import SCENES

RADIUS = 0.1
"""[m] of the ball that bounces."""
MOVES = 1e-3
"""[m/s] it rests below this."""
SWING = 0.1 * 9.81 * 0.5 * (1.0 - np.cos(np.pi / 6))
"""[J] of the cradle's first ball: 0.1 kg, 0.5 m, 30°."""


def measure_bounces(logs: Mapping[str, Log]) -> dict[str, float]:
    (log,) = logs.values()
    height, speed = log.q[:, 2] - RADIUS, log.v[:, 2]
    up = np.flatnonzero(speed > 0.1)
    landed = up[0] if len(up) else len(log) - 1
    again = landed + np.flatnonzero(speed[landed:] < 0.0)
    first = height[landed : again[0] + 1].max() if len(again) else np.nan
    moving = np.flatnonzero(np.abs(speed) > MOVES)
    return {
        "first_height": first,
        "rest_time": log.time[moving[-1]] if len(moving) and moving[-1] < len(log) - 1 else np.nan,
        "rest_height": height[-1],
    }


def measure_cradle(logs: Mapping[str, Log]) -> dict[str, float]:
    (log,) = logs.values()
    struck = log.time > 0.45
    return {
        "last": log.q[:, -1].max(),
        "others": np.abs(log.q[struck, :-1]).max(),
        "energy": abs(log.energy[-1].sum() - log.energy[0].sum()) / SWING,
    }


EXPLICIT = ("semi-implicit-euler", "euler", "rk4", "mujoco/spring-damper")
SOFT = Lesson(
    ("mujoco",),
    "MuJoCo's own contacts (solref 0.02 s, 1) are critically damped and know no restitution: little or nothing "
    "bounces. With the scene's springs, mujoco/spring-damper, it does.",
)
NO_RESTITUTION = {"variational*": "its contacts are rigid and know no restitution: nothing bounces"}


def by_springs() -> tuple[str, ...]:
    return (*every_method(), *(("mujoco/spring-damper",) if "mujoco" in every_method() else ()))


CASES = (
    Case("bouncing-ball", "a ball falls 1 m and bounces with e = 0.7 until it rests",
         {"ball": partial(SCENES["bouncing-ball"].build, restitution=0.7, stiffness=1e6)}, 3.0, measure_bounces,
         dts=(1e-3, 1e-2, 1e-4), methods=by_springs, bounces_by_springs=True, unsuited=NO_RESTITUTION,
         lessons=(
             Lesson(EXPLICIT,
                    "A contact lasts 3 ms. In three steps of 1 ms it gives energy or takes it, as touchdown and "
                    "lift-off fall into them: the first bounce is 0.85 m high, by explicit Euler 2.2 m, by rk4 0.56 m, "
                    "instead of 0.49 m. A step of 10 ms ends up to 44 mm deep, and the spring shoots the ball up.",
                    shortest=1e-3),
             Lesson(("euler",),
                    "Explicit Euler gives an oscillator energy in every step, (ω·dt)² of it: after the 30 steps of a "
                    "contact the first bounce is 18 % too high."),
             Lesson(("implicit-euler",),
                    "Implicit Euler damps what it does not resolve: a contact lasts 3 ms, and of the first bounce 8 % "
                    "are left at dt = 1 ms and 75 % at 0.1 ms. Stable at any step is not right at any step."),
             Lesson(("relaxed*",),
                    "Relaxed contacts are springs and dampers at the end of the step, as implicit Euler's, and damped "
                    "like them; they also push before they touch."),
             Lesson(("anitescu-potra*",),
                    "Contacts that would be met within the step are held where they are: the ball rests up to g·dt² = "
                    "0.98 mm above the floor.", ("rest_height",)),
             sticks("The ball stays where it lands, up to a step's way below the floor."),
             SOFT,
         )),
    Case("newtons-cradle", "five balls, 1 mm apart: the first strikes, the last swings out, the others stay (e = 1)",
         {"cradle": SCENES["newtons-cradle"].build}, 0.9, measure_cradle, dts=(1e-4, 1e-3, 2e-5), methods=by_springs,
         bounces_by_springs=True, unsuited=NO_RESTITUTION,
         lessons=(
             Lesson(EXPLICIT,
                    "A contact lasts 0.22 ms. In two steps of 0.1 ms it gives energy or takes it, as touch and "
                    "lift-off fall into them: rk4 loses 13 %, explicit Euler throws the balls about, and semi-implicit "
                    "Euler and MuJoCo's springs are right by chance (at 0.09 ms they gain 26 %). In a step of 1 ms a "
                    "ball comes up to 1.15 mm deep into the next, and the springs throw them about.", shortest=1e-4),
             Lesson(("stewart-trinkle*", "peg*", "coulomb*"),
                    "A ball covers 1.15 mm in a step of 1 ms, more than a gap: impacts that come one after another "
                    "fall into one problem, and Newton's restitution shares the velocities out among the balls. Of "
                    "impacts at one instant rigid bodies leave the answer open.", shortest=1e-3),
             Lesson(("event-selected",),
                    "Touchdown and lift-off are crossed by projections within eps = 10 µm, and these contacts are 80 "
                    "µm deep: 3 % of the energy are gained. With eps = 1 µm the angle is right to 1e-4."),
             Lesson(("euler",), "Explicit Euler gives an undamped contact energy in every step, (ω·dt)² of it."),
             Lesson(("implicit-euler", "relaxed*"),
                    "Implicit springs damp a contact that lasts 0.22 ms, a few steps, until little or no bounce is "
                    "left."),
             sticks("Two balls joined where they touch make a rigid triangle with their pivots: everything stops."),
             SOFT,
         )),
)  # fmt: skip
