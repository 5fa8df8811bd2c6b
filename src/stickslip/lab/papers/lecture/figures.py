"""The figures of the lecture, as PNG and PDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from stickslip.lab.papers.lecture.claims import CREEP, DRAGGED, lift
from stickslip.lab.papers.lecture.experiments import APPROACH
from stickslip.lab.papers.lecture.setups import DAMPING, FORMS, SINK, STIFFNESS
from stickslip.lab.papers.paper import new_figure, save_figure

Rows = list[dict[str, Any]]
COLOURS = dict(zip((form.label for form in FORMS), ("C0", "C3", "k", "C1", "C2"), strict=True))
STYLES = dict(zip((form.label for form in FORMS), ("-", "-.", "-", "-", "--"), strict=True))
MARKERS = "osv^DxP*"


def _curve(ax, row: dict[str, Any], name: str, scale: float = 1.0, **style: Any) -> None:
    form = row["form"]
    ax.plot(row["times"], scale * np.array(row[name]), color=COLOURS[form], linestyle=STYLES[form],
            linewidth=2.2 if form == "coulomb" else 1.4, label=form, **style)  # fmt: skip


def experiments(rows: Rows, out: Path) -> list[str]:
    """One picture per experiment."""
    by_name = {name: [row for row in rows if row["experiment"] == name] for name in (
        "drop", "pull", "approach", "slide", "slope")}  # fmt: skip
    return [
        _drop(by_name["drop"], out),
        _pull(by_name["pull"], out),
        _approach(by_name["approach"], out),
        _slide(by_name["slide"], out),
        _slope(by_name["slope"], out),
    ]


def _finish(figure, axes, out: Path, name: str) -> str:
    for ax in axes.flat:
        ax.set_xlabel(ax.get_xlabel() or "time [s]")
        ax.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=9)
    return save_figure(figure, out, name)


def _drop(rows: Rows, out: Path) -> str:
    figure, axes = new_figure(1, 3, (15, 4.2))
    for row in rows:
        _curve(axes[0, 0], row, "height", 1e3)
        _curve(axes[0, 1], row, "gap", 1e3)
        _curve(axes[0, 2], row, "energy")
    axes[0, 0].set_ylabel("height of the lower face [mm]")
    axes[0, 0].set_title("a block is dropped")
    axes[0, 1].set_ylabel("lowest corner [mm]")
    axes[0, 1].set_ylim(-6.0, 4.0)
    axes[0, 1].axhline(-1e3 * SINK, color="grey", linestyle=":")
    axes[0, 1].annotate("−m·g/(4·K)", (0.5, -1e3 * SINK), textcoords="offset points", xytext=(0, -12), color="grey")
    axes[0, 1].set_title("penetration")
    axes[0, 2].set_ylabel("energy with contact springs [J]")
    axes[0, 2].set_title("energy")
    return _finish(figure, axes, out, "penetration_drop")


def _pull(rows: Rows, out: Path) -> str:
    figure, axes = new_figure(1, 2, (11, 4.2))
    for row in rows:
        _curve(axes[0, 0], row, "normal")
        _curve(axes[0, 1], row, "height", 1e3)
    axes[0, 0].axhline(0.0, color="grey", linewidth=0.8)
    axes[0, 0].set_ylabel("normal force [N]")
    axes[0, 0].set_title("pulled up by 2·m·g·t: below zero the ground pulls")
    axes[0, 1].set_ylabel("height of the lower face [mm]")
    axes[0, 1].set_ylim(-1.0, 20.0)
    axes[0, 1].set_title("and lets go, or not")
    return _finish(figure, axes, out, "pulling_forces")


def _approach(rows: Rows, out: Path) -> str:
    figure, axes = new_figure(1, 2, (11, 4.2))
    for row in rows:
        gap, force = 1e3 * np.array(row["gap"]), np.array(row["normal"])
        last = int(np.argmin(gap)) + 1
        form = row["form"]
        axes[0, 0].plot(gap[:last], force[:last], marker=".", color=COLOURS[form], linestyle=STYLES[form], label=form)
        _curve(axes[0, 1], row, "gap", 1e3)
    axes[0, 0].axvline(0.0, color="grey", linewidth=0.8)
    axes[0, 0].axvline(1e3 * APPROACH * DAMPING / STIFFNESS, color="grey", linestyle=":")
    axes[0, 0].set_xlim(-6.0, 12.0)
    axes[0, 0].set_yscale("symlog", linthresh=10.0)
    axes[0, 0].set_xlabel("gap at the end of the step [mm]; dotted: v·B/K")
    axes[0, 0].set_ylabel("normal force in the step [N]")
    axes[0, 0].set_title(f"approached with {APPROACH:g} m/s: force at a distance")
    axes[0, 1].set_ylabel("lowest corner [mm]")
    axes[0, 1].set_ylim(-6.0, 20.0)
    axes[0, 1].set_title("without gravity")
    return _finish(figure, axes, out, "force_at_a_distance")


def _slide(rows: Rows, out: Path) -> str:
    figure, axes = new_figure(1, 2, (11, 4.2))
    for row in rows:
        _curve(axes[0, 0], row, "height", 1e3)
        _curve(axes[0, 1], row, "x")
    times = np.array(rows[0]["times"])
    derived = [1e3 * lift(DRAGGED * t) for t in times]
    axes[0, 0].plot(times, derived, color="grey", linestyle=":", label="derived for relaxed")
    axes[0, 0].set_ylabel("height of the lower face [mm]")
    axes[0, 0].set_title("a block is dragged along: the convex relaxation lifts it")
    axes[0, 1].plot(times, 0.5 * DRAGGED * times**2, color="grey", linestyle=":")
    axes[0, 1].set_ylabel("distance [m]; dotted: a·t²/2")
    axes[0, 1].set_title("and how far it goes (the bilateral one stays)")
    return _finish(figure, axes, out, "lift_of_a_sliding_block")


def _slope(rows: Rows, out: Path) -> str:
    figure, axes = new_figure(1, 1, (6.5, 4.2))
    for row in rows:
        _curve(axes[0, 0], row, "x", 1e3)
    times = np.array(rows[0]["times"])
    axes[0, 0].plot(times, 1e3 * CREEP * times, color="grey", linestyle=":", label="derived: R·p_t")
    axes[0, 0].set_ylabel("way down the slope [mm]")
    axes[0, 0].set_title("held by friction, tan θ = 0.8·μ: creep")
    return _finish(figure, axes, out, "creep_on_a_slope")


def stiffness(rows: Rows, out: Path) -> list[str]:
    """Energy over stiffness."""
    figure, axes = new_figure(1, 2, (12, 4.4))
    for k, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        chosen = [row for row in rows if row["method"] == method]
        K = [row["stiffness"] for row in chosen]
        axes[0, 0].loglog(K, [row["energy"] for row in chosen], MARKERS[k] + "-", label=method, alpha=0.8)
        deep = [(row["stiffness"], max(1e-12, row["depth"])) for row in chosen if row["depth"] is not None]
        axes[0, 1].loglog(*zip(*deep, strict=True), MARKERS[k] + "-", alpha=0.8)
    axes[0, 0].set_ylabel("largest energy / energy at the start")
    axes[0, 0].set_title("energy (the upper edge: diverged)")
    axes[0, 1].set_ylabel("deepest penetration [m] (1e-12: none)")
    axes[0, 1].set_title("penetration")
    for ax in axes.flat:
        ax.set_xlabel("stiffness of a contact [N/m], dt = 1 ms")
    return [_finish(figure, axes, out, "stiffness_soft_contact")]


def differences(rows: Rows, out: Path) -> list[str]:
    """Errors of finite differences over their step."""
    figure, axes = new_figure(1, 1, (6.5, 4.4))
    for k, kind in enumerate(dict.fromkeys(row["kind"] for row in rows)):
        chosen = [row for row in rows if row["kind"] == kind]
        axes[0, 0].loglog([row["step"] for row in chosen], [row["error"] for row in chosen], MARKERS[k] + "-",
                          label=kind)  # fmt: skip
    axes[0, 0].set_xlabel("step of the difference [rad, m]")
    axes[0, 0].set_ylabel("largest error of ∂τ/∂q, relative")
    axes[0, 0].set_title(f"finite differences of RNEA on {rows[0]['robot']}")
    return [_finish(figure, axes, out, "finite_differences")]


def timing(rows: Rows, out: Path) -> list[str]:
    """Bars by robot as on the slides, and growth over chains."""
    robots = [row for row in rows if row["links"] is None]
    chains = [row for row in rows if row["links"] is not None]
    algorithms = list(dict.fromkeys(row["algorithm"] for row in rows))
    figure, axes = new_figure(2, len(algorithms), (5.6 * len(algorithms), 8.4))
    series = (("analytic", "ours, analytic"), ("pinocchio", "Pinocchio, analytic"),
              ("differences", "ours, finite differences"), ("function", "ours, the function itself"))  # fmt: skip
    for column, algorithm in enumerate(algorithms):
        chosen = [row for row in robots if row["algorithm"] == algorithm]
        at = np.arange(len(chosen))
        for k, (name, label) in enumerate(series):
            values = [row[name] or np.nan for row in chosen]
            axes[0, column].bar(at + 0.2 * (k - 1.5), values, 0.2, label=label)
        axes[0, column].set_yscale("log")
        axes[0, column].set_xticks(at, [row["robot"] for row in chosen])
        axes[0, column].set_xlabel("robot")
        axes[0, column].set_ylabel("median time [µs]")
        axes[0, column].set_title(f"derivatives of {algorithm}")
        chosen = [row for row in chains if row["algorithm"] == algorithm]
        for k, (name, label) in enumerate(series):
            values = [row[name] or np.nan for row in chosen]
            if np.isfinite(values).any():
                axes[1, column].loglog([row["links"] for row in chosen], values, MARKERS[k] + "-", label=label)
        axes[1, column].set_xlabel("links of a chain")
        axes[1, column].set_ylabel("median time [µs]")
    return [_finish(figure, axes, out, "derivative_benchmark")]
