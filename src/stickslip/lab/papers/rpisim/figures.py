"""The figures of the paper, as PNG and PDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from stickslip.lab.papers.paper import new_figure, save_figure
from stickslip.lab.papers.rpisim.peg import FALL_STEPS, TRAVEL, free_fall
from stickslip.lab.papers.rpisim.setups import DT

Rows = list[dict[str, Any]]
MARKERS = "osv^Dx+*P"
FLOOR = 1e-17
"""Drawn in place of zero on logarithmic axes."""


EXACT, WORST = 1e-12, 1e2
"""[m] smaller and larger distances are drawn there."""


def drift(rows: Rows, out: Path) -> list[str]:
    """Fig. 4: position and velocity errors over time."""
    joints = list(dict.fromkeys(row["joint"] for row in rows))
    figure, axes = new_figure(len(joints), 2, (11, 3.4 * len(joints)))
    for line, joint in zip(axes, joints, strict=True):
        for ax, stabilised in zip(line, (False, True), strict=True):
            (row,) = [
                r for r in rows
                if r["joint"] == joint and r["coordinates"] == ("maximal, stabilised" if stabilised else "maximal")
            ]  # fmt: skip
            ax.semilogy(row["times"], np.maximum(row["position"], FLOOR), label="position [m or rad]")
            ax.semilogy(row["times"], np.maximum(row["velocity"], FLOOR), label="velocity [m/s or rad/s]", alpha=0.7)
            ax.axhline(1e-5, color="black", linestyle=":", label="ε = 1e-5")
            what = "with" if stabilised else "without"
            ax.set_title(f"{joint} joint, h = {row['dt']:g} s, {what} stabilisation")
            ax.set_xlabel("time [s]")
            ax.set_ylabel("largest joint error")
            ax.set_ylim(1e-12, 1e-1)
            ax.grid(alpha=0.3)
            if not stabilised:  # there is no room in the other
                ax.legend(loc="lower right")
    return [save_figure(figure, out, "fig4_joint_errors")]


def peg(rows: Rows, out: Path) -> list[str]:
    """Fig. 8: heights of both pegs."""
    names = list(dict.fromkeys(row["clearance"] for row in rows))
    figure, axes = new_figure(1, len(names), (12, 4.6))
    styles = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))
    for ax, name in zip(axes[0], names, strict=True):
        chosen = [row for row in rows if row["clearance"] == name]
        for k, row in enumerate(chosen):
            times = DT * np.arange(len(row["heights"]))
            ax.plot(
                times,
                row["heights"],
                label=row["label"],
                linestyle=styles[k % len(styles)],
                linewidth=1.2 + 0.35 * (len(chosen) - k),
            )
        if "clearance" in name:
            fall = free_fall(FALL_STEPS)
            ax.plot(DT * np.arange(len(fall)), fall, "k.", markersize=3, label="free fall")
        ax.axhline(1.0, color="grey", linewidth=0.8)
        ax.annotate("on top", (0.02, 1.0), textcoords="offset points", xytext=(0, 4), color="grey")
        ax.set_title(name)
        ax.set_xlabel("time [s]")
        ax.set_ylabel("height of the peg's centre [m]")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    return [save_figure(figure, out, "fig8_peg_in_hole")]


def convergence(rows: Rows, out: Path) -> list[str]:
    """Fig. 9: natural merit over iterations."""
    figure, axes = new_figure(2, (len(rows) + 1) // 2, (11, 7.5))
    for ax, row in zip(axes.flat, rows, strict=False):
        for curve in row["curves"]:
            at, residual = np.array(curve).T
            ax.semilogy(at, np.maximum(residual, FLOOR), color="tab:blue", alpha=0.35, linewidth=0.9)
        ax.set_title(f"{row['solver']}: {len(row['curves'])} samples of {row['steps']} steps")
        ax.set_xlabel("iteration")
        ax.set_ylabel("natural merit [mixed units]")
        ax.set_ylim(1e-16, None)
        ax.grid(alpha=0.3)
    for ax in list(axes.flat)[len(rows) :]:
        ax.set_visible(False)
    return [save_figure(figure, out, "fig9_convergence")]


def grasp(rows: Rows, out: Path) -> list[str]:
    """Fig. 10: the arm's angles, the object's height, the joint errors."""
    figure, axes = new_figure(1, 3, (14, 4.2))
    first = rows[0]
    for k, angle in enumerate(np.array(first["angles"]).T):
        axes[0, 0].plot(first["times"], angle, label=f"joint {k + 1}")
    axes[0, 0].set_ylabel("angle [rad]")
    axes[0, 0].set_title(f"{first['method']}, {first['coordinates']} coordinates")
    for row in rows:
        label = f"{row['method']}, {row['coordinates']}"
        axes[0, 1].plot(row["times"], row["height"], label=label)
        if row["error"]:
            axes[0, 2].semilogy(row["times"], np.maximum(row["error"], FLOOR), label=label)
    axes[0, 1].set_ylabel("height of the object [m]")
    axes[0, 1].set_title("the object is lifted")
    axes[0, 2].set_ylabel("largest joint error [m or rad]")
    axes[0, 2].set_title("joint errors in maximal coordinates")
    axes[0, 2].axhline(1e-5, color="black", linestyle=":", label="ε = 1e-5")
    for ax in axes.flat:
        ax.set_xlabel("time [s]")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    return [save_figure(figure, out, "fig10_grasp")]


def solvers(rows: Rows, out: Path) -> list[str]:
    """Sec. 5.2: time and merit of every solver, and convergence on the largest Stewart–Trinkle LCP."""
    figure, axes = new_figure(1, 2, (14, 5))
    left, right = axes[0]
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    for k, solver in enumerate(solvers):
        chosen = [row for row in rows if row["solver"] == solver and None not in (row["seconds"], row["residual"])]
        merit = np.maximum([row["residual"] for row in chosen], FLOOR)
        left.loglog([1e3 * row["seconds"] for row in chosen], merit, MARKERS[k % len(MARKERS)], label=solver, alpha=0.6)
    left.set_xlabel("time [ms]")
    left.set_ylabel("natural merit [mixed units]")
    left.set_title("every captured step, formulation and form")
    lcps = [row for row in rows if row["formulation"] == "stewart-trinkle" and row["form"] == "lcp"]
    largest = max(lcps, key=lambda row: row["unknowns"])
    for row in (row for row in lcps if row["scene"] == largest["scene"] and len(row["history"]) > 2):
        at, residual = np.array(row["history"]).T
        k = solvers.index(row["solver"])
        right.loglog(
            at + 1, np.maximum(residual, FLOOR), color=f"C{k % 10}", linestyle=("-", "--", "-.", ":")[k % 4],
            linewidth=1.0 + 0.3 * (len(solvers) - k),
        )  # fmt: skip
    right.set_xlabel("iteration, from 1")
    right.set_ylabel("natural merit [mixed units]")
    right.set_title(f"Stewart–Trinkle LCP of {largest['scene']}, n = {largest['unknowns']}")
    for ax in (left, right):
        ax.grid(alpha=0.3)
    figure.legend(*left.get_legend_handles_labels(), loc="outside right upper")
    return [save_figure(figure, out, "sec52_solvers")]


def inclusion(rows: Rows, out: Path) -> list[str]:
    """Sec. 5.3: distance from the right place over the margin; methods a little beside each other, to be seen."""
    names = list(dict.fromkeys(row["clearance"] for row in rows))
    figure, axes = new_figure(1, len(names), (14, 4.8))
    least = min(row["margin"] for row in rows) / 1.5
    for ax, name in zip(axes[0], names, strict=True):
        for k, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
            chosen = [row for row in rows if row["clearance"] == name and row["method"] == method]
            errors = [min(WORST, max(row["error"], EXACT)) for row in chosen]
            aside = 1.05 ** (k - 2.5)
            ax.loglog([aside * row["margin"] for row in chosen], errors, MARKERS[k] + ":", label=method, linewidth=0.8)
        if least < TRAVEL:
            ax.axvspan(least, TRAVEL, color="grey", alpha=0.15, linewidth=0, label="margin < fall in one step")
        ax.set_title(name)
        ax.set_xlabel("margin [m]")
        ax.set_ylabel("distance from the right place [m]")
        ax.set_ylim(EXACT / 10, WORST * 10)
        ax.set_xlim(least, None)
        ax.grid(alpha=0.3)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper")
    return [save_figure(figure, out, "sec53_formulations")]
