"""Friction that jams: a squeezed wedge, and Painlevé's rod."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from stickslip.lab.select import soft_methods
from stickslip.lab.truth.case import Case, Lesson, every_method
from stickslip.lab.truth.lessons import creeps, sticks, unstable
from stickslip.record import Log
from stickslip.scenes import SCENES

HALF_ANGLE = 0.35
"""[rad] of the wedge."""
CRITICAL = 4.0 / 3.0
"""Friction from which the rod, at tan θ = 2, is in Painlevé's paradox."""
HALF = 0.5
"""[m] of the rod's length."""


def measure_wedge(logs: Mapping[str, Log]) -> dict[str, float]:
    held, expelled = logs["rough"], logs["smooth"]
    late = expelled.time >= 0.1 - 1e-9
    return {
        "creep": np.abs(held.v[-1]).max(),
        "acceleration": np.polyfit(expelled.time[late], expelled.v[late, 2], 1)[0],
    }


def tip(log: Log) -> np.ndarray:
    """(frames, 3) the rod's lower end: its place less HALF times its z axis."""
    w, x, y, z = log.q[:, 3:7].T
    axis = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
    return log.q[:, :3] - HALF * axis


def measure_rod(logs: Mapping[str, Log]) -> dict[str, float]:
    slides, jams = logs["below"], logs["above"]
    return {
        "sliding_spin": -slides.v[-1, 4],
        "jam_way": abs(tip(jams)[-1, 0] - tip(jams)[0, 0]),
        "jam_spin": -jams.v[-1, 4],
        "jam_lift": tip(jams)[:, 2].max(),
    }


CASES = (
    Case("wedge",
         "a wedge between two jaws (tan of its half angle: 0.365) holds with μ = 0.40, and is expelled with μ = 0.33",
         {"rough": partial(SCENES["wedge"].build, half_angle=HALF_ANGLE, friction=1.1 * np.tan(HALF_ANGLE)),
          "smooth": partial(SCENES["wedge"].build, half_angle=HALF_ANGLE, friction=0.9 * np.tan(HALF_ANGLE))},
         0.2, measure_wedge, dts=(1e-2, 1e-3), methods=lambda: (*every_method(), "coulomb/interior-point"),
         lessons=(
             *unstable({"semi-implicit-euler": 1e-3, "euler": 1e-3, "rk4": 1.25e-3}),
             sticks("The wedge is held with any friction.", ("acceleration",)),
             creeps("Jaws press with 10 N each: 0.6 mm/s at dt = 10 ms, 2.0 mm/s at 1 ms.", ("creep",)),
             Lesson(("mujoco",), "MuJoCo's friction creeps under a load, here with 1.1 mm/s whatever dt.", ("creep",)),
             Lesson(("mujoco",),
                    "Sliding contacts of the convex relaxation separate with μ·v: the faces part and meet again, and "
                    "at dt = 10 ms the wedge is expelled unevenly, with 0.58 to 0.66 m/s² from one tenth of a second "
                    "to the next.", ("acceleration",)),
         )),
    Case("painleve-rod", "a leaning rod slides on below the critical friction, and jams at once above it",
         {"below": partial(SCENES["painleve-rod"].build, speed=3.0, friction=0.8 * CRITICAL),
          "above": partial(SCENES["painleve-rod"].build, speed=1.0, friction=1.2 * CRITICAL)},
         0.02, measure_rod, dts=(1e-3, 1e-4, 1e-5),
         lessons=(
             Lesson(soft_methods(),
                    "A spring of 1e5 N/m is soft here: near the paradox the end's effective mass, 1/(1 + 3·cos²θ − "
                    "3·μ·sin θ·cos θ), grows, and it sinks in and swings while it slides. With K = 1e8 N/m sliding is "
                    "right to 1e-5.", ("sliding_spin",)),
             Lesson(soft_methods(),
                    "A spring must be pressed before friction can jam the end: it slides on for 4 mm, and then the "
                    "spring throws it up. Stiffer springs jam sooner (0.4 mm at K = 1e7 N/m), and throw it up all the "
                    "same, by 2 mm: an elastic impact is not the inelastic one of rigid bodies, however stiff.",
                    ("jam_*",)),
             sticks("It jams below the critical friction too.", ("sliding_spin",)),
             Lesson(("relaxed*",),
                    "Sliding contacts of the convex relaxation separate with μ·v, here 3.2 m/s: the end is pressed and "
                    "lifted (4 mm in 20 ms), and the rod turns by much more. Neither shorter steps nor stiffer "
                    "contacts mend it.", ("sliding_spin",)),
             Lesson(("relaxed*",),
                    "Its springs must be pressed before friction jams the end: it slides on for 1 to 2 mm.",
                    ("jam_way",)),
             Lesson(("variational*",),
                    "In the paradox its interior point finds no solution, in none of the steps (they are counted, and "
                    "the simulation warns): the end slides on as if the floor were smooth. Pivoting (stewart-trinkle) "
                    "and coulomb's sweeps find the impulse that jams.", ("jam_*",)),
             Lesson(("mujoco",),
                    "Contacts with a time constant of 20 ms are slower than what happens here: the end sinks in and "
                    "slides on for 8 mm. Sliding is right at dt = 0.01 ms, and off at longer steps by the lift of "
                    "sliding contacts."),
         )),
)  # fmt: skip
