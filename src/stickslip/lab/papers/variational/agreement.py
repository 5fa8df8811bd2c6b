"""Not in the paper: walking robots by rigid contacts in maximal and in joint coordinates, and by stiff springs.

Solo12 and A1 trot by linear feedback, called every 2 ms, from feet that just touch, with `variational` (circular
cone), `coulomb` and `expo`. (With feedback of the joints alone, as in `a1-walk`, a foot that lands a step later changes
all that follows, and no method converges even to itself.) The reference is `variational` with the finest step. The
figure is the largest difference of configurations |q ⊖ q̂| over the motion [m, rad]. Springs have dampers of
B = 2·√(K·m) with a quarter m of the robot's mass on each foot: as K → ∞ they do what the others' rigid contacts do.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from stickslip.control import LinearFeedback
from stickslip.control.references import trot
from stickslip.control.references.feet import A1_FEET, SOLO12_FEET
from stickslip.control.references.lqr import Weights
from stickslip.dynamics import Dynamics
from stickslip.lab.papers.paper import Part, Results, finish, grid, image, new_figure, quiet
from stickslip.lab.papers.rows import Rows, distinct, number, table_of, where
from stickslip.lab.papers.variational.setups import NONE, ROUND, Sizes
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.model.scene import Scene
from stickslip.progress import Progress
from stickslip.simulation import Simulation

CONTROL_DT = 2e-3
"""Time between two calls of the controller [s]."""
FRAME = 1e-2
"""Time between the configurations that are compared [s]."""
FRICTION = 1.0
SHRINKS = 0.25
"""Limit of the ratio of the difference at the finest and the coarsest step, or at the stiffest and softest springs."""
LABELS = {ROUND: "variational, circular cone", "coulomb": "coulomb", "expo": "expo"}
COLOURS = {ROUND: "k", "coulomb": "C3", "expo": "C0"}


class Walker(NamedTuple):
    """A robot, how it walks, and what its torques cost."""

    feet: tuple[str, ...]
    swing: float
    """Time that a foot is in the air [s]."""
    overlap: float
    """Time between swings, with all feet on the floor [s]."""
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
    """The robot's controller, which all methods and grounds share."""
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


def study(store: Store, sizes: Sizes) -> Results:
    """One row per robot, method, step and stiffness."""
    stiffest, rows = max(sizes.stiffnesses), []
    cases: list[dict[str, Any]] = [
        {"method": ROUND, "dt": sizes.finest, "stiffness": None},
        *grid(method=(ROUND, "coulomb"), dt=sizes.steps, stiffness=[None]),
        *grid(method=["expo"], dt=sizes.steps, stiffness=[stiffest]),
        *grid(method=["expo"], dt=[min(sizes.steps)], stiffness=[K for K in sizes.stiffnesses if stiffest > K]),
    ]
    with Progress("agreement", len(sizes.robots) * len(cases)) as bar:
        for k, (robot, case) in enumerate(product(sizes.robots, cases)):
            parameters = {"robot": robot, **case}
            run = store.arrays("walk", {**parameters, "seconds": sizes.agreeing},
                               partial(walk, **parameters, seconds=sizes.agreeing))  # fmt: skip
            unconverged = int(run["unconverged"][0])
            if case is cases[0]:
                truth, failed = run["q"], unconverged
            else:
                rows.append({**parameters, "difference": difference(robot, run["q"], truth),
                             "unconverged": unconverged, "unconverged_reference": failed})  # fmt: skip
            bar.update(k + 1)
    return {"agreement": rows}


def by_stiffness(rows: Rows, robot: str) -> tuple[float, list[tuple[float, float]]]:
    """(finest step of expo, its (stiffness, difference) in ascending order)."""
    mine = where(rows, robot=robot, method="expo")
    finest = min(row["dt"] for row in mine)
    return finest, sorted((row["stiffness"], row["difference"]) for row in where(mine, dt=finest))


def targets(results: Results) -> list[Target]:
    rows, result = results["agreement"], []
    for robot in distinct(rows, "robot"):
        mine = where(rows, robot=robot)
        for method in (ROUND, "coulomb"):
            steps = sorted((row["dt"], row["difference"]) for row in where(mine, method=method))
            (fine, small), (coarse, large) = steps[0], steps[-1]
            name = f"{robot}, {method}: difference at {fine:g} s over that at {coarse:g} s"
            result.append(Target(name, small / large, max(SHRINKS, 1.5 * fine / coarse)))
        _, springs = by_stiffness(rows, robot)
        (softest, large), (stiffest, small) = springs[0], springs[-1]
        name = f"{robot}, expo: difference at K = {stiffest:g} over that at {softest:g}"
        result.append(Target(name, small / large, SHRINKS))
        for method in LABELS:
            failed = sum(row["unconverged"] for row in where(mine, method=method))
            result.append(Target(f"{robot}, {method}: steps that did not converge", failed, NONE))
        failed = max(row["unconverged_reference"] for row in mine)
        result.append(Target(f"{robot}, reference: steps that did not converge", failed, NONE))
    return result


def draw(results: Results):
    """Differences over the step and over the stiffness."""
    rows = results["agreement"]
    robots = distinct(rows, "robot")
    figure, axes = new_figure(len(robots), 2, (12, 4.2 * len(robots)))
    stiffest = max(row["stiffness"] for row in rows if row["stiffness"] is not None)
    for (left, right), robot in zip(axes, robots, strict=True):
        mine = where(rows, robot=robot)
        for method, label in LABELS.items():
            chosen = sorted((row["dt"], row["difference"]) for row in where(mine, method=method)
                            if row["stiffness"] in (None, stiffest))  # fmt: skip
            dt, off = np.array(chosen).T
            text = f"{label}, K = {stiffest:.0e} N/m" if method == "expo" else label
            left.loglog(1e3 * dt, off, "o--" if method == "coulomb" else "o-", color=COLOURS[method], label=text)
            if method == ROUND:
                left.loglog(1e3 * dt, 0.6 * off[-1] * dt / dt[-1], ":", color="grey", label="proportional to dt")
        left.set_xticks(1e3 * dt, [f"{1e3 * x:g}" for x in dt])
        left.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        left.set(xlabel="dt [ms]", title=f"{robot}: rigid contacts as dt → 0")
        finest, springs = by_stiffness(rows, robot)
        K, off = np.array(springs).T
        right.loglog(K, off, "o-", color=COLOURS["expo"], label=f"expo, dt = {1e3 * finest:g} ms")
        right.loglog(K, off[0] * K[0] / K, color="grey", linestyle=":", label="proportional to 1/K")
        for method in (ROUND, "coulomb"):
            closest = min((row["dt"], row["difference"]) for row in where(mine, method=method))
            right.axhline(closest[1], color=COLOURS[method], linestyle="--" if method == "coulomb" else "-",
                          label=f"{LABELS[method]}, dt = {1e3 * closest[0]:g} ms")  # fmt: skip
        right.set_ylim(bottom=0.3 * min(row["difference"] for row in mine))
        right.set(xlabel="stiffness of a contact K [N/m]", title=f"{robot}: springs as K → ∞")
        for ax in (left, right):
            ax.set_ylabel("largest |q ⊖ q̂| [m, rad]")
    finish(axes, which="both")
    return figure


def section(results: Results) -> str:
    return "\n".join([
        "## Beyond the paper: the same walk by other methods\n",
        image("agreement_of_methods", "Differences from the finest variational run, over dt and over stiffness"),
        "Solo12 and A1 trot by linear feedback. Rigid contacts in maximal coordinates, rigid contacts in joint "
        "coordinates and springs are three ways to the same motion: differences from a variational run with a much "
        "smaller step shrink with dt, and those of springs with K, until their own error of dt is left.\n",
        table_of(results["agreement"], {
            "robot": "{robot}", "method": "{method}", "dt [ms]": lambda row: f"{1e3 * row['dt']:g}",
            "K [N/m]": lambda row: number(row["stiffness"]), "largest difference [m, rad]": "{difference:.3g}",
            "unconverged": "{unconverged}",
        }),
    ])  # fmt: skip


AGREEMENT = Part("agreement", study, section, targets, {"agreement_of_methods": draw}, tables=("agreement",))
