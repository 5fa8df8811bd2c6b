"""The paper's findings as figures with targets.

* Fig. 4: joint errors stay below 1e-5 with stabilisation, the period is unchanged, and without it they drift: the
  target is that ours is not ten times away from the original's.
* Fig. 8: PEG is right for both pegs, and Stewart–Trinkle with anticipated contacts holds the small one on top.
* Fig. 9: the solver converges in every step, and nothing penetrates.
* Fig. 10: the object is lifted, in all coordinates and formulations.
* Sec. 5.2: every solver that says that it converged is right, and some solver solves each problem.
* Sec. 5.3: PEG does not depend on the margin, if that is not less than what the peg falls in a step: contacts that are
  first seen from inside are too late for every method.
"""

from __future__ import annotations

from typing import Any

from stickslip.lab.bench.targets import Target
from stickslip.lab.papers.rpisim.convergence import RADIUS
from stickslip.lab.papers.rpisim.peg import FALL_STEPS, TRAVEL, free_fall

EPSILON = 1e-5
"""Bound of the paper's stabilised joint errors [m, rad, m/s or rad/s]."""
FALLEN = 1e-5
"""[m] the small peg's distance from free fall."""
RESTS = 1e-4
"""[m] the large peg's distance from the top."""
PENETRATION = 1e-4
"""Of the radius."""
PERIOD = 2e-3
"""Relative change of the period."""
LIFT = 0.05
"""[m] the object must be lifted."""
POLYGON = 1e-3
"""Relative error of the distance that a block slides between two friction directions."""
LOST = 1e-3
"""Part of the problems that may stay unsolved: none."""


def targets(results: dict[str, Any]) -> list[Target]:
    """Of all that was computed."""
    found: list[Target] = []
    for rows, function in (
        ("drift", _drift), ("peg", _peg), ("convergence", _convergence), ("grasp", _grasp),
        ("solvers", _solvers), ("inclusion", _inclusion), ("accuracy", _accuracy),
    ):  # fmt: skip
        if rows in results:
            found += function(results[rows])
    return found


def _drift(rows: list[dict[str, Any]]) -> list[Target]:
    found = []
    exact = {row["joint"]: row["period"] for row in rows if row["coordinates"] == "joint"}
    for row in rows:
        name, worst = f"Fig. 4, {row['joint']}", max(row["position"])
        if row["coordinates"] == "maximal, stabilised":
            found.append(Target(f"{name}: stabilised position error", worst, EPSILON))
            found.append(Target(f"{name}: stabilised velocity error", max(row["velocity"]), EPSILON))
        elif row["coordinates"] == "maximal" and row["times"][-1] > 4.9:
            ratio = max(worst / row["original"], row["original"] / worst)
            found.append(Target(f"{name}: drift, ours over the original's or the reverse", ratio, 10.0))
        if row["coordinates"] != "joint" and row["period"] and exact[row["joint"]]:
            change = abs(row["period"] / exact[row["joint"]] - 1.0)
            found.append(Target(f"{name}: change of the period, {row['coordinates']}", change, PERIOD))
    return found


def _peg(rows: list[dict[str, Any]]) -> list[Target]:
    found = []
    for row in rows:
        small = row["scale"] < 1.0
        if row["label"] == "PEG":
            off = abs(row["z"] - float(free_fall(FALL_STEPS)[-1])) if small else abs(row["z"] - 1.0)
            found.append(Target(f"Fig. 8, PEG, {row['clearance']}: off its place [m]", off, FALLEN if small else RESTS))
            found.append(Target(f"Fig. 8, PEG, {row['clearance']}: thrown up [m]", row["top"] - 1.5, 1e-12))
        if small and row["label"] == "Stewart–Trinkle, anticipated contacts":
            found.append(
                Target("Fig. 8, anticipated contacts hold the small peg: off the top [m]", abs(row["z"] - 1.0), 1e-3)
            )
    return found


def _convergence(rows: list[dict[str, Any]]) -> list[Target]:
    found = []
    for row in rows:
        if row["solver"] == "fischer-newton":
            found.append(
                Target("Fig. 9, fischer-newton: part of steps not solved", row["unconverged"] / row["steps"], LOST)
            )
            found.append(Target("Fig. 9: deepest penetration / radius", row["depth"] / RADIUS, PENETRATION))
    return found


def _grasp(rows: list[dict[str, Any]]) -> list[Target]:
    found = []
    for row in rows:
        name = f"Fig. 10, {row['method']}, {row['coordinates']}"
        if row["whole"]:
            found.append(Target(f"{name}: wanted lift / lift", LIFT / max(row["lifted"], 1e-9), 1.0))
        if row["error"]:
            found.append(Target(f"{name}: joint error", max(row["error"]), EPSILON))
    return found


def _solvers(rows: list[dict[str, Any]]) -> list[Target]:
    problems = {(row["scene"], row["formulation"], row["form"]) for row in rows}
    solved = {(row["scene"], row["formulation"], row["form"]) for row in rows if row["success"]}
    worst = max((row["residual"] / row["limit"] for row in rows if row["success"]), default=0.0)
    return [
        Target("Sec. 5.2: part of the problems that no solver solves", 1.0 - len(solved) / len(problems), LOST),
        Target("Sec. 5.2: largest residual / limit of answers that are called solutions", worst, 1.0),
    ]


def _inclusion(rows: list[dict[str, Any]]) -> list[Target]:
    errors = [row["error"] for row in rows if row["method"] == "PEG" and row["margin"] >= TRAVEL]
    name = f"Sec. 5.3, PEG: off its place at any margin above {TRAVEL:.2g} m [m]"
    return [Target(name, max(errors), RESTS)] if errors else []


def _accuracy(rows: list[dict[str, Any]]) -> list[Target]:
    """First order: the error over the step, against a·t/2 of semi-implicit Euler; between two directions cos(π/n) of
    the friction, and the same error."""
    along = [row for row in rows if row["heading"] == 0.0]
    between = [row for row in rows if row["heading"] != 0.0]
    return [
        Target(f"Sec. 5.3, {method}: error of sliding / (dt·1 s·a/2)", max(
            row["error"] / (row["dt"] * row["truth"]) for row in along if row["method"] == method), 1.05)
        for method in dict.fromkeys(row["method"] for row in along)
    ] + [
        Target(f"Sec. 5.3, {method}: sliding between directions, off (1 + dt)·truth with cos(π/n)·μ", max(
            abs(row["distance"] / ((1.0 + row["dt"]) * row["polygon"]) - 1.0)
            for row in between if row["method"] == method), POLYGON)
        for method in dict.fromkeys(row["method"] for row in between)
    ]  # fmt: skip
