"""The figures of the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stickslip.lab.papers.event_selected import ours
from stickslip.lab.papers.event_selected.claims import FITTED, Rows, line, local_orders
from stickslip.lab.papers.event_selected.claims import order as slope_of
from stickslip.lab.papers.event_selected.hopper import FREE, LIKE_PAPER, MUJOCO
from stickslip.lab.papers.event_selected.irregular import BEDS, STIFF, limit
from stickslip.lab.papers.event_selected.setups import HOP
from stickslip.lab.papers.paper import Results, new_figure, save_figure

OURS, THEIRS = "C3", "C0"
"""Colours, as in the paper: red and blue."""


def column(rows: Rows, key: str) -> np.ndarray:
    return np.array([row[key] for row in rows], dtype=float)


def order(results: Results, out: Path) -> list[str]:
    """Fig. 4.1: error over 1/ε; the slope from each ε to the next."""
    rows = results["order"]
    figure, axes = new_figure(1, 2, (12, 4.4))
    left, right = axes[0]
    eps, error = column(rows, "eps"), column(rows, "rms")
    through = (eps >= FITTED[0]) & (eps <= 1.001 * FITTED[1])
    scale = np.exp(np.mean(np.log(error[through] / eps[through] ** 2)))
    left.axvspan(1.0 / FITTED[1], 1.0 / FITTED[0], color="0.9", label="of the fit")
    left.loglog(1.0 / eps, error, ".-", color=OURS, label="root mean square of the trajectory")
    left.loglog(1.0 / eps, column(rows, "end"), ":", color="C1", label="at the end")
    left.loglog(1.0 / eps, scale * eps**2, "--", color=THEIRS, linewidth=1, label="slope 2")
    left.set_ylim(0.3 * error.min(), 10.0 * error.max())
    left.set_ylabel("error")
    left.set_title(f"Fig. 4.1: order {slope_of(rows):.4f}")
    orders = np.diff(np.log(error)) / np.diff(np.log(eps))
    right.axvspan(1.0 / FITTED[1], 1.0 / FITTED[0], color="0.9")
    right.axhspan(1.95, 2.05, color="C2", alpha=0.2, label="2 ± 0.05")
    right.semilogx(1.0 / np.sqrt(eps[1:] * eps[:-1]), orders, ".-", color=OURS, label="between neighbours")
    right.set_ylim(-0.5, 3.5)
    right.set_ylabel("order")
    right.set_title(f"from {local_orders(rows).min():.4f} to {local_orders(rows).max():.4f} in the interval of the fit")
    for ax in axes.flat:
        ax.set_xlabel("1/ε")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=9)
    return [save_figure(figure, out, "fig41_order")]


def hopper(results: Results, out: Path) -> list[str]:
    """Fig. 5.1: trajectories and what is left of them; error over time of computing."""
    tracks = results["hopper_trajectories"]
    exact, times = HOP(ours.TIMES), ours.TIMES
    figure, axes = new_figure(2, 2, (12, 6.4))
    styles = {MUJOCO: (THEIRS, "--"), LIKE_PAPER: (OURS, "-"), FREE: ("C1", ":")}
    for i, what in enumerate(("z [m]", "ż [m/s]")):
        top, bottom = axes[0, i], axes[1, i]
        top.plot(times, exact[i], color="grey", linestyle=":", linewidth=3, label="exact")
        for name, (colour, style) in styles.items():
            track = np.array(tracks[name][i])
            top.plot(times, track, color=colour, linestyle=style, linewidth=1, label=name)
            bottom.plot(times, track - exact[i], color=colour, linestyle=style, linewidth=1, label=name)
        top.set_ylabel(what)
        bottom.set_ylabel(f"{what}, less the exact one")
        bottom.set_xlabel("time [s]")
    for ax in axes.flat:
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    axes[0, 0].set_title("Fig. 5.1: the hopper, at equal errors")
    names = [save_figure(figure, out, "fig51_hopper")]
    figure, axes = new_figure(1, 1, (7, 4.6))
    ax = axes[0, 0]
    colours = {"MuJoCo, Euler": THEIRS, "MuJoCo, RK4": "C2", "ours": OURS}
    for method, colour in colours.items():
        rows = [row for row in results["precision"] if row["method"] == method]
        ax.loglog(column(rows, "milliseconds"), column(rows, "rms"), "o-", color=colour, label=method)
    target = next(row for row in results["hopper"] if row["method"] == MUJOCO)
    ax.loglog(target["milliseconds"], target["rms"], "k*", markersize=12, label="MuJoCo at 2 ms")
    ax.set_xlabel("time of computing 2 s [ms]")
    ax.set_ylabel("root mean square error")
    ax.set_title("the hopper: error over time of computing")
    ax.grid(alpha=0.3, which="both")
    ax.legend(fontsize=9)
    return [*names, save_figure(figure, out, "hopper_precision")]


def plate(results: Results, out: Path) -> list[str]:
    """Fig. 5.2: medians, their lines and their slopes."""
    rows = results["plate"]
    figure, axes = new_figure(1, 3, (16, 4.4))
    left, middle, right = axes[0]
    contacts = column(rows, "contacts")
    for key, name, colour in (
        ("mujoco", "MuJoCo", THEIRS), ("ours", "ours", OURS), ("ours_matrix", "ours, with Dh as a matrix", "C1"),
    ):  # fmt: skip
        fit, times = line(rows, key), column(rows, key)
        left.plot(contacts, times, "o", color=colour, markersize=4, label=name)
        left.plot(contacts, fit.start + fit.each * contacts, color=colour, linewidth=1,
                  label=f"{fit.start:.2f} + {fit.each:.4f}·n ms, R² = {fit.r2:.4f}")  # fmt: skip
        middle.plot(contacts, 1e3 * np.gradient(times, contacts), color=colour, label=name)
        middle.axhline(1e3 * fit.each, color=colour, linestyle=":", linewidth=1)
    left.set_ylabel("median time of 2 s [ms]")
    left.set_title("Fig. 5.2: plate on n springs, same starts, equal errors")
    middle.set_ylabel("time per contact [µs]")
    middle.set_ylim(bottom=0.0)
    ratio = line(rows, "ours").each / line(rows, "mujoco").each
    middle.set_title(f"marginal cost; ours / MuJoCo's {ratio:.3f}")
    right.semilogy(
        contacts, column(rows, "mujoco_rms"), "o-", color=THEIRS, markersize=4, label="error, MuJoCo at 2 ms"
    )
    right.semilogy(contacts, column(rows, "rms"), ".--", color=OURS, label="error, ours")
    right.semilogy(contacts, column(rows, "eps"), "s:", color="0.4", markersize=4, label="ε [m]")
    right.set_title("root mean square error, and ε that gives it")
    for ax in axes.flat:
        ax.set_xlabel("springs n")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    return [save_figure(figure, out, "fig52_marginal_cost")]


def beyond(results: Results, out: Path) -> list[str]:
    """The same to 1000 springs, with what is counted."""
    rows = [*results.get("plate", []), *results["beyond"]]
    figure, axes = new_figure(1, 3, (16, 4.4))
    left, middle, right = axes[0]
    contacts = column(rows, "contacts")
    for key, name, colour in (("mujoco", "MuJoCo", THEIRS), ("ours", "ours", OURS)):
        left.loglog(contacts, column(rows, key), "o-", color=colour, markersize=4, label=name)
    left.set_ylabel("median time of 2 s [ms]")
    left.set_title("to 1000 springs")
    for key, style in (("projections", "o-"), ("steps", "s-"), ("guards", "^:")):
        middle.loglog(contacts, column(rows, key), style, color=OURS, markersize=4, label=f"ours: {key}")
    middle.loglog(contacts, column(rows, "mujoco_contacts"), "d-", color=THEIRS, markersize=4,
                  label="MuJoCo: contacts in a step, mean")  # fmt: skip
    middle.set_title("what is counted in 2 s")
    work = column(rows, "guards") + column(rows, "fields")
    start = min(column(rows, "ours"))
    more = contacts > contacts.min()
    spent = 1e6 * (column(rows, "ours") - start)[more] / (work * contacts)[more]
    right.loglog(contacts[more], spent, "o-", color=OURS, markersize=4,
                 label="ours: ns per evaluation of f or h and spring")  # fmt: skip
    right.loglog(contacts, 1e3 * column(rows, "mujoco") / contacts, "o-", color=THEIRS, markersize=4,
                 label="MuJoCo: ns per step and spring")  # fmt: skip
    right.set_title("time in units of work")
    for ax in axes.flat:
        ax.set_xlabel("springs n")
        ax.grid(alpha=0.3, which="both")
        ax.legend(fontsize=8)
    return [save_figure(figure, out, "beyond_1000_contacts")]


def irregular(results: Results, out: Path) -> list[str]:
    """Identical springs beside beds of the same stiffness."""
    figure, axes = new_figure(2, 2, (13, 8))
    (time, energy), (touching, steps) = axes
    for (kind, style), colour in zip(zip(BEDS, ("o-", "s--"), strict=True), ("C1", "C2"), strict=True):
        rows = [row for row in results["irregular"] if row["kind"] == kind]
        contacts = column(rows, "contacts")
        drawn = {"color": colour, "markersize": 4, "label": kind}
        time.plot(contacts, column(rows, "mujoco"), style, **drawn)
        energy.semilogy(contacts, np.maximum(column(rows, "gain"), 1e-6), style, **drawn)
        touching.plot(contacts, column(rows, "touching") / contacts, style, **drawn)
        steps.plot(contacts, column(rows, "steps"), style, **drawn)
    titles = {
        time: ("MuJoCo: time", "median time of 2 s [ms]"),
        energy: ("MuJoCo: energy", "largest gain of energy / first (1e-6: or less)"),
        touching: ("MuJoCo: contacts", "part of springs in contact, mean over time"),
        steps: ("ours: steps of the integrator", "median number in 2 s"),
    }
    for ax, (title, label) in titles.items():
        ax.axvline(limit(STIFF), color="C1", linestyle=":", label=f"MuJoCo's limit, n = {limit(STIFF):.0f}")
        ax.set_title(title)
        ax.set_ylabel(label)
        ax.set_xlabel("springs n")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    return [save_figure(figure, out, "irregular_beds")]
