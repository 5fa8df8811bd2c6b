"""Fig. 4: sensitivity to contact stiffness and damping (Sec. VI-D), and how deep contacts sink in.

Local errors on the trot, each stiffness and damping with its own ground truth: Expo, the paper's Expo and implicit
Euler with 2 ms, explicit Euler with 1/2 ms. The damping ratio is B/(2√K) as the paper writes it, that is, of a unit
mass (1 kg) on one contact; for the mass m that a contact really carries it is smaller by √m.

At rest the springs bear the weight: K·Σ depth = weight, the depth from where they rest, which in the paper is where
contacts were detected. That is checked on Solo12 standing under PD control.

The targets: Expo's local error depends little on the stiffness up to 1e8 N/m (largest / smallest, from 1e4 N/m: softer
ground makes another motion of the trot); contacts sink in by weight/K.
"""

from __future__ import annotations

from math import sqrt
from operator import itemgetter
from typing import Any

import numpy as np

from stickslip.control import PD
from stickslip.lab.papers.expo.error_panels import curve, log_scales
from stickslip.lab.papers.expo.local_error import local_error
from stickslip.lab.papers.expo.setups import (
    METHODS,
    STIFFNESS,
    TESTS,
    Sizes,
    advance,
    quiet_simulation,
    size,
    weight,
    with_contacts,
)
from stickslip.lab.papers.paper import Part, Results, grid, image, new_figure, table, units
from stickslip.lab.papers.rows import Rows, distinct, table_of, where
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.progress import Progress
from stickslip.scenes import standing

STEPS = {"expo": 2e-3, "expo/paper": 2e-3, "implicit-euler": 2e-3, "euler": 0.5e-3}
"""Steps of Sec. VI-D [s]."""
RATIO = 0.5
"""Damping ratio while the stiffness varies."""
REST = 2.0
"""Time of standing before the depth is read [s]."""
SOFTEST, STIFFEST = 1e4, 1e8
"""Range of the target [N/m]; up to 1e8 N/m Expo "performs consistently" (Sec. VI-D)."""
FLATNESS = 2.0
"""Limit of Expo's largest over its smallest error from SOFTEST to STIFFEST."""
DEPTH = 0.01
"""Limit of |K·depth/weight − 1|."""


def damping(stiffness: float, ratio: float) -> float:
    """B [N s/m] = 2·ratio·√(K·1 kg)."""
    return 2.0 * ratio * sqrt(stiffness)


def local_errors(store: Store, sizes: Sizes) -> Rows:
    """Rows of local errors with ``varied`` = "stiffness" or "damping"."""
    test = TESTS["solo12-trot"]
    n = max(3, round(sizes.stiffness_seconds / test.control_dt))
    pairs = [("stiffness", K, RATIO) for K in sizes.stiffness]
    pairs += [("damping", STIFFNESS, ratio) for ratio in sizes.damping_ratio]
    cases = [(*pair, label) for pair in pairs for label in STEPS if label in sizes.methods]
    rows: Rows = []
    with Progress("Fig. 4: stiffness and damping", len(cases), "units") as bar:
        for varied, K, ratio, label in cases:
            bar.update(len(rows))
            row = local_error(
                store, test, METHODS[label], STEPS[label], n, sizes.repeats, stiffness=K, damping=damping(K, ratio)
            )
            rows.append({**row, "varied": varied, "damping_ratio": ratio})
    return rows


def rest_depth(stiffness: float, ratio: float = RATIO, method: str = "expo") -> dict[str, Any]:
    """K·Σ depth / weight of Solo12 after it has come to rest; a version of Expo with 2 ms."""
    scene = standing("stand", "solo12", 4)
    robot = PD(kp=10.0, kd=0.2)
    model = with_contacts(scene.compile(), stiffness, damping(stiffness, ratio))
    robot.bind(model)
    sim = quiet_simulation(model, METHODS[method], 2e-3)
    start = sim.state.q.copy()
    start[2] += weight(model) / 4 * (1.0 / STIFFNESS - 1.0 / stiffness)
    sim.set_state(start)
    for k in range(round(REST / 2e-3)):
        sim.set_control(robot(2e-3 * k, sim.state.q.copy(), sim.state.v.copy()))
        if not advance(sim, 1):
            return {"depth": None, "ratio": None}
    sim.observe()
    depth = -sim.contacts.arrays.stretch[: len(sim.contacts), 0]
    return {"depth": float(np.mean(depth)), "ratio": float(stiffness * depth.sum() / weight(model))}


def study(store: Store, sizes: Sizes) -> Results:
    methods = [label for label in ("expo", "expo/paper") if label in sizes.methods]
    cases = grid(stiffness=sizes.stiffness, ratio=[RATIO], method=methods)
    return {
        "stiffness": local_errors(store, sizes),
        "depths": units(store, "depth", cases, rest_depth, "penetration", "units"),
    }


def flatness(rows: Rows, method: str = "expo", which: str = "error") -> float:
    """Largest over smallest ``error`` (mean) or ``median``, SOFTEST ≤ K ≤ STIFFEST."""
    mine = where(rows, varied="stiffness", method=method)
    errors = [row[which] for row in mine if SOFTEST <= row["stiffness"] <= STIFFEST]
    return float("inf") if not errors or None in errors else max(errors) / min(errors)


def targets(results: Results) -> list[Target]:
    found = [Target("Fig. 4: largest/smallest error, 1e4 … 1e8 N/m", flatness(results["stiffness"]), FLATNESS)]
    for row in results["depths"]:
        off = abs(row["ratio"] - 1.0) if row["ratio"] is not None else float("inf")
        found.append(Target(f"depth against weight/K at K = {row['stiffness']:.0e} N/m, {row['method']}", off, DEPTH))
    return found


def draw(results: Results):
    figure, panels = new_figure(1, 2, (11, 4.4))
    left, right = panels[0]
    for axes, varied, key in ((left, "stiffness", "stiffness"), (right, "damping", "damping_ratio")):
        for label in distinct(results["stiffness"], "method"):
            if mine := where(results["stiffness"], varied=varied, method=label):
                curve(axes, mine, itemgetter(key), label)
        log_scales(axes)
        axes.grid(alpha=0.3)
    left.set(xlabel="contact stiffness K [N/m], damping ratio 0.5", title="(a) stiffness")
    right.set(xlabel="damping ratio B/(2√K) of a unit mass, K = 1e5 N/m", title="(b) damping")
    names = {label: f"{label}, {'1/2' if label == 'euler' else 2} ms" for label in STEPS}
    handles, labels = left.get_legend_handles_labels()
    left.legend(handles, [names.get(label, label) for label in labels], title="△: diverged or > 100")
    return figure


def section(results: Results) -> str:
    rows = results["stiffness"]
    labels = distinct(rows, "method")

    def errors(heading: str, varied: str, key: str) -> str:
        mine = where(rows, varied=varied)
        pick = {(row[key], row["method"]): f"{size(row['error'])} ({size(row['median'])})" for row in mine}
        lines = [(f"{x:g}", *(pick[x, label] for label in labels)) for x in sorted(set(distinct(mine, key)))]
        return table((heading, *labels), lines)

    def factor(method: str, which: str = "error") -> str:
        value = flatness(rows, method, which)
        return "∞ (it diverges)" if value == float("inf") else f"{value:.3g}"

    others = {"expo/paper": "the paper's Expo's", "euler": "explicit Euler's", "implicit-euler": "implicit Euler's"}
    rest = "".join(f", {name} by {factor(label)}" for label, name in others.items() if label in labels)
    return "\n".join([
        "## Fig. 4: stiffness and damping\n",
        image("fig4_stiffness_and_damping", "Fig. 4: mean local error on the trot; expo, the paper's and implicit "
              "Euler with 2 ms, explicit Euler with 1/2 ms"),
        "The damping ratio is B/(2√K), as the paper writes it: that of a unit mass (1 kg). Means, in parentheses "
        "medians over control steps:\n",
        errors("K [N/m], ratio 0.5", "stiffness", "stiffness"),
        errors("ratio, K = 1e5 N/m", "damping", "damping_ratio"),
        f"From 1e4 to 1e8 N/m Expo's error changes by a factor of {flatness(rows):.3g} "
        f"(target: {FLATNESS:g}){rest}. Expo's median changes by {factor('expo', 'median')}: where mean and median "
        "part, it is by the few control steps in which a foot meets the floor.\n",
        "Solo12 standing under PD control, after 2 s; the springs bear the weight, so that K·Σ depth / weight "
        "must be 1, with depths from where the springs rest:\n",
        table_of(results["depths"], {
            "method": "{method}",
            "K [N/m]": "{stiffness:.0e}",
            "mean depth of the four feet [mm]": lambda r: f"{1e3 * r['depth']:.3g}" if r["depth"] else "∞",
            "K·Σ depth / weight": lambda r: f"{r['ratio']:.6f}" if r["ratio"] else "–",
        }),
    ])  # fmt: skip


FIG4 = Part(
    "fig4", study, section, targets, {"fig4_stiffness_and_damping": draw}, tables=("stiffness", "depths")
)  # fmt: skip
