"""Not in the paper: walking robots by rigid contacts in maximal and in joint coordinates, and by stiff springs.

Solo12 and A1 trot by linear feedback, called every 2 ms, from feet that just touch, with `variational` (circular
cone), `coulomb` and `expo`. (With feedback of the joints alone, as in `a1-walk`, a foot that lands a step later changes
all that follows, and no method converges even to itself.) The reference is `variational` with the finest step. The
figure is the largest difference of configurations |q ⊖ q̂| over the motion [m, rad]. Springs have dampers of
B = 2·√(K·m) with a quarter m of the robot's mass on each foot: as K → ∞ they do what the others' rigid contacts do.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from stickslip.control import LinearFeedback
from stickslip.control.references import trot
from stickslip.control.references.feet import A1_FEET, SOLO12_FEET
from stickslip.control.references.lqr import Weights
from stickslip.dynamics import Dynamics
from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.store import Store
from stickslip.lab.papers.variational.setups import ROUND, Sizes
from stickslip.model.scene import Scene
from stickslip.progress import Progress
from stickslip.simulation import Simulation

CONTROL_DT = 2e-3
"""[s]."""
FRAME = 1e-2
"""[s] between the configurations that are compared."""
FRICTION = 1.0


class Walker(NamedTuple):
    """A robot, how it walks, and what its torques cost."""

    feet: tuple[str, ...]
    swing: float
    """[s]."""
    overlap: float
    """[s]."""
    weights: Weights


WALKERS = {
    "solo12": Walker(SOLO12_FEET, 0.16, 0.04, Weights()),
    "a1": Walker(A1_FEET, 0.2, 0.05, Weights(torque=3.0)),
}


def scene(robot: str, stiffness: float | None = None) -> Scene:
    """On a rigid floor, or on springs."""
    result = Scene(name=f"{robot}-agreement")
    material: dict[str, Any] = {}
    if stiffness is not None:
        mass = float(scene(robot).compile().inertia.mass.sum())
        material = {"stiffness": stiffness, "damping": 2.0 * float(np.sqrt(stiffness * mass / 4.0))}
    result.add_plane(friction=FRICTION, **material)
    result.add_robot(robot)
    return result


@cache
def controller(robot: str, seconds: float) -> LinearFeedback:
    """The same for all methods and grounds."""
    walker = WALKERS[robot]
    return trot(
        scene(robot).compile(), control_dt=CONTROL_DT, weights=walker.weights, duration=seconds, speed=0.3,
        clearance=0.04, swing=walker.swing, overlap=walker.overlap, stand=0.1, friction=0.9 * FRICTION,
        feet=walker.feet,
    )[0]  # fmt: skip


def walk(robot: str, method: str, dt: float, stiffness: float | None, seconds: float) -> dict[str, np.ndarray]:
    """Configurations every FRAME, and how many steps were not solved."""
    with quiet():
        sim = Simulation(scene(robot, stiffness), method=method, dt=dt)
        log = sim.run(seconds, controller=controller(robot, seconds), control_dt=CONTROL_DT, record_dt=FRAME)
    return {"q": log.q, "unconverged": np.array([sim.stepper.unconverged])}


def difference(robot: str, q: np.ndarray, truth: np.ndarray) -> float:
    """The largest |q ⊖ q̂| of all frames [m, rad]."""
    dynamics = Dynamics(scene(robot).compile())
    return max(float(np.abs(dynamics.difference(a, b)).max()) for a, b in zip(truth, q, strict=True))


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per robot, method, step and stiffness."""
    cases: list[tuple[str, float, float | None]] = [
        (method, dt, None) for method in (ROUND, "coulomb") for dt in sizes.steps
    ]
    stiffest = max(sizes.stiffnesses)
    cases += [("expo", dt, stiffest) for dt in sizes.steps]
    cases += [("expo", min(sizes.steps), K) for K in sizes.stiffnesses if stiffest > K]
    result = []
    with Progress("agreement", len(sizes.robots) * (len(cases) + 1)) as bar:
        for robot in sizes.robots:
            runs = {}
            for case in [(ROUND, sizes.finest, None), *cases]:
                method, dt, stiffness = case
                parameters = {"robot": robot, "method": method, "dt": dt, "stiffness": stiffness}
                runs[case] = store.arrays(
                    "walk", {**parameters, "seconds": sizes.agreeing},
                    partial(walk, robot, method, dt, stiffness, sizes.agreeing),
                )  # fmt: skip
                if dt == sizes.finest:
                    truth, failed = runs[case]["q"], int(runs[case]["unconverged"][0])
                else:
                    off = difference(robot, runs[case]["q"], truth)
                    unconverged = int(runs[case]["unconverged"][0])
                    result.append({**parameters, "difference": off, "unconverged": unconverged,
                                   "unconverged_reference": failed})  # fmt: skip
                bar.update(len(result) + 1 + sizes.robots.index(robot))
    return result
