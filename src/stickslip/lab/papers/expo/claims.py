"""The paper's findings as figures with targets.

* Fig. 2: from steps of 1/4 ms up no other integrator is both faster and more accurate than Expo, at equal steps or not.
  The figure is how much a rival is ahead in time and in error, whichever is less: above 1 it beats Expo. The report
  also counts the points of Expo that a rival with a step below 1/4 ms beats.
* Table II: Expo stays stable at the paper's steps (paper's step / ours ≤ 1).
* Sec. VI-D: Expo's local error depends little on the stiffness up to 1e8 N/m (largest / smallest, from 1e4 N/m: softer
  ground makes another motion of the trot); contacts sink in by weight/K.
* Sec. VI-F: forces are predicted over 20 ms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stickslip.lab.bench.targets import Target
from stickslip.lab.papers.expo.paper import FLAT_UP_TO, TABLE_2
from stickslip.lab.papers.expo.setups import RIVALS
from stickslip.lab.papers.expo.stability import largest

COARSE = 0.25e-3
"""[s] Integrators are compared from this step on."""
FLATNESS = 2.0
"""Target of Expo's largest over its smallest error from SOFTEST to 1e8 N/m."""
SOFTEST = 1e4
"""[N/m]."""
DEPTH = 0.01
"""Target of |K·depth/weight − 1|."""
PREDICTION = 0.05
"""Target of the largest error of the predicted force over the largest force."""


def lead(expo: dict[str, Any], rival: dict[str, Any]) -> float:
    """How far the rival is ahead in time and in error, whichever is less; above 1 it is better in both."""
    if rival["error"] is None or rival["seconds"] is None:
        return 0.0
    if expo["error"] is None or expo["seconds"] is None:
        return float("inf")
    return min(expo["seconds"] / rival["seconds"], expo["error"] / max(rival["error"], 1e-300))


def strongest_rivals(
    rows: list[dict[str, Any]], rivals: Sequence[str] = RIVALS, finest: float = COARSE
) -> list[dict[str, Any]]:
    """For each test and step ≥ 1/4 ms of Expo, the rival (at steps ≥ ``finest`` [s]) that comes nearest to being better
    in both."""
    result = []
    for row in rows:
        if row["method"] != "expo" or row["dt"] < COARSE - 1e-12:
            continue
        others = [
            r for r in rows
            if r["test"] == row["test"] and r["method"] in rivals and r["dt"] >= finest - 1e-12
        ]  # fmt: skip
        if not others:
            continue
        best = max(others, key=lambda other: lead(row, other))
        result.append({
            "test": row["test"], "dt": row["dt"], "rival": best["method"], "rival_dt": best["dt"],
            "lead": lead(row, best),
        })  # fmt: skip
    return result


def flatness(rows: list[dict[str, Any]], method: str = "expo", which: str = "error") -> float:
    """Largest over smallest ``error`` (mean) or ``median``, SOFTEST ≤ K ≤ 1e8."""
    errors = [
        row[which]
        for row in rows
        if row["varied"] == "stiffness" and row["method"] == method and SOFTEST <= row["stiffness"] <= FLAT_UP_TO
    ]
    if not errors or None in errors:
        return float("inf")
    return max(errors) / min(errors)


def targets(results: dict[str, Any]) -> list[Target]:
    """Of all that was computed."""
    found = []
    for row in strongest_rivals(results.get("local_error", [])):
        name = f"Fig. 2, {row['test']}: {row['rival']} ({_ms(row['rival_dt'])}) ahead of expo ({_ms(row['dt'])})"
        found.append(Target(name, row["lead"], 1.0))
    if "stability" in results:
        for test in dict.fromkeys(row["test"] for row in results["stability"]):
            ours = largest(results["stability"], test, "expo")
            wanted = TABLE_2[test]["expo"] * 1e-3
            found.append(Target(f"Table II, {test}: paper's step / ours", wanted / ours if ours else float("inf"), 1.0))
    if "stiffness" in results:
        found.append(Target("Fig. 4: largest/smallest error, 1e4 … 1e8 N/m", flatness(results["stiffness"]), FLATNESS))
    for row in results.get("depths", []):
        off = abs(row["ratio"] - 1.0) if row["ratio"] is not None else float("inf")
        found.append(Target(f"depth against weight/K at K = {row['stiffness']:.0e} N/m", off, DEPTH))
    for row in results.get("predictions", []):
        name = f"Fig. 5: error of the force predicted after {row['speed']:g} m/s"
        found.append(Target(name, row["relative_error"], PREDICTION))
    return found


def _ms(dt: float) -> str:
    return f"{1e3 * dt:.3g} ms"
