"""Fig. 10: a six-joint arm reaches for an object, closes its gripper and lifts it.

Run in joint coordinates and in maximal ones; recorded are the joint angles beside their reference, the height of the
object, and, in maximal coordinates, the largest error of position in a joint. The targets: the object is lifted, in
all coordinates and formulations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.lab.papers.paper import Part, Results, finish, grid, image, new_figure, units
from stickslip.lab.papers.rows import number, table_of
from stickslip.lab.papers.rpisim.setups import EPSILON, FLOOR, Sizes, build, simulation
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.scenes import SCENES

COORDINATES = ("joint", "maximal")
METHODS = ("stewart-trinkle/lemke", "peg/lemke")
LIFT = 0.05
"""Least height by which the object must be lifted [m]."""


def grasp(method: str, coordinates: str, duration: float) -> dict[str, Any]:
    """Time series of one run of ``duration`` [s]."""
    setup = build("arm-grasp")
    sim = simulation(setup, method, coordinates=coordinates)
    log = sim.run(duration, controller=setup.controller, control_dt=setup.control_dt, progress=None)
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


def study(store: Store, sizes: Sizes) -> Results:
    seconds = sizes.grasp_seconds or SCENES["arm-grasp"].time
    rows = units(store, "grasp", grid(method=METHODS, coordinates=COORDINATES, duration=[seconds]), grasp)
    whole = sizes.grasp_seconds is None
    return {"grasp": [{**row, "whole": whole, "lifted": row["height"][-1] - row["height"][0]} for row in rows]}


def targets(results: Results) -> list[Target]:
    found = []
    for row in results["grasp"]:
        name = f"Fig. 10, {row['method']}, {row['coordinates']}"
        if row["whole"]:
            found.append(Target(f"{name}: wanted lift / lift", LIFT / max(row["lifted"], 1e-9), 1.0))
        if row["error"]:
            found.append(Target(f"{name}: joint error", max(row["error"]), EPSILON))
    return found


def draw(results: Results):
    """The arm's angles, the object's height, the joint errors."""
    figure, axes = new_figure(1, 3, (14, 4.2))
    left, middle, right = axes[0]
    one = results["grasp"][0]
    for k, angle in enumerate(np.array(one["angles"]).T):
        left.plot(one["times"], angle, label=f"joint {k + 1}")
    left.set(ylabel="angle [rad]", title=f"{one['method']}, {one['coordinates']} coordinates")
    for row in results["grasp"]:
        label = f"{row['method']}, {row['coordinates']}"
        middle.plot(row["times"], row["height"], label=label)
        if row["error"]:
            right.semilogy(row["times"], np.maximum(row["error"], FLOOR), label=label)
    middle.set(ylabel="height of the object [m]", title="the object is lifted")
    right.set(ylabel="largest joint error [m or rad]", title="joint errors in maximal coordinates")
    right.axhline(EPSILON, color="black", linestyle=":", label="ε = 1e-5")
    finish(axes, "time [s]")
    return figure


def section(results: Results) -> str:
    return "\n".join([
        "## Fig. 10: a grasp\n",
        image("fig10_grasp", "Fig. 10: an arm with six joints grasps and lifts an object"),
        table_of(results["grasp"], {
            "method": "{method}", "coordinates": "{coordinates}", "lifted [m]": "{lifted:.4f}",
            "largest joint error": lambda row: number(max(row["error"])) if row["error"] else "none",
            "steps not solved": "{unconverged}",
        }),
        "Differs from the paper in: arm, gripper, object and trajectory are ours; the paper gives no numbers.\n",
    ])  # fmt: skip


FIG10 = Part("fig10", study, section, targets, {"fig10_grasp": draw}, data=("grasp",))
