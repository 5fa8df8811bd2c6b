"""Sec. 5.2, Fig. 5.2: a plate falls onto 2 to 100 springs; time per contact beside MuJoCo's, at equal errors.

From the same starts on every bed. For each bed ε is found by bisection such that the root mean square error of
``judged`` starts, all times and all six components together, is that of MuJoCo at 2 ms, but no larger; both against the
reference (every crossing located, tolerance 1e-12). Then all starts in turn, MuJoCo and ours, the second of two calls;
medians. MuJoCo makes its 1000 steps in one call, in C; ours is one call of ``solve_ess``, with all that Python does
around the compiled loop: once without Dh (rates by differences: what counts here), once with the paper's matrix Dh.

The paper's time per contact equalled MuJoCo's; the target is a fifth of it, at MuJoCo's error.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import mujoco
import numpy as np

from stickslip.lab.papers.event_selected import mujoco_models, ours, systems
from stickslip.lab.papers.event_selected.setups import (
    END,
    OURS,
    THEIRS,
    Bed,
    Sizes,
    bed,
    milliseconds,
    plate_starts,
    rms,
)
from stickslip.lab.papers.paper import Part, Results, finish, image, new_figure, units
from stickslip.lab.papers.rows import Line, Rows, column, line, table_of
from stickslip.lab.store import Store
from stickslip.lab.targets import Target

FEWER = 100
"""Springs above which a fourth of the starts is judged."""
MARGINAL = 0.2
"""Limit of our time per contact over MuJoCo's."""


def our_error(springs: Bed, starts: np.ndarray, references: list[np.ndarray], reset: np.ndarray, eps: float) -> float:
    """Root mean square error of all starts together; inf if one did not reach its end."""
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


def spent(
    springs: Bed, model: mujoco.MjModel, starts: np.ndarray, reset: np.ndarray, **options: Any
) -> dict[str, Any]:  # fmt: skip
    """Medians [ms] of both over all starts, and means of what ours counts; ``options`` are those of ours."""
    data, steps = mujoco.MjData(model), mujoco_models.steps(model, END)
    theirs, mine, with_matrix, counts = [], [], [], []

    def mujoco_steps(start: np.ndarray) -> None:
        mujoco_models.set_start(model, data, start)
        mujoco.mj_step(model, data, steps)

    for start in starts:
        theirs.append(milliseconds(partial(mujoco_steps, start)))
        mine.append(milliseconds(partial(ours.plate, springs, start, reset, **options)))
        with_matrix.append(milliseconds(partial(ours.plate, springs, start, reset, matrix=True, **options)))
        found = ours.plate(springs, start, reset, **options)
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
        **spent(springs, model, starts, reset, eps=eps),
        **mujoco_counts(model, starts[0]),
    }


def beds(store: Store, sizes: Sizes, numbers: tuple[int, ...]) -> Rows:
    """One row per bed."""
    cases = [
        {"contacts": n, "number": sizes.starts, "judged": sizes.judged if n <= FEWER else max(2, sizes.judged // 4)}
        for n in numbers
    ]
    return units(store, "plate", cases, measure)


def study(store: Store, sizes: Sizes) -> Results:
    return {"plate": beds(store, sizes, sizes.contacts)}


def fit(rows: Rows, key: str) -> Line:
    """Time of ``key`` over contacts."""
    return line(column(rows, "contacts"), column(rows, key))


def bed_targets(rows: Rows) -> list[Target]:
    """What holds for every bed."""
    span = f"plate on {rows[0]['contacts']} to {rows[-1]['contacts']} springs"
    unfinished = sum(row["failed"] + row["unfinished_references"] for row in rows)
    return [
        Target(f"{span}: error over MuJoCo's, largest", max(r["rms"] / r["mujoco_rms"] for r in rows), 1.0),
        Target(f"{span}: time over MuJoCo's, largest", max(r["ours"] / r["mujoco"] for r in rows), 1.0),
        Target(f"{span}: runs that did not reach their end", unfinished, 1e-9),
    ]


def targets(results: Results) -> list[Target]:
    rows = results["plate"]
    ratio = fit(rows, "ours").each / fit(rows, "mujoco").each
    span = f"{rows[0]['contacts']} to {rows[-1]['contacts']}"
    marginal = Target(f"plate on {span} springs: time per contact over MuJoCo's", ratio, MARGINAL)
    return [marginal, *bed_targets(rows)]


def draw(results: Results):
    """Medians with their lines, their slopes, and errors."""
    rows = results["plate"]
    figure, axes = new_figure(1, 3, (16, 4.4))
    left, middle, right = axes[0]
    contacts = column(rows, "contacts")
    for key, name, colour in (
        ("mujoco", "MuJoCo", THEIRS), ("ours", "ours", OURS), ("ours_matrix", "ours, with Dh as a matrix", "C1"),
    ):  # fmt: skip
        through, times = fit(rows, key), column(rows, key)
        left.plot(contacts, times, "o", color=colour, markersize=4, label=name)
        left.plot(contacts, through.start + through.each * contacts, color=colour, linewidth=1,
                  label=f"{through.start:.2f} + {through.each:.4f}·n ms, R² = {through.r2:.4f}")  # fmt: skip
        middle.plot(contacts, 1e3 * np.gradient(times, contacts), color=colour, label=name)
        middle.axhline(1e3 * through.each, color=colour, linestyle=":", linewidth=1)
    left.set(ylabel="median time of 2 s [ms]", title="Fig. 5.2: plate on n springs, same starts, equal errors")
    middle.set_ylabel("time per contact [µs]")
    middle.set_ylim(bottom=0.0)
    middle.set_title(f"marginal cost; ours / MuJoCo's {fit(rows, 'ours').each / fit(rows, 'mujoco').each:.3f}")
    for key, style, name, drawn in (
        ("mujoco_rms", "o-", "error, MuJoCo at 2 ms", {"color": THEIRS, "markersize": 4}),
        ("rms", ".--", "error, ours", {"color": OURS}),
        ("eps", "s:", "ε [m]", {"color": "0.4", "markersize": 4}),
    ):
        right.semilogy(contacts, column(rows, key), style, label=name, **drawn)
    right.set_title("root mean square error, and ε that gives it")
    finish(axes, "springs n")
    return figure


def bed_table(rows: Rows) -> str:
    return table_of(rows, {
        "springs": "{contacts}", "MuJoCo [ms]": "{mujoco:.2f}", "ours [ms]": "{ours:.2f}",
        "with Dh [ms]": "{ours_matrix:.2f}", "ratio": lambda row: f"{row['ours'] / row['mujoco']:.2f}",
        "ε [m]": "{eps:.2g}", "error of MuJoCo": "{mujoco_rms:.2g}", "ours": "{rms:.2g}", "our steps": "{steps:.0f}",
        "projections": "{projections:.0f}", "MuJoCo: contacts": "{mujoco_contacts:.1f}",
        "iterations": "{mujoco_iterations}", "unfinished": "{failed:.2f}",
    })  # fmt: skip


def section(results: Results) -> str:
    rows = results["plate"]
    mine, matrix, theirs = (fit(rows, key).each for key in ("ours", "ours_matrix", "mujoco"))
    return "\n".join([
        "## Fig. 5.2: time per contact\n",
        image("fig52_marginal_cost", "Medians over starts, their slopes, and errors"),
        "**The paper:** *the marginal runtime cost per contact of the Python implementation was roughly the same as "
        f"MuJoCo's.* **Here:** {1e3 * mine:.1f} µs per contact beside MuJoCo's {1e3 * theirs:.1f} µs (2 s of "
        f"motion), {mine / theirs:.3f} of it, at the same error; with Dh given as a matrix (2n, 6), as in "
        f"the paper, {1e3 * matrix:.1f} µs and {matrix / theirs:.3f}. Without Dh, rates of guards are "
        "differences of h along f.\n",
        bed_table(rows),
    ])  # fmt: skip


FIG52 = Part("fig52", study, section, targets, {"fig52_marginal_cost": draw}, tables=("plate",))
