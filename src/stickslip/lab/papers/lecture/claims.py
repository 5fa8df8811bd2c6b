"""The lecture's statements as figures with targets.

* Soft: "the ground can only push"; the depth at rest is m·g/(4·K); not relevant for k → ∞ without a stable integrator.
* Bilateral: pulls. Redundant constraints leave the motion as it is, conflicting ones have a least-squares answer.
* Unilateral: no penetration, no pulling, no force before touching, no creep, no lift, no energy from nothing.
* Relaxed: "convex, but with some physical inconsistencies": force at a distance from v·(dt + B/K) on, a sliding block
  is lifted by (dt + B/K)·(μ·v − v_n − R·p·(1 + μ²)), a held one creeps with R·p_t: each as derived, to a few per cent.
* Derivatives: exact, and faster than finite differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.lab.bench.targets import Target
from stickslip.lab.papers.lecture.experiments import APPROACH, DRAG, EXPERIMENTS, SLOPE
from stickslip.lab.papers.lecture.setups import DAMPING, DT, FRICTION, MASS, REACH, SINK, STIFFNESS, G

Rows = list[dict[str, Any]]
NOTHING = 1e-9
"""[m, N, J] where a model says zero."""
DERIVED = 0.05
"""Relative error of what is derived for the relaxed model."""
STABLE = ("implicit-euler", "expo", "relaxed/pgs", "coulomb/pgs")
SPRING = 1.0 / (4.0 * (DT * STIFFNESS + DAMPING))
"""[s/kg] R·p of one contact per newton on all four, R = 1/(dt·(dt·K + B))."""
DRAGGED = DRAG / MASS - FRICTION * G
"""[m/s²] of the sliding block."""
CREEP = SPRING * MASS * G * float(np.sin(SLOPE))
"""[m/s] of the block on the slope, relaxed."""


def targets(results: dict[str, Any]) -> list[Target]:
    found: list[Target] = []
    for name, function in (
        ("experiments", experiments),
        ("stiffness", stiffness),
        ("ranks", ranks),
        ("accuracy", accuracy),
        ("timing", timing),
    ):
        if name in results:
            found += function(results[name])
    return found


def lift(speed: float, climb: float = 0.0) -> float:
    """[m] where a relaxed block hovers that slides with a speed and climbs with another [m/s]."""
    return REACH * (FRICTION * speed - climb - SPRING * MASS * G * (1.0 + FRICTION**2))


def relative(value: float, truth: float) -> float:
    return abs(value / truth - 1.0)


def first_gap() -> float:
    """[m] the gap at the beginning of the step in which a relaxed contact first pushes the approaching block."""
    steps = np.ceil((EXPERIMENTS["approach"].gap - APPROACH * REACH) / (APPROACH * DT))
    return float(EXPERIMENTS["approach"].gap - steps * APPROACH * DT)


def experiments(rows: Rows) -> list[Target]:
    of = {(row["experiment"], row["form"]): row for row in rows}
    slid, fallen = of["slide", "relaxed"], float(np.sqrt(2.0 * G * EXPERIMENTS["drop"].gap))
    result = [
        Target("rigid, drop: deepest penetration [m]", of["drop", "coulomb"]["deepest"], NOTHING),
        Target("bilateral, drop: deepest penetration over the way of a step",
               of["drop", "bilateral"]["deepest"] / (fallen * DT), 1.0),
        Target("bilateral, pull: 9 N over its pull at the end",
               9.0 / max(of["pull", "bilateral"]["pulls"], 1e-12), 1.0),
        Target("relaxed, approach: gap of the first force, off the derived one [m]",
               abs(of["approach", "relaxed"]["first_gap"] - first_gap()), 1e-6),
        Target("relaxed, slide: lift of the block, relative error",
               relative(slid["end"], lift(slid["last_speed"], slid["climb"])), DERIVED),
        Target("rigid, slide: lift of the block [m]", of["slide", "coulomb"]["lift"], NOTHING),
        Target("rigid, slide: distance a·t²/2, relative error",
               relative(of["slide", "coulomb"]["moved"], 0.5 * DRAGGED * EXPERIMENTS["slide"].seconds ** 2), 0.01),
        Target("relaxed, slope: creep speed, relative error",
               relative(of["slope", "relaxed"]["speed"], CREEP), DERIVED),
        Target("rigid, slope: creep [m]", abs(of["slope", "coulomb"]["moved"]), NOTHING),
    ]  # fmt: skip
    for form in ("soft", "relaxed"):
        depth = of["drop", form]["rest_depth"]
        result.append(Target(f"{form}, drop: depth at rest, relative error", relative(depth, SINK), 0.01))
    for form in ("soft", "coulomb", "relaxed"):
        result.append(Target(f"{form}, pull: pulling force [N]", of["pull", form]["pulls"], NOTHING))
    for form in ("soft", "coulomb"):
        gap = of["approach", form]["distance"]
        result.append(Target(f"{form}, approach: gap after a step with a force [m]", gap, NOTHING))
    result += [
        Target(f"{form}, {name}: energy from nothing [J]", of[name, form]["gained"], 1e-6)
        for name in ("drop", "approach")
        for form in ("soft", "bilateral", "coulomb", "relaxed")
    ]
    return result


def stiffness(rows: Rows) -> list[Target]:
    stable = [row for row in rows if row["method"] in STABLE]
    worst = max(stable, key=lambda row: row["energy"])
    explicit = [row["energy"] for row in rows if row["method"] == "euler"]
    return [
        Target(f"k → ∞: largest energy over the first of {worst['method']}", worst["energy"], 1.001),
        Target("k → ∞: 10 over the largest energy of explicit Euler, which is not stable", 10.0 / max(explicit), 1.0),
    ]


def ranks(rows: Rows) -> list[Target]:
    return [
        *(Target(f"bilateral, {row['case']}: change of the motion, relative", row["change"], 1e-8) for row in rows),
        *(
            Target(f"bilateral, {row['case']}: residual [m/s²]", row["residual"], 1e-8)
            for row in rows
            if not row["conflicting"]
        ),
    ]


def accuracy(rows: Rows) -> list[Target]:
    return [
        Target(f"derivatives of {row['algorithm']} on {row['robot']} beside Pinocchio's, relative", row["error"], 1e-9)
        for row in rows
    ]


def timing(rows: Rows) -> list[Target]:
    result = []
    for row in (row for row in rows if row["links"] is None):  # chains show how times grow
        name = f"derivatives of {row['algorithm']} on {row['robot']}"
        if row["pinocchio"] is not None:
            result.append(Target(f"{name}, time over Pinocchio's", row["analytic"] / row["pinocchio"], 1.0))
        result.append(Target(f"{name}, five times their time over finite differences'",
                             5.0 * row["analytic"] / row["differences"], 1.0))  # fmt: skip
    return result
