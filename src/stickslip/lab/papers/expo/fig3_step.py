"""Fig. 3: local errors against integration steps (Sec. VI-C), and what implicit Euler costs (Sec. VI-D)."""

from __future__ import annotations

import statistics

from stickslip.lab.papers.expo.error_panels import SHOWN, panels
from stickslip.lab.papers.expo.local_error import study
from stickslip.lab.papers.expo.setups import TESTS, ms, paper_name, size
from stickslip.lab.papers.paper import Part, Results, image, table
from stickslip.lab.papers.rows import Rows, distinct, where


def draw(results: Results):
    return panels(results["local_error"], SHOWN, lambda row: 1e3 * row["dt"], "integration step δt [ms]")


def section(results: Results) -> str:
    rows = results["local_error"]
    labels = [
        label for label in ("expo", "expo/paper", "implicit-euler", "rk4", "euler") if label in distinct(rows, "method")
    ]
    lines = []
    for test in distinct(rows, "test"):
        mine = where(rows, test=test)
        for dt in sorted(set(distinct(where(mine, method="expo"), "dt"))):
            at = {r["method"]: r for r in mine if abs(r["dt"] - dt) < 1e-9 and r["seconds"]}
            cells = [
                f"{size(at[label]['error'])}, {at[label]['real_time_factor']:.3g}×" if label in at else "–"
                for label in labels
            ]
            lines.append((TESTS[test].paper_name, ms(dt), *cells))
    return "\n".join([
        "## Fig. 3: local errors against steps\n",
        image("fig3_local_error_vs_step", "Fig. 3: mean local error over one control step"),
        "Mean local error, and real-time factor:\n",
        table(("test", "δt [ms]", *labels), lines),
        beside_implicit_euler(rows),
        newton(rows),
    ])  # fmt: skip


def beside_implicit_euler(rows: Rows) -> str:
    """The paper's finding that its Expo is about as accurate as implicit Euler, with its algorithm and with ours."""
    implicit = {(row["test"], row["dt"]): row["error"] for row in where(rows, method="implicit-euler") if row["error"]}
    sentences = []
    for label in ("expo/paper", "expo"):
        mine = [row for row in where(rows, method=label) if row["error"] and (row["test"], row["dt"]) in implicit]
        if mine:
            ratios = sorted(row["error"] / implicit[row["test"], row["dt"]] for row in mine)
            middle = statistics.median(ratios)
            sentences.append(f"that of `{label}` is {ratios[0]:.2g} to {ratios[-1]:.2g} (median {middle:.2g})")
    if not sentences:
        return ""
    return (
        "At equal steps the paper finds its Expo about as accurate as implicit Euler. Relative to implicit Euler's "
        f"error, {' and '.join(sentences)}.\n"
    )


def newton(rows: Rows) -> str:
    """What implicit Euler costs, and how often its iteration failed."""
    mine = [row for row in where(rows, method="implicit-euler") if row["seconds"]]
    if not mine:
        return ""
    expo = {(row["test"], row["dt"]): row["seconds"] for row in where(rows, method="expo") if row["seconds"]}
    ratios = [row["seconds"] / expo[row["test"], row["dt"]] for row in mine if (row["test"], row["dt"]) in expo]
    text = (
        f"*Differences from the paper.* A step of implicit Euler takes {min(ratios):.1f} to {max(ratios):.1f} (median "
        f"{statistics.median(ratios):.1f}) times as long as one of Expo (paper: about 50 times, Sec. VI-D): its "
        "Jacobian is exact and cheap here, so that it is not the worst method in Fig. 2. "
    )
    most = max(mine, key=lambda row: row["unconverged"])
    if not most["unconverged"]:
        return text + "Its Newton iteration converged in every step; the paper's sometimes did not.\n"
    return (
        text + "Its Newton iteration, as the paper's, sometimes does not converge: most often in "
        f"{paper_name(most)} at {ms(most['dt'])} ms, in {100 * most['unconverged']:.2g} % of the steps.\n"
    )


FIG3 = Part("fig3", study, section, figures={"fig3_local_error_vs_step": draw}, data=("local_error",))
