"""The text of the report, part by part."""

from __future__ import annotations

from collections.abc import Callable

from stickslip.lab.papers.event_selected.claims import GAINED, Rows, line, local_orders
from stickslip.lab.papers.event_selected.claims import order as slope_of
from stickslip.lab.papers.event_selected.hopper import FREE, LIKE_PAPER, MUJOCO
from stickslip.lab.papers.event_selected.irregular import EPS, STIFF, limit
from stickslip.lab.papers.event_selected.setups import BED_WIDTH, DAMPING_RATIO, PLATE_LENGTH, STIFFNESS
from stickslip.lab.papers.paper import Results, image, table


def preface() -> str:
    return "\n".join([
        "## What is followed\n",
        "`solve_ess`, whose listing in the paper does not run as printed; the guards of Tab. 4.1 are (x, y, −z), the "
        "hopper's are at L₀, and crossing a guard arms its opposite. Not in the text, and ours: "
        f"k/m = {STIFFNESS:g} 1/s² of the hopper and of a whole bed; a plate of 1 kg, {PLATE_LENGTH:g} m, above a bed "
        f"of {BED_WIDTH:g} m, damping ratio {DAMPING_RATIO:g}; 2 s. MuJoCo's contacts are given exactly these springs "
        "and dampers (`mujoco_models.py` says how), so that both integrate the same system: its error goes to zero "
        "with its step. Times need a quiet machine.\n",
    ])  # fmt: skip


def fig41(results: Results) -> str:
    rows, events = results["order"], results["events"]
    names = "xyz"
    crossings = [
        (names[guard], f"{exact:.12f}", f"{found:.12f}", f"{abs(found - exact):.1e}")
        for guard, exact, found in zip(events["guards"], events["exact"], events["found"], strict=False)
    ]
    return "\n".join([
        "## Fig. 4.1: order in ε\n",
        image("fig41_order", "Error over 1/ε, and the order from each ε to the next"),
        "**The paper:** *order at least 2.1.* **Here:** "
        f"{slope_of(rows):.4f}, between neighbours {local_orders(rows).min():.4f} to {local_orders(rows).max():.4f}. "
        "The paper's events were detected at the ends of steps only, so its errors are a staircase in ε, and a line "
        "through it is not an order; here the entry into N^ε is located on the dense output. Crossings as ε → 0:\n",
        table(("guard", "exact [s]", "found [s]", "difference [s]"), crossings),
    ])  # fmt: skip


def table51(results: Results) -> str:
    by_method = {row["method"]: row for row in results["hopper"]}
    theirs, numbers = by_method[MUJOCO], results["hops"][0]
    rows = [
        (name, "–" if row["eps"] is None else f"{row['eps']:.4g}", f"{row['rms']:.4g}", str(row["steps"]),
         str(row["projections"]), f"{row['milliseconds']:.3f}", f"{row['milliseconds'] / theirs['milliseconds']:.2f}")
        for name, row in by_method.items()
    ]  # fmt: skip
    checks = [
        (name, f"{numbers[f'{name}_exact']:.9f}", f"{abs(numbers[name] - numbers[f'{name}_exact']):.1e}")
        for name in ("touchdown", "stance", "lowest", "period", "last")
    ]
    return "\n".join([
        "## Table 5.1, Fig. 5.1: the hopper at MuJoCo's error\n",
        table(("", "ε' [m]", "error", "steps", "projections", "time [ms]", "/ MuJoCo's"), rows),
        f"**The paper:** *ε' = 0.13; 10.3 ms, MuJoCo 2.4 ms.* **Here:** {by_method[LIKE_PAPER]['milliseconds']:.2f} ms "
        f"with steps of at most 2 ms, {by_method[FREE]['milliseconds']:.2f} ms without that bound, MuJoCo "
        f"{theirs['milliseconds']:.2f} ms. ε' depends on k/m, which the paper does not give, and on how errors of "
        "MuJoCo's positions and velocities cancel.\n",
        image("fig51_hopper", "Height and velocity, and what is left after subtracting the exact motion"),
        image("hopper_precision", "Error over time of computing: MuJoCo over its step, ours over ε and tolerance"),
        f"As ε → 0, beside the closed form (the last line: touchdown {numbers['made']}):\n",
        table(("", "exact [s], lowest [m]", "difference"), checks),
    ])  # fmt: skip


def _beds(rows: Rows) -> str:
    lines = [
        (str(r["contacts"]), f"{r['mujoco']:.2f}", f"{r['ours']:.2f}", f"{r['ours_matrix']:.2f}",
         f"{r['ours'] / r['mujoco']:.2f}", f"{r['eps']:.2g}", f"{r['mujoco_rms']:.2g}", f"{r['rms']:.2g}",
         f"{r['steps']:.0f}", f"{r['projections']:.0f}", f"{r['mujoco_contacts']:.1f}", str(r["mujoco_iterations"]),
         f"{r['failed']:.2f}")
        for r in rows
    ]  # fmt: skip
    return table(("springs", "MuJoCo [ms]", "ours [ms]", "with Dh [ms]", "ratio", "ε [m]", "error of MuJoCo",
                  "ours", "our steps", "projections", "MuJoCo: contacts", "iterations", "unfinished"),
                 lines)  # fmt: skip


def fig52(results: Results) -> str:
    rows = results["plate"]
    mine, matrix, theirs = (line(rows, key) for key in ("ours", "ours_matrix", "mujoco"))
    return "\n".join([
        "## Fig. 5.2: time per contact\n",
        image("fig52_marginal_cost", "Medians over starts, their slopes, and errors"),
        "**The paper:** *the marginal runtime cost per contact of the Python implementation was roughly the same as "
        f"MuJoCo's.* **Here:** {1e3 * mine.each:.1f} µs per contact beside MuJoCo's {1e3 * theirs.each:.1f} µs (2 s of "
        f"motion), {mine.each / theirs.each:.3f} of it, at the same error; with Dh given as a matrix (2n, 6), as in "
        f"the paper, {1e3 * matrix.each:.1f} µs and {matrix.each / theirs.each:.3f}. Without Dh, rates of guards are "
        "differences of h along f.\n",
        _beds(rows),
    ])  # fmt: skip


def beyond(results: Results) -> str:
    rows = results["beyond"]
    text = ["## To 1000 contacts\n", image("beyond_1000_contacts", "Times, counts, and time in units of work")]
    if len(rows) > 1:
        mine, theirs = line(rows, "ours"), line(rows, "mujoco")
        text.append(
            f"From {rows[0]['contacts']} to {rows[-1]['contacts']} springs of the same stiffness in all, MuJoCo's time "
            f"remains a straight line (R² = {theirs.r2:.4f}, {1e3 * theirs.each:.1f} µs per contact). Ours has a "
            "projection for each touchdown and lift-off, and each looks at all guards and springs: it grows as n², "
            f"and its time per contact, {1e3 * mine.each:.1f} µs here, with n.\n"
        )
    return "\n".join([*text, _beds(rows)])


def irregular(results: Results) -> str:
    rows = results["irregular"]
    lines = [
        (r["kind"], str(r["contacts"]), f"{r['gain']:.2g}", f"{r['mujoco']:.1f}", f"{r['touching']:.1f}",
         f"{r['ours']:.1f}", f"{r['steps']:.0f}", f"{r['projections']:.0f}", f"{r['crossings_per_spring']:.1f}",
         f"{r['deepest'] / EPS:.2g}", f"{r['failed']:.2f}")
        for r in rows
    ]  # fmt: skip
    gained = [r["contacts"] for r in rows if r["gain"] > GAINED]
    first = f"from {min(gained)} springs on" if gained else "nowhere on these beds"
    return "\n".join([
        "## What is irregular above 150 contacts\n",
        image("irregular_beds", "Identical springs, and beds of the same stiffness in all"),
        "**The paper:** *for roughly 150 contacts, both MuJoCo and our algorithm started to exhibit irregular "
        "behavior.* **Here:** their number alone does nothing: where the stiffness in all stays the same, times, "
        "energy and counts stay regular to the largest bed. If every spring is the same, a bed of n is n times as "
        "stiff, and MuJoCo's step of 2 ms is stable up to n·(β·dt + κ·dt²/2) = 2 only: "
        f"n = {limit(STIFF):.0f} of these springs. It gained energy {first}; the part of the springs in contact "
        "falls on the way there and beyond, and with it the time that each of them costs. Ours locates or projects "
        "through every touchdown and lift-off whatever n, in time that grows as n². The paper gives neither "
        "stiffness nor damping: this is a cause that exists, not a proof that it was the paper's.\n",
        table(("bed", "springs", "MuJoCo: largest gain of energy / first", "time [ms]", "in contact", "ours: time [ms]",
               "steps", "projections", "crossings of a spring", "depth / ε", "unfinished"), lines),
    ])  # fmt: skip


SECTIONS: dict[str, Callable[[Results], str]] = {
    "fig41": fig41,
    "table51": table51,
    "fig52": fig52,
    "beyond": beyond,
    "irregular": irregular,
}
