"""Fig. 6: the hopper jumps and makes a full turn about (1, 1, 0) in the air; also by Coulomb's law.

The angle of the turn is that of the swing–twist decomposition about the axis, 2·atan2(a·q_v, q_w), counted on through
the turn; what is left over is the tilt away from it. Both are read when the foot lands.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stickslip.lab.papers.store import Store
from stickslip.lab.papers.variational.setups import METHOD, ROBOT_DT, Sizes, judge, places, play, thinned
from stickslip.progress import Progress

SCENE, FOOT = "hopper-turn", "hopper_foot"
AXIS = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)
METHODS = (METHOD, "coulomb")
AIR = 1e-6
"""[m] a foot that is higher does not touch."""


def turned(quat: np.ndarray) -> np.ndarray:
    """(n,) angle about AXIS [rad] of unit quaternions (n, 4), from the first on."""
    angle = np.unwrap(2.0 * np.arctan2(quat[:, 1:] @ AXIS, quat[:, 0]), period=2.0 * np.pi)
    return angle - angle[0]


def tilted(quat: np.ndarray) -> np.ndarray:
    """(n,) angle [rad] of what is left when the turn about AXIS is taken out."""
    along = quat[:, 1:] @ AXIS
    return 2.0 * np.arccos(np.clip(np.hypot(along, quat[:, 0]), 0.0, 1.0))


def jump(method: str) -> dict[str, Any]:
    motion = play(SCENE, method, ROBOT_DT)
    log = motion.log
    foot, quat = places(motion.sim.model, log.pose, [FOOT])[:, 0], log.pose[:, 1, 3:]
    air = np.flatnonzero(foot[:, 2] > AIR)
    landed = min(air[-1] + 1, len(foot) - 1)
    angle, tilt = np.rad2deg(turned(quat)), np.rad2deg(tilted(quat))
    return {
        **judge(motion),
        "turn": float(angle[landed]),
        "tilt": float(tilt[landed]),
        "turn_at_the_end": float(angle[-1]),
        "lowest": float(foot[:, 2].min()),
        "leaves": float(log.time[air[0]]),
        "lands": float(log.time[landed]),
        "highest": float(log.pose[:, 1, 2].max()),
        "drift": float(np.hypot(*foot[-1, :2])),
        "times": thinned(log.time),
        "foot": thinned(foot[:, 2]),
        "angle": thinned(angle),
        "height": thinned(log.pose[:, 1, 2]),
        "poses": thinned(log.pose[:, 1:, :].reshape(len(log.time), -1)),
    }


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per method."""
    result = []
    with Progress("hopper", len(METHODS)) as bar:
        for method in METHODS:
            result.append(store.unit("hopper", {"method": method}, partial(jump, method)))
            bar.update(len(result))
    return result
