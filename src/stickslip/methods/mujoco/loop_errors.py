"""Errors of closed loops and welds, from poses and velocities alone, independent of the method.

connect   e = p₂ − p₁                          ė = ṗ₂ − ṗ₁
weld      e = (p₂ − p₁, log(R₂·R₁ᵀ))           ė = (ṗ₂ − ṗ₁, ω₂ − ω₁)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from stickslip.dynamics.data import Kinematics
from stickslip.model.loops import Constraint


def loop_errors(loops: Sequence[Constraint], kin: Kinematics) -> np.ndarray:
    """(loops, 2) the largest entry of e [m or rad] and of ė [m/s or rad/s] of each loop."""
    worst = np.zeros((len(loops), 2))
    for k, loop in enumerate(loops):
        a, b = loop.link1, loop.link2
        p1, p2 = kin.pos[a] + kin.rot[a] @ loop.pos1, kin.pos[b] + kin.rot[b] @ loop.pos2
        e, rate = [p2 - p1], [_velocity(kin, b, p2) - _velocity(kin, a, p1)]
        if loop.kind == "weld":
            turn = kin.rot[b] @ loop.rot2 @ (kin.rot[a] @ loop.rot1).T
            e.append(Rotation.from_matrix(turn).as_rotvec())
            rate.append(kin.vel[b, 3:] - kin.vel[a, 3:])
        worst[k] = np.abs(e).max(), np.abs(rate).max()
    return worst


def _velocity(kin: Kinematics, link: int, point: np.ndarray) -> np.ndarray:
    return kin.vel[link, :3] + np.cross(kin.vel[link, 3:], point - kin.origin[link])
