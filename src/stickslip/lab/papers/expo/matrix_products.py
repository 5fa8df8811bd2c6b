"""The paper's open question of Sec. VI-C: how many matrix products? All versions of Expo; ``best_order`` chooses."""

from __future__ import annotations

from collections.abc import Callable

from stickslip.lab.papers.expo.error_panels import panels
from stickslip.lab.papers.expo.local_error import study
from stickslip.lab.papers.expo.setups import FIXED_ORDERS, PAPER_VERSIONS, TESTS, ms, paper_name, size
from stickslip.lab.papers.paper import Part, Results, image
from stickslip.lab.papers.rows import Row, table_of


def draw(results: Results):
    """Error against time per control step of all versions of Expo."""
    shown = ["expo", "expo pade", *FIXED_ORDERS, *PAPER_VERSIONS]
    return panels(results["local_error"], shown, lambda row: 1e3 * row["seconds"], "time per control step [ms]")


def section(results: Results) -> str:
    rows = results["orders"]
    times = sorted(r["auto_over_fixed_time"] for r in rows if r["auto_over_fixed_time"])
    chosen = sorted({r["best_fixed"] for r in rows if r["best_fixed"]})
    near = [r for r in rows if r["auto_over_least_error"] <= 1.05]
    far = max(rows, key=lambda r: r["auto_over_least_error"])
    summary = (
        f"The best fixed numbers found are {', '.join(chosen) or 'none'}, depending on test and step. `auto` needs no "
        f"choice: its error is within 5 % of the least in {len(near)} of {len(rows)} cases, and at most "
        f"{far['auto_over_least_error']:.2g} times it ({TESTS[far['test']].paper_name}, {ms(far['dt'])} ms, where it "
        f"is {size(far['auto_error'])})"
    )
    if times:
        summary += (
            f"; its time is {times[0]:.2f} to {times[-1]:.2f} (median {times[len(times) // 2]:.2f}) times that of "
            "the best fixed number, which one would have to know beforehand"
        )
    if far["auto_over_least_error"] > 2.0:
        summary += (
            ". Where a low order is the more accurate one, errors are small and not of the exponential: with exact "
            "integrals the contacts follow accelerations that are held for a step, with low orders they are not fast "
            "enough to"
        )

    def one(key: str, digits: int) -> Callable[[Row], str]:
        return lambda row: f"{row[key]:.{digits}f}" if row[key] else "–"

    return "\n".join([
        "## The open question: how many matrix products?\n",
        image("orders_error_vs_time", "All versions of Expo: error against time"),
        "The curves of `expo/paper` are the paper's algorithm, by its standard exponential and by fixed numbers of "
        "products. Of `expo`, the best fixed number of products is the fastest whose error is within 5 % of the least "
        "of all versions at that step (\"none\": no fixed order is that accurate). " + summary + ".\n",
        table_of(rows, {
            "test": paper_name, "δt [ms]": lambda r: ms(r["dt"]), "best fixed": lambda r: r["best_fixed"] or "none",
            "its error": lambda r: size(r["fixed_error"]), "its µs/step": one("fixed_us", 1),
            "auto's error": lambda r: size(r["auto_error"]), "auto's µs/step": "{auto_us:.1f}",
            "pade's µs/step": one("pade_us", 1), "time auto/fixed": one("auto_over_fixed_time", 2),
            "error auto/least": "{auto_over_least_error:.3f}",
        }),
    ])  # fmt: skip


MATRIX_PRODUCTS = Part(
    "orders", study, section, figures={"orders_error_vs_time": draw}, tables=("orders",), data=("local_error",)
)  # fmt: skip
