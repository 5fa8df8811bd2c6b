"""Fig. 4: joint errors of a hanging pendulum in maximal coordinates, with and without stabilisation.

The period is the mean time between zero crossings of the angle in the same direction, interpolated; it is compared with
that of the same step in joint coordinates, which know no joint errors.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.rpisim.setups import Sizes, build, simulation
from stickslip.lab.papers.store import Store
from stickslip.methods.rigid.time_stepping import TimeStepping


class Case(NamedTuple):
    """One pendulum."""

    scene: str
    joint: str
    dt: float
    """[s]."""
    original: float
    """Drift of the original without stabilisation after 5 s [m]."""


CASES = (Case("pendulum", "revolute", 0.01, 1.7e-3), Case("hanging-rod", "spherical", 0.005, 8.4e-4))
COORDINATES: dict[str, dict[str, Any]] = {
    "joint": {"coordinates": "joint"},
    "maximal": {"coordinates": "maximal", "stabilise": False},
    "maximal, stabilised": {"coordinates": "maximal", "stabilise": True},
}


def swing(case: Case, coordinates: str, seconds: float) -> dict[str, Any]:
    """Joint errors and the height of the centre of mass over time."""
    sim = simulation(build(case.scene), "stewart-trinkle/lemke", case.dt, **COORDINATES[coordinates])
    assert isinstance(sim.stepper, TimeStepping)
    errors, swings = [], []
    for _ in range(round(seconds / case.dt)):
        sim.step()
        position, velocity = sim.stepper.coordinates.joint_error()
        errors.append([float(np.max(position, initial=0.0)), float(np.max(velocity, initial=0.0))])
        swings.append(float(angle(sim)))
    times = case.dt * np.arange(1, len(errors) + 1)
    position, velocity = np.array(errors).T
    return {
        "times": times.tolist(),
        "position": position.tolist(),
        "velocity": velocity.tolist(),
        "angle": swings,
        "period": period(times, np.array(swings)),
    }


def angle(sim) -> float:
    """[rad] of the rod against the vertical, in the plane in which it swings."""
    kin = sim.kinematics
    sim.observe()
    axis = kin.rot[1, :, 2]
    sideways = axis[0] if abs(axis[0]) > abs(axis[1]) else axis[1]
    return np.arctan2(sideways, axis[2])


def period(times: np.ndarray, angles: np.ndarray) -> float | None:
    """[s] between upward zero crossings; None where there are not two."""
    k = np.flatnonzero((angles[:-1] < 0.0) & (angles[1:] >= 0.0))
    if len(k) < 2:
        return None
    crossings = times[k] - angles[k] * (times[k + 1] - times[k]) / (angles[k + 1] - angles[k])
    return float(np.mean(np.diff(crossings)))


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One entry per joint and kind of coordinates, with the largest errors."""
    result = []
    for case in CASES:
        for coordinates in COORDINATES:
            parameters = {"scene": case.scene, "coordinates": coordinates, "seconds": sizes.pendulum_seconds}
            with quiet():
                unit = store.unit("drift", parameters, partial(swing, case, coordinates, sizes.pendulum_seconds))
            result.append({"joint": case.joint, "dt": case.dt, "original": case.original, **unit})
    return result
