"""The paper's statements as figures with targets.

* Sec. IV-A: "the O(c) complexity is clearly visible": times on a straight line, R² > 0.99, and a slope of 1 ± 0.1 on
  logarithmic axes from 10 to 1000; the same over n + c; of the time of the steps, and of that of a Newton iteration.
* Sec. IV: every step converges to ε = 1e-6. Sec. IV-B: no penetration, a full turn about (1, 1, 0), a walk.
* Not in the paper: momentum, joints and energy over long times; iterations with and without Mehrotra's predictor; the
  same motions as by other methods, as dt → 0 and K → ∞.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stickslip.lab.bench.targets import Target
from stickslip.lab.papers.variational.conservation import BODY, CHAIN, LINKAGE, PENDULUM
from stickslip.lab.papers.variational.setups import MANY, ROUND, TOLERANCE

Rows = list[dict[str, Any]]
DEEPEST = 1e-8
"""[m] that counts as no penetration."""
NONE = 0.5
"""Limit of a number that must be 0."""
LINEAR, SLOPE = 0.01, 0.1
"""1 − R² and |slope − 1| of what is called linear."""
SMALLEST = 10
"""Size from which a time is one of contacts or bodies, and not of calling a step."""
TURN = 5.0
"""[degrees]."""
FORWARD = 0.1
"""[m] at least, of a walk."""
SHRINKS = 0.25
"""Largest ratio of the difference at the finest and the coarsest step, or at the stiffest and the softest springs."""
KEPT, FLOATING, NORM = 1e-10, 1e-8, 1e-12
"""Drift of momenta [kg m/s, kg m²/s] of the body and of the chain; | |q| − 1 | of the body."""
FLIPPED = 1.9
"""[rad/s] with which the body has to turn the other way round."""
CLOSED = 1e-8
"""[m, rad] of ‖g‖."""
STEADY = 1.5
"""Largest of the last tenth over that of the first, or of halves: no trend."""
SECULAR = 0.1
"""How far the energy went along a straight line, of its band."""
FIRST_ORDER = 0.2
"""|order − 1| of the energy's band in dt."""


class Line(NamedTuple):
    """A straight line through times over sizes."""

    start: float
    """[ms] at size 0."""
    each: float
    """[ms] per contact or body."""
    r2: float


def line(size: np.ndarray, times: np.ndarray) -> Line:
    each, start = np.polyfit(size, times, 1)
    left = times - (start + each * size)
    return Line(float(start), float(each), 1.0 - float(np.sum(left**2) / np.sum((times - times.mean()) ** 2)))


def slope(size: np.ndarray, times: np.ndarray) -> float:
    """Of log(time) over log(size)."""
    return float(np.polyfit(np.log(size), np.log(times), 1)[0])


def grown(rows: Rows, time: str = "milliseconds") -> tuple[str, np.ndarray, np.ndarray]:
    """What grows (c, or n + c), its values, and times: ``milliseconds`` of the steps, or ``per_iteration`` [µs]."""
    times = np.array([row[time] for row in rows])
    if rows[0]["scene"] == "cylinder":
        return "c", np.array([row["contacts"] for row in rows]), times
    return "n + c", np.array([row["bodies"] + row["contacts"] for row in rows]), times


def targets(results: dict[str, Any]) -> list[Target]:
    found: list[Target] = []
    for name, function in (
        ("cylinder", scaling),
        ("chain", scaling),
        ("hopper", hopper),
        ("quadruped", quadruped),
        ("conservation", conservation),
        ("iterations", iterations),
        ("agreement", agreement),
    ):
        if name in results:
            found += function(results[name])
    return found


def solved(what: str, row: dict[str, Any]) -> list[Target]:
    return [
        Target(f"{what}: steps that did not converge", row["unconverged"], NONE),
        Target(f"{what}: deepest penetration [m]", max(0.0, -row["lowest"]), DEEPEST),
    ]


def scaling(rows: Rows) -> list[Target]:
    scene, largest = rows[0]["scene"], max(row["size"] for row in rows)
    numbers = np.array([row["size"] for row in rows])
    small, large = numbers <= MANY, numbers >= SMALLEST
    result = []
    for key, T in (("milliseconds", "T"), ("per_iteration", "T/iterations")):
        what, size, times = grown(rows, key)
        if np.sum(small) > 2:
            r2 = line(size[small], times[small]).r2
            result.append(Target(f"{scene}: 1 − R² of {T}({what}) up to {numbers[small].max()}", 1.0 - r2, LINEAR))
        if largest > MANY:
            r2 = line(size, times).r2
            result.append(Target(f"{scene}: 1 − R² of {T}({what}) up to {largest}", 1.0 - r2, LINEAR))
        if np.sum(large) > 2:
            off = abs(slope(size[large], times[large]) - 1.0)
            result.append(Target(f"{scene}: |slope − 1| of log {T}({what}) from {SMALLEST} to {largest}", off, SLOPE))
    for row in rows:
        result += solved(f"{scene}, {row['size']}", row)
    return result


def of(rows: Rows, method: str) -> dict[str, Any]:
    return next(row for row in rows if row["method"] == method)


def hopper(rows: Rows) -> list[Target]:
    row = of(rows, "variational")
    return [
        Target("hopper: turn about (1, 1, 0) at landing, off 360 [degrees]", abs(row["turn"] - 360.0), TURN),
        Target("hopper: tilt away from the axis at landing [degrees]", row["tilt"], TURN),
        Target("hopper: largest residual of a step", row["residual"], TOLERANCE),
        *solved("hopper", row),
    ]


def quadruped(rows: Rows) -> list[Target]:
    row = of(rows, "variational")
    return [
        Target("quadruped: 0.1 m over the way forward", FORWARD / max(row["forward"], 1e-12), 1.0),
        Target("quadruped: largest residual of a step", row["residual"], TOLERANCE),
        *solved("quadruped", row),
    ]


def conservation(rows: Rows) -> list[Target]:
    by_case = {row["case"]: row for row in rows}
    body, chain, linkage = by_case[BODY], by_case[CHAIN], by_case[LINKAGE]
    swings = sorted((row for row in rows if row["case"] == PENDULUM), key=lambda row: row["dt"])
    result = [
        Target(f"{BODY}: drift of momentum [kg m/s, kg m²/s]", max(body["linear"], body["angular"]), KEPT),
        Target(f"{BODY}: {FLIPPED} rad/s over the largest −ω_y", FLIPPED / max(-body["lowest"], 1e-12), 1.0),
        Target(f"{BODY}: | |q| − 1 |", body["quaternion"], NORM),
        Target(f"{CHAIN}: drift of linear momentum [kg m/s]", chain["linear"], FLOATING),
        Target(f"{CHAIN}: drift of angular momentum [kg m²/s]", chain["angular"], FLOATING),
        Target(f"{LINKAGE}: largest ‖g‖ in {linkage['seconds']:g} s [m, rad]", linkage["largest"], CLOSED),
        Target(f"{LINKAGE}: ‖g‖ in the last tenth over that in the first", linkage["trend"], STEADY),
    ]
    for row in swings:
        name = f"{PENDULUM}, {row['dt']:g} s"
        result.append(Target(f"{name}: band of energy in the later half over that in the first", row["trend"], STEADY))
        result.append(
            Target(f"{name}: slope of energy times {row['seconds']:g} s, of its band", row["secular"], SECULAR)
        )
    if len(swings) > 1:
        order = slope(np.array([row["dt"] for row in swings]), np.array([row["amplitude"] for row in swings]))
        result.append(Target(f"{PENDULUM}: |order − 1| of the energy's band in dt", abs(order - 1.0), FIRST_ORDER))
    failed = sum(row["unconverged"] for row in rows)
    return [*result, Target("conservation: steps that did not converge", failed, NONE)]


def saved(rows: Rows, cone: str, tolerance: float, warm: bool) -> tuple[float, float]:
    """Iterations of a step with and without the predictor, means of all motions."""
    chosen = [r for r in rows if (r["cone"], r["tolerance"], r["warm"]) == (cone, tolerance, warm)]
    means = [np.mean([r["mean"] for r in chosen if r["predictor"] is used]) for used in (True, False)]
    return float(means[0]), float(means[1])


def counted(rows: Rows, case: str, cone: str, tolerance: float, warm: bool, predictor: bool) -> dict[str, Any]:
    """The row of a motion, solved in such a way."""
    wanted = (case, cone, tolerance, warm, predictor)
    return next(r for r in rows if (r["case"], r["cone"], r["tolerance"], r["warm"], r["predictor"]) == wanted)


def ways(rows: Rows) -> list[tuple[str, float, bool]]:
    """(cone, tolerance, warm) of rows of iterations."""
    return list(dict.fromkeys((row["cone"], row["tolerance"], row["warm"]) for row in rows))


def iterations(rows: Rows) -> list[Target]:
    result = []
    for cone, tolerance, warm in ways(rows):
        used, left_out = saved(rows, cone, tolerance, warm)
        start = "warm" if warm else "cold"
        result.append(Target(f"Mehrotra, {cone}, {tolerance:g}, {start}: iterations over those without",
                             used / left_out, 1.0))  # fmt: skip
    for warm, start in ((True, "warm"), (False, "cold")):
        failed = sum(row["unconverged"] for row in rows if row["predictor"] and row["warm"] is warm)
        result.append(Target(f"Mehrotra, {start}: steps that did not converge", failed, NONE))
    return result


def agreement(rows: Rows) -> list[Target]:
    result = []
    stiffest = max(row["stiffness"] for row in rows if row["stiffness"] is not None)
    for robot in dict.fromkeys(row["robot"] for row in rows):
        for method in (ROUND, "coulomb"):
            chosen = sorted((row["dt"], row["difference"]) for row in rows if row["robot"] == robot and
                            row["method"] == method)  # fmt: skip
            ratio = chosen[0][1] / chosen[-1][1]
            allowed = max(SHRINKS, 1.5 * chosen[0][0] / chosen[-1][0])
            result.append(Target(f"{robot}, {method}: difference at {chosen[0][0]:g} s over that at "
                                 f"{chosen[-1][0]:g} s", ratio, allowed))  # fmt: skip
        finest = min(row["dt"] for row in rows if row["robot"] == robot and row["method"] == "expo")
        soft = {row["stiffness"]: row["difference"] for row in rows
                if row["robot"] == robot and row["method"] == "expo" and row["dt"] == finest}  # fmt: skip
        result.append(Target(f"{robot}, expo: difference at K = {stiffest:g} over that at {min(soft):g}",
                             soft[stiffest] / soft[min(soft)], SHRINKS))  # fmt: skip
        for method in (ROUND, "coulomb", "expo"):
            failed = sum(row["unconverged"] for row in rows if row["robot"] == robot and row["method"] == method)
            result.append(Target(f"{robot}, {method}: steps that did not converge", failed, NONE))
        failed = max(row["unconverged_reference"] for row in rows if row["robot"] == robot)
        result.append(Target(f"{robot}, reference: steps that did not converge", failed, NONE))
    return result
