"""Closed loops: a four-bar and Bricard's ring, whose energy stays."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from stickslip.lab.truth.case import Case, Lesson
from stickslip.record import Log
from stickslip.scenes import SCENES


def _carried(pose: np.ndarray, point: np.ndarray) -> np.ndarray:
    """(frames, 3) where a point that is fixed to a link goes, from the link's poses (frames, 7); ``point`` is in the
    world in the first frame."""

    def turned(quat: np.ndarray, vector: np.ndarray) -> np.ndarray:
        w, u = quat[:, :1], quat[:, 1:]
        return vector + 2.0 * np.cross(u, np.cross(u, vector) + w * vector)

    back = pose[:1, 3:] * np.array([1.0, -1.0, -1.0, -1.0])
    return pose[:, :3] + turned(pose[:, 3:], turned(back, (point - pose[0, :3])[None]))


def measure(logs: Mapping[str, Log]) -> dict[str, float]:
    (log,) = logs.values()
    potential, total = log.energy[:, 1], log.energy.sum(axis=1)
    swing = float(np.ptp(potential))
    mj = mujoco.MjModel.from_xml_string(log.scene_xml)
    opening = 0.0
    for k in range(mj.neq):
        one, other = (log.link(mj.body(b).name) for b in (mj.eq_obj1id[k], mj.eq_obj2id[k]))
        start = mujoco.MjData(mj)
        mujoco.mj_kinematics(mj, start)
        body = mj.eq_obj1id[k]
        point = start.xpos[body] + start.xmat[body].reshape(3, 3) @ mj.eq_data[k, :3]
        apart = _carried(log.pose[:, one], point) - _carried(log.pose[:, other], point)
        opening = max(opening, float(np.linalg.norm(apart, axis=1).max()))
    return {
        "energy": np.abs(total - total[0]).max() / swing if swing > 0.0 else np.nan,
        "swing": swing,
        "opening": opening,
    }


TIME_STEPPING = ("bilateral", "stewart-trinkle*", "anitescu-potra*", "peg*", "coulomb*", "relaxed*")

EXPLICIT = ("semi-implicit-euler*", "euler*", "rk4*")
SPRINGS = (*EXPLICIT, "implicit-euler*", "expo*", "event-selected*")
"""Methods whose loops are springs and dampers."""

FOUR_BAR = (
    Lesson(EXPLICIT,
           "Explicit steps on the loop's spring: stable up to 1.1 ms at the start and to less on the way. "
           "semi-implicit-euler diverges at 1 ms, all of them at 10 ms; without a given dt they take 0.5 ms.",
           ("run",)),
    Lesson(("euler*", "implicit-euler*"),
           "First order: in 10 s at 1 ms euler gains 12 % of the swing and implicit-euler loses 28 %; at 10 ms "
           "implicit-euler has come to rest.", ("energy", "swing")),
)  # fmt: skip

BRICARD = (
    Lesson(EXPLICIT,
           "Explicit steps on the springs of the loops: stable up to 0.5 ms; without a given dt they take 0.2 ms.",
           ("run",)),
    Lesson(("implicit-euler*",),
           "First order: the ring gains energy in proportion to dt, 16 % of the swing in 10 s at 1 ms, there whatever "
           "the stiffness of its loops.", ("energy", "swing"), longest=2e-3),
    Lesson(("implicit-euler*",),
           "First order: at 10 ms the ring gains so much energy that its loops open by centimetres.", shortest=5e-3),
    Lesson(("event-selected*", "expo*"),
           "The dampers of the loops lose 1.2 % of the swing in 10 s; with loop_stiffness=1e6 event-selected loses "
           "0.01 %.", ("energy",)),
)  # fmt: skip

LESSONS = (
    Lesson(SPRINGS,
           "Loops are springs here, by default so stiff that the weight of what they hold opens them by 0.1 mm: the "
           "four-bar opens by 0.2 mm on its way, Bricard's ring by 0.6 to 1.2 mm. With loop_stiffness=5e6 N/m expo "
           "opens the four-bar by 3 μm at 1 ms.", ("opening",)),
    Lesson(TIME_STEPPING,
           "Steps of first order lose energy in proportion to dt and time: 3 % of the four-bar's swing in 10 s at 1 "
           "ms, 31 % at 10 ms; of Bricard's 1.4 % and 11 %. The loop itself stays closed to 1e-10 m.",
           ("energy", "swing")),
    Lesson(("variational*",),
           "The energy of a variational integrator has no trend, but the recorded one, of velocities at ends of steps, "
           "goes up and down within a band in proportion to dt: tenfold at 10 ms.", ("energy",), shortest=5e-3),
    Lesson(("mujoco*",),
           "MuJoCo's loops are soft: they open by millimetres, and the energy drifts. The four-bar loses it; Bricard's "
           "ring, whose rows are redundant, gains it.", ("energy", "opening"), longest=2e-3),
    Lesson(("mujoco*",),
           "MuJoCo's loops are springs with a time constant of 20 ms, two steps of 10 ms: the four-bar opens by 9 mm, "
           "and Bricard's ring gains energy until it diverges."),
)  # fmt: skip

CASES = (
    Case("four-bar", "a four-bar linkage swings for 10 s: its loop stays closed, its energy is constant",
         {"four-bar": SCENES["four-bar"].build}, 10.0, measure, dts=(1e-3, 1e-2), record_dt=1e-2,
         lessons=FOUR_BAR + LESSONS,
         quick=False),
    Case("bricard", "Bricard's ring of six hinges turns inside out for 10 s, with constant energy",
         {"bricard": SCENES["bricard"].build}, 10.0, measure, dts=(1e-3, 1e-2), record_dt=1e-2,
         lessons=BRICARD + LESSONS,
         quick=False),
)  # fmt: skip
