"""Sec. 5.2's remark: above some 150 contacts "both MuJoCo and our algorithm started to exhibit irregular behavior".

The paper's springs are "identical". If that holds from bed to bed, one of n springs has n times the stiffness and
damping, while MuJoCo's step stays 2 ms. That step, with the forces of its beginning, carries a heaving plate as

    v⁺ = v − dt·n·(κ·z + β·v),  z⁺ = z + dt·v⁺:  stable for n·(β·dt + κ·dt²/2) < 2

(κ [1/s²] and β [1/s] of a spring per kilogram of the plate). Beyond, contacts give energy to the plate, and it is in
contact less of the time. Measured here, on such beds and on beds of the same stiffness in all: the largest gain
of energy, times, how much is in contact, our steps, projections and crossings. The paper gives neither κ nor β, so its
150 cannot be computed; where our own beds become irregular can. The target: MuJoCo gains energy where its step is
longer than stable, and nowhere else.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import mujoco
import numpy as np

from stickslip.lab.papers.event_selected import mujoco_models, ours, systems
from stickslip.lab.papers.event_selected.setups import DT, END, Bed, Sizes, bed, plate_starts
from stickslip.lab.papers.event_selected.systems import GRAVITY, LENGTH
from stickslip.lab.papers.paper import Part, Results, finish, grid, image, new_figure, units
from stickslip.lab.papers.rows import column, table_of, where
from stickslip.lab.store import Store
from stickslip.lab.targets import Target

STIFF, SAME = "identical springs", "same stiffness in all"
BEDS = {STIFF: 1.0, SAME: None}
"""Stiffness and damping of a spring, in those of a whole bed; None: 1 / springs."""
EPS = 1e-3
"""ε of ours on all beds [m]."""
GAINED = 0.1
"""Largest rise of the energy, in parts of the first; steps of 2 ms that are stable make up to 0.03."""
CLEARLY = 2.0
"""Times the limit of stability, from where on energy must be gained; nearer to it that depends on the start."""


def limit(kind: str) -> float:
    """Springs up to which MuJoCo's step is stable."""
    share = BEDS[kind]
    if share is None:
        return np.inf
    one = bed(1, share)
    return 2.0 / (one.damping * DT + 0.5 * one.stiffness * DT**2)


def heights(springs: Bed, states: np.ndarray) -> np.ndarray:
    """(n, k) of tips above the plate [m], of states (6, k): positive in contact."""
    return LENGTH + np.tan(states[2]) * (states[0] - springs.tips[:, None]) - states[1]


def gain(springs: Bed, states: np.ndarray) -> float:
    """Largest rise of the energy, springs included, from any earlier value, in parts of the first: exactly 0 for exact
    motion, since dampers and springs that let go only take."""
    speeds = states[3] ** 2 + states[4] ** 2 + springs.inertia * states[5] ** 2
    depths = np.maximum(heights(springs, states), 0.0) * np.cos(states[2])
    energy = GRAVITY * states[1] + 0.5 * speeds + 0.5 * springs.stiffness * np.sum(depths**2, axis=0)
    return float(np.max(energy - np.minimum.accumulate(energy)) / energy[0])


def measure(kind: str, contacts: int, number: int) -> dict[str, Any]:
    """Medians over starts; the largest gain of energy of any."""
    springs, reset = bed(contacts, BEDS[kind]), systems.opposite(contacts)
    model = mujoco_models.plate(springs)
    data, steps = mujoco.MjData(model), mujoco_models.steps(model, END)
    rows = []
    for start in plate_starts(number):
        states = mujoco_models.trajectory(model, start, END)
        mujoco_models.set_start(model, data, start)
        begin = time.perf_counter()
        mujoco.mj_step(model, data, steps)
        middle = time.perf_counter()
        found = ours.plate(springs, start, reset, eps=EPS)
        end = time.perf_counter()
        deepest = max(float(systems.plate_guards(x, *springs)[:contacts].max()) for x in found.y.T)
        rows.append((
            gain(springs, states), 1e3 * (middle - begin), np.mean(heights(springs, states) > 0.0),
            1e3 * (end - middle), found.nsteps, found.nprojections, len(found.crossings.t) / contacts, deepest,
            not found.success, found.nfev,
        ))  # fmt: skip
    table = np.array(rows, dtype=float)
    middle_of = [statistics.median(column) for column in table.T]
    return {
        "gain": float(table[:, 0].max()),
        "mujoco": middle_of[1],
        "touching": float(table[:, 2].mean()) * contacts,
        "ours": middle_of[3],
        "steps": middle_of[4],
        "projections": middle_of[5],
        "crossings_per_spring": middle_of[6],
        "deepest": middle_of[7],
        "failed": float(table[:, 8].mean()),
        "fields": middle_of[9],
        "stability": contacts / limit(kind),
    }


def study(store: Store, sizes: Sizes) -> Results:
    """One row per kind of bed and number of springs."""
    cases = grid(kind=BEDS, contacts=sizes.identical, number=[max(4, sizes.starts // 6)])
    return {"irregular": units(store, "irregular", cases, measure, "irregular beds")}


def targets(results: Results) -> list[Target]:
    rows, result = results["irregular"], []
    calm = [row["gain"] for row in rows if row["stability"] < 1.0]
    wild = [row["gain"] for row in rows if row["stability"] > CLEARLY]
    if calm:
        result.append(Target("MuJoCo within its limit of stability: largest gain of energy / first", max(calm), GAINED))
    if wild:
        result.append(Target("MuJoCo beyond it: 0.1 / (largest gain of energy / first)", GAINED / min(wild), 1.0))
    return result


def draw(results: Results):
    """Identical springs beside beds of the same stiffness."""
    figure, axes = new_figure(2, 2, (13, 8))
    (time, energy), (touching, steps) = axes
    for kind, style, colour in ((STIFF, "o-", "C1"), (SAME, "s--", "C2")):
        rows = where(results["irregular"], kind=kind)
        contacts = column(rows, "contacts")
        drawn = {"color": colour, "markersize": 4, "label": kind}
        time.plot(contacts, column(rows, "mujoco"), style, **drawn)
        energy.semilogy(contacts, np.maximum(column(rows, "gain"), 1e-6), style, **drawn)
        touching.plot(contacts, column(rows, "touching") / contacts, style, **drawn)
        steps.plot(contacts, column(rows, "steps"), style, **drawn)
    time.set(title="MuJoCo: time", ylabel="median time of 2 s [ms]")
    energy.set(title="MuJoCo: energy", ylabel="largest gain of energy / first (1e-6: or less)")
    touching.set(title="MuJoCo: contacts", ylabel="part of springs in contact, mean over time")
    steps.set(title="ours: steps of the integrator", ylabel="median number in 2 s")
    for ax in axes.flat:
        ax.axvline(limit(STIFF), color="C1", linestyle=":", label=f"MuJoCo's limit, n = {limit(STIFF):.0f}")
    finish(axes, "springs n")
    return figure


def section(results: Results) -> str:
    rows = results["irregular"]
    gained = [r["contacts"] for r in rows if r["gain"] > GAINED]
    start = f"from {min(gained)} springs on" if gained else "nowhere on these beds"
    return "\n".join([
        "## What is irregular above 150 contacts\n",
        image("irregular_beds", "Identical springs, and beds of the same stiffness in all"),
        "**The paper:** *for roughly 150 contacts, both MuJoCo and our algorithm started to exhibit irregular "
        "behavior.* **Here:** their number alone does nothing: where the stiffness in all stays the same, times, "
        "energy and counts stay regular to the largest bed. If every spring is the same, a bed of n is n times as "
        "stiff, and MuJoCo's step of 2 ms is stable up to n·(β·dt + κ·dt²/2) = 2 only: "
        f"n = {limit(STIFF):.0f} of these springs. It gained energy {start}; the part of the springs in contact "
        "falls on the way there and beyond, and with it the time that each of them costs. Ours locates or projects "
        "through every touchdown and lift-off whatever n, in time that grows as n². The paper gives neither "
        "stiffness nor damping: this is a cause that exists, not a proof that it was the paper's.\n",
        table_of(rows, {
            "bed": "{kind}", "springs": "{contacts}", "MuJoCo: largest gain of energy / first": "{gain:.2g}",
            "time [ms]": "{mujoco:.1f}", "in contact": "{touching:.1f}", "ours: time [ms]": "{ours:.1f}",
            "steps": "{steps:.0f}", "projections": "{projections:.0f}",
            "crossings of a spring": "{crossings_per_spring:.1f}",
            "depth / ε": lambda row: f"{row['deepest'] / EPS:.2g}", "unfinished": "{failed:.2f}",
        }),
    ])  # fmt: skip


IRREGULAR = Part("irregular", study, section, targets, {"irregular_beds": draw}, tables=("irregular",))
