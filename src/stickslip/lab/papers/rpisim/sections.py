"""The sections of the report: every figure, our numbers beside the paper's, and what differs and why."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from stickslip.lab.papers.paper import image, table
from stickslip.lab.papers.rpisim.formulations import DIRECTIONS, FRICTION, SLOPE
from stickslip.lab.papers.rpisim.peg import FALL_STEPS, TRAVEL, free_fall

Results = dict[str, Any]


def number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}g}"


def distance(value: float) -> str:
    return "diverged" if value == float("inf") else number(value)


def figure_4(results: Results) -> str:
    rows = [
        (row["joint"], f"{row['dt']:g}", row["coordinates"], number(max(row["position"])), number(max(row["velocity"])),
         number(row["original"]) if row["coordinates"] == "maximal" else "", number(row["period"], 6))
        for row in results["drift"]
    ]  # fmt: skip
    return "\n".join([
        "## Fig. 4: joint errors of a hanging pendulum\n",
        image("fig4_joint_errors", "Fig. 4: largest joint error, without and with stabilisation"),
        "**Finding:** *without stabilisation the pendulum drifts; with it, errors of position and velocity are bounded "
        "by ε = 1e-5; the period is unchanged.*\n",
        table(("joint", "h [s]", "coordinates", "position error [m or rad]", "velocity error [m/s or rad/s]",
               "original, position", "period [s]"), rows),
        "Errors below the axis are zero but for rounding: a correction leaves no velocity error.\n",
        "Differs from the paper in: joint coordinates are there for comparison (they have no joint errors); the paper "
        "does not say which pendulum it shows, these are its program's two.\n",
    ])  # fmt: skip


def figure_8(results: Results) -> str:
    rows = [
        (row["label"], row["clearance"], f"{row['z']:.5f}", f"{row['top']:.5f}", str(row["unconverged"]))
        for row in results["peg"]
    ]
    return "\n".join([
        "## Fig. 8: a peg and a hole\n",
        image("fig8_peg_in_hole", "Fig. 8: height of the peg's centre"),
        f"Free fall ends at {free_fall(FALL_STEPS)[-1]:.5f} m after {FALL_STEPS} steps of 0.01 s; "
        "a peg that rests on top is at 1 m.\n",
        "**Finding:** *a method that anticipates collisions wrongly keeps the peg out, unless contacts with the top "
        "faces are filtered; one that allows penetration may let in a peg that is too large; PEG is right in all "
        "cases.*\n",
        table(("method", "peg", "height at the end [m]", "highest [m]", "steps not solved"), rows),
        "Differs from the paper in: our PEG has friction, and its primary subcontact is the one that separates bodies "
        "now. The original takes the smallest gap not below −1e-4: of the peg that is too large that is a side face, "
        "whose normal is horizontal, so that the impulse that must hold the peg up points sideways, and most "
        "steps have no solution.\n",
    ])  # fmt: skip


def figure_9(results: Results) -> str:
    rows = [
        (row["solver"], f"{row['n']}³", str(row["steps"]), f"{sum(row['iterations']) / len(row['iterations']):.1f}",
         str(max(row["iterations"])), f"{1e3 * row['seconds']:.3g}", str(row["unconverged"]), number(row["depth"]))
        for row in results["convergence"]
    ]  # fmt: skip
    return "\n".join([
        "## Fig. 9: convergence on a cube of spheres\n",
        image("fig9_convergence", "Fig. 9: natural merit before each iteration, samples spread over the run"),
        "**Finding:** *linear convergence of the Fischer–Burmeister solver.* Ours solves Newton systems exactly, and "
        "ends faster than linearly. The stack is the perturbed one, which collapses.\n",
        table(("solver", "spheres", "steps", "iterations, mean", "most", "median ms per solve", "steps not solved",
               "deepest penetration [m]"), rows),
    ])  # fmt: skip


def figure_10(results: Results) -> str:
    rows = [
        (row["method"], row["coordinates"], f"{row['lifted']:.4f}",
         number(max(row["error"])) if row["error"] else "none",
         str(row["unconverged"]))
        for row in results["grasp"]
    ]  # fmt: skip
    return "\n".join(
        [
            "## Fig. 10: a grasp\n",
            image("fig10_grasp", "Fig. 10: an arm with six joints grasps and lifts an object"),
            table(("method", "coordinates", "lifted [m]", "largest joint error", "steps not solved"), rows),
            "Differs from the paper in: arm, gripper, object and trajectory are ours; the paper gives no numbers.\n",
        ]
    )


def section_5_2(results: Results) -> str:
    rows, groups = [], dict.fromkeys((row["form"], row["solver"]) for row in results["solvers"])
    for form, solver in groups:
        tried = [row for row in results["solvers"] if (row["form"], row["solver"]) == (form, solver)]
        seconds = [row["seconds"] for row in tried if row["seconds"] is not None]
        merits = [float("inf") if row["residual"] is None else row["residual"] for row in tried]
        rows.append(
            (form, solver, f"{sum(row['success'] for row in tried)} of {len(tried)}", number(max(merits)),
             f"{median(row['iterations'] for row in tried):g}", f"{1e3 * median(seconds):.3g}" if seconds else "–")
        )  # fmt: skip
    unsolved = [
        (row["scene"], row["formulation"], row["form"], row["solver"], number(row["residual"]), row["status"])
        for row in results["solvers"] if not row["success"]
    ]  # fmt: skip
    return "\n".join(
        [
            "## Sec. 5.2: solvers on stored problems\n",
            image("sec52_solvers", "Sec. 5.2: time and natural merit of every solver on captured steps"),
            "Steps of several scenes were captured in `problems.h5`, rebuilt by every formulation and handed to every "
            "solver that fits; `stickslip solve problems.h5` does the same. The merit is judged "
            "independently of the solver.\n",
            table(("form", "solver", "solved", "worst merit", "iterations, median", "ms, median"), rows),
            *(
                ["Not solved:\n", table(("scene", "formulation", "form", "solver", "merit", "status"), unsolved)]
                if unsolved
                else []
            ),
            "All of them, one by one, are in `solvers.csv`. Contacts were captured without subcontacts, so that PEG is "
            "Stewart–Trinkle here; where all contacts touch, so is Anitescu–Potra.\n",
        ]
    )


def section_5_3(results: Results) -> str:
    inclusion = [
        (row["clearance"], row["method"], f"{row['margin']:g}", distance(row["error"]), str(row["unconverged"]))
        for row in results["inclusion"]
    ]
    along = [
        (row["method"], f"{row['dt']:g}", number(row["error"])) for row in results["accuracy"] if row["heading"] == 0.0
    ]
    between = [
        (row["method"], str(row["directions"]), f"{row['distance']:.4f}", f"{(1 + row['dt']) * row['polygon']:.4f}",
         f"{row['truth']:.4f}")
        for row in results["accuracy"] if row["heading"] != 0.0
    ]  # fmt: skip
    return "\n".join(
        [
            "## Sec. 5.3: formulations\n",
            "**Finding:** *Anitescu–Potra and Stewart–Trinkle depend on the tuning of tolerances of contact "
            "identification; PEG is more robust.*\n",
            image(
                "sec53_formulations", "Sec. 5.3: distance from the right place, for both pegs and a range of margins"
            ),
            table(("peg", "method", "margin [m]", "off its place [m]", "steps not solved"), inclusion),
            f"The peg falls {TRAVEL:.3f} m in the step that brings it to the top. With a smaller margin the contact is "
            "first seen from inside, too late for every method: those rows are no fault of a formulation.\n",
            f"A block slides for one second on a ramp of {SLOPE:.4f} rad, μ = {FRICTION}, along a friction "
            "direction:\n",
            table(("method", "h [s]", "error of the distance [m]"), along),
            f"and halfway between two of n = {', '.join(map(str, DIRECTIONS))} directions, where only cos(π/n) of the "
            "friction is there:\n",
            table(("method", "n", "distance [m]", "expected of the polygon [m]", "of the circular cone [m]"), between),
            "Expected is ½·a·t²·(1 + h), what the step makes of the acceleration a under the friction that is there.\n",
        ]
    )


SECTIONS: dict[str, Callable[[Results], str]] = {
    "fig4": figure_4,
    "fig8": figure_8,
    "fig9": figure_9,
    "fig10": figure_10,
    "sec52": section_5_2,
    "sec53": section_5_3,
}
