"""Sec. 5.2's remark: above some 150 contacts "both MuJoCo and our algorithm started to exhibit irregular behavior".

The paper's springs are "identical". If that holds from bed to bed, one of n springs has n times the stiffness and
damping, while MuJoCo's step stays 2 ms. That step, with the forces of its beginning, carries a heaving plate as

    v⁺ = v − dt·n·(κ·z + β·v),  z⁺ = z + dt·v⁺:  stable for n·(β·dt + κ·dt²/2) < 2

(κ [1/s²] and β [1/s] of a spring per kilogram of the plate). Beyond, contacts give energy to the plate, and it is in
contact less of the time. Measured here, on such beds and on beds of the same stiffness in all: the largest gain
of energy, times, how much is in contact, our steps, projections and crossings. The paper gives neither κ nor β, so its
150 cannot be computed; where our own beds become irregular can.
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import Any

import mujoco
import numpy as np

from stickslip.lab.papers.event_selected import mujoco_models, ours, systems
from stickslip.lab.papers.event_selected.setups import DT, END, Bed, Sizes, bed, plate_starts
from stickslip.lab.papers.event_selected.systems import GRAVITY, LENGTH
from stickslip.lab.papers.store import Store
from stickslip.progress import Progress

STIFF, SAME = "identical springs", "same stiffness in all"
BEDS = {STIFF: 1.0, SAME: None}
"""Stiffness and damping of a spring, in those of a whole bed; None: 1 / springs."""
EPS = 1e-3
"""[m] of ours, on all beds."""


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


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per kind of bed and number of springs."""
    rows: list[dict[str, Any]] = []
    with Progress("irregular beds", len(BEDS) * len(sizes.identical)) as bar:
        for kind in BEDS:
            for contacts in sizes.identical:
                parameters: dict[str, Any] = {"kind": kind, "contacts": contacts, "number": max(4, sizes.starts // 6)}
                rows.append(store.unit("irregular", parameters, partial(measure, **parameters)))
                bar.update(len(rows))
    return rows
