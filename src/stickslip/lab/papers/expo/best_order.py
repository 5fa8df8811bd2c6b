"""How many matrix products? The paper's open question (Sec. VI-C: "automatically finding the optimal number of mmm").

For every test and step, the best fixed number is the fastest whose error is within 5 % of the least that any version of
Expo reaches there. It is set beside what needs no choice: ``pade`` (order and repetitions from the balanced norm) and
``auto`` (modes, exact). ``matrix_products`` makes this part of the report.
"""

from __future__ import annotations

from stickslip.lab.papers.expo.setups import FIXED_ORDERS, PAPER_VERSIONS
from stickslip.lab.papers.rows import Row, Rows

SLACK = 1.05
"""Largest error that counts as the least, over the least."""


def choose(rows: Rows) -> Rows:
    """One row per test and step, from those of local errors. The paper's own versions have another ground truth."""
    cases: dict[tuple[str, float], dict[str, Row]] = {}
    for row in rows:
        if row["method"].startswith("expo") and row["method"] not in PAPER_VERSIONS:
            cases.setdefault((row["test"], row["dt"]), {})[row["method"]] = row
    result = []
    for (test, dt), versions in cases.items():
        solved = {label: row for label, row in versions.items() if row["error"] is not None}
        auto, pade = versions["expo"], versions.get("expo pade")
        if "expo" not in solved:
            continue
        least = min(row["error"] for row in solved.values())
        good = [solved[n] for n in FIXED_ORDERS if n in solved and solved[n]["error"] <= SLACK * least]
        best = min(good, key=lambda row: row["step_us"], default=None)
        result.append({
            "test": test,
            "dt": dt,
            "best_fixed": best["method"].removeprefix("expo mmm-") if best else None,
            "fixed_error": best["error"] if best else None,
            "fixed_us": best["step_us"] if best else None,
            "auto_error": auto["error"],
            "auto_us": auto["step_us"],
            "pade_error": pade["error"] if pade else None,
            "pade_us": pade["step_us"] if pade else None,
            "auto_over_fixed_time": auto["step_us"] / best["step_us"] if best else None,
            "auto_over_least_error": auto["error"] / least,
        })  # fmt: skip
    return result
