"""The work–precision diagram: the error of a method against its computing time.

    cost = computing time / simulated time = 1 / real-time factor [s/s]
    error: ``error_rms`` of the scorecard, against the reference [m]

The reference itself, whose error is zero by definition, and runs that are not complete are left out.
"""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

from stickslip.lab.compare.comparison import CandidateResult, Comparison, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ERRORS = ("error_rms", "error_max")
"""Scores that serve as the error; the first one that a run has."""


def error(run: Run) -> float:
    """Error of a run [m]."""
    return next((run.scores[name] for name in ERRORS if name in run.scores), nan)


def cost(run: Run) -> float:
    """Computing time per simulated second [s/s]."""
    factor = run.scores.get("real_time_factor", nan)
    return 1.0 / factor if factor > 0.0 else nan


def measured(comparison: Comparison, candidate: CandidateResult) -> list[Run]:
    """Runs of a candidate that have an error and a cost, from the longest step to the shortest."""
    found = [
        run
        for run in candidate.runs
        if run.outcome == "complete"
        and 0.0 < error(run) < inf
        and 0.0 < cost(run) < inf
        and not is_reference(comparison, run)
    ]
    return sorted(found, key=lambda run: -run.dt)


def is_reference(comparison: Comparison, run: Run) -> bool:
    return (run.label, run.dt) == tuple(comparison.reference)


def plot(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw the work–precision diagram, one line per method, into ``ax``, by default the axes of a new figure."""
    from stickslip.lab.compare.report.colours import hues, method_colours

    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(8.0, 5.0), layout="constrained")
    labels = [candidate.label for candidate in comparison.candidates]
    colours, taken = method_colours(labels), hues(labels)
    seen: set[int] = set()
    for position, candidate in enumerate(comparison.candidates):
        runs = measured(comparison, candidate)
        style = "--" if taken[candidate.label] in seen else "-"
        seen.add(taken[candidate.label])
        if runs:
            ax.plot(
                [cost(run) for run in runs],
                [error(run) for run in runs],
                style + "os^Dv"[position % 5],
                color=colours[candidate.label],
                label=candidate.label,
            )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("computing time per simulated second [s/s]")
    ax.set_ylabel("error against the reference [m]")
    ax.set_title(f"{comparison.scene}: work and precision")
    ax.grid(alpha=0.3)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, fontsize="small", frameon=False)
    else:
        ax.text(0.5, 0.5, "no run has an error and a cost", transform=ax.transAxes, ha="center", color="0.5")
    return ax
