"""Sec. 5.2, Fig. 5.2: a plate falls onto 2 to 100 springs, and 1000; time per contact beside MuJoCo's, at equal errors.

From the same starts on every bed. For each bed ε is found by bisection such that the root mean square error of
``judged`` starts, all times and all six components together, is that of MuJoCo at 2 ms, but no larger; both against the
reference (every crossing located, tolerance 1e-12). Then all starts in turn, MuJoCo and ours, the second of two calls;
medians. MuJoCo makes its 1000 steps in one call, in C; ours is one call of ``solve_ess``, with all that Python does
around the compiled loop: once without Dh (rates by differences: what counts here), once with the paper's matrix Dh.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import mujoco
import numpy as np

from stickslip.lab.papers.event_selected import mujoco_models, ours, systems
from stickslip.lab.papers.event_selected.setups import END, Bed, Sizes, bed, milliseconds, plate_starts, rms
from stickslip.lab.papers.store import Store
from stickslip.progress import Progress

FEWER = 100
"""Springs above which a fourth of the starts is judged."""


def our_error(springs: Bed, starts: np.ndarray, references: list[np.ndarray], reset: np.ndarray, eps: float) -> float:
    """Of all starts together; inf: one did not reach its end."""
    left = []
    for start, reference in zip(starts, references, strict=True):
        found = ours.plate(springs, start, reset, eps=eps, t_eval=ours.TIMES)
        if not found.success:
            return np.inf
        left.append(found.y - reference)
    return rms(np.array(left))


def mujoco_counts(model: mujoco.MjModel, start: np.ndarray) -> dict[str, float]:
    """Contacts, solver's iterations and memory of one run."""
    data = mujoco.MjData(model)
    mujoco_models.set_start(model, data, start)
    contacts, iterations = [], []
    for _ in range(mujoco_models.steps(model, END)):
        mujoco.mj_step(model, data)
        contacts.append(data.ncon)
        iterations.append(int(data.solver_niter[0]))
    return {
        "mujoco_contacts": float(np.mean(contacts)),
        "mujoco_iterations": int(max(iterations)),
        "mujoco_kilobytes": float(data.maxuse_arena) / 1024.0,
    }


def spent(springs: Bed, model: mujoco.MjModel, starts: np.ndarray, reset: np.ndarray, eps: float) -> dict[str, Any]:
    """Medians [ms] of both over all starts, and means of what ours counts."""
    data, steps = mujoco.MjData(model), mujoco_models.steps(model, END)
    theirs, mine, with_matrix, counts = [], [], [], []

    def mujoco_steps(start: np.ndarray) -> None:
        mujoco_models.set_start(model, data, start)
        mujoco.mj_step(model, data, steps)

    for start in starts:
        theirs.append(milliseconds(partial(mujoco_steps, start)))
        mine.append(milliseconds(partial(ours.plate, springs, start, reset, eps=eps)))
        with_matrix.append(milliseconds(partial(ours.plate, springs, start, reset, matrix=True, eps=eps)))
        found = ours.plate(springs, start, reset, eps=eps)
        counts.append((found.nsteps, found.nprojections, found.nfev, found.nhev, len(found.violations),
                       not found.success))  # fmt: skip
    names = ("steps", "projections", "fields", "guards", "violations", "failed")
    return {
        "mujoco": statistics.median(theirs),
        "ours": statistics.median(mine),
        "ours_matrix": statistics.median(with_matrix),
        **{name: float(value) for name, value in zip(names, np.mean(counts, axis=0), strict=True)},
    }


def measure(contacts: int, number: int, judged: int) -> dict[str, Any]:
    springs, starts, reset = bed(contacts), plate_starts(number), systems.opposite(contacts)
    model = mujoco_models.plate(springs)
    chosen = starts[:judged]
    references = [ours.plate(springs, start, reset, t_eval=ours.TIMES, **ours.REFERENCE) for start in chosen]
    whole = [k for k, found in enumerate(references) if found.success]
    exact = [references[k].y for k in whole]
    theirs = [mujoco_models.trajectory(model, chosen[k], END) for k in whole]
    target = rms(np.array(theirs) - np.array(exact))
    eps, error = ours.calibrate(partial(our_error, springs, chosen[whole], exact, reset), target)
    return {
        "eps": eps,
        "rms": error,
        "mujoco_rms": target,
        "unfinished_references": judged - len(whole),
        **spent(springs, model, starts, reset, eps),
        **mujoco_counts(model, starts[0]),
    }


def study(store: Store, sizes: Sizes, numbers: tuple[int, ...], name: str) -> dict[str, Any]:
    """One row per bed."""
    rows = []
    with Progress("plate", len(numbers)) as bar:
        for contacts in numbers:
            judged = sizes.judged if contacts <= FEWER else max(2, sizes.judged // 4)
            parameters = {"contacts": contacts, "number": sizes.starts, "judged": judged}
            rows.append(store.unit("plate", parameters, partial(measure, **parameters)))
            bar.update(len(rows))
    return {name: rows}
