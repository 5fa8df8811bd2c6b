"""Figs. 7 and 8: Unitree A1 walks; the signed distance of its feet over time."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stickslip.control.references.feet import A1_FEET
from stickslip.lab.papers.store import Store
from stickslip.lab.papers.variational.setups import METHOD, ROBOT_DT, Motion, Sizes, judge, places, play, thinned
from stickslip.progress import Progress

SCENE = "a1-walk"
RADIUS = 0.02
"""[m] of a foot, a sphere."""
FRONT_RIGHT = A1_FEET.index("FR_foot")
METHODS = (METHOD, "coulomb")


def distances(motion: Motion) -> np.ndarray:
    """(frames, 4) between feet and floor [m]."""
    return places(motion.sim.model, motion.log.pose, A1_FEET)[:, :, 2] - RADIUS


def walk(method: str, seconds: float) -> dict[str, Any]:
    motion = play(SCENE, method, ROBOT_DT, seconds, seconds=seconds)
    log, gap = motion.log, distances(motion)
    return {
        **judge(motion),
        "lowest": float(gap.min()),
        "highest_front_right": float(gap[:, FRONT_RIGHT].max()),
        "forward": float(log.pose[-1, 1, 0] - log.pose[0, 1, 0]),
        "tilt": float(np.rad2deg(2.0 * np.linalg.norm(log.pose[:, 1, 4:6], axis=1).max())),
        "times": thinned(log.time, 3001),
        "front_right": thinned(gap[:, FRONT_RIGHT], 3001),
        "all_feet": thinned(gap.min(axis=1), 3001),
        "poses": thinned(log.pose[:, 1:, :].reshape(len(log.time), -1), 301),
    }


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per method."""
    result = []
    with Progress("quadruped", len(METHODS)) as bar:
        for method in METHODS:
            parameters = {"method": method, "seconds": sizes.walking}
            result.append(store.unit("quadruped", parameters, partial(walk, method, sizes.walking)))
            bar.update(len(result))
    return result
