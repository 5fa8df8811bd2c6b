"""The largest stiffness and damping that tendons and actuators may have in the joints, for the longest stable step."""

from __future__ import annotations

import numpy as np

from stickslip.dynamics.drive_forces import add_drive_gains
from stickslip.dynamics.drives import make_drives
from stickslip.dynamics.transmission import transmit
from stickslip.model.model import Model


def add_largest_gains(
    model: Model, q: np.ndarray, stiffness: np.ndarray, damping: np.ndarray, *, servos: bool = True
) -> None:
    """Add bounds (nv,) of the stiffness and damping of all tendons and, with ``servos``, of all actuators, with their
    moment arms at q (nq,). Springs count by their linear term, limits as if they acted, muscles at full activation."""
    drives, nt = make_drives(model), len(model.tendons.limited)
    transmit(drives, np.ascontiguousarray(q, dtype=float), np.zeros(model.nv))
    drives.stiffness[:nt], drives.damping[:nt] = _of_tendons(model)
    if servos:
        drives.stiffness[nt:], drives.damping[nt:] = _of_actuators(model)
    add_drive_gains(drives, 0, 1.0, 1.0, stiffness, damping)


def _of_tendons(model: Model) -> tuple[np.ndarray, np.ndarray]:
    t, limited = model.tendons, model.tendons.limited != 0
    return t.stiffness[:, 0] + limited * t.limit_stiffness, t.damping[:, 0].copy()


def _of_actuators(model: Model) -> tuple[np.ndarray, np.ndarray]:
    a = model.actuators
    control = np.abs(np.where(np.isfinite(a.control_range), a.control_range, 1.0)).max(axis=1, initial=0.0)
    stiffness = np.where(a.muscle_bias != 0, 0.0, -a.bias[:, 1])
    damping = np.where(a.muscle_bias != 0, 0.0, -a.bias[:, 2])
    affine = a.muscle_gain == 0
    stiffness = stiffness + np.where(affine, control * np.abs(a.gain[:, 1]), 0.0)
    damping = damping + np.where(affine, control * np.abs(a.gain[:, 2]), 0.0)
    for k in np.flatnonzero((a.muscle_gain != 0) | (a.muscle_bias != 0)):
        numbers = a.gain[k] if a.muscle_gain[k] else a.bias[k]
        force = numbers[2] if numbers[2] >= 0.0 else numbers[3] / max(1e-15, a.peak[k])
        unit = (a.length_range[k, 1] - a.length_range[k, 0]) / max(1e-15, numbers[1] - numbers[0])
        steepest = 2.0 * max(1.0 / max(1e-15, 1.0 - numbers[4]), (1.0 + numbers[7]) / max(1e-15, numbers[5] - 1.0))
        stiffness[k] += force * numbers[8] * steepest / max(1e-15, unit)
        damping[k] += force * 2.0 / max(1e-15, unit * numbers[6])
    return np.maximum(0.0, stiffness), np.maximum(0.0, damping)
