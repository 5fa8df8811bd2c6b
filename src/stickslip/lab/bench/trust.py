"""``stickslip bench trust``: over time step, stiffness, friction and mass ratio, where is which method right?

The maps of ``trust_maps`` are one sweep, whose store continues where it stopped, on this machine or on Ray. It writes
the page docs/trust.md, with a figure and a table for each map.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from stickslip.errors import expected
from stickslip.files import make_folder, save_figure, write_text
from stickslip.lab.bench.trust_maps import MAPS, Map, trust_run
from stickslip.lab.cluster import check_place
from stickslip.lab.report import (
    check_destinations,
    machine_line,
    markdown_table,
    new_figure,
    show_worst,
    terminal_table,
    write_numbers,
)
from stickslip.lab.sweep import Sweep, sweep
from stickslip.lab.targets import Target

METHODS = (
    "semi-implicit-euler", "rk4", "implicit-euler", "expo", "stewart-trinkle", "coulomb/pgs", "relaxed/pgs",
    "variational", "mujoco",
)  # fmt: skip
PEER = "mujoco"
DTS = (2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2)
QUICK_METHODS, QUICK_DTS = ("semi-implicit-euler", "coulomb/pgs"), (1e-3, 1e-2)
RIGHT = 0.01
"""Largest error, relative to the scene, that counts as right."""
SHOWN = (1e-4, 1.0)
"""Range of the colours; errors of 1 % are in its middle."""
HEAD = """\
# Regions of trust

Over which time steps, stiffnesses, frictions and mass ratios is which method right? Scenes whose answer is known in
closed form, by every method: blue is right, red is wrong, and 1 % is between them. This page is what
`stickslip bench trust --out DIR` writes. It is one [sweep](sweeps.md), whose results are in `DIR/trust.h5`: `--on ray`
computes it on Ray, and `--keep` goes on where it was stopped.

The truth is that of the scene as it is written, with its springs, whatever a method makes of them. So a method with
rigid contacts is wrong on a soft floor at every step, and one with springs where its step is too long for them. Methods
have their defaults. The last panel counts the methods that are right: where it is dark, trust any of them; where it is
light, choose.
"""


def points(quick: bool) -> list[dict[str, Any]]:
    """Every point of every map; ``quick`` takes two methods, two steps and the ends of each parameter."""
    methods, dts = (QUICK_METHODS, QUICK_DTS) if quick else (METHODS, DTS)
    return [
        {"chart": case.name, "method": method, "dt": dt, "value": value}
        for case in MAPS
        for method in methods
        for dt in dts
        for value in (case.values[:: len(case.values) - 1] if quick else case.values)
    ]


def run_trust(
    quick: bool = False, json: Path | None = None, out: Path | None = None, *, keep: bool = False,
    on: str | None = None, workers: int | None = None,
) -> bool:  # fmt: skip
    """Compute, print and write; True if at every value of a map some method of ours is right.

    With ``keep``, results of earlier runs in the folder ``out`` are not computed again.
    """
    check_place(on)
    if keep and out is None:
        raise expected("--keep", "a folder with earlier results", None, "give it by --out")
    check_destinations(json, out)
    store = None if out is None else out / ("trust-quick.h5" if quick else "trust.h5")
    if store is not None and not keep:
        store.unlink(missing_ok=True)
    found = sweep(trust_run, points(quick), store=store, on=on, workers=workers)
    aims = [target(case, found.where(chart=case.name)) for case in MAPS]
    rows = [row for case in MAPS for row in summaries(case, found.where(chart=case.name))]
    write_numbers({"targets": [aim.numbers() for aim in aims], "rows": rows}, json)
    if out is not None:
        make_folder(out / "images")
        for case in MAPS:
            save_figure(draw(case, found.where(chart=case.name)), out / "images" / f"trust-{case.name}.png", dpi=110)
        write_text(out / "trust.md", page(found, rows))
    console = Console()
    console.print(table_of(rows))
    return show_worst(console, aims)


def errors(found: Sweep) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Methods, time steps, values, and errors (methods, values, steps); infinite where a run was not complete."""
    methods = list(dict.fromkeys(run["method"] for run in found))
    dts, values = (np.unique(found.column(name)) for name in ("dt", "value"))
    grid = np.full((len(methods), len(values), len(dts)), np.inf)
    for run in found:
        where = methods.index(run["method"]), np.searchsorted(values, run["value"]), np.searchsorted(dts, run["dt"])
        error = run.values.get("error", np.inf)
        grid[where] = error if np.isfinite(error) else np.inf
    return methods, dts, values, grid


def target(case: Map, found: Sweep) -> Target:
    """At every value of the parameter, the best method of ours is right at its best step."""
    methods, _, _, grid = errors(found)
    ours = [k for k, method in enumerate(methods) if method != PEER]
    best = grid[ours].min(axis=(0, 2)).max()
    return Target(f"{case.name}: error of the best method and step, at the worst value", float(best), RIGHT)


def summaries(case: Map, found: Sweep) -> list[dict[str, Any]]:
    """A row per method: how much of the map is right, and the longest step at which all values are."""
    methods, dts, _, grid = errors(found)
    rows = []
    for method, part in zip(methods, grid, strict=True):
        good = part <= RIGHT
        all_right = dts[good.all(axis=0)]
        rows.append({
            "map": case.name, "method": method, "right": float(good.mean()),
            "longest_dt": float(all_right.max()) if len(all_right) else None,
            "median_error": float(np.median(part)), "ended_early": int(np.isinf(part).sum()), "points": part.size,
        })  # fmt: skip
    return rows


def table_of(rows: list[dict[str, Any]]) -> Table:
    heads = ("map", "method", f"right (≤ {100 * RIGHT:g} %)", "longest dt with all values right", "ended early")
    table = terminal_table("Regions of trust", heads, words=2, no_wrap=2)
    for row in rows:
        table.add_row(row["map"], row["method"], *cells(row))
    return table


def cells(row: dict[str, Any]) -> tuple[str, str, str]:
    longest = "none" if row["longest_dt"] is None else f"{1e3 * row['longest_dt']:g} ms"
    return f"{100 * row['right']:.0f} %", longest, f"{row['ended_early']} of {row['points']}"


def draw(case: Map, found: Sweep) -> Any:
    """A panel per method over (dt, parameter), coloured by the error; the last counts the methods that are right."""
    from matplotlib.colors import LogNorm

    methods, dts, values, grid = errors(found)
    columns = min(5, len(methods) + 1)
    rows = -(-(len(methods) + 1) // columns)
    figure, axes = new_figure(rows, columns, (2.3 * columns + 1.4, 2.3 * rows + 1.1))
    flat, norm = list(axes.flat), LogNorm(*SHOWN)
    for ax, method, part in zip(flat, methods, grid, strict=False):
        seen = ax.imshow(np.clip(part, *SHOWN), origin="lower", aspect="auto", cmap="RdYlBu_r", norm=norm)
        for i, k in zip(*np.nonzero(np.isinf(part)), strict=True):
            ax.text(k, i, "×", ha="center", va="center", color="white", fontsize=8)
        ax.set_title(method, fontsize=9)
    count = (grid <= RIGHT).sum(axis=0)
    flat[len(methods)].imshow(count, origin="lower", aspect="auto", cmap="Greens", vmin=0, vmax=len(methods))
    for i, k in np.ndindex(count.shape):
        dark = count[i, k] > 0.6 * len(methods)
        flat[len(methods)].text(
            k, i, count[i, k], ha="center", va="center", fontsize=7, color="white" if dark else "black"
        )
    flat[len(methods)].set_title("methods that are right", fontsize=9)
    for k, ax in enumerate(flat):
        if k > len(methods):
            ax.set_axis_off()
            continue
        draw_line(case, ax, dts, values)
        ax.set_xticks(range(len(dts)), [f"{1e3 * dt:g}" for dt in dts], fontsize=7)
        named = [f"{value:g}" if value < 1e3 else f"1e{np.log10(value):.0f}" for value in values]
        ax.set_yticks(range(len(values)), named if k % columns == 0 else [], fontsize=7)
        ax.set_xlabel("dt [ms]" if k + columns > len(methods) else "", fontsize=8)
        ax.set_ylabel(case.parameter if k % columns == 0 else "", fontsize=8)
    bar = figure.colorbar(seen, ax=flat, label="error / size of the scene [1]")
    bar.ax.axhline(RIGHT, color="black")
    figure.suptitle(f"× ended early{f'; dashed: {case.line}' if case.line else ''}", fontsize=9)
    return figure


def draw_line(case: Map, ax: Any, dts: np.ndarray, values: np.ndarray) -> None:
    """The time scale of the contact, or the value at which the motion changes, between the cells."""
    if case.level is not None:
        height = np.interp(case.level, values, np.arange(len(values)))
        ax.axhline(height, color="black", linestyle="--", linewidth=0.8)
    if case.time_scale is not None:
        fine = np.geomspace(values[0], values[-1], 50)
        across = np.interp(
            np.log([case.time_scale(value) for value in fine]), np.log(dts), np.arange(len(dts)), np.nan, np.nan
        )
        up = np.interp(np.log(fine), np.log(values), np.arange(len(values)))
        ax.plot(across, up, color="black", linestyle="--", linewidth=0.8)
        ax.set_xlim(-0.5, len(dts) - 0.5)


def page(found: Sweep, rows: list[dict[str, Any]]) -> str:
    """The page docs/trust.md."""
    parts = [HEAD]
    for case in MAPS:
        mine = [row for row in rows if row["map"] == case.name]
        head = ("method", f"points within {100 * RIGHT:g} %", "longest dt with all values right", "ended early")
        table = markdown_table(head, [(f"`{row['method']}`", *cells(row)) for row in mine])
        picture = f"![{case.title}: errors by method](images/trust-{case.name}.png)"
        title = f"## {case.parameter[0].upper()}{case.parameter[1:].partition(' [')[0]}"
        parts.append(f"{title}\n\n{case.title}. {case.formula}\n\n{picture}\n\n{table}")
    seconds = float(np.nansum(found.column("seconds")))
    count = f"{len(found)} runs, {len(found.failed)} of which ended early"
    last = f"{count}; {seconds:.0f} s of computing, compiling included. {machine_line()}"
    return "\n".join([*parts, f"## Where the numbers come from\n\n{last}\n"])
