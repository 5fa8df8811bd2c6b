"""Errors of positions: against the joints, and against a reference.

The distance d of two poses of a link is the root mean square of the distances of its mass points,

    d² = |c − c′|² + tr((R − R′)·Σ·(R − R′)ᵀ),    Σ = ∫ r·rᵀ dm / m = (½·tr(I)·1 − I)/m

with c its centre of mass, R its axes and I its inertia about c. A rotation counts by how far it moves mass.
"""

from __future__ import annotations

from math import inf, nan

import numpy as np

from stickslip.lab.compare.scorecard.measurements import Measurements
from stickslip.lab.compare.scorecard.rotation import angles, matrices, turned
from stickslip.record import Log

SAME_TIME = 1e-9
"""[s] Frames that are closer belong to the same instant."""


def joint_drift(e: Measurements) -> float:
    """Largest opening of a joint or loop [m or rad].

    Each link's pose on its parent is compared with the one that q gives, and the two frames of each loop are compared.
    """
    parent, x, R = e.model.tree.parent, e.position, e.axes
    x0, R0 = e.seen.pose[..., :3], matrices(e.seen.pose[..., 3:])
    to, to0 = R[:, parent].swapaxes(-1, -2), R0[:, parent].swapaxes(-1, -2)
    opened = turned(to, x - x[:, parent]) - turned(to0, x0 - x0[:, parent])
    worst = [np.linalg.norm(opened, axis=-1).max(), angles(to @ R, to0 @ R0).max()]
    for loop in e.model.closed_loops:
        a, b = loop.link1, loop.link2
        apart = x[:, b] + turned(R[:, b], loop.pos2) - x[:, a] - turned(R[:, a], loop.pos1)
        worst.append(np.linalg.norm(apart, axis=-1).max())
        if loop.kind == "weld":
            worst.append(angles(R[:, a] @ loop.rot1, R[:, b] @ loop.rot2).max())
    return float(max(worst))


def distances(e: Measurements) -> np.ndarray:
    """(k, nl − 1) d of every link at the k frames within the reference's time [m]."""
    assert e.reference is not None
    inertia = e.model.inertia
    within = (e.time >= e.reference.time[0] - SAME_TIME) & (e.time <= e.reference.time[-1] + SAME_TIME)
    x0, R0 = _at(e.reference, e.time[within])
    turn = e.axes[within, 1:] - R0[:, 1:]
    shift = e.position[within, 1:] - x0[:, 1:] + turned(turn, inertia.com[1:])
    return np.sqrt((shift**2).sum(-1) + np.einsum("klij,ljm,klim->kl", turn, _spread(e), turn))


def _spread(e: Measurements) -> np.ndarray:
    """(nl − 1, 3, 3) Σ [m²]; zero for links without mass."""
    inertia = e.model.inertia
    xx, yy, zz, xy, xz, yz = inertia.inertia[1:].T
    full = np.stack([np.stack(row, -1) for row in ([xx, xy, xz], [xy, yy, yz], [xz, yz, zz])], -2)
    half_trace = 0.5 * (xx + yy + zz)
    mass = inertia.mass[1:]
    moment = half_trace[:, None, None] * np.eye(3) - full
    return moment / np.where(mass > 0.0, mass, np.inf)[:, None, None]


def _at(log: Log, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Origins and axes of links at these times, linearly interpolated between frames."""
    before = np.clip(np.searchsorted(log.time, time + SAME_TIME, side="right") - 1, 0, len(log) - 1)
    after = np.minimum(before + 1, len(log) - 1)
    past, span = time - log.time[before], log.time[after] - log.time[before]
    part = np.divide(past, span, out=np.zeros_like(past), where=(past > SAME_TIME) & (span > 0.0))
    pose0, pose1 = log.pose[before], log.pose[after]
    w = part[:, None, None]
    position = pose0[..., :3] + w * (pose1[..., :3] - pose0[..., :3])
    R0, R1 = matrices(pose0[..., 3:]), matrices(pose1[..., 3:])
    return position, R0 + w[..., None] * (R1 - R0)


def _summary(e: Measurements, figure) -> float:
    if e.reference is None:
        return nan
    if e.log.outcome == "diverged":
        return inf
    d = distances(e)
    return float(figure(d, e.model.inertia.mass[1:])) if d.size else nan


def error_max(e: Measurements) -> float:
    return _summary(e, lambda d, mass: d.max())


def error_rms(e: Measurements) -> float:
    return _summary(e, lambda d, mass: np.sqrt(((d**2 @ mass) / mass.sum()).mean()))


def error_final(e: Measurements) -> float:
    return _summary(e, lambda d, mass: np.sqrt((d[-1] ** 2 @ mass) / mass.sum()))
