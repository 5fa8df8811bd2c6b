"""Not in the paper: what Mehrotra's predictor and warm starts save, in iterations of the interior point.

An iteration factors the system once; with the predictor it solves it twice, without it once, which is little beside the
evaluation and the factor. Motions: a cube (0.5 m, 1 kg) dropped from 0.6 m and sliding at 2 m/s, a chain of ten links
that lands, the hopper's jump, A1's walk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.store import Store
from stickslip.lab.papers.variational.setups import DT, ROBOT_DT, Sizes
from stickslip.model.scene import Scene
from stickslip.progress import Progress
from stickslip.scenes import SCENES, Setup
from stickslip.simulation import Simulation

CONES, TOLERANCES = ("pyramid", "circular"), (1e-6, 1e-10)


def cube(height: float, speed: float) -> Setup:
    scene = Scene(name="cube")
    scene.add_plane(friction=0.3)
    scene.add_box((0.5, 0.5, 0.5), mass=1.0, pos=(0.0, 0.0, height))
    return Setup(scene, velocity=np.array([speed, 0.0, 0.0, 0.0, 0.0, 0.0]))


class Case(NamedTuple):
    """A motion whose iterations are counted."""

    build: Callable[[], Setup]
    dt: float
    """[s]."""
    seconds: float


CASES = {
    "cube drop": Case(partial(cube, 0.6, 0.0), DT, 0.8),
    "sliding cube": Case(partial(cube, 0.25, 2.0), DT, 0.8),
    "chain landing": Case(partial(SCENES["chain"].build, height=0.1), DT, 1.0),
    "hopper-turn": Case(SCENES["hopper-turn"].build, ROBOT_DT, 2.8),
    "a1-walk": Case(SCENES["a1-walk"].build, ROBOT_DT, 0.6),
}


def count(case: str, cone: str, tolerance: float, warm: bool, predictor: bool, share: float) -> dict[str, Any]:
    build, dt, seconds = CASES[case]
    setup = build()
    with quiet():
        sim = Simulation(
            setup.scene, method=f"variational/{cone}", dt=dt, user=setup.user, tolerance=tolerance, warm_start=warm,
            predictor=predictor,
        )  # fmt: skip
        if setup.velocity is not None:
            sim.set_state(v=setup.velocity)
        log = sim.run(
            round(share * seconds, 3), controller=setup.controller, control_dt=setup.control_dt, record_dt=dt,
            failures=False,
        )  # fmt: skip
    steps = log.iterations[1:]
    return {
        "steps": len(steps),
        "mean": float(steps.mean()),
        "largest": int(steps.max()),
        "unconverged": int(sim.stepper.unconverged),
    }


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per motion and way of solving."""
    ways = list(product(sizes.counted, CONES, TOLERANCES, (True, False), (True, False)))
    result = []
    with Progress("iterations", len(ways)) as bar:
        for case, cone, tolerance, warm, predictor in ways:
            parameters = {
                "case": case, "cone": cone, "tolerance": tolerance, "warm": warm, "predictor": predictor,
                "share": sizes.share,
            }  # fmt: skip
            compute = partial(count, case, cone, tolerance, warm, predictor, sizes.share)
            result.append(store.unit("iterations", parameters, compute))
            bar.update(len(result))
    return result
