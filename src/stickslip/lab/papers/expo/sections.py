"""The sections of a report: every figure, our tables beside the paper's values, and what differs and why."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from stickslip.lab.papers.expo import breakdown, claims, paper, stability
from stickslip.lab.papers.expo.setups import TESTS, Sizes, control_steps
from stickslip.lab.papers.paper import image, table


def ms(dt: float | None) -> str:
    return "none" if dt is None else f"{1e3 * dt:.3g}"


def size(value: float | None) -> str:
    """An error; None is infinite."""
    return "∞" if value is None else f"{value:.2g}"


def setups(sizes: Sizes) -> str:
    rows = [
        (t.paper_name, t.name, f"{1e3 * t.control_dt:g}", f"{control_steps(t, sizes) * t.control_dt:g}",
         str(control_steps(t, sizes)))
        for t in (TESTS[name] for name in sizes.tests)
    ]  # fmt: skip
    return (
        "## Set-ups (Table I)\n\nK = 1e5 N/m, B = 300 N s/m, μ = 1. Control steps are the paper's; robots, references "
        "and controllers are ours.\n\n"
        + table(("test", "our scene", "control step [ms]", "simulated [s]", "control steps"), rows)
    )


def figure_2(results: dict[str, Any]) -> str:
    rivals = claims.strongest_rivals(results["local_error"])
    beaten = [row for row in rivals if row["lead"] > 1.0]
    lost = [row for row in claims.strongest_rivals(results["local_error"], finest=0.0) if row["lead"] > 1.0]
    text = [
        "## Fig. 2: local errors against real-time factors\n",
        image("fig2_local_error_vs_real_time_factor", "Fig. 2: mean local error over one control step"),
        "`expo` takes the modes of the contact dynamics (exact); `mmm-n` are Padé approximants of fixed order, as many "
        "matrix products as the paper's versions would use; `pade` chooses its order. The ground truth of a method is "
        "the method itself with 1/64 ms, of the two first-order explicit ones with 1/512 ms.\n",
        f"**Finding:** *from steps of 1/4 ms up no other integrator is both faster and more accurate than Expo.* Of "
        f"{len(rivals)} points of Expo, {len(rivals) - len(beaten)} are beaten by none at any step ≥ 1/4 ms, and "
        f"{len(rivals) - len(lost)} by none at whatever step (semi-implicit Euler, not in the paper, included).\n",
    ]
    if lost:
        text.append("Points of Expo that are beaten in both time and error, by whatever step:\n")
        rows = [
            (row["test"], ms(row["dt"]), f"{row['rival']}, {ms(row['rival_dt'])} ms", f"{row['lead']:.2f}")
            for row in lost
        ]
        text.append(table(("test", "expo's step [ms]", "by", "ahead in both by at least a factor"), rows))
    text.append(
        "*Differences from the paper.* The authors' code adds contact forces to the torques once more whenever a state "
        "is put back, which spoils the first substep of explicit Euler and the first stage of RK4 in every control "
        "step; ours does not, so that explicit methods come out better at small steps than in the paper, and the lines "
        f"cross: {crossing(results['local_error'])}\n"
    )
    return "\n".join(text)


def crossing(rows: list[dict[str, Any]]) -> str:
    """Up to which step explicit Euler is more accurate than Expo at its least step."""
    sentences = []
    for test in dict.fromkeys(row["test"] for row in rows):
        expo = [row for row in rows if row["test"] == test and row["method"] == "expo" and row["error"] is not None]
        euler = [row for row in rows if row["test"] == test and row["method"] == "euler" and row["error"] is not None]
        if expo and euler:
            finest, least = min(expo, key=lambda r: r["dt"]), min(euler, key=lambda r: r["error"])
            sentences.append(
                f"{TESTS[test].paper_name}: euler reaches {size(least['error'])} at {ms(least['dt'])} ms "
                f"(real-time factor {least['real_time_factor']:.3g}), expo {size(finest['error'])} at "
                f"{ms(finest['dt'])} ms ({finest['real_time_factor']:.3g})"
            )
    return "; ".join(sentences) + "."


def figure_3(results: dict[str, Any]) -> str:
    rows = results["local_error"]
    labels = [label for label in ("expo", "implicit-euler", "rk4", "euler") if any(r["method"] == label for r in rows)]
    lines = []
    for test in dict.fromkeys(row["test"] for row in rows):
        for dt in sorted({r["dt"] for r in rows if r["test"] == test and r["method"] == "expo"}):
            at = {r["method"]: r for r in rows if r["test"] == test and abs(r["dt"] - dt) < 1e-9}
            cells = [
                f"{size(at[label]['error'])}, {at[label]['real_time_factor']:.3g}×"
                if label in at and at[label]["seconds"]
                else "–"
                for label in labels
            ]
            lines.append((TESTS[test].paper_name, ms(dt), *cells))
    return "\n".join([
        "## Fig. 3: local errors against steps\n",
        image("fig3_local_error_vs_step", "Fig. 3: mean local error over one control step"),
        "Mean local error, and real-time factor:\n",
        table(("test", "δt [ms]", *labels), lines),
        newton(rows),
    ])  # fmt: skip


def newton(rows: list[dict[str, Any]]) -> str:
    """What implicit Euler costs, and how often its iteration failed."""
    mine = [row for row in rows if row["method"] == "implicit-euler" and row["seconds"]]
    if not mine:
        return ""
    expo = {(row["test"], row["dt"]): row["seconds"] for row in rows if row["method"] == "expo" and row["seconds"]}
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
        f"{TESTS[most['test']].paper_name} at {ms(most['dt'])} ms, in {100 * most['unconverged']:.2g} % of the steps.\n"
    )


def orders(results: dict[str, Any]) -> str:
    rows = results["orders"]
    lines = [
        (TESTS[r["test"]].paper_name, ms(r["dt"]), r["best_fixed"] or "none", size(r["fixed_error"]),
         f"{r['fixed_us']:.1f}" if r["fixed_us"] else "–", size(r["auto_error"]), f"{r['auto_us']:.1f}",
         f"{r['pade_us']:.1f}" if r["pade_us"] else "–",
         f"{r['auto_over_fixed_time']:.2f}" if r["auto_over_fixed_time"] else "–", f"{r['auto_over_least_error']:.3f}")
        for r in rows
    ]  # fmt: skip
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
    return "\n".join([
        "## The open question: how many matrix products?\n",
        image("orders_error_vs_time", "All versions of Expo: error against time"),
        "The best fixed number of products is the fastest whose error is within 5 % of the least of all versions at "
        "that step (\"none\": no fixed order is that accurate). " + summary + ".\n",
        table(("test", "δt [ms]", "best fixed", "its error", "its µs/step", "auto's error", "auto's µs/step",
               "pade's µs/step", "time auto/fixed", "error auto/least"), lines),
    ])  # fmt: skip


def table_2(results: dict[str, Any]) -> str:
    rows = results["stability"]
    labels = [label for label in stability.STEPPERS if any(r["method"] == label for r in rows)]
    lines, notes = [], []
    for test in dict.fromkeys(row["test"] for row in rows):
        for label in labels:
            stable, stands = (stability.largest(rows, test, label, what) for what in ("stable", "upright"))
            theirs = paper.TABLE_2[test].get(label)
            lines.append((TESTS[test].paper_name, label, ms(stable), ms(stands), f"{theirs:.3g}" if theirs else "–"))
        euler, limit = stability.largest(rows, test, "euler", "upright"), stability.damper_limit(TESTS[test])
        notes.append(f"{TESTS[test].paper_name} {ms(euler)} ms, limit {ms(limit)} ms")
    return "\n".join([
        "## Table II: largest stable steps\n",
        "Free-running, [ms]. Stable: no NaN and |v| ≤ 1e5, as in the paper, and the controller still finds torques; "
        "upright: besides, the base keeps half its height and leans by less than 45° against the ground truth.\n",
        table(("test", "method", "stable", "upright", "paper"), lines),
        "*Differences from the paper.* What limits explicit Euler are the dampers, dt < 2/(B·λ_max(Υ)), so that the "
        f"inertia of our legs decides. It stays upright up to, and the limit in the stance of the start is: "
        f"{'; '.join(notes)}. Ours counts a run as lost as "
        "soon as its controller finds no torques; the paper's only when the state is not bounded. Implicit Euler "
        "depends on the Newton iteration: ours divides a step that does not converge.\n",
    ])  # fmt: skip


def figure_4(results: dict[str, Any]) -> str:
    rows = results["stiffness"]
    labels = list(dict.fromkeys(row["method"] for row in rows))

    def both(row: dict[str, Any]) -> str:
        return f"{size(row['error'])} ({size(row['median'])})"

    def lines(varied: str, key: str) -> list[Sequence[str]]:
        values = sorted({row[key] for row in rows if row["varied"] == varied})
        pick = {(row[key], row["method"]): row for row in rows if row["varied"] == varied}
        return [(f"{value:g}", *(both(pick[value, label]) for label in labels)) for value in values]

    text = [
        "## Fig. 4: stiffness and damping\n",
        image("fig4_stiffness_and_damping", "Fig. 4: mean local error on the trot; expo and implicit Euler with 2 ms, "
              "explicit Euler with 1/2 ms"),
        "The damping ratio is B/(2√K), as the paper writes it: that of a unit mass (1 kg). Means, in parentheses "
        "medians over control steps:\n",
        table(("K [N/m], ratio 0.5", *labels), lines("stiffness", "stiffness")),
        table(("ratio, K = 1e5 N/m", *labels), lines("damping", "damping_ratio")),
        f"From 1e4 to 1e8 N/m Expo's error changes by a factor of {claims.flatness(rows):.3g} "
        f"(target: {claims.FLATNESS:g}), explicit Euler's by {_factor(claims.flatness(rows, 'euler'))}"
        + (f", implicit Euler's by {_factor(claims.flatness(rows, 'implicit-euler'))}"
           if "implicit-euler" in labels else "")
        + f". Expo's median changes by {_factor(claims.flatness(rows, 'expo', 'median'))}: where mean and median "
        "part, it is by the few control steps in which a foot meets the floor.\n",
    ]  # fmt: skip
    if results.get("depths"):
        text += [
            "Solo12 standing under PD control, after 2 s; the springs bear the weight, so that K·Σ depth / weight "
            "must be 1:\n",
            table(
                ("K [N/m]", "mean depth of the four feet [mm]", "K·Σ depth / weight"),
                [
                    (f"{r['stiffness']:.0e}", f"{1e3 * r['depth']:.3g}" if r["depth"] else "∞",
                     f"{r['ratio']:.6f}" if r["ratio"] else "–")
                    for r in results["depths"]
                ],
            ),
        ]  # fmt: skip
    return "\n".join(text)


def _factor(value: float) -> str:
    return "∞ (it diverges)" if value == float("inf") else f"{value:.3g}"


def figure_5(results: dict[str, Any]) -> str:
    rows = results["predictions"]
    errors = "; ".join(f"{100 * r['relative_error']:.2g} % of the largest force after {r['speed']:g} m/s" for r in rows)
    return "\n".join([
        "## Fig. 5: forces predicted over 20 ms\n",
        image("fig5_force_prediction", "Fig. 5: normal force predicted from (11) with constant A and b"),
        f"Largest error of the prediction: {errors}. As in the paper, neglecting that A and b change costs little over "
        "20 ms.\n",
    ])  # fmt: skip


def figure_6(results: dict[str, Any]) -> str:
    jumps = "; ".join(
        f"{TESTS[r['test']].paper_name}: at most {max(r['force']):.3g} N, {max(r['force']) / r['weight']:.2f} times "
        "the robot's weight"
        for r in results["curves"]
    )
    return "\n".join([
        "## Fig. 6: normal force at one contact point\n",
        image("fig6_contact_forces", "Fig. 6: Expo with 1/8 ms"),
        f"{jumps}. A force jumps where a point meets the floor with a velocity: the damper acts at once.\n",
    ])  # fmt: skip


def table_3(results: dict[str, Any]) -> str:
    data = results["breakdown"]
    times, standard, zero = data["times"], paper.TABLE_3["standard"], paper.TABLE_3["mmm-0"]
    rest = {
        name: v["step"] - sum(v[s] for s in breakdown.STAGES[:3]) for name, v in paper.TABLE_3.items() if len(v) > 1
    }

    def cell(label: str, stage: str) -> str:
        return f"{times[label][stage]:.2f} ({100 * times[label][stage] / times[label]['step']:.0f} %)"

    lines = [
        (stage, *(cell(label, stage) for label in breakdown.VERSIONS),
         f"{standard.get(stage, rest['standard']):g}", f"{zero.get(stage, rest['mmm-0']):g}")
        for stage in ("step", *breakdown.STAGES)
    ]  # fmt: skip
    euler = f"{times['euler']['step']:.2f}"
    lines.append(("euler's step", euler, euler, euler, f"{paper.TABLE_3['euler']['step']:g}", "9"))
    total = sum(times["expo"][stage] for stage in breakdown.STAGES)
    return "\n".join([
        "## Table III: computation times on the trot\n",
        f"[µs], mean over {data['states']} states with {data['contacts']:.1f} contacts on average, δt = 2 ms; in "
        "parentheses the part of the step.\n",
        table(("operation", "expo", "expo pade", "expo mmm-0", "paper, standard expm", "paper, zero mmm"), lines),
        f"*Differences from the paper.* Our step takes {times['expo']['step'] / standard['step']:.2f} of the time of "
        f"the paper's standard one and {times['expo']['step'] / zero['step']:.2f} of that with zero products, on other "
        f"machines. The integrals take {100 * times['expo']['computeIntegrals'] / times['expo']['step']:.0f} % of a "
        "step (paper: 72 and 33 %), since the modes of a matrix of size 3n replace the exponential of one of size "
        f"6n + 3. Expo's step costs {times['expo']['step'] / times['euler']['step']:.1f} explicit Euler steps (paper: "
        f"{standard['step'] / 9:.1f} and {zero['step'] / 9:.1f}). The stages, each timed on its own, add up to "
        f"{100 * total / times['expo']['step']:.0f} % of the step.\n",
    ])  # fmt: skip


SECTIONS: dict[str, Callable[[dict[str, Any]], str]] = {
    "fig2": figure_2,
    "fig3": figure_3,
    "orders": orders,
    "table2": table_2,
    "fig4": figure_4,
    "fig5": figure_5,
    "fig6": figure_6,
    "table3": table_3,
}
