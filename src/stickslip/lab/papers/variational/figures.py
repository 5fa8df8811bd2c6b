"""The figures of the paper, as PNG and PDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from stickslip.lab.papers.paper import new_figure, save_figure
from stickslip.lab.papers.variational import drawing
from stickslip.lab.papers.variational.claims import SMALLEST, counted, grown, line, of, slope, ways
from stickslip.lab.papers.variational.conservation import BODY, LINKAGE, PENDULUM
from stickslip.lab.papers.variational.setups import MANY, ROUND, STEPS

Rows = list[dict[str, Any]]
LABELS = {ROUND: "variational, circular cone", "coulomb": "coulomb", "expo": "expo"}
COLOURS = {ROUND: "k", "coulomb": "C3", "expo": "C0"}


def scaling(rows: Rows, out: Path) -> list[str]:
    """Figs. 4 and 5: times over contacts and bodies; up to the paper's size, and on logarithmic axes up to ours."""
    scene = rows[0]["scene"]
    what, size, times = grown(rows)
    numbers = np.array([row["size"] for row in rows])
    figure, axes = new_figure(1, 3, (15, 4.4))
    small, large = numbers <= MANY, numbers >= SMALLEST
    left, middle, right = axes[0]
    left.plot(size[small], times[small], "o", color="C0", label=f"best time of {STEPS} steps")
    if np.sum(small) > 2:
        fit = line(size[small], times[small])
        left.plot(size[small], fit.start + fit.each * size[small], "k-", linewidth=1,
                  label=f"{fit.start:.3g} + {fit.each:.3g}·({what}) ms, R² = {fit.r2:.4f}")  # fmt: skip
    left.set_title(f"{'Fig. 4: cylinder on c points' if scene == 'cylinder' else 'Fig. 5: chain of n links'}")
    middle.loglog(size, times, "o", color="C0")
    if np.sum(large) > 2:
        steep = slope(size[large], times[large])
        through = np.exp(np.mean(np.log(times[large] / size[large])))
        middle.loglog(size[large], through * size[large], "k-", linewidth=1, label="proportional")
        middle.set_title(f"slope {steep:.3f} from {SMALLEST} to {numbers.max()}")
    right.semilogx(size, [row["iterations"] for row in rows], "o-", color="C1", label="Newton iterations of a step")
    right.set_ylim(0.0, 1.4 * max(row["iterations"] for row in rows))
    right.set_ylabel("iterations")
    each = right.twinx()
    each.plot(size, [row["per_iteration"] / n for row, n in zip(rows, size, strict=True)], "s--", color="C2",
                label=f"time / iterations / ({what})")  # fmt: skip
    each.set_ylim(0.0, 1.4 * each.get_ylim()[1])
    each.set_ylabel("[µs]")
    handles = [*right.get_legend_handles_labels()[0], *each.get_legend_handles_labels()[0]]
    right.legend(handles, [h.get_label() for h in handles], fontsize=8)
    for ax in axes[0]:
        ax.set_xlabel({"c": "contact points c", "n + c": "bodies and contact points n + c"}[what])
        ax.grid(alpha=0.3)
    for ax in (left, middle):
        ax.set_ylabel(f"time of {STEPS} steps [ms]")
        if ax.get_legend_handles_labels()[0]:
            ax.legend(fontsize=9)
    return [save_figure(figure, out, f"{'fig4' if scene == 'cylinder' else 'fig5'}_{scene}_time")]


def _strip(rows: dict[str, Any], instants: np.ndarray, spacing: float, camera, draw, *, forward: bool, height: float):
    """Poses beside each other, left to right, with their times; ``height`` of the figure in inches."""
    figure, axes = new_figure(1, 1, (15, height))
    ax = axes[0, 0]
    times, poses = np.array(rows["pose_times"]), np.array(rows["poses"])
    poses = poses.reshape(len(poses), -1, 7)
    for k, t in enumerate(instants):
        pose = poses[np.argmin(np.abs(times - t))]
        start = pose[0, :2] if forward else poses[0, 0, :2]
        shift = np.array([-start[0], -start[1], 0.0]) + k * spacing * camera.right
        draw(ax, camera, pose, shift)
        ax.text(k * spacing, -0.24, f"{t:.2f} s", ha="center", va="top", fontsize=10, zorder=30)
    return figure, ax


def hopper(rows: Rows, out: Path) -> list[str]:
    """Fig. 6: poses of the jump; distance of the foot and angle of the turn."""
    row = of(rows, "variational")
    row = {**row, "pose_times": row["times"]}
    leave, land = row["leaves"], row["lands"]
    flight = land - leave
    instants = np.array([0.0, leave - 0.13, leave, *(leave + flight * np.array([0.3, 0.42, 0.5, 0.57, 0.64, 0.75])),
                         land, land + 0.15, row["times"][-1]])  # fmt: skip
    camera = drawing.Camera(azimuth=62.0, elevation=12.0)
    figure, ax = _strip(row, instants, 0.62, camera, drawing.hopper, forward=False, height=4.6)
    drawing.floor(ax, -0.5, 0.62 * (len(instants) - 1) + 0.5, -0.4, 2.0)
    ax.set_title("Fig. 6: crouch, jump, one turn about (1, 1, 0) in the air, landing; poses set side by side")
    names = [save_figure(figure, out, "fig6_hopper_poses")]
    figure, axes = new_figure(1, 2, (11, 4.2))
    for other, style in ((row, "-"), *((r, "--") for r in rows if r["method"] != "variational")):
        axes[0, 0].plot(other["times"], other["foot"], style, label=other["method"])
        axes[0, 1].plot(other["times"], other["angle"], style, label=other["method"])
    axes[0, 0].set_ylabel("signed distance of the foot [m]")
    axes[0, 1].axhline(360.0, color="grey", linestyle=":")
    axes[0, 1].set_ylabel("turn about (1, 1, 0) [degrees]")
    axes[0, 0].set_title(f"lowest {row['lowest']:.1e} m")
    axes[0, 1].set_title(f"{row['turn']:.2f}° at landing")
    for ax in axes.flat:
        ax.set_xlabel("time [s]")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=9)
    return [*names, save_figure(figure, out, "fig6_hopper_turn")]


def quadruped(rows: Rows, out: Path) -> list[str]:
    """Fig. 7: poses of the walk. Fig. 8: signed distance of the front right foot."""
    row = of(rows, "variational")
    row = {**row, "pose_times": np.linspace(row["times"][0], row["times"][-1], len(row["poses"]))}
    last = row["times"][-1]
    instants = np.array([0.0, *(0.5 * last + 0.125 * np.arange(5)), last])
    camera = drawing.Camera(azimuth=-65.0, elevation=14.0)
    figure, ax = _strip(row, instants, 0.85, camera, drawing.quadruped, forward=True, height=2.6)
    drawing.floor(ax, -0.5, 0.85 * (len(instants) - 1) + 0.5, -0.36, 0.55)
    ax.set_title("Fig. 7: A1 walks; poses set side by side, the front right leg in red")
    names = [save_figure(figure, out, "fig7_quadruped_poses")]
    figure, axes = new_figure(1, 2, (12, 4.2))
    left, right = axes[0]
    left.plot(row["times"], 1e3 * np.array(row["front_right"]), color="C0")
    left.set_ylabel("signed distance [mm]")
    left.set_title("Fig. 8: front right foot")
    right.semilogy(
        row["times"], np.maximum(np.array(row["front_right"]), 1e-16), ".", markersize=2, label="front right"
    )
    right.semilogy(row["times"], np.maximum(np.array(row["all_feet"]), 1e-16), ".", markersize=2, label="lowest foot")
    right.axhline(1.5e-9, color="grey", linestyle=":", label="the paper's lowest, 1.5e-9 m")
    right.set_ylabel("signed distance [m] (1e-16: or less)")
    right.set_title(f"the same on a logarithmic axis; lowest of all feet {row['lowest']:.1e} m")
    right.legend(fontsize=9)
    for ax in axes.flat:
        ax.set_xlabel("time [s]")
        ax.grid(alpha=0.3)
    return [*names, save_figure(figure, out, "fig8_signed_distance")]


def conservation(rows: Rows, out: Path) -> list[str]:
    """ω of the flipping body, errors of joints and energies over time."""
    figure, axes = new_figure(1, 3, (16, 4.4))
    left, middle, right = axes[0]
    by_case = {row["case"]: row for row in rows}
    omega = np.array(by_case[BODY]["omega"])
    left.plot(np.linspace(0.0, by_case[BODY]["seconds"], len(omega)), omega, label=["ω_x", "ω_y", "ω_z"])
    left.axhline(-1.9, color="grey", linestyle=":")
    left.set_ylabel("[rad/s]")
    left.set_title("a body without torque turns over")
    row = by_case[LINKAGE]
    times = np.linspace(0.0, row["seconds"], len(row["high"]))
    middle.semilogy(times, row["high"], color="C0", label="largest ‖g‖ nearby")
    middle.axhline(1e-8, color="grey", linestyle=":", label="target")
    middle.set_ylabel("[m, rad]")
    middle.set_title(f"four-bar: ‖g‖ ≤ {row['largest']:.1e}, last tenth / first {row['trend']:.2f}")
    for k, row in enumerate(r for r in rows if r["case"] == PENDULUM):
        times = np.linspace(0.0, row["seconds"], len(row["high"]))
        label = f"dt = {1e3 * row['dt']:g} ms, slope · time / band = {row['secular']:.0e}"
        band = {"color": f"C{k}", "alpha": 0.7, "linewidth": 0, "label": label}
        right.fill_between(times, row["low"], row["high"], step="mid", **band)
    low, high = right.get_ylim()
    right.set_ylim(low, high + 0.3 * (high - low))  # room for the legend
    right.set_ylabel("energy [J]")
    right.set_title("double pendulum")
    for ax in axes.flat:
        ax.set_xlabel("time [s]")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    return [save_figure(figure, out, "conservation_over_time")]


def iterations(rows: Rows, out: Path) -> list[str]:
    """Bars: a panel for each tolerance, motions beside each other."""
    tolerances, cases = ([*dict.fromkeys(row[key] for row in rows)] for key in ("tolerance", "case"))
    figure, axes = new_figure(len(tolerances), 1, (13, 3.6 * len(tolerances)))
    for ax, tolerance in zip(axes[:, 0], tolerances, strict=True):
        chosen = [(cone, warm) for cone, eps, warm in ways(rows) if eps == tolerance]
        width = 0.8 / (2 * len(chosen))
        for k, ((cone, warm), predictor) in enumerate((c, p) for c in chosen for p in (True, False)):
            means = [counted(rows, case, cone, tolerance, warm, predictor)["mean"] for case in cases]
            ax.bar(np.arange(len(cases)) + (k + 0.5) * width - 0.4, means, width, color=f"C{k // 2}",
                   alpha=1.0 if predictor else 0.4,
                   label=f"{cone}, {'warm' if warm else 'cold'}{'' if predictor else ', no predictor'}")  # fmt: skip
        ax.set_xticks(np.arange(len(cases)), cases)
        ax.set_ylabel("iterations of a step, mean")
        ax.set_title(f"ε = {tolerance:g}")
        ax.grid(alpha=0.3, axis="y")
        ax.set_ylim(top=1.35 * ax.get_ylim()[1])  # room for the legend
        ax.legend(fontsize=8, ncols=4)
    return [save_figure(figure, out, "iterations_of_a_step")]


def agreement(rows: Rows, out: Path) -> list[str]:
    """Differences over the step and over the stiffness."""
    robots = list(dict.fromkeys(row["robot"] for row in rows))
    figure, axes = new_figure(len(robots), 2, (12, 4.2 * len(robots)))
    stiffest = max(row["stiffness"] for row in rows if row["stiffness"] is not None)
    for (left, right), robot in zip(axes, robots, strict=True):
        mine = [row for row in rows if row["robot"] == robot]
        for method, label in LABELS.items():
            chosen = sorted((row["dt"], row["difference"]) for row in mine if row["method"] == method
                            and row["stiffness"] in (None, stiffest))  # fmt: skip
            dt, off = np.array(chosen).T
            text = f"{label}, K = {stiffest:.0e} N/m" if method == "expo" else label
            left.loglog(1e3 * dt, off, "o--" if method == "coulomb" else "o-", color=COLOURS[method], label=text)
            if method == ROUND:
                left.loglog(1e3 * dt, 0.6 * off[-1] * dt / dt[-1], ":", color="grey", label="proportional to dt")
        left.set_xticks(1e3 * dt, [f"{1e3 * x:g}" for x in dt])
        left.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        left.set_xlabel("dt [ms]")
        left.set_title(f"{robot}: rigid contacts as dt → 0")
        finest = min(row["dt"] for row in mine if row["method"] == "expo")
        chosen = sorted((row["stiffness"], row["difference"]) for row in mine
                        if row["method"] == "expo" and row["dt"] == finest)  # fmt: skip
        K, off = np.array(chosen).T
        right.loglog(K, off, "o-", color=COLOURS["expo"], label=f"expo, dt = {1e3 * finest:g} ms")
        right.loglog(K, off[0] * K[0] / K, color="grey", linestyle=":", label="proportional to 1/K")
        for method in (ROUND, "coulomb"):
            closest = min((row["dt"], row["difference"]) for row in mine if row["method"] == method)
            right.axhline(closest[1], color=COLOURS[method], linestyle="--" if method == "coulomb" else "-",
                          label=f"{LABELS[method]}, dt = {1e3 * closest[0]:g} ms")  # fmt: skip
        right.set_ylim(bottom=0.3 * min(row["difference"] for row in mine))
        right.set_xlabel("stiffness of a contact K [N/m]")
        right.set_title(f"{robot}: springs as K → ∞")
        for ax in (left, right):
            ax.set_ylabel("largest |q ⊖ q̂| [m, rad]")
            ax.grid(alpha=0.3, which="both")
            ax.legend(fontsize=8)
    return [save_figure(figure, out, "agreement_of_methods")]
