"""Fig. 10: a six-joint arm reaches for an object, closes its gripper and lifts it.

Run in joint coordinates and in maximal ones; recorded are the joint angles beside their reference, the height of the
object, and, in maximal coordinates, the largest error of position in a joint.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.rpisim.setups import DT, Sizes, build
from stickslip.lab.papers.store import Store
from stickslip.scenes import SCENES
from stickslip.simulation import Simulation

COORDINATES = ("joint", "maximal")
METHODS = ("stewart-trinkle/lemke", "peg/lemke")


def grasp(method: str, coordinates: str, seconds: float) -> dict[str, Any]:
    """Time series of one run."""
    setup = build("arm-grasp")
    sim = Simulation(setup.scene, method=method, dt=DT, coordinates=coordinates, user=setup.user)
    log = sim.run(seconds, controller=setup.controller, control_dt=setup.control_dt, progress=None)
    thing = sim.model.link("object")
    arm = [int(sim.model.tree.joint_q[sim.model.joint(f"joint{k}")]) for k in range(1, 7)]
    error = log.joint_error[:, :, 0].max(axis=1).tolist() if coordinates == "maximal" else []
    return {
        "times": log.time.tolist(),
        "angles": log.q[:, arm].tolist(),
        "height": log.pose[:, thing, 2].tolist(),
        "error": error,
        "force": np.asarray(log.contact_force()).tolist(),
        "unconverged": int(sim.stepper.unconverged),
    }


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    seconds = sizes.grasp_seconds or SCENES["arm-grasp"].time
    result = []
    for method in METHODS:
        for coordinates in COORDINATES:
            parameters = {"method": method, "coordinates": coordinates, "duration": seconds}
            with quiet():
                unit = store.unit("grasp", parameters, partial(grasp, method, coordinates, seconds))
            result.append(
                {**unit, "whole": sizes.grasp_seconds is None, "lifted": unit["height"][-1] - unit["height"][0]}
            )
    return result
