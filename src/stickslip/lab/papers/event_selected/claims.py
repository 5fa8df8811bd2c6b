"""The paper's statements as figures with targets.

* Sec. 4: the order in ε is 2; crossings and state as ε → 0 are those of the exact flow.
* Sec. 5.1: the hopper at MuJoCo's error, in MuJoCo's time at most (the paper's took four times as long).
* Sec. 5.2: time per contact; the paper's equalled MuJoCo's, ours is to be a fifth of it, at MuJoCo's error.
* What was irregular: MuJoCo gains energy where its step is longer than stable, and nowhere else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stickslip.lab.bench.targets import Target
from stickslip.lab.papers.event_selected.hopper import FREE, LIKE_PAPER, MUJOCO

Rows = list[dict[str, Any]]
FITTED = (1e-4, 1e-2)
"""ε of the fit."""
ORDER = 0.05
"""|order − 2|."""
CROSSING = 1e-9
"""[s] and of the state."""
EXACT = 1e-6
"""[s, m] of the hopper's numbers."""
DRIFT = 1e-5
"""[s] of the last touchdown of all hops."""
MARGINAL = 0.2
"""Of MuJoCo's time per contact."""
NONE = 0.5
"""Limit of a number that must be 0."""
GAINED = 0.1
"""Largest rise of the energy, in parts of the first; steps of 2 ms that are stable make up to 0.03."""
CLEARLY = 2.0
"""Times the limit of stability, from where on energy must be gained; nearer to it that depends on the start."""


class Line(NamedTuple):
    """A straight line through times over contacts."""

    start: float
    """[ms]."""
    each: float
    """[ms] per contact: the marginal cost."""
    r2: float


def line(rows: Rows, key: str) -> Line:
    x, y = (np.array([row[name] for row in rows], dtype=float) for name in ("contacts", key))
    each, start = np.polyfit(x, y, 1)
    left = y - (start + each * x)
    return Line(float(start), float(each), 1.0 - float(np.sum(left**2) / np.sum((y - y.mean()) ** 2)))


def fitted(rows: Rows) -> Rows:
    low, high = FITTED
    return [row for row in rows if 0.999 * low <= row["eps"] <= 1.001 * high]


def order(rows: Rows, key: str = "rms") -> float:
    """Slope of log(error) over log(ε), of all of them."""
    chosen = fitted(rows)
    return float(np.polyfit(np.log([r["eps"] for r in chosen]), np.log([r[key] for r in chosen]), 1)[0])


def local_orders(rows: Rows) -> np.ndarray:
    """From each ε to the next."""
    chosen = fitted(rows)
    return np.diff(np.log([r["rms"] for r in chosen])) / np.diff(np.log([r["eps"] for r in chosen]))


def targets(results: dict[str, Any]) -> list[Target]:
    found: list[Target] = []
    if "order" in results:
        found += order_targets(results["order"], results["events"])
    if "hopper" in results:
        found += hopper(results["hopper"], results["hops"][0])
    if "plate" in results:
        found += marginal(results["plate"])
    for name in ("plate", "beyond"):
        if name in results:
            found += beds(results[name])
    if "irregular" in results:
        found += irregular(results["irregular"])
    return found


def order_targets(rows: Rows, events: dict[str, Any]) -> list[Target]:
    late = np.inf
    if events["guards"] == events["found_guards"]:
        late = float(np.max(np.abs(np.subtract(events["exact"], events["found"]))))
    off = float(np.max(np.abs(np.subtract(events["state"], events["exact_state"]))))
    return [
        Target("order test: |order − 2|, fit for ε from 1e-4 to 1e-2", abs(order(rows) - 2.0), ORDER),
        Target(
            "order test: |order − 2|, worst between neighbours", float(np.max(np.abs(local_orders(rows) - 2.0))), ORDER
        ),
        Target("order test: crossings as ε → 0 [s]", late, CROSSING),
        Target("order test: state at 0.5 s as ε → 0", off, CROSSING),
    ]


def hopper(rows: Rows, numbers: dict[str, Any]) -> list[Target]:
    by_method = {row["method"]: row for row in rows}
    theirs = by_method[MUJOCO]
    result = []
    for name in (LIKE_PAPER, FREE):
        mine = by_method[name]
        result.append(Target(f"hopper, {name}: error over MuJoCo's", mine["rms"] / theirs["rms"], 1.0))
        result.append(Target(f"hopper, {name}: time over MuJoCo's", mine["milliseconds"] / theirs["milliseconds"], 1.0))
    for name in ("touchdown", "stance", "lowest", "period"):
        off = abs(numbers[name] - numbers[f"{name}_exact"])
        result.append(Target(f"hopper: {name} as ε → 0, off [{'m' if name == 'lowest' else 's'}]", off, EXACT))
    drift = abs(numbers["last"] - numbers["last_exact"])
    return [*result, Target(f"hopper: last touchdown of {numbers['made']} hops, off [s]", drift, DRIFT)]


def marginal(rows: Rows) -> list[Target]:
    ratio = line(rows, "ours").each / line(rows, "mujoco").each
    span = f"{rows[0]['contacts']} to {rows[-1]['contacts']}"
    return [Target(f"plate on {span} springs: time per contact over MuJoCo's", ratio, MARGINAL)]


def beds(rows: Rows) -> list[Target]:
    span = f"plate on {rows[0]['contacts']} to {rows[-1]['contacts']} springs"
    unfinished = sum(row["failed"] + row["unfinished_references"] for row in rows)
    return [
        Target(f"{span}: error over MuJoCo's, largest", max(r["rms"] / r["mujoco_rms"] for r in rows), 1.0),
        Target(f"{span}: time over MuJoCo's, largest", max(r["ours"] / r["mujoco"] for r in rows), 1.0),
        Target(f"{span}: runs that did not reach their end", unfinished, 1e-9),
    ]


def irregular(rows: Rows) -> list[Target]:
    calm = [row["gain"] for row in rows if row["stability"] < 1.0]
    wild = [row["gain"] for row in rows if row["stability"] > CLEARLY]
    result = []
    if calm:
        result.append(Target("MuJoCo within its limit of stability: largest gain of energy / first", max(calm), GAINED))
    if wild:
        result.append(Target("MuJoCo beyond it: 0.1 / (largest gain of energy / first)", GAINED / min(wild), 1.0))
    return result
